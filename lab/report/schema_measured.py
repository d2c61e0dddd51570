"""The measured half of the JSON Schema of `decision.json`: figures, comparisons and attempts."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from lab.model.attempt import COLUMNS, VERDICTS, Column, DeviceMemory
from lab.model.decision import BlockedBy, Control
from lab.report.document_attempts import CELLS
from lab.report.document_measured import COUNTERS, PHASES
from lab.report.document_plain import Json
from lab.report.document_projected import ADDENDS
from lab.report.schema_parts import (
    BYTES,
    COUNT,
    INTEGER,
    MOMENT,
    NUMBER,
    RATIO,
    SECONDS,
    TEXT,
    YES_NO,
    mapping,
    maybe,
    open_reason,
    part,
    reason,
    record,
    several,
    words,
)

POPULATION: Json = {"variant": TEXT, "corpus": TEXT, "seed": maybe(INTEGER)}
_EXTREMES: Json = {"median_s": maybe(SECONDS), "min_s": maybe(SECONDS), "max_s": maybe(SECONDS)}
_DURATIONS = several(maybe(SECONDS), "in schedule order, null where an attempt gives none")

INTERVAL = reason(low=maybe(NUMBER), high=maybe(NUMBER), coverage=maybe(RATIO))
PAIRED = reason(
    rounds=several(COUNT), differences_s=several(NUMBER, "a minus b, seconds"), median_s=NUMBER, a_faster=COUNT
)
SUMMARY = record(
    {
        "corpus": TEXT,
        "seed": maybe(INTEGER),
        **dict.fromkeys(("attempts", "accepted", "rejected", "unassessed", "failed", "excluded"), COUNT),
        "durations_s": _DURATIONS,
        **_EXTREMES,
        "median_metric": maybe(NUMBER),
        "median_interval": maybe(part("interval")),
        "with_excluded": maybe(record({"passes": COUNT, "durations_s": _DURATIONS, **_EXTREMES})),
        "warnings": several(part("reason")),
    },
    "One variant on one corpus with one seed; durations of accepted, not excluded attempts.",
)
SEPARATION = reason(
    corpus=TEXT,
    seed=maybe(INTEGER),
    a=TEXT,
    b=TEXT,
    separated=YES_NO,
    blocked_by=maybe(words(get_args(BlockedBy))),
    faster=maybe(TEXT),
    gap_s=maybe(SECONDS),
    range_s=maybe(SECONDS),
    p_value=maybe(RATIO),
    p_adjusted=maybe(RATIO),
    more_passes=maybe(COUNT),
    shown={**YES_NO, "description": "the page shows the pair; only then are ratio and paired worked out"},
    ratio=maybe(part("interval")),
    paired=maybe(part("paired")),
    warnings=several(part("reason")),
)
QUALITY = record(
    {
        **POPULATION,
        "metric": maybe(TEXT),
        "attempts": COUNT,
        "assessed": COUNT,
        **dict.fromkeys(("median", "lowest", "highest", "threshold", "delta", "tolerance"), maybe(NUMBER)),
        "reference_variant": maybe(TEXT),
        "subgroups": several(
            record(
                {
                    "group": TEXT, "value": TEXT, "lowest": maybe(NUMBER), "highest": maybe(NUMBER),
                    "threshold": maybe(NUMBER), "inputs": COUNT,
                }
            )
        ),
    }
)  # fmt: skip
_PHASE = record({"median_s": maybe(SECONDS), "measured": COUNT, "missing": maybe(TEXT)})
PHASES_OF = record(
    {
        **POPULATION,
        "completed": COUNT,
        "attempts": COUNT,
        "phases": record(dict.fromkeys(PHASES, _PHASE)),
        "elapsed_total_s": maybe(SECONDS),
    }
)
_COUNTERS: Json = dict.fromkeys(COUNTERS, maybe(BYTES))
MEMORY = record(
    {
        **POPULATION,
        "attempts": COUNT,
        "devices": several(record({"device": TEXT, "names": several(TEXT), **_COUNTERS})),
        "missing": record(dict.fromkeys(COUNTERS, maybe(TEXT))),
        "host_peak_bytes": maybe(BYTES),
    }
)


def _column(column: Column) -> Json:
    """What a column of `raw-results` holds; null is an empty cell."""
    kinds: Json = {
        "text": TEXT, "json": TEXT, "integer": INTEGER, "number": NUMBER, "boolean": YES_NO, "moment": MOMENT,
        "choice": words(column.choices),
    }  # fmt: skip
    shape = kinds[column.kind]
    return maybe({**shape, "description": column.unit} if column.unit else shape)


_EVIDENCE_COUNTS = (
    "expected", "observed", "duplicates", "missing", "unexpected", "bad_line_count", "bad_label_count",
    "without_reference",
)  # fmt: skip
_EVIDENCE_LISTS = ("first_duplicates", "first_missing", "first_unexpected", "bad_labels")
_SUBGROUP: Json = {
    "group": TEXT,
    "value": TEXT,
    "metric_value": maybe(NUMBER),
    "threshold": maybe(NUMBER),
    "inputs": COUNT,
}
_CONFUSION: Json = {
    "confusion": several(
        record({"reference": TEXT, "prediction": TEXT, "inputs": COUNT}),
        f"cells that are not empty, by reference and prediction; of more than {CELLS}, the largest",
    ),
    "confusion_left_out": {**COUNT, "description": "how many further cells there are"},
}
_AGREEMENT = record(
    {
        "run": TEXT,
        "differing": COUNT,
        "first_differing": several(TEXT),
        "largest_distance": maybe(NUMBER),
        **_CONFUSION,
    },
    "with the predictions of the reference run, which stand as the reference",
)
_DEVICE: Json = {one.name: maybe(BYTES if one.name in COUNTERS else TEXT) for one in fields(DeviceMemory)}
_PROVENANCE = record(
    {
        **dict.fromkeys(("file", "sha256", "format", "place"), TEXT),
        **dict.fromkeys(("tool", "version"), maybe(TEXT)),
        "in_order": {**YES_NO, "description": "predictions without ids, declared to be in the corpus's order"},
    },
    "where an imported attempt, or its predictions, came from",
)
_POPULATION = record(
    {
        "name": TEXT, "count": COUNT, **dict.fromkeys(("median_s", "min_s", "max_s"), SECONDS), "sha256": TEXT,
        **dict.fromkeys(("p90_s", "p95_s", "p99_s"), maybe(SECONDS)),
    }
)  # fmt: skip
ATTEMPT = record(
    {
        **{column.name: _column(column) for column in COLUMNS},
        "attempt_id": TEXT,
        "excluded": YES_NO,
        "declared": {**YES_NO, "description": "a row without an attempt folder, or imported without predictions"},
        "verdict": maybe(
            reason(verdict=words(VERDICTS), control=words(get_args(Control)), subgroups=several(record(_SUBGROUP)))
        ),
        "evidence": maybe(
            record(
                {
                    **dict.fromkeys(_EVIDENCE_COUNTS, COUNT),
                    **dict.fromkeys(_EVIDENCE_LISTS, several(TEXT)),
                    "near_matches": several(several(TEXT)),
                    "altered": maybe(YES_NO),
                    "bad_lines": several(record({"line": COUNT, "why": TEXT}), "the first lines that cannot be read"),
                    **_CONFUSION,
                    "agreement": maybe(_AGREEMENT),
                }
            )
        ),
        "evidence_fault": maybe(part("notice")),
        "ended_because": maybe(part("reason")),
        "missing": mapping(TEXT),
        "devices": several(record(_DEVICE)),
        "host_peak_bytes": maybe(BYTES),
        "counts": mapping(INTEGER),
        "readings": mapping(maybe(NUMBER)),
        "facts": mapping(TEXT),
        "provenance": maybe(_PROVENANCE),
        "predictions_from": maybe(_PROVENANCE),
        "populations": several(_POPULATION, "latencies within the attempt: never durations of passes"),
    }
)
EXCLUSION = reason(attempt_id=TEXT, rule=maybe(TEXT), attested=YES_NO)
HYPOTHESIS = open_reason(
    variant=TEXT,
    deliverables=COUNT,
    corpus=maybe(TEXT),
    slowest_s=maybe(SECONDS),
    overhead_s=maybe(SECONDS),
    overheads_s=mapping(SECONDS),
    once_s=mapping(SECONDS),
    cool_down_s=maybe(SECONDS),
    addends=several(record({"part": words(ADDENDS), "times": INTEGER, "each_s": SECONDS, "seconds": SECONDS})),
    left_out=several(TEXT),
    window_hours=maybe(NUMBER),
    package=maybe(part("package")),
)
