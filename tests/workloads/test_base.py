"""What all workloads share: the choice of warm-up inputs, the sink, the registry."""

from __future__ import annotations

import subprocess
import sys
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.store.prediction_lines import vector_of
from lab.workloads import WORKLOADS, workload
from lab.workloads.base import Sink, warm_up_inputs
from lab.workloads.batching import by_budget, by_length, in_order

TEXTS = st.lists(st.text(max_size=30), max_size=40)


@given(TEXTS, st.integers(0, 50))
def test_warm_up_inputs_are_a_subset_in_corpus_order_with_the_longest(texts: list[str], wanted: int) -> None:
    """As many as wanted where there are so many, none twice, and always one of the greatest length."""
    inputs = [(str(number), text) for number, text in enumerate(texts)]
    chosen = warm_up_inputs(inputs, wanted)
    assert len(chosen) == min(wanted, len(inputs))
    assert list(chosen) == [one for one in inputs if one in chosen]
    if chosen:
        assert max(len(text) for _, text in chosen) == max(len(text) for text in texts)


@given(st.lists(st.integers(1, 100)), st.integers(1, 9))
def test_sorted_batches_hold_every_input_once_and_never_grow(lengths: list[int], size: int) -> None:
    """Longest first, none above the size, only the last one below it."""
    batches = by_length(lengths, size)
    flat = [index for batch in batches for index in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[index] for index in flat] == sorted(lengths, reverse=True)
    assert all(len(batch) == size for batch in batches[:-1])


@given(st.lists(st.integers(1, 100)), st.integers(1, 200))
def test_budget_batches_stay_within_the_budget(lengths: list[int], budget: int) -> None:
    """Every input once; width x inputs within the budget unless a single input is longer than it."""
    batches = by_budget(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[index] for index in batch) * len(batch) <= budget


def test_batches_in_order_read_no_further_than_asked() -> None:
    """The corpus is a stream: a batch takes its own inputs only, and the last one holds the rest."""
    stream = iter(range(7))
    batches = in_order(stream, 3)
    assert next(batches) == [0, 1, 2]
    assert next(stream) == 3
    assert list(batches) == [[4, 5, 6]]


def test_a_sink_counts_as_predictions_arrive_and_keeps_their_order() -> None:
    """Scores as numbers are named by `score_names`, as a mapping they name themselves, None is left out."""
    counted: list[int] = []
    sink = Sink(counted.append, score_names=("a", "b"))
    sink.add(("2", "1"), ("a", None), ([0.75, 0.25], None))
    sink.add(("3",), ("b",), ({"b": 1.0},))
    sink.add(("4",), ("b",))
    assert counted == [2, 3, 4]
    assert list(sink.rows()) == [
        {"id": "2", "prediction": "a", "scores": {"a": 0.75, "b": 0.25}},
        {"id": "1", "prediction": None},
        {"id": "3", "prediction": "b", "scores": {"b": 1.0}},
        {"id": "4", "prediction": "b"},
    ]


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=9))
def test_a_vector_is_written_as_text_that_reads_back_as_near_as_32_bits_tell(values: list[float]) -> None:
    """The prediction is a text for every reader of the file; six significant digits stay."""
    sink = Sink(lambda _: None)
    sink.add(("1",), (array("f", values),))
    (row,) = sink.rows()
    read = vector_of(str(row["prediction"]))
    assert read is not None
    assert read == pytest.approx(values, rel=1e-5, abs=1e-40)


def test_each_workload_is_found_by_its_name() -> None:
    """The list is what a variant may say; another name has none."""
    assert [workload(one.name) for one in WORKLOADS] == list(WORKLOADS)
    with pytest.raises(KeyError):
        workload("training")


def test_naming_the_workloads_imports_no_model_library(repository: Path) -> None:
    """Reading, judging and reporting stay fast, and work where torch is not installed."""
    code = 'import sys, lab.workloads, lab.measure.runner; print({"torch", "transformers"} & set(sys.modules))'
    said = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
