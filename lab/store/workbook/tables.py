"""The tables of the workbook, column by column: one place from which sheets, notes, dictionary and reader are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lab.calcul_forfaits import OFFER_COLUMNS
from lab.model.attempt import COLUMNS
from lab.prices import MODEL_CELLS
from lab.store.workbook.content import SheetName

# text: free words. id: a name that must stay exactly what was typed. local: date and time in the protocol's zone.
CellKind = Literal["text", "id", "integer", "number", "amount", "boolean", "choice", "moment", "local", "json"]
# person: filled in by hand. tool: written by the program. formula: computed in the sheet. manifest: from the manifest.
Filler = Literal["person", "tool", "formula", "manifest"]


@dataclass(frozen=True)
class TableColumn:
    """One column: its field name (the header), what a cell holds, who fills it, unit, closed list, width in characters.

    `values` names the list of the drop-down (`list_<values>` in the workbook), `least` the smallest number allowed,
    `one_line` keeps long texts from making tall rows. `bare` shows a number without unit and groups.
    """

    name: str
    kind: CellKind
    filler: Filler
    width: int = 14
    unit: str | None = None
    choices: tuple[str, ...] = ()
    values: str | None = None
    least: float | None = None
    one_line: bool = False
    bare: bool = False


@dataclass(frozen=True)
class Table:
    """A table of the workbook; `spare` is how many empty rows it is made with, ready to be filled."""

    name: str
    sheet: SheetName
    columns: tuple[TableColumn, ...]
    spare: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The field names in order."""
        return tuple(column.name for column in self.columns)


_FREE_TEXT = {"exclusion_reason", "missing_reason", "notes"}
_RESULT_WIDTHS = {
    "attempt_id": 50, "started_at": 33, "parameters": 46, "exclusion_reason": 30, "environment": 20,
    "predictions_path": 40, "predictions_sha256": 24, "seal": 24, "missing_reason": 90, "notes": 40, "variant": 16,
    "corpus": 18, "outcome": 16, "corpus_accepted": 17, "metric": 16,
}  # fmt: skip
_RESULT_VALUES = {"variant": "variants", "corpus": "corpora", "outcome": "outcomes", "corpus_accepted": "verdicts"}


def _result_columns() -> tuple[TableColumn, ...]:
    made = []
    for column in COLUMNS:
        kind: CellKind = "id" if column.kind == "text" and column.name not in _FREE_TEXT else column.kind
        positive = column.unit in {"s", "bytes", "J", "count"}
        least = 0 if positive else 1 if column.name in {"round", "position"} else None
        made.append(
            TableColumn(
                column.name, kind, "person" if column.owner == "declared" else "tool",
                _RESULT_WIDTHS.get(column.name, max(11, len(column.name) + 5)), column.unit, column.choices,
                "yes_no" if kind == "boolean" else _RESULT_VALUES.get(column.name), least, one_line=True,
                bare=True,  # the name says the unit, and a sheet saved as CSV, as it is shown, must read back
            )
        )  # fmt: skip
    return tuple(made)


RESULTS = Table("attempts", "raw-results", _result_columns())

# One row per field of the protocol; the two other columns of the sheet are translated texts and are not read.
PROTOCOL = Table(
    "protocol", "protocol", (TableColumn("field", "id", "tool", 26), TableColumn("value", "text", "person", 46))
)

DELIVERABLES = Table(
    "deliverables",
    "deliverables",
    (
        TableColumn("deliverable", "id", "person", 30),
        TableColumn("variant", "id", "person", 18, values="variants"),
        TableColumn("accepted", "boolean", "person", 14, values="yes_no"),
        TableColumn("attempt_id", "id", "person", 44, values="attempts"),
        TableColumn("notes", "text", "person", 48),
    ),
    spare=12,
)

CHOICES = Table(
    "choices",
    "forfaits",
    (
        TableColumn("variant", "id", "manifest", 16),
        TableColumn("gpu", "id", "manifest", 14, values="gpus"),
        TableColumn("days", "integer", "person", 16, unit="days", values="days", least=1),
        TableColumn("lots", "integer", "person", 25, unit="count", least=1),
        TableColumn("periods", "integer", "person", 22, unit="count", least=1),
        TableColumn("cards", "integer", "formula", 11, unit="count"),
        TableColumn("committed", "amount", "formula", 18),
        TableColumn("currency", "id", "formula", 19),
        TableColumn("covers_hours", "number", "formula", 17, unit="h"),
        TableColumn("rental_reference", "text", "person", 18),
        TableColumn("covers_window", "text", "formula", 19),
        TableColumn("price_status", "text", "formula", 17),
    ),
    spare=4,
)

EXPENSES = Table(
    "expenses",
    "forfaits",
    (
        TableColumn("item", "text", "person", 22),
        TableColumn("variant", "id", "person", 16, values="variants"),
        TableColumn("amount", "amount", "person", 14, least=0),
        TableColumn("currency", "id", "person", 14),
        TableColumn("justification", "text", "person", 16),
    ),
    spare=6,
)

_OFFER_KINDS: dict[str, CellKind] = {
    "cards_per_lot": "integer", "memory_gib_per_card": "number", "days": "integer", "increment_minutes": "integer",
    "minimum_hours": "number", "spot": "boolean", "price": "amount", "source": "text", "name": "text",
}  # fmt: skip
_OFFER_UNITS = {
    "cards_per_lot": "count", "memory_gib_per_card": "gib", "days": "days", "increment_minutes": "minutes",
    "minimum_hours": "h",
}  # fmt: skip

_OFFER_WIDTHS = {"source": 28, "region": 14, "spot": 14, "price": 14}  # those that no other table of the sheet sets

CATALOGUE = Table(
    "catalogue",
    "forfaits",
    (
        *(
            TableColumn(
                name, _OFFER_KINDS.get(name, "id"), "person", _OFFER_WIDTHS.get(name, len(name) + 5),
                _OFFER_UNITS.get(name),
                tuple(MODEL_CELLS) if name == "model" else (),
                {"model": "models", "spot": "yes_no"}.get(name),
                0 if _OFFER_KINDS.get(name) in {"integer", "number", "amount"} else None,
            )
            for name in OFFER_COLUMNS
        ),
        TableColumn("price_status", "text", "formula", 18),
    ),
    spare=6,
)  # fmt: skip

CALENDAR = Table(
    "tasks",
    "calendar",
    (
        TableColumn("variant", "id", "person", 16, values="variants"),
        TableColumn("task", "text", "person", 34),
        TableColumn("start", "local", "person", 19),
        TableColumn("end", "local", "person", 19),
        TableColumn("notes", "text", "person", 34),
    ),
    spare=14,
)

WINDOWS = Table(
    "windows",
    "calendar",
    (
        TableColumn("window_variant", "id", "manifest", 20),
        TableColumn("window_start", "local", "formula", 19),
        TableColumn("window_end", "local", "formula", 19),
        TableColumn("window_hours", "number", "formula", 18, unit="h"),
    ),
    spare=4,
)

SUMMARY = Table(
    "summary",
    "summary",
    (
        TableColumn("variant", "id", "manifest", 18),
        TableColumn("corpus", "id", "manifest", 18),
        TableColumn("seed", "integer", "manifest", 9),
        TableColumn("attempts", "integer", "formula", 13, unit="count"),
        TableColumn("accepted_attempts", "integer", "formula", 22, unit="count"),
        TableColumn("failed_attempts", "integer", "formula", 19, unit="count"),
        TableColumn("median_s", "number", "formula", 14, unit="s"),
        TableColumn("min_s", "number", "formula", 14, unit="s"),
        TableColumn("max_s", "number", "formula", 14, unit="s"),
        TableColumn("committed", "amount", "formula", 18),
        TableColumn("currency", "id", "formula", 13),
        TableColumn("accepted_deliverables", "integer", "formula", 25, unit="count"),
        TableColumn("cost_per_validated_corpus", "amount", "formula", 30),
        TableColumn("separation", "text", "tool", 34),
        TableColumn("answer", "text", "tool", 46),
    ),
    spare=4,
)

TABLES: tuple[Table, ...] = (RESULTS, DELIVERABLES, CHOICES, EXPENSES, CATALOGUE, CALENDAR, WINDOWS, SUMMARY)
