"""Drift, first position, rounds side by side, and figures with and without what a rule left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import comb

import pytest
from campaign_builder import campaign, passes, protocol, record
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.decide import decide
from lab.analysis.drift import trend_p_value
from lab.analysis.first_position import stratified_p_value
from lab.analysis.rank_test import exact_p_value
from lab.measure.schedule import order_of_round
from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.decision import Decision, Separation, Summary
from lab.model.protocol import ExclusionRule

CARDS = {"a": "rtx-4090", "b": "rtx-4090", "c": "rtx-4090"}
RISING = (10.0, 10.1, 10.2, 10.3, 10.4)
LEVEL = (20.2, 20.0, 20.4, 20.1, 20.3)


def rotated(durations: Mapping[str, Sequence[float]], **changes: object) -> list[Record]:
    """Passes of each variant in rotated order, one after another, on one machine."""
    names, found = list(durations), []
    rounds = len(next(iter(durations.values())))
    for number in range(1, rounds + 1):
        for position, name in enumerate(order_of_round(names, number, rounds), start=1):
            facts = {"position": position, "environment": "env-a", **changes}
            found.append(record(name, number, durations[name][number - 1], **facts))
    return found


def keys(one: Summary | Separation) -> list[str]:
    """The keys of its warnings."""
    return [why.key for why in one.warnings]


def summary(decision: Decision, variant: str) -> Summary:
    """The one summary of a variant."""
    return next(one for one in decision.variants if one.id == variant).summaries[0]


def in_one_place(records: Sequence[Record], **changes: object) -> Campaign:
    """A campaign of three variants of one card."""
    return replace(campaign(records, CARDS), **changes)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=6))
def test_the_trend_test_counts_every_order(values: list[int]) -> None:
    """Ties included: the same p-value as by going through all permutations."""

    def away(order: Sequence[int]) -> int:
        pairs = [(order[i], order[j]) for j in range(len(order)) for i in range(j)]
        return abs(sum((b > a) - (b < a) for a, b in pairs))

    orders = list(permutations(values))
    expected = Fraction(sum(away(one) >= away(values) for one in orders), len(orders))
    assert trend_p_value([float(one) for one in values]) == expected


def test_five_passes_each_slower_than_the_last_drift() -> None:
    """P = 2/120; the warning is with the number, and with each comparison that the number enters."""
    decision = decide(in_one_place(rotated({"a": RISING, "b": LEVEL, "c": LEVEL})))
    (found,) = [why for why in summary(decision, "a").warnings if why.key == "warning.drift_slower"]
    assert (found.values["first_s"], found.values["last_s"]) == (10.0, 10.4)
    assert found.values["p"] == pytest.approx(2 / 120, abs=1e-6)
    assert "warning.drift_slower" not in keys(summary(decision, "b"))
    by_pair = {(one.a, one.b): one for one in decision.separations}
    assert "warning.compared_drift" in keys(by_pair["a", "b"])
    assert "warning.compared_drift" not in keys(by_pair["b", "c"])


def test_drift_is_seen_in_the_order_of_time_not_of_rows() -> None:
    """Getting faster is a drift too; without a start there is no order, and nothing is said."""
    falling = rotated({"a": RISING[::-1], "b": LEVEL, "c": LEVEL})
    assert "warning.drift_faster" in keys(summary(decide(in_one_place(falling[::-1])), "a"))
    undated = [replace(one, attempt=replace(one.attempt, started_at=None)) for one in falling]
    assert not {"warning.drift_faster", "warning.drift_slower"} & {*keys(summary(decide(in_one_place(undated)), "a"))}


@pytest.mark.parametrize("durations", [RISING[:4], (10.0, 10.1, 10.4, 10.2, 10.3), (10.0,) * 5])
def test_no_drift_is_claimed_of_four_passes_of_an_unsteady_rise_or_of_none(durations: tuple[float, ...]) -> None:
    """Four in a row have p = 2/24; two of ten pairs against time have p = 0.23."""
    decision = decide(in_one_place(passes("a", durations)))
    assert not [key for key in keys(summary(decision, "a")) if key.startswith("warning.drift")]


def test_one_stratum_is_the_rank_test_itself() -> None:
    """The stratified test of one variant agrees with Mann-Whitney's."""
    first, others = [5.0, 6.0, 2.0], [1.0, 2.0, 3.0, 4.0]
    above, p = stratified_p_value([(first, others)])
    assert (above, p) == (True, exact_p_value(first, others))


def test_strata_add_up_what_no_variant_shows_alone() -> None:
    """First and slowest in three variants: 2 of the 10 x 10 x 5 ways to be first are as extreme."""
    assert stratified_p_value([([5.0, 6.0], [1.0, 2.0, 3.0])] * 2 + [([9.0], [1.0, 2.0, 3.0, 4.0])])[1] == Fraction(
        2, comb(5, 2) ** 2 * 5
    )


def first_is_slow(extra: float) -> dict[str, list[float]]:
    """Durations of which those that ran first in their round are `extra` seconds longer."""
    found: dict[str, list[float]] = {name: [] for name in CARDS}
    for number in range(1, 6):
        for position, name in enumerate(order_of_round([*CARDS], number, 5), start=1):
            base = {"a": 10.0, "b": 20.0, "c": 30.0}[name] + (number * 7 % 5) / 100
            found[name].append(round(base + (extra if position == 1 else 0), 3))
    return found


def test_running_first_is_shown_when_it_tells() -> None:
    """Over the three variants together, in each that has passes of both kinds; comparisons carry it too."""
    decision = decide(in_one_place(rotated(first_is_slow(1.0))))
    warned = [why for name in CARDS for why in summary(decision, name).warnings if why.key == "warning.first_slower"]
    assert len(warned) == 3
    assert warned[0].values == {"first": 2, "others": 3, "first_s": 11.025, "others_s": 10.01, "p": 0.004}
    assert all("warning.compared_first" in keys(one) for one in decision.separations)
    assert "warning.first_faster" in keys(summary(decide(in_one_place(rotated(first_is_slow(-1.0)))), "b"))
    assert not [key for key in keys(summary(decide(in_one_place(rotated(first_is_slow(0)))), "a")) if "first" in key]


def test_rounds_stand_side_by_side_where_the_order_was_rotated() -> None:
    """Differences a minus b of each common round on one machine."""
    decision = decide(in_one_place(rotated({"a": RISING, "b": LEVEL, "c": LEVEL})))
    found = next(one for one in decision.separations if (one.a, one.b) == ("a", "b")).paired
    assert found is not None
    assert found.rounds == (1, 2, 3, 4, 5)
    assert found.differences_s == (-10.2, -9.9, -10.2, -9.8, -9.9)
    assert (found.median_s, found.a_faster) == (-9.9, 5)


@pytest.mark.parametrize(
    "changes",
    [{"position": 1}, {"environment": None}, {"round": 1}],
    ids=["never rotated", "unknown machine", "a round"],
)
def test_rounds_do_not_stand_side_by_side_without_rotation(changes: dict[str, object]) -> None:
    """One order only, no known machine in common, several passes of one round: there is no pair."""
    records = rotated({"a": RISING, "b": LEVEL, "c": LEVEL})
    changed = [replace(one, attempt=replace(one.attempt, **changes)) for one in records]
    assert all(one.paired is None for one in decide(in_one_place(changed)).separations)


def test_another_machine_in_a_round_takes_only_that_round_out() -> None:
    """The others remain as long as both orders are among them."""
    records = rotated({"a": RISING, "b": LEVEL, "c": LEVEL})
    moved = replace(records[0], attempt=replace(records[0].attempt, environment="env-b"))
    found = decide(in_one_place([moved, *records[1:]])).separations[0].paired
    assert found is not None
    assert found.rounds == (2, 3, 4, 5)


def test_results_are_shown_with_and_without_what_a_rule_left_out() -> None:
    """Figures, comparisons and the answer itself; attempts without an exclusion have nothing to show twice."""
    slow = ExclusionRule("slow", "duration_s", ">", "90")
    records = [*passes("a", (10.0, 10.1, 10.2, 10.3, 99.0)), *passes("b", LEVEL)]
    terms = protocol(exclusion_rules=(slow,), required_accepted_passes=4)
    decision = decide(campaign(records, {"a": "rtx-4090", "b": "rtx-4090"}, terms=terms))
    first, second = summary(decision, "a"), summary(decision, "b")
    assert (first.max_s, first.with_excluded and first.with_excluded.max_s) == (10.3, 99.0)
    assert first.with_excluded is not None
    assert (first.with_excluded.passes, first.with_excluded.median_s) == (5, 10.2)
    assert second.with_excluded is None
    assert (decision.status, decision.variant) == ("chosen", "a")
    assert decision.with_excluded is not None
    assert (decision.with_excluded.status, decision.with_excluded.contenders) == ("undecided", ("a", "b"))
    assert [one.separated for one in decision.separations] == [True]
    assert [one.separated for one in decision.with_excluded.separations] == [False]
    assert "sensitivity.excluded.undecided" in [one.key for one in decision.sensitivity]


def test_nothing_is_shown_twice_when_nothing_is_left_out() -> None:
    """No rule, no second answer."""
    decision = decide(campaign(passes("a", RISING)))
    assert decision.with_excluded is None
    assert not [one for one in decision.sensitivity if "excluded" in one.key]
