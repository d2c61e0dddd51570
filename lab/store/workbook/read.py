"""Read what people send back: strict, all faults at once, each with its cell."""

from __future__ import annotations

from pathlib import Path

from lab.errors import Fault, InvalidInputError, fault
from lab.messages import DASH
from lab.model.manifest import Manifest
from lab.store.workbook.content import SHEETS, SheetName, WorkbookContent
from lab.store.workbook.package import open_package
from lab.store.workbook.read_protocol import read_protocol
from lab.store.workbook.read_tables import TableReader
from lab.store.workbook.sheet import Sheet, open_book

NEEDED: tuple[SheetName, ...] = ("protocol", "raw-results", "deliverables", "forfaits", "calendar")


def read_workbook(path: Path, manifest: Manifest) -> WorkbookContent:
    """The workbook's content; xlsx and xlsm, saved by Excel or LibreOffice, sheets and columns in any order.

    What is empty is absent; unknown sheets and columns are ignored. Text is read by the campaign's language, local
    times in the protocol's zone.

    Raises:
        InvalidInputError: with every fault found; `file` is the workbook's name, `place` the cell (`protocol!B10`).
    """
    file = path.name
    book = open_book(open_package(path, file))
    missing = [name for name in NEEDED if name not in book.parts]
    if missing:
        raise InvalidInputError(
            *(fault("sheet-missing", file=file, place=name, found=", ".join(book.parts) or DASH) for name in missing)
        )
    sheets: dict[SheetName, Sheet] = {name: book.sheet(name) for name in SHEETS if name in NEEDED}
    faults: list[Fault] = []
    notices: list[Fault] = []
    protocol, setting, fields = read_protocol(sheets["protocol"], manifest, file, faults, notices)
    reader = TableReader(manifest, setting, file, faults, notices)
    rows, cells = reader.attempts(sheets["raw-results"])
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
