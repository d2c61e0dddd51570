"""Which packages cover a window, and what stands between its tasks."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.coverage import USUAL_DAYS, Priced, beyond, coverage, package_fits, task_hours
from lab.calcul_forfaits import offers_from_rows, plain_hours
from lab.model.catalogue import CalendarTask
from lab.screen.windows import signed_hours
from lab.store.calendar_file import read_zone
from lab.store.moments import local_moment

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
ROW = {
    "gpu": "rtx-4090", "name": "RTX 4090", "cards_per_lot": "1", "model": "forfait", "days": "7", "price": "110.00",
    "currency": "USD", "catalogue_version": "v1", "source": "s",
}  # fmt: skip


@pytest.fixture(scope="session")
def vectors(repository: Path) -> dict[str, Any]:
    """The shared inputs and outputs of windows."""
    found: dict[str, Any] = json.loads((repository / "tests/vectors/windows.json").read_text(encoding="utf-8"))
    return found


def hours(value: int | str) -> Fraction:
    """Hours as a vector writes them."""
    return Fraction(Decimal(value))


def task(begin: int, end: int, variant: str | None = None) -> CalendarTask:
    """A task between two hours after the start."""
    return CalendarTask("t", START + timedelta(hours=begin), START + timedelta(hours=end), variant)


def test_vectors_of_packages(vectors: dict[str, Any]) -> None:
    """3, 7 and 30 days, each covering or not, and by how many hours."""
    for vector in vectors["packages"]:
        told = [
            {"days": one.days, "covers": one.covers, "hours_left": signed_hours(one.hours_left)}
            for one in package_fits(hours(vector["asked"]["hours"]), USUAL_DAYS)
        ]
        assert told == vector["expected"]


def test_vectors_of_extra_periods(vectors: dict[str, Any]) -> None:
    """Beyond the longest package, its periods are counted; up to it, there is nothing to count."""
    for vector in vectors["extra"]:
        found = beyond(hours(vector["asked"]["hours"]), vector["asked"].get("days", USUAL_DAYS))
        told = found and {"days": found.days, "periods": found.periods, "extra_periods": found.extra_periods}
        assert told == vector["expected"]


def test_vectors_of_tasks(vectors: dict[str, Any]) -> None:
    """The span holds the waiting; overlapping tasks are counted once."""
    for vector in vectors["tasks"]:
        name = vector["asked"]["time_zone"]
        zone = read_zone(name)
        tasks = [CalendarTask("t", *(local_moment(at, zone) for at in pair)) for pair in vector["asked"]["tasks"]]
        found = coverage(tasks, None, name)
        assert found.window is not None
        assert found.task_hours is not None
        assert found.waiting_hours is not None
        told = {"hours": plain_hours(found.window.hours), "task_hours": plain_hours(found.task_hours)}
        assert told | {"waiting_hours": plain_hours(found.waiting_hours)} == vector["expected"]


SPANS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), min_size=1, max_size=8)


@given(SPANS)
def test_the_union_of_tasks_is_the_hours_that_one_of_them_holds(drawn: list[tuple[int, int]]) -> None:
    """Counted hour by hour; the span is never shorter, and the difference is the waiting."""
    tasks = [task(begin, begin + length) for begin, length in drawn]
    held = {hour for begin, length in drawn for hour in range(begin, begin + length)}
    assert task_hours(tasks) == len(held)
    found = coverage(tasks, None, "UTC")
    assert found.window is not None
    assert found.window.hours == max(held) + 1 - min(held)
    assert found.waiting_hours == found.window.hours - len(held)


@given(st.fractions(min_value=Fraction(1, 3600), max_value=5000), st.sets(st.integers(1, 60), min_size=1))
def test_packages_and_periods_cover_exactly(window: Fraction, days: set[int]) -> None:
    """A package covers when its hours reach the window; extra periods are as few as cover it."""
    for one in package_fits(window, days):
        assert one.covers is (24 * one.days >= window)
    found = beyond(window, days)
    longest = 24 * max(days)
    assert (found is None) is (window <= longest)
    if found is not None:
        assert (found.periods - 1) * longest < window <= found.periods * longest


def test_a_variant_has_its_own_tasks_and_those_of_all() -> None:
    """A blank variant counts for each of them; without any row the window is not known."""
    tasks = [task(0, 2), task(5, 6, "a"), task(0, 90, "b")]
    found = coverage(tasks, "a", "UTC")
    assert found.window is not None
    assert (found.window.hours, found.task_hours, found.waiting_hours) == (6, 3, 3)
    unknown = coverage([task(5, 6, "a")], "b", "UTC")
    assert (unknown.window, unknown.task_hours, unknown.waiting_hours, unknown.packages) == (None, None, None, ())


def test_the_deadline_counts_to_the_second() -> None:
    """The end may be the deadline itself, and not one second later."""
    for seconds, left in ((0, 0), (1, Fraction(1, 3600)), (-1, Fraction(-1, 3600))):
        deadline = START + timedelta(hours=5, seconds=seconds)
        assert coverage([task(0, 5)], None, "UTC", deadline=deadline).deadline_hours_left == left


def test_extra_periods_have_their_explicit_price() -> None:
    """Ten days beside a package of seven: two periods, 220.00, of which 110.00 for the extra one."""
    offers = offers_from_rows([("line 2", ROW)])
    found = coverage([task(0, 240)], None, "UTC", priced=Priced(offers, "4090", 1))
    assert found.beyond is not None
    assert (found.beyond.days, found.beyond.periods) == (7, 2)
    (row,) = found.beyond.offers
    assert (row["committed"], row["extra_committed"]) == ("220.00", "110.00")
    assert [(one.days, one.covers, len(one.offers)) for one in found.packages] == [
        (3, False, 0), (7, False, 1), (30, True, 0),
    ]  # fmt: skip


def test_whatever_days_the_catalogue_holds_are_shown_too() -> None:
    """14 days in the catalogue stand beside 3, 7 and 30, with or without a card asked for."""
    offers = offers_from_rows([("line 2", {**ROW, "days": "14"})])
    for gpu in (None, "rtx-4090"):
        found = coverage([task(0, 240)], None, "UTC", priced=Priced(offers, gpu, 1))
        assert [one.days for one in found.packages] == [3, 7, 14, 30]
