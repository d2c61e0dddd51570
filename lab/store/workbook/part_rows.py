"""The rows of a sheet's part where they stand in its bytes; each is parsed when it is asked for.

Only parts in the plain form that spreadsheet programs write are taken: every row states its number first, every cell
its address first, in ascending order, without comments between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from lab.store.workbook.book import Book, damaged
from lab.store.workbook.package import parsed
from lab.store.workbook.sheet import Cell, span

_ROOT = re.compile(rb"<worksheet\b[^>]*>")
_ROW = re.compile(rb'<row r="([0-9]{1,7})"')
_UNNUMBERED = re.compile(rb'<row(?! r="[0-9]{1,7}")')
_UNADDRESSED = re.compile(rb'<c(?! r="[A-Z]{1,3}[0-9]{1,7}")')
# A far cell that only has a style is harmless: no reader keeps it.
_NOT_NEAR = re.compile(rb'<c(?! r="[A-Z]{1,2}[0-9]{1,5}")(?! r="[A-Z]{1,3}[0-9]{1,7}"[^>]*/>)')
_MERGED = re.compile(rb'<mergeCell\s[^>]*\bref="([^"]*)"')
_ROWS_KEPT = 256  # parsed rows
_UNPLAIN = b"<!"  # a comment or a section of characters, in which a cell could seem to stand


class PartRows(Mapping[int, Mapping[int, Cell]]):
    """Row number -> column -> cell, of the rows that the part has, or of those among `numbers`."""

    def __init__(self, book: Book, part: str, data: bytes, numbers: Sequence[int] | None = None) -> None:
        """Find the sheet's data in the part's bytes; no row is looked at yet."""
        self.book, self.part, self.data = book, part, data
        found = data.find(b"<sheetData>")
        self.start = found + len(b"<sheetData>") if found >= 0 else -1
        self.end = data.rfind(b"</sheetData>")
        self._numbers, self._last = numbers, (0, self.start)
        self._kept = lru_cache(_ROWS_KEPT)(self._cells)

    @property
    def found(self) -> bool:
        """Whether the part has data, and no document type."""
        return 0 <= self.start <= self.end and self.data.find(b"<!DOCTYPE", 0, self.start) < 0

    @property
    def plain(self) -> bool:
        """Whether the part is in the plain form, so that its bytes can be searched."""
        data, start, end = self.data, self.start, self.end
        numbered = self.found and _UNNUMBERED.search(data, start, end) is None and data.find(_UNPLAIN, start, end) < 0
        return numbered and (self.near or _UNADDRESSED.search(data, start, end) is None)

    @cached_property
    def near(self) -> bool:
        """Whether every cell states its address first, and none with content is beyond column `ZZ` or row 99,999."""
        return self.found and _NOT_NEAR.search(self.data, self.start, self.end) is None

    @cached_property
    def starts(self) -> dict[int, int]:
        """Where each row begins, in order; raises ValueError when a row does not follow the one before it."""
        found = {int(one[1]): one.start() for one in _ROW.finditer(self.data, self.start, self.end)}
        if any(before >= after for before, after in pairwise(found)):
            raise ValueError(self.part)
        return found

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The numbers of the rows, ascending."""
        return list(self.starts) if self._numbers is None else self._numbers

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self.numbers)

    def merged(self) -> tuple[tuple[int, int, int, int], ...]:
        """The merged ranges; raises InvalidInputError for one that is none."""
        try:
            return tuple(span(one[1].decode("utf-8", "replace")) for one in _MERGED.finditer(self.data, self.end))
        except ValueError as error:
            raise damaged(self.book.package, self.part) from error

    def has(self, number: int) -> bool:
        """Whether the part has that row."""
        return number in self._known  # a search of the part for a row that is not there reads all of it

    def piece(self, number: int) -> tuple[int, int]:
        """First byte of a row and the first one after it; raises ValueError where the row is not."""
        # Rows are mostly asked for from the first to the last: the search goes on where the last one was found.
        mark, (before, near) = b'<row r="%d"' % number, self._last
        first = self.data.find(mark, near if before < number else self.start, self.end)
        if first < 0:
            raise ValueError(number)
        last = self.data.find(b"<row ", first + 1, self.end)
        self._last = (number, first)
        return first, last if last > 0 else self.end

    def __getitem__(self, number: int) -> Mapping[int, Cell]:
        """The cells of one row that hold something."""
        if number not in self._known:
            raise KeyError(number)
        return self._kept(number)

    def __iter__(self) -> Iterator[int]:
        """The row numbers, ascending."""
        return iter(self.numbers)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.numbers)

    def _cells(self, number: int) -> Mapping[int, Cell]:
        try:
            first, last = self.piece(number)
            return self.parse(self.data[first:last], number)
        except (ValueError, IndexError, TypeError) as error:
            raise damaged(self.book.package, self.part) from error

    def parse(self, row: bytes, number: int) -> dict[int, Cell]:
        """The cells of the bytes of a row element; raises InvalidInputError, ValueError, IndexError or TypeError."""
        opening = _ROOT.search(self.data)
        if opening is None:
            raise ValueError(self.part)
        root = parsed(opening[0] + row + b"</worksheet>", self.book.package.shown, self.part)
        return self.book.cells(root[0], number)
