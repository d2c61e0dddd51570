"""What a `command` may do beside writing predictions: mark its phases, write csv, print much, ask for a shell."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.model.manifest import Variant
from lab.workloads.base import Job, Sink, WorkloadError
from lab.workloads.command import Command
from lab.workloads.phase_marks import COLUMNS, PhaseMarks
from lab.workloads.program import BoundedOutput

MakeJob = Callable[..., Job]

ALL = """awk -F'"' '{ print "{\\"id\\": \\"" $4 "\\", \\"prediction\\": \\"a\\"}" }' {corpus} > {predictions}"""


def _run(job: Job) -> tuple[Command, list[int]]:
    work, counted = Command(), []
    work.prepare(job)
    work.run_pass(Sink(counted.append))
    return work, counted


def _shell(make_job: MakeJob, line: str, **settings: object) -> Job:
    return make_job(**{"workload": "command", "shell": True, "command": [line], **settings})


def test_marked_phases_go_to_their_columns_and_only_measure_is_the_main_duration(make_job: MakeJob) -> None:
    """A shell script that loads, measures, exports and cleans up: each second is where it was spent, or nowhere."""
    mark = 'echo {} >> "$LAB_PHASES"'
    parts = ("sleep 0.3", mark.format("measure"), ALL, "sleep 0.1", mark.format("export"), "sleep 0.2")
    line = "; ".join((*parts, mark.format("end"), "sleep 0.4"))
    began = time.perf_counter()
    work, _ = _run(_shell(make_job, line))
    whole = time.perf_counter() - began
    assert set(work.durations) == {"load_s", "duration_s", "export_s"}
    assert work.durations["load_s"] >= 0.29  # before the first mark the program was starting
    assert work.durations["duration_s"] >= 0.09
    assert work.durations["export_s"] >= 0.19
    assert sum(work.durations.values()) <= whole - 0.39  # what follows `end` is in no column
    assert [part.split()[0] for part in work.facts["phase_marks"].split(", ")] == ["measure", "export", "end"]


def test_without_marks_the_whole_run_is_the_main_duration(make_job: MakeJob) -> None:
    """Nothing else is known of a program that says nothing."""
    work, _ = _run(_shell(make_job, f"sleep 0.2; {ALL}"))
    assert set(work.durations) == {"duration_s"}
    assert work.durations["duration_s"] >= 0.19
    assert "phase_marks" not in work.facts


@pytest.mark.parametrize(
    ("marks", "key"), [("load", "ended.phase_main_missing"), ("measure\nmesure", "ended.phase_unknown")]
)
def test_marks_that_do_not_say_the_main_duration_fail_the_pass(make_job: MakeJob, marks: str, key: str) -> None:
    """A misspelt phase ends the program at once: an hour of it would be worth nothing."""
    line = f"{ALL}; printf '{marks}\\n' >> $LAB_PHASES; {'sleep 60' if 'mesure' in marks else 'true'}"
    work, counted = Command(), []
    work.prepare(_shell(make_job, line))
    began = time.perf_counter()
    with pytest.raises(WorkloadError) as raised:
        work.run_pass(Sink(counted.append))
    assert time.perf_counter() - began < 30
    assert raised.value.reason.key == key
    assert counted[-1] == 23
    assert "duration_s" not in work.durations


NAMES = st.lists(st.sampled_from([*COLUMNS, "end"]))


@given(NAMES, st.integers(1, 7))
def test_marks_are_read_however_the_pipe_cuts_them(names: list[str], size: int) -> None:
    """Every second between begin and end is in one column, or after `end`."""
    marks, data = PhaseMarks(), "".join(f"{name}\n" for name in names).encode()
    began = time.perf_counter()
    for start in range(0, len(data), size):
        marks.take(data[start : start + size])
    assert marks.unknown == ""
    ended = time.perf_counter()
    if names and "measure" not in names:
        with pytest.raises(WorkloadError):
            marks.durations(began, ended)
        return
    found = marks.durations(began, ended)
    assert all(value >= 0 for value in found.values())
    assert set(found) == {COLUMNS[name] for name in names if name != "end"} | ({"load_s"} if names else {"duration_s"})
    if "end" not in names:
        assert sum(found.values()) == pytest.approx(ended - began, abs=1e-5)


def test_csv_predictions_become_jsonl_outside_the_main_duration(make_job: MakeJob) -> None:
    """Ids stay text, the csv is gone, a row without a prediction stays without one."""
    line = "printf 'prediction,id\\na,000\\n\"b, c\",001\\n,002\\n' > {predictions}"
    job = _shell(make_job, line, predictions_format="csv")
    work, counted = _run(job)
    rows = [json.loads(row) for row in job.predictions.read_text().splitlines()]
    assert rows == [
        {"id": "000", "prediction": "a"},
        {"id": "001", "prediction": "b, c"},
        {"id": "002", "prediction": ""},
    ]
    assert not job.predictions.with_suffix(".csv").exists()
    assert counted[-1] == 3
    assert set(work.durations) == {"duration_s"}


def test_a_csv_of_a_program_that_fails_is_kept_as_far_as_it_goes(make_job: MakeJob) -> None:
    """Its rows are there for whoever looks, and the reason is the program's own."""
    job = _shell(make_job, "printf 'id,prediction\\n000,a\\n' > {predictions}; exit 4", predictions_format="csv")
    with pytest.raises(WorkloadError) as raised:
        _run(job)
    assert dict(raised.value.reason.values) == {"code": 4}
    assert json.loads(job.predictions.read_text()) == {"id": "000", "prediction": "a"}


def test_only_a_variant_that_asks_for_a_shell_gets_one(make_job: MakeJob) -> None:
    """Without it nothing is expanded; with it what fills a place is one word, whatever it holds."""
    job = make_job(workload="command", command=["touch", "{predictions}", "$HOME;{folder}"])
    with pytest.raises(WorkloadError):  # a folder of that name is not there, and none was expanded
        _run(job)
    job = _shell(make_job, f"{ALL}; printf %s {{model}} > said", model="it's; touch owned; $HOME")
    assert Command.check(job.variant, job.folder) == ()
    _run(job)
    assert (job.folder / "said").read_text() == "it's; touch owned; $HOME"
    assert not (job.folder / "owned").exists()
    two = Variant.model_validate({"id": "v", "workload": "command", "shell": True, "command": ("echo", "a")})
    assert [one.slug for one in Command.check(two, job.folder)] == ["shell-needs-one-text"]


def test_a_child_that_outlives_the_program_is_not_waited_for(make_job: MakeJob) -> None:
    """It holds the program's output open, and the pass ends with the program all the same."""
    began = time.perf_counter()
    work, _ = _run(_shell(make_job, f"{ALL}; sleep 20 & yes > /dev/null & echo $! > child; echo $$"))
    assert time.perf_counter() - began < 15
    assert work.facts["exit_code"] == "0"
    for pid in (work._job.folder / "child").read_text().split():
        os.kill(int(pid), 9)


def test_a_program_that_prints_without_end_fills_nothing(make_job: MakeJob, capfd: pytest.CaptureFixture[str]) -> None:
    """Of 200 MB the first and the last megabyte are kept, with the number of bytes between them."""
    line = f"echo first; head -c 200000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo last; {ALL}"
    work, _ = _run(_shell(make_job, line))
    said = capfd.readouterr().out
    assert said.startswith("first\nxxx")
    assert said.endswith("x\nlast\n")
    assert len(said) < 2_200_000
    assert work.counts["output_bytes"] > 202_000_000
    assert f"[... {work.counts['output_bytes_left_out']} bytes ...]" in said
    assert work.counts["output_bytes_left_out"] > 199_000_000


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 30), st.integers(1, 30))
def test_bounded_output_keeps_both_ends_and_counts_the_rest(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], head: int, tail: int
) -> None:
    """What fits is kept whole; else the head, a line that says how many bytes are left out, and part of the end."""
    path = tmp_path_factory.getbasetemp() / "bounded"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    output = BoundedOutput(descriptor, head, tail)
    for part in parts:
        output.take(part)
    output.close()
    os.close(descriptor)
    whole, kept = b"".join(parts), path.read_bytes()
    assert output.written == len(whole)
    if len(whole) <= head + tail:
        assert kept == whole
        return
    note = f"\n[... {output.left_out} bytes ...]\n".encode()
    rest = kept.removeprefix(whole[:head]).removeprefix(note)
    assert kept == whole[:head] + note + rest
    assert whole.endswith(rest)
    assert head + output.left_out + len(rest) == len(whole)
    assert len(rest) <= tail


def test_the_threads_of_the_variant_reach_the_program(make_job: MakeJob) -> None:
    """By the variables that libraries read, whatever the runner's own say, and as a place; both are on record."""
    os.environ["OMP_NUM_THREADS"] = "7"
    line = """printf '{"id": "000", "prediction": "%s %s %s"}' $OMP_NUM_THREADS $MKL_NUM_THREADS {threads}"""
    job = _shell(make_job, f"{line} > {{predictions}}", threads=3)
    work, _ = _run(job)
    assert json.loads(job.predictions.read_text())["prediction"] == "3 3 3"
    assert work.facts["threads_asked"] == "3"
    assert "OMP_NUM_THREADS" in work.facts["threads_asked_by"]
