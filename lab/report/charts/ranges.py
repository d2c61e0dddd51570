"""Many durations in few figures: the five that a box is drawn of, and how many lie in each range."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import quantiles

COUNT = 20  # the most ranges of one variant
MANY = 600  # durations of one chart; beyond, points would hide one another and slow the page
FEW = 20  # durations that a chart of many still draws one by one

Five = tuple[float, float, float, float, float]


def crowded(values: Sequence[float], all_of_the_chart: int) -> bool:
    """Whether one variant's durations are told by ranges instead of one by one."""
    return all_of_the_chart > MANY and len(values) > FEW


def five(values: Sequence[float]) -> Five:
    """Smallest, first quartile, median, third quartile and largest of two or more values (R's method 7)."""
    first, middle, third = quantiles(values, n=4, method="inclusive")
    return min(values), first, middle, third, max(values)


def ranges(values: Sequence[float]) -> list[tuple[float, float, int]]:
    """Equal ranges from the smallest to the largest of one or more values, each with how many it holds.

    As many ranges as the square root of the number of values, rounded up, and at most `COUNT`: fewer values in more
    ranges would show chance. A value on a border counts in the upper range, the largest in the last; one range when
    all values are equal.
    """
    low, high = min(values), max(values)
    count = min(COUNT, ceil(sqrt(len(values))))
    width = (high - low) / count
    if not width:
        return [(low, high, len(values))]
    counts = [0] * count
    for value in values:
        counts[min(int((value - low) / width), count - 1)] += 1
    edges = [*(low + place * width for place in range(count)), high]
    return [(edges[place], edges[place + 1], number) for place, number in enumerate(counts)]
