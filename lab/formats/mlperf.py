"""MLPerf inference: `mlperf_log_summary.txt`, with `mlperf_log_detail.txt` and `mlperf_log_accuracy.json` beside it.

Shape: `loadgen/results.cc` and `logging.cc` of mlcommons/inference (at 05a9cec). Latencies are nanoseconds.
A run that is INVALID by its own rules failed. Only in the scenario Offline, one query of all samples, is the largest
latency the time of the whole run (`Samples per second` is samples / that); every other figure is an aggregate.
An accuracy log holds answers as bytes in hexadecimal by place in the data set: they are not decoded here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.errors import InvalidInputError, fault
from lab.formats.base import Choices, Format, Found, Reading, Source, Values, listed, of
from lab.model.reason import Reason, reason

_TITLE = "MLPerf Results Summary"
_LINE = re.compile(r"^\s*([^:*]+?)\s*:\s*(.+?)\s*$")
_MARK = ":::MLLOG"
_OFFLINE = "Offline"


def _summary(source: Source) -> bool:
    return _TITLE in source.head


def _detail(source: Source) -> bool:
    return source.head.startswith(_MARK)


def _accuracy(source: Source) -> bool:
    if not source.looks_like_json or "qsl_idx" not in source.head:
        return False
    entries = listed(source.json)
    return bool(entries) and {"qsl_idx", "data"} <= set(of(entries[0]))


def _matches(source: Source) -> bool:
    return _summary(source) or _detail(source) or _accuracy(source) or _no_results(source)


def _no_results(source: Source) -> bool:
    """A summary of an accuracy run, or of one that was cut off before its results."""
    return source.head.startswith("No ") and "performance results" in source.head.lower()


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    """Files of one folder; the summary is the result, the others say more of it."""
    of_kind = [(one, _summary(one) or _no_results(one)) for one in sources]
    summaries = [one for one, yes in of_kind if yes]
    if len(summaries) != 1:
        slug = "import-mlperf-summary" if not summaries else "import-mlperf-several"
        raise InvalidInputError(fault(slug, file=sources[0].name, found=[one.name for one in sources]))
    summary = summaries[0]
    values = Values(summary.name, choices.units)
    logged = _logged(next((one for one in sources if _detail(one)), None))
    stated = _stated(summary.text)
    answers = [len(listed(one.json)) for one in sources if _accuracy(one)]
    notes: tuple[Reason, ...] = _aggregates(stated)
    if answers:
        notes = (*notes, reason("imported.note.accuracy_log", answers=sum(answers)))
    found = _run(stated, logged, values, notes)
    values.done()
    version = logged.get("loadgen_version")
    return Reading((found,) if found else (), None if version is None else str(version).split(" ")[0], notes)


def _stated(text: str) -> dict[str, str]:
    """`name : value` lines, the first of each name: parameters at the end repeat some."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := _LINE.match(line):
            found.setdefault(match[1], match[2])
    return found


def _logged(detail: Source | None) -> dict[str, Any]:
    """Key to value of the detail log; a last line that was cut off is no entry."""
    found: dict[str, Any] = {}
    for line in detail.text.splitlines() if detail else ():
        if line.startswith(_MARK):
            try:
                entry = of(json.loads(line.removeprefix(_MARK)))
            except ValueError:
                continue
            found[str(entry.get("key"))] = entry.get("value")
    return found


def _run(
    stated: Mapping[str, str], logged: Mapping[str, Any], values: Values, notes: tuple[Reason, ...]
) -> Found | None:
    verdict, scenario = stated.get("Result is"), stated.get("Scenario")
    mode = stated.get("Mode", "")
    if "Accuracy" in mode or (verdict is None and scenario is None):
        return None  # answers were kept, nothing was timed
    samples = values.whole(logged.get("result_query_count") if scenario != _OFFLINE else None, "result_query_count")
    samples = samples if samples is not None else values.whole(logged.get("generated_samples_per_query"), "detail")
    valid = verdict == "VALID"
    seconds = None
    if scenario == _OFFLINE:
        name = "Max latency (ns)"
        seconds = values.seconds(stated.get(name, logged.get("result_max_latency_ns")), name, "ns")
    good = valid and bool(seconds) if scenario == _OFFLINE else valid
    because = None
    if verdict is None:
        because = reason("ended.imported.no_result_line")
    elif not good:
        because = reason(
            "ended.imported.invalid", why=str(logged.get("result_invalid_reason", "")).strip() or _unmet(stated)
        )
    return Found(
        "summary",
        {
            "outcome": "completed" if good else "failed",
            "started_at": _started(logged, values),
            "completed_inputs": samples if good else None,
            "elapsed_s": seconds,
            "duration_s": seconds if good else None,
        },
        missing={} if seconds else dict.fromkeys(("duration_s", "elapsed_s"), "missing.aggregate_only"),
        because=because,
        facts={
            f"source.{name.lower().replace(' ', '_')}": stated[name][:200]
            for name in ("SUT name", "Scenario", "Mode")
            if name in stated
        },
        notes=notes,
    )  # fmt: skip


def _unmet(stated: Mapping[str, str]) -> str:
    """The conditions that the summary itself says were not met."""
    return ", ".join(name.removesuffix(" satisfied") for name, value in stated.items() if value == "NO") or "INVALID"


def _aggregates(stated: Mapping[str, str]) -> tuple[Reason, ...]:
    found: list[Reason] = []
    for part, unit in (("latency (ns)", "ns"), ("per second", "1/s")):
        figures = [f"{name} = {value}" for name, value in stated.items() if part in name][:12]
        if figures:
            found.append(reason("imported.note.aggregates", place="summary", figures=figures, unit=unit))
    return tuple(found)


def _started(logged: Mapping[str, Any], values: Values) -> str | None:
    """`power_begin` or `test_datetime` with its offset or a Z; loadgen's `time_ms` counts from the start of the run."""
    for name in ("power_begin", "test_datetime"):
        text = str(logged.get(name, ""))
        try:
            found = datetime.strptime(text, "%m-%d-%Y %H:%M:%S.%f") if "-" in text[:3] else datetime.fromisoformat(text)  # noqa: DTZ007  (the next line: power_begin is UTC)
        except ValueError:
            continue
        found = found.replace(tzinfo=UTC) if name == "power_begin" else found
        start = values.moment(found, name) if found.tzinfo else None
        if start is not None:
            return start.astimezone(UTC).isoformat()
    return None


MLPERF = Format("mlperf", "MLPerf loadgen", _matches, _read, together=True)
