# ruff: noqa: RUF001  (texts keep their language's own apostrophes and spaces)
"""Price GPU packages from `tarifs-forfaits.csv`: one file, Python 3.10 or newer, nothing but the standard library.

Copied beside its catalogue it works in any folder; inside `lab` it is the very code that prices everything. Rules: the
product's method, section 7. Money is `Decimal`, divided as fractions, with two decimals (half up) where it leaves.
"""

from __future__ import annotations

import io
import re
import sys
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

TYPE_CHECKING = False  # importing `typing` for it would cost the script start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any, NoReturn

    Models = Mapping[str, Sequence[str]]
Hours = int | Decimal | Fraction
LANGUAGES = ("en", "fr", "it")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong (its text: `fault.<slug>`); `place` is `line 3`, `forfaits!A12` or `--days`."""

    slug: str
    place: str | None
    values: Mapping[str, object]


class CatalogueError(ValueError):
    """No price can be given: all `problems` at once, the `file` they are in, and the exit code of a command."""

    def __init__(self, *problems: Problem, file: str | None = None, exit_code: int = 3) -> None:
        """Take the problems; `exit_code` 3: the catalogue or the question does not hold, 2: an option does not."""
        super().__init__(*problems)
        self.problems, self.file, self.exit_code = problems, file, exit_code


_COUNT, _AMOUNT = "[1-9][0-9]{0,5}", r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,%d})?"  # neither reads 0
_NAMES: Callable[[str], tuple[str, ...]] = lambda text: tuple(filter(None, map(str.strip, text.split(";"))))


@dataclass(frozen=True)
class Offer:
    """One row of a catalogue: its columns in order, each cell's form, reader, example and, if it may be empty, absence.

    `price` is of a whole lot; for `hourly`, of one hour of it. `days` belongs to packages (`forfait`),
    `increment_minutes` and `minimum_hours` to `hourly`. Absent is None; no `device_names`: not known.
    """

    gpu: str = field(metadata={"cell": ("[a-z0-9]+([.-][a-z0-9]+)*", str, "rtx-4090")})
    name: str = field(metadata={"cell": (".+", str, "RTX 4090")})
    cards_per_lot: int = field(metadata={"cell": (_COUNT, int, "2")})
    device_names: tuple[str, ...] = field(metadata={"cell": (".+", _NAMES, "NVIDIA B200", ())})
    memory_gib_per_card: Decimal | None = field(metadata={"cell": (_AMOUNT % 6, Decimal, "24", None)})
    model: str = field(metadata={"cell": ("", str, "")})
    days: int | None = field(metadata={"cell": (_COUNT, int, "7")})
    increment_minutes: int | None = field(metadata={"cell": (_COUNT, int, "60")})
    minimum_hours: Decimal | None = field(metadata={"cell": (_AMOUNT % 6, Decimal, "1", None)})
    region: str | None = field(metadata={"cell": (".+", str, "eu-west", None)})
    spot: bool = field(metadata={"cell": ("(?i:true|false)", lambda text: text.lower() == "true", "false", False)})
    price: Decimal = field(metadata={"cell": (_AMOUNT % 12, Decimal, "110.00")})
    currency: str = field(metadata={"cell": ("[A-Z]{3}", str, "USD")})
    catalogue_version: str = field(metadata={"cell": (".+", str, "2026-09-24")})
    source: str = field(metadata={"cell": (".+", str, "IteraGPU")})

    @property
    def example(self) -> bool:
        """Whether this is one of the demo's prices, marked *example price* wherever it shows."""
        return self.catalogue_version.startswith("example")


_CELLS = {column.name: column.metadata["cell"] for column in fields(Offer)}
OFFER_COLUMNS = tuple(_CELLS)
MODEL_CELLS = {"forfait": ("days",), "hourly": ("increment_minutes", "minimum_hours")}  # of the next three, whose
_OF_MODELS = ("days", "increment_minutes", "minimum_hours")


@dataclass(frozen=True)
class Quote:
    """What an offer commits, whole, used or not. `covers_hours` is an int when whole, else an exact fraction."""

    offer: Offer
    lots: int
    periods: int
    cards: int
    committed: Decimal
    currency: str
    covers_hours: int | Fraction

    def missing_hours(self, window: Hours) -> Fraction:
        """Hours of `window` that are not covered, exactly; 0 when all of it is."""
        return max(Fraction(window) - self.covers_hours, Fraction(0))


@dataclass(frozen=True)
class Answer:
    """The offers that answer a question, each with its quote (None: needs the window); `listing` without `days`."""

    lines: tuple[tuple[Offer, Quote | None], ...]
    listing: bool
    lots: int
    window: Hours | None
    accepted: int | None


def cents(amount: Decimal | Fraction) -> Decimal:
    """`amount` (0 or more) with two decimals, ROUND_HALF_UP, exact at any size."""
    whole, rest = divmod((Fraction(amount) * 200 + 1) // 2, 100)
    return Decimal(f"{whole}.{rest:02d}")


def price_package(offer: Offer, lots: int, periods: int = 1) -> Quote:
    """Price x lots x periods; a lot's cards are in its price. ValueError: no package, or a count below 1."""
    if offer.days is None or lots < 1 or periods < 1:
        raise ValueError(offer.model, lots, periods)
    committed, cards = cents(Fraction(offer.price) * lots * periods), offer.cards_per_lot * lots
    return Quote(offer, lots, periods, cards, committed, offer.currency, 24 * offer.days * periods)


def price_hourly(offer: Offer, window_hours: Hours, lots: int) -> Quote:
    """The window rounded up to the increment, at least the minimum, x price x lots, in cents.

    ValueError: the offer is not hourly, the window is not above 0 hours, or less than one lot.
    """
    if offer.increment_minutes is None or window_hours <= 0 or lots < 1:
        raise ValueError(offer.model, window_hours, lots)
    step = Fraction(offer.increment_minutes, 60)
    hours = max(-(-Fraction(window_hours) // step) * step, Fraction(offer.minimum_hours or 0))
    committed, covers = cents(Fraction(offer.price) * hours * lots), int(hours) if hours.denominator == 1 else hours
    return Quote(offer, lots, 1, offer.cards_per_lot * lots, committed, offer.currency, covers)


def price_offer(offer: Offer, lots: int, periods: int, window: Hours | None) -> Quote | None:
    """The quote of an offer by its price model; None when that needs a window and there is none."""
    if offer.model == "forfait":
        return price_package(offer, lots, periods)
    return None if window is None else price_hourly(offer, window, lots)


def cost_per_result(committed: Decimal | None, accepted: int | None) -> tuple[str, Decimal | None]:
    """(`value`, whole budget / accepted results in cents), (`undefined`, None: 0 accepted) or (`not_stated`, None)."""
    if committed is None or accepted is None:
        return "not_stated", None
    return ("value", cents(Fraction(committed) / accepted)) if accepted else ("undefined", None)


def window_hours(start: datetime, end: datetime) -> Fraction:
    """Exact hours between two aware moments, through clock changes; ValueError for naive or reversed ones."""
    before, after = start.utcoffset(), end.utcoffset()
    if before is None or after is None:
        raise ValueError(start, end)
    # Two moments of one zone subtract and compare by the wall clock, so the offsets are taken off first.
    span = (end.replace(tzinfo=None) - after) - (start.replace(tzinfo=None) - before)
    if span.days < 0:
        raise ValueError(start, end)
    return span.days * 24 + Fraction(span.seconds * 10**6 + span.microseconds, 3600 * 10**6)


def _offer(place: str, row: Mapping[str, str | None], models: Models) -> Offer | list[Problem]:
    texts = {column: (row.get(column) or "").strip() for column in OFFER_COLUMNS}
    cells: dict[str, Any] = {}
    problems = []
    for column, text in texts.items():
        form, read, wanted, *absent = _CELLS[column]
        if column == "model":
            form, wanted = "|".join(models), " | ".join(models)
        elif column in _OF_MODELS and column not in models.get(texts["model"], _OF_MODELS):
            form, wanted, absent = "(?!)", "", [None]  # says nothing to this model, so it has to be empty
        elif column == "price" and texts["model"] == "forfait":
            form = _AMOUNT % 2  # `2.071` is two thousand to many: a package is in whole cents, so never 2.07
        if re.fullmatch(form, text):
            cells[column] = read(text)
        elif text or not absent:
            problems.append(Problem("price-cell", place, {"column": column, "value": text, "wanted": wanted}))
        else:
            cells[column] = absent[0]
    return problems or Offer(**cells)


def offers_from_rows(
    rows: Iterable[tuple[str, Mapping[str, str | None]]], models: Models = MODEL_CELLS
) -> tuple[Offer, ...]:
    """Offers of (place, column -> text) rows, in their order; blank rows are passed over.

    Raises CatalogueError with every bad cell, and every second price of one offer, in whatever currency: the same gpu,
    model, days, region and spot (hourly: also name and cards, since one card is sold as many instances).
    """
    seen: dict[tuple[object, ...], tuple[str, Offer]] = {}
    problems: list[Problem] = []
    for place, row in rows:
        offer = _offer(place, row, models) if any((text or "").strip() for text in row.values()) else []
        if isinstance(offer, list):
            problems += offer
            continue
        size = (offer.name, offer.cards_per_lot) if offer.days is None else ()
        key = (offer.gpu, offer.model, offer.days, offer.region, offer.spot, *size)
        first_place, first = seen.setdefault(key, (place, offer))
        if first is not offer:
            here, there = (f"{one.price} {one.currency}" for one in (offer, first))
            facts = {"gpu": offer.gpu, "here": here, "there": there, "first": first_place}
            problems.append(Problem("price-twice", place, facts))
    if problems:
        raise CatalogueError(*problems)
    return tuple(offer for _, offer in seen.values())


def read_offers(path: str | Path, delimiter: str = ",", models: Models = MODEL_CELLS) -> tuple[Offer, ...]:
    """Offers of a UTF-8 CSV with the columns `OFFER_COLUMNS` in any order; a byte-order mark and CRLF are read.

    Raises CatalogueError with the file and each line; from a file that does not hold, nothing is taken.
    """
    import csv  # noqa: PLC0415  (help and wrong usage start without it)

    def refuse(slug: str, line: int | None = None, **values: object) -> NoReturn:
        raise CatalogueError(Problem(slug, f"line {line}" if line else None, values), file=str(path))

    try:
        data = Path(path).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError:
        refuse("price-file")
    except UnicodeDecodeError as error:
        refuse("price-encoding", data[: error.start].count(b"\n") + 1)
    reader, rows, line = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), [], 1
    try:
        header = [name.strip() for name in next(reader, [])]
        for mark in ";\t|,":
            if len(header) == 1 and mark in header[0]:
                refuse("price-delimiter", 1, found=mark, wanted=delimiter)
        missing = ", ".join(name for name in OFFER_COLUMNS if name not in header)
        unknown = ", ".join(name for name in header if name not in OFFER_COLUMNS or header.count(name) > 1)
        if missing or unknown:
            refuse("price-columns", 1, missing=missing or "–", unknown=unknown or "–")
        line = reader.line_num + 1
        for cells in reader:
            if cells and len(cells) != len(header):
                refuse("price-csv", line)
            rows.append((f"line {line}", dict(zip(header, cells))))
            line = reader.line_num + 1
    except csv.Error:
        refuse("price-csv", line)
    try:
        return offers_from_rows(rows, models) or refuse("price-empty")
    except CatalogueError as error:
        raise CatalogueError(*error.problems, file=str(path)) from None


def find_gpu(offers: Sequence[Offer], typed: str) -> str:
    """The gpu that `typed` names: its id, name or device name, or the end of one, whatever its case and spaces.

    `RTX 4090`, `rtx4090` and `4090` find `rtx-4090`; `A100` does not find `a100-80gb`, which is another card. Raises
    CatalogueError, naming the near ones, unless exactly one matches.
    """
    gpus, wanted = sorted({offer.gpu for offer in offers}), re.findall("[a-z]+|[0-9]+", typed.lower())
    names = [(offer.gpu, name) for offer in offers for name in (offer.gpu, offer.name, *offer.device_names)]
    parts = [(gpu, re.findall("[a-z]+|[0-9]+", name.lower())) for gpu, name in names]
    whole = [typed] if typed in gpus else {gpu for gpu, part in parts if part == wanted}
    found = sorted(whole or {gpu for gpu, part in parts if wanted and part[-len(wanted) :] == wanted})
    if len(found) == 1:
        return found[0]
    near = found or sorted({gpu for gpu, part in parts if {*part} & {*wanted}}) or gpus
    slug = "price-gpu-several" if found else "price-gpu-unknown"
    raise CatalogueError(Problem(slug, None, {"gpu": typed, "near": ", ".join(near)}))


def answer(  # noqa: PLR0913, PLR0917  (the options of the command, one by one)
    offers: Sequence[Offer], gpu: str, days: int | None = None, lots: int = 1, periods: int = 1,
    window: Hours | None = None, accepted: int | None = None,
    price: Callable[[Offer, int, int, Hours | None], Quote | None] = price_offer,
) -> Answer:  # fmt: skip
    """The package of `days`; without days every offer of the gpu, those that cover the window first, cheapest first.

    Raises CatalogueError when no offer, or more than one, is meant; ValueError for counts and windows that cannot be.
    """
    found = find_gpu(offers, gpu)
    held = [offer for offer in offers if offer.gpu == found]
    meant = [offer for offer in held if days in {None, offer.days}]
    if days is not None and len(meant) != 1:
        known = [" ".join(filter(None, [one.name, one.region, one.catalogue_version, one.source])) for one in meant]
        known = known or [str(day) for day in sorted({one.days for one in held if one.days})] or ["–"]
        slug = "price-offers-several" if meant else "price-days-unknown"
        raise CatalogueError(Problem(slug, None, {"gpu": found, "days": days, "held": ", ".join(known)}))

    def order(line: tuple[Offer, Quote | None]) -> tuple[bool, bool, str, Decimal]:
        short = line[1] is not None and line[1].missing_hours(window or 0) > 0
        return (line[1] is None, short, line[0].currency, line[1].committed if line[1] else line[0].price)

    lines = sorted(((offer, price(offer, lots, periods, window)) for offer in meant), key=order)
    return Answer(tuple(lines), days is None, lots, window, accepted)


def _plain(hours: Hours) -> int | str:  # as JSON holds hours: rounded up at the sixth decimal, so that none shows as 0
    whole, rest = divmod(-(-Fraction(hours) * 10**6 // 1), 10**6)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else int(whole)


def _rows(answer: Answer) -> list[dict[str, Any]]:
    rows = []
    for offer, quote in answer.lines:
        status, cost = cost_per_result(quote and quote.committed, answer.accepted)
        missing = quote.missing_hours(answer.window) if quote and answer.window else None
        rows.append({
            "gpu": offer.gpu, "days": offer.days, "lots": answer.lots, "cards": offer.cards_per_lot * answer.lots,
            "committed": quote and str(quote.committed), "currency": offer.currency,
            "accepted_results": answer.accepted, "cost_status": status, "cost_per_result": cost and str(cost),
            "periods": quote.periods if quote else 1, "catalogue_version": offer.catalogue_version,
            "covers_hours": quote and _plain(quote.covers_hours),
            "covers_window": None if missing is None else not missing,
            "hours_missing": None if missing is None else _plain(missing), "model": offer.model,
            "region": offer.region, "spot": offer.spot, "price": str(offer.price), "source": offer.source,
        })  # fmt: skip
    return rows


def as_json(answer: Answer) -> dict[str, Any]:
    """The keys of section 10, amounts as strings; with a window two more; a listing is `gpu` and its `offers`."""
    rows = _rows(answer)
    shown = 14 if answer.window else 12
    return {"gpu": rows[0]["gpu"], "offers": rows} if answer.listing else dict([*rows[0].items()][:shown])


def number(value: object, lang: str) -> str:
    """A plain number with the separators of `lang`: `2,071.00`, `2.071,00` in Italian."""
    whole, point, rest = str(value).partition(".")
    return f"{int(whole):,}{point}{rest}".translate(str.maketrans(",.", {"fr": "\u202f,", "it": ".,"}.get(lang, ",.")))


def text(key: str, lang: str, **facts: object) -> str:
    """The text of `key` in `lang`, its named places filled."""
    return TEXTS[key][LANGUAGES.index(lang)].format_map(facts)


def as_text(answer: Answer, lang: str) -> str:
    """The answer in words: each offer with its budget, cost per result, catalogue version and source."""
    shown = [text("price.listing", lang)] * answer.listing
    shown += [text("price.currencies", lang)] * (len({offer.currency for offer, _ in answer.lines}) > 1)
    for (offer, quote), row in zip(answer.lines, _rows(answer)):
        facts = {**row, "name": " ".join(filter(None, [offer.name, offer.region, "spot" * offer.spot]))}
        facts |= {"cards": text("price.card" if row["cards"] == 1 else "price.cards", lang, n=row["cards"])}
        facts |= {"window": answer.window and number(_plain(answer.window), lang)}
        for key in ("committed", "cost_per_result", "covers_hours", "hours_missing", "price"):
            facts[key] = row[key] if row[key] is None else number(row[key], lang)
        keys = [] if row["covers_window"] is None else ["covered" if row["covers_window"] else "short"]
        keys += [f"cost-{row['cost_status']}"] * (row["cost_status"] != "not_stated") + ["source"]
        shown.append(text(f"price.{'open' if quote is None else 'package' if offer.days else 'hourly'}", lang, **facts))
        shown += [f"  {text(f'price.{key}', lang, **facts)}" for key in keys + ["example"] * offer.example]
    return "\n".join(shown)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the answer (0) or, on standard error, what is wrong: 2 an option, 3 the catalogue or the question."""
    import argparse  # noqa: PLC0415  (`lab` prices without a command line)
    import json  # noqa: PLC0415
    import os  # noqa: PLC0415
