"""Figures that are no durations, kept as notes: a mean is what somebody computed, not what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lab.model.reason import Reason, reason


def left_out(absent: Mapping[str, tuple[int, int]]) -> tuple[Reason, ...]:
    """One note for each list of latencies that has places without a value: how many of how many."""
    return tuple(
        reason("imported.note.left_out", place=place, absent=absent_here, all=of_all)
        for place, (absent_here, of_all) in absent.items()
    )


def aggregates(values: Mapping[str, Any], names: Iterable[str], place: str, unit: str) -> tuple[Reason, ...]:
    """One note that lists the aggregates of `values` that are there, as the file writes them; none: no note."""
    found = [f"{name} = {values[name]}" for name in names if isinstance(values.get(name), int | float | str)]
    return (reason("imported.note.aggregates", place=place, figures=found, unit=unit),) if found else ()
