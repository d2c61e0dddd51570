"""What the workbook holds, as plain values: what `write_workbook` takes and `read_workbook` gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from lab.errors import Fault
from lab.model.attempt import Attempt
from lab.model.catalogue import CalendarTask, Deliverable, Expense, Offer, PackageChoice
from lab.model.manifest import Manifest
from lab.model.protocol import PROTOCOL_FIELDS, FieldSpec, Protocol

# The technical names of the sheets, in their order, the same in every language (the product's method, section 4).
SheetName = Literal[
    "read-me", "protocol", "raw-results", "deliverables", "forfaits", "calendar", "summary", "dictionary"
]  # fmt: skip
SHEETS: tuple[SheetName, ...] = get_args(SheetName)
LONGEST_CELL = 32_767  # UTF-16 units that a cell can hold


@dataclass(frozen=True)
class WorkbookContent:
    """Everything that people and the tool declare in the workbook.

    Attributes:
        protocol: the `protocol` sheet; fields left empty are None or ().
        rows: the attempts of `raw-results`, in sheet order.
        cells: (attempt_id, column) -> address of its cell, `raw-results!K5`; filled by the reader only.
        choices: the package of each variant; `gpu` is the manifest's.
        offers: the catalogue of `forfaits`.
        expenses: the other expenses.
        calendar: tasks, in the protocol's time zone.
        deliverables: the only links between a deliverable and an attempt.
        notices: what the reader noticed and the report must say (hidden rows, unknown variants ...).
        fields: field of the protocol -> address of its value's cell, `protocol!B5`; filled by the reader only.
    """

    protocol: Protocol = field(default_factory=Protocol)
    rows: tuple[Attempt, ...] = ()
    cells: Mapping[tuple[str, str], str] = field(default_factory=dict)
    choices: tuple[PackageChoice, ...] = ()
    offers: tuple[Offer, ...] = ()
    expenses: tuple[Expense, ...] = ()
    calendar: tuple[CalendarTask, ...] = ()
    deliverables: tuple[Deliverable, ...] = ()
    notices: tuple[Fault, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AppendResult:
    """Where rows went.

    Attributes:
        written_to: the workbook, or the file beside it.
        fault: why the rows are beside the workbook, which is untouched then; None when they are in it.
        notices: what was shortened on the way (a text longer than a cell can hold).
    """

    written_to: Path
    fault: Fault | None = None
    notices: tuple[Fault, ...] = ()


def empty_content(manifest: Manifest) -> WorkbookContent:
    """A workbook to fill: nothing declared yet, one line per variant for its package."""
    return WorkbookContent(choices=tuple(PackageChoice(variant.id, variant.gpu) for variant in manifest.variants))


def missing_fields(protocol: Protocol) -> tuple[FieldSpec, ...]:
    """The fields that `lab run` needs and that are still empty, in the order of the sheet."""
    return tuple(spec for spec in PROTOCOL_FIELDS if spec.required and getattr(protocol, spec.name) in {None, ()})
