"""Every attempt with all its columns, its verdict and the evidence behind it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from operator import attrgetter

from lab.model.attempt import COLUMNS, DeviceMemory, Record
from lab.model.campaign import Campaign
from lab.model.decision import Decision, Verdict
from lab.model.evidence import Agreement, Confusion, Evidence
from lab.report.document_plain import Json, Speech, plain, said, said_fault

CELLS = 400  # of a confusion matrix, at most: free text would fill the document
_NOT_JUDGED_HERE = ("corpus_accepted",)  # the verdict's word, which the verdict holds under another name
_DEVICE = tuple(one.name for one in fields(DeviceMemory))
_COLUMNS = tuple(one.name for one in COLUMNS)
_values = attrgetter(*_COLUMNS)
_JUDGED = tuple(one.name for one in COLUMNS if one.owner == "judged" and one.name not in _NOT_JUDGED_HERE)
_judged = attrgetter(*_JUDGED)


def attempts(campaign: Campaign, decision: Decision, speech: Speech) -> list[Json]:
    """One entry an attempt, in the campaign's order: the columns of `raw-results` and what lies behind them.

    Judged columns come from the verdict, which is recomputed; the others are as recorded. `missing` maps a column to
    the key of the reason that it is empty. The worker's process is left out: it says nothing once it has ended.
    """
    excluded = {one.attempt_id for one in decision.exclusions}
    return [_attempt(record, campaign, decision.verdicts, excluded, speech) for record in campaign.records]


def _attempt(
    record: Record, campaign: Campaign, verdicts: Mapping[str, Verdict], excluded: set[str], speech: Speech
) -> Json:
    attempt_id = record.attempt.attempt_id
    verdict = verdicts.get(attempt_id)
    evidence = campaign.evidence.get(attempt_id)
    fault = campaign.evidence_faults.get(attempt_id)
    details = record.details
    return {
        **_columns(record, verdict),
        "excluded": attempt_id in excluded,
        "declared": record.declared,
        "verdict": _verdict(verdict, speech) if verdict else None,
        "evidence": _evidence(evidence, verdict.agreement if verdict else None) if evidence else None,
        "evidence_fault": said_fault(fault, speech) if fault else None,
        "ended_because": said(details.ended_because, speech) if details.ended_because else None,
        "missing": dict(sorted(details.missing.items())),
        "devices": [{name: getattr(one, name) for name in _DEVICE} for one in details.devices],
        "host_peak_bytes": details.host_peak_bytes,
        "counts": dict(sorted(details.counts.items())),
        "readings": dict(sorted(details.readings.items())),
        "facts": dict(sorted(details.facts.items())),
        "provenance": asdict(details.provenance) if details.provenance else None,
        "predictions_from": asdict(details.predictions_from) if details.predictions_from else None,
        "populations": [asdict(one) for one in details.populations],
    }


def _columns(record: Record, verdict: Verdict | None) -> Json:
    row: Json = dict(zip(_COLUMNS, map(plain, _values(record.attempt)), strict=True))
    if verdict is not None:
        row.update(zip(_JUDGED, map(plain, _judged(verdict)), strict=True))
        row["corpus_accepted"] = verdict.verdict
    return row


def _verdict(verdict: Verdict, speech: Speech) -> Json:
    subgroups = [
        {"group": group, "value": value, "metric_value": metric, "threshold": threshold, "inputs": inputs}
        for (group, value), (metric, threshold, inputs) in sorted(verdict.subgroups.items())
    ]
    return {
        "verdict": verdict.verdict,
        "control": verdict.control,
        **said(verdict.reason, speech),
        "subgroups": subgroups,
    }


def _evidence(evidence: Evidence, agreement: Agreement | None) -> Json:
    return {
        "expected": evidence.expected,
        "observed": evidence.observed,
        "duplicates": evidence.duplicates,
        "missing": evidence.missing,
        "unexpected": evidence.unexpected,
        "first_duplicates": list(evidence.first_duplicates),
        "first_missing": list(evidence.first_missing),
        "first_unexpected": list(evidence.first_unexpected),
        "near_matches": [list(pair) for pair in evidence.near_matches],
        "bad_line_count": evidence.bad_line_count,
        "bad_label_count": evidence.bad_label_count,
        "bad_labels": list(evidence.bad_labels),
        "without_reference": evidence.without_reference,
        "altered": evidence.altered,
        "bad_lines": [{"line": line, "why": why} for line, why in evidence.bad_lines],
        **_confusion(evidence.confusion),
        "agreement": _agreement(agreement) if agreement else None,
    }


def _agreement(agreement: Agreement) -> Json:
    """How the predictions compare with those of the reference run; the reference is its prediction here."""
    largest = agreement.largest_distance
    return {
        "run": agreement.run,
        "differing": agreement.differing,
        "first_differing": list(agreement.first_differing),
        "largest_distance": None if largest is None else float(largest),
        **_confusion(agreement.confusion),
    }


def _confusion(counted: Confusion) -> Json:
    """The cells that are not empty, by reference and prediction: all, or the largest and how many are left out."""
    cells = sorted(counted.items(), key=lambda cell: (-cell[1], cell[0]))
    kept = sorted(cells[:CELLS])
    return {
        "confusion": [
            {"reference": reference, "prediction": prediction, "inputs": inputs}
            for (reference, prediction), inputs in kept
        ],
        "confusion_left_out": len(cells) - len(kept),
    }
