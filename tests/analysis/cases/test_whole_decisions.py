"""Whole small campaigns, each pinning its decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from campaign_builder import FRIDAY, MONDAY, campaign, cited, evidence, passes, protocol, record

from lab.analysis.decide import decide
from lab.model.catalogue import CalendarTask, PackageChoice
from lab.model.decision import Decision, GateName, GateResult
from lab.model.protocol import SubgroupThreshold

SAME_CARD = {"a": "rtx-4090", "b": "rtx-4090"}
SLOW, FAST = (20.0, 20.1, 20.2, 20.3, 20.4), (10.0, 10.1, 10.2, 10.3, 10.4)


def result(decision: Decision, variant: str, gate: GateName) -> tuple[GateResult, str]:
    """Result and reason of one gate."""
    found = next(one for one in decision.variants if one.id == variant)
    return next((one.result, one.reason.key) for one in found.gates if one.gate == gate)


def keys(decision: Decision) -> list[str]:
    """The decision's reasons."""
    return [one.key for one in decision.reasons]


def test_clear_winner() -> None:
    """The cheaper of two eligible variants is chosen although it is slower, and the flip price is the other's."""
    decision = decide(campaign([*passes("a", SLOW), *passes("b", FAST)]))
    assert (decision.status, decision.variant, decision.committed) == ("chosen", "a", Decimal("110.00"))
    assert keys(decision) == ["decision.cheapest"]
    flip = next(one for one in decision.sensitivity if one.key == "sensitivity.flip")
    assert flip.values["amount"] == Decimal("2071.00")
    assert flip.values["margin"] == Decimal("1961.00")


def test_undecided_because_durations_overlap() -> None:
    """Equal budgets and durations within each other's range: undecided, and a cause is to be looked for."""
    decision = decide(
        campaign([*passes("a", (10, 11, 12, 13, 14)), *passes("b", (10.5, 11.5, 12, 12.5, 14))], SAME_CARD)
    )
    assert decision.status == "undecided"
    assert decision.variant is None
    assert decision.contenders == ("a", "b")
    assert [one.key for one in decision.next_steps] == ["next.find_cause", "next.choose_otherwise"]


def test_equal_budgets_told_apart_by_durations() -> None:
    """Equal budgets and failures: the faster one is chosen when the durations are separated."""
    decision = decide(campaign([*passes("a", SLOW), *passes("b", FAST)], SAME_CARD))
    assert (decision.status, decision.variant) == ("chosen", "b")
    assert keys(decision) == ["decision.same_budget", "decision.faster"]


def test_equal_budgets_told_apart_by_failures() -> None:
    """Equal budgets: fewer failed or rejected attempts win before any duration is looked at."""
    records = [*passes("a", SLOW), *passes("b", FAST[:4]), record("b", 5, outcome="failed")]
    decision = decide(campaign(records, SAME_CARD, terms=protocol(required_accepted_passes=4)))
    assert (decision.status, decision.variant) == ("chosen", "a")
    assert keys(decision)[-1] == "decision.fewer_mishaps"


def test_out_of_memory() -> None:
    """A variant that ran out of memory fails that gate; its retry is a variant of its own."""
    records = [
        *passes("b8", FAST[:4]),
        record("b8", 5, outcome="out_of_memory"),
        *passes("b8-retry", SLOW),
    ]
    cards = {"b8": "rtx-4090", "b8-retry": "rtx-4090"}
    decision = decide(campaign(records, cards, terms=protocol(required_accepted_passes=4)))
    assert result(decision, "b8", "memory") == ("failed", "gate.memory.failed")
    assert decision.variant == "b8-retry"


def test_none_accepted() -> None:
    """All rejected: none eligible, the budget is shown and the ratio is undefined."""
    records = [*passes("a", SLOW), *passes("b", FAST)]
    bad = {one.attempt.attempt_id: evidence(50, 50) for one in records}
    decision = decide(campaign(records, bad=bad, terms=protocol(planned_deliverables=("tickets",))))
    assert (decision.status, decision.variant, decision.committed) == ("none_eligible", None, None)
    first = decision.variants[0]
    assert (first.committed, first.cost_status, first.cost_per_validated_corpus) == (
        Decimal("110.00"),
        "undefined",
        None,
    )
    assert first.summaries[0].median_s is None
    assert first.summaries[0].durations_s == (None,) * 5


def test_price_unknown() -> None:
    """A package that the catalogue does not hold leaves the answer undecided, never a guessed price."""
    choices = (PackageChoice("a", "rtx-4090", 30, 1), PackageChoice("b", "b200", 7, 1))
    decision = decide(campaign([*passes("a", SLOW), *passes("b", FAST)], choices=choices))
    assert decision.status == "undecided"
    assert result(decision, "a", "price") == ("unknown", "gate.price.unknown.no_offer")
    assert decision.variants[0].committed is None
    assert decision.variants[0].cost_status == "not_stated"


def test_deadline_missed() -> None:
    """A window that ends after the deadline fails every variant it belongs to."""
    terms = protocol(deadline=FRIDAY - timedelta(seconds=1))
    decision = decide(campaign([*passes("a", SLOW), *passes("b", FAST)], terms=terms))
    assert decision.status == "none_eligible"
    assert result(decision, "a", "deadline") == ("failed", "gate.deadline.failed")
    assert "decision.failed.deadline" in keys(decision)


def test_window_of_96_hours_against_3_and_7_days() -> None:
    """96 hours pass 72 and fit in 168; one second more than the package is not covered."""
    records = [*passes("a", SLOW), *passes("b", FAST)]
    choices = (PackageChoice("a", "rtx-4090", 3, 1), PackageChoice("b", "b200", 7, 1))
    decision = decide(campaign(records, choices=choices))
    assert result(decision, "a", "calendar") == ("failed", "gate.calendar.failed")
    assert result(decision, "b", "calendar") == ("passed", "gate.calendar.passed")
    exact = (CalendarTask("all", MONDAY, MONDAY + timedelta(hours=72)),)
    assert result(decide(campaign(records, choices=choices, calendar=exact)), "a", "calendar")[0] == "passed"
    over = (CalendarTask("all", MONDAY, MONDAY + timedelta(hours=72, seconds=1)),)
    assert result(decide(campaign(records, choices=choices, calendar=over)), "a", "calendar")[0] == "failed"


def test_duplicate_ids_with_the_right_line_count() -> None:
    """As many lines as expected, one id twice and one missing: rejected by the ids control."""
    records = [*passes("a", SLOW), *passes("b", FAST)]
    twice = evidence(duplicates=1, missing=1, first_duplicates=("7",), first_missing=("8",))
    decision = decide(campaign(records, bad={"a_tickets_s0_r2": twice}))
    verdict = decision.verdicts["a_tickets_s0_r2"]
    assert (verdict.verdict, verdict.control, verdict.ids_match) == ("rejected", "ids", False)
    assert verdict.metric_value is None
    assert decision.variant == "b"


def test_missing_ids() -> None:
    """An input without a prediction rejects the attempt, however good the others are."""
    records = [*passes("a", SLOW), *passes("b", FAST)]
    bad = {one.attempt.attempt_id: evidence(observed=99, missing=1, first_missing=("é",)) for one in records[:5]}
    decision = decide(campaign(records, bad=bad))
    assert decision.verdicts["a_tickets_s0_r1"].control == "ids"
    assert result(decision, "a", "passes_accepted") == ("failed", "gate.passes_accepted.failed")
    assert decision.variant == "b"


def test_subgroup_below_its_threshold() -> None:
    """Good over all and too weak on the long texts: rejected by the subgroups control."""
    groups = {("length", "long"): {("bug", "bug"): 5, ("bug", "billing"): 5}}
    terms = protocol(subgroup_thresholds=(SubgroupThreshold("length", "long", 0.6),))
    records = [*passes("a", SLOW), *passes("b", FAST)]
    strong = {("length", "long"): {("bug", "bug"): 6, ("bug", "billing"): 4}}
    bad = {one.attempt.attempt_id: evidence(subgroups=groups if n < 5 else strong) for n, one in enumerate(records)}
    decision = decide(campaign(records, bad=bad, terms=terms))
    verdict = decision.verdicts["a_tickets_s0_r1"]
    assert (verdict.verdict, verdict.control) == ("rejected", "subgroups")
    assert verdict.subgroups["length", "long"] == (0.5, 0.6, 10)
    assert decision.variant == "b"


def test_hand_filled_rows_only() -> None:
    """Declared rows are verified by nobody: unassessed, no figure, and the answer stays undecided."""
    records = [*passes("a", SLOW, declared=True), *passes("b", FAST, declared=True)]
    decision = decide(campaign(records))
    assert decision.status == "undecided"
    assert {one.verdict for one in decision.verdicts.values()} == {"unassessed"}
    for gate in ("sealed", "passes_accepted", "memory", "device"):
        assert result(decision, "a", gate)[0] == "unknown"
    assert decision.variants[0].summaries[0].median_s is None
    assert "limits.declared" in [one.key for one in decision.does_not_cover]


def test_five_repetitions_are_not_five_deliverables() -> None:
    """Five accepted passes of one corpus are one deliverable, whether cited under one name or under five."""
    records = [*passes("a", SLOW), *passes("b", FAST)]
    terms = protocol(planned_deliverables=("tickets",))
    rows = tuple(cited("a", number=n) for n in range(1, 6))
    decision = decide(campaign(records, terms=terms, deliverables=rows))
    assert (decision.variants[0].accepted_deliverables, decision.cost_per_validated_corpus) == (1, Decimal("110.00"))
    assert result(decision, "a", "deliverables")[0] == "passed"
    names = tuple(f"d{n}" for n in range(1, 6))
    rows = tuple(cited("a", name, n) for n, name in enumerate(names, start=1))
    decision = decide(campaign(records, terms=protocol(planned_deliverables=names), deliverables=rows))
    assert decision.variants[0].accepted_deliverables == 1
    assert result(decision, "a", "deliverables") == ("failed", "gate.deliverables.failed.same_corpus")


def test_two_corpora_are_two_deliverables() -> None:
    """Each corpus that the project needs counts once, and summaries are never pooled over corpora."""
    records = [one for v in "ab" for corpus in ("mails", "tickets") for one in passes(v, FAST, corpus=corpus)]
    terms = protocol(planned_deliverables=("mails", "tickets"))
    rows = (cited("a"), cited("a", "mails", attempt_id="a_mails_s0_r3"))
    decision = decide(campaign(records, corpora=("tickets", "mails"), terms=terms, deliverables=rows))
    assert decision.variants[0].accepted_deliverables == 2
    assert decision.cost_per_validated_corpus == Decimal("55.00")
    assert [(one.corpus, one.attempts) for one in decision.variants[0].summaries] == [("tickets", 5), ("mails", 5)]


def test_threshold_lowered_after_the_fact() -> None:
    """A sealed value that differs now fails the sealed gate of every variant."""
    from lab.model.campaign import Change, Seal

    seal = Seal("s1", MONDAY.isoformat(), (Change("protocol.threshold", "0.95", "0.9"),))
    decision = decide(campaign([*passes("a", SLOW), *passes("b", FAST)], seal=seal))
    assert decision.status == "none_eligible"
    assert result(decision, "a", "sealed") == ("failed", "gate.sealed.failed.amended")


def test_mixed_environments_in_one_variant() -> None:
    """A variant measured on two machines carries the warning with its figures."""
    base = campaign([*passes("a", SLOW), *passes("b", FAST)])
    moved = tuple(
        replace(one, attempt=replace(one.attempt, environment="env-b")) if one.attempt.round == 5 else one
        for one in base.records
    )
    decision = decide(replace(base, records=moved))
    assert "warning.mixed_environments" in [one.key for one in decision.variants[0].summaries[0].warnings]
    assert result(decision, "a", "device") == ("failed", "gate.device.failed")
