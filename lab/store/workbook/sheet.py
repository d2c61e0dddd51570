"""A sheet as its cells: what is stored in each, of which type, without an opinion on what it means; and addresses.

Error cells, formulas without a result, dates by their number format, merged ranges and hidden rows stay visible to the
reader, because each of them is a case of its own. Empty styled cells cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Literal, Protocol

# uncalculated: a formula whose result was never stored.
Stored = Literal["text", "number", "boolean", "date", "error", "uncalculated"]

_ADDRESS = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True)
class Cell:
    """One stored cell: text, int, float, bool, naive datetime or error code; `percent` when it is shown as one."""

    row: int
    column: int
    stored: Stored
    value: str | float | datetime | None
    percent: bool = False


class Grid(Protocol):
    """The cells of a large sheet by column, as plain values: quick to have, and silent where only a `Cell` can tell."""

    def filled(self, first: int, last: int, columns: Sequence[int]) -> list[int]:
        """The rows from `first` to `last` that hold something other than spaces in one of the columns, in order."""

    def values(self, rows: Sequence[int], columns: Sequence[int]) -> list[Sequence[object]]:
        """Column by column the value of each row; "" where nothing is, `grid.ODD` where the cell must be asked."""


@dataclass(frozen=True)
class Sheet:
    """One sheet: row -> column -> cell (numbers from 1), where anything is stored; `grid` for a large one."""

    name: str
    part: str
    rows: Mapping[int, Mapping[int, Cell]]
    merged: tuple[tuple[int, int, int, int], ...] = ()
    hidden: frozenset[int] = frozenset()
    grid: Grid | None = field(default=None, compare=False)

    def cell(self, row: int, column: int) -> Cell | None:
        """The stored cell there, or None."""
        return self.rows.get(row, {}).get(column)

    def at(self, row: int, column: int) -> str:
        """The address as a person knows it: `protocol!B7`."""
        return f"{self.name}!{letters(column)}{row}"


def letters(column: int) -> str:
    """The letters of a column number from 1: 1 -> `A`, 28 -> `AB`."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def place(address: str) -> tuple[int, int]:
    """Row and column, from 1, of an address such as `AB12`; raises ValueError for anything else."""
    found = _ADDRESS.fullmatch(address.replace("$", ""))
    if not found:
        raise ValueError(address)
    return int(found[2]), column_number(found[1])


@lru_cache(1024)
def column_number(name: str) -> int:
    """The number of a column from its letters; raises ValueError for anything else."""
    if not (name.isascii() and name.isalpha() and name.isupper()):
        raise ValueError(name)
    column = 0
    for letter in name:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column


def span(reference: str) -> tuple[int, int, int, int]:
    """First row, first column, last row, last column of `A1:C3` or `A1`; raises ValueError for anything else."""
    first, _, last = reference.partition(":")
    return (*place(first), *place(last or first))
