"""Tasks of a calendar from a CSV with the columns of the sheet `calendar`: variant, task, start, end, notes."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from lab.errors import Fault, InvalidInputError, UsageProblemError, fault
from lab.messages import DASH
from lab.model.catalogue import CalendarTask, window_hours
from lab.store.files import read_text
from lab.store.moments import LocalTimeError, local_moment, near_zones, zone_named

NEEDED, OPTIONAL = ("task", "start", "end"), ("variant", "notes")
_DELIMITERS = ",;\t"
_EXAMPLE = "2026-11-02T09:00"


def read_zone(name: str | None) -> ZoneInfo:
    """The time zone of that name, as the option `--tz` states it.

    Raises:
        UsageProblemError: none is stated, or none has that name (the near ones are named).
    """
    if name is None:
        raise UsageProblemError(fault("time-zone-missing", place="--tz"))
    zone = zone_named(name)
    if zone is None:
        near = near_zones(name)
        raise UsageProblemError(fault("time-zone-unknown", place="--tz", found=name, near=", ".join(near) or DASH))
    return zone


def read_time(typed: str, zone: ZoneInfo, place: str, file: str | None = None) -> datetime:
    """The moment that a text means in `zone`; a local time that is ambiguous is refused with both readings.

    Raises:
        InvalidInputError: no date, no time of day, or a local time that does not exist or exists twice.
    """
    try:
        return local_moment(typed, zone)
    except LocalTimeError as error:
        raise InvalidInputError(_time_fault(error, zone, place, file)) from None


def _time_fault(error: LocalTimeError, zone: ZoneInfo, place: str, file: str | None) -> Fault:
    if error.readings:
        first, second = error.readings
        slug = "time-twice" if error.why == "twice" else "time-never"
        return fault(slug, file=file, place=place, found=error.found, first=first, second=second, zone=zone.key)
    slug = "time-no-time" if error.why == "without-time" else "time-not-a-date"
    return fault(slug, file=file, place=place, found=error.found, wanted=_EXAMPLE)


def option_time(typed: str, zone: ZoneInfo, option: str) -> datetime:
    """`read_time` for the value of an option: a UsageProblemError."""
    try:
        return read_time(typed, zone, option)
    except InvalidInputError as error:
        raise UsageProblemError(*error.faults) from None


def task_of_options(start: str, end: str, zone: ZoneInfo) -> tuple[CalendarTask]:
    """The one task that `--start` and `--end` state.

    Raises:
        UsageProblemError: one is no time of the zone, or the end is not after the start.
    """
    faults: list[Fault] = []
    moments: list[datetime] = []
    for option, typed in (("--start", start), ("--end", end)):
        try:
            moments.append(read_time(typed, zone, option))
        except InvalidInputError as error:
            faults += error.faults
    if not faults:
        try:
            check_order(moments[0], moments[1], "--end")
        except InvalidInputError as error:
            faults += error.faults
    if faults:
        raise UsageProblemError(*faults)
    return (CalendarTask("", moments[0], moments[1]),)


def check_order(start: datetime, end: datetime, place: str, file: str | None = None) -> None:
    """Raises InvalidInputError when `end` is not after `start`."""
    if window_hours(start, end) <= 0:
        facts = {"start": start.isoformat(timespec="minutes"), "end": end.isoformat(timespec="minutes")}
        raise InvalidInputError(fault("window-reversed", file=file, place=place, **facts))


def read_tasks(path: Path, zone: ZoneInfo) -> tuple[CalendarTask, ...]:
    """The tasks of a CSV (UTF-8; comma, semicolon or tab), times local to `zone` or with their offset.

    Raises:
        InvalidInputError: every line that cannot be read; columns that are missing, unknown or there twice; no task.
    """
    file = str(path)
    lines = read_text(path).splitlines(keepends=True)
    head = next(csv.reader(lines[:1]), []) if lines else []
    mark = next((one for one in _DELIMITERS if one in (lines[0] if lines else "")), ",")
    rows = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=mark, strict=True)
    faults: list[Fault] = []
    tasks: list[CalendarTask] = []
    try:
        head = [name.strip() for name in next(rows, [])]
        _check_columns(head, file)
        line = rows.line_num + 1
        for cells in rows:
            if any(cell.strip() for cell in cells):
                try:
                    tasks.append(_task(head, cells, zone, line, file))
                except InvalidInputError as error:
                    faults += error.faults
            line = rows.line_num + 1
    except csv.Error:
        faults.append(fault("tasks-row", file=file, place=f"line {rows.line_num}"))
    if not tasks and not faults:
        faults.append(fault("tasks-none", file=file))
    if faults:
        raise InvalidInputError(*faults)
    return tuple(tasks)


def _check_columns(head: list[str], file: str) -> None:
    missing = [name for name in NEEDED if name not in head]
    unknown = [name for name in head if name not in {*NEEDED, *OPTIONAL} or head.count(name) > 1]
    if missing or unknown:
        facts = {"missing": ", ".join(missing) or DASH, "unknown": ", ".join(unknown) or DASH}
        raise InvalidInputError(fault("tasks-columns", file=file, place="line 1", **facts))


def _task(head: list[str], cells: list[str], zone: ZoneInfo, line: int, file: str) -> CalendarTask:
    place = f"line {line}"
    if len(cells) != len(head):
        raise InvalidInputError(fault("tasks-row", file=file, place=place))
    row = dict(zip(head, (cell.strip() for cell in cells), strict=True))
    faults = [fault("tasks-empty", file=file, place=place, column=name) for name in NEEDED if not row[name]]
    moments: dict[str, datetime] = {}
    for name in ("start", "end"):
        if row[name]:
            try:
                moments[name] = read_time(row[name], zone, f"{place}, {name}", file)
            except InvalidInputError as error:
                faults += error.faults
    if faults:
        raise InvalidInputError(*faults)
    check_order(moments["start"], moments["end"], place, file)
    return CalendarTask(row["task"], moments["start"], moments["end"], row.get("variant") or None, row.get("notes"))
