"""What a worker says of its attempt when it is done, as the file it leaves for its supervisor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lab.model.attempt import DeviceMemory, Outcome
from lab.model.reason import Reason
from lab.store.files import write_atomically

RESULT_FILE = ".result.json"


@dataclass(frozen=True)
class Result:
    """Everything a worker measured.

    Attributes:
        outcome: how the pass ended; None when the worker was told to stop, whose reason its supervisor knows.
        reason: why, when it did not complete.
        durations: seconds by column, of the phases that were reached to their end.
        missing: column to `missing.<why>` for the phases that were not, as far as the worker knows.
        counts: see `Details.counts`; `facts` and `readings` likewise.
        devices: memory peaks device by device.
        host_peak_bytes: peak resident set of the worker.
        energy_j: joules of the pass over all its devices; None without a counter.
        completed_inputs: inputs whose prediction was on the host.
        predictions_sha256: of the predictions file, whole or partial; None without one.
    """

    outcome: Outcome | None
    reason: Reason | None = None
    durations: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    readings: Mapping[str, float | None] = field(default_factory=dict)
    devices: tuple[DeviceMemory, ...] = ()
    host_peak_bytes: int | None = None
    energy_j: float | None = None
    completed_inputs: int = 0
    predictions_sha256: str | None = None

    def write(self, path: Path) -> None:
        """Write it whole or not at all."""
        data = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in vars(self).items()
            if name not in {"reason", "devices"}
        }
        data["reason"] = None if self.reason is None else {"key": self.reason.key, "values": dict(self.reason.values)}
        data["devices"] = [asdict(one) for one in self.devices]
        write_atomically(path, json.dumps(data, ensure_ascii=False, allow_nan=False).encode())


def read_result(path: Path) -> Result | None:
    """The result at `path`; None where the worker left none, or none that is whole."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        reason = data.pop("reason")
        devices = data.pop("devices")
        return Result(
            **data,
            reason=None if reason is None else Reason(reason["key"], reason["values"]),
            devices=tuple(DeviceMemory(**one) for one in devices),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
