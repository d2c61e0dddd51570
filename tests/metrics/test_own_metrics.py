"""A metric of the user's own: loaded from its one file, asked for a finite number, its errors kept for the verdict."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lab.metrics import METRICS, metric
from lab.metrics.own import OwnMetric, OwnMetricError, call, load, module_file
from lab.model.evidence import Aggregates
from lab.model.manifest import CorpusSpec, Manifest, MetricSpec, Variant

SPEC = MetricSpec(function="my_metrics:cost", higher_is_better=False, lowest=0)
GOOD = "def cost(confusion):\n    return sum(n for (a, b), n in confusion.items() if a != b)\n"


def written(folder: Path, source: str) -> Path:
    """The module's file."""
    path = folder / "my_metrics.py"
    path.write_text(source, encoding="utf-8")
    return path


def test_the_function_takes_the_confusion(tmp_path: Path) -> None:
    """A plain dict of its own; its answer is a float; nothing is left beside the file or among the modules."""
    path = written(tmp_path, GOOD)
    assert call(load(SPEC, path), {("a", "a"): 3, ("a", "b"): 2}) == 2.0
    assert [one.name for one in tmp_path.iterdir()] == ["my_metrics.py"]
    assert "my_metrics" not in sys.modules


def test_a_dataclass_in_the_file_finds_its_own_module(tmp_path: Path) -> None:
    """Its annotations are texts that are looked up by the module's name; a module of that name that was there stays."""
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    source += "@dataclass\nclass Cost:\n    each: float\ndef cost(confusion):\n    return Cost(2.5).each\n"
    path = written(tmp_path, source)
    assert call(load(SPEC, path), {}) == 2.5
    assert "my_metrics" not in sys.modules
    assert call(load(MetricSpec(function="json:cost"), path), {}) == 2.5
    assert sys.modules["json"] is json


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """No cached bytecode is believed."""
    assert call(load(SPEC, written(tmp_path, GOOD)), {("a", "b"): 1}) == 1.0
    assert call(load(SPEC, written(tmp_path, GOOD.replace("sum(n", "2 * sum(n"))), {("a", "b"): 1}) == 2.0


@pytest.mark.parametrize("answer", ["None", "float('nan')", "float('inf')", "'1'", "True", "1 / 0", "exit()"])
def test_an_answer_that_is_no_finite_number_is_an_error(tmp_path: Path, answer: str) -> None:
    """Whatever the function does, judging goes on; `exit` is an exception like others here."""
    function = load(SPEC, written(tmp_path, f"def cost(confusion):\n    return {answer}\n"))
    with pytest.raises(OwnMetricError):
        call(function, {("a", "a"): 1})


@pytest.mark.parametrize("source", ["", "cost = 3\n", "def cost(:\n", "import no_such_module_here\n", "1 / 0\n"])
def test_a_function_that_is_not_there_is_an_error(tmp_path: Path, source: str) -> None:
    """Absent, no function, no Python, or a module that raises."""
    with pytest.raises(OwnMetricError):
        load(SPEC, written(tmp_path, source))


def test_modules_in_folders_are_files_of_the_campaign() -> None:
    """`a.b:f` is `a/b.py`."""
    assert module_file(MetricSpec(function="a.b:f")) == "a/b.py"


def test_the_manifest_states_direction_and_range() -> None:
    """An own metric is found by its name after the built-in ones, whose names it cannot take."""
    declared = Manifest(
        schema=1,
        name="test",
        language="en",
        corpora=(CorpusSpec(id="c", path="c.jsonl"),),
        variants=(Variant(id="a"),),
        metrics={"cost": SPEC, "accuracy": SPEC},
    )
    found = metric("cost", declared)
    assert isinstance(found, OwnMetric)
    assert (found.higher_is_better, found.lowest, found.highest) == (False, 0, None)
    assert metric("accuracy", declared) is METRICS[0]
    assert metric("cost") is None


def test_the_value_comes_with_the_evidence() -> None:
    """Judging runs no code: a value, no value, or the error that came instead."""
    used = OwnMetric("cost", SPEC)
    assert used.of(Aggregates({("a", "a"): 1}, own=2.0)) == 2.0
    assert used.of(Aggregates()) is None
    with pytest.raises(OwnMetricError, match="no luck"):
        used.of(Aggregates(own_error="no luck"))
