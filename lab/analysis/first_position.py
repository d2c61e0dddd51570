"""Whether running first in a round tells on a pass: what warms up, clocks and caches make of it.

Passes that ran first are ranked against the others of the same variant, and the rank sums are added over the variants:
Mann-Whitney's statistic in strata, two-sided and exact by permutation within each (the product's method, section 6;
van Elteren 1960, Bull. Inst. Int. Stat. 37:351). One variant alone runs first too seldom to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from lab.analysis.exact import median
from lab.analysis.rank_test import EXACT_UP_TO, doubled_midranks, ways_by_sum
from lab.model.attempt import Attempt
from lab.model.reason import Reason, reason

SHOWN_BELOW = Fraction(1, 20)


def first_position(series: Mapping[str, Sequence[Attempt]]) -> dict[str, Reason]:
    """Variant -> the warning that its passes which ran first in their round are shown to differ from the others.

    Args:
        series: variant -> its passes that count, of one corpus and seed.

    A variant has one when the effect over all variants is significant at 5 % and it has passes of both kinds.
    """
    strata = {variant: found for variant, passes in series.items() if all(found := _split(passes))}
    if not strata or sum(len(one) + len(other) for one, other in strata.values()) > EXACT_UP_TO:
        return {}
    above, p = stratified_p_value(list(strata.values()))
    if p >= SHOWN_BELOW:
        return {}
    key = "warning.first_slower" if above else "warning.first_faster"
    warnings = {}
    for variant, (first, others) in strata.items():
        own, rest = median(first) or 0.0, median(others) or 0.0
        facts = {"first": len(first), "others": len(others), "first_s": own, "others_s": rest}
        warnings[variant] = reason(key, **facts, p=round(float(p), 6))
    return warnings


def stratified_p_value(strata: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[bool, Fraction]:
    """Whether the first samples rank above expectation, and the exact two-sided p-value over all strata together."""
    ways, observed, expected = [1], 0, 0
    for first, others in strata:
        ranks = doubled_midranks([*first, *others])
        observed += sum(ranks[: len(first)])
        expected += len(first) * (len(ranks) + 1)
        ways = _both(ways, ways_by_sum(ranks, len(first)))
    as_far = sum(n for total, n in enumerate(ways) if abs(total - expected) >= abs(observed - expected))
    return observed > expected, Fraction(as_far, sum(ways))


def _split(passes: Sequence[Attempt]) -> tuple[list[float], list[float]]:
    """Durations of the passes that ran first in their round, and of those that ran later in it."""
    placed = [
        (row.position, row.duration_s) for row in passes if row.position is not None and row.duration_s is not None
    ]
    return [value for place, value in placed if place == 1], [value for place, value in placed if place > 1]


def _both(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The ways to reach each sum of two independent draws, from the ways of each."""
    found = [0] * (len(a) + len(b) - 1)
    for total, n in enumerate(a):
        for more, m in enumerate(b) if n else ():
            found[total + more] += n * m
    return found
