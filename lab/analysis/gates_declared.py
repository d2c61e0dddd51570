"""The gates that the declared calendar, prices and deliverables decide (the product's method, sections 7 and 8)."""

from __future__ import annotations

from fractions import Fraction

from lab.analysis.costs import Delivered, Priced
from lab.model.campaign import Campaign
from lab.model.catalogue import Window, window_hours
from lab.model.decision import Gate, GateResult
from lab.model.protocol import Protocol
from lab.model.reason import reason


def hours(value: Fraction | int) -> int | float:
    """Hours as a text shows them: whole where they are, else to the sixth decimal. Comparisons are made before."""
    return int(value) if Fraction(value).denominator == 1 else round(float(value), 6)


def calendar(priced: Priced, window: Window | None) -> Gate:
    """The package covers the access window; 72 h covers 72 h and not one second more."""
    if window is None:
        return Gate("calendar", "unknown", reason("gate.calendar.unknown.no_window"))
    if priced.quote is None:
        return Gate("calendar", "unknown", reason("gate.calendar.unknown.no_package", window=hours(window.hours)))
    covered = Fraction(priced.quote.covers_hours)
    facts: dict[str, object] = {"window": hours(window.hours), "covered": hours(covered)}
    if covered < window.hours:
        missing = hours(window.hours - covered)
        return Gate("calendar", "failed", reason("gate.calendar.failed", **facts, missing=missing, hours=missing))
    left = hours(covered - window.hours)
    return Gate("calendar", "passed", reason("gate.calendar.passed", **facts, left=left, hours=left))


def deadline(protocol: Protocol, window: Window | None) -> Gate:
    """The access window, retrieval of the deliverables included, ends by the deadline."""
    if protocol.deadline is None:
        return Gate("deadline", "unknown", reason("gate.deadline.unknown.none_stated"))
    if window is None:
        return Gate("deadline", "unknown", reason("gate.deadline.unknown.no_window", deadline=protocol.deadline))
    on_time = window_hours(window.end, protocol.deadline) >= 0
    facts: dict[str, object] = {"end": window.end, "deadline": protocol.deadline}
    result: GateResult = "passed" if on_time else "failed"
    return Gate("deadline", result, reason(f"gate.deadline.{result}", **facts))


def price(priced: Priced) -> Gate:
    """The chosen package is in the catalogue, once; a price that is not there is unknown, never guessed."""
    if priced.quote is None:
        return Gate("price", "unknown", priced.why or reason("gate.price.unknown.no_choice"))
    quote = priced.quote
    facts: dict[str, object] = {"package": quote.offer.name, "amount": quote.committed, "currency": quote.currency}
    facts |= {"lots": quote.lots, "cards": quote.cards, "version": quote.offer.catalogue_version}
    return Gate("price", "passed", reason("gate.price.passed", **facts))


def budget(protocol: Protocol, priced: Priced) -> Gate:
    """The committed budget, whole, is within the limit; other currencies are never converted."""
    limit = protocol.budget_limit
    if limit is None:
        return Gate("budget", "passed", reason("gate.budget.passed.no_limit"))
    facts: dict[str, object] = {"limit": limit, "limit_currency": protocol.currency or "?"}
    if priced.quote is None:
        return Gate("budget", "unknown", reason("gate.budget.unknown.no_price", **facts))
    facts |= {"amount": priced.quote.committed, "currency": priced.quote.currency}
    if protocol.currency != priced.quote.currency:
        return Gate("budget", "unknown", reason("gate.budget.unknown.currency", **facts))
    result: GateResult = "passed" if priced.quote.committed <= limit else "failed"
    key = "gate.budget.passed.within" if result == "passed" else "gate.budget.failed"
    return Gate("budget", result, reason(key, **facts))


def deliverables(campaign: Campaign, found: Delivered) -> Gate:
    """Every planned deliverable cites an accepted attempt of this variant; none stated is unknown."""
    planned = campaign.protocol.planned_deliverables
    if not planned:
        return Gate("deliverables", "unknown", reason("gate.deliverables.unknown.none_planned"))
    if found.faults:
        return Gate("deliverables", "failed", found.faults[0])
    if len(found.open) == len(planned):
        return Gate("deliverables", "unknown", reason("gate.deliverables.unknown.none_stated", planned=len(planned)))
    if found.open:
        facts = {"planned": len(planned), "missing": list(found.open)}
        return Gate("deliverables", "failed", reason("gate.deliverables.failed.missing", **facts))
    return Gate("deliverables", "passed", reason("gate.deliverables.passed", planned=len(planned)))
