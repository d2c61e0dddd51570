"""Many cells of one column at once: the values whose meaning is plain, the others left to be read one by one.

Says the same as `Setting.value` cell by cell, or `ODD`; a test holds the two against each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from lab.store.workbook.cells import CellError
from lab.store.workbook.grid import ODD
from lab.store.workbook.read_values import Setting
from lab.store.workbook.sheet import Cell
from lab.store.workbook.tables import TableColumn

_EXACT = 2.0**53  # up to here a double is the whole number that was written


def plain_values(values: Sequence[Any], column: TableColumn, setting: Setting) -> tuple[list[Any], list[int]]:
    """What each value of a column means, None for a blank; and the places of those that only their cells can tell."""
    kinds = set(map(type, values))
    if kinds == {str} and values.count("") == len(values):
        return [None] * len(values), []
    if kinds == {str} and column.kind in {"id", "text"}:
        return [value.strip() or None for value in values], []
    if kinds == {bool} and column.kind == "boolean":
        return list(values), []
    if kinds == {float} and column.kind in {"integer", "number"}:
        numbers = _all_numbers(values, column)
        if numbers is not None:
            return numbers, []
    found = _each(values, column, setting)
    return found, [place for place, value in enumerate(found) if value is ODD]


def _all_numbers(values: Sequence[float], column: TableColumn) -> list[Any] | None:
    """The numbers of a column that holds nothing else; None where one of them is not what the column wants."""
    least, most = _limits(column)
    if not (math.isfinite(sum(values)) and least <= min(values) and max(values) < most):
        return None
    if column.kind == "number":
        return list(values)
    whole = list(map(int, values))
    return whole if whole == list(values) else None


def _limits(column: TableColumn) -> tuple[float, float]:
    least = -math.inf if column.least is None else column.least
    return (max(least, -_EXACT), _EXACT) if column.kind == "integer" else (least, math.inf)


def _each(values: Sequence[Any], column: TableColumn, setting: Setting) -> list[Any]:
    if column.kind in {"integer", "number"}:
        return _numbers(values, column)
    if column.choices or column.kind == "boolean":
        return _listed(values, column, setting)
    if column.kind in {"id", "text"}:
        return [(value.strip() or None) if value.__class__ is str else ODD for value in values]
    reader = {"json": _json, "moment": _moment}.get(column.kind)
    return [ODD] * len(values) if reader is None else _texts(values, reader)


def _numbers(values: Sequence[Any], column: TableColumn) -> list[Any]:
    least, most = _limits(column)
    whole = column.kind == "integer"
    return [
        None
        if value == ""
        else ODD
        if value.__class__ is not float or not least <= value < most or (whole and not value.is_integer())
        else int(value)
        if whole
        else value
        for value in values
    ]


def _texts(values: Sequence[Any], reader: Callable[[str], Any]) -> list[Any]:
    known = {value: reader(value.strip()) if value.strip() else None for value in set(values) if type(value) is str}
    return [known[value] if value.__class__ is str else ODD for value in values]


def _json(typed: str) -> object:
    try:
        return typed if isinstance(json.loads(typed), dict) else ODD
    except (ValueError, RecursionError):
        return ODD


def _moment(typed: str) -> object:
    try:
        return ODD if datetime.fromisoformat(typed).tzinfo is None else typed
    except ValueError:
        return ODD


def _listed(values: Sequence[Any], column: TableColumn, setting: Setting) -> list[Any]:
    known = {value: _word(value, column, setting) for value in set(values) if type(value) is str}
    same = bool if column.kind == "boolean" else None
    return [
        known[value] if value.__class__ is str else value if value.__class__ is same else ODD for value in values
    ]  # fmt: skip


def _word(typed: str, column: TableColumn, setting: Setting) -> object:
    if not typed.strip():
        return None
    try:
        return setting.value(column, Cell(0, 0, "text", typed))
    except CellError:
        return ODD
