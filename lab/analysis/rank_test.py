"""Mann-Whitney's test by exact permutation with midranks, and Holm's correction.

Two-sided: the share of all ways to deal the pooled values into two groups of the same sizes whose rank sum lies at
least as far from its expectation as the observed one (the product's method, section 6; Mann and Whitney 1947, Ann.
Math. Stat. 18:50; Holm 1979, Scand. J. Stat. 6:65). Ties get the mean of their ranks; ranks are doubled, so that all
sums are whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, erfc, sqrt

from lab.analysis.counting import coefficients

EXACT_UP_TO = 120  # pooled values; above, counting all deals takes seconds and the normal approximation is close


def doubled_midranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value, counted from 1, ties sharing their mean rank; in the order of `values`."""
    ordered = sorted(values)
    first: dict[float, int] = {}
    count: dict[float, int] = {}
    for index, value in enumerate(ordered):
        first.setdefault(value, index)
        count[value] = count.get(value, 0) + 1
    return [2 * first[value] + count[value] + 1 for value in values]


def ways_by_sum(ranks: Sequence[int], size: int) -> list[int]:
    """How many subsets of `size` of the doubled ranks of a sample have each sum, by sum from 0."""
    if len(set(ranks)) == len(ranks):  # no ties: ranks 1 to n, doubled
        rest = len(ranks) - size
        spread = coefficients(range(rest + 1, len(ranks) + 1), range(1, size + 1), size * rest)
        lowest = size * (size + 1)
        return [0] * lowest + [n for pair in zip(spread, [0] * len(spread), strict=True) for n in pair]
    # All counts of one subset size are packed into one whole number, `width` bits a sum: a shift adds a rank to every
    # sum at once. No count can spill over: there are fewer than 2**width subsets in all. Whole bytes: read off at once.
    step = len(ranks) // 8 + 1
    width = 8 * step
    packed = [1] + [0] * size
    for taken, rank in enumerate(ranks, start=1):
        for k in range(min(size, taken), 0, -1):
            packed[k] += packed[k - 1] << (rank * width)
    found = packed[size].to_bytes(packed[size].bit_length() // 8 + 1, "little")
    return [int.from_bytes(found[place : place + step], "little") for place in range(0, len(found), step)]


def exact_p_value(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """The exact two-sided p-value of two samples.

    Raises:
        ValueError: when a sample is empty.
    """
    if not a or not b:
        raise ValueError(len(a), len(b))
    if _one_deal_a_side(a, b):
        return complete_separation_p_value(len(a), len(b))
    return _exact(tuple(doubled_midranks([*a, *b])), len(a))


def _one_deal_a_side(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether no value of one lies among the other's, and only the observed deal and its mirror lie as far apart.

    Ties within a sample can make several deals of the mirror, unless both are of one size: then it is the other sample.
    """
    apart = max(a) < min(b) or max(b) < min(a)
    return apart and (len(a) == len(b) or len({*a, *b}) == len(a) + len(b))


def _exact(ranks: tuple[int, ...], size: int) -> Fraction:
    observed = abs(sum(ranks[:size]) - size * (len(ranks) + 1))
    return _as_far(tuple(sorted(ranks)), size, observed)


@lru_cache(maxsize=4096)  # without ties all pairs of a campaign share their ranks: 200 variants are 19,900 pairs
def _as_far(ranks: tuple[int, ...], size: int, observed: int) -> Fraction:
    """The share of deals whose doubled rank sum is at least `observed` from what is expected; `ranks` ascending."""
    expected = size * (len(ranks) + 1)
    as_far = sum(n for total, n in enumerate(_ways(ranks, size)) if abs(total - expected) >= observed)
    return Fraction(as_far, comb(len(ranks), size))


@lru_cache(maxsize=64)
def _ways(ranks: tuple[int, ...], size: int) -> tuple[int, ...]:
    return tuple(ways_by_sum(ranks, size))


@lru_cache(maxsize=1 << 15)  # the pairs of 250 variants: they are asked for again with one pass of one variant changed
def p_value(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The two-sided p-value: exact up to `EXACT_UP_TO` pooled values, else by the normal approximation.

    The approximation corrects the variance for ties and the distance for continuity.

    Raises:
        ValueError: when a sample is empty.
    """
    if len(a) + len(b) <= EXACT_UP_TO:
        return float(exact_p_value(a, b))
    if not a or not b:
        raise ValueError(len(a), len(b))
    ranks = doubled_midranks([*a, *b])
    size, together = len(a), len(a) + len(b)
    expected = size * (together + 1)
    mean = together + 1
    spread = sum((rank - mean) ** 2 for rank in ranks)
    if not spread:
        return 1.0
    variance = size * len(b) * spread / (together * (together - 1))
    away = max(abs(sum(ranks[:size]) - expected) - 1, 0)
    return min(1.0, erfc(away / sqrt(variance) / sqrt(2)))


@lru_cache(maxsize=256)  # few sizes, and as many questions as there are pairs of variants
def complete_separation_p_value(a: int, b: int) -> Fraction:
    """The smallest p-value that samples of `a` and `b` values can reach: no value of one among those of the other."""
    return min(Fraction(1), Fraction(2, comb(a + b, a)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Each p-value after Holm's correction over all of them; None stays None and counts as one that was not told apart.

    Counting the untested pairs keeps the correction the one that was announced before the first pass.
    """
    tested = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, index) in enumerate(tested):
        highest = max(highest, min(1.0, p * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted
