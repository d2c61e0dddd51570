"""What holds for every campaign: order, failures, unknowns and scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from campaign_builder import FRIDAY, MONDAY, campaign, cited, evidence, offer, passes, protocol, record
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.analysis.decide import decide
from lab.analysis.ranking import mishaps
from lab.calcul_forfaits import Offer
from lab.measure.schedule import order_of_round
from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.catalogue import CalendarTask, Expense, PackageChoice
from lab.model.decision import Decision, VariantDecision
from lab.model.protocol import ExclusionRule

VARIANTS = {"a": "rtx-4090", "b": "rtx-4090", "c": "b200"}
OUTCOMES = ("completed", "completed", "completed", "failed", "out_of_memory", "timed_out", "interrupted", None)
WORSE = {"failed": 0, "unknown": 1, "passed": 2}


@st.composite
def attempts(draw: st.DrawFn, variant: str) -> list[Record]:
    """Up to four attempts of a variant, some of them over again, late, declared, excluded or on another machine."""
    found = []
    for n in range(draw(st.integers(0, 4))):
        outcome = draw(st.sampled_from(OUTCOMES))
        facts: dict[str, Any] = {
            "attempt_id": f"{variant}-{n}",
            "started_at": draw(st.sampled_from([None, MONDAY.isoformat(), FRIDAY.isoformat()])),
            "outcome": outcome,
            "declared": draw(st.integers(0, 5)) == 0,
            "environment": draw(st.sampled_from([None, f"env-{variant}", f"env-{variant}", "env-c"])),
            "excluded": draw(st.sampled_from([None, None, True])),
            "exclusion_reason": draw(st.sampled_from([None, "power: A. Martin, cut"])),
            "load_s": draw(st.sampled_from([None, 5.0, 50.0])),
        }
        found.append(record(variant, draw(st.integers(1, 3)), draw(st.sampled_from([10.0, 10.2, 20.0, 20.2])), **facts))
    return found


@st.composite
def nearly_complete(draw: st.DrawFn) -> Campaign:
    """Two or five passes of each variant in rotated order on one machine, at most a few of them spoilt.

    Priced in one calendar: winners, ties and close calls.
    """
    rounds = draw(st.sampled_from([2, 5]))
    durations = st.lists(st.sampled_from([10.0, 10.2, 20.0, 20.2]), min_size=rounds, max_size=rounds)
    records = [_placed(one, rounds) for variant in VARIANTS for one in passes(variant, draw(durations))]
    spoilt = draw(st.dictionaries(st.integers(0, 5), st.sampled_from(OUTCOMES), max_size=2))
    records = [_ended(one, spoilt.get(place, "completed")) for place, one in enumerate(records)]
    completed = [one.attempt.attempt_id for one in records if one.attempt.outcome == "completed"]
    shown = {i: draw(st.sampled_from([*[evidence()] * 9, evidence(50, 50), evidence(altered=True)])) for i in completed}
    required = draw(st.sampled_from([None, 1]))
    lots = draw(st.lists(st.sampled_from([1, 1, 2]), min_size=3, max_size=3))
    days = draw(st.lists(st.sampled_from([7, 7, None]), min_size=3, max_size=3))  # None: by the hour
    return campaign(
        records,
        VARIANTS,
        bad=shown,
        terms=protocol(
            repetitions=rounds,
            required_accepted_passes=required,
            budget_limit=Decimal(500),
            exclusion_rules=draw(st.sampled_from([(), (ExclusionRule("slow", "duration_s", ">", "20.1"),)])),
        ),
        choices=tuple(PackageChoice(v, None, d, n) for v, d, n in zip(VARIANTS, days, lots, strict=True)),
        offers=(offer(), offer("b200", price="110"), _by_the_hour("1.14"), _by_the_hour("1.15", "b200")),
    )


def _by_the_hour(price: str, gpu: str = "rtx-4090") -> Offer:
    """An hourly offer in whole cents: what rounding a budget to the cent does is no matter of scale."""
    return offer(gpu, None, price, model="hourly", increment_minutes=60)


def _placed(one: Record, rounds: int) -> Record:
    """Where the schedule puts a pass, on the machine that all variants share."""
    row = one.attempt
    order = order_of_round([*VARIANTS], row.round or 1, rounds)
    position, environment = order.index(row.variant or "") + 1, f"env-{'c' if row.variant == 'c' else 'a'}"
    return replace(one, attempt=replace(row, position=position, environment=environment))


def _ended(one: Record, outcome: Any) -> Record:  # noqa: ANN401  (one of OUTCOMES)
    duration = one.attempt.duration_s if outcome == "completed" else None
    return replace(one, attempt=replace(one.attempt, outcome=outcome, duration_s=duration))


@st.composite
def anyhow(draw: st.DrawFn) -> Campaign:
    """Small campaigns in every state: nothing measured, half measured, half declared, priced or not."""
    records = [one for variant in VARIANTS for one in draw(attempts(variant))]
    shown = {
        one.attempt.attempt_id: draw(
            st.sampled_from([evidence(), evidence(), evidence(50, 50), evidence(missing=1), evidence(altered=True)])
        )
        for one in records
        if one.attempt.outcome == "completed" and not one.declared
    }
    terms = protocol(
        repetitions=draw(st.sampled_from([None, 1, 2])),
        required_accepted_passes=draw(st.sampled_from([None, 1])),
        planned_deliverables=draw(st.sampled_from([(), ("tickets",)])),
        budget_limit=draw(st.sampled_from([None, Decimal(100), Decimal(500)])),
        deadline=draw(st.sampled_from([None, FRIDAY, MONDAY])),
        exclusion_rules=(ExclusionRule("power"), ExclusionRule("slow", "load_s", ">", "30")),
        reference_variant=draw(st.sampled_from([None, "a"])),
        tolerance=0.1,
    )
    days, lots = st.sampled_from([3, 7, 30]), st.sampled_from([1, 2])
    choices = [PackageChoice(variant, None, draw(days), draw(lots)) for variant in VARIANTS]
    everyone, one_only = CalendarTask("all", MONDAY, FRIDAY), CalendarTask("x", MONDAY, FRIDAY, "a")
    return campaign(
        records,
        VARIANTS,
        bad=shown,
        terms=terms,
        choices=tuple(choices[: draw(st.integers(0, 3))]),
        offers=(offer(), offer(days=3, price="60"), offer("b200", price="100")),
        expenses=(Expense("help", "a", Decimal(7), "USD"), Expense("disk", None, Decimal(3), "USD")),
        calendar=draw(st.sampled_from([(), (one_only,), (everyone,), (everyone, one_only)])),
        deliverables=tuple(cited(v, attempt_id=f"{v}-0") for v in draw(st.sampled_from(["", "a", "abc"]))),
    )


def campaigns() -> st.SearchStrategy[Campaign]:
    """Campaigns in every state and campaigns close to an answer."""
    return anyhow() | nearly_complete()


def of(decision: Decision, variant: str) -> VariantDecision:
    """What a decision says of a variant."""
    return next(one for one in decision.variants if one.id == variant)


def results(one: VariantDecision) -> dict[str, int]:
    """Gate -> how good its result is."""
    return {gate.gate: WORSE[gate.result] for gate in one.gates}


@given(campaigns(), st.randoms(use_true_random=False))
def test_the_order_of_rows_never_changes_a_decision(one: Campaign, random: Any) -> None:  # noqa: ANN401  (hypothesis' Random)
    """Attempts, prices, expenses, calendar and deliverables in any order: the very same decision."""

    def mixed(rows: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(random.sample(rows, len(rows)))

    names = ("records", "choices", "offers", "expenses", "calendar", "deliverables")
    assert decide(replace(one, **{name: mixed(getattr(one, name)) for name in names})) == decide(one)


@given(campaigns(), st.sampled_from([*VARIANTS]), st.sampled_from(["failed", "out_of_memory", "timed_out"]))
def test_a_failed_attempt_beyond_the_plan_never_makes_a_variant_look_better(
    one: Campaign, v: str, outcome: str
) -> None:
    """No gate improves, no count of mishaps falls, no figure changes, and it does not become the answer."""
    extra = record(v, 99, outcome=outcome, attempt_id="extra")
    before, after = decide(one), decide(replace(one, records=(*one.records, extra)))
    gates_before, gates_after = results(of(before, v)), results(of(after, v))
    assert all(gates_after[name] <= gates_before[name] for name in gates_before)
    assert of(after, v).eligible <= of(before, v).eligible
    assert mishaps(of(after, v)) == tuple(count + 1 for count in mishaps(of(before, v)))
    for old, new in zip(of(before, v).summaries, of(after, v).summaries, strict=True):
        assert (new.median_s, new.median_interval, new.median_metric) == (
            old.median_s,
            old.median_interval,
            old.median_metric,
        )
    assert {(p.a, p.b): p.faster for p in after.separations} == {(p.a, p.b): p.faster for p in before.separations}
    assert after.variant != v or before.variant == v
    assert {i: w.verdict for i, w in after.verdicts.items() if i != "extra"} == {
        i: w.verdict for i, w in before.verdicts.items()
    }


FORGET: dict[str, Callable[[Campaign], Campaign]] = {
    "seal": lambda one: replace(one, seal=None),
    "evidence": lambda one: replace(one, evidence={}),
    "environments": lambda one: replace(one, environments={}),
    "offers": lambda one: replace(one, offers=()),
    "choices": lambda one: replace(one, choices=()),
    "calendar": lambda one: replace(one, calendar=()),
    "deliverables": lambda one: replace(one, deliverables=()),
    "deadline": lambda one: replace(one, protocol=replace(one.protocol, deadline=None)),
    "repetitions": lambda one: replace(one, protocol=replace(one.protocol, repetitions=None)),
    "threshold": lambda one: replace(one, protocol=replace(one.protocol, threshold=None)),
    "metric": lambda one: replace(one, protocol=replace(one.protocol, metric=None)),
}


@given(campaigns(), st.sampled_from([*FORGET]))
def test_what_is_forgotten_becomes_unknown_never_passed_and_never_zero(one: Campaign, what: str) -> None:
    """Taking a fact away passes no gate, accepts no attempt, and makes no amount of nothing."""
    before, after = decide(one), decide(FORGET[what](one))
    for variant in VARIANTS:
        old, new = of(before, variant), of(after, variant)
        was = results(old)
        assert all(found != WORSE["passed"] or was[name] == found for name, found in results(new).items())
        assert new.committed in (None, old.committed)
        assert new.cost_per_validated_corpus in (None, old.cost_per_validated_corpus)
        assert new.cost_per_validated_corpus != 0
        assert all(s.median_s is None or s.median_s > 0 for s in new.summaries)
    accepted = {i for i, verdict in before.verdicts.items() if verdict.verdict == "accepted"}
    assert {i for i, verdict in after.verdicts.items() if verdict.verdict == "accepted"} <= accepted


@given(campaigns(), st.sampled_from([Decimal(2), Decimal(10), Decimal(1000)]))
def test_scaling_all_money_together_never_changes_the_ranking(one: Campaign, factor: Decimal) -> None:
    """Prices, of packages and by the hour, expenses and the limit times one factor: same answer, same gates."""
    limit = one.protocol.budget_limit
    scaled = replace(
        one,
        offers=tuple(replace(o, price=o.price * factor) for o in one.offers),
        expenses=tuple(replace(e, amount=e.amount * factor) for e in one.expenses),
        protocol=replace(one.protocol, budget_limit=None if limit is None else limit * factor),
    )
    before, after = decide(one), decide(scaled)
    assert (after.status, after.variant, after.contenders) == (before.status, before.variant, before.contenders)
    assert [results(v) for v in after.variants] == [results(v) for v in before.variants]


@settings(max_examples=300)
@given(campaigns())
def test_a_decision_agrees_with_itself(one: Campaign) -> None:
    """Chosen is eligible and cheapest; undecided has contenders, reasons and a next step; counts add up."""
    decision = decide(one)
    able = [v for v in decision.variants if v.eligible]
    if decision.status == "chosen":
        assert decision.variant is not None
        assert of(decision, decision.variant) in able
        assert decision.committed == min(v.committed for v in able if v.committed is not None)
    if decision.status == "undecided":
        assert decision.contenders
        assert decision.next_steps
    if decision.status == "none_eligible":
        assert not able
        assert all(any(gate.result == "failed" for gate in v.gates) for v in decision.variants)
    assert (decision.variant is None) is (decision.status != "chosen")
    assert decision.reasons
    for v in decision.variants:
        for s in v.summaries:
            assert s.attempts == s.accepted + s.rejected + s.unassessed + s.failed == len(s.durations_s)
