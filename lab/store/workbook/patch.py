"""Cells of one sheet's part that the tool owns, set one by one: a value, or a formula with the value it has now."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from lxml import etree

from lab.store.workbook.cell_text import escaped, fitted
from lab.store.workbook.package import Element, Package, local
from lab.store.workbook.page import Formula, serial
from lab.store.workbook.sheet import letters, place

_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


class Patch:
    """The edits of one part, held until `data` gives it; `changed` counts cells that say something else now."""

    def __init__(self, package: Package, part: str) -> None:
        """Read the part; raises InvalidInputError when it is damaged, ValueError when its rows have no numbers."""
        self.part = part
        self.root = package.xml(part)
        self._data = next(child for child in self.root if local(child) == "sheetData")
        self._space = f"{{{etree.QName(self.root).namespace}}}"
        self._rows = {int(row.get("r") or "x"): row for row in self._data if local(row) == "row"}
        self._cells: dict[int, dict[int, Element]] = {}
        self.changed = 0
        self.formulas_moved = False  # one was put in or taken out: a chain of calculations no longer fits

    def has_formula(self, row: int, column: int) -> bool:
        """Whether a formula stands there."""
        cell = self._row(row).get(column)
        return cell is not None and _child(cell, "f") is not None

    def show(self, row: int, column: int, value: object) -> None:
        """Give a formula cell the value it has now; a cell without a formula stays as it is."""
        cell = self._row(row).get(column)
        if cell is not None and _child(cell, "f") is not None:
            self._result(cell, value)

    def put(self, row: int, column: int, value: object, mark: str, *, like: int | None = None) -> None:
        """Write a cell: a `Formula` where it stands already keeps its text, None empties.

        `mark` ends a text that is longer than a cell can hold. A cell that is not there yet takes the style of the one
        in the row `like`.
        """
        cell = self._row(row).get(column)
        if cell is None:
            if value is None:
                return
            cell = self._made(row, column, like)
        formula = _child(cell, "f")
        if isinstance(value, Formula):
            if formula is None:
                self._empty(cell)
                made = etree.SubElement(cell, self._space + "f")
                if value.text.startswith("{"):
                    made.set("t", "array")
                    made.set("ref", f"{letters(column)}{row}")
                made.text = value.text.strip("{}").removeprefix("=")
                self.formulas_moved = True
            self._result(cell, value.value)
            return
        before = etree.tostring(cell)
        self.formulas_moved = self.formulas_moved or formula is not None
        self._empty(cell)
        if isinstance(value, str):
            # An inline string: what begins with = + - @ stays text, whatever reads it.
            cell.set("t", "inlineStr")
            text = etree.SubElement(etree.SubElement(cell, self._space + "is"), self._space + "t")
            text.set(_SPACE, "preserve")
            text.text = escaped(fitted(value, mark)[0])
        elif value is not None:
            etree.SubElement(cell, self._space + "v").text = _number(value)
        self.changed += etree.tostring(cell) != before

    def height(self, row: int, points: int | None) -> None:
        """Give a row room for what was written into it; None: that of one line."""
        element = self._rows.get(row)
        if element is None or (element.get("ht"), points) == (None, None):
            return
        before = element.get("ht")
        for name in ("ht", "customHeight"):
            element.attrib.pop(name, None)
        if points is not None:
            element.set("ht", str(points))
            element.set("customHeight", "1")
        self.changed += float(before or 0) != float(points or 0)

    def data(self) -> bytes:
        """The part with its edits."""
        return bytes(etree.tostring(self.root, xml_declaration=True, encoding="UTF-8", standalone=True))

    def _result(self, cell: Element, value: object) -> None:
        result = _child(cell, "v")
        old = (cell.get("t"), "" if result is None else result.text or "")
        if result is None:
            result = etree.SubElement(cell, self._space + "v")
        if isinstance(value, str):
            cell.set("t", "str")
            result.text = escaped(value)
        else:
            cell.attrib.pop("t", None)
            result.text = _number(value)
        new = (cell.get("t"), result.text)
        self.changed += old != new and not _same_number(old, new)

    def _row(self, number: int) -> dict[int, Element]:
        if number not in self._cells:
            row = self._rows.get(number)
            cells = [] if row is None else [cell for cell in row if local(cell) == "c"]
            self._cells[number] = {place(cell.get("r") or "")[1]: cell for cell in cells}
        return self._cells[number]

    def _made(self, number: int, column: int, like: int | None) -> Element:
        if number not in self._rows:
            row = etree.Element(self._space + "row")
            row.set("r", str(number))
            later = [one for one in self._rows if one > number]
            if later:
                self._rows[min(later)].addprevious(row)
            else:
                self._data.append(row)
            self._rows[number] = row
            self._cells[number] = {}
        cells, row = self._row(number), self._rows[number]
        cell = etree.Element(self._space + "c")
        cell.set("r", f"{letters(column)}{number}")
        style = None if like is None else self._row(like).get(column)
        if style is not None and style.get("s"):
            cell.set("s", style.get("s"))
        before = [at for at in cells if at < column]
        if before:
            cells[max(before)].addnext(cell)
        else:
            row.insert(0, cell)
        row.attrib.pop("spans", None)  # optional, and no longer true
        cells[column] = cell
        return cell

    def _empty(self, cell: Element) -> None:
        kept = {name: cell.get(name) for name in ("r", "s") if cell.get(name) is not None}
        for child in list(cell):
            cell.remove(child)
        cell.attrib.clear()
        for name, value in kept.items():
            cell.set(name, value)


def _child(cell: Element, name: str) -> Element | None:
    return next((child for child in cell if local(child) == name), None)


def _number(value: object) -> str:
    plain = serial(value) if isinstance(value, datetime) else value
    return repr(float(plain)) if isinstance(plain, Decimal) else repr(plain)


def _same_number(old: tuple[str | None, str], new: tuple[str | None, str]) -> bool:
    """Whether two results are one number that two programs write differently."""
    try:
        first, second = float(old[1]), float(new[1])
    except ValueError:
        return False
    return {old[0], new[0]} <= {None, "n"} and abs(first - second) <= 1e-9 * max(1.0, abs(first))
