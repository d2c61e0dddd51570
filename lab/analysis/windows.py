"""The access window of a variant: the span of the real calendar (the product's method, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from lab.model.catalogue import CalendarTask, Window, window_hours


def window(tasks: Sequence[CalendarTask], variant: str) -> Window | None:
    """From the first start to the last end of the variant's tasks and of those of all variants; None without any.

    Tasks may overlap and waiting counts, so nothing is added up. Hours are exact through clock changes. A span that
    does not go forward is no window: None.
    """
    own = [task for task in tasks if task.variant in (None, variant)]
    if not own:
        return None
    # Two moments of one zone compare by the wall clock in Python: in UTC they compare by time.
    start, end = min((task.start for task in own), key=_in_utc), max((task.end for task in own), key=_in_utc)
    return Window(start, end, window_hours(start, end)) if _in_utc(start) < _in_utc(end) else None


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
