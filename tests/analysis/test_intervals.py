"""What a sample carries for its median, and for a ratio of two."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.exact import median
from lab.analysis.intervals import fewest_values, of_median, of_ratio

FIVE = (10.0, 12.0, 11.0, 14.0, 13.0)
DURATIONS = st.lists(st.integers(1, 10**9).map(lambda n: n / 10**6), min_size=0, max_size=40)


def test_five_values_carry_smallest_to_largest_at_93_75_percent() -> None:
    """Two of the 32 ways to fall on either side of the median leave it outside."""
    found = of_median(FIVE)
    assert (found.low, found.high, found.coverage) == (10.0, 14.0, 0.9375)
    assert found.reason.values["percent"] == 93.75


def test_four_values_are_too_few() -> None:
    """Nothing is stated, and the reason says that five are needed."""
    found = of_median(FIVE[:4])
    assert (found.low, found.high, found.coverage, found.reason.key) == (None, None, None, "interval.too_few")
    assert found.reason.values == {"present": 4, "needed": 5}
    assert fewest_values() == 5


@pytest.mark.parametrize(("size", "rank"), [(5, 1), (8, 1), (9, 2), (11, 2), (12, 3)])
def test_the_narrowest_interval_is_taken_and_its_coverage_counted(size: int, rank: int) -> None:
    """Counted over every way the values can fall below or above the median."""
    values = [float(one) for one in range(size)]
    found = of_median(values)
    assert (found.low, found.high) == (values[rank - 1], values[-rank])

    def share(rank: int) -> float:
        inside = sum(rank <= sum(below) <= size - rank for below in product((0, 1), repeat=size))
        return inside / 2**size

    assert found.coverage == share(rank)
    assert share(rank) >= 0.9375 > share(rank + 1)


@given(DURATIONS)
def test_an_interval_holds_the_median_of_the_sample_whatever_the_order(values: list[float]) -> None:
    """And claims no less than 93.75 %, no more than certainty."""
    found, middle = of_median(values), median(values)
    assert found == of_median(values[::-1])
    if found.low is None or found.high is None or found.coverage is None or middle is None:
        assert len(values) < 5
    else:
        assert found.low <= middle <= found.high
        assert 0.9375 <= found.coverage < 1


def test_a_ratio_of_two_medians_carries_less_than_either() -> None:
    """Both intervals have to hold: 87.5 % at least of five values a side, bounds rounded outwards."""
    found = of_ratio((20.0, 21.0, 22.0, 23.0, 24.0), (10.0, 11.0, 12.0, 13.0, 14.0), slower="a")
    assert found is not None
    assert (found.low, found.high, found.coverage) == (1.4285, 2.4, 0.875)
    assert found.reason.values == {"slower": "a", "ratio": 1.8333, "low": 1.4285, "high": 2.4, "percent": 87.5}


@pytest.mark.parametrize("faster", [FIVE[:4], (0.0, 1.0, 1.0, 1.0, 1.0), ()])
def test_no_ratio_is_made_of_too_few_values_or_over_zero(faster: tuple[float, ...]) -> None:
    """Absent, not infinite."""
    assert of_ratio(FIVE, faster) is None
