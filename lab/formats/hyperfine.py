"""hyperfine: `--export-json`, one time for each run of a whole process.

Shape: `src/benchmark/benchmark_result.rs` of sharkdp/hyperfine. Up to 1.21 a result has the lists `times` (which can be
left out), `exit_codes` (from 1.12) and `memory_usage_byte`, in seconds and bytes whatever `--time-unit` says, and up to
1.10 one `parameter` in place of `parameters`. 2.0 (`schema_version` 2) has `measurements`, a run each, of
`{value, unit}`, and `metadata` with its version. A null exit code is a process that a signal ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.formats.base import Choices, Format, Found, Reading, Source, Values, listed, of
from lab.formats.notes import aggregates
from lab.model.attempt import Outcome
from lab.model.reason import Reason, reason

_AGGREGATES = ("mean", "stddev", "median", "user", "system", "min", "max")
_WORDS = {"second": "s", "millisecond": "ms", "microsecond": "us", "byte": "B"}  # how 2.0 writes its units
_MEMORY = ("memory_peak_resident", "peak_memory_usage")  # of 2.0, and of what came before its release
_NOT_STATED = object()


@dataclass(frozen=True)
class _Run:
    """One run as either version states it; the exit code is `_NOT_STATED` where there is none."""

    place: str
    time: object
    unit: str = "s"
    code: object = _NOT_STATED
    memory: object = None
    memory_unit: str = "B"


def _matches(source: Source) -> bool:
    results = listed(of(source.json).get("results"))
    named = {"mean", "times", "measurements", "summary"}
    return bool(results) and all("command" in of(one) and named & set(of(one)) for one in results)


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source = sources[0]
    values = Values(source.name, choices.units)
    found: list[Found] = []
    for number, result in enumerate(listed(of(source.json)["results"])):
        found += _attempts(of(result), f"results[{number}]", values, choices)
    values.done()
    version = of(of(source.json).get("metadata")).get("hyperfine_version")
    return Reading(tuple(found), None if version is None else str(version))


def _attempts(result: Mapping[str, Any], place: str, values: Values, choices: Choices) -> Iterator[Found]:
    """One attempt a run; one without a duration where only aggregates were kept."""
    facts, notes = _facts(result), _notes(result, place)
    runs = list(_measured(result, place) if "measurements" in result else _listed(result, place, values))
    if not runs:
        outcome, because = _all_ended(result.get("exit_codes"), place, values, choices)
        gone = dict.fromkeys(("duration_s", "elapsed_s"), "missing.aggregate_only")
        yield Found(place, {"outcome": outcome}, gone, because, place, facts=facts, notes=notes)
    for number, run in enumerate(runs):
        outcome, because = _ended(run.code, run.place, values, choices)
        seconds = values.seconds(run.time, run.place, run.unit)
        if outcome == "completed" and not seconds:
            outcome, because = "failed", reason("ended.imported.no_time")
        yield Found(
            run.place,
            {"outcome": outcome, "elapsed_s": seconds, "duration_s": seconds if outcome == "completed" else None},
            missing={
                **dict.fromkeys(("load_s", "warm_up_s"), "missing.whole_process"),
                "peak_device_bytes": "missing.host_memory_only",
            },
            because=because,
            group=place,
            host_peak_bytes=values.bytes(run.memory, run.place, run.memory_unit) if run.memory else None,
            facts=facts,
            notes=notes if number == 0 else (),
        )


def _listed(result: Mapping[str, Any], place: str, values: Values) -> Iterator[_Run]:
    """The runs of version 1: lists that belong together."""
    times, codes, memory = (
        listed(result.get("times")),
        result.get("exit_codes"),
        listed(result.get("memory_usage_byte")),
    )
    if times and isinstance(codes, list) and len(codes) != len(times):
        values.fault("import-lists-differ", place, first="times", second="exit_codes")
        return
    for number, time in enumerate(times):
        code = codes[number] if isinstance(codes, list) and number < len(codes) else _NOT_STATED
        peak = memory[number] if number < len(memory) else None
        yield _Run(f"{place}.times[{number}]", time, code=code, memory=peak)


def _measured(result: Mapping[str, Any], place: str) -> Iterator[_Run]:
    """The runs of version 2: each with its quantities and their units."""
    for number, held in enumerate(listed(result["measurements"])):
        one = of(held)
        wall = of(one.get("time_wall_clock"))
        peak = next((of(one[name]) for name in _MEMORY if of(one.get(name))), {})
        units = [str(quantity.get("unit", default)) for quantity, default in ((wall, "second"), (peak, "byte"))]
        time_unit, memory_unit = (_WORDS.get(unit, unit) for unit in units)
        code = one.get("exit_code", _NOT_STATED)
        here = f"{place}.measurements[{number}]"
        yield _Run(here, wall.get("value"), time_unit, code, peak.get("value"), memory_unit)


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    parameters = result.get("parameters", result.get("parameter"))
    named = of(parameters) or ({"value": parameters} if isinstance(parameters, str) else {})
    found = {"source.command": str(result.get("command", ""))[:500]}
    if result.get("name"):
        found["source.name"] = str(result["name"])[:200]
    return found | {f"source.parameter.{name}": str(value)[:200] for name, value in named.items()}


def _notes(result: Mapping[str, Any], place: str) -> tuple[Reason, ...]:
    summary = of(of(result.get("summary")).get("time_wall_clock"))
    return aggregates(summary or result, _AGGREGATES, place, "s")


def _ended(code: object, place: str, values: Values, choices: Choices) -> tuple[Outcome, Reason | None]:
    """How one run ended."""
    if code is _NOT_STATED:
        if choices.ended is None:
            values.fault("import-end-unknown", place, option="--ended completed")
        return choices.ended or "failed", None
    if code is None:
        return "failed", reason("ended.imported.signal")
    number = values.whole(abs(code) if isinstance(code, int) else code, place)
    return ("completed", None) if number == 0 else ("failed", reason("ended.imported.exit_code", code=str(code)))


def _all_ended(codes: object, place: str, values: Values, choices: Choices) -> tuple[Outcome, Reason | None]:
    """How the runs of a command ended whose times were left out: one that failed decides."""
    if not isinstance(codes, list) or not codes:
        return _ended(_NOT_STATED, place, values, choices)
    bad = [one for one in codes if one != 0]
    return _ended(bad[0] if bad else 0, place, values, choices)


HYPERFINE = Format("hyperfine", "hyperfine", _matches, _read)
