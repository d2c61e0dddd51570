"""Attempt folders and workbook rows, joined: folders are the truth for what was measured, rows for what is declared."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from lab.errors import Fault, fault
from lab.model.attempt import COLUMNS, Attempt, Column, Record
from lab.store.attempts import in_order

_MEASURED = tuple(column for column in COLUMNS if column.owner == "measured" and column.name != "attempt_id")
_FROM_ROW = tuple(column.name for column in COLUMNS if column.owner != "measured")
# A spreadsheet computes with 15 to 17 digits; nobody changes a value by hand in the thirteenth.
_SAME = 1e-12


def join(
    records: Iterable[Record], rows: Iterable[Attempt], cells: Mapping[tuple[str, str], str], workbook: str
) -> tuple[tuple[Record, ...], tuple[Fault, ...]]:
    """Records in order of start, and what must be said of their rows (the product's method, section 4).

    Measured columns come from the attempt's folder, declared and judged ones from its row. A row without a folder is
    a declared record; a folder without a row is kept. Both are sound; a measured cell that differs, and an ended
    attempt without a row, give a notice.

    Args:
        records: what the attempt folders hold.
        rows: what `raw-results` holds.
        cells: (attempt id, column) -> address of its cell.
        workbook: the workbook's name, for the notices.
    """
    by_id = {row.attempt_id: row for row in rows}
    joined: list[Record] = []
    notices: list[Fault] = []
    for record in records:
        name = record.attempt.attempt_id
        row = by_id.pop(name, None)
        if row is None:
            joined.append(record)
            if record.attempt.outcome is not None:
                notices.append(fault("attempt-without-row", file=workbook, place="raw-results", id=name))
            continue
        notices += _changed(record.attempt, row, cells, workbook)
        joined.append(replace(record, attempt=_merged(record.attempt, row)))
    joined += [Record(row, declared=True) for row in by_id.values()]
    return in_order(joined), tuple(notices)


def _merged(attempt: Attempt, row: Attempt) -> Attempt:
    """The attempt with the row's declared and judged columns.

    The reason for empty cells is composed when the row is written, so it is taken from there when the folder has none.
    """
    from_row = {name: getattr(row, name) for name in _FROM_ROW}
    return replace(attempt, **from_row, missing_reason=attempt.missing_reason or row.missing_reason)


def _changed(attempt: Attempt, row: Attempt, cells: Mapping[tuple[str, str], str], workbook: str) -> list[Fault]:
    name = attempt.attempt_id
    return [
        fault(
            "workbook-measured-cell-changed",
            file=workbook,
            place=cells.get((name, column.name), f"raw-results, {column.name}"),
            id=name,
            column=column.name,
            recorded=_shown(getattr(attempt, column.name)),
            found=_shown(getattr(row, column.name)),
        )
        for column in _MEASURED
        if not _agree(column, getattr(attempt, column.name), getattr(row, column.name))
    ]


def _shown(value: object) -> str | None:
    """A value as it stands in a cell, exactly: a fault's numbers would be rounded for reading."""
    return None if value is None else str(value)


def _agree(column: Column, recorded: object, found: object) -> bool:
    if recorded == found or (column.name == "missing_reason" and recorded is None):
        return True
    if isinstance(recorded, int | float) and isinstance(found, int | float):
        return math.isclose(recorded, found, rel_tol=_SAME)
    if isinstance(recorded, str) and isinstance(found, str):
        return _same_text(column, recorded, found)
    return False


def _same_text(column: Column, recorded: str, found: str) -> bool:
    """Whether two texts of a JSON or moment column mean the same value."""
    try:
        if column.kind == "json":
            return bool(json.loads(recorded) == json.loads(found))
        if column.kind == "moment":
            return datetime.fromisoformat(recorded) == datetime.fromisoformat(found)
    except ValueError:
        return False
    return False
