"""What is decided before measuring: the `protocol` sheet, one field per row."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Literal, get_args

Kind = Literal["text", "number", "integer", "amount", "moment", "zone", "choice", "names", "subgroups", "rules"]
Reproducibility = Literal["identical_outputs", "bounded_distance", "business_quality"]
Operator = Literal["=", "!=", "<", "<=", ">", ">="]

REPRODUCIBILITY_TARGETS: tuple[Reproducibility, ...] = get_args(Reproducibility)


@dataclass(frozen=True)
class SubgroupThreshold:
    """The threshold of one declared subgroup: written `group=value: threshold`, several joined by `;`."""

    group: str
    value: str
    threshold: float


@dataclass(frozen=True)
class ExclusionRule:
    """A rule written before measuring: `id: column op value`, or `id: attestation` (column is None then)."""

    id: str
    column: str | None = None
    operator: Operator | None = None
    value: str | None = None


@dataclass(frozen=True)
class FieldSpec:
    """How one field of the protocol is read.

    Attributes:
        name: the field's name, the same in every language.
        kind: what its cell holds; `names` is text parts joined by `;`.
        required: whether `lab run` needs it.
        sealed: whether the seal covers it (all but author, decided_on, notes).
        choices: the closed list of a `choice`.
    """

    name: str
    kind: Kind
    required: bool
    sealed: bool
    choices: tuple[str, ...]


def _declared(
    kind: Kind, *, required: bool = False, sealed: bool = True, choices: tuple[str, ...] = ()
) -> dict[str, object]:
    return {"kind": kind, "required": required, "sealed": sealed, "choices": choices}


@dataclass(frozen=True)
class Protocol:
    """The protocol; None is a field left empty. Ratios are 0 to 1, money is Decimal, moments carry their zone."""

    question: str | None = field(default=None, metadata=_declared("text", required=True))
    scenario: str | None = field(default=None, metadata=_declared("text"))
    corpus_rights: str | None = field(default=None, metadata=_declared("text"))
    accepted_result: str | None = field(default=None, metadata=_declared("text"))
    metric: str | None = field(default=None, metadata=_declared("text", required=True))
    threshold: float | None = field(default=None, metadata=_declared("number", required=True))
    tolerance: float | None = field(default=None, metadata=_declared("number"))
    reference_variant: str | None = field(default=None, metadata=_declared("text"))
    subgroup_thresholds: tuple[SubgroupThreshold, ...] = field(default=(), metadata=_declared("subgroups"))
    reproducibility_target: Reproducibility | None = field(
        default=None, metadata=_declared("choice", choices=REPRODUCIBILITY_TARGETS)
    )
    repetitions: int | None = field(default=None, metadata=_declared("integer", required=True))
    required_accepted_passes: int | None = field(default=None, metadata=_declared("integer"))
    separation_factor: float | None = field(default=None, metadata=_declared("number"))
    exclusion_rules: tuple[ExclusionRule, ...] = field(default=(), metadata=_declared("rules"))
    time_zone: str | None = field(default=None, metadata=_declared("zone", required=True))
    deadline: datetime | None = field(default=None, metadata=_declared("moment", required=True))
    budget_limit: Decimal | None = field(default=None, metadata=_declared("amount"))
    currency: str | None = field(default=None, metadata=_declared("text"))
    planned_deliverables: tuple[str, ...] = field(default=(), metadata=_declared("names"))
    covered_load: str | None = field(default=None, metadata=_declared("text"))
    author: str | None = field(default=None, metadata=_declared("text", sealed=False))
    decided_on: str | None = field(default=None, metadata=_declared("text", sealed=False))
    notes: str | None = field(default=None, metadata=_declared("text", sealed=False))

    def required_passes(self) -> int | None:
        """Accepted passes a variant needs per corpus and seed: as declared, else all planned."""
        return self.repetitions if self.required_accepted_passes is None else self.required_accepted_passes


PROTOCOL_FIELDS: tuple[FieldSpec, ...] = tuple(
    FieldSpec(f.name, f.metadata["kind"], f.metadata["required"], f.metadata["sealed"], f.metadata["choices"])
    for f in fields(Protocol)
)
