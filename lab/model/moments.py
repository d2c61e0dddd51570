"""A moment as it is kept, ISO 8601 text with its offset, and as it is shown: in the campaign's own time zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def in_zone(at: str, zone: str | None) -> datetime | str:
    """The moment `at` in the time zone named `zone`, so that a reader meets one zone everywhere.

    In the offset it was kept with where no zone is stated, or none of that name is known; the text itself where it is
    no moment with an offset.
    """
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return at
    if found.tzinfo is None:
        return at
    try:
        return found.astimezone(ZoneInfo(zone)) if zone else found
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a name such as `..`, or of a folder of the database
        return found
