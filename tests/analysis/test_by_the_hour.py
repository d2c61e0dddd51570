"""Hourly offers beside packages: what the window would cost, and the hours at which both cost the same."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from campaign_builder import OFFERS, campaign, offer
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.by_the_hour import by_the_hour
from lab.calcul_forfaits import Offer
from lab.model.campaign import Campaign
from lab.model.catalogue import PackageChoice
from lab.model.decision import HourlyComparison

HOURLY: dict[str, object] = {"model": "hourly", "increment_minutes": 60, "minimum_hours": Decimal(1)}


def hourly(gpu: str = "rtx-4090", price: str = "0.69", **changes: object) -> Offer:
    """An hourly offer."""
    return offer(gpu, None, price, **{**HOURLY, **changes})


def built(
    *offers: Offer, days: int | None = 7, lots: int | None = 2, gpu: str = "rtx-4090", **changes: object
) -> Campaign:
    """One variant on one card, a window of 96 h, and these hourly offers beside the packages."""
    choices = (PackageChoice("a", gpu, days, lots),)
    return campaign([], {"a": gpu}, **{"offers": (*OFFERS, *offers), "choices": choices, **changes})


def only(one: Campaign) -> HourlyComparison:
    """The one comparison."""
    (found,) = by_the_hour(one)
    return found


def test_a_package_is_set_against_an_hourly_offer() -> None:
    """Two cards for 96 h at 0.69 are 132.48; 220.00 is reached after 11000/69 billed hours."""
    found = only(built(hourly()))
    assert found.by_the_hour is not None
    assert found.package is not None
    assert (found.by_the_hour.committed, found.package.committed) == (Decimal("132.48"), Decimal("220.00"))
    assert (found.break_even_hours, found.why) == (Fraction(11000, 69), None)


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 9), st.integers(1, 5))
def test_at_the_break_even_both_cost_the_same(cents: int, rate: int, lots: int, periods: int) -> None:
    """Exact, whatever the prices, lots and periods."""
    package = offer(price=str(Decimal(cents) / 100))
    one = built(hourly(price=str(Decimal(rate) / 1000)), lots=lots)
    one = replace(one, offers=(package, *one.offers[-1:]), choices=(replace(one.choices[0], periods=periods),))
    found = only(one)
    assert found.package is not None
    assert found.break_even_hours is not None
    assert found.break_even_hours * Fraction(rate, 1000) * lots == Fraction(found.package.committed)


def test_lots_are_counted_by_their_cards() -> None:
    """A B200 lot holds two cards: two hourly lots of one card stand beside it."""
    found = only(built(hourly("b200", "4", cards_per_lot=1), lots=1, gpu="b200"))
    assert (found.lots, found.break_even_hours) == (2, Fraction(2071, 8))


def test_what_does_not_compare_says_why() -> None:
    """Other currencies, lots of other sizes, an unknown package, no window: a reason, and no break-even."""
    cases = {
        "hourly.currencies": built(hourly(currency="EUR")),
        "hourly.cards": built(hourly(cards_per_lot=8)),
        "gate.price.unknown.no_offer": built(hourly(), days=30),
        "gate.price.unknown.no_lots": built(hourly(), lots=None),
    }
    for key, one in cases.items():
        found = only(one)
        assert found.why is not None
        assert (found.why.key, found.break_even_hours) == (key, None)


def test_without_a_window_the_break_even_is_still_known() -> None:
    """What the window would cost by the hour is not."""
    found = only(built(hourly(), calendar=()))
    assert (found.by_the_hour, found.break_even_hours) == (None, Fraction(11000, 69))
    assert found.why is not None
    assert found.why.key == "gate.price.unknown.no_window"


def test_rental_by_the_hour_is_set_against_each_package_of_the_card() -> None:
    """Days left empty: 3 days for 60 and 7 days for 110, for as many cards."""
    found = by_the_hour(built(hourly(), days=None))
    assert [one.package.committed for one in found if one.package] == [Decimal("120.00"), Decimal("220.00")]
    assert {one.by_the_hour.committed for one in found if one.by_the_hour} == {Decimal("132.48")}


def test_unknown_stays_unknown() -> None:
    """No hourly offer of any card: nothing; of one card only: the other says so. Spot offers stand in for nothing."""
    assert by_the_hour(built(hourly(spot=True))) == ()
    found = by_the_hour(campaign([], offers=(*OFFERS, hourly())))
    assert [(one.variant, one.offer is None) for one in found] == [("a", False), ("b", True)]
    assert found[1].why is not None
    assert found[1].why.key == "hourly.no_offer"
