"""Planning hypotheses: what production would need, from accepted passes only, and never in the decision."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from campaign_builder import OFFERS, campaign, evidence, offer, passes, protocol, record
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.decide import decide
from lab.analysis.planning import smallest_package
from lab.calcul_forfaits import Quote
from lab.model.attempt import Details, Record
from lab.model.campaign import Campaign
from lab.model.catalogue import PackageChoice
from lab.model.decision import Planning
from lab.model.reason import Reason

PHASES = {"load_s": 2.0, "compile_s": 1.0, "warm_up_s": 0.5, "evaluate_s": 0.25, "export_s": 0.25}


def hypothesis(built: Campaign, variant: str = "a") -> Planning:
    """The hypothesis of one variant."""
    return next(one for one in decide(built).planning if one.variant == variant)


def three(records: list[Record], **changes: object) -> Campaign:
    """A campaign that plans three deliverables."""
    terms = protocol(planned_deliverables=("x", "y", "z"))
    return campaign(records, {"a": "rtx-4090"}, terms=terms, **changes)


def test_the_window_is_the_slowest_accepted_pass_and_its_other_phases_for_each_deliverable() -> None:
    """3 x (12 + 4) s; the median of a phase is over the accepted passes."""
    found = hypothesis(three(passes("a", (10.0, 12.0, 11.0), **PHASES)))
    assert (found.slowest_s, dict(found.overheads_s), found.left_out) == (12.0, PHASES, ())
    assert found.hours == Fraction(3 * 16, 3600)
    assert found.quote is not None
    assert (found.quote.offer.days, found.quote.periods, found.quote.committed) == (3, 1, Decimal("60.00"))


def test_declared_cool_downs_come_between_the_passes() -> None:
    """3 passes of 16 s and 2 pauses of 30 s: none after the last one."""
    built = three(passes("a", (10.0, 12.0, 11.0), **PHASES))
    run = built.manifest.run.model_copy(update={"cool_down_s": 30.0})
    paused = replace(built, manifest=built.manifest.model_copy(update={"run": run}))
    assert hypothesis(paused).hours == Fraction(3 * 16 + 2 * 30, 3600)
    assert (hypothesis(paused).cool_down_s, hypothesis(built).cool_down_s) == (30.0, 0)


def test_a_phase_that_only_some_passes_needed_is_spent_once() -> None:
    """A download of the first pass, and a load that the second found done: each is added once, at its longest."""
    first, second = passes("a", (10.0, 11.0), **{**PHASES, "download_s": 100.0})
    second = replace(
        second,
        attempt=replace(second.attempt, load_s=None, download_s=None),
        details=Details(missing={"load_s": "missing.loaded_before", "download_s": "missing.not_needed"}),
    )
    found = hypothesis(three([first, second]))
    assert (dict(found.once_s), found.left_out) == ({"download_s": 100.0, "load_s": 2.0}, ())
    assert found.hours == Fraction(3 * (11 + 2) + 102, 3600)


def test_rejected_failed_and_excluded_passes_project_nothing() -> None:
    """A pass that was not accepted is slower here, and is not in it."""
    records = [*passes("a", (10.0, 99.0), **PHASES), record("a", 3, outcome="failed", **PHASES)]
    bad = {"a_tickets_s0_r2": evidence(right=10, wrong=90)}
    assert hypothesis(three(records, bad=bad)).slowest_s == 10.0


def test_without_accepted_passes_there_is_nothing_but_the_reason() -> None:
    """Neither a window nor a package is made up."""
    found = hypothesis(three([record("a", 1, outcome="failed")]))
    assert found.why == Reason("planning.no_pass")
    assert (found.slowest_s, found.hours, found.quote, dict(found.overheads_s)) == (None, None, None, {})


def test_without_planned_deliverables_nothing_is_projected() -> None:
    """A declared number is needed."""
    assert decide(campaign(passes("a", (10.0,)))).planning == ()


def test_a_phase_that_not_all_passes_recorded_is_left_out_and_named() -> None:
    """Never an average over what is there; a phase that was not needed costs nothing and is not named."""
    first, second = passes("a", (10.0, 11.0), **{**PHASES, "compile_s": None})
    second = replace(second, attempt=replace(second.attempt, load_s=None))
    needless = Details(missing={"compile_s": "missing.not_needed"})
    found = hypothesis(three([replace(first, details=needless), replace(second, details=needless)]))
    assert found.left_out == ("load_s",)
    assert set(found.overheads_s) == {"warm_up_s", "evaluate_s", "export_s"}


def test_corpora_are_not_pooled() -> None:
    """The slowest pass names its corpus, and only the phases of passes on that corpus are added."""
    slow = passes("a", (50.0,), corpus="mails", load_s=8.0)
    quick = passes("a", (10.0,), load_s=1.0)
    found = hypothesis(three([*slow, *quick], corpora=("tickets", "mails")))
    assert (found.corpus, found.slowest_s, found.overheads_s["load_s"]) == ("mails", 50.0, 8.0)


@given(st.fractions(min_value=Fraction(1, 3600), max_value=3000))
def test_the_smallest_package_covers_and_none_shorter_does(hours: Fraction) -> None:
    """72 h fit 3 days and not a second more; beyond 7 days, as many periods as cover, each priced."""
    found = smallest_package(three([]), "a", hours)
    assert isinstance(found, Quote)
    assert found.offer.days is not None
    assert found.covers_hours >= hours
    if hours <= 168:
        assert (found.offer.days, found.periods) == (3 if hours <= 72 else 7, 1)
    else:
        assert (found.offer.days, found.committed) == (7, Decimal(110 * found.periods))
        assert 168 * (found.periods - 1) < hours


def test_no_package_or_no_price_is_a_reason_and_never_a_guess() -> None:
    """Other cards, spot offers and two prices of one length stand in for nothing."""
    cases = {
        "planning.no_package": three([], offers=(offer("b200"), offer(spot=True))),
        "gate.price.unknown.several": three([], offers=(offer(region="eu"), offer(region="us", price="90"))),
        "gate.price.unknown.no_choice": three([], choices=()),
        "gate.price.unknown.no_lots": three([], choices=(PackageChoice("a", "rtx-4090", 7, None),)),
    }
    for key, built in cases.items():
        found = smallest_package(built, "a", Fraction(10))
        assert isinstance(found, Reason)
        assert found.key == key


def test_the_decision_does_not_turn_on_the_hypothesis() -> None:
    """With a hundred deliverables planned the answer and its figures stay the same."""
    records = passes("a", (10.0, 11.0, 12.0, 10.5, 11.5))
    few, many = (
        decide(campaign(records, {"a": "rtx-4090"}, terms=protocol(planned_deliverables=tuple(map(str, range(n))))))
        for n in (1, 100)
    )
    assert few.planning != many.planning
    assert (few.status, few.committed, few.variants[0].covers_hours) == (
        many.status, many.committed, many.variants[0].covers_hours,
    )  # fmt: skip
    assert OFFERS[0].price == few.committed
