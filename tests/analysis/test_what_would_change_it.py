"""What would change the answer, and the cheapest next step."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from campaign_builder import FRIDAY, campaign, evidence, offer, passes, protocol, record

from lab.analysis.decide import decide
from lab.analysis.separation import cannot_tell
from lab.model.campaign import Campaign
from lab.model.catalogue import PackageChoice
from lab.model.manifest import RunPolicy
from lab.model.protocol import SubgroupThreshold
from lab.model.reason import Reason

FIVE = (10.0, 10.1, 10.2, 10.3, 10.4)
FAR = tuple(one + 10 for one in FIVE)
SAME = {"a": "rtx-4090", "b": "rtx-4090"}


def said(given: Campaign) -> dict[str, list[Reason]]:
    """Sensitivity by what it is of, without the prefix."""
    found: dict[str, list[Reason]] = {}
    for one in decide(given).sensitivity:
        found.setdefault(one.key.removeprefix("sensitivity."), []).append(one)
    return found


def test_the_price_at_which_the_choice_flips_does_flip_it() -> None:
    """One cent beyond it the other is chosen; at it, the budgets tie."""
    given = campaign([*passes("a", FIVE), *passes("b", FIVE)])
    (flip,) = said(given)["flip"]
    assert (flip.values["amount"], flip.values["margin"]) == (Decimal("2071.00"), Decimal("1961.00"))

    def chosen(price: str) -> str | None:
        return decide(replace(given, offers=(offer(price=price), offer("b200", price="2071")))).variant

    assert (chosen("2070.99"), chosen("2071.01")) == ("a", "b")


def test_one_more_failed_pass_is_weighed_again() -> None:
    """Four of five are enough: a loss leaves the variant eligible, and its failure decides the tie for the other."""
    records = [*passes("a", FIVE), *passes("b", FAR)]
    spare = campaign(records, SAME, terms=protocol(required_accepted_passes=4))
    assert decide(spare).variant == "a"
    (lost,) = said(spare)["pass_lost.chosen"]
    assert (lost.values["variant"], lost.values["other"]) == ("a", "b")
    alone = campaign(passes("a", FIVE), {"a": "rtx-4090"}, terms=protocol(required_accepted_passes=4))
    assert [*said(alone)][-1] == "pass_lost.same"
    dear = campaign([*passes("a", FIVE), *passes("b", FIVE)])
    assert said(dear)["pass_lost.chosen"][0].values["other"] == "b"


def test_between_equals_a_failed_pass_of_one_leaves_the_other() -> None:
    """Said of each contender."""
    lost = said(campaign([*passes("a", FIVE), *passes("b", FIVE)], SAME))["pass_lost.chosen"]
    assert [(one.values["variant"], one.values["other"]) for one in lost] == [("a", "b"), ("b", "a")]


def test_a_contender_without_a_price_is_told_what_it_has_to_beat() -> None:
    """Its price is unknown, the answer open: below the other's budget it could be the choice."""
    choices = (PackageChoice("a", "rtx-4090", 30, 1), PackageChoice("b", "b200", 7, 1))
    given = campaign([*passes("a", FIVE), *passes("b", FIVE)], choices=choices)
    decision = decide(given)
    assert (decision.status, decision.next_steps[0].key) == ("undecided", "next.unknown.price")
    (found,) = said(given)["unknown_price"]
    assert (found.values["variant"], found.values["amount"]) == ("a", Decimal("2071.00"))


def test_margins_of_tolerance_and_subgroups() -> None:
    """The accepted pass furthest from the reference, and the lowest value of each subgroup with a threshold."""
    parts = {("length", "long"): {("bug", "bug"): 9, ("bug", "billing"): 1}}
    bad = {f"a_tickets_s0_r{n}": evidence(94, 6, subgroups=parts) for n in range(1, 6)}
    terms = protocol(
        reference_variant="b", tolerance=0.02, subgroup_thresholds=(SubgroupThreshold("length", "long", 0.85),)
    )
    found = said(campaign([*passes("a", FIVE), *passes("b", FAR)], SAME, bad=bad, terms=replace(terms)))
    assert [(one.values["delta"], one.values["margin"]) for one in found["tolerance"]] == [(0.01, 0.01)]
    assert [(one.values["value"], one.values["margin"]) for one in found["subgroup"]] == [(0.9, 0.05)]


@pytest.mark.parametrize(
    ("changes", "key", "fact"),
    [
        ({"terms": protocol(budget_limit=Decimal(100))}, "over_limit", ("amount", Decimal("10.00"))),
        ({"terms": protocol(deadline=FRIDAY.replace(hour=6))}, "late", ("hours", 3)),
        ({"choices": (PackageChoice("a", "rtx-4090", 3, 1),)}, "window_over", ("hours", 24)),
    ],
)
def test_what_a_single_gate_keeps_out_is_told_how_far_it_is(
    changes: dict[str, object], key: str, fact: tuple[str, object]
) -> None:
    """Above the limit, too late, or a package too short, when nothing else stands against the variant."""
    given = campaign(passes("a", FIVE), {"a": "rtx-4090"}, **changes)
    assert decide(given).status == "none_eligible"
    (found,) = said(given)[key]
    assert found.values[fact[0]] == fact[1]


def test_too_few_accepted_passes_are_counted_when_nothing_else_is_wrong() -> None:
    """Three accepted, five required."""
    records = [*passes("a", FIVE[:3]), record("a", 4, outcome="failed"), record("a", 5, outcome="timed_out")]
    (found,) = said(campaign(records, {"a": "rtx-4090"}))["short_of_passes"]
    assert (found.values["accepted"], found.values["required"]) == (3, 5)


def test_the_cheapest_step_comes_first() -> None:
    """A cell to fill in before a pass to run."""
    terms = protocol(deadline=None)
    decision = decide(campaign([*passes("a", FIVE[:4]), *passes("b", FIVE)], choices=(), terms=terms))
    steps = [one.key.removeprefix("next.unknown.") for one in decision.next_steps]
    assert steps == ["price", "calendar", "deadline", "budget", "device", "passes_tried", "passes_accepted"]


def test_a_cause_is_looked_for_before_passes_are_run_and_fewer_passes_before_more() -> None:
    """Three equals: one pair overlaps, two lack passes."""
    records = [*passes("a", (10.0, 10.1, 10.2)), *passes("b", (10.0, 10.1, 10.3)), *passes("c", (20.0, 20.1, 20.2))]
    given = campaign(records, {**SAME, "c": "rtx-4090"}, terms=protocol(repetitions=3))
    steps = [one.key for one in decide(given).next_steps]
    assert steps == ["next.find_cause", "next.more_passes_of_several", "next.choose_otherwise"]


@pytest.mark.parametrize(
    ("variants", "repetitions", "seeds", "needed"),
    [("abcde", 5, (0,), 6), ("abcd", 5, (0,), None), ("ab", 3, (0,), 4), ("abcd", 5, (0, 1), 6), ("a", 1, (0,), None)],
)
def test_a_plan_that_cannot_tell_is_known_before_it_is_run(
    variants: str, repetitions: int, seeds: tuple[int, ...], needed: int | None
) -> None:
    """Five passes reach p = 0.0079 at best: enough for six comparisons, not for ten or twelve."""
    cards = dict.fromkeys(variants, "rtx-4090")
    given = campaign([], cards, terms=protocol(repetitions=repetitions))
    given = replace(given, manifest=given.manifest.model_copy(update={"run": RunPolicy(seeds=seeds)}))
    found = cannot_tell(given)
    assert (found.values["needed"] if found else None) == needed


def test_no_plan_no_warning() -> None:
    """What is not stated cannot be too little."""
    assert cannot_tell(campaign([], terms=protocol(repetitions=None))) is None


def test_margins_are_told_one_by_one_while_those_in_question_are_few() -> None:
    """Eight that cost the same and are as fast: each one's margins; of nine, only how many they are."""

    def told(variants: int) -> dict[str, list[Reason]]:
        names = [f"v{number}" for number in range(variants)]
        records = [one for name in names for one in passes(name, FIVE)]
        return said(campaign(records, dict.fromkeys(names, "rtx-4090")))

    few, many = told(8), told(9)
    assert len(few["threshold"]) == 8
    assert "too_many" not in few
    assert "threshold" not in many
    assert many["too_many"][0].values == {"count": 9, "limit": 8}


def test_pairs_are_said_one_by_one_while_they_are_few() -> None:
    """Five as fast as each other are ten pairs, each with its reason; six are told together."""
    for variants, told in ((5, 10), (6, 0)):
        names = [f"v{number}" for number in range(variants)]
        found = decide(
            campaign([one for name in names for one in passes(name, FIVE)], dict.fromkeys(names, "rtx-4090"))
        )
        assert sum(one.key.startswith("separation.") for one in found.reasons) == told
        assert "decision.not_separated" in [one.key for one in found.reasons]
        assert all(one.reason.key.startswith("separation.") for one in found.separations)
