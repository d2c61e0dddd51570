"""Metrics against values worked out by hand, and what holds for every confusion."""

from __future__ import annotations

from decimal import Decimal
from math import isclose, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.metrics import METRICS, metric
from lab.metrics.base import ConfusionMetric
from lab.model.evidence import Aggregates, Confusion, Distances

# 10 inputs: a is right 4 of 5 times, b 2 of 3, c 1 of 2.
MIXED = {("a", "a"): 4, ("a", "b"): 1, ("b", "b"): 2, ("b", "c"): 1, ("c", "c"): 1, ("c", "a"): 1}

confusions = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), st.integers(0, 40), min_size=1, max_size=12
)


def value(name: str, confusion: Confusion) -> float | None:
    """The metric of that name on a confusion."""
    found = metric(name)
    assert found is not None
    return found.of(Aggregates(confusion, agreement=confusion))


def test_names_are_found_and_others_are_not() -> None:
    """Every metric is found by its own name; an unknown name or none gives None."""
    assert [metric(one.name) for one in METRICS] == list(METRICS)
    assert metric("bleu") is None
    assert metric(None) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("accuracy", 0.7),
        ("exact_match", 0.7),
        ("micro_f1", 0.7),
        ("balanced_accuracy", (4 / 5 + 2 / 3 + 1 / 2) / 3),
        ("macro_f1", (8 / 10 + 4 / 6 + 2 / 4) / 3),
        ("mcc", (10 * 7 - (5 * 5 + 3 * 3 + 2 * 2)) / sqrt((100 - 38) * (100 - 38))),
    ],
)
def test_a_metric_has_the_value_of_its_formula(name: str, expected: float) -> None:
    """Worked out by hand on ten inputs of three classes."""
    found = value(name, MIXED)
    assert found is not None
    assert isclose(found, expected, rel_tol=1e-15)


def test_two_class_mcc_is_the_textbook_one() -> None:
    """TP 6, FN 2, FP 1, TN 3: (18 - 2) / sqrt(7 x 8 x 4 x 5)."""
    found = value("mcc", {("y", "y"): 6, ("y", "n"): 2, ("n", "y"): 1, ("n", "n"): 3})
    assert found is not None
    assert isclose(found, 16 / sqrt(7 * 8 * 4 * 5), rel_tol=1e-15)


def test_a_class_that_is_only_predicted_lowers_macro_f1_and_not_balanced_accuracy() -> None:
    """Balanced accuracy is over references; macro-F1 counts the made-up class with its F1 of 0."""
    confusion = {("a", "a"): 1, ("b", "x"): 1}
    assert value("balanced_accuracy", confusion) == 0.5
    assert value("macro_f1", confusion) == pytest.approx(1 / 3)


def test_mcc_is_absent_when_everything_is_one_class() -> None:
    """Undefined is None, never 0."""
    assert value("mcc", {("a", "a"): 3, ("b", "a"): 2}) is None


@pytest.mark.parametrize("name", [one.name for one in METRICS])
def test_no_input_gives_no_value(name: str) -> None:
    """Neither an empty confusion nor one of zero counts has a metric."""
    assert value(name, {}) is None
    assert value(name, {("a", "a"): 0}) is None


@given(confusions)
def test_values_stay_in_range_whatever_the_order_of_the_counts(confusion: Confusion) -> None:
    """The range a metric states holds, and the order of the counts changes not one bit."""
    turned = dict(reversed(confusion.items()))
    for one in METRICS:
        found = one.of(Aggregates(confusion, agreement=confusion))
        assert found == one.of(Aggregates(turned, agreement=turned))
        if found is not None:
            assert one.lowest is not None
            assert one.highest is not None
            assert one.lowest <= found <= one.highest


@given(st.dictionaries(st.sampled_from("abc"), st.integers(1, 10**9), min_size=2, max_size=3))
def test_perfect_predictions_reach_the_best_value(counts: dict[str, int]) -> None:
    """All right is exactly the upper end of the range, so that a threshold of 1 can be met."""
    confusion = {(label, label): n for label, n in counts.items()}
    ratios = [one for one in METRICS if one.higher_is_better and one.needs == "confusion"]
    assert [one.of(Aggregates(confusion, agreement=confusion)) for one in ratios] == [one.highest for one in ratios]


def test_numeric_closeness_is_of_absolute_errors_and_lower_is_better() -> None:
    """Four inputs, errors 0.5 in all and 0.25 at most: mean 0.125; no upper end."""
    counted = Aggregates(distances=Distances(4, 0, Decimal("0.5"), Decimal("0.25")))
    found = {name: metric(name) for name in ("mean_absolute_error", "max_absolute_error")}
    assert {name: one.of(counted) for name, one in found.items() if one} == {
        "mean_absolute_error": 0.125,
        "max_absolute_error": 0.25,
    }
    assert {(one.higher_is_better, one.lowest, one.highest, one.inputs(counted)) for one in found.values() if one} == {
        (False, 0.0, None, 4)
    }


def test_numeric_closeness_is_absent_when_some_text_is_no_number() -> None:
    """The rest does not stand for it, and no pair has no distance."""
    for one in METRICS:
        if not one.higher_is_better:
            assert one.of(Aggregates(distances=Distances(3, 1, Decimal(0), Decimal(0)))) is None
            assert one.of(Aggregates()) is None


def test_agreement_is_with_the_reference_run_and_not_with_the_references() -> None:
    """Two of three predictions are those of the run; without a run there is no value."""
    found = metric("reference_agreement")
    assert found is not None
    agreed = {("a", "a"): 2, ("a", "b"): 1}
    assert found.of(Aggregates({("b", "b"): 3}, agreement=agreed)) == pytest.approx(2 / 3)
    assert found.inputs(Aggregates(agreement=agreed)) == 3
    assert found.of(Aggregates({("b", "b"): 3})) is None


def test_a_built_in_metric_states_its_direction_and_its_range() -> None:
    """Each has a lower end; only distances have no upper one."""
    assert all(one.lowest is not None for one in METRICS)
    assert [one.name for one in METRICS if one.highest is None] == ["mean_absolute_error", "max_absolute_error"]
    assert all(isinstance(one, ConfusionMetric) == (one.needs == "confusion") for one in METRICS[:8])
