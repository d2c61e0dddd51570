"""A campaign weighed: verdicts, figures, what tells variants apart, gates and prices, and the answer that follows.

The part of a decision that can be asked again of other facts: what if an attempt had failed, or none were left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.acceptance import judge
from lab.analysis.costs import delivered, expense_warnings, priced
from lab.analysis.exclusions import exclusions
from lab.analysis.gates import eligible, gates
from lab.analysis.ranking import Answer, cheapest, rank
from lab.analysis.scope import observed
from lab.analysis.separation import separate
from lab.analysis.series import deepened, side_by_side
from lab.analysis.statistics import summarise
from lab.analysis.windows import window
from lab.calcul_forfaits import cost_per_result
from lab.model.campaign import Campaign
from lab.model.decision import CostStatus, Exclusion, Separation, Summary, VariantDecision, Verdict
from lab.model.reason import Reason, reason


@dataclass(frozen=True)
class Weighed:
    """What follows from a campaign's facts, before anything is said about the answer."""

    verdicts: Mapping[str, Verdict]
    exclusions: tuple[Exclusion, ...]
    summaries: tuple[Summary, ...]
    separations: tuple[Separation, ...]
    variants: tuple[VariantDecision, ...]
    answer: Answer


def weigh(campaign: Campaign, *, views: bool = True) -> Weighed:
    """Judge, summarise, price and rank; the order of the rows changes nothing.

    `views`: whether what decides nothing is worked out too: pairs that no tie is about, and by how much two variants
    differ, also round by round.
    """
    verdicts = judge(campaign)
    left_out = exclusions(campaign, verdicts)
    summaries = deepened(campaign, verdicts, summarise(campaign, verdicts, left_out))
    variants = tuple(_variant(campaign, one.id, verdicts, left_out, summaries) for one in campaign.manifest.variants)
    apart = separate(summaries, campaign.protocol.separation_factor, None if views else cheapest(variants))
    answer = rank(variants, apart)
    named = (answer.winner.id,) if answer.winner else answer.contenders
    separations = side_by_side(campaign, summaries, apart, named) if views else apart
    return Weighed(verdicts, left_out, summaries, separations, variants, answer)


def _variant(
    campaign: Campaign,
    variant: str,
    verdicts: Mapping[str, Verdict],
    left_out: Sequence[Exclusion],
    summaries: Sequence[Summary],
) -> VariantDecision:
    span = window(campaign.calendar, variant)
    price = priced(campaign, variant, span)
    done = delivered(campaign, variant, verdicts)
    found = gates(campaign, variant, verdicts=verdicts, exclusions=left_out, priced=price, window=span, delivered=done)
    quote = price.quote
    status, cost = cost_per_result(quote.committed if quote else None, done.accepted)
    return VariantDecision(
        id=variant,
        eligible=eligible(found),
        gates=found,
        summaries=tuple(one for one in summaries if one.variant == variant),
        committed=quote.committed if quote else None,
        currency=quote.currency if quote else None,
        cards=quote.cards if quote else None,
        covers_hours=quote.covers_hours if quote else None,
        offer=quote.offer if quote else None,
        window=span,
        accepted_deliverables=done.accepted,
        cost_status=_status(status),
        cost_per_validated_corpus=cost,
        warnings=_variant_warnings(campaign, variant, example=bool(quote and quote.offer.example)),
    )


def _status(word: str) -> CostStatus:
    known: dict[str, CostStatus] = {"value": "value", "undefined": "undefined"}
    return known.get(word, "not_stated")


def _variant_warnings(campaign: Campaign, variant: str, *, example: bool) -> tuple[Reason, ...]:
    found = [reason("warning.example_price")] if example else []
    spec = campaign.manifest.variant(variant)
    stated = spec and spec.compatibility_source and spec.compatibility_checked_on
    if not stated and any(one.facts.get("torch.hip") for one in observed(campaign, variant)):
        found.append(reason("warning.compatibility_not_stated"))
    return (*found, *expense_warnings(campaign, variant))
