"""Bring what the tool computes in an existing workbook up to date, without a word of what people wrote.

Formulas keep their text and get the values they have now, so that a viewer that does not calculate shows right figures;
`summary`, the access windows, the lists behind drop-downs and the table of clock changes follow the manifest, the
protocol and the attempts. Every other part of the file keeps its bytes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lxml import etree

from lab.errors import Fault, fault
from lab.messages import messages
from lab.model.catalogue import PackageChoice
from lab.model.manifest import Manifest
from lab.store.files import read_bytes, replacing, sweep
from lab.store.workbook.book import Book, open_book
from lab.store.workbook.content import SheetName, WorkbookContent
from lab.store.workbook.generate import frame_of
from lab.store.workbook.lines import Figures, Line, Lines
from lab.store.workbook.lists import list_header, named_lists
from lab.store.workbook.locate import Located, locate
from lab.store.workbook.own_language import spoken
from lab.store.workbook.package import Package, local, package_of, parsed
from lab.store.workbook.page import Formula, row_height
from lab.store.workbook.patch import Patch
from lab.store.workbook.read import read_workbook
from lab.store.workbook.sheet import letters
from lab.store.workbook.sheets import recognised
from lab.store.workbook.tables import CHOICES, WINDOWS, Table
from lab.store.workbook.zip_copy import replaced, same_but

_SHEETS: tuple[SheetName, ...] = ("forfaits", "calendar", "summary", "dictionary")
_CHAIN = "calcChain"


@dataclass(frozen=True)
class Refreshed:
    """How many cells say something else than before, and what could not be brought up to date, and why."""

    cells: int
    faults: tuple[Fault, ...] = ()


class _UnsafeError(Exception):
    """The new file does not say what the old one said."""


def refresh(path: Path, content: WorkbookContent, manifest: Manifest, figures: Figures) -> Refreshed:
    """Write the tool's own cells anew where they say something else; the file is replaced whole or not at all.

    Args:
        path: the workbook.
        content: as it was just read from there.
        manifest: what is compared now.
        figures: what the tool decided.

    Raises:
        InvalidInputError: the workbook cannot be read.
        OutsideFailureError: the disk refused; the old file is whole.
    """
    old = read_bytes(path, path.name)
    package = package_of(old, path.name)
    book = open_book(package)
    manifest, _ = spoken(manifest, book, path.name)  # the reader has said it where it is another language
    work = _Work(book, path.name, Lines(content, frame_of(manifest), messages(manifest.language), figures))
    try:
        work.all()
        changed = sum(patch.changed for patch in work.patches.values())
        if not changed and work.main is None:
            return Refreshed(0, tuple(work.faults))
        new = work.packed()
        with replacing(path) as file:
            file.write(new)
            file.flush()
            _check(Path(file.name), content, manifest)
            _check_untouched(path, old)
        sweep(path)
    except (_UnsafeError, ValueError, TypeError, AttributeError, StopIteration):  # also addresses that are none
        return Refreshed(0, (fault("sync-not-shown-safe", file=path.name),))
    return Refreshed(changed, tuple(work.faults))


def _check(new: Path, content: WorkbookContent, manifest: Manifest) -> None:
    """Raise unless all that people and measurements declared reads back the same, and openpyxl opens the file."""
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings(action="ignore"):
            load_workbook(io.BytesIO(new.read_bytes()), read_only=True).close()
        again = read_workbook(new, manifest)
    except Exception as error:  # whatever another reader stumbles over, the old file stays
        raise _UnsafeError from error
    known = {one.variant for one in content.choices}
    kept = replace(again, choices=tuple(one for one in again.choices if one.variant in known))
    names = ("protocol", "rows", "choices", "offers", "expenses", "calendar", "deliverables")
    if any(getattr(kept, name) != getattr(content, name) for name in names):
        raise _UnsafeError


def _check_untouched(path: Path, old: bytes) -> None:
    if path.read_bytes() != old:
        raise _UnsafeError


@dataclass
class _Work:
    """The edits of one workbook."""

    book: Book
    shown: str
    lines: Lines
    patches: dict[str, Patch] = field(default_factory=dict)  # part -> its edits
    faults: list[Fault] = field(default_factory=list)
    main: bytes | None = None  # the main part with changed names of ranges

    def all(self) -> None:
        """Every sheet that the tool computes in, where it is and is laid out as the tool makes it."""
        sheets = recognised(self.book, _SHEETS)
        absent = [name for name in _SHEETS if name not in sheets]
        self.faults += [fault("sync-sheet-missing", file=self.shown, place=name) for name in absent]
        if "forfaits" in sheets:
            self._choices(sheets["forfaits"])
        if "calendar" in sheets:
            self._windows(sheets["calendar"])
        if "summary" in sheets:
            self._summary(sheets["summary"])
        if "dictionary" in sheets:
            self._lists(sheets["dictionary"])

    def packed(self) -> bytes:
        """The whole file: every other entry byte for byte as it lies there."""
        parts = {part: patch.data() for part, patch in self.patches.items() if patch.changed}
        package = self.book.package
        if self.main is not None:
            parts[package.main] = self.main
        gone = _chain(package) if any(patch.formulas_moved for patch in self.patches.values()) else None
        if gone is not None:
            parts.update(_without(package, gone))
        without = () if gone is None else (gone,)
        new = replaced(package, parts, without)
        if not same_but(package, package_of(new, self.shown), parts, without):
            raise _UnsafeError
        return new

    def _found(self, name: str, table: Table) -> tuple[Located, Patch] | None:
        sheet = self.book.sheet(name)
        wrong: list[Fault] = []
        located = locate(sheet, table, self.shown, wrong)
        if located is None:
            self.faults.append(fault("sync-sheet-changed", file=self.shown, place=name))
            return None
        return located, self.patches.setdefault(sheet.part, Patch(self.book.package, sheet.part))

    def _choices(self, name: str) -> None:
        """The computed cells of each line; new variants take lines that are ready or that nobody needs any more."""
        found = self._found(name, CHOICES)
        if found is None:
            return
        located, patch = found
        standing, ready = self._standing(located, patch)
        written = {one.variant for one in standing.values()} | _typed(located)
        missing = [one for one in self.lines.choices() if one.variant not in written]
        if len(missing) > len(ready):
            self._no_room(name, [one.variant for one in missing[len(ready) :]])
        taken = dict(zip(ready, missing, strict=False))
        for row in (*standing, *ready):
            line = self.lines.choice(standing.get(row) or taken.get(row), row, located.columns["variant"])
            if row in ready:
                for column in ("variant", "gpu"):
                    self._put(located, patch, row, column, line.get(column))
            self._show(located, patch, row, line)

    def _standing(self, located: Located, patch: Patch) -> tuple[dict[int, PackageChoice], list[int]]:
        """The lines with a formula: those of a choice, and those that are free."""
        choices = {one.variant: one for one in self.lines.choices()}
        standing: dict[int, PackageChoice] = {}
        ready = []
        for row in _formula_rows(located, patch, "committed"):
            cell = located.sheet.cell(row, located.columns["variant"])
            held = "" if cell is None else str(cell.value).strip()
            if held in choices and choices[held] not in standing.values():
                standing[row] = choices[held]
            elif not held or (held not in choices and not _chosen(located, row)):
                ready.append(row)
        return standing, ready

    def _show(self, located: Located, patch: Patch, row: int, line: Line) -> None:
        for column, value in line.items():
            if isinstance(value, Formula) and column in located.columns:
                patch.show(row, located.columns[column], value.value)

    def _put(self, located: Located, patch: Patch, row: int, column: str, value: object) -> None:
        """Write a cell of the tool's own, unless it holds that value already."""
        at = located.columns[column]
        held = located.sheet.cell(row, at)
        formula = patch.has_formula(row, at)
        if isinstance(value, Formula) or formula or (None if held is None else held.value) != value:
            patch.put(row, at, value, self.lines.words.text("cell.cut"), like=located.header + 1)

    def _windows(self, name: str) -> None:
        found = self._found(name, WINDOWS)
        if found is None:
            return
        located, patch = found
        rows = _formula_rows(located, patch, "window_hours")
        names = [variant for variant, _ in self.lines.frame.variants]
        if len(names) > len(rows):
            self._no_room(name, names[len(rows) :])
        for row, variant in zip(rows, [*names, *[None] * len(rows)], strict=False):
            line = self.lines.window(variant, row, located.columns["window_variant"])
            self._put(located, patch, row, "window_variant", variant)
            self._show(located, patch, row, line)

    def _summary(self, name: str) -> None:
        """Line by line as the manifest orders them; formulas that an earlier figure of the tool replaced come back."""
        table = self.lines.summary_table
        found = self._found(name, table)
        if found is None:
            return
        located, patch = found
        if [located.columns.get(one) for one in table.names] != list(range(1, len(table.names) + 1)):
            self.faults.append(fault("sync-sheet-changed", file=self.shown, place=name))
            return
        rows = _formula_rows(located, patch, "attempts", "accepted_attempts", "failed_attempts")
        groups = self.lines.groups()
        if len(groups) > len(rows):
            self._no_room(name, [one.variant for one in groups[len(rows) :]])
        self._print(name, located.header, rows[: max(1, len(groups))])
        for row, group in zip(rows, [*groups, *[None] * len(rows)], strict=False):
            line = self.lines.summary(group, row, table)
            for column in table.names:
                self._put(located, patch, row, column, line.get(column))
            patch.height(row, row_height(table, line, {one.name: one.width for one in table.columns}))

    def _print(self, name: str, header: int, rows: Sequence[int]) -> None:
        """What prints of `summary` ends with its last line that says something."""

        def meant(one: str, text: str) -> str:
            own = one == "_xlnm.Print_Area" and all(part.split("!")[0].strip("'") == name for part in text.split(","))
            if not own or not rows:
                return text
            return re.sub(r"(:\$[A-Z]+\$)\d+", lambda found: f"{found[1]}{max(header + 1, rows[-1])}", text)

        self._name(meant)

    def _lists(self, name: str) -> None:
        """The lists' columns, found by their headers, and the ranges of their names."""
        lists = named_lists(self.lines.content, self.lines.frame, self.lines.words)
        sheet = self.book.sheet(name)
        headers = {list_header(one): one for one in lists}
        best: tuple[int, dict[str, int]] = (0, {})
        for row, cells in sheet.rows.items():
            here = {headers[str(cell.value)]: at for at, cell in cells.items() if str(cell.value) in headers}
            if len(here) > len(best[1]):
                best = row, here
        header, columns = best
        if len(columns) < len(lists):
            self.faults.append(fault("sync-sheet-changed", file=self.shown, place=name))
            return
        patch = self.patches.setdefault(sheet.part, Patch(self.book.package, sheet.part))
        ranges = {}
        for one, values in lists.items():
            column = columns[one]
            end = max([header, *(row for row, cells in sheet.rows.items() if column in cells)])
            for place in range(max(len(values), end - header)):
                value = values[place] if place < len(values) else None
                held = sheet.cell(header + 1 + place, column)
                if (None if held is None else held.value) != value:
                    patch.put(header + 1 + place, column, value, "", like=header + 1)
            last = header + max(1, len(values))
            ranges[one] = f"${letters(column)}${header + 1}:${letters(column)}${last}"
        # The sheet stays the one that a name points to already.
        self._name(lambda one, text: re.sub(r"(?<=!)[^!]*$", ranges[one], text) if one in ranges else text)

    def _name(self, meant: Callable[[str, str], str]) -> None:
        """Let names mean other ranges: `meant` takes a name and its range, and gives the range that it has now."""
        package = self.book.package
        root = package.xml(package.main) if self.main is None else parsed(self.main, self.shown, package.main)
        changed = False
        for element in root.iter():
            if local(element) == "definedName" and element.text:
                text = meant(element.get("name") or "", element.text)
                changed = changed or text != element.text
                element.text = text
        if changed:
            self.main = bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))

    def _no_room(self, name: str, variants: Sequence[str]) -> None:
        names = list(dict.fromkeys(variants))
        self.faults.append(fault("sync-no-room", file=self.shown, place=name, variants=names))


def _formula_rows(located: Located, patch: Patch, *columns: str) -> list[int]:
    """The lines that are made for the tool's figures: those with a formula in one of the columns."""
    at = [located.columns[one] for one in columns if one in located.columns]
    rows = range(located.header + 1, located.last + 1)
    return [row for row in rows if any(patch.has_formula(row, column) for column in at)]


def _chosen(located: Located, row: int) -> bool:
    columns = [located.columns[one] for one in ("days", "lots", "rental_reference") if one in located.columns]
    return any(located.sheet.cell(row, column) is not None for column in columns)


def _typed(located: Located) -> set[str]:
    """Every variant that stands in the table, also in a line that somebody added below it."""
    column = located.columns["variant"]
    cells = [located.sheet.cell(row, column) for row in located.rows()]
    return {str(cell.value).strip() for cell in cells if cell is not None}


def _chain(package: Package) -> str | None:
    """The part that holds the order of calculations, which every program builds again."""
    chain = next((part for kind, part in package.related(package.main).values() if kind == _CHAIN), None)
    return chain if chain is not None and package.has(chain) else None


def _without(package: Package, chain: str) -> dict[str, bytes]:
    """The parts that change when the order of calculations is taken out."""
    changed: dict[str, bytes] = {}
    for part in ("[Content_Types].xml", *_relations(package)):
        root = package.xml(part)
        for element in list(root):
            named = element.get("PartName") or element.get("Target") or ""
            if named.rsplit("/", 1)[-1] == chain.rsplit("/", 1)[-1]:
                root.remove(element)
        changed[part] = bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))
    return changed


def _relations(package: Package) -> Iterator[str]:
    folder, _, base = package.main.rpartition("/")
    yield f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels"
