"""Whether two variants are told apart by their durations (the product's method, section 6).

Separated only when the gap between the medians exceeds the larger of the two ranges times the protocol's factor, and
the rank test, corrected over all pairs of the campaign, is below 0.05.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from lab.analysis.exact import distance, exact
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


@dataclass(frozen=True, slots=True)
class _Side:
    """What every comparison with one variant needs: worked out once, and not for each of the other variants."""

    summary: Summary
    population: tuple[str, int | None]
    durations: tuple[float, ...]
    median: Decimal
    spread: Decimal
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Pair:
    a: _Side
    b: _Side
    p: float | None

    @property
    def slower(self) -> _Side:
        return self.a if self.a.median > self.b.median else self.b

    @property
    def faster(self) -> _Side:
        return self.b if self.slower is self.a else self.a


def durations_of(summary: Summary) -> tuple[float, ...]:
    """The durations a summary's figures are made of, in schedule order, in seconds."""
    return tuple(value for value in summary.durations_s if value is not None)


def separate(
    summaries: Sequence[Summary], factor: float | None = None, only: Collection[str] | None = None
) -> tuple[Separation, ...]:
    """Every pair of variants, per corpus and seed, told apart or not and which of range and test blocks.

    `factor` is the protocol's separation factor, 1 when it states none. Holm's correction is over all pairs given,
    also when `only` those between some variants are asked for.
    """
    found = []
    for a, b in combinations([_side(one) for one in summaries], 2):
        if a.population == b.population:
            tested = len(a.durations) >= FEWEST_PASSES and len(b.durations) >= FEWEST_PASSES
            found.append(_Pair(a, b, p_value(a.durations, b.durations) if tested else None))
    adjusted = holm([pair.p for pair in found])
    used = DEFAULT_FACTOR if factor is None else factor
    several = len({one.seed for one in summaries}) > 1
    return tuple(
        _separation(pair, p, place_of(pair.a.summary, several_seeds=several), used, len(found))
        for pair, p in zip(found, adjusted, strict=True)
        if only is None or (pair.a.summary.variant in only and pair.b.summary.variant in only)
    )


def place_of(summary: Summary, *, several_seeds: bool) -> str:
    """Where a comparison was made, as its reason names it: the corpus, and the seed where there are several."""
    return f"{summary.corpus} (seed={summary.seed})" if several_seeds else summary.corpus


def _side(summary: Summary) -> _Side:
    values = durations_of(summary)
    spread = distance(max(values), min(values)) if values else Decimal(0)
    warnings = tuple(dict.fromkeys(QUALIFIED_BY[why.key] for why in summary.warnings if why.key in QUALIFIED_BY))
    return _Side(summary, (summary.corpus, summary.seed), values, exact(summary.median_s or 0.0), spread, warnings)


def _separation(pair: _Pair, p_adjusted: float | None, place: str, factor: float, n_pairs: int) -> Separation:
    a, b = pair.a.summary, pair.b.summary
    facts: dict[str, object] = {"a": a.variant, "b": b.variant, "corpus": place}
    if pair.p is None or p_adjusted is None:
        why = reason("separation.too_few", **facts, **_counts(pair))
        return Separation(
            a.corpus, a.variant, b.variant, separated=False, blocked_by="too_few", reason=why, seed=a.seed,
            warnings=_qualified(pair),
        )  # fmt: skip
    gap = abs(pair.a.median - pair.b.median)
    wider = max(pair.a.spread, pair.b.spread)
    range_blocks, test_blocks = gap <= wider * exact(factor), p_adjusted >= ALPHA
    blocked: BlockedBy | None = "range" if range_blocks else None
    if test_blocks:
        blocked = "range_and_test" if range_blocks else "test"
    faster, slower = pair.faster.summary.variant, pair.slower.summary.variant
    more = more_passes(pair.faster.durations, pair.slower.durations, n_pairs) if blocked == "test" else None
    facts |= {"gap_s": float(gap), "range_s": float(wider), "factor": factor, "p": round(p_adjusted, 6)}
    facts |= {"faster": faster, "slower": slower}
    key = f"separation.{blocked or 'separated'}"
    if blocked == "range_and_test" and _too_few_for_the_test(pair, n_pairs):
        key, facts = "separation.range_and_few", {**facts, **_counts(pair)}
    if blocked == "test":
        key, facts = ("separation.test", {**facts, "more": more}) if more else ("separation.test_far", facts)
    return Separation(
        corpus=a.corpus,
        a=a.variant,
        b=b.variant,
        separated=blocked is None,
        blocked_by=blocked,
        reason=Reason(key, facts),
        faster=faster if blocked is None else None,
        gap_s=float(gap),
        range_s=float(wider),
        p_value=pair.p,
        p_adjusted=p_adjusted,
        more_passes=more,
        seed=a.seed,
        warnings=_qualified(pair),
    )


def _counts(pair: _Pair) -> dict[str, object]:
    return {"a_passes": len(pair.a.durations), "b_passes": len(pair.b.durations)}


def _too_few_for_the_test(pair: _Pair, n_pairs: int) -> bool:
    """Whether no durations at all could be told apart by so few passes: three a side reach p = 0.1 at best."""
    best = complete_separation_p_value(len(pair.a.durations), len(pair.b.durations))
    return best * n_pairs >= Fraction(1, 20)


def _qualified(pair: _Pair) -> tuple[Reason, ...]:
    """What is said of either variant's passes and counts for their comparison, naming the variants it is said of."""
    if not pair.a.warnings and not pair.b.warnings:
        return ()
    found: dict[str, list[str]] = {}
    for side in (pair.a, pair.b):
        for key in side.warnings:
            found.setdefault(key, []).append(side.summary.variant)
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
