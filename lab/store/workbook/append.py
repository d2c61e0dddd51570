"""Add to a person's workbook without harming it (the product's method, sections 4 and 11).

Only the part of the sheet changes (and, where needed, the range of its table and the recalculation mark); every other
part keeps its bytes. The new file is checked before it takes the old one's name, the old one stays as a backup. Where
any of this cannot be had, the workbook is left alone and the rows go to a file beside it.
"""

from __future__ import annotations

import math
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import Fault, InvalidInputError, OutsideFailureError, fault
from lab.messages import messages
from lab.model.attempt import Attempt
from lab.model.catalogue import Deliverable
from lab.store.files import read_bytes, reading, replacing, sweep, write_atomically
from lab.store.workbook.book import open_book
from lab.store.workbook.cell_text import fitted
from lab.store.workbook.cells import CellError, boolean, is_blank
from lab.store.workbook.content import AppendResult, SheetName, WorkbookContent
from lab.store.workbook.generate import workbook_bytes
from lab.store.workbook.own_language import language_of
from lab.store.workbook.package import Package, is_whole, package_of
from lab.store.workbook.page import Frame
from lab.store.workbook.part_rows import PartRows
from lab.store.workbook.recalculation import asking
from lab.store.workbook.sheet import Cell
from lab.store.workbook.sheet_edit import DIMENSION, Scalar, SheetEdit, UnsafeLayoutError, edit
from lab.store.workbook.sheets import recognised
from lab.store.workbook.tables import DELIVERABLES, RESULTS, Table
from lab.store.workbook.which import NEW_ROWS, backup_of
from lab.store.workbook.zip_copy import replaced, same_but

Values = Mapping[str, Scalar]
_NO_PERMISSION = {"no-permission", "disk-read-only"}


@dataclass(frozen=True)
class _Job:
    """What is to be written where: the workbook, the table, and the same rows as the file beside it would hold them."""

    path: Path
    table: Table
    content: WorkbookContent | None
    language: str
    notices: tuple[Fault, ...]


class _ChangedError(Exception):
    """The file is no longer the one that was read, or the new one is not what was meant."""


def append_attempts(path: Path, attempts: Sequence[Attempt], language: str) -> AppendResult:
    """Add a row per attempt to `raw-results`; an attempt that has its row already is passed over.

    Args:
        path: the workbook.
        attempts: the rows, in order.
        language: the campaign's, for words that go into cells.

    Raises:
        OutsideFailureError: neither the workbook nor a file beside it can be written.
    """
    rows, notices = _cells_of([asdict(attempt) for attempt in attempts], path, language, "attempt_id")

    def change(editing: SheetEdit) -> None:
        known = editing.rows_by("attempt_id")
        editing.append([row for row in rows if row["attempt_id"] not in known])

    return _changed(_Job(path, RESULTS, WorkbookContent(rows=tuple(attempts)), language, notices), change)


def update_judged(path: Path, rows: Mapping[str, Mapping[str, object]], language: str) -> AppendResult:
    """Rewrite judged cells of rows that exist: attempt id -> column -> value; cells that hold it already stay.

    A workbook that cannot be changed safely is left alone; the result says why.

    Raises:
        ValueError: a column that people or the measurement own.
        OutsideFailureError: the system refused for another reason than a file that is open or read-only.
    """
    owned = {column.name for column in RESULTS.columns if column.filler == "tool"}
    foreign = {name for values in rows.values() for name in values} - owned
    if foreign:
        raise ValueError(sorted(foreign))
    language = language_of(path, language)
    wanted, notices = _cells_of(
        [{"attempt_id": name, **values} for name, values in rows.items()], path, language, "attempt_id"
    )

    def change(editing: SheetEdit) -> None:
        known = editing.rows_by("attempt_id")
        for values in wanted:
            row = known.get(str(values["attempt_id"]))
            if row is None:
                continue
            for name, value in values.items():
                if not _holds(editing.cell(row, name), value, language):
                    editing.update(row, name, value)

    return _changed(_Job(path, RESULTS, None, language, notices), change)


def append_deliverables(path: Path, deliverables: Sequence[Deliverable], language: str) -> AppendResult:
    """Add a row per deliverable to the `deliverables` sheet; yes and no in the workbook's own language, else this one.

    Raises:
        OutsideFailureError: neither the workbook nor a file beside it can be written.
    """
    language = language_of(path, language)
    words = messages(language)
    stated = [
        {
            **asdict(one),
            "accepted": None if one.accepted is None else words.text("word.yes" if one.accepted else "word.no"),
        }
        for one in deliverables
    ]
    rows, notices = _cells_of(stated, path, language, "deliverable")
    content = WorkbookContent(deliverables=tuple(deliverables))
    return _changed(_Job(path, DELIVERABLES, content, language, notices), lambda editing: editing.append(rows))


def _cells_of(
    rows: Sequence[Mapping[str, object]], path: Path, language: str, key: str
) -> tuple[list[dict[str, Scalar]], tuple[Fault, ...]]:
    """Rows as cells hold them: text no longer than a cell takes, each cut one told."""
    mark = messages(language).text("cell.cut")
    made: list[dict[str, Scalar]] = []
    notices = []
    for row in rows:
        cells: dict[str, Scalar] = {}
        for name, value in row.items():
            if isinstance(value, str):
                cells[name], cut = fitted(value, mark)
                if cut:
                    notices.append(
                        fault("cell-text-cut", file=path.name, column=name, row=str(row[key]), size=len(value))
                    )
            elif isinstance(value, float) and not math.isfinite(value):
                cells[name] = None  # NaN is no measure; its reason is in missing_reason
            elif value is None or isinstance(value, bool | int | float):
                cells[name] = value
        made.append(cells)
    return made, tuple(notices)


def _holds(cell: Cell | None, value: Scalar, language: str) -> bool:
    if value is None or cell is None or is_blank(cell):
        return value is None and (cell is None or is_blank(cell))
    if isinstance(value, bool):
        try:
            return boolean(cell, language=language) == value
        except CellError:
            return False
    return cell.stored in {"text", "number"} and cell.value == value


def _changed(job: _Job, change: Callable[[SheetEdit], None]) -> AppendResult:
    """Edit the workbook, or write the rows to a file beside it and say why."""
    path = job.path
    try:
        why = obstacle(path)
        if why is None:
            _edit_in_place(path, job.table, change)
            return AppendResult(path, None, job.notices)
    except UnsafeLayoutError as error:
        why = fault(error.slug, file=path.name, place=error.at)
    except _ChangedError:
        why = fault("append-not-shown-safe", file=path.name)
    except InvalidInputError as error:
        why = error.faults[0]
    except OutsideFailureError as error:
        if error.faults[0].slug not in _NO_PERMISSION:
            raise
        why = fault("workbook-locked", file=path.name)
    if job.content is None:  # nothing new to keep: verdicts are recomputed whenever they are asked for
        return AppendResult(path, why, job.notices)
    return AppendResult(_beside(path, job.table.sheet, job.content, job.language), why, job.notices)


def obstacle(path: Path) -> Fault | None:
    """What speaks against touching the file at all: open elsewhere, a link, read-only, with macros."""
    if (why := open_elsewhere(path)) is not None:
        return why
    if path.is_symlink():  # a new file in its place would leave the one it leads to behind, and those who share it
        return fault("workbook-is-a-link", file=path.name, target=str(path.readlink()))
    if path.suffix.lower() != ".xlsx":
        return fault("workbook-not-xlsx", file=path.name)
    with reading(path, path.name):
        if not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            return fault("workbook-read-only", file=path.name)
    return None


def open_elsewhere(path: Path) -> Fault | None:
    """A fault while a spreadsheet program holds the file open, by the lock files of Excel and LibreOffice."""
    locks = (path.with_name(f"~${path.name}"), path.with_name(f".~lock.{path.name}#"))
    return fault("workbook-locked", file=path.name) if any(lock.exists() for lock in locks) else None


def _edit_in_place(path: Path, table: Table, change: Callable[[SheetEdit], None]) -> None:
    old = read_bytes(path, path.name)
    package = package_of(old, path.name)
    if any(
        name.startswith("_xmlsignatures/") or name.endswith("vbaProject.bin") for name in package.archive.namelist()
    ):
        raise UnsafeLayoutError("append-signed-or-macros", path.name)
    try:
        book = open_book(package)
        editing = edit(book, table, recognised(book, [table.sheet]).get(table.sheet))
        change(editing)
        if not editing.written:
            return
        parts = editing.parts()
        calculating = asking(package)
        if calculating is not None:
            parts[package.main] = calculating
        new = replaced(package, parts)
    except (ValueError, TypeError, AttributeError, IndexError) as error:  # a range or an address that is none
        raise _ChangedError from error
    with replacing(path) as file:
        file.write(new)
        file.flush()
        _check(Path(file.name).read_bytes(), package, editing, parts)
        if path.read_bytes() != old:
            raise _ChangedError
        backup = backup_of(path)
        write_atomically(backup, old)
    for one in (path, backup):
        sweep(one)


def _check(new: bytes, old: Package, editing: SheetEdit, parts: Mapping[str, bytes]) -> None:
    """Reopen what was written: other parts and other rows byte for byte, written cells there, every part whole XML."""
    try:
        package = package_of(new, old.shown)
        whole = same_but(old, package, parts) and all(is_whole(data) for data in parts.values())
        after = PartRows(editing.book, editing.sheet_part, parts[editing.sheet_part], sorted(editing.written))
        if not whole or _rest(editing.rows, editing.written) != _rest(after, editing.written):
            raise _ChangedError
        for row, values in editing.written.items():
            meant = _stored(editing.rows, row)
            for column, value in values.items():
                meant.pop(column, None)
                if value is not None:
                    stored = "boolean" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
                    meant[column] = (stored, value)
            if _stored(after, row) != meant:
                raise _ChangedError
    except (ValueError, InvalidInputError) as error:
        raise _ChangedError from error


def _rest(rows: PartRows, written: Iterable[int]) -> bytes:
    """A part without the rows that were written and without its stated extent: what must be as it was."""
    begin = DIMENSION.sub(b"", rows.data[: rows.start])
    pieces, at = [begin], rows.start
    for number in sorted(written):
        if rows.has(number):
            first, last = rows.piece(number)
            pieces.append(rows.data[at:first])
            at = last
    return b"".join([*pieces, rows.data[at:]])


def _stored(rows: PartRows, row: int) -> dict[int, tuple[str, object]]:
    return {column: (cell.stored, cell.value) for column, cell in rows.get(row, {}).items()}


def _beside(path: Path, sheet: SheetName, content: WorkbookContent, language: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
    stamps = (stamp, *(f"{stamp}-{number}" for number in range(2, 1000)))
    names = (NEW_ROWS.format(stem=path.stem, stamp=one) for one in stamps)
    target = next(found for name in names if not (found := path.with_name(name)).exists())
    frame = Frame(language, None, (), (), (), (), own_metrics=False)
    write_atomically(target, workbook_bytes(content, frame, only=(sheet,)))
    return target
