"""Local times as people write them, in a named time zone: the workbook's cells, the options of `lab window`, a CSV.

A local time that does not exist (clocks go forward) or exists twice (clocks go back) is refused with both readings.
With its offset, `2026-10-25T02:30+02:00`, a time says which one is meant.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

_FIRST_YEAR, _LAST_YEAR = 1900, 9998  # the year before or after exists too, whatever the offset

Why = Literal["not-a-date", "without-time", "never", "twice"]


class LocalTimeError(ValueError):
    """A text that names no moment.

    Attributes:
        why: `not-a-date`, `without-time` (a day alone), `never` or `twice` (clocks change).
        found: the text, or the local time it was read as.
        readings: for `never` and `twice` the two moments it could mean, ISO 8601 with offset.
    """

    def __init__(self, why: Why, found: str, readings: tuple[str, ...] = ()) -> None:
        """Keep what a fault needs."""
        super().__init__(why, found, *readings)
        self.why, self.found, self.readings = why, found, readings


@lru_cache
def zone_names() -> frozenset[str]:
    """The names of all time zones that are known here."""
    return frozenset(zoneinfo.available_timezones())


def near_zones(name: str, most: int = 3) -> list[str]:
    """The zones that a wrong name may mean: those of a place of that name, else those whose names are written alike."""
    place = name.strip().replace(" ", "_").casefold()
    known = sorted(zone_names())
    of_place = [one for one in known if one.rpartition("/")[2].casefold() == place]
    return of_place[:most] or get_close_matches(name, known, most, 0.6)


def zone_named(name: str | None) -> ZoneInfo | None:
    """The zone of that name, or None."""
    return ZoneInfo(name) if name in zone_names() else None


def read_moment(typed: str) -> datetime:
    """The date and time of day that an ISO 8601 text states; naive where it has no offset.

    Raises:
        LocalTimeError: `not-a-date` or `without-time`.
    """
    try:
        date.fromisoformat(typed)
    except ValueError:
        pass
    else:
        raise LocalTimeError("without-time", typed)
    try:
        found = datetime.fromisoformat(typed)
    except ValueError:
        raise LocalTimeError("not-a-date", typed) from None
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise LocalTimeError("not-a-date", typed)
    return found


def placed(typed: datetime, zone: ZoneInfo) -> datetime:
    """The moment meant, aware, in `zone`: a naive one is local to it, one with an offset is taken over.

    Raises:
        LocalTimeError: `never` or `twice`.
    """
    if typed.tzinfo is not None:
        return typed.astimezone(zone)
    early, late = typed.replace(tzinfo=zone, fold=0), typed.replace(tzinfo=zone, fold=1)
    if early.utcoffset() == late.utcoffset():
        return early
    exists = early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == typed
    readings = tuple(one.astimezone(UTC).astimezone(zone).isoformat(timespec="minutes") for one in (early, late))
    shown = typed.isoformat(sep=" ", timespec="auto" if typed.second or typed.microsecond else "minutes")
    raise LocalTimeError("twice" if exists else "never", shown, readings)


def local_moment(typed: str, zone: ZoneInfo) -> datetime:
    """The moment that a text means in `zone`; raises LocalTimeError as `read_moment` and `placed` do."""
    return placed(read_moment(typed.strip()), zone)
