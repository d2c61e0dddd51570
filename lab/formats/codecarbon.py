"""codecarbon: `emissions.csv`, one run a row, with its seconds and its energy.

Shape: `codecarbon/output_methods/emissions_data.py` of codecarbon 3.3.2 (2.x lacks `water_consumed`, `pue`, `wue` and
the utilisation columns; a file of tasks has `task_name` in front). `duration` is seconds, `energy_consumed` kWh of
processor, memory and cards together. `timestamp` has no offset, and a row does not say how its run ended.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from lab.formats.base import Choices, Format, Found, Reading, Source, Values
from lab.formats.units import joules
from lab.model.attempt import Outcome
from lab.model.reason import reason

_NEEDED = {"timestamp", "project_name", "run_id", "duration", "emissions"}


def _matches(source: Source) -> bool:
    first = source.head.partition("\n")[0].strip()
    return set(first.split(",")) >= _NEEDED


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source = sources[0]
    values = Values(source.name, choices.units)
    rows = csv.reader(io.StringIO(source.text))
    header = next(rows)
    found, versions = [], set()
    for cells in rows:
        place = f"line {rows.line_num}"
        if not cells:
            continue
        if len(cells) != len(header):
            values.fault("import-row-width", place, found=len(cells), wanted=len(header))
            continue
        row = dict(zip(header, cells, strict=True))
        versions.add(row.get("codecarbon_version") or None)
        found.append(_run(row, place, values, choices))
    values.done()
    known = versions - {None}
    return Reading(tuple(found), known.pop() if len(known) == 1 else None)


def _run(row: Mapping[str, str], place: str, values: Values, choices: Choices) -> Found:
    seconds = values.seconds(row["duration"], place)
    energy = values.number(row.get("energy_consumed"), place)
    outcome: Outcome = choices.ended or "failed"
    if choices.ended is None:
        values.fault("import-end-unknown", place, option="--ended completed")
    because = None if seconds else reason("ended.imported.no_time")
    outcome = outcome if seconds else "failed"
    started = _started(row["timestamp"], seconds)
    return Found(
        f"{place}, {row['run_id']}",
        {
            "outcome": outcome,
            "started_at": None if started is None else started.isoformat(),
            "elapsed_s": seconds,
            "duration_s": seconds if outcome == "completed" else None,
            "energy_j": None if energy is None else joules(energy, "kWh"),
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


def _started(text: str, seconds: float | None) -> datetime | None:
    """`timestamp` is the end of the run: its start is known only where an offset and a duration stand."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) - timedelta(seconds=seconds) if found.tzinfo and seconds else None


CODECARBON = Format("codecarbon", "codecarbon", _matches, _read)
