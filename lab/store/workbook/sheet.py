"""A sheet as its cells: what is stored in each, of which type, without an opinion on what it means.

Error cells, formulas without a result, dates by their number format, merged ranges and hidden rows stay visible to the
reader, because each of them is a case of its own (C4-C6, W11, W12). Empty styled cells cost nothing (W7).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from lxml import etree

from lab.errors import InvalidInputError, fault
from lab.store.workbook.package import Element, Package, local

# uncalculated: a formula whose result was never stored.
Stored = Literal["text", "number", "boolean", "date", "error", "uncalculated"]

_BUILT_IN_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_BUILT_IN_PERCENT = {9, 10}
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ADDRESS = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True)
class Cell:
    """One stored cell: text, int, float, bool, naive datetime or error code; `percent` when it is shown as one."""

    row: int
    column: int
    stored: Stored
    value: str | float | datetime | None
    percent: bool = False


@dataclass(frozen=True)
class Sheet:
    """One sheet: row -> column -> cell (numbers from 1), where anything is stored."""

    name: str
    part: str
    rows: Mapping[int, Mapping[int, Cell]]
    merged: tuple[tuple[int, int, int, int], ...] = ()
    hidden: frozenset[int] = frozenset()

    def cell(self, row: int, column: int) -> Cell | None:
        """The stored cell there, or None."""
        return self.rows.get(row, {}).get(column)

    def at(self, row: int, column: int) -> str:
        """The address as a person knows it: `protocol!B7`."""
        return f"{self.name}!{letters(column)}{row}"


@dataclass(frozen=True)
class Look:
    """What number formats say of a style: whether a number is shown as a date or as a percentage."""

    dates: frozenset[int] = field(default_factory=frozenset)
    percents: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Book:
    """A workbook's sheet names with their parts, and what cells refer to: shared texts, styles, the date system."""

    package: Package
    parts: Mapping[str, str]
    texts: tuple[str, ...]
    look: Look
    date_1904: bool

    def sheet(self, name: str) -> Sheet:
        """Read one sheet by its name; raises InvalidInputError for a damaged part."""
        part = self.parts[name]
        try:
            return self._sheet(name, part)
        except (ValueError, IndexError, TypeError) as error:
            raise _damaged(self.package, part) from error

    def _sheet(self, name: str, part: str) -> Sheet:
        rows: dict[int, dict[int, Cell]] = {}
        merged, hidden, number = [], set(), 0
        for element in _elements(self.package, part):
            if local(element) == "mergeCell":
                merged.append(span(element.get("ref") or ""))
                continue
            number = int(element.get("r") or number + 1)
            cells = self._cells(element, number)
            if cells:
                rows[number] = cells
                if element.get("hidden") in {"1", "true"}:
                    hidden.add(number)
        return Sheet(name, part, rows, tuple(merged), frozenset(hidden))

    def _cells(self, row: Element, number: int) -> dict[int, Cell]:
        found: dict[int, Cell] = {}
        column = 0
        for element in row:
            if local(element) != "c":
                continue
            address = element.get("r")
            column = _column(address.rstrip("0123456789")) if address else column + 1
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
            return Cell(row, column, "text", unescaped(_rich(inline)))
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
        number = float(raw) if set(raw) & set(".eE") else int(raw)
        if style in self.look.dates:
            return Cell(row, column, "date", self._moment(number))
        return Cell(row, column, "number", number, style in self.look.percents)

    def _moment(self, serial: float) -> datetime | float:
        start = datetime(1904, 1, 1) if self.date_1904 else datetime(1899, 12, 30)  # noqa: DTZ001  (a sheet knows no zone)
        try:
            return start + timedelta(seconds=round(serial * 86_400))
        except OverflowError:
            return serial


def open_book(package: Package) -> Book:
    """The workbook of a package: its sheets' parts, shared texts and styles.

    Raises:
        InvalidInputError: a part that all others need is missing or damaged.
    """
    try:
        return _opened(package)
    except (ValueError, TypeError, AttributeError) as error:
        raise _damaged(package, package.main) from error


def _opened(package: Package) -> Book:
    root = package.xml(package.main)
    related = package.related(package.main)
    parts: dict[str, str] = {}
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
    by_kind = {kind: part for kind, part in related.values() if package.has(part)}
    texts = tuple(_shared_texts(package, by_kind["sharedStrings"])) if "sharedStrings" in by_kind else ()
    look = _look(package.xml(by_kind["styles"])) if "styles" in by_kind else Look()
    return Book(package, parts, texts, look, date_1904)


def letters(column: int) -> str:
    """The letters of a column number from 1: 1 -> `A`, 28 -> `AB`."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def place(address: str) -> tuple[int, int]:
    """Row and column, from 1, of an address such as `AB12`; raises ValueError for anything else."""
    found = _ADDRESS.fullmatch(address.replace("$", ""))
    if not found:
        raise ValueError(address)
    return int(found[2]), _column(found[1])


@lru_cache(1024)
def _column(name: str) -> int:
    """The number of a column from its letters; raises ValueError for anything else."""
    if not (name.isascii() and name.isalpha() and name.isupper()):
        raise ValueError(name)
    column = 0
    for letter in name:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column


def span(reference: str) -> tuple[int, int, int, int]:
    """First row, first column, last row, last column of `A1:C3` or `A1`; raises ValueError for anything else."""
    first, _, last = reference.partition(":")
    return (*place(first), *place(last or first))


def unescaped(text: str) -> str:
    """A stored text with the format's own `_x000D_` escapes turned back into their characters."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


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
        raise _damaged(package, part) from error


def _damaged(package: Package, part: str) -> InvalidInputError:
    return InvalidInputError(fault("workbook-damaged", file=package.shown, part=part))


def _shared_texts(package: Package, part: str) -> Iterator[str]:
    for element in package.xml(part):
        if local(element) == "si":
            yield unescaped(_rich(element))


def _rich(element: Element) -> str:
    """The text of a shared or inline string, its runs joined, reading aids (`rPh`) left out."""
    texts = []
    for child in element:
        if local(child) == "t":
            texts.append(child.text or "")
        elif local(child) == "r":
            texts += [one.text or "" for one in child if local(one) == "t"]
    return "".join(texts)


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
