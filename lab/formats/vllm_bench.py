"""vLLM: `vllm bench throughput`, `latency` and `serve`, and the scripts `benchmark_*.py` before them.

Shape: `throughput.py`, `latency.py`, `serve.py` in `vllm/benchmarks/` of vllm-project/vllm (2026; 0202831 and 00cae07
for the first two). Raw times are seconds, figures that end in `_ms` milliseconds. `serve` writes lists for each request
only with `--save-detailed`; older versions write no `failed`, and where `num_prompts` and `errors` lack as well nothing
says that the run was whole. SGLang's `bench_serving` writes many of these keys and is another tool. A batch of
`latency` is made-up text, so one of its times is no pass; `--passes latencies` says it is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.formats.base import Choices, Format, Found, Latencies, Reading, Source, Values, listed, of
from lab.formats.notes import aggregates, left_out
from lab.model.attempt import Outcome
from lab.model.reason import Reason, reason

_LATENCY, _THROUGHPUT, _SERVE = (
    {"avg_latency", "percentiles"},
    {"elapsed_time", "num_requests"},
    {"duration", "completed"},
)
_SGLANG = {"mean_e2e_latency_ms", "total_output_tokens_retokenized"}
_SCALE = 20  # how far a mean and the mean of its raw values are apart when their units are not what is documented


def _kind(value: Mapping[str, Any]) -> str | None:
    if set(value) >= _LATENCY or {"avg_latency", "latencies"} <= set(value):
        return "latency"
    if set(value) >= _THROUGHPUT and ({"requests_per_second", "tokens_per_second"} & set(value)):
        return "throughput"
    if _SGLANG & set(value):
        return None
    if set(value) >= _SERVE and any(name.endswith(("ttft_ms", "_throughput")) for name in value):
        return "serve"
    return None


def _matches(source: Source) -> bool:
    return _kind(of(source.json)) is not None


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source = sources[0]
    value, values = of(source.json), Values(source.name, choices.units)
    read = {"latency": _latency, "throughput": _throughput, "serve": _serve}[str(_kind(value))]
    found = read(value, values, choices)
    values.done()
    return Reading(tuple(found), None)


def _throughput(value: Mapping[str, Any], values: Values, choices: Choices) -> list[Found]:  # noqa: ARG001  (one shape)
    seconds = values.seconds(value["elapsed_time"], "elapsed_time")
    requests = values.whole(value["num_requests"], "num_requests")
    empty = not requests or not seconds
    return [
        Found(
            "elapsed_time",
            {
                "outcome": "failed" if empty else "completed",
                "completed_inputs": requests,
                "elapsed_s": seconds,
                "duration_s": None if empty else seconds,
            },
            because=reason("ended.imported.empty") if empty else None,
            facts=_facts(value, "throughput"),
            notes=aggregates(value, ("requests_per_second", "tokens_per_second"), "throughput", "1/s"),
        )
    ]


def _latency(value: Mapping[str, Any], values: Values, choices: Choices) -> list[Found]:
    listed_values, facts = listed(value.get("latencies")), _facts(value, "latency")
    if choices.passes == "latencies":
        each = values.each_seconds(listed_values, "latencies")
        return [_pass(one, f"latencies[{number}]", facts) for number, one in enumerate(each)]
    if choices.passes is not None:
        values.fault("import-no-target", "--passes", found=choices.passes, known=["latencies"])
    raw = values.all_seconds(listed_values, "latencies")
    notes = left_out(values.absent)
    notes = aggregates(value, ("avg_latency", "std_latency"), "latency", "s") if not raw else notes
    why = "missing.iterations" if raw else "missing.aggregate_only"
    return [
        Found(
            "latencies",
            {"outcome": "completed" if raw or notes else "failed"},
            dict.fromkeys(("duration_s", "elapsed_s"), why),
            None if raw or notes else reason("ended.imported.empty"),
            populations=(Latencies("iteration", raw),) if raw else (),
            facts=facts,
            notes=notes,
        )
    ]


def _pass(value: float | None, place: str, facts: Mapping[str, str]) -> Found:
    """One iteration as a pass; one without a time failed."""
    seconds = None if value is None else round(value, 6)
    return Found(
        place,
        {"outcome": "completed" if seconds else "failed", "elapsed_s": seconds, "duration_s": seconds or None},
        because=None if seconds else reason("ended.imported.no_time"),
        facts=facts,
    )


def _serve(value: Mapping[str, Any], values: Values, choices: Choices) -> list[Found]:
    seconds = values.seconds(value["duration"], "duration")
    completed = values.whole(value["completed"], "completed") or 0
    failed, planned = _failed(value, completed, values)
    whole = completed > 0 and failed == 0 and bool(seconds)
    outcome: Outcome = "completed" if whole else "failed"
    because = None if whole else reason("ended.imported.requests", completed=completed, failed=failed, planned=planned)
    if whole and not {"failed", "num_prompts", "errors"} & set(value):
        if choices.ended is None:
            values.fault("import-end-unknown", "completed", option="--ended completed")
        outcome = choices.ended or "failed"
    populations, started = _requests(value, values), _started(value, values)
    return [
        Found(
            "duration",
            {
                "outcome": outcome,
                "started_at": started,
                "completed_inputs": completed,
                "elapsed_s": seconds,
                "duration_s": seconds if outcome == "completed" else None,
            },
            missing={} if started else {"started_at": "missing.no_zone"},
            because=because,
            populations=populations,
            counts={
                name: count
                for name in ("total_input_tokens", "total_output_tokens")
                if (count := values.whole(value.get(name), name)) is not None
            },
            facts=_facts(value, "serve"),
            notes=(*_figures(value), *left_out(values.absent)),
        )
    ]


def _failed(value: Mapping[str, Any], completed: int, values: Values) -> tuple[int, int]:
    """Requests that failed, and how many there were to be."""
    errors = sum(1 for one in listed(value.get("errors")) if one)
    stated = values.whole(value.get("failed"), "failed")
    planned = values.whole(value.get("num_prompts"), "num_prompts")
    failed = max(stated or 0, errors, (planned or 0) - completed)
    return failed, planned or completed + failed


def _requests(value: Mapping[str, Any], values: Values) -> tuple[Latencies, ...]:
    """First-token, inter-token and end-to-end latencies; the last is the sum of the others, request by request."""
    failed = [bool(one) for one in listed(value.get("errors"))]
    firsts, between = listed(value.get("ttfts")), listed(value.get("itls"))
    good = [n for n in range(len(firsts)) if n >= len(failed) or not failed[n]]
    first = values.all_seconds([firsts[n] for n in good], "ttfts")
    found = [Latencies("time_to_first_token", first)] if first else []
    _check_mean(first, value.get("mean_ttft_ms"), values)
    rests = [values.all_seconds(listed(between[n]), f"itls[{n}]") for n in good if n < len(between)]
    if any(rests):
        found.append(Latencies("inter_token", [one for rest in rests for one in rest]))
    # A sum of parts of which one is not there is no latency of its request.
    if rests and len(rests) == len(first) == len(good) and not values.absent:
        whole = [one + math.fsum(rest) for one, rest in zip(first, rests, strict=True)]
        found.append(Latencies("request", whole))
    return tuple(found)


def _check_mean(first: Sequence[float], mean_ms: object, values: Values) -> None:
    """Raw first-token times are seconds, their mean is stated in ms: where they do not agree, somebody must say."""
    if not first or not isinstance(mean_ms, int | float) or not mean_ms or values.units.time:
        return
    mean = math.fsum(first) / len(first) * 1000
    if not mean_ms / _SCALE < mean < mean_ms * _SCALE:
        facts = {"found": f"{mean / 1000:.6g}", "stated": f"{mean_ms:.6g}", "option": "--unit time=ms"}
        values.fault("import-mean-doubt", "ttfts", **facts)


def _started(value: Mapping[str, Any], values: Values) -> str | None:
    """`date` is `%Y%m%d-%H%M%S` of a clock whose zone is not stated: a start only where the offset is there."""
    try:
        found = datetime.fromisoformat(str(value.get("date", "")))
    except ValueError:
        return None
    start = values.moment(found, "date") if found.tzinfo else None
    return None if start is None else start.astimezone(UTC).isoformat()


def _figures(value: Mapping[str, Any]) -> tuple[Reason, ...]:
    names = [name for name in value if name.endswith("_ms") and not isinstance(value[name], list)]
    return aggregates(value, names, "serve", "ms")


def _facts(value: Mapping[str, Any], kind: str) -> dict[str, str]:
    picked = {"source.bench": kind, "source.model": value.get("model_id"), "source.date": value.get("date"),
              "source.backend": value.get("backend") or value.get("endpoint_type"),
              "source.request_rate": value.get("request_rate")}  # fmt: skip
    return {name: str(one)[:200] for name, one in picked.items() if one not in (None, "")}


VLLM_BENCH = Format("vllm-bench", "vLLM", _matches, _read)
