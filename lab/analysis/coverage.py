"""What a calendar needs and which packages cover it, by `lab window` (the product's method, section 7; the seeds)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from lab.analysis.windows import window
from lab.calcul_forfaits import Offer, cents
from lab.model.catalogue import CalendarTask, Window, window_hours
from lab.prices import answer

USUAL_DAYS = (3, 7, 30)  # the packages of the mission's article, shown also where the catalogue holds no price for them

Row = Mapping[str, Any]  # an offer with its price, as `lab price --json` holds it


@dataclass(frozen=True)
class PackageFit:
    """How one package length meets a window; `hours_left` is negative when hours are missing."""

    days: int
    hours_left: Fraction
    offers: tuple[Row, ...] = ()

    @property
    def covers(self) -> bool:
        """72 h covers 72 h and not one second more."""
        return self.hours_left >= 0


@dataclass(frozen=True)
class Beyond:
    """A window longer than the longest package: how many periods of it, and what all of them commit.

    Attributes:
        days: of the longest package; where a card is asked for, the longest whose price is known.
        periods: that cover the window, one after the other; 2 or more.
        offers: priced for all these periods, each with `extra_committed`, the part of the periods after the first.
    """

    days: int
    periods: int
    offers: tuple[Row, ...] = ()

    @property
    def extra_periods(self) -> int:
        """Those after the first."""
        return self.periods - 1


@dataclass(frozen=True)
class Coverage:
    """One access window beside the packages.

    Attributes:
        window: the span; None when the calendar has no task of the variant.
        task_hours: hours in which at least one task runs; the others are waiting, and count. None without a window, or
            when it was stated as one span.
        time_zone: the zone its times are written in; None when none is stated.
        packages: shortest first.
        variant: whose window it is; None: no variant in particular.
        gpu: the card prices were asked for.
        hourly: offers by the hour of that card, cheapest first.
    """

    window: Window | None
    task_hours: Fraction | None
    time_zone: str | None
    packages: tuple[PackageFit, ...]
    beyond: Beyond | None
    deadline: datetime | None = None
    variant: str | None = None
    gpu: str | None = None
    hourly: tuple[Row, ...] = ()

    @property
    def waiting_hours(self) -> Fraction | None:
        """Hours of the window in which no task runs; None where the tasks are not known."""
        return None if self.window is None or self.task_hours is None else self.window.hours - self.task_hours

    @property
    def deadline_hours_left(self) -> Fraction | None:
        """From the end of the window to the deadline, negative when it is missed; None where one is not stated."""
        if self.window is None or self.deadline is None:
            return None
        return window_hours(self.window.end, self.deadline)


@dataclass(frozen=True)
class Priced:
    """The catalogue to price with; `gpu` None: coverage only."""

    offers: Sequence[Offer] = ()
    gpu: str | None = None
    lots: int = 1


def coverage(
    tasks: Sequence[CalendarTask],
    variant: str | None,
    time_zone: str | None,
    *,
    deadline: datetime | None = None,
    priced: Priced = Priced(),
) -> Coverage:
    """The access window of a variant (None: of the tasks of all variants), beside every package.

    Raises:
        InvalidInputError: the catalogue holds no such card, or several.
        UsageProblemError: lots that cannot be.
    """
    own = [task for task in tasks if task.variant in {None, variant}]
    span = window(own, variant or "")
    hours = span.hours if span else None
    rows = _rows(priced, hours)
    gpu = rows[0]["gpu"] if rows else None
    known = sorted({row["days"] for row in rows if row["days"]})
    sold = {one.days for one in priced.offers if one.days and priced.gpu is None}
    days = sorted({*USUAL_DAYS, *known, *sold})
    fits = package_fits(hours, days) if hours is not None else ()
    found = beyond(hours, known or days) if hours is not None else None
    return Coverage(
        window=span,
        task_hours=task_hours(own) if span and all(task.task for task in own) else None,
        time_zone=time_zone,
        packages=tuple(PackageFit(one.days, one.hours_left, _of_days(rows, one.days)) for one in fits),
        beyond=found and _with_prices(found, priced),
        deadline=deadline,
        variant=variant,
        gpu=gpu,
        hourly=tuple(row for row in rows if row["days"] is None),
    )


def task_hours(tasks: Sequence[CalendarTask]) -> Fraction:
    """Hours in which at least one task runs: overlapping ones are counted once, and nothing between them."""
    total = Fraction(0)
    reached: datetime | None = None
    for task in sorted(tasks, key=lambda one: one.start.timestamp()):
        begun = task.start if reached is None or window_hours(reached, task.start) > 0 else reached
        more = window_hours(begun, task.end)
        if more > 0:
            total, reached = total + more, task.end
    return total


def package_fits(hours: Fraction, days: Collection[int]) -> tuple[PackageFit, ...]:
    """Each package of `days`, shortest first: a package of d days covers 24 d hours."""
    return tuple(PackageFit(one, 24 * one - Fraction(hours)) for one in sorted(days))


def beyond(hours: Fraction, days: Collection[int]) -> Beyond | None:
    """The periods of the longest of `days` that a longer window needs; None when it covers the window.

    Nothing is extended by itself: extra periods are priced explicitly (the product's method, section 7).
    """
    longest = max(days)
    periods = -(-Fraction(hours) // (24 * longest))
    return Beyond(longest, int(periods)) if periods > 1 else None


def _rows(priced: Priced, hours: Fraction | None, periods: int = 1) -> tuple[Row, ...]:
    if priced.gpu is None:
        return ()
    return answer(priced.offers, priced.gpu, lots=priced.lots, periods=periods, window=hours).rows


def _of_days(rows: Sequence[Row], days: int) -> tuple[Row, ...]:
    return tuple(row for row in rows if row["days"] == days)


def _with_prices(found: Beyond, priced: Priced) -> Beyond:
    rows = _of_days(_rows(priced, None, found.periods), found.days)
    parts = [cents(Fraction(row["committed"]) * found.extra_periods / found.periods) for row in rows]
    offers = tuple({**row, "extra_committed": str(part)} for row, part in zip(rows, parts, strict=True))
    return Beyond(found.days, found.periods, offers)
