"""The tables people and the tool fill: attempts, deliverables, packages, expenses, catalogue, calendar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from lab.calcul_forfaits import CatalogueError, Offer, offers_from_rows
from lab.errors import Fault, fault
from lab.model.attempt import Attempt
from lab.model.catalogue import CalendarTask, Deliverable, Expense, PackageChoice
from lab.model.manifest import Manifest
from lab.prices import MODEL_CELLS, faults
from lab.store.workbook.grid import ODD
from lab.store.workbook.locate import Located, Row, locate
from lab.store.workbook.quick import plain_values
from lab.store.workbook.read_values import Setting
from lab.store.workbook.sheet import Sheet
from lab.store.workbook.tables import CALENDAR, CATALOGUE, CHOICES, DELIVERABLES, EXPENSES, RESULTS, Table

_CHOSEN = ("days", "lots", "rental_reference")
_DATES_AS_TEXT = {"catalogue_version"}


@dataclass(frozen=True)
class TableReader:
    """Reads the tables of one workbook; everything that is wrong is collected in `faults`, the rest in `notices`."""

    manifest: Manifest
    setting: Setting
    file: str
    faults: list[Fault]
    notices: list[Fault]

    def attempts(self, sheet: Sheet) -> tuple[tuple[Attempt, ...], Mapping[tuple[str, str], str]]:
        """The attempts in sheet order, and (attempt id, column) -> address of the cell."""
        located = locate(sheet, RESULTS, self.file, self.faults)
        if located is None:
            return (), {}
        numbers = list(located.rows())
        self._say_hidden(located, numbers)
        wrong: list[tuple[int, Fault]] = []  # by column, and wanted by row
        columns = self._columns(located, numbers, wrong)
        seen = self._ids_of(located, numbers, columns[0], wrong)
        if len(seen) < len(numbers):
            kept = frozenset(seen.values())
            columns = [
                [one for number, one in zip(numbers, column, strict=True) if number in kept] for column in columns
            ]
        found = tuple(map(_attempt, zip(*columns, strict=True)))
        self._known_in(located, seen, found)
        self.faults.extend(one for _, one in sorted(wrong, key=lambda pair: pair[0]))
        return found, Addresses(located, seen)

    def _ids_of(
        self, located: Located, numbers: list[int], names: Sequence[str | None], wrong: list[tuple[int, Fault]]
    ) -> dict[str, int]:
        """Id -> row; a row without an id and a second one of the same are kept in `wrong`."""
        seen: dict[str, int] = {}
        for number, name in zip(numbers, names, strict=True):
            if name is not None and name not in seen:
                seen[name] = number
                continue
            row = Row(located, number, self.file, [])
            if name is not None:
                row.refuse("attempt_id", "row-twice", found=name, first=located.at(seen[name], "attempt_id"))
            elif row.cell("attempt_id") is None:
                row.refuse("attempt_id", "row-without", wanted=self.setting.example("attempt_id"))
            wrong += [(number, one) for one in row.faults]
        return seen

    def _known_in(self, located: Located, seen: Mapping[str, int], found: Sequence[Attempt]) -> None:
        """Say where an attempt is of a variant or a corpus that the manifest does not name."""
        variants, corpora = ({None, *ids} for ids in self._ids().values())
        for attempt in found:
            if attempt.variant not in variants or attempt.corpus not in corpora:
                named = {"variant": attempt.variant, "corpus": attempt.corpus}
                self._known(Row(located, seen[attempt.attempt_id], self.file, []), named, self.notices)

    def _columns(self, located: Located, numbers: list[int], wrong: list[tuple[int, Fault]]) -> list[Sequence[Any]]:
        """What the cells of each column mean, row by row; None: blank, or kept in `wrong`."""
        columns, grid = located.table.columns, located.sheet.grid
        held: list[Sequence[object]] = [[ODD] * len(numbers)] * len(columns)
        if grid is not None:
            held = grid.values(numbers, [located.columns[column.name] for column in columns])
        found: list[Sequence[Any]] = []
        for column, values in zip(columns, held, strict=True):
            read, odd = plain_values(values, column, self.setting)
            reader = self.setting.reader(column)
            for place in odd:
                row = Row(located, numbers[place], self.file, [])
                read[place] = row.read(column.name, reader)
                wrong += [(row.number, one) for one in row.faults]
            found.append(read)
        return found

    def deliverables(self, sheet: Sheet) -> tuple[Deliverable, ...]:
        """The rows of `deliverables`; the name is needed, the rest may still be empty."""
        found = []
        for row, values in self._rows(sheet, DELIVERABLES):
            self._known(row, values, self.faults)
            if self._has(row, values, "deliverable"):
                found.append(Deliverable(**values))
        return tuple(found)

    def choices(self, sheet: Sheet) -> tuple[PackageChoice, ...]:
        """The package of each variant; the manifest's gpu stands, a differing cell is noticed.

        A line in which nothing was chosen yet, of a variant that the manifest no longer has, says nothing: `lab init`
        wrote it before the engineer named the variants.
        """
        found: list[PackageChoice] = []
        seen: dict[str, str] = {}
        for row, values in self._rows(sheet, CHOICES):
            name = values["variant"]
            if name and not self.manifest.variant(name) and not any(values[key] is not None for key in _CHOSEN):
                continue
            self._known(row, values, self.faults)
            if not self._has(row, values, "variant"):
                continue
            if name in seen:
                row.refuse("variant", "row-twice", found=name, first=seen[name])
                continue
            seen[name] = row.at("variant")
            variant = self.manifest.variant(name)
            gpu = variant.gpu if variant and variant.gpu else values["gpu"]
            if values["gpu"] not in {None, gpu}:
                facts = {"variant": name, "found": values["gpu"], "gpu": gpu}
                self.notices.append(fault("choice-other-gpu", file=self.file, place=row.at("gpu"), **facts))
            kept = {key: values[key] for key in _CHOSEN}
            found.append(PackageChoice(name, gpu, periods=values["periods"] or 1, **kept))
        return tuple(found)

    def expenses(self, sheet: Sheet) -> tuple[Expense, ...]:
        """The other expenses; what and how much are needed."""
        found = []
        for row, values in self._rows(sheet, EXPENSES):
            self._known(row, values, self.faults)
            if self._has(row, values, "item") and self._has(row, values, "amount"):
                found.append(Expense(**values))
        return tuple(found)

    def offers(self, sheet: Sheet) -> tuple[Offer, ...]:
        """The catalogue, by the same rules as `tarifs-forfaits.csv`."""
        rows = []
        before = len(self.faults)
        for row, values in self._rows(sheet, CATALOGUE):
            texts = {name: None if value is None else _plain(value) for name, value in values.items()}
            rows.append((f"{sheet.name}!{row.number}", texts))
        if len(self.faults) > before:
            return ()
        try:
            return offers_from_rows(rows, MODEL_CELLS)
        except CatalogueError as error:
            self.faults.extend(faults(error, self.file))
            return ()

    def calendar(self, sheet: Sheet) -> tuple[CalendarTask, ...]:
        """The tasks, in the protocol's zone; task, start and end are needed, an end lies after its start."""
        found = []
        for row, values in self._rows(sheet, CALENDAR):
            self._known(row, values, self.faults)
            if not all([self._has(row, values, name) for name in ("task", "start", "end")]):  # noqa: C419  (every fault, not the first)
                continue
            start, end = values["start"], values["end"]
            if end.timestamp() <= start.timestamp():
                row.refuse("end", "calendar-end-before-start", found=end.isoformat(), start=start.isoformat())
                continue
            found.append(CalendarTask(**values))
        return tuple(found)

    def _rows(self, sheet: Sheet, table: Table) -> list[tuple[Row, dict[str, Any]]]:
        located = locate(sheet, table, self.file, self.faults)
        if located is None:
            return []
        numbers = list(located.rows())
        self._say_hidden(located, numbers)
        read = []
        for number in numbers:
            row = Row(located, number, self.file, self.faults)
            values: dict[str, Any] = {}
            for column in table.columns:
                if column.filler != "formula":
                    cell = row.cell(column.name)
                    if column.name in _DATES_AS_TEXT and cell is not None and isinstance(cell.value, datetime):
                        values[column.name] = cell.value.date().isoformat()
                    else:
                        values[column.name] = row.read(column.name, self.setting.reader(column))
            read.append((row, values))
        return read

    def _say_hidden(self, located: Located, numbers: list[int]) -> None:
        hidden = len(located.sheet.hidden.intersection(numbers))
        if hidden:
            place = located.sheet.name
            self.notices.append(fault("rows-hidden", file=self.file, place=place, hidden=hidden, rows=len(numbers)))

    def _known(self, row: Row, values: Mapping[str, Any], where: list[Fault]) -> None:
        """A variant or corpus that the manifest does not name: it would silently count for nothing."""
        for name, ids in self._ids().items():
            if values.get(name) is not None and values[name] not in ids:
                facts = {"column": name, "found": values[name], "known": ", ".join(ids)}
                where.append(fault("row-name-unknown", file=self.file, place=row.at(name), **facts))

    def _ids(self) -> dict[str, list[str]]:
        """Variants, then corpora, that the manifest names."""
        return {
            "variant": [variant.id for variant in self.manifest.variants],
            "corpus": [corpus.id for corpus in self.manifest.corpora],
        }

    def _has(self, row: Row, values: Mapping[str, Any], name: str) -> bool:
        if values[name] is None and row.cell(name) is None:
            row.refuse(name, "row-without", wanted=self.setting.example(name))
        return values[name] is not None


def _attempt(values: Sequence[Any]) -> Attempt:
    """An attempt from its values in order.

    As `Attempt(*values)`, which sets the fields of a frozen record by name, one call each: three times as slow.
    """
    made = object.__new__(Attempt)
    made.__dict__.update(zip(RESULTS.names, values, strict=True))
    return made


class Addresses(Mapping[tuple[str, str], str]):
    """(attempt id, column) -> address of the cell, made when it is asked for: a sheet has a million of them."""

    def __init__(self, located: Located, rows: Mapping[str, int]) -> None:
        """Keep where the table is, and the row of each attempt."""
        self._located, self._rows = located, rows

    def __getitem__(self, key: tuple[str, str]) -> str:
        """The address; raises KeyError for an attempt or a column that is not there."""
        name, column = key
        if column not in self._located.columns:
            raise KeyError(key)
        return self._located.at(self._rows[name], column)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Attempt by attempt, column by column."""
        return ((name, column) for name in self._rows for column in RESULTS.names)

    def __len__(self) -> int:
        """How many cells the attempts have."""
        return len(self._rows) * len(RESULTS.names)


def _plain(value: object) -> str:
    """A cell's value as a catalogue in CSV states it: decimal point, no grouping, `true` or `false`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return f"{Decimal(str(value)).normalize():f}"
    return str(value)
