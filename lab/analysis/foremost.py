"""Which comparisons of a campaign are shown, with how much and round by round: 200 variants make 19,900 pairs.

Of few variants all are. Of many, those that somebody asks for: of the variant that the answer names with every other
one (of several, up to `NAMED`, those between them), and of each variant with the next slower one, which is where groups
part. So what is shown grows with the variants and not with their square; every pair keeps its result and its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from lab.model.decision import Separation, Summary

NAMED = 15  # variants whose pairs among them are all shown
ALL_UP_TO = NAMED * (NAMED - 1) // 2  # pairs of one corpus and seed
_Pair = frozenset[str]


def foremost(
    named: Collection[str], summaries: Sequence[Summary], separations: Sequence[Separation]
) -> tuple[bool, ...]:
    """Whether each of `separations` is shown, in their order; `named` are the variants that the answer is about."""
    populations: dict[tuple[str, int | None], list[Separation]] = {}
    for one in separations:
        populations.setdefault((one.corpus, one.seed), []).append(one)
    neighbours = {
        group: _neighbours([one for one in summaries if (one.corpus, one.seed) == group])
        for group, pairs in populations.items()
        if len(pairs) > ALL_UP_TO
    }
    return tuple(
        (near := neighbours.get((one.corpus, one.seed))) is None
        or frozenset((one.a, one.b)) in near
        or _asked_for(one, named)
        for one in separations
    )


def _neighbours(summaries: Sequence[Summary]) -> frozenset[_Pair]:
    """Each variant that has figures with the next slower one."""
    figures = [(one.median_s, one.variant) for one in summaries if one.median_s is not None]
    ordered = [variant for _median, variant in sorted(figures)]
    return frozenset(frozenset(pair) for pair in pairwise(ordered))


def _asked_for(pair: Separation, named: Collection[str]) -> bool:
    sides = (pair.a in named) + (pair.b in named)
    return sides > 0 if len(named) == 1 else sides == len((pair.a, pair.b)) and len(named) <= NAMED
