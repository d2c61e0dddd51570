"""What a run tells while it goes on: plain values for a progress view, which this package does not draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.measure.progress import Phase
from lab.model.attempt import Outcome, Record, Slot


@dataclass(frozen=True)
class Standing:
    """Where the run is. `index` counts this run's passes from 1 to `total`; `failures` by outcome, so far."""

    slot: Slot
    attempt_id: str
    index: int
    total: int
    failures: Mapping[Outcome, int]


@dataclass(frozen=True)
class AttemptStarted:
    """The attempt is on record and its worker is being started."""

    standing: Standing


@dataclass(frozen=True)
class AttemptProgress:
    """The worker goes on.

    Attributes:
        standing: which attempt, of how many.
        phase: what the worker does.
        completed: inputs done, of `inputs`.
        rate: inputs per second of the measured pass; None before it.
        elapsed_s: seconds since the attempt started.
        remaining_s: estimated seconds until the whole run is done; None before anything shows how long a pass takes.
    """

    standing: Standing
    phase: Phase
    completed: int
    inputs: int
    rate: float | None
    elapsed_s: float
    remaining_s: float | None = None


@dataclass(frozen=True)
class AttemptEnded:
    """The attempt has ended and its record is on the disk; `remaining_s` as in `AttemptProgress`."""

    standing: Standing
    record: Record
    remaining_s: float | None = None


@dataclass(frozen=True)
class Recovered:
    """An attempt that an earlier run left unfinished has been ended on record."""

    record: Record


@dataclass(frozen=True)
class CoolingDown:
    """The run waits `seconds` before the next pass, as the manifest declares."""

    seconds: float


Event = AttemptStarted | AttemptProgress | AttemptEnded | Recovered | CoolingDown
