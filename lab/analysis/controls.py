"""The controls of acceptance, one function each (the product's method, section 5): None when passed, else a finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from lab.analysis.exact import distance, exact
from lab.errors import Fault
from lab.metrics import Metric
from lab.model.attempt import Record, VerdictWord
from lab.model.decision import Control
from lab.model.evidence import Evidence
from lab.model.protocol import Protocol
from lab.model.reason import Reason, reason

# (group, value) -> (metric or None, threshold or None, inputs with a reference answer)
Subgroups = dict[tuple[str, str], tuple[float | None, float | None, int]]


@dataclass(frozen=True)
class Finding:
    """A control that did not pass: what follows for the attempt, and why."""

    verdict: VerdictWord
    reason: Reason


@dataclass(frozen=True)
class Figures:
    """What the metric says of one attempt: over the corpus and per subgroup; `raised` when it could not be computed."""

    value: float | None
    subgroups: Subgroups
    raised: str | None = None


@dataclass(frozen=True)
class Case:
    """One attempt with all that the controls look at.

    `figures` is there once ids and format passed; `reference` is the median metric of the reference variant's attempts
    on the same corpus and seed, None when there is none.
    """

    record: Record
    evidence: Evidence | None
    evidence_fault: Fault | None
    protocol: Protocol
    metric: Metric | None
    figures: Figures | None = None
    reference: float | None = None

    @property
    def shown(self) -> Evidence:
        """The evidence, for the controls after the one that makes sure of it."""
        if self.evidence is None:
            raise LookupError(self.record.attempt.attempt_id)
        return self.evidence


Check = Callable[[Case], Finding | None]


def ids_match(evidence: Evidence) -> bool:
    """Whether expected and observed ids are the same set, each once."""
    wrong = evidence.duplicates or evidence.missing or evidence.unexpected
    return not wrong and evidence.observed == evidence.expected


def _outcome(case: Case) -> Finding | None:
    outcome = case.record.attempt.outcome
    if outcome == "completed":
        return None
    if outcome is None:
        return Finding("unassessed", reason("verdict.outcome.not_ended"))
    if outcome == "interrupted":
        return Finding("unassessed", reason("verdict.outcome.interrupted"))
    return Finding("rejected", reason(f"verdict.outcome.{outcome}"))


def _predictions(case: Case) -> Finding | None:
    attempt_id = case.record.attempt.attempt_id
    if case.record.declared:
        source, typed = case.record.details.provenance, reason("verdict.predictions.declared")
        return Finding("unassessed", reason("verdict.predictions.imported", file=source.file) if source else typed)
    if case.evidence_fault is not None:
        why = reason("verdict.predictions.unreadable", attempt=attempt_id, slug=case.evidence_fault.slug)
        return Finding("unassessed", why)
    if case.evidence is None:
        return Finding("unassessed", reason("verdict.predictions.absent", attempt=attempt_id))
    if case.evidence.altered is None:
        return Finding("unassessed", reason("verdict.predictions.no_fingerprint", attempt=attempt_id))
    if case.evidence.altered:
        return Finding("unassessed", reason("verdict.predictions.altered", attempt=attempt_id))
    return None


def _ids(case: Case) -> Finding | None:
    shown = case.shown
    if ids_match(shown):
        return None
    facts: dict[str, object] = {
        "expected": shown.expected,
        "observed": shown.observed,
        "duplicates": shown.duplicates,
        "missing": shown.missing,
        "unexpected": shown.unexpected,
        "examples": [*shown.first_duplicates, *shown.first_missing, *shown.first_unexpected][:3],
    }
    if shown.near_matches:
        found, wanted = shown.near_matches[0]
        return Finding("rejected", reason("verdict.ids.near_match", **facts, found=found, wanted=wanted))
    return Finding("rejected", reason("verdict.ids.differ", **facts))


def _format(case: Case) -> Finding | None:
    shown = case.shown
    if shown.bad_line_count:
        lines = [line for line, _slug in shown.bad_lines[:3]]
        why = shown.bad_lines[0][1] if shown.bad_lines else "predictions-bad-row"
        facts = {"lines": shown.bad_line_count, "first": lines, "slug": why}
        return Finding("rejected", reason("verdict.format.bad_lines", **facts))
    if shown.bad_label_count:
        labels = list(shown.bad_labels[:3])
        return Finding("rejected", reason("verdict.format.bad_labels", inputs=shown.bad_label_count, first=labels))
    if shown.bad_vector_count:
        ids = list(shown.first_bad_vectors[:3])
        return Finding("rejected", reason("verdict.format.bad_vectors", inputs=shown.bad_vector_count, first=ids))
    return None


def _at_least_as_good(metric_used: Metric, value: float, threshold: float) -> bool:
    return value >= threshold if metric_used.higher_is_better else value <= threshold


def _out_of_range(metric_used: Metric, threshold: float) -> bool:
    low, high = metric_used.lowest, metric_used.highest
    return (low is not None and threshold < low) or (high is not None and threshold > high)


def _not_measurable(case: Case) -> Finding | None:
    if case.protocol.metric is None:
        return Finding("unassessed", reason("verdict.quality.no_metric"))
    if case.metric is None:
        return Finding("unassessed", reason("verdict.quality.unknown_metric", metric=case.protocol.metric))
    if case.figures is not None and case.figures.raised is not None:
        facts = {"metric": case.metric.name, "error": case.figures.raised}
        return Finding("unassessed", reason("verdict.quality.raised", **facts))
    if case.figures is None or case.figures.value is None:
        return Finding("unassessed", reason("verdict.quality.no_value", metric=case.metric.name))
    return None


def _quality(case: Case) -> Finding | None:
    used, threshold, figures = case.metric, case.protocol.threshold, case.figures
    if used is None or figures is None or figures.value is None:
        return _not_measurable(case)
    if threshold is None:
        return Finding("unassessed", reason("verdict.quality.no_threshold"))
    facts: dict[str, object] = {"metric": used.name, "threshold": threshold}
    if _out_of_range(used, threshold):
        return Finding("unassessed", reason("verdict.quality.threshold_out_of_range", **facts))
    if not _at_least_as_good(used, figures.value, threshold):
        return Finding("rejected", reason("verdict.quality.below", **facts, value=figures.value))
    return None


def _reference(case: Case) -> Finding | None:
    tolerance, variant = case.protocol.tolerance, case.protocol.reference_variant
    if tolerance is None or variant is None:
        return None
    if case.figures is None or case.figures.value is None or case.reference is None:
        return Finding("unassessed", reason("verdict.reference.none_there", variant=variant))
    if distance(case.figures.value, case.reference) <= exact(tolerance):
        return None
    facts = {"value": case.figures.value, "median": case.reference, "tolerance": tolerance}
    return Finding("rejected", reason("verdict.reference.outside", variant=variant, **facts))


def _reproducible(case: Case) -> Finding | None:
    """The protocol's reproducibility target against the reference run; business quality is the metric's own affair."""
    target, variant = case.protocol.reproducibility_target, case.protocol.reference_variant
    if target not in ("identical_outputs", "bounded_distance"):
        return None
    if variant is None:
        return Finding("unassessed", reason("verdict.reference.no_variant"))
    agreement = case.shown.agreement
    if agreement is None:
        return Finding("unassessed", reason("verdict.reference.no_run", variant=variant))
    facts: dict[str, object] = {"run": agreement.run, "inputs": case.shown.expected}
    if target == "bounded_distance":
        return _bounded(agreement.largest_distance, case.protocol.tolerance, facts)
    if not agreement.differing:
        return None
    facts |= {"differing": agreement.differing, "first": list(agreement.first_differing[:3])}
    return Finding("rejected", reason("verdict.reference.outputs_differ", **facts))


def _bounded(largest: Decimal | None, tolerance: float | None, facts: dict[str, object]) -> Finding | None:
    if tolerance is None:
        return Finding("unassessed", reason("verdict.reference.no_bound"))
    if largest is None:
        return Finding("unassessed", reason("verdict.reference.no_distance", **facts))
    if largest <= exact(tolerance):
        return None
    facts |= {"largest": float(largest), "tolerance": tolerance}
    return Finding("rejected", reason("verdict.reference.too_far", **facts))


def _subgroups(case: Case) -> Finding | None:
    for (group, name), (value, threshold, inputs) in (case.figures.subgroups if case.figures else {}).items():
        if threshold is None or case.metric is None:
            continue
        facts: dict[str, object] = {"group": group, "name": name, "threshold": threshold}
        if not inputs:
            return Finding("unassessed", reason("verdict.subgroups.empty", **facts))
        if value is None or _out_of_range(case.metric, threshold):
            return Finding("unassessed", reason("verdict.subgroups.no_value", **facts, metric=case.metric.name))
        if not _at_least_as_good(case.metric, value, threshold):
            return Finding("rejected", reason("verdict.subgroups.below", **facts, value=value, inputs=inputs))
    return None


BEFORE_QUALITY: tuple[tuple[Control, Check], ...] = (
    ("outcome", _outcome),
    ("predictions", _predictions),
    ("ids", _ids),
    ("format", _format),
)
OF_QUALITY: tuple[tuple[Control, Check], ...] = (
    ("quality", _quality),
    ("reference", _reference),
    ("reference", _reproducible),
    ("subgroups", _subgroups),
)


def first_finding(case: Case, controls: tuple[tuple[Control, Check], ...]) -> tuple[Control, Finding] | None:
    """The first control, in order, that does not pass; one that raises leaves the attempt unassessed."""
    for name, control in controls:
        try:
            finding = control(case)
        except Exception as error:  # noqa: BLE001  (section 5: whatever a control raises, it decides nothing)
            finding = Finding("unassessed", reason("verdict.control_raised", control=name, error=said(error)))
        if finding is not None:
            return name, finding
    return None


def said(error: Exception) -> str:
    """An unexpected error in one line, for the reason that names it."""
    return f"{type(error).__name__}: {error}"
