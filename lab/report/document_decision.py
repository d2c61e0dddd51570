"""The decision, its variants with their gates and prices, and what tells them apart, as plain data."""

from __future__ import annotations

from dataclasses import asdict, fields

from lab.calcul_forfaits import cents
from lab.model.campaign import Campaign
from lab.model.catalogue import Offer, Window
from lab.model.decision import (
    Decision,
    Figures,
    Gate,
    Interval,
    OtherAnswer,
    Paired,
    Separation,
    Summary,
    VariantDecision,
)
from lab.report.document_plain import Json, Speech, amount, hours, moment, plain, said


def decision(answer: Decision, speech: Speech) -> Json:
    """The answer with its reasons; `example_price` when a price of the demo's catalogue is behind its amounts."""
    behind = {answer.variant} if answer.variant else set(answer.contenders)
    return {
        "status": answer.status,
        "variant": answer.variant,
        "committed": amount(answer.committed),
        "currency": answer.currency,
        "cost_per_validated_corpus": amount(answer.cost_per_validated_corpus),
        "example_price": any(_example(one) for one in answer.variants if one.id in behind),
        "contenders": list(answer.contenders),
        "reasons": [said(one, speech) for one in answer.reasons],
        "next_steps": [said(one, speech) for one in answer.next_steps],
        "sensitivity": [said(one, speech) for one in answer.sensitivity],
        "warnings": [said(one, speech) for one in answer.warnings],
        "with_excluded": _with_excluded(answer.with_excluded, speech) if answer.with_excluded else None,
    }


def limits(answer: Decision, speech: Speech) -> Json:
    """What the decision covers and what it does not."""
    return {
        "covers": [said(one, speech) for one in answer.covers],
        "does_not_cover": [said(one, speech) for one in answer.does_not_cover],
    }


def variants(campaign: Campaign, answer: Decision, speech: Speech) -> list[Json]:
    """Every variant with its gates, figures, package and cost; amounts as text, the window in hours."""
    return [_variant(campaign, one, speech) for one in answer.variants]


def separations(answer: Decision, speech: Speech) -> list[Json]:
    """Every pair of variants on each corpus: whether their durations tell them apart, and what blocks it."""
    return [_separation(one, speech) for one in answer.separations]


def exclusions(answer: Decision, speech: Speech) -> list[Json]:
    """Attempts left out of the figures, by which rule; `attested` when a person vouches for it."""
    return [
        {"attempt_id": one.attempt_id, "rule": one.rule, "attested": one.attested, **said(one.reason, speech)}
        for one in answer.exclusions
    ]


def offer(found: Offer) -> Json:
    """A row of the catalogue; its price is of a whole lot (of an hour of it, in an hourly one) and not rounded."""
    row = {column.name: plain(getattr(found, column.name)) for column in fields(found) if column.compare}
    return {
        **row,
        "price": str(cents(found.price) if found.days else found.price),
        "memory_gib_per_card": hours(found.memory_gib_per_card),
        "minimum_hours": hours(found.minimum_hours),
    }


def _example(variant: VariantDecision) -> bool:
    return variant.offer is not None and variant.offer.example


def _variant(campaign: Campaign, one: VariantDecision, speech: Speech) -> Json:
    declared = campaign.manifest.variant(one.id)
    choice = next((choice for choice in campaign.choices if choice.variant == one.id), None)
    return {
        "id": one.id,
        "gpu": declared.gpu if declared else None,
        "eligible": one.eligible,
        "gates": [_gate(gate, speech) for gate in one.gates],
        "summaries": [_summary(summary, speech) for summary in one.summaries],
        "offer": offer(one.offer) if one.offer else None,
        "days": choice.days if choice else None,
        "lots": choice.lots if choice else None,
        "periods": choice.periods if choice else None,
        "rental_reference": choice.rental_reference if choice else None,
        "cards": one.cards,
        "covers_hours": hours(one.covers_hours),
        "window": _window(one.window) if one.window else None,
        "committed": amount(one.committed),
        "currency": one.currency,
        "example_price": _example(one),
        "accepted_deliverables": one.accepted_deliverables,
        "cost_status": one.cost_status,
        "cost_per_validated_corpus": amount(one.cost_per_validated_corpus),
        "warnings": [said(warning, speech) for warning in one.warnings],
    }


def _gate(gate: Gate, speech: Speech) -> Json:
    return {"gate": gate.gate, "result": gate.result, **said(gate.reason, speech)}


def _summary(one: Summary, speech: Speech) -> Json:
    return {
        "corpus": one.corpus,
        "seed": one.seed,
        "attempts": one.attempts,
        "accepted": one.accepted,
        "rejected": one.rejected,
        "unassessed": one.unassessed,
        "failed": one.failed,
        "excluded": one.excluded,
        "durations_s": list(one.durations_s),
        "median_s": one.median_s,
        "min_s": one.min_s,
        "max_s": one.max_s,
        "median_metric": one.median_metric,
        "median_interval": _interval(one.median_interval, speech) if one.median_interval else None,
        "with_excluded": _figures(one.with_excluded) if one.with_excluded else None,
        "warnings": [said(warning, speech) for warning in one.warnings],
    }


def _figures(one: Figures) -> Json:
    return {**asdict(one), "durations_s": list(one.durations_s)}


def _separation(one: Separation, speech: Speech) -> Json:
    return {
        "corpus": one.corpus,
        "seed": one.seed,
        "a": one.a,
        "b": one.b,
        "separated": one.separated,
        "blocked_by": one.blocked_by,
        "faster": one.faster,
        "gap_s": one.gap_s,
        "range_s": one.range_s,
        "p_value": one.p_value,
        "p_adjusted": one.p_adjusted,
        "more_passes": one.more_passes,
        "shown": one.shown,
        "ratio": _interval(one.ratio, speech) if one.ratio else None,
        "paired": _paired(one.paired, speech) if one.paired else None,
        "warnings": [said(warning, speech) for warning in one.warnings],
        **said(one.reason, speech),
    }


def _interval(one: Interval, speech: Speech) -> Json:
    """The bounds, None where the sample carries none; `coverage` is a probability, 0 to 1."""
    return {"low": one.low, "high": one.high, "coverage": one.coverage, **said(one.reason, speech)}


def _paired(one: Paired, speech: Speech) -> Json:
    """Round by round, `a` minus `b` in seconds."""
    return {
        "rounds": list(one.rounds),
        "differences_s": list(one.differences_s),
        "median_s": one.median_s,
        "a_faster": one.a_faster,
        **said(one.reason, speech),
    }


def _with_excluded(one: OtherAnswer, speech: Speech) -> Json:
    """The answer with the excluded attempts back in the figures."""
    return {
        "status": one.status,
        "variant": one.variant,
        "contenders": list(one.contenders),
        "separations": [_separation(pair, speech) for pair in one.separations],
    }


def _window(window: Window) -> Json:
    return {"start": moment(window.start), "end": moment(window.end), "hours": hours(window.hours)}
