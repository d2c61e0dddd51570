"""The access window: a span of real time, through clock changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.windows import window
from lab.model.catalogue import CalendarTask

PARIS = ZoneInfo("Europe/Paris")


@pytest.mark.parametrize(
    ("monday", "hours"),
    [(datetime(2026, 11, 30, 9), 96), (datetime(2026, 3, 26, 9), 95), (datetime(2026, 10, 22, 9), 97)],  # noqa: DTZ001  (the zone is set below)
)
def test_four_days_across_clock_changes(monday: datetime, hours: int) -> None:
    """Same wall clock four days later: 96 h, 95 or 97 across a change."""
    start = monday.replace(tzinfo=PARIS)
    found = window([CalendarTask("all", start, start + timedelta(days=4))], "a")
    assert found is not None
    assert found.hours == hours


def test_tasks_overlap_and_waiting_counts() -> None:
    """Nothing is added up: from the first start to the last end."""
    day = datetime(2026, 11, 30, tzinfo=PARIS)
    tasks = [
        CalendarTask("setup", day.replace(hour=9), day.replace(hour=11)),
        CalendarTask("measure", day.replace(hour=10), day.replace(hour=12)),
        CalendarTask("export", day.replace(hour=17), day.replace(hour=18, minute=20)),
    ]
    found = window(tasks, "a")
    assert found is not None
    assert found.hours == Fraction(28, 3)


def test_the_two_hours_named_alike_are_told_apart() -> None:
    """2:30 happens twice in October: from the first to the second is one hour, and the second ends the window."""
    first = datetime(2026, 10, 25, 2, 30, tzinfo=PARIS)
    second = first.replace(fold=1)
    found = window([CalendarTask("all", first, second), CalendarTask("short", first, first.replace(minute=45))], "a")
    assert found is not None
    assert (found.hours, found.end) == (1, second)


def test_no_rows_or_a_span_that_goes_back_is_no_window() -> None:
    """Unknown, never 0 hours."""
    now = datetime(2026, 11, 30, tzinfo=PARIS)
    assert window([], "a") is None
    assert window([CalendarTask("other", now, now + timedelta(hours=1), "b")], "a") is None
    assert window([CalendarTask("back", now, now - timedelta(hours=1))], "a") is None
    assert window([CalendarTask("nothing", now, now)], "a") is None


@given(st.permutations([(0, 5), (2, 3), (4, 9), (-1, 1)]))
def test_the_order_of_rows_changes_nothing(spans: list[tuple[int, int]]) -> None:
    """The window is the same however the calendar is sorted."""
    day = datetime(2026, 11, 30, tzinfo=PARIS)
    found = window([CalendarTask("t", day + timedelta(hours=a), day + timedelta(hours=b)) for a, b in spans], "a")
    assert found is not None
    assert found.hours == 10
