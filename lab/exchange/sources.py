"""What a campaign measured elsewhere brings along: its seal, attempts, environments, and the rows of its workbook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from lab.errors import Fault, InvalidInputError, fault
from lab.measure.lock import is_running
from lab.messages import DASH
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Seal
from lab.model.manifest import Manifest
from lab.model.moments import in_zone
from lab.store.attempts import ATTEMPTS, read_records
from lab.store.environments import ENVIRONMENTS, read_environments
from lab.store.seal import SEAL, stated_seal
from lab.store.workbook import campaign_workbook, read_workbook
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.read import read_rows

_Read = TypeVar("_Read")
_NO_ROWS = WorkbookContent()


@dataclass(frozen=True)
class Source:
    """One folder or workbook that is merged.

    Attributes:
        shown: its path as it was typed, for messages.
        book: the path of its workbook, as it was typed.
        records: attempt id -> record, of the attempts that have ended.
        homes: attempt id -> its folder.
        unfinished: ids of attempts that have not ended there.
        environments: fingerprint -> file.
        rows: attempt id -> row of the workbook.
        cells: (attempt id, column) -> address of the cell.
    """

    shown: str
    book: str
    records: Mapping[str, Record] = field(default_factory=dict)
    homes: Mapping[str, Path] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()
    environments: Mapping[str, Path] = field(default_factory=dict)
    rows: Mapping[str, Attempt] = field(default_factory=dict)
    cells: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def at(self, attempt_id: str, column: str = "attempt_id") -> str:
        """Where an attempt stands: its folder, or its cell."""
        if attempt_id in self.homes:
            return str(Path(self.shown, ATTEMPTS, attempt_id))
        return self.at_cell(attempt_id, column)

    def at_cell(self, attempt_id: str, column: str) -> str:
        """The workbook and the cell of one column of an attempt's row."""
        return f"{self.book}, {self.cells.get((attempt_id, column), 'raw-results')}"


def read_source(path: Path, manifest: Manifest, seal: Seal) -> Source:
    """Read a campaign folder, or a workbook that was sent by mail.

    Args:
        path: the folder or file.
        manifest: the campaign's own; the same seal stands for the same manifest.
        seal: the campaign's own.

    Raises:
        InvalidInputError: it is not there, cannot be read, or was sealed otherwise; every fault at once.
    """
    return _read_folder(path, manifest, seal) if path.is_dir() else _read_sent(path, manifest, seal)


def _read_folder(path: Path, manifest: Manifest, seal: Seal) -> Source:
    shown = str(path)
    theirs = stated_seal(path)
    if theirs is None:
        raise InvalidInputError(fault("merge-without-seal", file=str(path / SEAL), ours=seal.fingerprint))
    if theirs.fingerprint != seal.fingerprint:
        found = {
            "ours": seal.fingerprint,
            "sealed_at": in_zone(seal.sealed_at, seal.time_zone),
            "found": theirs.fingerprint,
        }
        raise InvalidInputError(fault("merge-other-seal", file=shown, place=SEAL, **found))
    if is_running(path):
        raise InvalidInputError(fault("merge-source-runs", file=shown))
    faults: list[Fault] = []
    records = _attempted(lambda: read_records(path), path, faults) or ()
    environments = _attempted(lambda: read_environments(path), path, faults) or {}
    book = path
    try:
        book = campaign_workbook(path)
    except InvalidInputError as error:
        faults += error.faults  # of the folder itself
    content = (_attempted(lambda: read_workbook(book, manifest), path, faults) if book.is_file() else None) or _NO_ROWS
    ended = {one.attempt.attempt_id: one for one in records if one.attempt.outcome is not None}
    source = Source(
        shown=shown,
        book=str(book),
        records=ended,
        homes={name: path / ATTEMPTS / name for name in ended},
        unfinished=tuple(one.attempt.attempt_id for one in records if one.attempt.outcome is None),
        environments={name: path / ENVIRONMENTS / f"{name}.json" for name in environments},
        rows={row.attempt_id: row for row in content.rows},
        cells=content.cells,
    )
    faults += _foreign(source, seal)
    if faults:
        raise InvalidInputError(*faults)
    return source


def _read_sent(path: Path, manifest: Manifest, seal: Seal) -> Source:
    shown = str(path)
    try:
        content = read_rows(path, manifest)
    except InvalidInputError as error:
        raise InvalidInputError(*_within(error, path.parent)) from None
    found = Source(shown, shown, rows={row.attempt_id: row for row in content.rows}, cells=content.cells)
    if faults := _foreign(found, seal):
        raise InvalidInputError(*faults)
    return found


def _attempted(read: Callable[[], _Read], folder: Path, faults: list[Fault]) -> _Read | None:
    """What `read` gives, or None after its faults were added: the other parts are read all the same."""
    try:
        return read()
    except InvalidInputError as error:
        faults += _within(error, folder)
        return None


def _within(error: InvalidInputError, folder: Path) -> list[Fault]:
    """The faults of a source, each file with the folder it is in."""
    return [
        fault(one.slug, file=str(folder / one.file) if one.file else str(folder), place=one.place, **one.values)
        for one in error.faults
    ]


def _foreign(source: Source, seal: Seal) -> list[Fault]:
    """A fault for all attempts and rows that were started under another seal: the first of them, and how many."""
    known = {seal.fingerprint, *(one.fingerprint for one in seal.amendments)}
    rows = [row for name, row in source.rows.items() if name not in source.records]
    other = [one for one in (*(record.attempt for record in source.records.values()), *rows) if one.seal not in known]
    if not other:
        return []
    first = other[0]
    place = source.at(first.attempt_id, "seal")
    name, found = first.attempt_id, first.seal or DASH
    return [fault("merge-attempt-other-seal", file=place, ours=seal.fingerprint, found=found, id=name, n=len(other))]
