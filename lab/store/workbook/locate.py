"""Where a table stands on its sheet: its header row, its columns by name, its rows. Faults name cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from lab.errors import Fault, fault
from lab.store.workbook.cells import CellError, is_blank
from lab.store.workbook.sheet import Cell, Sheet, letters
from lab.store.workbook.tables import TABLES, Table

Value = TypeVar("Value")


@dataclass(frozen=True)
class Located:
    """A table found on a sheet: header row, column numbers by field name, last row that can belong to it."""

    table: Table
    sheet: Sheet
    header: int
    columns: Mapping[str, int]
    last: int

    def rows(self) -> Iterator[int]:
        """The rows that hold something in a column of the table which is not computed, in order; blank ones skipped."""
        filled = [
            self.columns[one.name] for one in self.table.columns if one.name in self.columns and one.filler != "formula"
        ]
        if self.sheet.grid is not None:
            yield from self.sheet.grid.filled(self.header + 1, self.last, filled)
            return
        for row in sorted(self.sheet.rows):
            if self.header < row <= self.last and any(not is_blank(self.sheet.cell(row, at)) for at in filled):
                yield row

    def at(self, row: int, name: str) -> str:
        """The address of a field's cell in a row; of the row when the column is missing."""
        column = self.columns.get(name)
        return f"{self.sheet.name}!{row}" if column is None else self.sheet.at(row, column)


def header_row(sheet: Sheet, table: Table, *, whole: bool = False) -> int | None:
    """The row that names most of the table's columns, more than half of them; the first of equals.

    `whole`: all of them but computed ones, or there is none.
    """
    names = set(table.names)
    best, most = None, len(names) / 2
    if whole:
        most = sum(column.filler != "formula" for column in table.columns) - 1
    for row in sorted(sheet.rows):
        score = len(names & {str(cell.value).strip() for cell in sheet.rows[row].values() if cell.stored == "text"})
        if score > most:
            best, most = row, score
            if score == len(names):  # none can name more
                break
    return best


def locate(sheet: Sheet, table: Table, file: str, faults: list[Fault]) -> Located | None:
    """Find a table by its headers, wherever they are; what is missing, twice or merged goes to `faults`."""
    header = header_row(sheet, table)
    if header is None:
        faults.append(fault("table-not-found", file=file, place=sheet.name, columns=", ".join(table.names[:5])))
        return None
    places: dict[str, list[int]] = {}
    for column, cell in sorted(sheet.rows[header].items()):
        if cell.stored == "text" and str(cell.value).strip() in table.names:
            places.setdefault(str(cell.value).strip(), []).append(column)
    before = len(faults)
    first, last_column = min(sheet.rows[header]), max(sheet.rows[header])
    for one in table.columns:
        found = places.get(one.name, [])
        if not found and one.filler != "formula":
            where = f"{sheet.name}!{letters(first)}{header}:{letters(last_column)}{header}"
            faults.append(fault("column-missing", file=file, place=where, column=one.name))
        elif len(found) > 1:
            where = ", ".join(sheet.at(header, column) for column in found)
            faults.append(fault("column-twice", file=file, place=where, column=one.name))
    others = [header_row(sheet, other) for other in TABLES if other is not table and other.sheet == table.sheet]
    last = min((row - 1 for row in others if row is not None and row > header), default=max(sheet.rows))
    columns = {name: found[0] for name, found in places.items()}
    for top, left, bottom, right in sheet.merged:
        inside = top <= last and bottom >= header and any(left <= at <= right for at in columns.values())
        if inside:
            where = f"{sheet.name}!{letters(left)}{top}:{letters(right)}{bottom}"
            faults.append(fault("cells-merged", file=file, place=where))
    return None if len(faults) > before else Located(table, sheet, header, columns, last)


@dataclass(frozen=True)
class Row:
    """One row of a located table: reads its cells, and keeps what cannot be read in `faults`."""

    located: Located
    number: int
    file: str
    faults: list[Fault]

    def cell(self, name: str) -> Cell | None:
        """The cell of a field, None when it is blank."""
        column = self.located.columns.get(name)
        found = None if column is None else self.located.sheet.cell(self.number, column)
        return None if is_blank(found) else found

    def read(self, name: str, reader: Callable[[Cell], Value]) -> Value | None:
        """What `reader` makes of a field's cell; None when it is blank or (with its fault kept) unreadable."""
        cell = self.cell(name)
        if cell is None:
            return None
        try:
            return reader(cell)
        except CellError as error:
            self.refuse(name, error.slug, **error.values)
            return None

    def refuse(self, name: str, slug: str, **values: object) -> None:
        """Keep a fault at a field's cell; the field's name goes into its text as `column`."""
        self.faults.append(fault(slug, file=self.file, place=self.at(name), column=name, **values))

    def at(self, name: str) -> str:
        """The address of a field's cell."""
        return self.located.at(self.number, name)
