"""Prices, one model per file. A new one is a file here and a line in `PRICE_MODELS`.

The arithmetic of the models that ship is in `lab.calcul_forfaits`, the file that also works on its own; this room gives
it the product's errors and reasons, and lets a model be added without touching it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.calcul_forfaits import Answer, CatalogueError, Hours, Offer, Quote, find_gpu, identity, read_offers
from lab.calcul_forfaits import answer as find_answer
from lab.calcul_forfaits import together as all_together
from lab.errors import Fault, InvalidInputError, LabError, UsageProblemError, fault
from lab.messages import DASH
from lab.model.catalogue import PackageChoice
from lab.model.reason import Reason, reason
from lab.prices.base import PriceModel
from lab.prices.forfait import FORFAIT
from lab.prices.hourly import HOURLY

__all__ = [
    "MODEL_CELLS", "PRICE_MODELS", "PriceModel", "answer", "near_names", "quote", "quote_offer", "read_catalogue",
    "refusal", "together", "two_prices", "unknown_card",
]  # fmt: skip

PRICE_MODELS: tuple[PriceModel, ...] = (FORFAIT, HOURLY)
MODEL_CELLS = {model.name: model.cells for model in PRICE_MODELS}


def read_catalogue(path: Path, delimiter: str = ",") -> tuple[Offer, ...]:
    """The offers of a catalogue (CSV, UTF-8, the columns of the product's method, section 7), in the file's order.

    Raises:
        InvalidInputError: the file cannot be read as one, with every line that does not hold.
    """
    try:
        return read_offers(path, delimiter, MODEL_CELLS)
    except CatalogueError as error:
        raise refusal(error) from error


def together(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Offers of several catalogues, one that is given twice once.

    Raises:
        InvalidInputError: one card under two spellings (`rtx4090`, `rtx-4090`), with both files and lines.
    """
    try:
        return all_together(offers)
    except CatalogueError as error:
        raise refusal(error) from error


def two_prices(offers: Iterable[Offer]) -> tuple[Reason, ...]:
    """Where two catalogues price one offer differently: each such price beside the first one, with files and lines."""
    seen: dict[tuple[object, ...], Offer] = {}
    found = []
    for offer in offers:
        first = seen.setdefault(identity(offer), offer)
        if (first.price, first.currency) != (offer.price, offer.currency):
            here, there = (f"{one.price} {one.currency}" for one in (offer, first))
            at = {"file": offer.at[0] or DASH, "line": _line(offer), "first_file": first.at[0] or DASH}
            facts = {"gpu": offer.gpu, "here": here, "there": there, **at, "first_line": _line(first)}
            found.append(reason("price.two-prices", **facts))
    return tuple(found)


def _line(offer: Offer) -> str:
    return offer.at[1].removeprefix("line ")


def near_names(offers: Sequence[Offer], gpu: str) -> str:
    """Cards of the catalogues whose names are near `gpu`, which none of them holds; all cards if none is near."""
    try:
        return find_gpu(offers, gpu)
    except CatalogueError as error:
        return str(error.problems[0].values["near"])


def unknown_card(gpu: str | None, offers: Sequence[Offer]) -> Reason | None:
    """That no row of the catalogue holds the card, with the near names; None when one does, or there are no rows."""
    if gpu is None or not offers or any(one.gpu == gpu for one in offers):
        return None
    return reason("gate.price.unknown.no_card", gpu=gpu, near=near_names(offers, gpu))


def answer(  # noqa: PLR0913  (the options of `lab price`, one by one)
    offers: Sequence[Offer],
    gpu: str,
    days: int | None = None,
    *,
    lots: int = 1,
    periods: int = 1,
    window: Hours | None = None,
    accepted: int | None = None,
) -> Answer:
    """What `lab price` answers; `window` in hours. `as_json` and `as_text` of `lab.calcul_forfaits` show it.

    Raises:
        InvalidInputError: the catalogue holds no such card or package, or several.
        UsageProblemError: a number that cannot be, such as no lot.
    """
    try:
        return find_answer(offers, gpu, days, lots, periods, window, accepted, quote_offer)
    except CatalogueError as error:
        raise refusal(error) from error


def refusal(error: CatalogueError) -> LabError:
    """The product's error for what `lab.calcul_forfaits` refused, fault by fault, with the same exit code."""
    kind = UsageProblemError if error.exit_code == UsageProblemError.exit_code else InvalidInputError
    return kind(*faults(error))


def faults(error: CatalogueError, file: str | None = None) -> tuple[Fault, ...]:
    """The faults of an error; `file` names the file when the error does not (the rows of a sheet)."""
    where = error.file or file
    return tuple(fault(one.slug, file=one.file or where, place=one.place, **one.values) for one in error.problems)


def quote_offer(offer: Offer, lots: int, periods: int, window_hours: Hours | None) -> Quote | None:
    """The quote of an offer by its price model; None when the model needs the window and it is not known."""
    model = next(model for model in PRICE_MODELS if model.name == offer.model)
    return model.quote(offer, lots, periods, window_hours)


def quote(choice: PackageChoice, offers: Sequence[Offer], window_hours: Hours | None) -> Quote | Reason:
    """What the package chosen for a variant commits, or why that is not known; a price is never guessed.

    The card is matched exactly. `choice.days` None means rental by the hour. Spot offers stand in for nothing: they are
    passed over.

    Returns:
        The quote, or a reason `gate.price.unknown.<...>`: `no_gpu`, `no_card` (with the near names), `no_offer`
        (also when no lots are stated), `several` or `no_window`.
    """
    facts = {"gpu": choice.gpu or "", "days": choice.days or "-"}
    found = [one for one in offers if (one.gpu, one.days, one.spot) == (choice.gpu, choice.days, False)]
    if choice.gpu is None:
        return reason("gate.price.unknown.no_gpu")
    if (unknown := unknown_card(choice.gpu, offers)) is not None:
        return unknown
    if not found or choice.lots is None:
        return reason("gate.price.unknown.no_offer", **facts)
    if len(found) > 1:
        return reason("gate.price.unknown.several", **facts)
    quoted = quote_offer(found[0], choice.lots, choice.periods, window_hours)
    return quoted or reason("gate.price.unknown.no_window")
