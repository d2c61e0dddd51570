"""Whether the passes of one series drift over time: each slower, or faster, than those before it.

Kendall's rank test against time (Mann 1945, Econometrica 13:245), two-sided and exact by permutation, ties included:
the share of all orders of the same values whose pairs agree with time at least as far from even as those observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations

from lab.analysis.counting import coefficients
from lab.analysis.rank_test import EXACT_UP_TO
from lab.model.attempt import Attempt
from lab.model.reason import Reason, reason

FEWEST = 5  # passes: four in a perfect row have p = 2/24, which shows nothing
SHOWN_BELOW = Fraction(1, 20)


def drift(series: Sequence[Attempt]) -> Reason | None:
    """A warning when the durations of `series`, in the order they were measured, drift; None when none is shown.

    Shown at 5 % of at least five passes (the product's method, section 6: a warning, never a reason to leave out).
    """
    values = [row.duration_s for row in series if row.duration_s is not None]
    if not FEWEST <= len(values) <= EXACT_UP_TO:
        return None
    p = trend_p_value(values)
    if p >= SHOWN_BELOW:
        return None
    slower = _falls(values) * 2 < _unequal(values)
    key = "warning.drift_slower" if slower else "warning.drift_faster"
    return reason(key, passes=len(values), first_s=values[0], last_s=values[-1], p=round(float(p), 6))


def trend_p_value(values: Sequence[float]) -> Fraction:
    """The exact two-sided p-value of a trend in `values`, in the order they came; 1 when all are equal."""
    unequal = _unequal(values)
    alike = chain.from_iterable(range(1, count + 1) for count in Counter(values).values())
    ways = coefficients(range(1, len(values) + 1), alike, unequal)
    observed = abs(unequal - 2 * _falls(values))
    as_far = sum(n for falls, n in enumerate(ways) if abs(unequal - 2 * falls) >= observed)
    return Fraction(as_far, sum(ways))


def _falls(values: Sequence[float]) -> int:
    """How many pairs fall with time."""
    return sum(earlier > later for earlier, later in combinations(values, 2))


def _unequal(values: Sequence[float]) -> int:
    return sum(earlier != later for earlier, later in combinations(values, 2))
