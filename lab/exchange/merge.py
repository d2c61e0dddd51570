"""`lab merge`: the attempts of a campaign that was measured on several machines, joined in one folder.

The same attempt twice is the same attempt. The same name with another content is a conflict that a person resolves:
nothing is taken in then. What is taken in comes whole or not at all (`lab.store.intake`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.errors import CheckFoundError, Fault, InvalidInputError, UsageProblemError, fault
from lab.exchange.sources import Source, read_source
from lab.exchange.sync import Synced, complete, own_manifest
from lab.measure.lock import run_lock
from lab.model.attempt import COLUMNS, Attempt, Record
from lab.store.attempt_json import to_json
from lab.store.attempts import ATTEMPTS, PREDICTIONS, read_records
from lab.store.canonical import canonical_json
from lab.store.environments import read_environments
from lab.store.files import sha256_file
from lab.store.intake import finish_intake, take_in
from lab.store.join import join
from lab.store.seal import SEAL, stated_seal
from lab.store.workbook import campaign_workbook, read_workbook

_DECLARED = tuple(column.name for column in COLUMNS if column.owner == "declared")


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes:
        taken: attempt id -> the source it came from, in the order of the sources.
        declared: ids of rows that came without an attempt folder: they are declared, not verified.
        same: how many attempts and rows were here already, or came twice.
        unfinished: ids of attempts that have not ended where they were started.
        environments: how many environments came along.
        notices: remarks of a source that were not taken over, since another one stands here.
        synced: the workbook afterwards.
    """

    taken: dict[str, str]
    declared: tuple[str, ...]
    same: int
    unfinished: tuple[str, ...]
    environments: int
    notices: tuple[Fault, ...]
    synced: Synced


def merge(folder: Path, paths: Sequence[Path]) -> Merged:
    """Take in what other machines measured of the campaign in `folder`, then bring its workbook up to date.

    Args:
        folder: the campaign folder.
        paths: campaign folders, or workbooks that were sent by mail, whose rows become declared rows.

    Raises:
        UsageProblemError: no source, or one is the campaign itself.
        InvalidInputError: something cannot be read, or was measured under another seal; every fault at once.
        CheckFoundError: a run is under way, the campaign has no seal, or an attempt differs between two places.
        OutsideFailureError: the disk refused.
    """
    if not paths:
        raise UsageProblemError(fault("merge-no-source", file=str(folder)))
    book = campaign_workbook(folder)
    for path in paths:
        if path.exists() and path.resolve() in {folder.resolve(), book.resolve()}:
            raise UsageProblemError(fault("merge-itself", file=str(path)))
    manifest = own_manifest(folder)
    with run_lock(folder):
        finish_intake(folder)
        seal = stated_seal(folder)
        if seal is None:
            raise CheckFoundError(fault("merge-no-seal", file=SEAL))
        own = read_workbook(book, manifest)
        here = Source(
            shown=str(folder),
            book=str(book),
            records={one.attempt.attempt_id: one for one in read_records(folder)},
            homes={path.name: path for path in (folder / ATTEMPTS).glob("[!.]*")},
            rows={row.attempt_id: row for row in own.rows},
            cells=own.cells,
        )
        faults: list[Fault] = []
        sources: list[Source] = []
        for path in paths:
            try:
                sources.append(read_source(path, manifest, seal))
            except InvalidInputError as error:
                faults += error.faults
        if faults:
            raise InvalidInputError(*faults)
        joining = _Joining(here)
        for source in sources:
            joining.add(source)
        if joining.conflicts:
            raise CheckFoundError(*joining.conflicts)
        known = read_environments(folder)
        environments = {name: path for one in sources for name, path in one.environments.items() if name not in known}
        taken = {name: source for name, source in joining.origin.items() if name in source.homes}
        take_in(folder, {name: source.homes[name] for name, source in taken.items()}, environments)
        synced = complete(folder, joining.rows())
    declared = tuple(name for name in joining.origin if name not in taken)
    unfinished = tuple(name for one in sources for name in one.unfinished)
    return Merged(
        taken={name: source.shown for name, source in taken.items()},
        declared=declared,
        same=joining.same,
        unfinished=unfinished,
        environments=len(environments),
        notices=tuple(joining.notices),
        synced=synced,
    )


class _Joining:
    """Attempts as they come together, source by source: new ones, those that are here, and those that differ."""

    def __init__(self, here: Source) -> None:
        self.here = here
        self.origin: dict[str, Source] = {}  # of what is new
        self.remarks: dict[str, Attempt] = {}  # attempt id -> row with what people declared of it
        self.conflicts: list[Fault] = []
        self.notices: list[Fault] = []
        self.same = 0

    def add(self, source: Source) -> None:
        """Take up one source; folders first, so that a row finds the attempt that it is of."""
        for name, record in source.records.items():
            held = self._holder(name)
            if held is None:
                self.origin[name] = source
            elif name in held.records:
                self.same += 1
                self._compare(name, record, source, held)
            else:  # a row was declared, and now its attempt is here
                self.origin[name] = source
                self._compare_row(record, held.rows[name], held, source)
        for name, row in source.rows.items():
            held = self._holder(name)
            if held is None:
                self.origin[name] = source
            elif held is source:  # its own attempt: a cell that was changed by hand is told, the folder is the truth
                _, found = join([source.records[name]], [row], source.cells, source.book)
                self.notices += found
            else:
                self.same += name not in source.records
                self._compare_row(self._record(name, held), row, source, held)
            self._remark(name, row, source)

    def rows(self) -> dict[str, Attempt]:
        """What is known of attempts and rows without a row here from the workbooks they came with."""
        return dict(self.remarks)

    def _holder(self, name: str) -> Source | None:
        if name in self.here.records or name in self.here.rows:
            return self.here
        return self.origin.get(name)

    def _record(self, name: str, held: Source) -> Record:
        return held.records.get(name) or Record(held.rows[name], declared=True)

    def _compare(self, name: str, record: Record, source: Source, held: Source) -> None:
        differing = [] if _same_json(record, held.records[name]) else _differing(record, held.records[name])
        if _digest(source.homes[name]) != _digest(held.homes[name]):
            differing.append(PREDICTIONS)
        if differing:
            self._conflict(name, source.at(name), held.at(name), differing)

    def _compare_row(self, record: Record, row: Attempt, of_row: Source, of_record: Source) -> None:
        _, found = join([record], [row], of_row.cells, of_row.shown)
        differing = [str(one.values["column"]) for one in found if one.slug == "workbook-measured-cell-changed"]
        if differing:
            name = row.attempt_id
            self._conflict(name, of_row.at_cell(name, differing[0]), of_record.at(name, differing[0]), differing)

    def _conflict(self, name: str, place: str, other: str, differing: list[str]) -> None:
        self.conflicts.append(fault("merge-conflict", file=place, other=other, id=name, differing=differing))

    def _remark(self, name: str, row: Attempt, source: Source) -> None:
        """Keep what people declared of an attempt; where two differ, the one that was there first stands."""
        first = self.here.rows.get(name)
        if first is None:
            first = self.remarks.setdefault(name, row)
        for column in _DECLARED:
            theirs, kept = getattr(row, column), getattr(first, column)
            if theirs is not None and theirs != kept:
                facts = {"id": name, "column": column, "found": str(theirs), "kept": "" if kept is None else str(kept)}
                self.notices.append(fault("merge-remark-left", file=source.at_cell(name, column), **facts))


def _same_json(one: Record, other: Record) -> bool:
    return canonical_json(to_json(one)) == canonical_json(to_json(other))


def _differing(one: Record, other: Record) -> list[str]:
    names = [column.name for column in COLUMNS]
    return [name for name in names if getattr(one.attempt, name) != getattr(other.attempt, name)] or ["details"]


def _digest(home: Path) -> str | None:
    path = home / PREDICTIONS
    return sha256_file(path) if path.is_file() else None
