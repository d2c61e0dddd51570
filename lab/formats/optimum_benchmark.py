"""optimum-benchmark: `benchmark_report.json`, and `benchmark.json` with the configuration beside the report.

Shape: `optimum_benchmark/benchmark/report.py` and `trackers/` of huggingface/optimum-benchmark 0.2 to 0.6. A report
maps targets (load, forward, prefill, decode, per_token, call ...) to `latency {unit "s", values, count, mean ...}`,
`memory {unit "MB"}` (10^6 bytes), `energy {unit "kWh"}`. Up to 0.1 a latency was `{mean, stdev, values}` without a
unit, in seconds. Its memory is added up over devices and, in some versions, over processes.

A value of a target is one iteration over a batch the tool made up, so it is no pass; `--passes TARGET` says it is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab.formats.base import Choices, Format, Found, Latencies, Reading, Source, Values, listed, of
from lab.formats.notes import aggregates, left_out
from lab.model.reason import Reason, reason

_MEASURED = ("latency", "memory", "energy", "throughput", "efficiency")
_SUMS = ("mean", "stdev", "p50", "p90", "p95", "p99", "total")
_LOAD = "load"
_CELLS = {
    "max_allocated": "peak_allocated_bytes",
    "max_reserved": "peak_reserved_bytes",
    "max_global_vram": "peak_device_bytes",
}
_OLD = {  # up to 0.1
    "max_memory_allocated": "max_allocated",
    "max_memory_reserved": "max_reserved",
    "max_memory_used": "max_global_vram",
}


def _report(source: Source) -> Mapping[str, Any]:
    whole = of(source.json)
    return of(whole["report"]) if "report" in whole else whole


def _matches(source: Source) -> bool:
    targets = _report(source)
    measured = [one for one in targets.values() if isinstance(one, Mapping) and set(one) & set(_MEASURED)]
    return bool(measured) and len(measured) == len(targets) and any("latency" in one for one in measured)


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source = sources[0]
    values = Values(source.name, choices.units)
    report, config = _report(source), of(of(source.json).get("config"))
    populations = []
    notes: list[Reason] = []
    for name, target in report.items():
        latency = of(of(target).get("latency"))
        raw = listed(latency.get("values"))
        if raw:
            unit = str(latency.get("unit", "s"))
            populations.append(Latencies(name, values.all_seconds(raw, f"{name}.latency.values", unit)))
        notes += _sums(latency, name, raw=bool(raw))
    cells, missing, memory_notes = _memory(report, config, values)
    notes += memory_notes
    if energy := _energy(report):
        missing["energy_j"] = "missing.energy_by_target"
        notes += energy
    notes += left_out(values.absent)
    loads = next((one.values for one in populations if one.name == _LOAD), ())
    cells["load_s"] = round(loads[0], 6) if len(loads) == 1 else None
    targets = tuple(one for one in populations if one.name != _LOAD)
    session = Found("report", cells, missing, populations=targets, facts=_facts(config), notes=tuple(notes))
    known = [one.name for one in targets]
    if choices.passes is not None and choices.passes not in known:
        values.fault("import-no-target", "--passes", found=choices.passes, known=known)
    raw = listed(of(of(report.get(str(choices.passes))).get("latency")).get("values"))
    unit = str(of(of(report.get(str(choices.passes))).get("latency")).get("unit", "s"))
    each = values.each_seconds(raw, f"{choices.passes}.latency.values", unit) if not values.faults else []
    values.done()
    found = (_whole(session),) if choices.passes is None else tuple(_passes(session, choices.passes, each))
    version = of(config.get("environment")).get("optimum_benchmark_version")
    return Reading(found, None if version is None else str(version))


def _sums(latency: Mapping[str, Any], name: str, *, raw: bool) -> tuple[Reason, ...]:
    """Aggregates of a target that has no raw values; 0 of a count of 0 is nothing at all."""
    if raw or not latency or latency.get("count") == 0:
        return ()
    return aggregates(latency, _SUMS, f"{name}.latency", str(latency.get("unit", "s")))


def _whole(session: Found) -> Found:
    """The session as one attempt without a duration: its iterations are no passes."""
    empty = not session.populations and not session.notes
    why = "missing.iterations" if session.populations else "missing.aggregate_only"
    return replace(
        session,
        cells={**session.cells, "outcome": "failed" if empty else "completed"},
        missing={"duration_s": why, "elapsed_s": why, **session.missing},
        because=reason("ended.imported.empty") if empty else None,
    )


def _passes(session: Found, target: str, each: Sequence[float | None]) -> Iterator[Found]:
    """Each value of the target as a pass; what belongs to the whole session is with the first."""
    rest = tuple(one for one in session.populations if one.name != target)
    for number, value in enumerate(each):
        seconds = None if value is None else round(value, 6)
        taken = {
            "outcome": "completed" if seconds else "failed",
            "elapsed_s": seconds,
            "duration_s": seconds or None,
        }
        first = number == 0
        yield replace(
            session,
            place=f"{target}.latency.values[{number}]",
            cells={**session.cells, **taken, **({} if first else {"load_s": None})},
            missing={**session.missing, **({} if first else {"load_s": "missing.loaded_before"})},
            because=None if seconds else reason("ended.imported.no_time"),
            populations=rest if first else (),
            notes=session.notes if first else (),
        )


def _memory(
    report: Mapping[str, Any], config: Mapping[str, Any], values: Values
) -> tuple[dict[str, Any], dict[str, str], tuple[Reason, ...]]:
    """The largest peaks of all targets, where one device was used; else blank, since the source added them up."""
    largest: dict[str, int] = {}
    for name, target in report.items():
        memory = of(of(target).get("memory"))
        for key, value in memory.items():
            column = _CELLS.get(_OLD.get(key, key))
            size = values.bytes(value, f"{name}.memory.{key}", str(memory.get("unit", "MB"))) if column else None
            if column and size:
                largest[column] = max(size, largest.get(column, 0))
    devices = _devices(config)
    if devices == 1 or not largest:
        return dict(largest), {}, ()
    why = "missing.devices_unknown" if devices is None else "missing.devices_summed"
    said = [f"{column} = {size}" for column, size in largest.items()]
    return {}, dict.fromkeys(largest, why), (reason("imported.note.summed", figures=said),)


def _devices(config: Mapping[str, Any]) -> int | None:
    """How many devices the configuration names; None where it does not say."""
    backend = of(config.get("backend"))
    ids = backend.get("device_ids")
    if isinstance(ids, int) and not isinstance(ids, bool):
        return 1
    if isinstance(ids, str) and ids.strip():
        return len(ids.split(","))
    if isinstance(ids, list) and ids:
        return len(ids)
    return None


def _energy(report: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Energy by target, as a note: targets overlap (prefill is part of generate), so they have no sum."""
    said = [
        f"{name}.energy.total = {energy['total']} {energy.get('unit', 'kWh')}"
        for name, target in report.items()
        if (energy := of(of(target).get("energy"))) and energy.get("total") is not None
    ]
    return (reason("imported.note.energy", figures=said),) if said else ()


def _facts(config: Mapping[str, Any]) -> dict[str, str]:
    backend, environment = of(config.get("backend")), of(config.get("environment"))
    picked = {
        "source.name": config.get("name"),
        "source.model": backend.get("model"),
        "source.backend": backend.get("name"),
        "source.device": backend.get("device"),
        "source.gpu": environment.get("gpu"),
    }
    return {name: str(value)[:200] for name, value in picked.items() if value not in (None, "", [])}


OPTIMUM_BENCHMARK = Format("optimum-benchmark", "optimum-benchmark", _matches, _read)
