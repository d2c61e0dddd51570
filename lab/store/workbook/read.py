"""Read what people send back: strict, all faults at once, each with its cell; whatever program wrote it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lab.errors import Fault, InvalidInputError, fault
from lab.messages import DASH
from lab.model.manifest import Manifest
from lab.store.workbook.content import SHEETS, SheetName, WorkbookContent
from lab.store.workbook.csv_rows import RowsOnly
from lab.store.workbook.formats import begin, opened
from lab.store.workbook.own_language import spoken
from lab.store.workbook.read_protocol import read_protocol
from lab.store.workbook.read_tables import TableReader
from lab.store.workbook.read_values import Setting
from lab.store.workbook.sheets import recognised

NEEDED: tuple[SheetName, ...] = ("protocol", "raw-results", "deliverables", "forfaits", "calendar")
_ROWS: tuple[SheetName, ...] = ("raw-results", "deliverables")


def read_workbook(path: Path, manifest: Manifest) -> WorkbookContent:
    """The workbook's content: xlsx (also Strict), xlsm or ods, by what the file is and not by its name.

    Sheets are found by their marker, name or headers, columns by their names, in any order. What is empty is absent;
    unknown sheets and columns are ignored. Text is read by the language that the workbook was made in, else the
    campaign's; local times in the protocol's zone.

    Raises:
        InvalidInputError: with every fault found; `file` is the workbook's name, `place` the cell (`protocol!B10`).
    """
    with _no_collection():
        return _read(path, path.name, manifest)


def _read(path: Path, file: str, manifest: Manifest) -> WorkbookContent:
    book = opened(path, file)
    if isinstance(book, RowsOnly):
        raise InvalidInputError(fault("workbook-other-format", file=file, found="CSV"))
    manifest, said = spoken(manifest, book, file)
    names = recognised(book, NEEDED)
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise InvalidInputError(
            *(fault("sheet-missing", file=file, place=name, found=", ".join(book.names) or DASH) for name in missing)
        )
    results = begin(book, names["raw-results"])
    sheets = {name: book.sheet(names[name]) for name in SHEETS if name in NEEDED and name != "raw-results"}
    faults: list[Fault] = []
    notices: list[Fault] = [*said]
    protocol, setting, fields = read_protocol(sheets["protocol"], manifest, file, faults, notices)
    reader = TableReader(manifest, setting, file, faults, notices)
    rows, cells = reader.attempts(results())
    deliverables = reader.deliverables(sheets["deliverables"])
    choices = reader.choices(sheets["forfaits"])
    expenses = reader.expenses(sheets["forfaits"])
    offers = reader.offers(sheets["forfaits"])
    calendar = reader.calendar(sheets["calendar"])
    if faults:
        raise InvalidInputError(*faults)
    return WorkbookContent(
        protocol, rows, cells, choices, offers, expenses, calendar, deliverables, tuple(notices), fields
    )  # fmt: skip


@contextmanager
def _no_collection() -> Iterator[None]:
    """No search for reference cycles meanwhile: reading makes none, and a million cells would be searched for them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_rows(path: Path, manifest: Manifest) -> WorkbookContent:
    """Only the rows of a file: attempts, and deliverables where it has them; a workbook, part of one, or a CSV.

    For what was written beside a workbook, for a workbook sent by mail, and for `raw-results.csv` (UTF-8, UTF-16 with
    its mark; comma, semicolon or tab between the cells; numbers in the campaign's language).

    Raises:
        InvalidInputError: with every fault found, also when the file has neither sheet.
    """
    file = path.name
    book = opened(path, file)
    manifest, said = spoken(manifest, book, file)
    names = recognised(book, _ROWS)
    if not names:
        raise InvalidInputError(
            fault("sheet-missing", file=file, place=_ROWS[0], found=", ".join(book.names) or DASH)
        )  # fmt: skip
    faults: list[Fault] = []
    notices: list[Fault] = [*said]
    reader = TableReader(manifest, Setting(manifest.language), file, faults, notices)
    content = WorkbookContent()
    if "raw-results" in names:
        rows, cells = reader.attempts(begin(book, names["raw-results"])())
        content = replace(content, rows=rows, cells=cells)
    if "deliverables" in names:
        content = replace(content, deliverables=reader.deliverables(book.sheet(names["deliverables"])))
    if faults:
        raise InvalidInputError(*faults)
    return replace(content, notices=tuple(notices))
