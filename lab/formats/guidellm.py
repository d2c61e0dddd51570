"""guidellm: `benchmarks.json`, one run for each benchmark of the report, with the latencies of its requests.

Shape: guidellm 0.8.1 (`benchmark/schemas/report.py`, metadata version 2: `scheduler_metrics`, `requests`), and the
first version (`benchmark/benchmark.py`: `run_stats` with `requests_made`, or with `total_successful` and its like).
Moments are seconds since 1970, latencies seconds, `time_to_first_token_ms` milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.formats.base import Choices, Format, Found, Latencies, Reading, Source, Values, listed, of
from lab.formats.notes import left_out
from lab.model.reason import reason

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATES = ("successful", "incomplete", "errored")
_OLD_COUNTS = {"successful": "total_successful", "incomplete": "total_incomplete", "errored": "total_errored"}


def _matches(source: Source) -> bool:
    found = listed(of(source.json).get("benchmarks"))
    own = "guidellm_version" in of(of(source.json).get("metadata"))
    return own or (bool(found) and all({"run_stats", "scheduler_metrics"} & set(of(one)) for one in found))


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source = sources[0]
    whole, values = of(source.json), Values(source.name, choices.units)
    found = tuple(
        _run(of(one), f"benchmarks[{number}]", values) for number, one in enumerate(listed(whole.get("benchmarks")))
    )
    values.done()
    version = of(whole.get("metadata")).get("guidellm_version")
    return Reading(found, None if version is None else str(version))


def _run(one: Mapping[str, Any], place: str, values: Values) -> Found:
    stats = of(one.get("run_stats")) or of(one.get("scheduler_metrics"))
    made = of(stats.get("requests_made"))
    counts = {state: values.whole(made.get(state, stats.get(_OLD_COUNTS[state])), place) for state in _STATES}
    start = _moment((one.get("start_time"), stats.get("measure_start_time"), stats.get("start_time")), values, place)
    end = _moment((one.get("end_time"), stats.get("measure_end_time"), stats.get("end_time")), values, place)
    seconds = values.seconds(end - start, f"{place}.end_time") if start is not None and end is not None else None
    done, lost = counts["successful"] or 0, (counts["incomplete"] or 0) + (counts["errored"] or 0)
    # Requests that no count tells of are unknown, and unknown is not whole.
    whole = done > 0 and lost == 0 and None not in counts.values() and bool(seconds)
    because = None if whole else reason("ended.imported.requests", completed=done, failed=lost, planned=done + lost)
    populations = _populations(one, place, values)
    notes = left_out({name: held for name, held in values.absent.items() if name.startswith(f"{place}.")})
    if not listed(of(one.get("requests")).get("successful")):
        notes = (*notes, reason("imported.note.no_requests"))
    started = _started(start, place, values)
    return Found(
        place,
        {
            "outcome": "completed" if whole else "failed",
            "started_at": started,
            "completed_inputs": done,
            "elapsed_s": seconds,
            "duration_s": seconds if whole else None,
        },
        because=because,
        group=place,
        populations=populations,
        facts=_facts(one),
        notes=notes,
    )


def _started(start: float | None, place: str, values: Values) -> str | None:
    """The moment as text; milliseconds in place of seconds give no moment that can be."""
    if not start:
        return None
    found = values.moment(_EPOCH, place, before=-start, stated=start)
    return None if found is None else found.isoformat()


def _moment(places: Sequence[object], values: Values, place: str) -> float | None:
    """Seconds since 1970; the newer version has it at the benchmark, the older one in its statistics."""
    for held in places:
        found = values.number(held, place)
        if found is not None and found >= 0:  # -1 stands for a moment that was not taken
            return found
    return None


def _populations(one: Mapping[str, Any], place: str, values: Values) -> tuple[Latencies, ...]:
    good = [of(request) for request in listed(of(one.get("requests")).get("successful"))]
    here = f"{place}.requests.successful"
    whole = values.all_seconds([_latency(request) for request in good], here)
    first_at = f"{here}.time_to_first_token_ms"
    first = values.all_seconds([request.get("time_to_first_token_ms") for request in good], first_at, "ms")
    found = (Latencies("request", whole), Latencies("time_to_first_token", first))
    return tuple(one for one in found if one.values)


def _latency(request: Mapping[str, Any]) -> object:
    """End to end in seconds: as computed by the tool, else between the two moments of the older version."""
    start, end = request.get("start_time"), request.get("end_time")
    if request.get("request_latency") is None and isinstance(start, int | float) and isinstance(end, int | float):
        return end - start
    return request.get("request_latency")


def _facts(one: Mapping[str, Any]) -> dict[str, str]:
    config = of(one.get("config"))
    strategy = of(config.get("strategy")) or of(of(one.get("args")).get("strategy"))
    kind = strategy.get("type_")
    return {"source.strategy": str(kind)[:200]} if kind else {}


GUIDELLM = Format("guidellm", "guidellm", _matches, _read)
