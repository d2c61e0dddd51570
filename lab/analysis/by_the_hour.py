"""Hourly offers of a card beside its packages: "7 days for 110" against "0.69 per hour" (the method, section 7).

Shown apart from the decision, which is made of the packages chosen in `forfaits`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.analysis.costs import chosen_package
from lab.analysis.windows import window
from lab.calcul_forfaits import Offer, Quote, break_even
from lab.model.campaign import Campaign
from lab.model.catalogue import PackageChoice
from lab.model.decision import HourlyComparison
from lab.model.reason import Reason, reason
from lab.prices import quote, quote_offer


def by_the_hour(campaign: Campaign) -> tuple[HourlyComparison, ...]:
    """Each hourly offer of each variant's card beside the chosen package; beside all packages if none is chosen.

    Lots of the hourly offer are as many as hold the cards of the package. Spot offers stand in for nothing and are
    passed over. Empty when the catalogue holds no hourly offer of any of the cards; else a variant without one says so.
    """
    found = [one for variant in campaign.manifest.variants for one in _of_variant(campaign, variant.id)]
    return tuple(found) if any(one.offer for one in found) else ()


def _of_variant(campaign: Campaign, variant: str) -> Iterator[HourlyComparison]:
    spec = campaign.manifest.variant(variant)
    choice = chosen_package(campaign, variant)
    gpu = choice.gpu if isinstance(choice, PackageChoice) else spec.gpu if spec else None
    held = [one for one in campaign.offers if one.gpu == gpu and one.model == "hourly" and not one.spot]
    offers = sorted(held, key=lambda one: (one.name, one.region or "", one.price))
    if not offers:
        yield HourlyComparison(variant, why=reason("hourly.no_offer", gpu=gpu or "-"))
    for offer in offers:
        if isinstance(choice, Reason):
            yield HourlyComparison(variant, offer, why=choice)
            continue
        for package in _packages(campaign, choice, offer):
            yield _compared(campaign, choice, offer, package)


def _packages(campaign: Campaign, choice: PackageChoice, offer: Offer) -> list[Quote | Reason]:
    """The chosen package; when rental by the hour was chosen, every package of the card with the same cards."""
    if choice.days is not None:
        return [quote(choice, campaign.offers, None)]
    cards = (choice.lots or 1) * offer.cards_per_lot
    packages = [one for one in campaign.offers if one.gpu == choice.gpu and one.days and not one.spot]
    found: list[Quote | Reason] = []
    for one in sorted(packages, key=lambda one: (one.days or 0, one.price)):
        quoted = quote_offer(one, _lots(cards, one), 1, None)
        found += [quoted] if quoted else []
    return found or [reason("planning.no_package", gpu=choice.gpu or "-")]


def _compared(campaign: Campaign, choice: PackageChoice, offer: Offer, package: Quote | Reason) -> HourlyComparison:
    span = window(campaign.calendar, choice.variant)
    hours = span.hours if span else None
    if isinstance(package, Reason):  # of a package without a price the cards are not known either
        own = choice.lots if choice.days is None else None
        return HourlyComparison(
            choice.variant, offer, own, quote_offer(offer, own, 1, hours) if own else None, why=package
        )
    lots = _lots(package.cards, offer) if choice.days is not None else choice.lots or 1
    found = HourlyComparison(choice.variant, offer, lots, quote_offer(offer, lots, 1, hours), package)
    if package.currency != offer.currency:
        return replace(found, why=reason("hourly.currencies", package=package.currency, hourly=offer.currency))
    if lots * offer.cards_per_lot != package.cards:
        facts = {"package": package.cards, "hourly": lots * offer.cards_per_lot}
        return replace(found, why=reason("hourly.cards", **facts))
    crossing = break_even(package.offer, offer, package.periods)
    return replace(found, break_even_hours=crossing, why=None if span else reason("gate.price.unknown.no_window"))


def _lots(cards: int, offer: Offer) -> int:
    """The fewest lots that hold `cards` cards."""
    return -(-cards // offer.cards_per_lot)
