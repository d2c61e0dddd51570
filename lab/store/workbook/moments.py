"""Local times of the workbook: a spreadsheet knows no time zone, the protocol states one.

A local time that does not exist (clocks go forward) or exists twice (clocks go back) is refused with both readings;
text with its offset, `2026-10-25T02:30+02:00`, says which one is meant.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from lab.store.moments import LocalTimeError, placed, read_moment
from lab.store.workbook.cells import CellError, shown, text
from lab.store.workbook.sheet import Cell

_FIRST_YEAR = 1990  # a time of day typed alone is stored as a moment of 1899 or 1904


def local_moment(cell: Cell, zone: ZoneInfo | None, *, wanted: str, zone_cell: str, language: str) -> datetime:
    """The moment a cell means, aware, in `zone`: a date-and-time cell or ISO 8601 text.

    Raises:
        CellError: no date, no time of day, no zone known, or a local time that does not exist or exists twice.
    """
    if cell.stored == "date" and isinstance(cell.value, datetime):
        typed = cell.value
        if typed.year < _FIRST_YEAR:
            raise CellError("cell-no-date", found=typed.time().isoformat(), wanted=wanted)
    elif cell.stored in {"number", "boolean", "date"}:
        raise CellError("cell-not-a-date", found=shown(cell), wanted=wanted)
    else:
        typed = _of_text(text(cell, strict=True, wanted=wanted, language=language), wanted)
    if zone is None:
        raise CellError("cell-needs-time-zone", found=shown(cell), zone_cell=zone_cell)
    try:
        return placed(typed, zone)
    except LocalTimeError as error:
        first, second = error.readings
        slug = "cell-time-twice" if error.why == "twice" else "cell-time-never"
        raise CellError(slug, found=error.found, first=first, second=second, zone=zone.key) from None


def _of_text(typed: str, wanted: str) -> datetime:
    try:
        return read_moment(typed)
    except LocalTimeError as error:
        slug = "cell-no-time" if error.why == "without-time" else "cell-not-a-date"
        raise CellError(slug, found=typed, wanted=wanted) from None


def zone_changes(
    zone: ZoneInfo | None, first_year: int = 2020, last_year: int = 2040
) -> tuple[tuple[datetime, float], ...]:
    """The clock changes of a zone: (local time from which it holds, hours ahead of UTC); the first row is the start.

    Local times between the two readings of a change cannot occur in the workbook, so the later of the two is taken.
    """
    start = datetime(first_year, 1, 1)  # noqa: DTZ001  (the table is of local times)
    if zone is None:
        return ((start, 0.0),)
    found = [(start, _ahead(start.replace(tzinfo=zone)))]
    day = datetime(first_year, 1, 1, tzinfo=UTC)
    while day.year <= last_year:
        following = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            change = _change(day, following, zone)
            before, after = (change - timedelta(minutes=1)).astimezone(zone), change.astimezone(zone)
            wall = max(before.replace(tzinfo=None) + timedelta(minutes=1), after.replace(tzinfo=None))
            found.append((wall, _ahead(after)))
        day = following
    return tuple(found)


def _change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(minutes=1):
        middle = before + timedelta(minutes=(after - before) // timedelta(minutes=2))
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after


def _ahead(moment: datetime) -> float:
    offset = moment.utcoffset()
    return offset.total_seconds() / 3600 if offset is not None else 0.0
