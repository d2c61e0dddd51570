"""A workbook saved as OpenDocument (.ods): the same cells as in the other format, in other words.

OpenDocument 1.3, part 3: section 9 (tables) and 19.385 (office:value-type); `calcext:value-type` is LibreOffice's mark
of an error cell. Repeated cells are written once with a count, so that a small file can state billions: counts are
bounded before anything is expanded.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lxml import etree

from lab.store.workbook.package import MOST_CELLS, Element, local, parsed, part_of, refused
from lab.store.workbook.sheet import Cell, Sheet

_CONTENT, _META = "content.xml", "meta.xml"
_DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001  (a sheet knows no zone)
_WIDEST = 16_384
_TIME = re.compile(r"(-?)P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?")
_REFERS = re.compile(r"\$?(?:'((?:[^']|'')+)'|([^'.]+))\.\$?[A-Z]+\$?[0-9]+.*")


@dataclass(frozen=True)
class OpenDocument:
    """The sheets of an OpenDocument file, what its defined names point into, and its own properties by their names."""

    sheets: Mapping[str, Sheet]
    pointers: Mapping[str, str]
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sheets, in order."""
        return tuple(self.sheets)

    def sheet(self, name: str) -> Sheet:
        """One sheet; KeyError for any other."""
        return self.sheets[name]


def open_document(archive: zipfile.ZipFile, shown: str) -> OpenDocument:
    """Read all sheets of an OpenDocument file.

    Raises:
        InvalidInputError: encrypted, damaged, no spreadsheet, or larger than can be held.
    """
    if "META-INF/manifest.xml" in archive.NameToInfo:
        manifest = part_of(archive, "META-INF/manifest.xml", shown)
        if b":encryption-data" in manifest:
            raise refused(shown, "workbook-encrypted", found=_CONTENT)
    try:
        book = _read(part_of(archive, _CONTENT, shown), shown)
        return replace(book, properties=_properties(archive, shown))
    except (etree.XMLSyntaxError, ValueError, OverflowError) as error:
        slug = "workbook-entities" if "entit" in str(error).lower() else "workbook-damaged"
        raise refused(shown, slug, part=_CONTENT) from error


def _properties(archive: zipfile.ZipFile, shown: str) -> dict[str, str]:
    """The properties that are the document's own (OpenDocument 1.3, part 3, 4.3.3.10: meta:user-defined)."""
    if _META not in archive.NameToInfo:
        return {}
    root = parsed(part_of(archive, _META, shown), shown, _META)
    own = (one for one in root.iter() if local(one) == "user-defined")
    return {_get(one, "name") or "": "".join(one.itertext()).strip() for one in own}


@dataclass
class _Filling:
    """A sheet while its rows are read."""

    name: str
    shown: str
    next: int = 1
    held: int = 0
    rows: dict[int, dict[int, Cell]] = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)

    def take(self, row: Element) -> None:
        """Add one `table-row`, as often as it says it is repeated."""
        times = int(_get(row, "number-rows-repeated") or 1)
        cells = list(self._cells(row))
        if cells:
            self.held += times * len(cells)
            if self.held > MOST_CELLS:
                raise refused(self.shown, "workbook-expands", size=self.held, limit=MOST_CELLS)
            for number in range(self.next, self.next + times):
                self.rows[number] = {
                    cell.column: Cell(number, cell.column, cell.stored, cell.value, cell.percent) for cell in cells
                }
                if _get(row, "visibility") in {"collapse", "filter"}:
                    self.hidden.add(number)
        self.next += times

    def _cells(self, row: Element) -> Iterator[Cell]:
        column = 1
        for element in row:
            if local(element) not in {"table-cell", "covered-table-cell"}:
                continue
            times = int(_get(element, "number-columns-repeated") or 1)
            down, across = (int(_get(element, f"number-{way}-spanned") or 1) for way in ("rows", "columns"))
            if down > 1 or across > 1:
                self.merged.append((self.next, column, self.next + down - 1, column + across - 1))
            cell = _cell(element, self.next, column)
            if cell is not None:
                for at in range(column, min(column + times, _WIDEST + 1)):
                    yield Cell(cell.row, at, cell.stored, cell.value, cell.percent)
            column += times

    def sheet(self) -> Sheet:
        """The sheet as it was read."""
        return Sheet(self.name, _CONTENT, self.rows, tuple(self.merged), frozenset(self.hidden))


def _read(data: bytes, shown: str) -> OpenDocument:
    sheets: dict[str, Sheet] = {}
    pointers: dict[str, str] = {}
    filling: _Filling | None = None
    depth = 0  # a table can stand within a cell of another
    reader = etree.iterparse(
        io.BytesIO(data), events=("start", "end"), tag=("{*}table", "{*}table-row", "{*}named-range", "{*}spreadsheet"),
        resolve_entities=False, no_network=True, load_dtd=False,
    )  # fmt: skip
    spreadsheet = False
    for event, element in reader:
        name = local(element)
        if element.getroottree().docinfo.doctype:
            raise refused(shown, "workbook-entities", part=_CONTENT)
        spreadsheet = spreadsheet or name == "spreadsheet"
        if name == "table":
            depth += 1 if event == "start" else -1
            if event == "start" and depth == 1:
                filling = _Filling(_get(element, "name") or "", shown)
            elif event == "end" and depth == 0 and filling is not None:
                sheets[filling.name] = filling.sheet()
                element.clear()
        elif event == "end" and name == "table-row" and depth == 1 and filling is not None:
            filling.take(element)
            element.clear()
        elif event == "end" and name == "named-range" and depth == 0:
            found = _REFERS.fullmatch(_get(element, "cell-range-address") or "")
            if found:
                pointers[_get(element, "name") or ""] = (found[1] or "").replace("''", "'") or found[2]
    if not spreadsheet:
        raise refused(shown, "workbook-no-workbook")
    return OpenDocument(sheets, pointers)


def _cell(element: Element, row: int, column: int) -> Cell | None:
    kind, found = _get(element, "value-type"), None
    if _foreign(element, "value-type") == "error":
        found = Cell(row, column, "error", _text(element))
    elif kind in {"float", "currency", "percentage"}:
        raw = _get(element, "value") or ""
        value = float(raw) if set(raw) & set(".eEnN") else int(raw)
        found = Cell(row, column, "number", value, kind == "percentage")
    elif kind == "boolean":
        found = Cell(row, column, "boolean", _get(element, "boolean-value") == "true")
    elif kind == "date":
        moment = datetime.fromisoformat(_get(element, "date-value") or "")
        found = Cell(row, column, "date", moment.replace(tzinfo=None, microsecond=0))
    elif kind == "time":
        found = Cell(row, column, "date", _DAY_ZERO + _duration(_get(element, "time-value") or ""))
    else:
        typed = _get(element, "string-value") or _text(element)
        if typed or kind == "string":
            found = Cell(row, column, "text", typed)
        elif _get(element, "formula") is not None:
            found = Cell(row, column, "uncalculated", None)
    return None if found is not None and found.stored == "text" and found.value == "" else found


def _duration(stated: str) -> timedelta:
    found = _TIME.fullmatch(stated)
    if not found:
        raise ValueError(stated)
    days, hours, minutes = (int(found[at] or 0) for at in (2, 3, 4))
    length = timedelta(days=days, hours=hours, minutes=minutes, seconds=round(float(found[5] or 0)))
    return -length if found[1] else length


def _text(element: Element) -> str:
    """The paragraphs of a cell, one a line; a comment on the cell is no part of it."""
    return "\n".join("".join(_pieces(one)) for one in element if local(one) == "p")


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local(child)
        if name == "s":
            yield " " * min(int(_get(child, "c") or 1), _WIDEST)
        elif name in {"tab", "line-break"}:
            yield "\t" if name == "tab" else "\n"
        elif name != "annotation":
            yield from _pieces(child)
        yield child.tail or ""


def _get(element: Element, name: str) -> str | None:
    """An attribute by its own name, LibreOffice's extensions left aside."""
    for key, value in element.attrib.items():
        if key.rsplit("}", 1)[-1] == name and "calc:ext" not in key and "tableooo" not in key:
            return str(value)
    return None


def _foreign(element: Element, name: str) -> str | None:
    return next(
        (str(value) for key, value in element.attrib.items() if key.endswith("}" + name) and "ext" in key), None
    )
