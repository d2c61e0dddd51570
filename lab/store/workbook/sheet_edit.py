"""Edit one sheet's part, and the range of its table: new rows below the last one, or single cells of rows that exist.

Everything else in the part stays: rows, styles, validations, extensions. Where it cannot be shown that an edit is safe
(merged cells, another table, a totals row in the way ...), `UnsafeLayoutError` says why and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree

from lab.errors import Fault
from lab.store.workbook.cell_text import escaped
from lab.store.workbook.locate import Located, locate
from lab.store.workbook.package import Element, Package, local
from lab.store.workbook.sheet import Book, letters, place, span
from lab.store.workbook.tables import Table

Scalar = str | int | float | bool | None
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


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
        written: row -> column -> value of every cell that was set, for the check afterwards.
        stretched: whether the table's range grew.
    """

    package: Package
    book: Book
    located: Located
    root: Element
    rows: dict[int, Element]
    table: tuple[str, Element] | None
    written: dict[int, dict[int, Scalar]] = field(default_factory=dict)
    stretched: bool = False

    @property
    def sheet_part(self) -> str:
        """The name of the sheet's part in the zip."""
        return self.located.sheet.part

    def append(self, values: Sequence[Mapping[str, Scalar]]) -> None:
        """Write rows below the last filled one; empty rows that are ready there are filled first."""
        if not values:
            return
        filled = list(self.located.rows())
        start = max(filled, default=self.located.header) + 1
        last = start + len(values) - 1
        self._check_free(start, last)
        for number, row in enumerate(values, start=start):
            for name, column in self.located.columns.items():
                if name in row:
                    self._set(number, column, row[name])
        self._widen(start, last)
        if self.table is not None:
            first, left, bottom, right = span(self.table[1].get("ref"))
            if last > bottom:
                self._stretch(first, left, last, right)

    def update(self, row: int, name: str, value: Scalar) -> None:
        """Write one cell of a row that exists."""
        column = self.located.columns[name]
        self._set(row, column, value)

    def parts(self) -> dict[str, bytes]:
        """The changed parts: the sheet, and its table when its range grew."""
        changed = {self.sheet_part: _serialised(self.root)}
        if self.table is not None and self.stretched:
            changed[self.table[0]] = _serialised(self.table[1])
        return changed

    def _check_free(self, first: int, last: int) -> None:
        sheet, columns = self.located.sheet, set(self.located.columns.values())
        left, right = min(columns), max(columns)
        for top, begin, bottom, end in sheet.merged:
            if top <= last and bottom >= first and begin <= right and end >= left:
                raise UnsafeLayoutError("append-merged", sheet.at(top, begin))
        for part, other in _tables(self.package, self.sheet_part):
            if self.table is not None and part == self.table[0]:
                continue
            top, begin, bottom, end = span(other.get("ref"))
            if top <= last and bottom >= first and begin <= right and end >= left:
                raise UnsafeLayoutError("append-other-table", sheet.at(top, begin))

    def _set(self, row: int, column: int, value: Scalar) -> None:
        cell = self._cell(row, column)
        formula = next((child for child in cell if local(child) == "f"), None)
        kind = cell.get("t")
        if formula is not None and any(
            kind == "calcChain" for kind, _ in self.package.related(self.package.main).values()
        ):
            # The chain of formulas, in a part of its own, lists this cell: it must stay a formula.
            if not isinstance(value, bool) or kind not in {"b", None}:
                raise UnsafeLayoutError("append-formula-in-cell", self.located.sheet.at(row, column))
            formula.text = "TRUE()" if value else "FALSE()"
            formula.attrib.clear()
            result = next((child for child in cell if local(child) == "v"), None)
            if result is None:
                result = etree.SubElement(cell, _tag(cell, "v"))
            cell.set("t", "b")
            result.text = "1" if value else "0"
        else:
            _fill(cell, value)
        self.written.setdefault(row, {})[column] = value

    def _cell(self, number: int, column: int) -> Element:
        row = self._row(number)
        before = None
        for cell in row:
            if local(cell) != "c":
                continue
            at = place(cell.get("r"))[1]
            if at == column:
                return cell
            if at > column:
                before = cell
                break
        made = etree.Element(_tag(row, "c"))
        made.set("r", f"{letters(column)}{number}")
        style = self._style(column)
        if style is not None:
            made.set("s", style)
        if before is None:
            cells = [index for index, child in enumerate(row) if local(child) == "c"]
            row.insert(cells[-1] + 1 if cells else 0, made)
        else:
            before.addprevious(made)
        row.attrib.pop("spans", None)  # optional, and no longer true
        return made

    def _row(self, number: int) -> Element:
        if number in self.rows:
            return self.rows[number]
        data = next(child for child in self.root if local(child) == "sheetData")
        made = etree.Element(_tag(data, "row"))
        made.set("r", str(number))
        later = [row for row in self.rows if row > number]
        if later:
            self.rows[min(later)].addprevious(made)
        else:
            data.append(made)
        self.rows[number] = made
        return made

    def _style(self, column: int) -> str | None:
        """The style of the column's cell in the first row below the header."""
        row = self.rows.get(self.located.header + 1)
        address = f"{letters(column)}{self.located.header + 1}"
        cell = None if row is None else next((one for one in row if one.get("r") == address), None)
        return None if cell is None else cell.get("s")

    def _widen(self, first: int, last: int) -> None:
        """The sheet's stated extent, where it states one."""
        stated = next((child for child in self.root if local(child) == "dimension"), None)
        if stated is not None:
            top, left, bottom, right = span(stated.get("ref"))
            columns = self.located.columns.values()
            left, right = min(left, *columns), max(right, *columns)
            stated.set("ref", f"{letters(left)}{min(top, first)}:{letters(right)}{max(bottom, last)}")

    def _stretch(self, first: int, left: int, last: int, right: int) -> None:
        if self.table is None:
            return
        reference = f"{letters(left)}{first}:{letters(right)}{last}"
        element = self.table[1]
        element.set("ref", reference)
        for child in element:
            if local(child) == "autoFilter":
                child.set("ref", reference)
        self.stretched = True


def edit(package: Package, book: Book, table: Table) -> SheetEdit:
    """Begin to edit the sheet of a table.

    Raises:
        UnsafeLayoutError: the table is not found whole, or the part is laid out in a way that is not understood.
        InvalidInputError: a damaged part.
    """
    if table.sheet not in book.parts:
        raise UnsafeLayoutError("append-no-table", table.sheet)
    sheet = book.sheet(table.sheet)
    faults: list[Fault] = []
    located = locate(sheet, table, package.shown, faults)
    if located is None:
        raise UnsafeLayoutError("append-no-table", faults[0].place or table.sheet)
    root = package.xml(sheet.part)
    data = next((child for child in root if local(child) == "sheetData"), None)
    rows: dict[int, Element] = {}
    for row in [] if data is None else data:
        if not isinstance(row.tag, str):
            continue
        number = row.get("r")
        stated = number is not None and all(cell.get("r") for cell in row if local(cell) == "c")
        if not stated:
            raise UnsafeLayoutError("append-no-addresses", sheet.name)
        rows[int(number)] = row
    if data is None or not rows:
        raise UnsafeLayoutError("append-no-addresses", sheet.name)
    own = None
    for part, element in _tables(package, sheet.part):
        top, left, _, right = span(element.get("ref"))
        if top == located.header and left <= min(located.columns.values()) <= right:
            if element.get("totalsRowCount") not in {None, "0"}:
                raise UnsafeLayoutError("append-totals-row", sheet.name)
            own = (part, element)
    return SheetEdit(package, book, located, root, rows, own)


def recalculates(package: Package) -> bytes | None:
    """The main part with the mark that asks for a recalculation when the file is opened; None when it has it."""
    root = package.xml(package.main)
    marks = [child for child in root if local(child) == "calcPr"]
    if marks and marks[0].get("fullCalcOnLoad") in {"1", "true"}:
        return None
    if marks:
        mark = marks[0]
    else:
        before = {"fileVersion", "fileSharing", "workbookPr", "workbookProtection", "bookViews", "sheets"}
        before |= {"functionGroups", "externalReferences", "definedNames", "AlternateContent", "revisionPtr"}
        mark = etree.Element(_tag(root, "calcPr"))
        earlier = [child for child in root if local(child) in before]
        earlier[-1].addnext(mark)
    mark.set("fullCalcOnLoad", "1")
    return _serialised(root)


def _fill(cell: Element, value: Scalar) -> None:
    style, address = cell.get("s"), cell.get("r")
    for child in list(cell):
        cell.remove(child)
    cell.attrib.clear()
    cell.set("r", address)
    if style is not None:
        cell.set("s", style)
    if value is None:
        return
    if isinstance(value, bool):
        cell.set("t", "b")
        etree.SubElement(cell, _tag(cell, "v")).text = "1" if value else "0"
    elif isinstance(value, int | float):
        etree.SubElement(cell, _tag(cell, "v")).text = repr(value)
    else:
        # An inline string: what begins with = + - @ stays text, whatever reads it.
        cell.set("t", "inlineStr")
        text = etree.SubElement(etree.SubElement(cell, _tag(cell, "is")), _tag(cell, "t"))
        text.set(_SPACE, "preserve")
        text.text = escaped(value)


def _tables(package: Package, part: str) -> list[tuple[str, Element]]:
    return [(target, package.xml(target)) for kind, target in package.related(part).values() if kind == "table"]


def _tag(near: Element, name: str) -> str:
    return f"{{{etree.QName(near).namespace}}}{name}"


def _serialised(root: Element) -> bytes:
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))
