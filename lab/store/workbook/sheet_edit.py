"""Edit one sheet's part, and the range of its table: new rows below the last one, or single cells of rows that exist.

The part is edited in its bytes: what is written is put between bytes that stay, and nothing else is taken apart. Where
it cannot be shown that an edit is safe (merged cells, another table, a totals row in the way, an unusual form),
`UnsafeLayoutError` says why and nothing is changed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from lab.errors import Fault
from lab.store.workbook.book import Book
from lab.store.workbook.cell_text import escaped
from lab.store.workbook.cells import is_blank
from lab.store.workbook.locate import Located, locate
from lab.store.workbook.package import plain_xml
from lab.store.workbook.part_rows import PartRows
from lab.store.workbook.sheet import Cell, Sheet, column_number, letters, span
from lab.store.workbook.tables import Table

Scalar = str | int | float | bool | None

_CELL = re.compile(rb'<c r="([A-Z]{1,3})[0-9]+"([^>]*?)(?:/>|>(.*?)</c>)', re.DOTALL)
_ROW_TAG = re.compile(rb"<row\b[^>]*?(/?)>")
_SPANS = re.compile(rb' spans="[^"]*"')
_STYLE = re.compile(rb' s="([0-9]+)"')
_SHARED = re.compile(rb"<v>([0-9]+)</v>")
_FORMULA = re.compile(rb"<f\b([^>]*)>")
DIMENSION = re.compile(rb'(<dimension ref=")([^"]*)(")')
_TABLE_REF = re.compile(rb'(<table\s[^>]*?\bref=")([^"]*)(")')
_FILTER_REF = re.compile(rb'(<autoFilter\s[^>]*?\bref=")([^"]*)(")')
_TOTALS = re.compile(rb'\stotalsRowCount="(?!0")')
_FILLED = (b"<v", b"<is", b"<f")


class UnsafeLayoutError(Exception):
    """The sheet is laid out so that an edit cannot be shown to be safe; `slug` of the fault and its place."""

    def __init__(self, slug: str, at: str) -> None:
        """Keep slug and place."""
        super().__init__(slug, at)
        self.slug, self.at = slug, at


@dataclass
class SheetEdit:
    """The edits of one sheet, held until `parts` gives the changed parts.

    Attributes:
        located: where the table stands.
        rows: the rows of the part as it is.
        table: name and bytes of the part of the Excel table over the rows; None: there is none.
        written: row -> column -> value of every cell that was set.
    """

    book: Book
    located: Located
    rows: PartRows
    table: tuple[str, bytes] | None
    others: tuple[tuple[int, int, int, int], ...]
    written: dict[int, dict[int, Scalar]] = field(default_factory=dict)
    last: int = 0  # of the rows that were appended

    @property
    def sheet_part(self) -> str:
        """The name of the sheet's part in the zip."""
        return self.located.sheet.part

    def append(self, values: Sequence[Mapping[str, Scalar]]) -> None:
        """Write rows below the last filled one; empty rows that are ready there are filled first."""
        if not values:
            return
        start = self._last_filled() + 1
        self.last = start + len(values) - 1
        self._check_free(self.located.header, self.last)
        for number, row in enumerate(values, start=start):
            for name, column in self.located.columns.items():
                if name in row:
                    self.written.setdefault(number, {})[column] = row[name]

    def update(self, row: int, name: str, value: Scalar) -> None:
        """Write one cell of a row that exists."""
        self._check_free(row, row)
        self.written.setdefault(row, {})[self.located.columns[name]] = value

    def cell(self, row: int, name: str) -> Cell | None:
        """The cell of a field as it is."""
        return self.located.sheet.cell(row, self.located.columns[name])

    def rows_by(self, name: str) -> dict[str, int]:
        """The text of a column's cells -> row, below the header."""
        column = letters(self.located.columns[name]).encode()
        found = {}
        one = re.compile(rb'<c r="' + column + rb'([0-9]+)"([^>]*?)(?:/>|>(.*?)</c>)', re.DOTALL)
        for match in one.finditer(self.rows.data, self.rows.start, self.rows.end):
            number = int(match[1])
            if number > self.located.header and match[3]:
                text = self._text(match[0], match[2], match[3], number)
                if text:
                    found[text] = number
        return found

    def _text(self, whole: bytes, attributes: bytes, content: bytes, number: int) -> str:
        shared = _SHARED.fullmatch(content) if b' t="s"' in attributes else None
        if shared:
            return self.book.texts[int(shared[1])].strip()
        cells = self.rows.parse(b'<row r="%d">' % number + whole + b"</row>", number)
        return "".join(str(cell.value).strip() for cell in cells.values())

    def _last_filled(self) -> int:
        """The last row below the header that holds something in a column of the table which is not computed."""
        columns = [
            self.located.columns[one.name]
            for one in self.located.table.columns
            if one.name in self.located.columns and one.filler != "formula"
        ]
        numbers, starts = list(self.rows.starts), list(self.rows.starts.values())
        end = self.rows.end
        while True:
            at = max(self.rows.data.rfind(mark, self.rows.start, end) for mark in _FILLED)
            place = bisect_right(starts, at) - 1
            if at < 0 or place < 0 or numbers[place] <= self.located.header:
                return self.located.header
            number = numbers[place]
            if any(not is_blank(self.located.sheet.cell(number, column)) for column in columns):
                return number
            end = starts[place]

    def _check_free(self, first: int, last: int) -> None:
        sheet, columns = self.located.sheet, set(self.located.columns.values())
        left, right = min(columns), max(columns)
        for slug, ranges in (("append-merged", self.rows.merged()), ("append-other-table", self.others)):
            for top, begin, bottom, end in ranges:
                if top <= last and bottom >= first and begin <= right and end >= left:
                    raise UnsafeLayoutError(slug, sheet.at(top, begin))

    def parts(self) -> dict[str, bytes]:
        """The changed parts: the sheet, and its table when its range grew."""
        rows = self.rows
        style = self._styles()
        pieces, at = [], 0
        if stated := self._stated():
            pieces += [rows.data[: stated[0]], stated[2]]
            at = stated[1]
        for number in sorted(self.written):
            cells = self.written[number]
            if number in rows.starts:
                begin, end = rows.piece(number)
                new = self._edited_row(rows.data[begin:end], number, cells, style)
            else:
                begin = end = next((start for row, start in rows.starts.items() if row > number), rows.end)
                new = self._edited_row(b'<row r="%d"></row>' % number, number, cells, style)
            pieces += [rows.data[at:begin], new]
            at = end
        pieces.append(rows.data[at:])
        changed = {self.sheet_part: b"".join(pieces)}
        if self.table is not None:
            part, data = self.table
            stretched = self._stretched(data)
            if stretched != data:
                changed[part] = stretched
        return changed

    def _styles(self) -> dict[int, bytes]:
        """Column -> the style of its cell in the first row below the header."""
        first = self.located.header + 1
        if first not in self.rows.starts:
            return {}
        begin, end = self.rows.piece(first)
        found = {}
        for match in _CELL.finditer(self.rows.data, begin, end):
            style = _STYLE.search(match[2])
            if style:
                found[column_number(match[1].decode())] = style[1]
        return found

    def _edited_row(self, row: bytes, number: int, values: Mapping[int, Scalar], styles: Mapping[int, bytes]) -> bytes:
        """A row with some cells set; its other cells and whatever else it holds keep their bytes."""
        tag = _ROW_TAG.match(row)
        if tag is None:
            raise UnsafeLayoutError("append-no-addresses", f"{self.located.sheet.name}!{number}")
        opening = tag[0] if not tag[1] else tag[0][:-2] + b">"
        end = row.rfind(b"</row>")
        body, tail = (b"", b"</row>") if tag[1] else (row[tag.end() : end], row[end:])
        if tag[1]:
            tail += row[tag.end() :]
        cells: dict[int, bytes] = {}
        first, after = len(body), 0
        for match in _CELL.finditer(body):
            cells[column_number(match[1].decode())] = match[0]
            first, after = min(first, match.start()), match.end()
        between = b"".join(cells.values()) == body[first:after] if cells else True
        if not between or list(cells) != sorted(cells):
            raise UnsafeLayoutError("append-no-addresses", f"{self.located.sheet.name}!{number}")
        for column, value in values.items():
            old = cells.get(column)
            if old is None and opening.find(b" spans=") > 0:
                opening = _SPANS.sub(b"", opening, count=1)  # optional, and no longer true
            cells[column] = self._edited_cell(old, number, column, value, styles.get(column))
        inside = b"".join(cells[column] for column in sorted(cells))
        return opening + body[:first] + inside + body[max(first, after) :] + tail

    def _edited_cell(self, old: bytes | None, number: int, column: int, value: Scalar, style: bytes | None) -> bytes:
        match = _CELL.fullmatch(old) if old is not None else None
        formula = _FORMULA.search(match[3] or b"") if match else None
        if match:
            own = _STYLE.search(match[2])
            style = own[1] if own else None
        if formula is None:
            return cell_bytes(number, column, value, style)
        related = self.book.package.related(self.book.package.main).values()
        chained = any(kind == "calcChain" for kind, _ in related)
        if not chained and b"t=" not in formula[1]:
            return cell_bytes(number, column, value, style)
        # The chain of formulas, in a part of its own, lists this cell: it must stay a formula. A formula that other
        # cells share must stay the one it is.
        if not isinstance(value, bool) or b"t=" in formula[1] or (match and b' t="b"' not in match[2]):
            raise UnsafeLayoutError("append-formula-in-cell", self.located.sheet.at(number, column))
        result = b"<f>TRUE()</f><v>1</v>" if value else b"<f>FALSE()</f><v>0</v>"
        return _opening(number, column, style, b' t="b"') + b">" + result + b"</c>"

    def _stated(self) -> tuple[int, int, bytes] | None:
        """Where the sheet states its extent, and the extent that it has now; None: it states none, or it holds."""
        found = DIMENSION.search(self.rows.data, 0, self.rows.start)
        if found is None or not self.last:
            return None
        top, left, bottom, right = span(found[2].decode())
        columns = self.located.columns.values()
        top, bottom = min(top, self.located.header), max(bottom, self.last)
        reference = f"{letters(min(left, *columns))}{top}:{letters(max(right, *columns))}{bottom}"
        return found.start(), found.end(), found[1] + reference.encode() + found[3]

    def _stretched(self, table: bytes) -> bytes:
        found = _TABLE_REF.search(table)
        if found is None:
            raise UnsafeLayoutError("append-no-table", self.located.sheet.name)
        top, left, bottom, right = span(found[2].decode())
        if self.last <= bottom:
            return table
        reference = f"{letters(left)}{top}:{letters(right)}{self.last}".encode()
        for pattern in (_TABLE_REF, _FILTER_REF):
            table = pattern.sub(lambda one: one[1] + reference + one[3], table, count=1)
        return table


def cell_bytes(number: int, column: int, value: Scalar, style: bytes | None) -> bytes:
    """A cell with a value; text is an inline string, so that what begins with = + - @ stays text, whoever reads it."""
    if value is None:
        return _opening(number, column, style) + b"/>"
    if isinstance(value, bool):
        return _opening(number, column, style, b' t="b"') + b"><v>%d</v></c>" % value
    if isinstance(value, int | float):
        return _opening(number, column, style) + b"><v>" + repr(value).encode() + b"</v></c>"
    text = escape(escaped(value)).replace("\r", "&#13;").encode()
    opening = _opening(number, column, style, b' t="inlineStr"')
    return opening + b'><is><t xml:space="preserve">' + text + b"</t></is></c>"


def _opening(number: int, column: int, style: bytes | None, kind: bytes = b"") -> bytes:
    styled = b"" if style is None else b' s="' + style + b'"'
    return b'<c r="%s%d"' % (letters(column).encode(), number) + styled + kind


def edit(book: Book, table: Table, name: str | None) -> SheetEdit:
    """Begin to edit the sheet of a table; `name` is the sheet's, None: it was not found.

    Raises:
        UnsafeLayoutError: the table is not found whole, or the part is laid out in a way that is not understood.
        InvalidInputError: a damaged part.
    """
    if name is None:
        raise UnsafeLayoutError("append-no-table", table.sheet)
    package = book.package
    part = book.parts[name]
    rows = PartRows(book, part, plain_xml(package, part))
    if not rows.plain or not rows.starts:
        raise UnsafeLayoutError("append-no-addresses", name)
    sheet = Sheet(name, part, rows)
    faults: list[Fault] = []
    located = locate(sheet, table, package.shown, faults)
    if located is None:
        raise UnsafeLayoutError("append-no-table", faults[0].place or table.sheet)
    own, others = None, []
    for kind, target in package.related(part).values():
        if kind != "table":
            continue
        data = plain_xml(package, target)
        found = _TABLE_REF.search(data)
        if found is None:
            raise UnsafeLayoutError("append-no-table", name)
        top, left, bottom, right = span(found[2].decode())
        if top == located.header and left <= min(located.columns.values()) <= right:
            if _TOTALS.search(data):
                raise UnsafeLayoutError("append-totals-row", name)
            own = (target, data)
        else:
            others.append((top, left, bottom, right))
    return SheetEdit(book, located, rows, own, tuple(others))
