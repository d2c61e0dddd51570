"""What leaves an attempt out of the figures, and what does not."""

from __future__ import annotations

import pytest
from campaign_builder import campaign, evidence, passes, protocol, record

from lab.analysis.acceptance import judge
from lab.analysis.decide import decide
from lab.analysis.exclusions import exclusion_warnings, exclusions
from lab.model.campaign import Campaign
from lab.model.protocol import ExclusionRule

POWER = ExclusionRule("power-cut")


def left_out(given: Campaign) -> list[str]:
    """Ids that a rule leaves out."""
    return [one.attempt_id for one in exclusions(given)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (ExclusionRule("slow", "load_s", ">", "30"), ["a_tickets_s0_r1", "b_tickets_s0_r1"]),
        (ExclusionRule("slow", "load_s", ">=", "40.5"), ["a_tickets_s0_r1"]),
        (ExclusionRule("slow", "load_s", "!=", "40.5"), ["b_tickets_s0_r1"]),
        (ExclusionRule("first", "round", "=", "1"), ["a_tickets_s0_r1", "b_tickets_s0_r1"]),
        (ExclusionRule("cut", "outcome", "=", "timed_out"), ["a_tickets_s0_r2"]),
        (
            ExclusionRule("early", "started_at", "<", "2026-11-30T12:00:00+01:00"),
            ["a_tickets_s0_r1", "b_tickets_s0_r1"],
        ),
        (ExclusionRule("odd", "corpus_accepted", "=", "rejected"), ["a_tickets_s0_r2", "b_tickets_s0_r2"]),
        (ExclusionRule("low", "metric_value", "<", "0.5"), ["b_tickets_s0_r2"]),
    ],
)
def test_a_condition_is_applied_to_every_variant(rule: ExclusionRule, expected: list[str]) -> None:
    """Numbers, choices and moments compare as what they are; an absent cell meets no condition, `!=` included."""
    records = [
        record("a", 1, load_s=40.5),
        record("b", 1, load_s=31.0),
        record("a", 2, outcome="timed_out"),
        record("b", 2),
    ]
    given = campaign(records, bad={"b_tickets_s0_r2": evidence(10, 90)}, terms=protocol(exclusion_rules=(rule,)))
    assert left_out(given) == expected


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (ExclusionRule("x", "speed", ">", "3"), "warning.rule_column"),
        (ExclusionRule("x", "excluded", "=", "true"), "warning.rule_column"),
        (ExclusionRule("x", "load_s", ">", "much"), "warning.rule_value"),
        (ExclusionRule("x", "load_s", "=", "nan"), "warning.rule_value"),
        (ExclusionRule("x", "outcome", ">", "failed"), "warning.rule_value"),
        (ExclusionRule("x", "outcome", "=", "fail"), "warning.rule_value"),
    ],
)
def test_a_rule_that_cannot_be_applied_excludes_nothing_and_is_said(rule: ExclusionRule, why: str) -> None:
    """An unknown or declared column, a value of another kind, an order that does not exist."""
    given = campaign([record("a", 1, load_s=40.0, excluded=True)], terms=protocol(exclusion_rules=(rule,)))
    assert left_out(given) == []
    assert why in [one.key for one in exclusion_warnings(given, ())]


def test_an_attestation_names_its_rule_and_who_and_why() -> None:
    """`rule: who, why` under an attestation of the protocol: left out, and shown as a person's word."""
    row = record("a", 2, excluded=True, exclusion_reason="power-cut: A. Martin, the room lost power")
    (found,) = exclusions(campaign([record("a", 1), row], terms=protocol(exclusion_rules=(POWER,))))
    assert (found.attempt_id, found.rule, found.attested) == ("a_tickets_s0_r2", "power-cut", True)
    assert found.reason.values["statement"] == "A. Martin, the room lost power"


@pytest.mark.parametrize("statement", [None, "", "power-cut", "power-cut: ", "noise: A. Martin", "too slow"])
def test_an_exclusion_without_a_rule_or_a_person_stays_in_and_is_said(statement: str | None) -> None:
    """Marking a row is not enough."""
    row = record("a", 1, excluded=True, exclusion_reason=statement)
    given = campaign([row], terms=protocol(exclusion_rules=(POWER,)))
    assert left_out(given) == []
    assert [one.key for one in exclusion_warnings(given, ())] == ["warning.exclusion_without_rule"]


def test_a_reason_without_the_mark_excludes_nothing() -> None:
    """The cell `excluded` has to say so."""
    row = record("a", 1, exclusion_reason="power-cut: A. Martin, x")
    assert left_out(campaign([row], terms=protocol(exclusion_rules=(POWER,)))) == []


def test_an_excluded_attempt_gives_no_figure_no_accepted_pass_and_keeps_its_row() -> None:
    """Counts stay, the duration goes, and the required passes are short by one."""
    records = [*passes("a", (10.0, 11.0, 12.0, 13.0, 99.0)), *passes("b", (1.0, 2.0, 3.0, 4.0, 5.0))]
    terms = protocol(exclusion_rules=(ExclusionRule("slow", "duration_s", ">", "90"),))
    decision = decide(campaign(records, terms=terms))
    first = decision.variants[0]
    assert (first.summaries[0].accepted, first.summaries[0].excluded) == (5, 1)
    assert (first.summaries[0].durations_s[4], first.summaries[0].max_s) == (None, 13.0)
    gate = next(one for one in first.gates if one.gate == "passes_accepted")
    assert (gate.result, gate.reason.values["accepted"], gate.reason.values["excluded"]) == ("failed", 4, 1)
    assert decision.verdicts["a_tickets_s0_r5"].verdict == "accepted"


def test_an_attestation_for_one_variant_only_is_said() -> None:
    """The reader sees whom it served."""
    row = record("a", 1, excluded=True, exclusion_reason="power-cut: A. Martin, x")
    decision = decide(campaign([row, record("b", 1)], terms=protocol(exclusion_rules=(POWER,))))
    (found,) = [one for one in decision.warnings if one.key == "warning.exclusion_one_sided"]
    assert (found.values["variants"], found.values["others"]) == (["a"], ["b"])


def test_exclusions_judge_when_no_verdicts_are_given() -> None:
    """The two ways to call it agree."""
    rule = ExclusionRule("low", "metric_value", "<", "0.5")
    given = campaign([record("a", 1)], bad={"a_tickets_s0_r1": evidence(1, 9)}, terms=protocol(exclusion_rules=(rule,)))
    assert exclusions(given) == exclusions(given, judge(given))
    assert len(exclusions(given)) == 1
