"""The fields of every sheet as a dictionary says them: the source of the sheet `dictionary` and of the site's page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.messages import Messages
from lab.model.protocol import PROTOCOL_FIELDS
from lab.store.workbook.content import SheetName
from lab.store.workbook.tables import TABLES, TableColumn

_UNITS = {"threshold": "ratio", "tolerance": "ratio", "repetitions": "count", "required_accepted_passes": "count"}
_CHOSEN = {"metric", "reference_variant"}  # protocol fields with a drop-down of names


@dataclass(frozen=True)
class FieldEntry:
    """One field: the sheet and table it stands in, and in words its label, meaning, unit, allowed values and filler."""

    sheet: SheetName
    table: str
    name: str
    label: str
    meaning: str
    unit: str
    allowed: str
    who: str


def field_entries(words: Messages) -> Iterator[FieldEntry]:
    """The fields in the order of the sheets; a unit that a field does not have is empty."""
    for spec in PROTOCOL_FIELDS:
        kind = "choice" if spec.name in _CHOSEN else spec.kind
        unit = words.text(f"unit.{_UNITS[spec.name]}") if spec.name in _UNITS else ""
        allowed = " | ".join(spec.choices) or words.text(f"kind.{kind}")
        yield _entry(words, "protocol", "protocol", spec.name, (unit, allowed, words.text("filler.person")))
    for table in TABLES:
        for column in table.columns:
            unit = words.text(f"unit.{column.unit}") if column.unit else ""
            filled = (unit, _allowed(column, words), words.text(f"filler.{column.filler}"))
            yield _entry(words, table.sheet, table.name, column.name, filled)


def _entry(words: Messages, sheet: SheetName, table: str, name: str, filled: tuple[str, str, str]) -> FieldEntry:
    label, meaning = words.text(f"field.{name}.label"), words.text(f"field.{name}.help")
    return FieldEntry(sheet, table, name, label, meaning, *filled)


def _allowed(column: TableColumn, words: Messages) -> str:
    if column.choices:
        return " | ".join(column.choices)
    if column.kind == "boolean":
        return f"{words.text('word.yes')} | {words.text('word.no')}"
    return words.text(f"kind.{column.kind}")
