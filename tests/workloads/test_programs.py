"""The two workloads that run somebody else's code: a Python function, and a program without a shell."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.model.manifest import Variant
from lab.workloads.base import Job, Sink, WorkloadError
from lab.workloads.command import Command, filled
from lab.workloads.python_function import PythonFunction

MakeJob = Callable[..., Job]

AWK = r"""BEGIN { FS = "\"" } { printf "{\"id\": \"%s\", \"prediction\": \"%s\"}\n", $4, LABEL }"""


@pytest.fixture(autouse=True)
def _path() -> Iterator[None]:
    """A worker's search path is its own; the test process gets its own back."""
    before = list(sys.path)
    yield
    sys.path[:] = before


def _function(make_job: MakeJob, name: str, source: str, function: str) -> Job:
    job = make_job(workload="python", function=f"{name}:{function}")
    (job.folder / f"{name}.py").write_text(source)
    return job


def test_a_function_gets_the_inputs_and_its_predictions_are_taken(make_job: MakeJob) -> None:
    """Every id in corpus order; `settings` is given to a function that asks for it."""
    source = "def go(inputs, settings):\n    for one, text in inputs:\n        yield one, str(settings['batch_size'])\n"
    work, sink = PythonFunction(), Sink(lambda _: None)
    job = _function(make_job, "asks_for_settings", source, "go")
    work.prepare(job)
    work.run_pass(sink)
    assert sink.ids == [one for one, _ in job.inputs()]
    assert set(sink.predictions) == {"4"}


def test_a_list_is_as_good_as_a_generator_and_nothing_is_a_reason(make_job: MakeJob) -> None:
    """What can be gone through is taken; None, or one text, is named instead of a type error."""
    source = (
        "def listed(inputs):\n    return [(one, 'a') for one, _ in inputs]\n"
        "def nothing(inputs):\n    pass\n"
        "def text(inputs):\n    return 'a'\n"
    )
    for function, found in (("listed", None), ("nothing", "NoneType"), ("text", "str")):
        work, sink = PythonFunction(), Sink(lambda _: None)
        work.prepare(_function(make_job, "gives_what", source, function))
        if found is None:
            work.run_pass(sink)
            assert len(sink.ids) == 23
            continue
        with pytest.raises(WorkloadError) as raised:
            work.run_pass(sink)
        assert dict(raised.value.reason.values) == {"found": found}


@pytest.mark.parametrize("ending", ["row = (one, 3)", "raise ValueError(one)", "row = (one, 'a')"])
def test_a_generator_is_closed_inside_the_pass_however_it_ends(make_job: MakeJob, ending: str) -> None:
    """Its `finally` has run when the pass is over, and no more of the corpus was read than it asked for."""
    name = f"closes_{len(ending)}"
    source = f"""
read, closed = [], []
def go(inputs):
    try:
        for one, text in inputs:
            read.append(one)
            {ending}
            yield row
    finally:
        closed.append(len(read))
"""
    work, sink = PythonFunction(), Sink(lambda _: None)
    work.prepare(_function(make_job, name, source, "go"))
    if ending == "row = (one, 'a')":
        work.run_pass(sink)
        assert work.again(make_job(workload="python", function=f"{name}:go"))
        work.run_pass(sink)
        assert sys.modules[name].closed == [23, 46]
        return
    with pytest.raises((WorkloadError, ValueError)):
        work.run_pass(sink)
    assert (sys.modules[name].read, sys.modules[name].closed) == (["000"], [1])


@pytest.mark.parametrize("function", ["nowhere:go", "asks_for_nothing:absent"])
def test_a_function_that_is_not_there_is_named(make_job: MakeJob, function: str) -> None:
    """Module or name missing: the same reason, with what the manifest says."""
    job = make_job(workload="python", function=function)
    (job.folder / "asks_for_nothing.py").write_text("")
    with pytest.raises(WorkloadError) as raised:
        PythonFunction().prepare(job)
    assert dict(raised.value.reason.values) == {"function": function}


def test_a_module_that_lacks_another_module_says_which(make_job: MakeJob) -> None:
    """The function's own missing import is not mistaken for a missing function."""
    job = _function(make_job, "lacks", "import no_such_library\n", "go")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        PythonFunction().prepare(job)


def test_known_places_are_filled_and_other_braces_stay() -> None:
    """An awk script may stand in an argument; a value with spaces stays one argument."""
    command = ["awk", "-v", "L={label}", "{ print $1 }", "{corpus}", "{unknown}"]
    assert filled(command, {"label": "a b", "corpus": "/x y/c.jsonl"}) == [
        "awk",
        "-v",
        "L=a b",
        "{ print $1 }",
        "/x y/c.jsonl",
        "{unknown}",
    ]


def test_a_program_in_another_language_is_run_as_it_is(make_job: MakeJob) -> None:
    """An awk script reads the corpus file and writes one prediction a line, counted when it ends."""
    script = ["sh", "-c", 'awk -v LABEL=b"$3" "$0" "$1" > "$2"', AWK, "{corpus}", "{predictions}", "{batch_size}"]
    work, counted = Command(), []
    job = make_job(workload="command", command=script)
    assert Command.check(job.variant, job.folder) == ()
    work.prepare(job)
    work.run_pass(Sink(counted.append))
    rows = [json.loads(line) for line in job.predictions.read_text().splitlines()]
    assert [row["id"] for row in rows] == [one for one, _ in job.inputs()]
    assert {row["prediction"] for row in rows} == {"b4"}
    assert counted[-1] == len(rows)


@pytest.mark.parametrize(
    ("script", "key"),
    [
        ('echo {} > "$1"; exit 3', "ended.command_failed"),
        ("kill -9 $$", "ended.command_killed"),
        ("exit 0", "ended.no_predictions"),
    ],
)
def test_a_program_that_fails_says_how(make_job: MakeJob, script: str, key: str) -> None:
    """Exit code, signal, or no file: three reasons; the lines that were written are counted."""
    work, counted = Command(), []
    work.prepare(make_job(workload="command", command=["sh", "-c", script, "sh", "{predictions}"]))
    with pytest.raises(WorkloadError) as raised:
        work.run_pass(Sink(counted.append))
    assert raised.value.reason.key == key
    assert counted[-1] == (1 if key == "ended.command_failed" else 0)


def test_a_program_that_is_not_installed_is_a_fault_before_any_pass(tmp_path: Path) -> None:
    """The place in the manifest and the program's name."""
    (one,) = Command.check(Variant(id="v", workload="command", command=("no-such-program-here",)), tmp_path)
    assert (one.slug, one.place) == ("program-missing", "variants.v.command")


def test_a_function_s_libraries_are_held_to_the_threads_of_the_variant(make_job: MakeJob) -> None:
    """The variables stand before its module is imported, and torch is told when the module has imported it."""
    source = (
        "import os\nSAID = os.environ['OMP_NUM_THREADS']\nimport torch\n"
        "def go(inputs):\n    for one, text in inputs:\n        yield one, f'{SAID} {torch.get_num_threads()}'\n"
    )
    job = make_job(workload="python", function="asks_threads:go", threads=2)
    (job.folder / "asks_threads.py").write_text(source)
    work, sink = PythonFunction(), Sink(lambda _: None)
    work.prepare(job)
    work.run_pass(sink)
    assert set(sink.predictions) == {"2 2"}
    assert work.facts["threads_asked"] == "2"


def test_a_module_that_is_not_there_is_a_fault_before_any_pass(tmp_path: Path) -> None:
    """Named with its place; one in the folder, in a package, or installed is none, and nothing is imported."""
    (tmp_path / "mine.py").write_text("raise SystemExit\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("raise SystemExit\n")
    found = {
        function: PythonFunction.check(Variant(id="v", workload="python", function=function), tmp_path)
        for function in ("mine:go", "parts.inner:go", "json:loads", "sys:exit", "absent:go", "absent.inner:go")
    }
    assert [function for function, faults in found.items() if faults] == ["absent:go", "absent.inner:go"]
    (one,) = found["absent:go"]
    assert (one.slug, one.place) == ("module-missing", "variants.v.function")
