"""From gates and budgets to the answer, and what would change it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from campaign_builder import FRIDAY, MONDAY, RTX, campaign, evidence, offer, passes, protocol, record

from lab.analysis.decide import decide
from lab.analysis.ranking import _not_slower
from lab.model.campaign import Environment
from lab.model.catalogue import CalendarTask, Expense, PackageChoice
from lab.model.decision import Decision, Separation
from lab.model.reason import reason

FIVE = (10.0, 10.1, 10.2, 10.3, 10.4)
SAME = {"a": "rtx-4090", "b": "rtx-4090"}


def keys(decision: Decision, what: str = "reasons") -> list[str]:
    """The keys of the decision's reasons, next steps or sensitivity."""
    return [one.key for one in getattr(decision, what)]


def test_an_unknown_on_a_cheaper_variant_makes_it_undecided() -> None:
    """The cheaper one still has passes to run: it could win."""
    decision = decide(campaign([*passes("a", FIVE[:4]), *passes("b", FIVE)]))
    assert (decision.status, decision.contenders) == ("undecided", ("b", "a"))
    assert keys(decision) == ["decision.open", "decision.unknown.passes_tried", "decision.unknown.passes_accepted"]
    assert keys(decision, "next_steps") == ["next.unknown.passes_tried", "next.unknown.passes_accepted"]


def test_an_unknown_on_a_dearer_variant_changes_nothing() -> None:
    """Its budget is known and higher: it cannot win."""
    decision = decide(campaign([*passes("a", FIVE), *passes("b", FIVE[:4])]))
    assert (decision.status, decision.variant) == ("chosen", "a")
    assert keys(decision) == ["decision.only_one"]


def test_an_unknown_on_an_equally_dear_variant_makes_it_undecided() -> None:
    """It could still win the tie."""
    assert decide(campaign([*passes("a", FIVE), *passes("b", FIVE[:4])], SAME)).status == "undecided"


def test_a_failed_variant_with_unknowns_does_not_stand_in_the_way() -> None:
    """One failed gate is enough to be out."""
    records = [*passes("a", FIVE[:3]), record("a", 4, outcome="failed"), *passes("b", FIVE)]
    decision = decide(campaign(records))
    assert (decision.status, decision.variant) == ("chosen", "b")


def test_different_currencies_are_never_compared() -> None:
    """Two eligible variants in USD and EUR: undecided."""
    offers = (offer(), offer("b200", price="100", currency="EUR"))
    terms = protocol(budget_limit=None)
    decision = decide(campaign([*passes("a", FIVE), *passes("b", FIVE)], offers=offers, terms=terms))
    assert (decision.status, keys(decision)[0]) == ("undecided", "decision.currencies")


def test_no_eligible_variant_while_something_is_open() -> None:
    """Nothing measured yet: undecided, not none eligible."""
    decision = decide(campaign([]))
    assert decision.status == "undecided"
    assert decision.contenders == ("a", "b")


def test_durations_have_to_agree_on_every_corpus() -> None:
    """Faster on one corpus and slower on the other: the tie stays."""
    fast, slow = FIVE, tuple(one + 10 for one in FIVE)
    records = [
        *passes("a", fast),
        *passes("b", slow),
        *passes("a", slow, corpus="mails"),
        *passes("b", fast, corpus="mails"),
    ]
    decision = decide(campaign(records, SAME, corpora=("tickets", "mails")))
    assert (decision.status, keys(decision)) == ("undecided", ["decision.same_budget", "decision.directions_differ"])


def test_a_tie_blocked_by_the_test_says_how_many_passes_could_tell() -> None:
    """Three passes each, far apart: one more a side."""
    records = [*passes("a", FIVE[:3]), *passes("b", tuple(one + 10 for one in FIVE[:3]))]
    decision = decide(campaign(records, SAME, terms=protocol(repetitions=3)))
    (step, _other) = decision.next_steps
    assert (step.key, step.values["more"]) == ("next.more_passes", 1)
    assert keys(decision, "sensitivity")[0] == "sensitivity.any_price"


def test_margins_are_shown_for_the_chosen_variant() -> None:
    """Threshold, deadline, package hours, limit and passes to spare."""
    later = protocol(deadline=FRIDAY.replace(hour=15), budget_limit=Decimal(200))
    decision = decide(campaign(passes("a", FIVE), {"a": "rtx-4090"}, terms=later))
    found = {one.key.removeprefix("sensitivity."): one.values for one in decision.sensitivity}
    assert [*found] == [
        "only_eligible",
        "threshold",
        "deadline",
        "package_hours",
        "limit",
        "no_pass_to_spare",
        "pass_lost.none_eligible",
    ]
    assert found["threshold"]["margin"] == 0.05
    assert (found["deadline"]["hours"], found["package_hours"]["hours"]) == (6, 72)
    assert found["limit"]["amount"] == Decimal("90.00")


def test_an_expense_stated_for_one_variant_only_is_a_warning() -> None:
    """The totals would not compare; one for all variants, or for each, is fine."""
    expenses = (
        Expense("storage", "a", Decimal(5), "USD", "kept between passes"),
        Expense("transfer", None, Decimal(5), "USD", "corpus and results"),
        Expense("help", "a", Decimal(1), "USD", "an hour"),
        Expense("help", "b", Decimal(1), "USD", "an hour"),
    )
    decision = decide(campaign([*passes("a", FIVE), *passes("b", FIVE)], expenses=expenses))
    assert decision.variants[0].warnings == ()
    assert [(one.key, one.values["item"]) for one in decision.variants[1].warnings] == [
        ("warning.expense_missing", "storage")
    ]
    assert decision.variants[0].committed == Decimal("110.00")


def test_an_expense_in_two_currencies_is_a_warning() -> None:
    """Currencies are never converted, so each variant that the item bears on says so; another item is untouched."""
    expenses = (
        Expense("storage", "a", Decimal(5), "USD", "kept"),
        Expense("storage", "b", Decimal(5), "EUR", "kept"),
        Expense("transfer", None, Decimal(5), "EUR", "results"),
    )
    decision = decide(campaign([*passes("a", FIVE), *passes("b", FIVE)], expenses=expenses))
    facts = {"item": "storage", "currencies": ["EUR", "USD"]}
    assert [one.warnings for one in decision.variants] == [(reason("warning.expense_currencies", **facts),)] * 2


def test_example_prices_are_marked() -> None:
    """Every variant priced from the demo's catalogue says so."""
    offers = (offer(catalogue_version="example-2026"),)
    decision = decide(campaign(passes("a", FIVE), {"a": "rtx-4090"}, offers=offers))
    assert [one.key for one in decision.variants[0].warnings] == ["warning.example_price"]


def test_hourly_rental_is_priced_by_the_window() -> None:
    """96 h at 2 USD an hour and lot, two lots."""
    by_hour = offer(model="hourly", days=None, increment_minutes=60, price="2")
    choices = (PackageChoice("a", "rtx-4090", None, 2),)
    given = campaign(passes("a", FIVE), {"a": "rtx-4090"}, offers=(by_hour,), choices=choices)
    assert decide(given).committed == Decimal("384.00")
    no_window = decide(replace(given, calendar=()))
    assert "gate.price.unknown.no_window" in [one.reason.key for one in no_window.variants[0].gates]


def test_attempts_of_unknown_variants_take_no_part() -> None:
    """They are judged and said, and change nothing."""
    decision = decide(campaign([*passes("a", FIVE), record("ghost", 1)], {"a": "rtx-4090"}))
    assert decision.variant == "a"
    assert "warning.unknown_variant" in keys(decision, "warnings")
    assert "ghost_tickets_s0_r1" in decision.verdicts


def test_each_variant_has_its_own_window() -> None:
    """Rows without a variant belong to all, the others to theirs."""
    tasks = (CalendarTask("all", MONDAY, FRIDAY), CalendarTask("late", FRIDAY, FRIDAY.replace(hour=10), "b"))
    decision = decide(campaign([*passes("a", FIVE), *passes("b", FIVE)], calendar=tasks))
    assert [one.window.hours if one.window else None for one in decision.variants] == [96, 97]
    assert decision.variant == "a"


def test_differing_stacks_are_named_and_declared_settings_are_not() -> None:
    """Two torch versions qualify the conclusion; another precision is what the manifest says anyway."""
    records = [*passes("a", FIVE), *passes("b", FIVE)]
    cards = (RTX,)
    same = {f"env-{v}": Environment(f"env-{v}", cards, {"torch": "2.13.0", "variant.precision": v}) for v in "ab"}
    assert "warning.stacks_differ" not in keys(decide(campaign(records, SAME, environments=same)), "warnings")
    older = {**same, "env-b": Environment("env-b", cards, {"torch": "2.12.0"})}
    decision = decide(campaign(records, SAME, environments=older))
    assert [one.values["facts"] for one in decision.warnings if one.key == "warning.stacks_differ"] == [["torch"]]
    stacks = [one.values["variants"] for one in decision.covers if one.key == "covers.stack"]
    assert stacks == [["a"], ["b"]]


def test_rocm_without_a_stated_source_is_a_warning() -> None:
    """Who read the vendor's matrix, and when, has to be in the manifest."""
    environments = {"env-a": Environment("env-a", (RTX,), {"torch.hip": "7.1"})}
    given = campaign(passes("a", FIVE), {"a": "rtx-4090"}, environments=environments)
    assert [one.key for one in decide(given).variants[0].warnings] == ["warning.compatibility_not_stated"]
    checked = {"compatibility_source": "https://example.org", "compatibility_checked_on": "2026-11-30"}
    stated = given.manifest.variants[0].model_copy(update=checked)
    manifest = given.manifest.model_copy(update={"variants": (stated,)})
    assert decide(replace(given, manifest=manifest)).variants[0].warnings == ()


def test_an_expense_without_its_justification_is_a_warning() -> None:
    """It is named at each variant it is stated for."""
    expenses = (Expense("storage", "a", Decimal(5), "USD"), Expense("transfer", None, Decimal(5), "USD", "results"))
    decision = decide(campaign([*passes("a", FIVE), *passes("b", FIVE)], expenses=expenses))
    found = {one.id: [warning.key for warning in one.warnings] for one in decision.variants}
    assert found == {"a": ["warning.expense_unjustified"], "b": ["warning.expense_missing"]}


def test_a_slower_variant_is_no_longer_a_candidate() -> None:
    """Equal budgets, two variants that overlap and one clearly slower: undecided between the two only."""
    slow = [value * 2 for value in FIVE]
    records = [*passes("a", FIVE), *passes("b", (10.05, 10.15, 10.25, 10.35, 10.45)), *passes("c", slow)]
    decision = decide(campaign(records, {**SAME, "c": "rtx-4090"}))
    assert (decision.status, decision.contenders) == ("undecided", ("a", "b"))
    assert "decision.slower" in keys(decision)
    assert next(one for one in decision.reasons if one.key == "decision.slower").values["variants"] == ["c"]


def test_a_variant_with_more_failures_is_no_longer_a_candidate() -> None:
    """A failed attempt beyond the plan drops its variant behind two that overlap, and the reason says so."""
    close = (10.05, 10.15, 10.25, 10.35, 10.45)
    records = [*passes("a", FIVE), *passes("b", close), *passes("c", close), record("c", 6, outcome="failed")]
    decision = decide(campaign(records, {**SAME, "c": "rtx-4090"}))
    assert (decision.status, decision.contenders) == ("undecided", ("a", "b"))
    assert "decision.more_mishaps" in keys(decision)


def test_beaten_by_a_beaten_variant_is_not_beaten() -> None:
    """Where a beats b, b beats c and nothing is shown between a and c, c stays a candidate beside a."""

    def pair(a: str, b: str, faster: str | None) -> Separation:
        return Separation("one", a, b, faster is not None, None if faster else "range", reason("x"), faster)

    separations = (pair("a", "b", "a"), pair("b", "c", "b"), pair("a", "c", None))
    assert _not_slower(["a", "b", "c"], separations) == ["a", "c"]


def test_altered_evidence_never_wins_a_tie() -> None:
    """Equal budgets: b has an honest rejection; a has predictions that were altered, which may hide one: undecided."""
    records = [*passes("a", FIVE), *passes("b", FIVE)]
    terms = protocol(required_accepted_passes=4)
    mine, its = records[0].attempt.attempt_id, records[5].attempt.attempt_id
    honest = decide(campaign(records, SAME, terms=terms, bad={its: evidence(10, 90)}))
    assert honest.variant == "a"
    decision = decide(campaign(records, SAME, terms=terms, bad={its: evidence(10, 90), mine: evidence(altered=True)}))
    assert (decision.status, decision.variant) == ("undecided", None)
    assert "decision.mishaps_open" in keys(decision)
    assert keys(decision, "next_steps") == ["next.mishaps_open"]
