"""A workbook of the Office Open XML kind: its sheets by name and by marker, and what their cells refer to."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lxml import etree

from lab.errors import InvalidInputError, fault
from lab.store.workbook.package import Element, Package, local
from lab.store.workbook.shared_texts import SharedTexts, rich, unescaped
from lab.store.workbook.sheet import Cell, Sheet, column_number, span

_BUILT_IN_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_BUILT_IN_PERCENT = {9, 10}
_REFERS = re.compile(r"(?:'((?:[^']|'')+)'|([^'!]+))!\$?[A-Z]+\$?[0-9]+(?::\$?[A-Z]+\$?[0-9]+)?")


@dataclass(frozen=True)
class Look:
    """What number formats say of a style: whether a number is shown as a date or as a percentage."""

    dates: frozenset[int] = field(default_factory=frozenset)
    percents: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Book:
    """A workbook's sheets: name -> part; defined name -> the sheet it points into; shared texts, styles, dates."""

    package: Package
    parts: Mapping[str, str]
    pointers: Mapping[str, str]
    texts: SharedTexts
    look: Look
    date_1904: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sheets as people see them, in order."""
        return tuple(self.parts)

    def sheet(self, name: str) -> Sheet:
        """Read one sheet by its name; raises InvalidInputError for a damaged part."""
        part = self.parts[name]
        try:
            return self._sheet(name, part)
        except (ValueError, IndexError, TypeError) as error:
            raise damaged(self.package, part) from error

    def _sheet(self, name: str, part: str) -> Sheet:
        rows: dict[int, dict[int, Cell]] = {}
        merged, hidden, number = [], set(), 0
        for element in _elements(self.package, part):
            if local(element) == "mergeCell":
                merged.append(span(element.get("ref") or ""))
                continue
            number = int(element.get("r") or number + 1)
            cells = self.cells(element, number)
            if cells:
                rows[number] = cells
                if element.get("hidden") in {"1", "true"}:
                    hidden.add(number)
        return Sheet(name, part, rows, tuple(merged), frozenset(hidden))

    def cells(self, row: Element, number: int) -> dict[int, Cell]:
        """The cells of a `row` element that hold something, by column."""
        found: dict[int, Cell] = {}
        column = 0
        for element in row:
            if local(element) != "c":
                continue
            address = element.get("r")
            column = column_number(address.rstrip("0123456789")) if address else column + 1
            if len(element):
                cell = self._cell(element, number, column)
                if cell is not None:
                    found[column] = cell
        return found

    def _cell(self, element: Element, row: int, column: int) -> Cell | None:
        value = formula = inline = None
        for child in element:
            name = local(child)
            if name == "v":
                value = child
            elif name == "f":
                formula = child
            elif name == "is":
                inline = child
        if inline is not None:
            return Cell(row, column, "text", unescaped(rich(inline)))
        kind, raw = element.get("t") or "n", "" if value is None else value.text or ""
        if formula is not None and not raw and (value is None or kind != "str"):
            return Cell(row, column, "uncalculated", None)
        if kind == "str":
            return Cell(row, column, "text", unescaped(raw))
        return self._stored(kind, raw, int(element.get("s") or 0), row, column) if raw else None

    def _stored(self, kind: str, raw: str, style: int, row: int, column: int) -> Cell:
        if kind == "s":
            return Cell(row, column, "text", self.texts[int(raw)])
        if kind == "e":
            return Cell(row, column, "error", raw)
        if kind == "b":
            return Cell(row, column, "boolean", raw in {"1", "true"})
        if kind == "d":
            return Cell(row, column, "date", datetime.fromisoformat(raw).replace(tzinfo=None))
        number = float(raw) if set(raw) & set(".eEnNiI") else int(raw)  # also NaN and INF, which no column takes
        if style in self.look.dates:
            return Cell(row, column, "date", self._moment(number))
        return Cell(row, column, "number", number, style in self.look.percents)

    def _moment(self, serial: float) -> datetime | float:
        start = datetime(1904, 1, 1) if self.date_1904 else datetime(1899, 12, 30)  # noqa: DTZ001  (a sheet knows no zone)
        try:
            return start + timedelta(seconds=round(serial * 86_400))
        except (OverflowError, ValueError):
            return serial


def open_book(package: Package) -> Book:
    """The workbook of a package: its sheets' parts, shared texts and styles.

    Raises:
        InvalidInputError: a part that all others need is missing or damaged.
    """
    try:
        return _opened(package)
    except (ValueError, TypeError, AttributeError) as error:
        raise damaged(package, package.main) from error


def _opened(package: Package) -> Book:
    root = package.xml(package.main)
    related = package.related(package.main)
    parts: dict[str, str] = {}
    pointers: dict[str, str] = {}
    date_1904 = False
    for element in root.iter():
        kind = local(element)
        if kind == "sheet":
            wanted = next((value for key, value in element.attrib.items() if key.endswith("}id")), "")
            target = related.get(wanted, ("", ""))
            if target[0] == "worksheet":
                parts[element.get("name") or ""] = target[1]
        elif kind == "workbookPr":
            date_1904 = element.get("date1904") in {"1", "true"}
        elif kind == "definedName" and element.get("localSheetId") is None:
            found = _REFERS.fullmatch((element.text or "").strip())
            if found:
                pointers[element.get("name") or ""] = (found[1] or "").replace("''", "'") or found[2]
    by_kind = {kind: part for kind, part in related.values() if package.has(part)}
    texts = SharedTexts(package, by_kind.get("sharedStrings"))
    look = _look(package.xml(by_kind["styles"])) if "styles" in by_kind else Look()
    return Book(package, parts, pointers, texts, look, date_1904)


def damaged(package: Package, part: str) -> InvalidInputError:
    """The error of a part that is not what it must be."""
    return InvalidInputError(fault("workbook-damaged", file=package.shown, part=part))


def _elements(package: Package, part: str) -> Iterator[Element]:
    """The rows and merged ranges of a sheet part, one at a time, each forgotten after its turn."""
    reader = etree.iterparse(
        io.BytesIO(package.part(part)), events=("end",), tag=("{*}row", "{*}mergeCell"), resolve_entities=False,
        no_network=True, load_dtd=False,
    )  # fmt: skip
    try:
        for _, element in reader:
            if element.getroottree().docinfo.doctype:
                raise InvalidInputError(fault("workbook-entities", file=package.shown, part=part))
            yield element
            if local(element) == "row":
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise damaged(package, part) from error


def _look(root: Element) -> Look:
    codes = {
        int(one.get("numFmtId") or 0): one.get("formatCode") or "" for one in root.iter() if local(one) == "numFmt"
    }
    dates, percents = set(), set()
    styles: Element = next((one for one in root if local(one) == "cellXfs"), [])
    for number, style in enumerate(one for one in styles if local(one) == "xf"):
        format_id = int(style.get("numFmtId") or 0)
        plain = re.sub(r'"[^"]*"|\\.|\[(?!h|hh|m|mm|s|ss\])[^\]]*\]|_.|\*.', "", codes.get(format_id, "").lower())
        if format_id in _BUILT_IN_DATES or (plain != "general" and re.search(r"[dmyhs]", plain)):
            dates.add(number)
        elif format_id in _BUILT_IN_PERCENT or "%" in plain:
            percents.add(number)
    return Look(frozenset(dates), frozenset(percents))
