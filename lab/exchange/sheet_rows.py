"""The rows of a sheet of any workbook, for a table that is imported: read by the readers of the product's own workbook.

They bound what a small file may expand to, keep nothing of far empty cells, and tell an error and a formula without a
result from a cell in which nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from lab.errors import InvalidInputError, fault
from lab.formats.base import Unusable
from lab.store.workbook.book import open_book
from lab.store.workbook.cells import is_blank
from lab.store.workbook.open_document import open_document
from lab.store.workbook.package import archive_of, is_open_document, package_of
from lab.store.workbook.sheet import Cell
from lab.store.workbook.sheets import Sheets

_DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001  (a sheet knows no zone)


def sheet_rows(data: bytes, shown: str, wanted: str | None) -> Iterator[tuple[str, list[object]]]:
    """The rows with something in them, from the first one on and as wide as that one, each with its place.

    Args:
        data: the bytes of the file.
        shown: its name, for faults.
        wanted: the name of the sheet; None: the first.

    Raises:
        InvalidInputError: the file is no workbook that can be read, is larger than can be held, or lacks the sheet.
    """
    archive = archive_of(data, shown)
    book: Sheets = open_document(archive, shown) if is_open_document(archive) else open_book(package_of(data, shown))
    name = next(iter(book.names), "") if wanted is None else wanted
    if name not in book.names:
        raise InvalidInputError(fault("import-no-sheet", file=shown, found=name, known=list(book.names)))
    width = 0
    rows = book.sheet(name).rows
    for number in sorted(rows):
        cells = {column: cell for column, cell in rows[number].items() if not is_blank(cell)}
        width = width or max(cells, default=0)
        if cells:
            yield f"{name}!{number}", [_value(cells.get(column)) for column in range(1, width + 1)]


def _value(cell: Cell | None) -> object:
    if cell is None:
        return ""
    if cell.stored in ("error", "uncalculated"):
        return Unusable(str(cell.value or ""))
    if isinstance(cell.value, datetime) and cell.value.year == _DAY_ZERO.year:
        return str(cell.value - _DAY_ZERO)  # a time of the clock, as it is shown: which unit it has is not said
    return cell.value
