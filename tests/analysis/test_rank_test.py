"""Mann-Whitney's exact test against brute force and known values; Holm's correction."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.rank_test import (
    EXACT_UP_TO,
    complete_separation_p_value,
    doubled_midranks,
    exact_p_value,
    holm,
    p_value,
)

samples = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5)  # few values, so that ties are common


def by_brute_force(a: list[float], b: list[float]) -> Fraction:
    """Deal the pooled midranks in every way and count the rank sums at least as far from the expected one."""
    pooled = [*a, *b]
    ranks = [Fraction(sum(y < x for y in pooled) * 2 + sum(y == x for y in pooled) + 1, 2) for x in pooled]
    expected = Fraction(len(a) * (len(pooled) + 1), 2)
    observed = abs(sum(ranks[: len(a)]) - expected)
    deals = list(combinations(range(len(pooled)), len(a)))
    return Fraction(sum(abs(sum(ranks[i] for i in deal) - expected) >= observed for deal in deals), len(deals))


@given(samples, samples)
def test_the_p_value_is_that_of_every_possible_deal(a: list[float], b: list[float]) -> None:
    """The fast count equals the slow one, ties included."""
    assert exact_p_value(a, b) == by_brute_force(a, b)


def test_five_against_five_fully_separated() -> None:
    """2 of 252 deals are as extreme: p = 0.0079."""
    assert exact_p_value([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == Fraction(2, 252)
    assert complete_separation_p_value(5, 5) == Fraction(2, 252)
    assert round(p_value((1, 2, 3, 4, 5), (6, 7, 8, 9, 10)), 4) == 0.0079


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], Fraction(2, 20)),
        ([1.0, 3.0, 5.0], [2.0, 4.0, 6.0], Fraction(14, 20)),  # U = 3; the tables of U give 0.35 on one side
        ([1.0], [2.0], Fraction(1)),
        ([4.0, 4.0], [4.0, 4.0], Fraction(1)),
    ],
)
def test_known_values(a: list[float], b: list[float], expected: Fraction) -> None:
    """Small tables of U, and nothing to tell apart when all values are equal."""
    assert exact_p_value(a, b) == expected


def test_tied_values_share_their_mean_rank() -> None:
    """Ranks 1, 2.5, 2.5, 4, doubled."""
    assert doubled_midranks([1.0, 2.0, 2.0, 3.0]) == [2, 5, 5, 8]


def test_an_empty_sample_is_refused() -> None:
    """There is no p-value of nothing."""
    with pytest.raises(ValueError, match="0, 1"):
        exact_p_value([], [1.0])


def test_beyond_the_exact_limit_the_approximation_is_close() -> None:
    """Just above the limit the normal approximation and the exact count agree to a thousandth."""
    half = EXACT_UP_TO // 2 + 1
    a = tuple(float(i % 37) for i in range(half))
    b = tuple(float((i * 7) % 41) for i in range(half))
    assert p_value(a, b) == pytest.approx(float(exact_p_value(a, b)), abs=1e-3)
    assert p_value((1.0,) * half, (1.0,) * half) == 1.0


def test_holm_on_a_worked_example() -> None:
    """0.01, 0.04, 0.03 of three: 0.03, then 0.06 held for the last; an untested pair counts as a fourth."""
    assert holm([0.01, 0.04, 0.03]) == [pytest.approx(0.03), pytest.approx(0.06), pytest.approx(0.06)]
    assert holm([0.01, None, 0.04, 0.03]) == [pytest.approx(0.04), None, pytest.approx(0.09), pytest.approx(0.09)]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(values: list[float]) -> None:
    """Adjusted p-values are at least as large, at most 1, and in the same order."""
    adjusted = holm(list(values))
    assert all(p is not None and raw <= p <= 1 for raw, p in zip(values, adjusted, strict=True))
    in_order = [p for _raw, p in sorted(zip(values, adjusted, strict=True), key=lambda pair: pair[0])]
    assert in_order == sorted(in_order, key=lambda p: p or 0)


@given(samples, samples, st.booleans())
def test_samples_apart_are_counted_without_dealing(a: list[float], b: list[float], below: bool) -> None:  # noqa: FBT001  (drawn)
    """No value of one among the other's, with ties and unequal sizes: the short way says what every deal says."""
    moved = [value + (10.0 if below else -10.0) for value in b]
    assert exact_p_value(a, moved) == by_brute_force(a, moved)
