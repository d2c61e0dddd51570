"""How far an attempt is: counters in a memory-mapped file, which survive the end of the process that wrote them.

Writing one costs less than a microsecond and no system call, so that it may stand inside the timed pass.
"""

from __future__ import annotations

import math
import mmap
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from lab.model.attempt import Record
from lab.store.attempts import attempt_folder, read_records
from lab.store.files import writing

Phase = Literal["starting", "loading", "warming_up", "measuring", "exporting", "evaluating", "ended"]

PROGRESS_FILE = ".progress"
PHASES: Final[tuple[Phase, ...]] = (
    "starting",
    "loading",
    "warming_up",
    "measuring",
    "exporting",
    "evaluating",
    "ended",
)
# Columns whose seconds are known before the attempt has ended, in the order of their numbers in the file.
DURATIONS: Final = ("download_s", "load_s", "compile_s", "warm_up_s", "export_s", "evaluate_s")

_MAGIC: Final = b"LABPRG01"
_HEAD: Final = struct.Struct("<8sqdqqqdd")  # magic, pid, process start, phase, completed, total, pass start, last sign
_COMPLETED: Final = struct.Struct("<q")
_SECONDS: Final = struct.Struct(f"<{len(DURATIONS)}d")
_SIZE: Final = _HEAD.size + _SECONDS.size
_AT_PHASE, _AT_COMPLETED, _AT_PASS, _AT_SIGN = 24, 32, 48, 56
_NOTHING: Final = math.nan  # in the file only: read back as None


@dataclass(frozen=True)
class Progress:
    """What the counters said when they were read.

    Attributes:
        pid: of the worker, and `process_start` its start in seconds since the epoch.
        phase: what the worker was doing.
        completed: inputs whose prediction was on the host.
        total: inputs of the corpus.
        pass_start: when the measured pass began, seconds since the epoch; None before.
        last_sign: the worker's last sign of life, seconds since the epoch.
        durations: seconds of the phases that were over, by column.
    """

    pid: int
    process_start: float
    phase: Phase
    completed: int
    total: int
    pass_start: float | None
    last_sign: float
    durations: Mapping[str, float]

    @property
    def rate(self) -> float | None:
        """Inputs per second of the measured pass so far; None before any."""
        if self.pass_start is None or self.completed == 0 or self.last_sign <= self.pass_start:
            return None
        return self.completed / (self.last_sign - self.pass_start)


class ProgressFile:
    """The writing side: one per worker, closed by leaving its `with` block."""

    def __init__(self, path: Path, *, pid: int, process_start: float, total: int) -> None:
        """Make the file at its full size, all counters at their beginning; OutsideFailureError on a full disk."""
        seconds = _SECONDS.pack(*[_NOTHING] * len(DURATIONS))
        with writing(path, path.name):
            path.write_bytes(_HEAD.pack(_MAGIC, pid, process_start, 0, 0, total, _NOTHING, time.time()) + seconds)
            with path.open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), _SIZE)

    def __enter__(self) -> Self:
        """Hold the map open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the map; the file stays."""
        self._map.close()

    def count(self, completed: int) -> None:
        """Say that so many inputs are done."""
        _COMPLETED.pack_into(self._map, _AT_COMPLETED, completed)
        self.sign()

    def sign(self) -> None:
        """Say that the worker is alive now."""
        struct.pack_into("<d", self._map, _AT_SIGN, time.time())

    def phase(self, phase: Phase) -> None:
        """Say what the worker does from now on."""
        struct.pack_into("<q", self._map, _AT_PHASE, PHASES.index(phase))
        if phase == "measuring":
            struct.pack_into("<d", self._map, _AT_PASS, time.time())
        self.sign()

    def duration(self, column: str, seconds: float) -> None:
        """Keep the seconds of a phase that is over; `column` is one of `DURATIONS`."""
        struct.pack_into("<d", self._map, _HEAD.size + 8 * DURATIONS.index(column), seconds)
        self.sign()


def read_progress(path: Path) -> Progress | None:
    """The counters at `path`; None where there is no such file, or not a whole one."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) != _SIZE or not data.startswith(_MAGIC):
        return None
    _, pid, process_start, phase, completed, total, pass_start, last_sign = _HEAD.unpack_from(data)
    if not 0 <= phase < len(PHASES):
        return None
    seconds = _SECONDS.unpack_from(data, _HEAD.size)
    return Progress(
        pid=pid,
        process_start=process_start,
        phase=PHASES[phase],
        completed=completed,
        total=total,
        pass_start=None if math.isnan(pass_start) else pass_start,
        last_sign=last_sign,
        durations={name: value for name, value in zip(DURATIONS, seconds, strict=True) if not math.isnan(value)},
    )


@dataclass(frozen=True)
class Current:
    """An attempt that has started and has not ended, as another terminal sees it.

    Attributes:
        record: as written before the pass.
        progress: None before the worker has said anything.
        elapsed_s: seconds since the attempt started.
    """

    record: Record
    progress: Progress | None
    elapsed_s: float


def current(folder: Path, now: datetime | None = None) -> Current | None:
    """The attempt of the campaign that is under way, or was cut off and not yet recovered; None when there is none.

    Raises:
        InvalidInputError: an `attempt.json` is damaged.
    """
    moment = now or datetime.now(UTC)
    for record in reversed(read_records(folder)):
        attempt = record.attempt
        if attempt.outcome is None and attempt.started_at is not None:
            elapsed = (moment - datetime.fromisoformat(attempt.started_at)).total_seconds()
            progress = read_progress(attempt_folder(folder, attempt.attempt_id) / PROGRESS_FILE)
            return Current(record, progress, max(0.0, round(elapsed, 3)))
    return None
