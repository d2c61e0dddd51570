"""The interval that a small sample really carries for its median, and for the ratio of two medians.

Between the k-th smallest and the k-th largest of n values lies the median of what they were drawn from, unless fewer
than k of them fell on one side of it: with probability 1 - 2 (C(n,0) + ... + C(n,k-1)) / 2^n at least, whatever the
distribution (Thompson 1936, Ann. Math. Stat. 7:122). Five values: smallest to largest, 93.75 % (the product's method,
section 6). The passes are taken as independent and alike; a drift warns when they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache

from lab.analysis.exact import exact, median
from lab.model.decision import Interval
from lab.model.reason import reason

COVERAGE = Fraction(15, 16)  # what five values carry, and what is asked of more
_FOURTH = Decimal("0.0001")


def of_median(values: Sequence[float]) -> Interval:
    """The narrowest interval between two values of the sample that covers the median at `COVERAGE` or more.

    In the unit of `values`. Too few values carry none: bounds and coverage are None, and the reason says how many it
    takes.
    """
    found = _enclosed(values)
    if found is None:
        return Interval(None, None, None, reason("interval.too_few", present=len(values), needed=fewest_values()))
    low, high, sure = found
    facts = {"low_s": low, "high_s": high, "percent": _percent(sure), "passes": len(values)}
    return Interval(low, high, float(sure), reason("interval.median", **facts))


def of_ratio(slower: Sequence[float], faster: Sequence[float], /, **facts: object) -> Interval | None:
    """Between which two numbers the ratio of the two medians lies, `slower` over `faster`; no unit.

    From the bounds of both medians, either of which may fail: it carries 1 - (1 - c) - (1 - d) at least, which is
    87.5 % of five values a side. Rounded outwards to the fourth decimal. `facts` go into the reason beside the bounds.
    None when a sample carries no interval, or the faster one's reaches 0.
    """
    above, below = _enclosed(slower), _enclosed(faster)
    middles = median(slower), median(faster)
    if above is None or below is None or below[0] <= 0 or middles[0] is None or not middles[1]:
        return None
    sure = above[2] + below[2] - 1
    low = float((exact(above[0]) / exact(below[1])).quantize(_FOURTH, ROUND_FLOOR))
    high = float((exact(above[1]) / exact(below[0])).quantize(_FOURTH, ROUND_CEILING))
    ratio = float((exact(middles[0]) / exact(middles[1])).quantize(_FOURTH))
    why = reason("interval.ratio", **facts, ratio=ratio, low=low, high=high, percent=_percent(sure))
    return Interval(low, high, float(sure), why)


def fewest_values() -> int:
    """The fewest values that carry an interval at `COVERAGE`: five."""
    size = 1
    while _coverage(size, 1) < COVERAGE:
        size += 1
    return size


def _coverage(size: int, rank: int) -> Fraction:
    """How sure it is that the median lies between the `rank`-th smallest and the `rank`-th largest of `size` values."""
    ways = beyond = 1
    for below in range(1, rank):
        ways = ways * (size - below + 1) // below
        beyond += ways
    return 1 - Fraction(2 * beyond, 2**size)


def _enclosed(values: Sequence[float]) -> tuple[float, float, Fraction] | None:
    size = len(values)
    rank, sure = _highest_rank(size)
    if not rank:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[size - rank], sure


@lru_cache(maxsize=256)  # few sizes, and as many questions as there are pairs of variants
def _highest_rank(size: int) -> tuple[int, Fraction]:
    """The highest rank whose interval covers at `COVERAGE` or more, and how sure it is; 0: none does."""
    low, high = 0, (size + 1) // 2  # the highest rank that still covers, by bisection: coverage falls with the rank
    while low < high:
        rank = (low + high + 1) // 2
        low, high = (rank, high) if _coverage(size, rank) >= COVERAGE else (low, rank - 1)
    return low, _coverage(size, low) if low else Fraction(0)


def _percent(sure: Fraction) -> float:
    """`sure` in percent with two decimals, rounded down: no more is claimed than is carried."""
    return int(sure * 10_000) / 100
