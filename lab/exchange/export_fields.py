"""The dictionary of what `lab export` writes: each field of each table with its kind, unit, label and meaning."""

from __future__ import annotations

from dataclasses import dataclass

from lab.messages import Messages
from lab.model.attempt import COLUMNS

_KINDS = {"choice": "text", "moment": "text", "json": "text"}
# Table -> field -> (kind, unit); their words are `export.field.<field>`.
_MORE: dict[str, dict[str, tuple[str, str]]] = {
    "attempts": dict.fromkeys(
        (
            "verdict_control", "evidence", "source_file", "source_sha256", "source_place", "source_tool",
            "source_version",
        ),
        ("text", ""),
    ),
    "summaries": {
        **dict.fromkeys(("variant", "corpus"), ("text", "")),
        "seed": ("integer", ""),
        **dict.fromkeys(
            ("attempts", "accepted", "rejected", "unassessed", "failed", "excluded"), ("integer", "count")
        ),
        **dict.fromkeys(("median_s", "min_s", "max_s"), ("number", "s")),
        "median_metric": ("number", ""),
        "durations_s": ("text", "s"),
        "eligible": ("boolean", ""),
        "committed": ("amount", ""),
        "currency": ("text", ""),
        "accepted_deliverables": ("integer", "count"),
        "cost_per_validated_corpus": ("amount", ""),
    },
    "latencies": {
        **dict.fromkeys(("attempt_id", "variant", "corpus", "population"), ("text", "")),
        "number": ("integer", "count"),
        "seconds": ("number", "s"),
    },
}  # fmt: skip


@dataclass(frozen=True)
class ExportField:
    """One field: its table, name, kind (text, integer, number, boolean, amount as text), unit, and what it means."""

    table: str
    field: str
    kind: str
    unit: str
    meaning: str


def all_fields(words: Messages) -> tuple[ExportField, ...]:
    """Every field of every table, in the order of the columns."""
    columns = [
        ExportField("attempts", one.name, _KINDS.get(one.kind, one.kind), one.unit or "", _meaning(one.name, words))
        for one in COLUMNS
    ]
    more = [
        ExportField(table, name, kind, unit, _meaning(name, words))
        for table, fields in _MORE.items()
        for name, (kind, unit) in fields.items()
    ]
    return (*columns, *more)


def _meaning(name: str, words: Messages) -> str:
    """What the workbook's dictionary says of a field, where it has it; the rest has words of its own."""
    own = f"export.field.{name}"
    return words.text(own) if words.has(own) else words.text(f"field.{name}.help")
