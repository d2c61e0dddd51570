"""The tables people and the tool fill: attempts, deliverables, packages, expenses, catalogue, calendar."""

from __future__ import annotations

from collections.abc import Mapping
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
from lab.store.workbook.locate import Located, Row, locate
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

    def attempts(self, sheet: Sheet) -> tuple[tuple[Attempt, ...], dict[tuple[str, str], str]]:
        """The attempts in sheet order, and (attempt id, column) -> address of the cell."""
        found: list[Attempt] = []
        addresses: dict[tuple[str, str], str] = {}
        seen: dict[str, str] = {}
        for row, values in self._rows(sheet, RESULTS):
            name = values["attempt_id"]
            if name is None:
                if row.cell("attempt_id") is None:
                    row.refuse("attempt_id", "row-without", wanted=self.setting.example("attempt_id"))
                continue
            if name in seen:
                row.refuse("attempt_id", "row-twice", found=name, first=seen[name])
                continue
            seen[name] = row.at("attempt_id")
            self._known(row, values, self.notices)
            found.append(Attempt(**values))
            addresses.update({(name, column): row.at(column) for column in RESULTS.names})
        return tuple(found), addresses

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
        known = {
            "variant": [variant.id for variant in self.manifest.variants],
            "corpus": [corpus.id for corpus in self.manifest.corpora],
        }
        for name, ids in known.items():
            if values.get(name) is not None and values[name] not in ids:
                facts = {"column": name, "found": values[name], "known": ", ".join(ids)}
                where.append(fault("row-name-unknown", file=self.file, place=row.at(name), **facts))

    def _has(self, row: Row, values: Mapping[str, Any], name: str) -> bool:
        if values[name] is None and row.cell(name) is None:
            row.refuse(name, "row-without", wanted=self.setting.example(name))
        return values[name] is not None


def _plain(value: object) -> str:
    """A cell's value as a catalogue in CSV states it: decimal point, no grouping, `true` or `false`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return f"{Decimal(str(value)).normalize():f}"
    return str(value)
