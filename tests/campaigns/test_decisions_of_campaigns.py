"""Whole campaigns, from their folders to the answer: each pins its decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from campaign_folders import (
    QUICK,
    SIZE,
    SLOW,
    START,
    Lines,
    Pass,
    Plan,
    build,
    changed,
    name,
    package,
    protocol,
    right,
    rounds,
)

from lab.model.attempt import Attempt
from lab.model.catalogue import Deliverable, PackageChoice
from lab.model.decision import Decision, VariantDecision
from lab.model.protocol import ExclusionRule, SubgroupThreshold
from lab.pipeline import judge, load
from lab.report.document import build as document
from lab.store.canonical import canonical_json

Decide = Callable[[str], Decision]
NEAR_QUICK = (10.2, 10.1, 10.0, 10.4, 10.3)  # overlaps QUICK: the same durations in another order
BOTH = rounds({"b1": SLOW, "b8": QUICK})
B200 = {"b1": {"gpu": "rtx-4090"}, "b200": {"gpu": "b200", "batch_size": 64}}
SIX_WRONG = tuple(range(1, 12, 2))  # of 40: accuracy 0.85, none of them long


@dataclass(frozen=True)
class Pinned:
    """What a campaign must lead to. `gates` are those that did not pass; None: the answer names no variant."""

    status: str
    variant: str | None = None
    contenders: Sequence[str] = ()
    gates: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reasons: Sequence[str] = ()
    committed: Mapping[str, str | None] = field(default_factory=dict)
    accepted: Mapping[str, Sequence[int]] = field(default_factory=dict)
    first_step: str | None = None


def twice_and_one_missing() -> Lines:
    """As many lines as inputs, one id twice and one never."""
    return [*right()[:-1], right()[0]]


def without_the_last_two() -> Lines:
    """Two ids never appear."""
    return right()[:-2]


def cites(deliverable: str, variant: str, number: int, corpus: str = "tickets") -> Deliverable:
    """A deliverable accepted by people, which cites a pass."""
    return Deliverable(
        deliverable, variant, accepted=True, attempt_id=name(Pass(variant, number, 1, 1.0, corpus=corpus))
    )


def typed(variant: str, number: int, duration: float) -> Attempt:
    """A row that a person typed: no folder, no predictions."""
    return Attempt(
        f"{variant}-by-hand-{number}", started_at=(START + timedelta(hours=number)).isoformat(), variant=variant,
        corpus="tickets", round=number, position=1, outcome="completed", duration_s=duration, elapsed_s=duration,
        corpus_accepted="accepted", seed=0,
    )  # fmt: skip


TWO_PLANNED = protocol(planned_deliverables=("tickets of November", "tickets of December"))
BY_HAND = ExclusionRule("power-cut")
CASES: dict[str, tuple[Plan, Pinned]] = {
    "clear winner": (
        Plan(rounds({"b1": QUICK, "b200": QUICK}), B200),
        Pinned("chosen", "b1", reasons=["decision.cheapest"], committed={"b1": "110.00", "b200": "2071.00"}),
    ),
    "undecided because durations overlap": (
        Plan(rounds({"b1": NEAR_QUICK, "b8": QUICK})),
        Pinned(
            "undecided", contenders=["b1", "b8"], first_step="next.find_cause",
            reasons=["decision.same_budget", "decision.not_separated", "separation.range_and_test"],
        ),
    ),
    "equal budgets told apart": (
        Plan(BOTH),
        Pinned("chosen", "b8", reasons=["decision.same_budget", "decision.faster"]),
    ),
    "batch 8 out of memory on the long texts, its retry a variant of its own": (
        Plan(
            rounds({"b1": SLOW, "b8": ["out_of_memory"] * 5, "b4": QUICK}),
            {"b1": {"batch_size": 1}, "b8": {"batch_size": 8}, "b4": {"batch_size": 4}},
        ),
        Pinned(
            "chosen", "b4", gates={"b8": {"passes_accepted": "failed", "memory": "failed", "device": "unknown"}},
            accepted={"b1": [5], "b8": [0], "b4": [5]},
        ),
    ),
    "none accepted": (
        Plan(
            changed(changed(BOTH, "b1", answers=lambda: right(SIX_WRONG)), "b8", answers=lambda: right(SIX_WRONG)),
            protocol=protocol(planned_deliverables=("tickets",)),
            deliverables=[replace(cites("tickets", one, 1), accepted=False) for one in ("b1", "b8")],
        ),
        Pinned(
            "none_eligible", committed={"b1": "110.00", "b8": "110.00"}, accepted={"b1": [0], "b8": [0]},
            gates={one: {"passes_accepted": "failed", "deliverables": "failed"} for one in ("b1", "b8")},
            reasons=["decision.none_eligible", "decision.failed.passes_accepted", "decision.failed.deliverables"],
        ),
    ),
    "duplicate ids with the right line count": (
        Plan(changed(BOTH, "b8", answers=twice_and_one_missing)),
        Pinned("chosen", "b1", gates={"b8": {"passes_accepted": "failed"}}, accepted={"b1": [5], "b8": [0]}),
    ),
    "missing ids": (
        Plan(changed(BOTH, "b8", [3], answers=without_the_last_two)),
        Pinned("chosen", "b1", gates={"b8": {"passes_accepted": "failed"}}, accepted={"b1": [5], "b8": [4]}),
    ),
    "subgroup below its threshold": (
        Plan(
            changed(BOTH, "b8", answers=lambda: right((0, 4, 8))),  # 37 of 40 right, 7 of 10 long ones
            protocol=protocol(subgroup_thresholds=(SubgroupThreshold("length", "long", 0.8),)),
        ),
        Pinned("chosen", "b1", gates={"b8": {"passes_accepted": "failed"}}, accepted={"b1": [5], "b8": [0]}),
    ),
    "quality outside the tolerance after a change of precision": (
        Plan(
            changed(rounds({"fp32": SLOW, "int8": QUICK}), "int8", answers=lambda: right((1, 3))),  # 0.95, above 0.9
            {"fp32": {}, "int8": {"precision": "int8"}},
            protocol=protocol(tolerance=0.02, reference_variant="fp32"),
        ),
        Pinned("chosen", "fp32", gates={"int8": {"passes_accepted": "failed"}}, accepted={"fp32": [5], "int8": [0]}),
    ),
    "exclusion in one variant only": (
        Plan(
            changed(
                rounds({"b1": SLOW, "b8": (10.1, 10.0, 10.3, 10.2, 90.0)}), "b8", [5],
                changes={"excluded": True, "exclusion_reason": "power-cut: A. Martin, the room lost power"},
            ),
            protocol=protocol(exclusion_rules=(BY_HAND,), required_accepted_passes=4),
        ),
        Pinned("chosen", "b8", accepted={"b1": [5], "b8": [5]}),
    ),
    "deadline missed": (
        Plan(BOTH, protocol=protocol(deadline=START + timedelta(hours=95))),
        Pinned(
            "none_eligible", gates={one: {"deadline": "failed"} for one in ("b1", "b8")},
            first_step="next.failed.deadline"
        ),
    ),
    "window of 96 h against 3 days": (
        Plan(BOTH, days=3, offers=[package("rtx-4090", 3, "60"), package("rtx-4090", 7, "110")]),
        Pinned(
            "none_eligible", gates={one: {"calendar": "failed"} for one in ("b1", "b8")},
            committed={"b1": "60.00", "b8": "60.00"}, first_step="next.failed.calendar",
        ),
    ),
    "window of 96 h against 7 days": (
        Plan(BOTH, offers=[package("rtx-4090", 3, "60"), package("rtx-4090", 7, "110")]),
        Pinned("chosen", "b8", committed={"b1": "110.00", "b8": "110.00"}),
    ),
    "price unknown": (
        Plan(
            rounds({"b1": QUICK, "b200": QUICK}), B200,
            choices=[PackageChoice("b1", "rtx-4090", 30, 1), PackageChoice("b200", "b200", 7, 1)],
        ),
        Pinned(
            "undecided", contenders=["b200", "b1"], committed={"b1": None, "b200": "2071.00"},
            gates={"b1": {"device": "unknown", "calendar": "unknown", "price": "unknown"}},
            first_step="next.unknown.price",
        ),
    ),
    "hand-filled rows only": (
        Plan([], declared_rows=[typed(v, n, d) for v in ("b1", "b8") for n, d in enumerate(QUICK, start=1)]),
        Pinned(
            "undecided", contenders=["b1", "b8"], accepted={"b1": [0], "b8": [0]},
            gates=dict.fromkeys(
                ("b1", "b8"),
                dict.fromkeys(("sealed", "passes_tried", "passes_accepted", "memory", "device"), "unknown"),
            ),
        ),
    ),
    "five repetitions that must not count as five deliverables": (
        Plan(
            BOTH, protocol=TWO_PLANNED,
            deliverables=[cites(d, "b8", n) for n, d in enumerate(TWO_PLANNED.planned_deliverables, start=1)],
        ),
        Pinned("chosen", "b1", gates={"b1": {"deliverables": "unknown"}, "b8": {"deliverables": "failed"}}),
    ),
    "two corpora as two deliverables": (
        Plan(
            [*BOTH, *rounds({"b1": SLOW, "b8": QUICK}, "mails")], corpora=("tickets", "mails"),
            protocol=protocol(planned_deliverables=("tickets", "mails")),
            deliverables=[cites(one, v, 2, corpus=one) for v in ("b1", "b8") for one in ("tickets", "mails")],
        ),
        Pinned("chosen", "b8", accepted={"b1": [5, 5], "b8": [5, 5]}),
    ),
    "mixed environments in one variant": (
        Plan(changed(BOTH, "b8", [4, 5], stack="2.12.0")),
        Pinned("chosen", "b8", reasons=["decision.same_budget", "decision.faster"]),
    ),
}  # fmt: skip


def of(decision: Decision, variant: str) -> VariantDecision:
    """What a decision says of a variant."""
    return next(one for one in decision.variants if one.id == variant)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Decision]:
    """The decision of a case, its campaign built and judged the first time it is asked for."""

    @cache
    def found(case: str) -> Decision:
        return judge(build(tmp_path_factory.mktemp("campaigns") / "campaign", CASES[case][0])).decision

    return found


@pytest.mark.parametrize("case", [*CASES])
def test_each_campaign_leads_to_its_decision(case: str, decided: Decide) -> None:
    """Status, variant, contenders, every gate that does not pass, budgets, accepted passes, reasons, first step."""
    plan, pinned = CASES[case]
    decision = decided(case)
    assert (decision.status, decision.variant) == (pinned.status, pinned.variant)
    assert decision.contenders == tuple(pinned.contenders)
    open_ = {"deliverables": "unknown"} if not plan.protocol.planned_deliverables else {}
    for one in decision.variants:
        assert {g.gate: g.result for g in one.gates if g.result != "passed"} == {
            **open_,
            **pinned.gates.get(one.id, {}),
        }
    committed = {v: None if amount is None else Decimal(amount) for v, amount in pinned.committed.items()}
    assert {v: of(decision, v).committed for v in pinned.committed} == committed
    accepted = {v: [s.accepted for s in of(decision, v).summaries] for v in pinned.accepted}
    assert accepted == pinned.accepted
    assert [one.key for one in decision.reasons][: len(pinned.reasons)] == list(pinned.reasons)
    assert pinned.first_step is None or decision.next_steps[0].key == pinned.first_step


@pytest.mark.parametrize("case", ["clear winner", "none accepted", "exclusion in one variant only"])
def test_judging_again_changes_nothing(case: str, tmp_path: Path) -> None:
    """The verdicts are in the workbook after the first time: the same document, byte for byte."""
    folder = build(tmp_path / "campaign", CASES[case][0])
    first, second = judge(folder), judge(folder)
    assert canonical_json(document(first.campaign, first.decision)) == canonical_json(
        document(second.campaign, second.decision)
    )


def test_none_accepted_shows_the_budget_and_no_ratio(decided: Decide) -> None:
    """110 USD are committed; divided by no accepted deliverable they are undefined, not 0 and not 110."""
    for one in decided("none accepted").variants:
        assert (one.committed, one.cost_status, one.cost_per_validated_corpus) == (Decimal("110.00"), "undefined", None)


def test_a_duplicate_and_a_missing_id_are_counted_though_the_lines_are_as_many_as_the_inputs(decided: Decide) -> None:
    """40 lines, 40 inputs, one of each."""
    decision = decided("duplicate ids with the right line count")
    verdict = next(one for name, one in decision.verdicts.items() if name.startswith("b8"))
    assert (verdict.verdict, verdict.control) == ("rejected", "ids")
    assert (verdict.observed_ids, verdict.duplicate_ids, verdict.missing_ids) == (SIZE, 1, 1)


@pytest.mark.parametrize(
    ("case", "variant", "control"),
    [
        ("missing ids", "b8", "ids"),
        ("subgroup below its threshold", "b8", "subgroups"),
        ("quality outside the tolerance after a change of precision", "int8", "reference"),
        ("none accepted", "b8", "quality"),
    ],
)
def test_the_control_that_rejects_is_named(case: str, variant: str, control: str, decided: Decide) -> None:
    """The first one that does not pass decides."""
    decision = decided(case)
    rejected = {
        one.control
        for one in decision.verdicts.values()
        if one.verdict == "rejected" and one.attempt_id.startswith(variant)
    }
    assert rejected == {control}


def test_a_threshold_lowered_after_the_fact_chooses_nobody(tmp_path: Path) -> None:
    """0.85 does not meet 0.9; the lower threshold would accept, and the seal keeps every variant out."""
    passes = changed(BOTH, "b8", answers=lambda: right(SIX_WRONG))
    folder = build(tmp_path / "campaign", Plan(passes))
    assert judge(folder).decision.variant == "b1"
    lower_threshold(folder, 0.8)
    decision = judge(folder).decision
    assert (decision.status, decision.variant) == ("none_eligible", None)
    assert [s.accepted for one in decision.variants for s in one.summaries] == [5, 5]
    sealed = [next(g for g in one.gates if g.gate == "sealed") for one in decision.variants]
    assert [(gate.result, gate.reason.values["names"]) for gate in sealed] == [("failed", ["protocol.threshold"])] * 2
    change = load(folder).seal.changes[0]  # type: ignore[union-attr]  (it was sealed)
    assert (change.name, change.sealed, change.now) == ("protocol.threshold", "0.9", "0.8")


def lower_threshold(folder: Path, threshold: float) -> None:
    """Type another threshold into the workbook."""
    from openpyxl import load_workbook

    book = load_workbook(folder / "campaign.xlsx")
    rows = [row for row in book["protocol"].iter_rows() if row[0].value == "threshold"]
    rows[0][1].value = threshold
    book.save(folder / "campaign.xlsx")


def test_an_exclusion_in_one_variant_only_is_said_and_shown_both_ways(decided: Decide) -> None:
    """With the 90 s back in, the two are no longer told apart; the row stays and is counted."""
    decision = decided("exclusion in one variant only")
    assert "warning.exclusion_one_sided" in [one.key for one in decision.warnings]
    summary = of(decision, "b8").summaries[0]
    assert (summary.excluded, summary.max_s, summary.attempts) == (1, 10.3, 5)
    assert summary.with_excluded is not None
    assert summary.with_excluded.max_s == 90.0
    assert decision.with_excluded is not None
    assert (decision.with_excluded.status, decision.with_excluded.contenders) == ("undecided", ("b1", "b8"))


def test_repetitions_of_one_corpus_are_one_deliverable(decided: Decide) -> None:
    """Two deliverables cite two passes over the same corpus: the gate says that they are one."""
    decision = decided("five repetitions that must not count as five deliverables")
    one = of(decision, "b8")
    gate = next(gate for gate in one.gates if gate.gate == "deliverables")
    assert gate.reason.key == "gate.deliverables.failed.same_corpus"
    assert one.accepted_deliverables in (None, 1)


def test_two_corpora_are_two_deliverables(decided: Decide) -> None:
    """110 USD over two: 55."""
    one = of(decided("two corpora as two deliverables"), "b8")
    assert (one.accepted_deliverables, one.cost_per_validated_corpus) == (2, Decimal("55.00"))


def test_mixed_environments_travel_with_the_figures_and_the_comparison(decided: Decide) -> None:
    """Two versions of torch in one series: said beside the median, beside the comparison and of the whole."""
    decision = decided("mixed environments in one variant")
    assert "warning.mixed_environments" in [one.key for one in of(decision, "b8").summaries[0].warnings]
    assert "warning.compared_mixed" in [one.key for one in decision.separations[0].warnings]
    assert "warning.stacks_differ" in [one.key for one in decision.warnings]
    paired = decision.separations[0].paired
    assert paired is not None
    assert paired.rounds == (1, 2, 3)


def test_a_window_of_96_hours_has_72_to_spare_in_seven_days_and_lacks_24_in_three(decided: Decide) -> None:
    """Through the gate's own evidence."""
    for case, fact in (("window of 96 h against 7 days", "left"), ("window of 96 h against 3 days", "missing")):
        decision = decided(case)
        gate = next(gate for gate in decision.variants[0].gates if gate.gate == "calendar")
        assert gate.reason.values[fact] == {"left": 72, "missing": 24}[fact]
