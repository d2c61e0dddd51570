"""A pass that was started, whatever became of it: the one place where the columns of `raw-results` are defined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Literal, get_args

from lab.model.reason import Reason

Outcome = Literal["completed", "failed", "out_of_memory", "timed_out", "interrupted"]
VerdictWord = Literal["accepted", "rejected", "unassessed"]
ColumnKind = Literal["text", "integer", "number", "boolean", "choice", "moment", "json"]
Unit = Literal["s", "bytes", "J", "ratio", "count"]
# measured: fixed when the attempt ends. judged: recomputed from the predictions. declared: belongs to people.
Owner = Literal["measured", "judged", "declared"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
FAILURES: tuple[Outcome, ...] = ("failed", "out_of_memory", "timed_out")  # the variant's own; never run again
VERDICTS: tuple[VerdictWord, ...] = get_args(VerdictWord)
DURATION_DIGITS = 6  # durations are rounded to the microsecond at birth, so that they survive every round trip


@dataclass(frozen=True)
class Column:
    """One column of `raw-results`: its field name, what a cell holds, its unit and whose it is."""

    name: str
    kind: ColumnKind
    owner: Owner
    unit: Unit | None
    choices: tuple[str, ...]


def _column(
    kind: ColumnKind, owner: Owner = "measured", unit: Unit | None = None, choices: tuple[str, ...] = ()
) -> dict[str, object]:
    return {"kind": kind, "owner": owner, "unit": unit, "choices": choices}


@dataclass(frozen=True)
class Attempt:
    """One row of `raw-results`; None is an empty cell, whose reason is in `missing_reason`.

    Durations are seconds rounded to the microsecond, memory is bytes (the largest single device), `started_at` is
    ISO 8601 with its UTC offset, `parameters` is the variant's settings as JSON. `duration_s` is filled only when the
    attempt completed; `elapsed_s` always once it has ended. `outcome` is None while the attempt runs.
    """

    attempt_id: str = field(metadata=_column("text"))
    started_at: str | None = field(default=None, metadata=_column("moment"))
    variant: str | None = field(default=None, metadata=_column("text"))
    corpus: str | None = field(default=None, metadata=_column("text"))
    parameters: str | None = field(default=None, metadata=_column("json"))
    round: int | None = field(default=None, metadata=_column("integer"))
    position: int | None = field(default=None, metadata=_column("integer"))
    outcome: Outcome | None = field(default=None, metadata=_column("choice", choices=OUTCOMES))
    completed_inputs: int | None = field(default=None, metadata=_column("integer", unit="count"))
    elapsed_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    duration_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    download_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    install_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    load_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    compile_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    warm_up_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    evaluate_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    export_s: float | None = field(default=None, metadata=_column("number", unit="s"))
    peak_allocated_bytes: int | None = field(default=None, metadata=_column("integer", unit="bytes"))
    peak_reserved_bytes: int | None = field(default=None, metadata=_column("integer", unit="bytes"))
    peak_device_bytes: int | None = field(default=None, metadata=_column("integer", unit="bytes"))
    energy_j: float | None = field(default=None, metadata=_column("number", unit="J"))
    expected_ids: int | None = field(default=None, metadata=_column("integer", "judged", "count"))
    observed_ids: int | None = field(default=None, metadata=_column("integer", "judged", "count"))
    duplicate_ids: int | None = field(default=None, metadata=_column("integer", "judged", "count"))
    missing_ids: int | None = field(default=None, metadata=_column("integer", "judged", "count"))
    unexpected_ids: int | None = field(default=None, metadata=_column("integer", "judged", "count"))
    ids_match: bool | None = field(default=None, metadata=_column("boolean", "judged"))
    format_ok: bool | None = field(default=None, metadata=_column("boolean", "judged"))
    metric: str | None = field(default=None, metadata=_column("text", "judged"))
    metric_value: float | None = field(default=None, metadata=_column("number", "judged", "ratio"))
    reference_delta: float | None = field(default=None, metadata=_column("number", "judged", "ratio"))
    quality_ok: bool | None = field(default=None, metadata=_column("boolean", "judged"))
    corpus_accepted: VerdictWord | None = field(default=None, metadata=_column("choice", "judged", choices=VERDICTS))
    excluded: bool | None = field(default=None, metadata=_column("boolean", "declared"))
    exclusion_reason: str | None = field(default=None, metadata=_column("text", "declared"))
    seed: int | None = field(default=None, metadata=_column("integer"))
    environment: str | None = field(default=None, metadata=_column("text"))
    predictions_path: str | None = field(default=None, metadata=_column("text"))
    predictions_sha256: str | None = field(default=None, metadata=_column("text"))
    seal: str | None = field(default=None, metadata=_column("text"))
    missing_reason: str | None = field(default=None, metadata=_column("text"))
    notes: str | None = field(default=None, metadata=_column("text", "declared"))


COLUMNS: tuple[Column, ...] = tuple(
    Column(f.name, f.metadata["kind"], f.metadata["owner"], f.metadata["unit"], f.metadata["choices"])
    for f in fields(Attempt)
)


SlotKey = tuple[str | None, str | None, int | None, int | None]  # variant, corpus, seed, round


def slot_key(one: Attempt | Slot) -> SlotKey:
    """The planned pass that an attempt, or a slot, is of."""
    return (one.variant, one.corpus, one.seed, one.round)


def ended_by_itself(attempt: Attempt) -> bool:
    """Whether the attempt counts as a try: it has ended, and neither a person nor the runner's death cut it off.

    A slot with such an attempt is never run again (the product's method, section 8).
    """
    return attempt.outcome not in (None, "interrupted")


@dataclass(frozen=True)
class DeviceMemory:
    """Peaks of one device during one attempt, in bytes; a counter that does not exist there is None.

    `peak_device_bytes` is what the driver counts for the whole device, other processes included; the two allocator
    counters are this process's own. They are three different things and are never added.
    """

    device: str
    name: str | None = None
    uuid: str | None = None
    peak_allocated_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    peak_device_bytes: int | None = None


@dataclass(frozen=True)
class Provenance:
    """Where a record, or its predictions, came from that this product did not make.

    Attributes:
        file: the file's name without folders.
        sha256: of the file, 64 hex digits.
        format: the format's name in `lab.formats`, or `csv`, `jsonl`, `parquet` of predictions.
        place: where in the file; with the sha256 it names the attempt.
        tool: what wrote the file.
        version: of that tool, None where the file does not state it.
        in_order: of predictions: the file had no ids, its rows were declared to be in the corpus's order.
    """

    file: str
    sha256: str
    format: str
    place: str = ""
    tool: str | None = None
    version: str | None = None
    in_order: bool = False


@dataclass(frozen=True)
class Population:
    """Latencies of requests or iterations of one attempt, in seconds: never durations of passes.

    Every value is in the file `latencies.csv` beside the record, whose sha256 this holds. A percentile is None where
    there are too few values for it.
    """

    name: str
    count: int
    median_s: float
    min_s: float
    max_s: float
    sha256: str
    p90_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None


@dataclass(frozen=True)
class Details:
    """What `attempt.json` holds beside the columns.

    Attributes:
        ended_because: why the attempt ended as it did, when it did not complete.
        missing: column name to the key `missing.<why>` of the reason that its cell is empty.
        devices: memory peaks device by device.
        host_peak_bytes: peak resident set of the worker process.
        counts: what was counted: `truncated_inputs`, `padded_batches`, `unpadded_batches` ...
        readings: volatile readings at start and end (`start.load_1m`, `end.load_1m`, clocks, temperature).
        facts: what was observed of the run: kernel, attention asked for, start method ...
        provenance: of an attempt that was measured with another tool and imported; None of a measured one.
        predictions_from: of predictions that were made elsewhere.
        populations: latencies within the attempt, each a population of its own.
    """

    ended_because: Reason | None = None
    missing: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    devices: tuple[DeviceMemory, ...] = ()
    host_peak_bytes: int | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    readings: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    provenance: Provenance | None = None
    predictions_from: Provenance | None = None
    populations: tuple[Population, ...] = ()


@dataclass(frozen=True)
class Record:
    """An attempt with its details.

    `declared`: nobody can check it here. It is only a row of the workbook, without an attempt folder, or it was
    imported and has no predictions to be judged.
    """

    attempt: Attempt
    details: Details = field(default_factory=Details)
    declared: bool = False

    @property
    def imported(self) -> bool:
        """Whether it was measured with another tool: its timing is declared even where its predictions are judged."""
        return self.details.provenance is not None

    @property
    def typed(self) -> bool:
        """Whether it is only a row that a person typed: there is no attempt folder."""
        return self.declared and not self.imported


@dataclass(frozen=True)
class Slot:
    """One planned pass. `round` and `position` count from 1; `position` is the place in its round's rotated order."""

    variant: str
    corpus: str
    seed: int
    round: int
    position: int
