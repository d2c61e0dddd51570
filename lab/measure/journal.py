"""The record of an attempt: as written before it starts, and as it is once its end is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Final

from lab.measure.memory import HOST_OF_PROCESS, with_whole_device
from lab.measure.orders import PREDICTIONS_FILE
from lab.measure.progress import Progress
from lab.measure.result import Result
from lab.messages import messages
from lab.model.attempt import COLUMNS, Attempt, Details, DeviceMemory, Outcome, Record, Slot
from lab.model.manifest import RunPolicy, Variant
from lab.model.reason import Reason
from lab.store.attempts import ATTEMPTS
from lab.store.canonical import canonical_json

_NOT_NEEDED: Final = ("download_s", "install_s", "compile_s")
_PHASES: Final = ("load_s", "warm_up_s", "evaluate_s", "export_s")
_MEMORY: Final = ("peak_allocated_bytes", "peak_reserved_bytes", "peak_device_bytes")


@dataclass(frozen=True)
class End:
    """How an attempt ended, and everything that is known of it then.

    Attributes:
        outcome: how it ended.
        why: the reason, when it did not complete.
        elapsed_s: seconds from its start to its end; None when the end is not known.
        result: what the worker said; None when it said nothing.
        progress: its counters, which survive it; None when there are none.
        facts: more facts of the run.
        host_peak_bytes: the worker's peak by the system's account, used when the worker gave none.
        known: devices of the pass by name and UUID, and `taken` the most that all processes had taken of each.
    """

    outcome: Outcome
    why: Reason | None
    elapsed_s: float | None
    result: Result | None
    progress: Progress | None
    facts: Mapping[str, str] = field(default_factory=dict)
    host_peak_bytes: int | None = None
    known: tuple[DeviceMemory, ...] = ()
    taken: Mapping[str, int | None] = field(default_factory=dict)


def started(
    known: Attempt, slot: Slot, variant: Variant, policy: RunPolicy, facts: Mapping[str, str] = MappingProxyType({})
) -> Record:
    """The record before the worker starts: outcome None, no measure yet.

    Args:
        known: id, start, environment and seal.
        slot: the planned pass.
        variant: whose settings the row carries, so that it stands alone.
        policy: warm-up and limits, kept with the attempt.
        facts: more that is known before it starts, such as the plan.
    """
    attempt = replace(
        known,
        variant=slot.variant,
        corpus=slot.corpus,
        parameters=canonical_json(variant.parameters()),
        round=slot.round,
        position=slot.position,
        seed=slot.seed,
    )
    rules = {
        "warm_up_passes": str(policy.warm_up.passes),
        "warm_up_inputs": str(policy.warm_up.inputs),
        "warm_up_recompilations": policy.warm_up.recompilations,
        "timeout_s": f"{policy.timeout_s:g}",
        "cool_down_s": f"{policy.cool_down_s:g}",
        "process": policy.process,
        "caches": policy.caches,
    }
    return Record(attempt, Details(facts={**rules, **facts}))


def finished(record: Record, end: End, language: str) -> Record:
    """The record with all that was measured until the end, and a reason for every measured cell left empty.

    Args:
        record: as it was started.
        end: how it ended.
        language: of the text in `missing_reason`.
    """
    said = end.result or Result(outcome=None)
    durations = {**(end.progress.durations if end.progress else {}), **said.durations}
    if end.outcome != "completed":
        durations.pop("duration_s", None)
    counters = end.progress.completed if end.progress else None
    completed = said.completed_inputs if end.result else counters
    has_file = said.predictions_sha256 is not None
    devices = with_whole_device(said.devices, end.taken, end.known)
    attempt = replace(
        record.attempt,
        outcome=end.outcome,
        completed_inputs=completed,
        elapsed_s=end.elapsed_s,
        predictions_path=f"{ATTEMPTS}/{record.attempt.attempt_id}/{PREDICTIONS_FILE}" if has_file else None,
        predictions_sha256=said.predictions_sha256,
        **_known(durations),
        **_largest(devices),
        energy_j=said.energy_j,
    )
    missing = _missing(attempt, said, devices, answered=end.result is not None)
    attempt = replace(attempt, missing_reason=reasons_text(missing, end.why, language) or None)
    details = replace(
        record.details,
        ended_because=end.why,
        missing=missing,
        devices=devices,
        host_peak_bytes=said.host_peak_bytes or end.host_peak_bytes,
        counts=said.counts,
        readings=said.readings,
        facts={**record.details.facts, **_scope(end, said), **end.facts, **said.facts},
    )
    return Record(attempt, details)


def reasons_text(missing: Mapping[str, str], why: Reason | None, language: str) -> str:
    """The cell `missing_reason`: the columns that share a reason, then the reason, in the campaign's language.

    The reason for which an attempt did not complete stands in place of "did not complete".
    """
    texts = messages(language)
    columns: dict[str, list[str]] = {}
    for column, key in missing.items():
        columns.setdefault(key, []).append(column)
    parts = []
    for key, names in columns.items():
        ended = why is not None and key == "missing.not_completed"
        text = texts.text(why.key, **why.values) if ended and why is not None else texts.text(key)
        parts.append(texts.text("missing.line", columns=", ".join(names), reason=text))
    return " ".join(parts)


def _known(durations: Mapping[str, float]) -> dict[str, Any]:
    names = {one.name for one in fields(Attempt)}
    return {name: value for name, value in durations.items() if name in names}


def _largest(devices: tuple[DeviceMemory, ...]) -> dict[str, Any]:
    """The largest single device for each counter; devices are never added up."""
    found = {}
    for name in _MEMORY:
        values = [value for one in devices if (value := getattr(one, name)) is not None]
        found[name] = max(values) if values else None
    return found


def _missing(attempt: Attempt, said: Result, devices: tuple[DeviceMemory, ...], *, answered: bool) -> dict[str, str]:
    """Column to reason for every measured cell that is empty, in the order of the columns."""
    on_cpu = _device(attempt).startswith("cpu")
    unseen = "missing.no_accelerator" if on_cpu else "missing.no_counter" if answered else "missing.worker_lost"
    reasons = {
        **dict.fromkeys(_NOT_NEEDED, "missing.not_needed"),
        **dict.fromkeys(_PHASES, "missing.not_reached"),
        **dict.fromkeys(_MEMORY, unseen),
        **({"peak_device_bytes": "missing.no_driver_counter"} if devices else {}),
        "duration_s": "missing.not_completed",
        "elapsed_s": "missing.end_unknown",
        "completed_inputs": "missing.no_progress",
        "energy_j": "missing.no_energy_counter",
        "predictions_path": "missing.no_predictions",
        "predictions_sha256": "missing.no_predictions",
        "seal": "missing.no_seal",
        **said.missing,
    }
    empty = [one.name for one in COLUMNS if getattr(attempt, one.name) is None]
    return {name: reasons[name] for name in empty if name in reasons}


def _scope(end: End, said: Result) -> dict[str, str]:
    """The scope of a host peak that is not the worker's own: the system's account of its whole life."""
    by_system = said.host_peak_bytes is None and end.host_peak_bytes is not None
    return {"scope.host_peak_bytes": HOST_OF_PROCESS} if by_system else {}


def _device(attempt: Attempt) -> str:
    settings: dict[str, Any] = json.loads(attempt.parameters or "{}")
    return str(settings.get("device", "cpu"))
