"""What people declare about prices, time and deliverables: the sheets `forfaits`, `calendar` and `deliverables`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from lab.calcul_forfaits import Offer

__all__ = ["CalendarTask", "Deliverable", "Expense", "Offer", "PackageChoice", "Window", "window_hours"]


def window_hours(start: datetime, end: datetime) -> Fraction:
    """Exact hours between two aware moments, through clock changes, negative if reversed.

    Raises:
        TypeError: a moment without a time zone.
    """
    begun, ended = (at.replace(tzinfo=None) - at.utcoffset() for at in (start, end))  # type: ignore[operator]  # naive
    span = ended - begun  # in UTC, because two moments of one zone subtract by the wall clock
    return span.days * 24 + Fraction(span.seconds * 10**6 + span.microseconds, 3600 * 10**6)


@dataclass(frozen=True)
class PackageChoice:
    """The package chosen for one variant; None is a cell left empty. `gpu` comes from the manifest."""

    variant: str
    gpu: str | None = None
    days: int | None = None
    lots: int | None = None
    periods: int = 1
    rental_reference: str | None = None


@dataclass(frozen=True)
class Expense:
    """Another expense: kept apart from the committed budget, with its justification. `variant` None: all of them."""

    item: str
    variant: str | None
    amount: Decimal
    currency: str | None
    justification: str | None = None


@dataclass(frozen=True)
class CalendarTask:
    """One row of `calendar`, in the protocol's time zone. `variant` None: all of them."""

    task: str
    start: datetime
    end: datetime
    variant: str | None = None
    notes: str | None = None


@dataclass(frozen=True)
class Window:
    """The access window: the span of a variant's tasks, and its exact length in hours (through clock changes)."""

    start: datetime
    end: datetime
    hours: Fraction


@dataclass(frozen=True)
class Deliverable:
    """One row of `deliverables`: the only link between a planned deliverable and an attempt."""

    deliverable: str
    variant: str | None = None
    accepted: bool | None = None
    attempt_id: str | None = None
    notes: str | None = None
