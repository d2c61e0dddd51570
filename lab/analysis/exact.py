"""Comparisons of measured numbers as they are written: 0.95 - 0.94 is 0.01, which binary fractions do not give.

A decision must not turn on the last bit of a float, so differences, medians and ratios are taken on the shortest
decimal that reads back as the same float.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache


def exact(value: float) -> Decimal:
    """`value` as the decimal it is written as."""
    return Decimal(repr(value))


def distance(a: float, b: float) -> Decimal:
    """How far `a` and `b` lie apart; 0 or more, in their unit."""
    return abs(exact(a) - exact(b))


def median(values: Iterable[float]) -> float | None:
    """The middle value, or the mean of the two middle ones; None of no value. Unit of the values."""
    return _median(tuple(values))


@lru_cache(maxsize=1024)  # the durations of each variant are asked for once for every other variant
def _median(values: tuple[float, ...]) -> float | None:
    ordered = sorted(exact(value) for value in values)
    if not ordered:
        return None
    half = len(ordered) // 2
    return float(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)
