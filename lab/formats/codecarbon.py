"""codecarbon: `emissions.csv`, one run a row, with its seconds and its energy.

Shape: `codecarbon/output_methods/emissions_data.py` of codecarbon 3.3.2 (2.x lacks `water_consumed`, `pue`, `wue` and
the utilisation columns; a file of tasks has `task_name` in front). `duration` is seconds, `energy_consumed` kWh of
processor, memory and cards together. `timestamp` has no offset, and a row does not say how its run ended. A tracker
that is flushed writes its run again, with the seconds since its start: rows of one run are readings of one value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from lab.formats.base import Choices, Format, Found, Reading, Source, Values
from lab.formats.csv_text import csv_rows
from lab.model.attempt import Outcome
from lab.model.reason import reason

_NEEDED = {"timestamp", "project_name", "run_id", "duration", "emissions"}


def _matches(source: Source) -> bool:
    first = source.head.partition("\n")[0].strip()
    return set(first.split(",")) >= _NEEDED


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source = sources[0]
    values = Values(source.name, choices.units)
    rows = csv_rows(source.text, source.name)
    header = next(rows)[1]
    found, versions = [], set()
    seen: dict[tuple[str, str], str] = {}
    for place, cells in rows:
        if len(cells) != len(header):
            values.fault("import-row-width", place, found=len(cells), wanted=len(header))
            continue
        row = dict(zip(header, cells, strict=True))
        versions.add(row.get("codecarbon_version") or None)
        run = row["run_id"], row.get("task_name", "")
        if run in seen:
            values.fault("import-run-twice", place, run=run[0][:60], first=seen[run])
        seen.setdefault(run, place)
        found.append(_run(row, place, values, choices))
    values.done()
    known = versions - {None}
    return Reading(tuple(found), known.pop() if len(known) == 1 else None)


def _run(row: Mapping[str, str], place: str, values: Values, choices: Choices) -> Found:
    seconds = values.seconds(row["duration"], place)
    energy = values.joules(row.get("energy_consumed"), place, "kWh")
    outcome: Outcome = choices.ended or "failed"
    if choices.ended is None:
        values.fault("import-end-unknown", place, option="--ended completed")
    because = None if seconds else reason("ended.imported.no_time")
    outcome = outcome if seconds else "failed"
    started = _started(row["timestamp"], seconds, place, values)
    return Found(
        f"{place}, {row['run_id'][:60]}",
        {
            "outcome": outcome,
            "started_at": None if started is None else started.isoformat(),
            "elapsed_s": seconds,
            "duration_s": seconds if outcome == "completed" else None,
            "energy_j": energy,
        },
        missing={
            **({} if started else {"started_at": "missing.no_zone"}),
        },
        because=because,
        group=row["project_name"],
        facts={
            f"source.{name}": row[name][:200]
            for name in (
                "project_name",
                "experiment_id",
                "task_name",
                "gpu_model",
                "gpu_count",
                "tracking_mode",
                "timestamp",
            )
            if row.get(name)
        },
        notes=(reason("imported.note.energy_scope", mode=row.get("tracking_mode") or "?"),) if energy else (),
    )


def _started(text: str, seconds: float | None, place: str, values: Values) -> datetime | None:
    """`timestamp` is the end of the run: its start is known only where an offset and a duration stand."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    start = values.moment(found, place, before=seconds) if found.tzinfo and seconds else None
    return None if start is None else start.astimezone(UTC)


CODECARBON = Format("codecarbon", "codecarbon", _matches, _read)
