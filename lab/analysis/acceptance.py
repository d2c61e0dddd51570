"""Acceptance: the verdict on every attempt and the control that decided it (the product's method, section 5).

Controls run in order: outcome, predictions, ids, format, quality, reference, subgroups. The first one that does not
pass decides. A control that cannot be carried out, or that raises, leaves the attempt `unassessed`, never accepted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from lab.analysis.controls import (
    BEFORE_QUALITY,
    OF_QUALITY,
    Case,
    Figures,
    Finding,
    Subgroups,
    first_finding,
    ids_match,
    said,
)
from lab.analysis.exact import exact, median
from lab.analysis.passes import Group
from lab.metrics import Metric, metric
from lab.metrics.own import OwnMetricError
from lab.model.campaign import Campaign
from lab.model.decision import Verdict
from lab.model.evidence import Aggregates, Evidence
from lab.model.protocol import Protocol
from lab.model.reason import reason


def judge(campaign: Campaign) -> dict[str, Verdict]:
    """The verdict on every attempt, declared rows included, by attempt id; the order of the rows changes nothing."""
    protocol = campaign.protocol
    used = metric(protocol.metric, campaign.manifest)
    cases: list[tuple[Case, bool]] = []
    for record in campaign.records:
        attempt_id = record.attempt.attempt_id
        evidence, fault = campaign.evidence.get(attempt_id), campaign.evidence_faults.get(attempt_id)
        case = Case(record, evidence, fault, protocol, used)
        reached_quality = first_finding(case, BEFORE_QUALITY) is None
        if reached_quality:
            case = replace(case, figures=_figures(used, case.shown, protocol))
        cases.append((case, reached_quality))
    references = _references([case for case, reached in cases if reached], protocol.reference_variant)
    return {
        case.record.attempt.attempt_id: _verdict(replace(case, reference=references.get(_group(case))))
        for case, _reached in cases
    }


def _group(case: Case) -> Group:
    return (case.record.attempt.corpus or "", case.record.attempt.seed)


def _figures(used: Metric | None, shown: Evidence, protocol: Protocol) -> Figures:
    thresholds = {(one.group, one.value): one.threshold for one in protocol.subgroup_thresholds}
    subgroups: Subgroups = {}
    if used is None:
        return Figures(None, {name: (None, thresholds[name], 0) for name in sorted(thresholds)})
    try:
        for name in sorted({*shown.subgroups, *thresholds}):
            counted, threshold = shown.aggregates(name), thresholds.get(name)
            # Where nothing hangs on a subgroup, a metric that its few inputs do not carry is absent, not a failure.
            value = used.of(counted) if threshold is not None else _value_or_none(used, counted)
            subgroups[name] = (value, threshold, used.inputs(counted))
        return Figures(used.of(shown.aggregates()), subgroups)
    except OwnMetricError as error:
        return Figures(None, {}, str(error))
    except Exception as error:  # noqa: BLE001  (section 5: a metric that raises leaves the attempt unassessed)
        return Figures(None, {}, said(error))


def _value_or_none(used: Metric, counted: Aggregates) -> float | None:
    try:
        return used.of(counted)
    except Exception:  # noqa: BLE001  (as above; the metric of the whole corpus says why)
        return None


def _references(cases: list[Case], reference_variant: str | None) -> Mapping[Group, float | None]:
    """Median metric of the reference variant's attempts that passed outcome, ids and format, by corpus and seed."""
    values: dict[Group, list[float]] = defaultdict(list)
    for case in cases:
        if case.record.attempt.variant == reference_variant and case.figures and case.figures.value is not None:
            values[_group(case)].append(case.figures.value)
    return {group: median(found) for group, found in values.items()}


def _verdict(case: Case) -> Verdict:
    accepted = Finding("accepted", reason("verdict.all.accepted"))
    early = first_finding(case, BEFORE_QUALITY)
    control, finding = early or first_finding(case, OF_QUALITY) or ("all", accepted)
    verdict = Verdict(case.record.attempt.attempt_id, finding.verdict, control, finding.reason)
    shown, figures = case.evidence, case.figures
    if shown is not None:
        verdict = replace(
            verdict,
            expected_ids=shown.expected,
            observed_ids=shown.observed,
            duplicate_ids=shown.duplicates,
            missing_ids=shown.missing,
            unexpected_ids=shown.unexpected,
            ids_match=ids_match(shown),
            agreement=shown.agreement,
        )
    if control == "format":
        verdict = replace(verdict, format_ok=False if finding.verdict == "rejected" else None)
    if early is None and figures is not None:
        value, reference = figures.value, case.reference
        verdict = replace(
            verdict,
            format_ok=True,
            metric=case.metric.name if case.metric else None,
            metric_value=value,
            reference_delta=None if value is None or reference is None else float(exact(value) - exact(reference)),
            quality_ok={"accepted": True, "rejected": False, "unassessed": None}[finding.verdict],
            subgroups=figures.subgroups,
        )
    return verdict
