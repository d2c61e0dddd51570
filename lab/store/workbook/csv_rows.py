"""`raw-results` as a CSV file: every cell is text, read by the campaign's language like text in a workbook."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lab.errors import InvalidInputError, fault
from lab.store.workbook.sheet import Cell, Sheet
from lab.store.workbook.tables import RESULTS

_DELIMITERS = (",", ";", "\t")
_HEAD, _FIRST_LINES = 100_000, 20  # characters and lines among which the header is looked for


@dataclass(frozen=True)
class RowsOnly:
    """A CSV file as a book of one sheet, `raw-results`."""

    only: Sheet
    pointers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def names(self) -> tuple[str, ...]:
        """The one sheet's name."""
        return (self.only.name,)

    def sheet(self, name: str) -> Sheet:
        """The one sheet; KeyError for any other."""
        if name != self.only.name:
            raise KeyError(name)
        return self.only


def rows_of(text: str, shown: str) -> RowsOnly:
    """The rows of a CSV file.

    The delimiter is the one of comma, semicolon and tab that finds the most column names in one of the first lines: a
    sheet that was saved as CSV begins with its title.

    Raises:
        InvalidInputError: a quote that is not closed, or a line that is no CSV; the fault names the line.
    """
    head = text[:_HEAD].splitlines()[:_FIRST_LINES]
    found = {one: max((len(_names(line, one) & set(RESULTS.names)) for line in head), default=0) for one in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda one: found[one])
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    rows: dict[int, dict[int, Cell]] = {}
    begun = 1
    try:
        for number, values in enumerate(reader, start=1):
            cells = {at: Cell(number, at, "text", value) for at, value in enumerate(values, start=1) if value}
            if cells:
                rows[number] = cells
            begun = reader.line_num + 1
    except csv.Error:
        raise InvalidInputError(fault("rows-csv-broken", file=shown, place=f"line {begun}")) from None
    return RowsOnly(Sheet(RESULTS.sheet, shown, rows))


def _names(header: str, delimiter: str) -> set[str]:
    return {name.strip().strip('"') for name in header.split(delimiter)}
