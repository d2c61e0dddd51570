"""Which sheet is which: by its marker, else by its name, else by the headers of its table.

The workbook is made with a hidden defined name per sheet that points to its first cell. Spreadsheet programs keep such
a name and let it follow the sheet when it is renamed, moved, or read from and written to OpenDocument.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from lab.store.workbook.content import SheetName
from lab.store.workbook.locate import header_row
from lab.store.workbook.sheet import Sheet
from lab.store.workbook.tables import PROTOCOL, TABLES

_FIRST = {table.sheet: table for table in reversed((PROTOCOL, *TABLES))}  # the first table of each sheet


class Sheets(Protocol):
    """A file of sheets, whatever its format."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sheets as people see them, in order."""

    @property
    def pointers(self) -> Mapping[str, str]:
        """Defined name -> name of the sheet that it points into."""

    def sheet(self, name: str) -> Sheet:
        """Read one sheet; raises InvalidInputError for a damaged one."""


def marker(sheet: SheetName) -> str:
    """The hidden defined name that marks a sheet: `raw-results` -> `_lab_sheet_raw_results`."""
    return f"_lab_sheet_{sheet.replace('-', '_')}"


def recognised(book: Sheets, wanted: Collection[SheetName]) -> dict[SheetName, str]:
    """The sheets among `wanted` that are there: technical name -> the name that the sheet has now."""
    found: dict[SheetName, str] = {}
    for name in wanted:
        pointed = book.pointers.get(marker(name))
        if pointed in book.names:
            found[name] = pointed
    for name in wanted:
        if name not in found and name in book.names and name not in found.values():
            found[name] = name
    absent = [name for name in wanted if name not in found and name in _FIRST]
    if absent:
        others = [book.sheet(name) for name in book.names if name not in found.values()]
        for name in absent:
            alike = [one.name for one in others if header_row(one, _FIRST[name], whole=True) is not None]
            if len(alike) == 1:  # two that look the same: a person says which one it is
                found[name] = alike[0]
    return found
