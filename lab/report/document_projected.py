"""What stands beside the decision and never in it: planning hypotheses and hourly offers, as plain data."""

from __future__ import annotations

from decimal import Decimal

from lab.analysis.exact import exact
from lab.calcul_forfaits import Quote
from lab.model.decision import Decision, HourlyComparison, Planning
from lab.report.document_decision import offer
from lab.report.document_plain import Json, Speech, amount, hours, said

LABEL = "planning_hypothesis"
ADDENDS = ("passes", "phases", "once", "cool_downs")  # what a projected window is the sum of


def planning(decision: Decision, speech: Speech) -> Json:
    """The hypotheses under their label, one a variant; `overhead_s` and `overheads_s` are spent once a deliverable.

    `addends` are what `window_hours` is the sum of: each with how often, and seconds each time and in all.
    """
    return {"label": LABEL, "variants": [_hypothesis(one, speech) for one in decision.planning]}


def hourly(decision: Decision, speech: Speech) -> list[Json]:
    """Hourly offers beside packages; `break_even_hours` as a number, and exact as a fraction in `break_even_exact`."""
    return [_comparison(one, speech) for one in decision.hourly]


def _hypothesis(one: Planning, speech: Speech) -> Json:
    overheads = dict(one.overheads_s)
    return {
        "variant": one.variant,
        "deliverables": one.deliverables,
        "corpus": one.corpus,
        "slowest_s": one.slowest_s,
        "overhead_s": round(sum(overheads.values()), 6) if overheads else None,
        "overheads_s": overheads,
        "once_s": dict(one.once_s),
        "cool_down_s": one.cool_down_s,
        "addends": _addends(one),
        "left_out": list(one.left_out),
        "window_hours": hours(one.hours),
        "package": _package(one.quote) if one.quote else None,
        **(said(one.why, speech) if one.why else {"reason": None, "message": None}),
    }


def _addends(one: Planning) -> list[Json]:
    if one.slowest_s is None or one.cool_down_s is None:
        return []
    times = (one.deliverables, one.deliverables, 1, one.deliverables - 1)
    seconds = ([one.slowest_s], one.overheads_s.values(), one.once_s.values(), [one.cool_down_s])
    each = [sum((exact(value) for value in values), Decimal(0)) for values in seconds]
    return [
        {"part": part, "times": count, "each_s": float(value), "seconds": float(value * count)}
        for part, count, value in zip(ADDENDS, times, each, strict=True)
    ]


def _comparison(one: HourlyComparison, speech: Speech) -> Json:
    crossing = one.break_even_hours
    return {
        "variant": one.variant,
        "offer": offer(one.offer) if one.offer else None,
        "lots": one.lots,
        "by_the_hour": _package(one.by_the_hour) if one.by_the_hour else None,
        "package": _package(one.package) if one.package else None,
        "break_even_hours": hours(crossing),
        "break_even_exact": None if crossing is None else str(crossing),
        "example_price": any(found.example for found in (one.offer, one.package and one.package.offer) if found),
        **(said(one.why, speech) if one.why else {"reason": None, "message": None}),
    }


def _package(quote: Quote) -> Json:
    return {
        "name": quote.offer.name,
        "days": quote.offer.days,
        "price": str(quote.offer.price),
        "lots": quote.lots,
        "periods": quote.periods,
        "cards": quote.cards,
        "covers_hours": hours(quote.covers_hours),
        "committed": amount(quote.committed),
        "currency": quote.currency,
        "catalogue_version": quote.offer.catalogue_version,
        "source": quote.offer.source,
        "example_price": quote.offer.example,
    }
