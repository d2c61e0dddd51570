"""Each gate: what passes it, what fails it, and what is not known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from campaign_builder import FRIDAY, MONDAY, OFFERS, RTX, campaign, cited, evidence, offer, passes, protocol, record

from lab.analysis.decide import decide
from lab.analysis.gates_measured import sealed
from lab.model.campaign import Campaign, Environment, Seal
from lab.model.catalogue import CalendarTask, PackageChoice
from lab.model.decision import GATES, Gate, GateName
from lab.model.protocol import ExclusionRule

FIVE = (10.0, 10.1, 10.2, 10.3, 10.4)
ONE = {"a": "rtx-4090"}


def gate(given: Campaign, name: GateName, variant: str = "a") -> tuple[str, str]:
    """Result and reason of a gate."""
    found = found_gate(given, name, variant)
    return found.result, found.reason.key.removeprefix(f"gate.{name}.")


def found_gate(given: Campaign, name: GateName, variant: str = "a") -> Gate:
    """A gate of a variant."""
    one = next(one for one in decide(given).variants if one.id == variant)
    return next(gate for gate in one.gates if gate.gate == name)


def alone(**changes: object) -> Campaign:
    """One variant, all well, with these changes."""
    return campaign(passes("a", FIVE), ONE, **changes)


def test_all_gates_are_there_in_order() -> None:
    """Ten gates, each with its evidence, and all pass but the deliverables nobody planned."""
    (one,) = decide(alone()).variants
    assert tuple(found.gate for found in one.gates) == GATES
    assert [found.gate for found in one.gates if found.result != "passed"] == ["deliverables"]
    assert one.eligible


def test_sealed() -> None:
    """No seal, another seal, a start before the seal, no proof, only declared rows."""
    assert gate(alone(seal=None), "sealed") == ("unknown", "unknown.no_seal")
    assert gate(alone(seal=Seal("s2", MONDAY.isoformat())), "sealed") == ("failed", "failed.other_seal")
    assert gate(alone(seal=Seal("s1", FRIDAY.isoformat())), "sealed") == ("failed", "failed.too_late")
    bare = campaign([*passes("a", FIVE[:4]), record("a", 5, seal=None)], ONE)
    assert gate(bare, "sealed") == ("unknown", "unknown.unproven")
    undated = campaign([*passes("a", FIVE[:4]), record("a", 5, started_at=None)], ONE)
    assert gate(undated, "sealed") == ("unknown", "unknown.unproven")
    assert gate(campaign(passes("a", FIVE, declared=True), ONE), "sealed") == ("unknown", "unknown.declared")


def test_passes_tried_counts_slots() -> None:
    """A failed slot was tried; a cut one was not, until it is run again; passes beyond the plan fill nothing."""
    failed = campaign([*passes("a", FIVE[:4]), record("a", 5, outcome="failed")], ONE)
    assert gate(failed, "passes_tried")[0] == "passed"
    cut = [*passes("a", FIVE[:4]), record("a", 5, outcome="interrupted", attempt_id="cut")]
    assert gate(campaign(cut, ONE), "passes_tried") == ("unknown", "unknown.remaining")
    assert gate(campaign([*cut, record("a", 5)], ONE), "passes_tried")[0] == "passed"
    beyond = [*passes("a", FIVE[:4]), record("a", 6), record("a", 4, attempt_id="twice")]
    assert gate(campaign(beyond, ONE), "passes_tried") == ("unknown", "unknown.remaining")
    assert gate(alone(terms=protocol(repetitions=None)), "passes_tried") == ("unknown", "unknown.no_plan")


def test_passes_accepted_by_reach() -> None:
    """Passed when there, unknown while it can still be reached, failed when it no longer can."""
    assert gate(campaign(passes("a", FIVE[:3]), ONE), "passes_accepted") == ("unknown", "unknown.open")
    lost = campaign([*passes("a", FIVE[:3]), record("a", 4, outcome="failed")], ONE)
    assert gate(lost, "passes_accepted") == ("failed", "failed")
    enough = protocol(required_accepted_passes=3)
    assert gate(replace(lost, protocol=enough), "passes_accepted")[0] == "passed"
    altered = alone(bad={"a_tickets_s0_r1": evidence(altered=True)})
    assert gate(altered, "passes_accepted") == ("unknown", "unknown.open")


def test_a_failed_pass_is_not_mended_by_another_attempt_at_it() -> None:
    """The first attempt that ended by itself stands for its slot."""
    again = record("a", 5, attempt_id="again", started_at=FRIDAY.isoformat())
    given = campaign([*passes("a", FIVE[:4]), record("a", 5, outcome="failed"), again], ONE)
    assert gate(given, "passes_accepted") == ("failed", "failed")


def test_passes_are_required_of_every_corpus_and_seed() -> None:
    """Five on one corpus do not stand for five on the other."""
    given = campaign(passes("a", FIVE), ONE, corpora=("tickets", "mails"))
    found = found_gate(given, "passes_accepted")
    assert (found.result, found.reason.values["corpus"], found.reason.values["accepted"]) == ("unknown", "mails", 0)


def test_excluded_passes_do_not_count_as_accepted() -> None:
    """The reason says how many a rule left out."""
    terms = protocol(exclusion_rules=(ExclusionRule("first", "round", "=", "1"),))
    found = found_gate(alone(terms=terms), "passes_accepted")
    assert (found.result, found.reason.values["excluded"]) == ("failed", 1)


def test_memory() -> None:
    """One attempt out of memory fails; every corpus has to be completed by a verified one."""
    given = campaign([*passes("a", FIVE), record("a", 6, outcome="out_of_memory")], ONE)
    assert gate(given, "memory") == ("failed", "failed")
    assert gate(campaign(passes("a", FIVE, declared=True), ONE), "memory") == ("unknown", "unknown")
    assert gate(campaign(passes("a", FIVE), ONE, corpora=("tickets", "mails")), "memory") == ("unknown", "unknown")


def test_device() -> None:
    """The driver's exact name is among the package's, in every attempt."""
    elsewhere = {"env-a": Environment("env-a", (RTX.lower(),), {})}
    assert gate(alone(environments=elsewhere), "device") == ("failed", "failed")
    assert gate(alone(environments={}), "device") == ("unknown", "unknown.unseen")
    assert gate(alone(environments={"env-a": Environment("env-a", (), {})}), "device") == ("unknown", "unknown.unseen")
    assert gate(alone(offers=(offer(device_names=()),)), "device") == ("unknown", "unknown.no_names")
    assert gate(alone(offers=()), "device") == ("unknown", "unknown.no_offer")
    assert gate(campaign([], ONE), "device") == ("unknown", "unknown.no_attempt")
    assert gate(campaign(passes("a", FIVE, declared=True), ONE), "device") == ("unknown", "unknown.unseen")


def test_calendar_and_deadline_without_a_calendar() -> None:
    """No rows for the variant: the window is unknown, and so are both gates."""
    assert gate(alone(calendar=()), "calendar") == ("unknown", "unknown.no_window")
    assert gate(alone(calendar=()), "deadline") == ("unknown", "unknown.no_window")
    other = (CalendarTask("setup", MONDAY, FRIDAY, "b"),)
    assert gate(alone(calendar=other), "calendar") == ("unknown", "unknown.no_window")
    assert gate(alone(offers=()), "calendar") == ("unknown", "unknown.no_package")


def test_deadline() -> None:
    """The very moment is in time; without a deadline nothing is passed."""
    assert gate(alone(), "deadline") == ("passed", "passed")
    assert gate(alone(terms=protocol(deadline=FRIDAY - timedelta(microseconds=1))), "deadline")[0] == "failed"
    assert gate(alone(terms=protocol(deadline=None)), "deadline") == ("unknown", "unknown.none_stated")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"choices": ()}, "no_choice"),
        ({"choices": (PackageChoice("a", None, 7, 1), PackageChoice("a", None, 3, 1))}, "two_choices"),
        ({"choices": (PackageChoice("a", None, 7, None),)}, "no_lots"),
        ({"choices": (PackageChoice("a", None, 7, 0),)}, "no_lots"),
        ({"choices": (PackageChoice("a", None, 30, 1),)}, "no_offer"),
        ({"offers": (offer("b200"),), "choices": (PackageChoice("a", None, 7, None),)}, "no_card"),
        ({"offers": (*OFFERS, offer(region="eu", price="1"))}, "several"),
    ],
)
def test_a_price_that_is_not_there_once_is_unknown(changes: dict[str, object], why: str) -> None:
    """No choice, two, no lots, no such offer, or an ambiguous one: never guessed."""
    given = alone(**changes)
    assert gate(given, "price") == ("unknown", f"unknown.{why}")
    assert gate(given, "budget") == ("unknown", "unknown.no_price")
    assert decide(given).variants[0].committed is None


def test_lots_and_periods_multiply_and_cards_do_not() -> None:
    """Two lots of two cards for two periods: 2071 x 2 x 2, four cards, 336 hours."""
    choices = (PackageChoice("b", "b200", 7, 2, 2),)
    (one,) = decide(campaign(passes("b", FIVE), {"b": "b200"}, choices=choices)).variants
    assert (one.committed, one.cards, one.covers_hours) == (Decimal("8284.00"), 4, 336)


def test_budget() -> None:
    """Within, above, no limit, another currency, and a limit without a currency."""
    assert gate(alone(terms=protocol(budget_limit=Decimal(110))), "budget") == ("passed", "passed.within")
    assert gate(alone(terms=protocol(budget_limit=Decimal("109.99"))), "budget") == ("failed", "failed")
    assert gate(alone(terms=protocol(budget_limit=None)), "budget") == ("passed", "passed.no_limit")
    assert gate(alone(terms=protocol(currency="EUR")), "budget") == ("unknown", "unknown.currency")
    assert gate(alone(terms=protocol(currency=None)), "budget") == ("unknown", "unknown.currency")


@pytest.mark.parametrize(
    ("rows", "expected", "count"),
    [
        ((), ("unknown", "unknown.none_stated"), None),
        ((cited("a"),), ("passed", "passed"), 1),
        ((replace(cited("a"), variant=None),), ("passed", "passed"), 1),
        ((cited("a", attempt_id=None),), ("failed", "failed.no_attempt"), 0),
        ((cited("a", attempt_id="nobody"),), ("failed", "failed.no_such_attempt"), 0),
        ((cited("a", attempt_id="b_tickets_s0_r1"),), ("failed", "failed.other_variant"), 0),
        ((cited("a", number=2),), ("failed", "failed.attempt_not_accepted"), 0),
        ((cited("a", accepted=False),), ("failed", "failed.not_accepted"), 0),
        ((cited("a", accepted=None),), ("failed", "failed.not_accepted"), 0),
        ((cited("a", "surprise"),), ("unknown", "unknown.none_stated"), None),
    ],
)
def test_deliverables(rows: tuple[object, ...], expected: tuple[str, str], count: int | None) -> None:
    """A planned deliverable counts when it cites an accepted attempt of its own variant."""
    records = [*passes("a", FIVE), record("b", 1)]
    terms = protocol(planned_deliverables=("tickets",))
    given = campaign(records, bad={"a_tickets_s0_r2": evidence(1, 9)}, terms=terms, deliverables=rows)
    assert gate(given, "deliverables") == expected
    assert decide(given).variants[0].accepted_deliverables == count


def test_a_planned_deliverable_that_is_not_stated_fails_once_others_are() -> None:
    """Some stated, not every one: the gate names the missing."""
    terms = protocol(planned_deliverables=("tickets", "mails"))
    found = found_gate(alone(terms=terms, deliverables=(cited("a"),)), "deliverables")
    assert (found.result, found.reason.values["missing"]) == ("failed", ["mails"])


def test_a_model_changed_between_attempts_fails_the_seal() -> None:
    """The path is the same and the content is not: these are two variants under one name."""
    records = passes("a", (10.0, 10.1))
    records[1] = replace(records[1], attempt=replace(records[1].attempt, environment="env-2"))
    first = campaign(records).environments["env-a"]
    seen = {
        "env-a": replace(first, facts={**first.facts, "model.sha256": "1"}),
        "env-2": replace(first, fingerprint="env-2", facts={**first.facts, "model.sha256": "2"}),
    }
    gate = sealed(replace(campaign(records), environments=seen), "a")
    assert (gate.result, gate.reason.key) == ("failed", "gate.sealed.failed.contents")
    assert gate.reason.values["contents"] == ["model"]
