"""One cell by its column: the reader that each kind of column takes, with the form it wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from lab.messages import messages
from lab.store.workbook import cells
from lab.store.workbook.moments import local_moment
from lab.store.workbook.sheet import Cell
from lab.store.workbook.tables import TableColumn


@dataclass(frozen=True)
class Setting:
    """What reading a cell depends on: the campaign's language, its zone, and the cell that states the zone."""

    language: str
    zone: ZoneInfo | None = None
    zone_cell: str = "protocol"

    def example(self, name: str) -> str:
        """The form that a field's cell wants, as an example in the campaign's language."""
        return messages(self.language).text(f"field.{name}.example")

    def value(self, column: TableColumn, cell: Cell) -> object:  # noqa: PLR0911  (one return a kind of column)
        """The cell's value as its column wants it; raises `cells.CellError`."""
        wanted, language = self.example(column.name), self.language
        kind = column.kind
        if column.choices:
            return cells.choice(cell, column.choices, language=language)
        if kind == "integer":
            whole = cells.integer(cell, wanted=wanted, language=language)
            cells.at_least(cell, whole, column.least, wanted=wanted)
            return whole
        if kind == "number":
            number = float(cells.number(cell, wanted=wanted, language=language))
            cells.at_least(cell, number, column.least, wanted=wanted)
            return number
        if kind == "amount":
            amount = cells.amount(cell, wanted=wanted, language=language)
            cells.at_least(cell, amount, column.least, wanted=wanted)
            return amount
        if kind == "boolean":
            return cells.boolean(cell, language=language)
        if kind == "moment":
            return cells.moment(cell, language=language)
        if kind == "local":
            return self._of_calendar(cell, wanted)
        if kind == "json":
            return cells.json_object(cell, language=language)
        return cells.text(cell, strict=kind == "id", wanted=wanted, language=language)

    def _of_calendar(self, cell: Cell, wanted: str) -> datetime:
        """A moment that the sheet's own formulas count with: they see no text, and an hour that exists twice as one.

        Raises:
            CellError: as `local_moment`; also a date that was typed as text, which would count here and not there.
        """
        try:
            found = local_moment(cell, self.zone, wanted=wanted, zone_cell=self.zone_cell, language=self.language)
        except cells.CellError as error:
            if error.slug == "cell-time-twice":
                raise cells.CellError("calendar-time-twice", **error.values) from None
            raise
        if cell.stored == "text":
            raise cells.CellError("calendar-date-as-text", found=cells.shown(cell), wanted=wanted)
        return found

    def reader(self, column: TableColumn) -> Callable[[Cell], object]:
        """The function that reads cells of one column."""
        return partial(self.value, column)
