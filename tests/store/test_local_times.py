"""Local times in a named zone, and tasks from a CSV: ambiguous times are refused with both readings."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.calcul_forfaits import plain_hours
from lab.errors import Fault, InvalidInputError, LabError
from lab.model.catalogue import CalendarTask, window_hours
from lab.store.calendar_file import read_tasks, read_zone, task_of_options
from lab.store.moments import LocalTimeError, local_moment, near_zones

PARIS = ZoneInfo("Europe/Paris")
ZONES = tuple(map(ZoneInfo, ("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")))


@pytest.fixture(scope="session")
def vectors(repository: Path) -> dict[str, Any]:
    """The shared inputs and outputs of windows."""
    found: dict[str, Any] = json.loads((repository / "tests/vectors/windows.json").read_text(encoding="utf-8"))
    return found


def test_vectors_of_windows(vectors: dict[str, Any]) -> None:
    """97 h, 95 h and 96 h, and the others."""
    for vector in vectors["window"]:
        asked, expected = vector["asked"], vector["expected"]
        (task,) = task_of_options(asked["start"], asked["end"], read_zone(asked["time_zone"]))
        told = {"hours": plain_hours(window_hours(task.start, task.end))}
        told |= {"start": task.start.isoformat(), "end": task.end.isoformat()}
        assert {key: told[key] for key in expected} == expected


def test_vectors_of_refused_times(vectors: dict[str, Any]) -> None:
    """Each with its slug, and with both readings where there are two."""
    for vector in vectors["refused"]:
        asked = vector["asked"]
        with pytest.raises(LabError) as caught:
            task_of_options(asked["start"], asked["end"], read_zone(asked["time_zone"]))
        (fault,) = caught.value.faults
        assert fault.slug == vector["slug"], asked
        assert caught.value.exit_code == 2
        if "readings" in vector:
            assert [fault.values["first"], fault.values["second"]] == vector["readings"]


def read(typed: str, zone: ZoneInfo) -> datetime | LocalTimeError:
    """The moment, or why there is none."""
    try:
        return local_moment(typed, zone)
    except LocalTimeError as error:
        return error


@given(st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31)), st.sampled_from(ZONES))  # noqa: DTZ001  (local times)
def test_a_local_time_is_one_moment_or_two_readings(typed: datetime, zone: ZoneInfo) -> None:
    """What is accepted reads the same in its zone; what is refused has two readings with their offsets."""
    found = read(typed.isoformat(), zone)
    if isinstance(found, LocalTimeError):
        first, second = map(datetime.fromisoformat, found.readings)
        assert first.utcoffset() != second.utcoffset()
        assert (found.why == "twice") is (first.replace(tzinfo=None) == second.replace(tzinfo=None))
        assert local_moment(found.readings[0], zone) == first
    else:
        assert found.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == typed


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001  (bounds are local)
    st.integers(1, 400 * 86400),
    st.sampled_from(ZONES),
)
def test_random_windows_agree_with_zoneinfo(start: datetime, seconds: int, zone: ZoneInfo) -> None:
    """The hours between two moments of a zone are those that passed in UTC, whatever the clocks did."""
    begun, ended = start.astimezone(zone), (start + timedelta(seconds=seconds)).astimezone(zone)
    local = [moment.replace(tzinfo=None).isoformat() for moment in (begun, ended)]
    unique = [not isinstance(read(typed, zone), LocalTimeError) for typed in local]
    typed = [local[n] if unique[n] else moment.isoformat() for n, moment in enumerate((begun, ended))]
    (task,) = task_of_options(typed[0], typed[1], zone)
    assert window_hours(task.start, task.end) * 3600 == seconds


def tasks_file(folder: Path, text: str) -> Path:
    """A CSV with this text."""
    path = folder / "tasks.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_tasks_are_read_with_the_columns_of_the_calendar_sheet(tmp_path: Path, mark: str) -> None:
    """In any order, with the separator that spreadsheets of different countries write; a blank line is no task."""
    text = "task,end,start,variant\r\nrun,2026-10-27T09:00,2026-10-23T09:00,b8\r\n,,,\r\n\r\n"
    (task,) = read_tasks(tasks_file(tmp_path, "\ufeff" + text.replace(",", mark)), PARIS)
    assert (task.task, task.variant, window_hours(task.start, task.end)) == ("run", "b8", 97)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", [("tasks-columns", "line 1")]),
        ("task,start\nrun,2026-11-02T09:00\n", [("tasks-columns", "line 1")]),
        ("task,start,end,price\n", [("tasks-columns", "line 1")]),
        ("task,start,end,end\n", [("tasks-columns", "line 1")]),
        ("task,start,end\n", [("tasks-none", None)]),
        ("task,start,end\nrun,2026-11-02T09:00\n", [("tasks-row", "line 2")]),
        ('task,start,end\n"run,2026-11-02T09:00,2026-11-03T09:00\n', [("tasks-row", "line 2")]),
        ("task,start,end\nrun,2026-11-03T09:00,2026-11-02T09:00\n", [("window-reversed", "line 2")]),
        (
            "task,start,end\n,2026-11-03T09:00,\nrun,2026-10-25T02:30,2027-03-28T02:30\nrun,monday,2026-11-02\n",
            [
                ("tasks-empty", "line 2"), ("tasks-empty", "line 2"),
                ("time-twice", "line 3, start"), ("time-never", "line 3, end"),
                ("time-not-a-date", "line 4, start"), ("time-no-time", "line 4, end"),
            ],
        ),
    ],
)  # fmt: skip
def test_bad_tasks_are_refused_with_file_and_line_all_at_once(
    tmp_path: Path, text: str, faults: list[tuple[str, str | None]]
) -> None:
    """Every line that does not hold is named."""
    path = tasks_file(tmp_path, text)
    with pytest.raises(InvalidInputError) as caught:
        read_tasks(path, PARIS)
    assert [(one.slug, one.place) for one in caught.value.faults] == faults
    assert {one.file for one in caught.value.faults} == {str(path)}


@given(st.text(max_size=200))
def test_any_text_is_tasks_or_faults(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever a file holds below its header, the outcome is tasks that go forward, or faults that name it."""
    path = tasks_file(tmp_path_factory.getbasetemp(), "task,start,end\n" + text.encode(errors="replace").decode())
    found: tuple[CalendarTask, ...] = ()
    faults: tuple[Fault, ...] = ()
    try:
        found = read_tasks(path, PARIS)
    except InvalidInputError as error:
        faults = error.faults
    assert bool(found) is not bool(faults)
    assert all(one.file == str(path) for one in faults)
    assert all(window_hours(task.start, task.end) > 0 for task in found)


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("paris", ["Europe/Paris"]), ("New York", ["America/New_York"]), ("Europe/Pariss", ["Europe/Paris"]),
        ("Mars/Base", []), ("", []),
    ],
)  # fmt: skip
def test_a_zone_that_is_meant_is_found_by_its_place_or_its_spelling(typed: str, near: list[str]) -> None:
    """And no other name is suggested than one that is like it."""
    assert near_zones(typed)[:1] == near
