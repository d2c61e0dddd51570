"""Whether two variants are told apart by their durations (the product's method, section 6).

Separated only when the gap between the medians exceeds the larger of the two ranges times the protocol's factor, and
the rank test, corrected over all pairs of the campaign, is below 0.05.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from lab.analysis.exact import distance, exact
from lab.analysis.intervals import of_ratio
from lab.analysis.rank_test import EXACT_UP_TO, complete_separation_p_value, exact_p_value, holm, p_value
from lab.model.campaign import Campaign
from lab.model.decision import BlockedBy, Separation, Summary
from lab.model.reason import Reason, reason

ALPHA = 0.05
DEFAULT_FACTOR = 1.0
FEWEST_PASSES = 2  # one duration has no range: its spread is unknown, not 0
# Warnings of a summary that qualify every comparison with it, and what they are called there.
QUALIFIED_BY = {
    "warning.drift_slower": "warning.compared_drift",
    "warning.drift_faster": "warning.compared_drift",
    "warning.first_slower": "warning.compared_first",
    "warning.first_faster": "warning.compared_first",
    "warning.mixed_environments": "warning.compared_mixed",
}


@dataclass(frozen=True)
class _Pair:
    a: Summary
    b: Summary
    p: float | None

    @property
    def slower(self) -> Summary:
        return self.a if (self.a.median_s or 0) > (self.b.median_s or 0) else self.b

    @property
    def faster(self) -> Summary:
        return self.b if self.slower is self.a else self.a


def durations_of(summary: Summary) -> tuple[float, ...]:
    """The durations a summary's figures are made of, in schedule order, in seconds."""
    return tuple(value for value in summary.durations_s if value is not None)


def pairs(summaries: Sequence[Summary]) -> tuple[tuple[Summary, Summary], ...]:
    """All pairs of variants on the same corpus with the same seed, in the order of the summaries."""
    return tuple((a, b) for a, b in combinations(summaries, 2) if (a.corpus, a.seed) == (b.corpus, b.seed))


def separate(summaries: Sequence[Summary], factor: float | None = None) -> tuple[Separation, ...]:
    """Every pair of variants, per corpus and seed, told apart or not and which of range and test blocks.

    `factor` is the protocol's separation factor, 1 when it states none. Holm's correction is over all pairs given.
    """
    found = [_Pair(a, b, _tested(a, b)) for a, b in pairs(summaries)]
    adjusted = holm([pair.p for pair in found])
    used = DEFAULT_FACTOR if factor is None else factor
    several = len({one.seed for one in summaries}) > 1
    places = [f"{pair.a.corpus} (seed={pair.a.seed})" if several else pair.a.corpus for pair in found]
    return tuple(
        _separation(pair, p, place, used, len(found)) for pair, p, place in zip(found, adjusted, places, strict=True)
    )


def _tested(a: Summary, b: Summary) -> float | None:
    first, second = durations_of(a), durations_of(b)
    return None if min(len(first), len(second)) < FEWEST_PASSES else p_value(first, second)


def _range(summary: Summary) -> Decimal:
    values = durations_of(summary)
    return distance(max(values), min(values))


def _separation(pair: _Pair, p_adjusted: float | None, place: str, factor: float, n_pairs: int) -> Separation:
    a, b = pair.a, pair.b
    facts: dict[str, object] = {"a": a.variant, "b": b.variant, "corpus": place}
    if pair.p is None or p_adjusted is None or a.median_s is None or b.median_s is None:
        counts = {"a_passes": len(durations_of(a)), "b_passes": len(durations_of(b))}
        why = reason("separation.too_few", **facts, **counts)
        return Separation(
            a.corpus, a.variant, b.variant, separated=False, blocked_by="too_few", reason=why, seed=a.seed,
            warnings=_qualified(a, b),
        )  # fmt: skip
    gap = distance(a.median_s, b.median_s)
    wider = max(_range(a), _range(b))
    range_blocks, test_blocks = gap <= wider * exact(factor), p_adjusted >= ALPHA
    blocked: BlockedBy | None = "range" if range_blocks else None
    if test_blocks:
        blocked = "range_and_test" if range_blocks else "test"
    more = more_passes(durations_of(pair.faster), durations_of(pair.slower), n_pairs) if blocked == "test" else None
    facts |= {"gap_s": float(gap), "range_s": float(wider), "factor": factor, "p": round(p_adjusted, 6)}
    facts |= {"faster": pair.faster.variant, "slower": pair.slower.variant}
    key = f"separation.{blocked or 'separated'}"
    if blocked == "range_and_test" and _too_few_for_the_test(a, b, n_pairs):
        counts = {"a_passes": len(durations_of(a)), "b_passes": len(durations_of(b))}
        key, facts = "separation.range_and_few", {**facts, **counts}
    if blocked == "test":
        key, facts = ("separation.test", {**facts, "more": more}) if more else ("separation.test_far", facts)
    return Separation(
        corpus=a.corpus,
        a=a.variant,
        b=b.variant,
        separated=blocked is None,
        blocked_by=blocked,
        reason=reason(key, **facts),
        faster=pair.faster.variant if blocked is None else None,
        gap_s=float(gap),
        range_s=float(wider),
        p_value=pair.p,
        p_adjusted=p_adjusted,
        more_passes=more,
        seed=a.seed,
        ratio=of_ratio(
            durations_of(pair.slower), durations_of(pair.faster),
            corpus=place, slower=pair.slower.variant, faster=pair.faster.variant,
        ),
        warnings=_qualified(a, b),
    )  # fmt: skip


def _too_few_for_the_test(a: Summary, b: Summary, n_pairs: int) -> bool:
    """Whether no durations at all could be told apart by so few passes: three a side reach p = 0.1 at best."""
    return complete_separation_p_value(len(durations_of(a)), len(durations_of(b))) * n_pairs >= Fraction(1, 20)


def _qualified(a: Summary, b: Summary) -> tuple[Reason, ...]:
    """What is said of either variant's passes and counts for their comparison, naming the variants it is said of."""
    found: dict[str, list[str]] = {}
    for one in (a, b):
        for key in dict.fromkeys(QUALIFIED_BY[why.key] for why in one.warnings if why.key in QUALIFIED_BY):
            found.setdefault(key, []).append(one.variant)
    return tuple(reason(key, variants=names) for key, names in found.items())


def more_passes(faster: Sequence[float], slower: Sequence[float], n_pairs: int) -> int | None:
    """The fewest further passes a side after which the test could tell the two apart.

    Method: the present durations stay; `k` further ones a side are taken to lie as far apart as they can (all of the
    faster below, all of the slower above); the exact p-value times the present number of pairs must fall below 0.05.
    The best case, hence a lower bound. None when it takes more than the exact test carries.
    """
    low, high = min(*faster, *slower) - 1, max(*faster, *slower) + 1
    for k in range(1, (EXACT_UP_TO - len(faster) - len(slower)) // 2 + 1):
        best = complete_separation_p_value(len(faster) + k, len(slower) + k)
        if best * n_pairs >= Fraction(1, 20):
            continue
        if exact_p_value([*faster, *[low] * k], [*slower, *[high] * k]) * n_pairs < Fraction(1, 20):
            return k
    return None


def could_tell(passes: int, variants: int, groups: int = 1) -> bool:
    """Whether `passes` a side can tell any two of `variants` apart at all, before anything is rented.

    `groups` is corpora x seeds. Five passes reach p = 2/252 = 0.0079 at best: enough for six pairs, not for ten.
    """
    if passes < FEWEST_PASSES:
        return False
    return complete_separation_p_value(passes, passes) * _pairs_of(variants, groups) < Fraction(1, 20)


def cannot_tell(campaign: Campaign) -> Reason | None:
    """Why the planned passes could separate no two variants, however far apart; None when they could.

    None too when the protocol states no repetitions or there is nothing to compare. For `lab check`, before anything
    is rented: five passes a side among five variants are ten pairs at p = 0.0079 at best.
    """
    passes, variants = campaign.protocol.repetitions, len(campaign.manifest.variants)
    groups = len(campaign.manifest.corpora) * len(campaign.manifest.run.seeds)
    if passes is None or variants < FEWEST_PASSES or could_tell(passes, variants, groups):
        return None
    needed = passes + 1
    while not could_tell(needed, variants, groups):
        needed += 1
    best = float(complete_separation_p_value(max(passes, 1), max(passes, 1)))
    facts = {"passes": passes, "variants": variants, "pairs": _pairs_of(variants, groups), "needed": needed}
    return reason("warning.cannot_separate", **facts, p=round(best, 6))


def _pairs_of(variants: int, groups: int) -> int:
    return groups * variants * (variants - 1) // 2
