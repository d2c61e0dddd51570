"""Acceptance: which control decides, and that what cannot be assessed is never accepted."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from campaign_builder import campaign, evidence, passes, protocol, record

from lab.analysis.acceptance import judge
from lab.errors import fault
from lab.metrics import METRICS
from lab.metrics.base import ConfusionMetric
from lab.model.attempt import VerdictWord
from lab.model.decision import Control, Verdict
from lab.model.evidence import Agreement, Distances, Evidence
from lab.model.manifest import MetricSpec
from lab.model.protocol import Protocol, SubgroupThreshold


def verdict(shown: Evidence | None = None, terms: Protocol | None = None, **changes: object) -> Verdict:
    """The verdict on one attempt with this evidence."""
    one = record("a", 1, **changes)
    attempt_id = one.attempt.attempt_id
    return judge(campaign([one], bad={attempt_id: shown} if shown else None, terms=terms))[attempt_id]


def said(found: Verdict) -> tuple[VerdictWord, Control, str]:
    """Verdict, control and reason."""
    return found.verdict, found.control, found.reason.key


def test_a_good_attempt_is_accepted_and_its_columns_are_filled() -> None:
    """All controls pass: every judged column has its value."""
    found = verdict()
    assert said(found) == ("accepted", "all", "verdict.all.accepted")
    assert (found.expected_ids, found.observed_ids, found.ids_match, found.format_ok) == (100, 100, True, True)
    assert (found.metric, found.metric_value, found.quality_ok) == ("accuracy", 0.95, True)


@pytest.mark.parametrize("outcome", ["failed", "out_of_memory", "timed_out"])
def test_what_did_not_complete_is_rejected_however_fast(outcome: str) -> None:
    """The outcome decides before anything else."""
    assert said(verdict(outcome=outcome)) == ("rejected", "outcome", f"verdict.outcome.{outcome}")


@pytest.mark.parametrize(("outcome", "why"), [("interrupted", "interrupted"), (None, "not_ended")])
def test_what_was_cut_off_or_still_runs_is_unassessed(outcome: str | None, why: str) -> None:
    """Neither a success nor a failure."""
    assert said(verdict(outcome=outcome)) == ("unassessed", "outcome", f"verdict.outcome.{why}")


@pytest.mark.parametrize(
    ("altered", "why"), [(True, "verdict.predictions.altered"), (None, "verdict.predictions.no_fingerprint")]
)
def test_predictions_that_are_not_proven_to_be_the_measured_ones(altered: bool | None, why: str) -> None:  # noqa: FBT001  (a value under test)
    """A changed file, or one whose fingerprint nobody recorded, is unassessed and the attempt is named."""
    found = verdict(evidence(altered=altered))
    assert said(found) == ("unassessed", "predictions", why)
    assert found.reason.values["attempt"] == "a_tickets_s0_r1"


def test_predictions_that_are_not_there_or_unreadable() -> None:
    """No evidence, or a fault in reading it: unassessed."""
    one = campaign([record("a", 1)])
    assert said(judge(replace(one, evidence={}))["a_tickets_s0_r1"])[2] == "verdict.predictions.absent"
    broken = replace(one, evidence_faults={"a_tickets_s0_r1": fault("predictions-disk")})
    assert said(judge(broken)["a_tickets_s0_r1"]) == ("unassessed", "predictions", "verdict.predictions.unreadable")


@pytest.mark.parametrize(
    "changes",
    [
        {"duplicates": 1, "missing": 1},
        {"missing": 1, "observed": 99},
        {"unexpected": 1, "observed": 101},
        {"observed": 99},
        {"duplicates": 1, "observed": 101},
    ],
)
def test_ids_have_to_be_the_same_set_each_once(changes: dict[str, int]) -> None:
    """Any difference rejects, also when the number of lines is right; later controls are not reached."""
    found = verdict(evidence(**changes))
    assert said(found) == ("rejected", "ids", "verdict.ids.differ")
    assert (found.ids_match, found.format_ok, found.metric_value, found.quality_ok) == (False, None, None, None)


def test_a_likely_cause_of_differing_ids_is_named() -> None:
    """Two normal forms of one word: both are in the reason."""
    found = verdict(evidence(missing=1, unexpected=1, near_matches=(("e\u0301", "\u00e9"),)))
    assert found.reason.key == "verdict.ids.near_match"
    assert (found.reason.values["found"], found.reason.values["wanted"]) == ("e\u0301", "\u00e9")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"bad_line_count": 1, "bad_lines": ((9, "predictions-cut"),)}, "bad_lines"),
        ({"bad_label_count": 2, "bad_labels": ("x", "y")}, "bad_labels"),
    ],
)
def test_format(changes: dict[str, object], why: str) -> None:
    """A line that does not parse or a label that is not declared rejects."""
    found = verdict(evidence(**changes))
    assert said(found) == ("rejected", "format", f"verdict.format.{why}")
    assert (found.ids_match, found.format_ok, found.metric_value) == (True, False, None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"metric": None}, "no_metric"),
        ({"metric": "bleu"}, "unknown_metric"),
        ({"threshold": None}, "no_threshold"),
        ({"threshold": 95.0}, "threshold_out_of_range"),
        ({"metric": "mcc", "threshold": -1.5}, "threshold_out_of_range"),
    ],
)
def test_terms_that_decide_nothing_leave_everything_unassessed(changes: dict[str, object], why: str) -> None:
    """No metric, an unknown one, no threshold, or one outside the range: never accepted."""
    assert said(verdict(terms=protocol(**changes))) == ("unassessed", "quality", f"verdict.quality.{why}")


def test_a_metric_without_a_value_is_unassessed() -> None:
    """No reference answers: nothing to compare."""
    assert said(verdict(evidence(confusion={}))) == ("unassessed", "quality", "verdict.quality.no_value")


def test_the_threshold_itself_is_enough_and_less_is_not() -> None:
    """0.95 meets 0.95; 0.94 does not."""
    terms = protocol(threshold=0.95)
    assert verdict(evidence(95, 5), terms).verdict == "accepted"
    below = verdict(evidence(94, 6), terms)
    assert said(below) == ("rejected", "quality", "verdict.quality.below")
    assert (below.metric_value, below.quality_ok) == (0.94, False)


def test_a_lower_is_better_metric_is_judged_in_its_own_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error rate of 0.05 meets a threshold of 0.05 and not one of 0.04."""
    error_rate = ConfusionMetric("error_rate", lambda c: 0.05 if c else None, higher_is_better=False)
    monkeypatch.setattr("lab.metrics.METRICS", (*METRICS, error_rate))
    assert verdict(terms=protocol(metric="error_rate", threshold=0.05)).verdict == "accepted"
    assert verdict(terms=protocol(metric="error_rate", threshold=0.04)).verdict == "rejected"


def test_a_metric_that_raises_is_unassessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it raises, the attempt is not accepted, and the message is kept."""
    broken = ConfusionMetric("broken", lambda _: 1 / 0)
    monkeypatch.setattr("lab.metrics.METRICS", (*METRICS, broken))
    found = verdict(terms=protocol(metric="broken"))
    assert said(found) == ("unassessed", "quality", "verdict.quality.raised")
    assert "division by zero" in str(found.reason.values["error"])


def test_a_control_that_raises_is_unassessed() -> None:
    """A threshold that cannot be compared, as damaged evidence or a bug would give."""
    found = verdict(terms=protocol(threshold="high"))
    assert said(found) == ("unassessed", "quality", "verdict.control_raised")


def test_the_distance_to_the_reference_is_of_decimals_as_written() -> None:
    """0.95 - 0.94 is within a tolerance of 0.01, which binary fractions would deny; 0.93 is not."""
    records = [*passes("a", (10.0,) * 3), *passes("b", (10.0,) * 2)]
    bad = {"a_tickets_s0_r3": evidence(91, 9), "b_tickets_s0_r1": evidence(94, 6), "b_tickets_s0_r2": evidence(93, 7)}
    terms = protocol(tolerance=0.01, reference_variant="a")
    found = judge(campaign(records, bad=bad, terms=terms))
    assert found["b_tickets_s0_r1"].verdict == "accepted"
    assert found["b_tickets_s0_r1"].reference_delta == -0.01
    assert said(found["b_tickets_s0_r2"]) == ("rejected", "reference", "verdict.reference.outside")
    assert said(found["a_tickets_s0_r3"])[1] == "reference"


def test_without_a_usable_reference_the_distance_is_unassessed() -> None:
    """The reference's attempts failed the format, or ran on another seed only: nothing to compare with."""
    terms = protocol(tolerance=0.01, reference_variant="a")
    bad = {"a_tickets_s0_r1": evidence(bad_label_count=1)}
    records = [record("a", 1), record("a", 1, seed=1), record("b", 1)]
    found = judge(campaign(records, bad=bad, terms=terms))["b_tickets_s0_r1"]
    assert said(found) == ("unassessed", "reference", "verdict.reference.none_there")


def test_the_reference_median_is_of_attempts_that_passed_the_first_three_controls() -> None:
    """A reference attempt below the threshold still counts: quality is control 4."""
    terms = protocol(tolerance=0.02, reference_variant="a")
    bad = {"a_tickets_s0_r1": evidence(80, 20)}
    found = judge(campaign([record("a", 1), record("b", 1)], bad=bad, terms=terms))["b_tickets_s0_r1"]
    assert found.reference_delta == 0.15
    assert found.control == "reference"


@pytest.mark.parametrize(
    ("subgroups", "expected"),
    [
        ({("length", "long"): {("bug", "bug"): 9, ("bug", "billing"): 1}}, ("accepted", "all")),
        ({("length", "long"): {("bug", "bug"): 8, ("bug", "billing"): 2}}, ("rejected", "subgroups")),
        ({("length", "long"): {}}, ("unassessed", "subgroups")),
        ({}, ("unassessed", "subgroups")),
    ],
)
def test_each_subgroup_has_its_own_threshold(
    subgroups: dict[tuple[str, str], dict[tuple[str, str], int]], expected: tuple[str, str]
) -> None:
    """Below it rejects; empty or absent is said, not passed."""
    terms = protocol(subgroup_thresholds=(SubgroupThreshold("length", "long", 0.9),))
    found = verdict(evidence(subgroups=subgroups), terms)
    assert (found.verdict, found.control) == expected


def test_a_declared_row_is_not_verified() -> None:
    """Completed by hand: nothing to judge, also when figures were typed in."""
    found = verdict(declared=True, metric_value=0.99, corpus_accepted="accepted")
    assert said(found) == ("unassessed", "predictions", "verdict.predictions.declared")
    assert found.metric_value is None


SAME, OTHER = Agreement("a_tickets_s0_r1"), Agreement("a_tickets_s0_r1", differing=2, first_differing=("7", "9"))
FAR = replace(OTHER, largest_distance=Decimal("0.011"))
NEAR = replace(OTHER, largest_distance=Decimal("0.01"))


@pytest.mark.parametrize(
    ("target", "agreement", "tolerance", "expected"),
    [
        ("business_quality", None, None, ("accepted", "all", "verdict.all.accepted")),
        (None, OTHER, None, ("accepted", "all", "verdict.all.accepted")),
        ("identical_outputs", SAME, None, ("accepted", "all", "verdict.all.accepted")),
        ("identical_outputs", OTHER, None, ("rejected", "reference", "verdict.reference.outputs_differ")),
        ("identical_outputs", None, None, ("unassessed", "reference", "verdict.reference.no_run")),
        ("bounded_distance", NEAR, 0.01, ("accepted", "all", "verdict.all.accepted")),
        ("bounded_distance", FAR, 0.01, ("rejected", "reference", "verdict.reference.too_far")),
        ("bounded_distance", OTHER, 0.01, ("unassessed", "reference", "verdict.reference.no_distance")),
        ("bounded_distance", NEAR, None, ("unassessed", "reference", "verdict.reference.no_bound")),
    ],
)
def test_the_reproducibility_target_is_held_against_the_reference_run(
    target: str | None, agreement: Agreement | None, tolerance: float | None, expected: tuple[str, str, str]
) -> None:
    """Each target in its own way; what cannot be compared is said, not passed, and the agreement stays in view."""
    terms = protocol(reproducibility_target=target, reference_variant="a", tolerance=tolerance)
    found = verdict(evidence(agreement=agreement), terms)
    assert said(found) == expected
    assert found.quality_ok == {"accepted": True, "rejected": False, "unassessed": None}[found.verdict]
    assert found.agreement == agreement


def test_a_target_without_a_reference_variant_is_unassessed() -> None:
    """There is nothing to be identical with."""
    found = verdict(terms=protocol(reproducibility_target="identical_outputs"))
    assert said(found) == ("unassessed", "reference", "verdict.reference.no_variant")


def test_lower_is_better_holds_for_threshold_tolerance_and_subgroups() -> None:
    """A mean error of 0.5 meets 0.5; a subgroup of 0.75 is above its own threshold; an empty one is said."""
    whole, within = Distances(4, 0, Decimal(2), Decimal(1)), Distances(4, 0, Decimal(3), Decimal(1))
    shown = evidence(confusion={}, distances=whole, subgroup_distances={("length", "long"): within})
    terms = protocol(metric="mean_absolute_error", threshold=0.5, tolerance=0.0, reference_variant="a")
    found = verdict(shown, terms)
    assert (found.verdict, found.metric_value, found.reference_delta) == ("accepted", 0.5, 0.0)
    for name, expected in (("long", "verdict.subgroups.below"), ("short", "verdict.subgroups.empty")):
        strict = replace(terms, subgroup_thresholds=(SubgroupThreshold("length", name, 0.5),))
        assert verdict(shown, strict).reason.key == expected
    assert verdict(shown, replace(terms, threshold=0.4)).reason.key == "verdict.quality.below"


def test_an_own_metric_that_fails_on_a_subgroup_without_a_threshold_is_no_obstacle() -> None:
    """Nothing hangs on that value; with a threshold on it, the verdict is open."""
    own: dict[object, object] = {None: 2.0, ("length", "long"): "ZeroDivisionError"}
    shown = evidence(own=own, subgroups={("length", "long"): {("bug", "bug"): 1}})
    terms = protocol(metric="cost", threshold=2.0)
    spec = {"cost": MetricSpec(function="m:cost", higher_is_better=False)}
    base = campaign([record("a", 1)], bad={"a_tickets_s0_r1": shown}, terms=terms)
    base = replace(base, manifest=base.manifest.model_copy(update={"metrics": spec}))
    found = judge(base)["a_tickets_s0_r1"]
    assert (found.verdict, found.subgroups["length", "long"]) == ("accepted", (None, None, 1))
    strict = replace(terms, subgroup_thresholds=(SubgroupThreshold("length", "long", 2.0),))
    assert said(judge(replace(base, protocol=strict))["a_tickets_s0_r1"])[2] == "verdict.quality.raised"
