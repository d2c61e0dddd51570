"""A large sheet read twice at once: its values by calamine in a thread, its part scanned for what calamine cannot tell.

Calamine gives "" for an error, for a formula that was never calculated and for nothing at all, and knows neither hidden
rows nor percent formats. So its values are taken where they can mean one thing only; every other cell is read from the
part itself, by the reader that reads all other sheets. A part that is laid out in any unusual way is left to that
reader whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lab.store.workbook.book import Book
from lab.store.workbook.part_rows import PartRows
from lab.store.workbook.sheet import Sheet, column_number

_HIDDEN = re.compile(rb'<row r="([0-9]+)"[^>]*\shidden="(?:1|true)"')
_ERROR = re.compile(rb'<c r="([A-Z]+)([0-9]+)"[^>]*\st="e"')
# A formula without a result; one that gives text may have an empty one, which is a blank.
_UNCALCULATED = re.compile(
    rb'<c r="([A-Z]+)([0-9]+)"(?![^>]*\st="str"[^>]*>\s*<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*<v)[^>]*>'
    rb"\s*<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)(?!\s*<v[^>]*>[^<])"
)


class _Odd:
    """Stands for a cell that only its own reading can tell."""


ODD = _Odd()


@dataclass(frozen=True)
class Values:
    """The values of a sheet: rows and columns from A1, "" where nothing is; `odd`: column -> rows to read singly."""

    rows: list[list[Any]]
    odd: Mapping[int, frozenset[int]]

    def filled(self, first: int, last: int, columns: Sequence[int]) -> list[int]:
        """As `Grid.filled`."""
        singly = frozenset().union(*(self.odd.get(column, frozenset()) for column in columns))
        width = len(self.rows[0]) if self.rows else 0
        within = [column - 1 for column in columns if column <= width]
        found = []
        for number, row in enumerate(self.rows[first - 1 : last], start=first):
            for at in within:
                value = row[at]
                if value.__class__ is not str or value.strip():
                    found.append(number)
                    break
            else:
                if number in singly:
                    found.append(number)
        return found

    def values(self, rows: Sequence[int], columns: Sequence[int]) -> list[Sequence[object]]:
        """As `Grid.values`."""
        turned = list(zip(*(self.rows[number - 1] for number in rows), strict=True))
        found: list[Sequence[object]] = []
        for column in columns:
            values: Sequence[object] = turned[column - 1] if column <= len(turned) else [""] * len(rows)
            odd = self.odd.get(column)
            if odd:
                values = [ODD if number in odd else value for number, value in zip(rows, values, strict=True)]
            found.append(values)
        return found


def begin(book: Book, name: str) -> Callable[[], Sheet]:
    """Begin to read a sheet; the function given back waits for the rest. Raises as `Book.sheet`, now or then."""
    rows = PartRows(book, book.parts[name], book.package.part(book.parts[name]))
    if not rows.near:  # calamine keeps every cell between the first and the last: far ones would cost gigabytes
        return lambda: book.sheet(name)
    pool = ThreadPoolExecutor(1)
    future = pool.submit(_values, book.package.data, name)
    pool.shutdown(wait=False)
    plain = rows.plain
    odd, hidden = _odd(rows), _hidden(rows)

    def finish() -> Sheet:
        if future.exception() is not None or not plain:
            return book.sheet(name)
        return _sheet(name, rows, future.result(), odd, hidden)

    return finish


def _values(data: bytes, name: str) -> list[list[Any]]:
    from python_calamine import CalamineWorkbook

    sheet = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name(name)
    return list(sheet.to_python(skip_empty_area=False))


def _odd(rows: PartRows) -> dict[int, set[int]]:
    """The cells for which calamine gives "" though something is there: column -> rows."""
    found: dict[int, set[int]] = {}
    for mark, pattern in ((b't="e"', _ERROR), (b"<f", _UNCALCULATED)):
        if rows.data.find(mark, rows.start, rows.end) >= 0:
            for match in pattern.finditer(rows.data, rows.start, rows.end):
                found.setdefault(column_number(match[1].decode()), set()).add(int(match[2]))
    return found


def _hidden(rows: PartRows) -> set[int]:
    if rows.data.find(b' hidden="', rows.start, rows.end) < 0:
        return set()
    return {int(match[1]) for match in _HIDDEN.finditer(rows.data, rows.start, rows.end)}


def _sheet(name: str, rows: PartRows, values: list[list[Any]], odd: Mapping[int, set[int]], hidden: set[int]) -> Sheet:
    singly: set[int] = set().union(*odd.values())
    beyond = max(singly, default=0) - len(values)  # calamine ends with the last row that has a value
    values += [[""] * len(values[0] if values else ())] * max(beyond, 0)
    numbers = [
        number for number, row in enumerate(values, 1) if any(row) or row.count("") < len(row) or number in singly
    ]
    grid = Values(values, {column: frozenset(which) for column, which in odd.items()})
    held = PartRows(rows.book, rows.part, rows.data, numbers)
    return Sheet(name, rows.part, held, rows.merged(), frozenset(hidden.intersection(numbers)), grid)
