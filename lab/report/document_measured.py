"""Quality, phases and memory per variant, corpus and seed: what each group of attempts shows, never pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.decision import Decision, Summary, Verdict
from lab.report.document_plain import Json

PHASES = (
    "download_s", "install_s", "load_s", "compile_s", "warm_up_s", "duration_s", "evaluate_s", "export_s",
)  # fmt: skip
COUNTERS = ("peak_allocated_bytes", "peak_reserved_bytes", "peak_device_bytes")


def quality(campaign: Campaign, decision: Decision) -> list[Json]:
    """Per variant, corpus and seed: the metric over the attempts that have one, its threshold and the subgroups.

    `delta` is the largest distance to the reference found, as a ratio; None where no attempt has one.
    """
    found = []
    for (variant, corpus, seed), records in _groups(campaign):
        verdicts = [
            decision.verdicts[r.attempt.attempt_id] for r in records if r.attempt.attempt_id in decision.verdicts
        ]
        values = [one.metric_value for one in verdicts if one.metric_value is not None]
        deltas = [abs(one.reference_delta) for one in verdicts if one.reference_delta is not None]
        found.append(
            {
                "variant": variant,
                "corpus": corpus,
                "seed": seed,
                "metric": next((one.metric for one in verdicts if one.metric), campaign.protocol.metric),
                "attempts": len(records),
                "assessed": len(values),
                "median": median(values) if values else None,
                "lowest": min(values) if values else None,
                "highest": max(values) if values else None,
                "threshold": campaign.protocol.threshold,
                "delta": max(deltas) if deltas else None,
                "tolerance": campaign.protocol.tolerance,
                "reference_variant": campaign.protocol.reference_variant,
                "subgroups": _subgroups(verdicts),
            }
        )
    return found


def phases(campaign: Campaign, decision: Decision) -> list[Json]:
    """Per variant, corpus and seed: the median seconds of each phase over completed attempts, and all that elapsed.

    The measured pass is the summary's median, of accepted attempts: one quantity has one value in a document.
    A median is given only when every completed attempt has the phase: else None with how many have it and, where one
    reason explains all that are missing, its key. `elapsed_total_s` sums all attempts, failures included.
    """
    measured = {(one.variant, one.corpus, one.seed): one for variant in decision.variants for one in variant.summaries}
    found = []
    for (variant, corpus, seed), records in _groups(campaign):
        completed = [one for one in records if one.attempt.outcome == "completed"]
        elapsed = [one.attempt.elapsed_s for one in records]
        known = [one for one in elapsed if one is not None]
        found.append(
            {
                "variant": variant,
                "corpus": corpus,
                "seed": seed,
                "completed": len(completed),
                "attempts": len(records),
                "phases": {
                    name: _of_summary(measured.get((variant, corpus, seed)))
                    if name == "duration_s"
                    else _median(name, completed)
                    for name in PHASES
                },
                "elapsed_total_s": round(sum(known), 6) if known and len(known) == len(elapsed) else None,
            }
        )
    return found


def memory(campaign: Campaign) -> list[Json]:
    """Per variant and corpus: the highest peak of each counter on each device, in bytes; counters are never added."""
    found = []
    for (variant, corpus, seed), records in _groups(campaign):
        devices = sorted({device.device for record in records for device in record.details.devices})
        hosts = [one.details.host_peak_bytes for one in records if one.details.host_peak_bytes is not None]
        found.append(
            {
                "variant": variant,
                "corpus": corpus,
                "seed": seed,
                "attempts": len(records),
                "devices": [_device(device, records) for device in devices],
                "missing": {name: _common_reason(name, records) for name in COUNTERS},
                "host_peak_bytes": max(hosts) if hosts else None,
            }
        )
    return found


def _groups(campaign: Campaign) -> list[tuple[tuple[str, str, int | None], list[Record]]]:
    """Records by variant, corpus and seed, in the manifest's order; a combination without attempts is left out."""
    order = {one.id: place for place, one in enumerate(campaign.manifest.variants)}
    groups: dict[tuple[str, str, int | None], list[Record]] = {}
    for record in campaign.records:
        attempt = record.attempt
        if attempt.variant is not None and attempt.corpus is not None:
            groups.setdefault((attempt.variant, attempt.corpus, attempt.seed), []).append(record)
    return sorted(groups.items(), key=lambda item: (item[0][1], str(item[0][2]), order.get(item[0][0], len(order))))


def _median(name: str, completed: Sequence[Record]) -> Json:
    values = [value for one in completed if (value := getattr(one.attempt, name)) is not None]
    whole = bool(values) and len(values) == len(completed)
    return {
        "median_s": median(values) if whole else None,
        "measured": len(values),
        "missing": None if whole else _common_reason(name, completed),
    }


def _of_summary(summary: Summary | None) -> Json:
    present = [value for value in summary.durations_s if value is not None] if summary else []
    return {"median_s": summary.median_s if summary else None, "measured": len(present), "missing": None}


def _common_reason(name: str, records: Iterable[Record]) -> str | None:
    """The key of the one reason for which every record lacks `name`; None when there are several or none."""
    keys = {one.details.missing.get(name) for one in records if getattr(one.attempt, name) is None}
    return keys.pop() if len(keys) == 1 else None


def _device(device: str, records: Sequence[Record]) -> Json:
    seen = [one for record in records for one in record.details.devices if one.device == device]
    peaks = {name: [value for one in seen if (value := getattr(one, name)) is not None] for name in COUNTERS}
    names = sorted({one.name for one in seen if one.name})
    highest = {name: max(values) if values else None for name, values in peaks.items()}
    return {"device": device, "names": names, **highest}


def _subgroups(verdicts: Sequence[Verdict]) -> list[Json]:
    found = []
    for group, value in sorted({key for one in verdicts for key in one.subgroups}):
        cells = [one.subgroups[group, value] for one in verdicts if (group, value) in one.subgroups]
        metrics = [metric for metric, _, _ in cells if metric is not None]
        found.append(
            {
                "group": group,
                "value": value,
                "lowest": min(metrics) if metrics else None,
                "highest": max(metrics) if metrics else None,
                "threshold": cells[0][1],
                "inputs": cells[0][2],
            }
        )
    return found
