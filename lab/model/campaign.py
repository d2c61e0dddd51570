"""One decision question with all that answers it, as read from its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lab.errors import Fault
from lab.model.attempt import Record
from lab.model.catalogue import CalendarTask, Deliverable, Expense, Offer, PackageChoice
from lab.model.evidence import Evidence
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol


@dataclass(frozen=True)
class CorpusFacts:
    """What is known of one corpus: its size and fingerprint (content and order), labels and subgroup sizes."""

    id: str
    size: int
    sha256: str
    labels: tuple[str, ...]
    label_counts: Mapping[str, int]
    groups: Mapping[str, Mapping[str, int]]
    tuning_sha256: str | None = None


@dataclass(frozen=True)
class Change:
    """A sealed value that differs now: its name (`protocol.threshold`, `corpora.a.sha256`), before and after."""

    name: str
    sealed: str | None
    now: str | None


@dataclass(frozen=True)
class KnownAttempt:
    """An attempt that was known when a seal was amended.

    `seal` is the fingerprint that it was started under, `outcome` None where it had not ended, `verdict` what the
    workbook said of it then (None: not judged yet).
    """

    attempt_id: str
    variant: str | None = None
    corpus: str | None = None
    seal: str | None = None
    outcome: str | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Amendment:
    """An earlier seal, and the amendment that ended it.

    Attributes:
        fingerprint: of the seal that held until then.
        sealed_at: when that seal was taken, ISO 8601 with offset.
        amended_at: when it was amended, ISO 8601 with offset.
        reason: why, in the words of who amended it.
        changes: sealed values that were changed, old and new.
        known: the attempts that were known at that moment, in order of start.
        sealed: the earlier seal's values, name (as in `Change`) -> text.
    """

    fingerprint: str
    sealed_at: str
    amended_at: str
    reason: str
    changes: tuple[Change, ...] = ()
    known: tuple[KnownAttempt, ...] = ()
    sealed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seal:
    """The seal of a campaign and how what is declared now compares with it.

    Attributes:
        fingerprint: sha256 of the canonical JSON of what is sealed; of an amended seal, of its whole history too.
        sealed_at: ISO 8601 with offset.
        changes: what differs from the sealed values now; empty when the seal holds.
        sealed: the sealed values, name (as in `Change`) -> text.
        amendments: the seals before this one, oldest first, and why each was amended.
    """

    fingerprint: str
    sealed_at: str
    changes: tuple[Change, ...] = ()
    sealed: Mapping[str, str] = field(default_factory=dict)
    amendments: tuple[Amendment, ...] = ()

    @property
    def time_zone(self) -> str | None:
        """The name of the campaign's time zone, as it was sealed."""
        return self.sealed.get("protocol.time_zone")


@dataclass(frozen=True)
class Environment:
    """What stays of a machine as observed: `facts` are flat (`torch` -> `2.13.0`), names without people or hosts."""

    fingerprint: str
    device_names: tuple[str, ...]
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Campaign:
    """Everything that a decision is made from.

    Attributes:
        records: attempts in order of start; hand-filled rows are `declared`.
        evidence: attempt id to what its predictions file shows; absent where there is no file or it could not be read.
        evidence_faults: attempt id to why its predictions could not be examined.
        seal: None before the seal.
        protocol_cells: field of the protocol -> the address of its cell, for messages.
        notices: what the readers noticed and the report must say (a measured cell changed by hand, hidden rows ...).
        inputs: path in the folder -> sha256 of every file the decision was made from.
    """

    manifest: Manifest
    protocol: Protocol
    corpora: Mapping[str, CorpusFacts]
    records: tuple[Record, ...]
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    evidence_faults: Mapping[str, Fault] = field(default_factory=dict)
    environments: Mapping[str, Environment] = field(default_factory=dict)
    choices: tuple[PackageChoice, ...] = ()
    offers: tuple[Offer, ...] = ()
    expenses: tuple[Expense, ...] = ()
    calendar: tuple[CalendarTask, ...] = ()
    deliverables: tuple[Deliverable, ...] = ()
    seal: Seal | None = None
    notices: tuple[Fault, ...] = ()
    protocol_cells: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    def cell_of(self, name: str) -> str:
        """Where the field `name` of the protocol stands, for messages: its cell, else the sheet."""
        return self.protocol_cells.get(name, "protocol")

    @cached_property
    def by_variant(self) -> Mapping[str | None, tuple[Record, ...]]:
        """The records of each variant, in their order; looking through all of them for each variant takes too long."""
        found: dict[str | None, list[Record]] = {}
        for record in self.records:
            found.setdefault(record.attempt.variant, []).append(record)
        return {variant: tuple(records) for variant, records in found.items()}
