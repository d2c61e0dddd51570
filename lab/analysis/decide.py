"""The one entry of the analysis: from a campaign to its decision (the product's method, sections 5 to 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from lab.analysis.acceptance import judge
from lab.analysis.costs import delivered, expense_warnings, priced, unplanned_deliverables
from lab.analysis.exclusions import exclusion_warnings, exclusions
from lab.analysis.gates import eligible, gates
from lab.analysis.rank_test import EXACT_UP_TO
from lab.analysis.ranking import rank
from lab.analysis.scope import covers, does_not_cover, observed, stack_differences
from lab.analysis.sensitivity import sensitivity
from lab.analysis.separation import durations_of, pairs, separate
from lab.analysis.statistics import summarise
from lab.analysis.windows import window
from lab.calcul_forfaits import cost_per_result
from lab.model.campaign import Campaign
from lab.model.decision import CostStatus, Decision, Exclusion, Summary, VariantDecision, Verdict
from lab.model.reason import Reason, reason


def decide(campaign: Campaign) -> Decision:
    """Judge, summarise, price and rank; the order of the rows changes nothing."""
    verdicts = judge(campaign)
    left_out = exclusions(campaign, verdicts)
    summaries = summarise(campaign, verdicts, left_out)
    separations = separate(summaries, campaign.protocol.separation_factor)
    variants = tuple(_variant(campaign, one.id, verdicts, left_out, summaries) for one in campaign.manifest.variants)
    answer = rank(variants, separations)
    return Decision(
        status=answer.status,
        variant=answer.winner.id if answer.winner else None,
        committed=answer.winner.committed if answer.winner else None,
        currency=answer.winner.currency if answer.winner else None,
        cost_per_validated_corpus=answer.winner.cost_per_validated_corpus if answer.winner else None,
        reasons=answer.reasons,
        next_steps=answer.next_steps,
        contenders=answer.contenders,
        variants=variants,
        separations=separations,
        verdicts=verdicts,
        exclusions=left_out,
        covers=covers(campaign),
        does_not_cover=does_not_cover(campaign),
        sensitivity=sensitivity(campaign, variants, answer, verdicts, left_out),
        warnings=(*exclusion_warnings(campaign, left_out), *_warnings(campaign, summaries)),
    )


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
        covers_hours=floor(quote.covers_hours) if quote else None,
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
    return (*found, *expense_warnings(campaign)[variant])


def _warnings(campaign: Campaign, summaries: Sequence[Summary]) -> tuple[Reason, ...]:
    """What qualifies the whole answer."""
    found = []
    known = {variant.id for variant in campaign.manifest.variants}
    strangers = sorted({r.attempt.variant or "-" for r in campaign.records if r.attempt.variant not in known})
    if strangers:
        found.append(reason("warning.unknown_variant", variants=strangers))
    declared = sum(record.declared for record in campaign.records)
    if declared:
        found.append(reason("warning.declared_rows", rows=declared))
    unplanned = unplanned_deliverables(campaign)
    if unplanned:
        found.append(reason("warning.unplanned_deliverables", deliverables=list(unplanned)))
    if campaign.manifest.run.process == "per-variant" and len(known) > 1:
        found.append(reason("warning.no_rotation"))
    if any(len(durations_of(a)) + len(durations_of(b)) > EXACT_UP_TO for a, b in pairs(summaries)):
        found.append(reason("warning.approximate_test", limit=EXACT_UP_TO))
    differing = stack_differences(campaign)
    if differing:
        found.append(reason("warning.stacks_differ", facts=list(differing)))
    return tuple(found)
