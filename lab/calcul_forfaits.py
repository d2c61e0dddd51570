# ruff: noqa: E501, RUF001  (TEXTS: long rows, with each language's own apostrophes and spaces)
"""Price GPU packages from `tarifs-forfaits.csv`: one file, Python 3.10 or newer, nothing but the standard library.

Beside its catalogue it works in any folder; inside `lab` it is the very code that prices everything (the product's method,
section 7). Money is `Decimal`, divided as fractions, with two decimals (half up) where it leaves.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

TYPE_CHECKING = False  # importing `typing` for it would cost the script start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    Models = Mapping[str, tuple[str, ...]]
    Rows = Iterable[tuple[str, Mapping[str, str | None]]]  # (place, column -> text)
Hours = int | Decimal | Fraction
LANGUAGES = ("en", "fr", "it")
_HOURS, _MONEY = ("covers_hours", "hours_missing", "break_even_hours"), ("committed", "cost_per_result", "price", "break_even_price")  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong (its text: `fault.<slug>`); `place`: `line 3`, `forfaits!A12`, `--days`; `file`: of several."""

    slug: str
    place: str | None
    values: Mapping[str, object]
    file: str | None = None


class CatalogueError(ValueError):
    """No price can be given: all `problems` at once, the `file` they are in, and the exit code of a command."""

    def __init__(self, *problems: Problem, file: str | None = None, exit_code: int = 3) -> None:
        """Take the problems; `exit_code` 3: the catalogue or the question does not hold, 2: an option does not."""
        super().__init__(*problems)
        self.problems, self.file, self.exit_code = problems, file, exit_code


_COUNT, _AMOUNT = "[1-9][0-9]{0,5}", r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,%d})?"  # neither reads 0


@dataclass(frozen=True)
class Offer:
    """One row of a catalogue, absent is None; `price` is of a whole lot. `cell`: form, reader, example, what empty is if it may be."""

    gpu: str = field(metadata={"cell": ("[a-z0-9]+([.-][a-z0-9]+)*", str, "rtx-4090")})
    name: str = field(metadata={"cell": (".+", str, "RTX 4090")})
    cards_per_lot: int = field(metadata={"cell": (_COUNT, int, "2")})
    device_names: tuple[str, ...] = field(metadata={"cell": (".+", lambda text: (*re.findall("[^; ][^;]*(?<! )", text),), "NVIDIA B200", ())})  # fmt: skip
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
    at: tuple[str | None, str] = field(default=(None, ""), compare=False, repr=False)  # file and `line 2`

    @property
    def example(self) -> bool:
        """Whether this is one of the demo's prices, marked *example price* wherever it shows."""
        return self.catalogue_version.startswith("example")


_CELLS = {column.name: column.metadata["cell"] for column in fields(Offer) if column.metadata}
OFFER_COLUMNS = tuple(_CELLS)
MODELS = {"forfait": ("days",), "hourly": ("increment_minutes", "minimum_hours")}  # their own cells, of these three:
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


@dataclass(frozen=True)
class Answer:
    """Offers that answer a question, as JSON holds them, cheapest first; `listing` when no days were asked for."""

    rows: tuple[Mapping[str, Any], ...]
    listing: bool
    window: Hours | None


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
    """The window rounded up to the increment, at least the minimum, x price x lots; ValueError as `price_package`."""
    if offer.increment_minutes is None or window_hours <= 0 or lots < 1:
        raise ValueError(offer.model, window_hours, lots)
    step = Fraction(offer.increment_minutes, 60)
    hours = max(-(-Fraction(window_hours) // step) * step, Fraction(offer.minimum_hours or 0))
    committed, covers = cents(Fraction(offer.price) * hours * lots), int(hours) if hours.denominator == 1 else hours
    return Quote(offer, lots, 1, offer.cards_per_lot * lots, committed, offer.currency, covers)


def cost_per_result(committed: Decimal | None, accepted: int | None) -> tuple[str, Decimal | None]:
    """(`value`, whole budget / accepted results in cents), (`undefined`, None: 0 accepted) or (`not_stated`, None)."""
    if committed is None or accepted is None:
        return "not_stated", None
    return ("value", cents(Fraction(committed) / accepted)) if accepted else ("undefined", None)


def _offer(file: str | None, place: str, row: Mapping[str, str | None], models: Models) -> Offer | list[Problem]:
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
        fits = re.fullmatch(form, text)
        cells[column] = read(text) if fits else next(iter(absent), None)
        if not fits and (text or not absent):
            problems.append(Problem("price-cell", place, {"column": column, "value": text, "wanted": wanted}))
    return problems or Offer(**cells, at=(file, place))


def runs(name: str) -> tuple[str, ...]:
    """The letters and the digits of a card's name, without case, spaces and signs: what makes it the same card."""
    return tuple(re.findall("[a-z]+|[0-9]+", name.lower()))


def identity(offer: Offer) -> tuple[object, ...]:
    """What makes it one offer, which has one price; by the hour, one card is sold as many instances."""
    return (offer.gpu, offer.model, offer.days, offer.region, offer.spot, *(() if offer.days else (offer.name, offer.cards_per_lot)))  # fmt: skip


def together(offers: Iterable[Offer], problems: Sequence[Problem] = (), file: str | None = None) -> tuple[Offer, ...]:
    """Offers of one or several catalogues, equal ones once. CatalogueError: `problems`, and a card under two spellings."""
    kept, cards, wrong = tuple(dict.fromkeys(offers)), dict[tuple[str, ...], Offer](), [*problems]
    for offer in kept:
        first = cards.setdefault(runs(offer.gpu), offer)
        if first.gpu != offer.gpu:
            there = ", ".join(filter(None, first.at[first.at[0] == offer.at[0] :]))
            wrong.append(Problem("price-gpu-spellings", offer.at[1], {"gpu": offer.gpu, "other": first.gpu, "first": there}, offer.at[0]))  # fmt: skip
    if wrong:
        raise CatalogueError(*wrong, file=file)
    return kept


def offers_from_rows(rows: Rows, models: Models = MODELS, file: str | None = None) -> tuple[Offer, ...]:
    """Offers of the rows, blank ones passed over. CatalogueError: bad cells, one offer or card twice, no offer in `file`."""
    seen, problems = dict[tuple[object, ...], Offer](), list[Problem]()
    for place, row in rows:
        offer = _offer(file, place, row, models) if any((text or "").strip() for text in row.values()) else []
        if isinstance(offer, list):
            problems += offer
            continue
        first = seen.setdefault(identity(offer), offer)
        if first is not offer:
            here, there = (f"{one.price} {one.currency}" for one in (offer, first))
            problems.append(Problem("price-twice", place, {"gpu": offer.gpu, "here": here, "there": there, "first": first.at[1]}))  # fmt: skip
    return together(seen.values(), problems or [Problem("price-empty", None, {})] * (bool(file) and not seen), file)


def read_table(path: str | Path, delimiter: str = ",") -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Header, and (place, cells) of each row, of a UTF-8 CSV; byte-order mark and CRLF allowed. CatalogueError."""

    def refuse(slug: str, line: int | None = None, **values: object) -> NoReturn:
        raise CatalogueError(Problem(slug, f"line {line}" if line else None, values), file=str(path))

    rows, line = [], 1
    try:
        data = Path(path).read_bytes()
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True)
        for cells in reader:
            rows.append((line, cells))
            line = reader.line_num + 1
    except OSError:
        refuse("price-file")
    except UnicodeDecodeError as error:
        refuse("price-encoding", data[: error.start].count(b"\n") + 1)
    except csv.Error:
        refuse("price-row", line)
    header = [name.strip() for name in rows[0][1]] if rows else []
    for mark in {*";\t|,"} & {*header[0]} if len(header) == 1 else ():
        refuse("price-delimiter", 1, found=mark, wanted=delimiter)
    if torn := [line for line, cells in rows if cells and len(cells) != len(header)]:
        refuse("price-row", torn[0])
    return header, [(f"line {line}", cells) for line, cells in rows[1:]]


def read_offers(path: str | Path, delimiter: str = ",", models: Models = MODELS) -> tuple[Offer, ...]:
    """Offers of a catalogue as `read_table` reads it, columns in any order. CatalogueError with each line."""
    header, rows = read_table(path, delimiter)
    missing = ", ".join(name for name in OFFER_COLUMNS if name not in header) or "–"
    unknown = ", ".join(name for name in header if name not in OFFER_COLUMNS or header.count(name) > 1) or "–"
    if missing != unknown:  # both a dash when the columns are the right ones
        raise CatalogueError(Problem("price-columns", "line 1", {"missing": missing, "unknown": unknown}), file=str(path))  # fmt: skip
    named = ((place, dict(zip(header, cells))) for place, cells in rows)  # noqa: B905  (as many, or `read_table` refuses)
    return offers_from_rows(named, models, str(path))


def find_gpu(offers: Sequence[Offer], typed: str) -> str:
    """The one gpu whose id, name or device name is, or ends in, `typed`, in any case and spacing: `4090`; CatalogueError."""
    gpus, wanted = sorted({offer.gpu for offer in offers}), runs(typed)
    parts = [(one.gpu, runs(name)) for one in offers for name in (one.gpu, one.name, *one.device_names)]
    whole = [typed] if typed in gpus else {gpu for gpu, part in parts if part == wanted}
    found = sorted(whole or {gpu for gpu, part in parts if wanted and part[-len(wanted) :] == wanted})
    if len(found) == 1:
        return found[0]
    near = found or sorted({gpu for gpu, part in parts if {*part} & {*wanted}}) or gpus or ["–"]
    raise CatalogueError(Problem("price-gpu-several" if found else "price-gpu-unknown", None, {"gpu": typed, "near": ", ".join(near)}))  # fmt: skip


def plain_hours(hours: Hours) -> int | str:
    """As JSON holds hours (0 or more): rounded up at the sixth decimal, so that none shows as 0; an int when whole."""
    whole, rest = divmod(-(-Fraction(hours) * 10**6 // 1), 10**6)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else int(whole)


def break_even(package: Offer, hourly: Offer, periods: int = 1) -> Fraction:
    """Billed hours at which as many cards by the hour cost what the package does; beyond them the package is cheaper."""
    return Fraction(package.price) * periods * hourly.cards_per_lot / (Fraction(hourly.price) * package.cards_per_lot)


def _rival(package: Offer, offers: Sequence[Offer], periods: int) -> dict[str, Any]:  # the cheapest, spot apart
    alike = [one for one in (offers if package.days else ()) if one.days is None and one.currency == package.currency]
    alike = [one for one in alike if not one.spot and package.cards_per_lot % one.cards_per_lot == 0]
    rival = max(alike, key=lambda one: break_even(package, one, periods), default=None)
    price = rival and str(rival.price * (package.cards_per_lot // rival.cards_per_lot))  # of as many cards
    return {"break_even_hours": rival and plain_hours(break_even(package, rival, periods)), "break_even_price": price}


def _row(offer: Offer, lots: int, quote: Quote | None, window: Hours | None, accepted: int | None) -> dict[str, Any]:
    status, cost = cost_per_result(quote.committed if quote else None, accepted)
    missing = max(Fraction(window) - quote.covers_hours, Fraction(0)) if quote and window else None
    return {
        "gpu": offer.gpu, "days": offer.days, "lots": lots, "cards": offer.cards_per_lot * lots, "committed": quote and str(quote.committed),
        "currency": offer.currency, "accepted_results": accepted, "cost_status": status, "cost_per_result": None if cost is None else str(cost),
        "periods": quote.periods if quote else 1, "catalogue_version": offer.catalogue_version, "covers_hours": quote and plain_hours(quote.covers_hours),
        "covers_window": None if missing is None else not missing, "hours_missing": None if missing is None else plain_hours(missing),
        "name": offer.name, "model": offer.model, "region": offer.region, "spot": offer.spot, "price": str(offer.price), "source": offer.source, "example": offer.example,
    }  # fmt: skip


def _price(offer: Offer, lots: int, periods: int, window: Hours | None) -> Quote | None:
    if offer.days is not None:
        return price_package(offer, lots, periods)
    return None if window is None else price_hourly(offer, window, lots)


def answer(  # noqa: PLR0913, PLR0917  (the options of the command, one by one)
    offers: Sequence[Offer], gpu: str, days: int | None = None, lots: int = 1, periods: int = 1, window: Hours | None = None,
    accepted: int | None = None, price: Callable[[Offer, int, int, Hours | None], Quote | None] = _price,
) -> Answer:  # fmt: skip
    """The package of `days`, or all offers, covering then cheapest first. CatalogueError: a value (2) or an offer (3)."""
    counts = {"--days": days, "--lots": lots, "--periods": periods, "--window": window, "--accepted-results": accepted}
    for option, value in counts.items():
        if value is not None and (not 0 <= value < (10**9 if option == "--window" else 10**6) or (value == 0 and option != "--accepted-results")):  # fmt: skip
            raise _refused(option, value)
    found = find_gpu(offers, gpu)
    held = [offer for offer in offers if offer.gpu == found]
    meant = [offer for offer in held if days in {None, offer.days}]
    if days is not None and len(meant) != 1:
        known = [f"{o.price} {o.currency} ({', '.join(filter(None, (o.name, o.region, o.catalogue_version, o.source, *o.at)))})" for o in meant]  # fmt: skip
        facts = {"gpu": found, "days": days, "held": " | ".join(known) or ", ".join(map(str, sorted({one.days for one in held if one.days}))) or "–"}  # fmt: skip
        raise CatalogueError(Problem("price-offers-several" if meant else "price-days-unknown", None, facts))
    quotes = [(one, price(one, lots, periods, window)) for one in meant]
    rows = [_row(one, lots, quote, window, accepted) | _rival(one, held, periods) for one, quote in quotes]
    rows.sort(key=lambda row: Decimal(row["committed"] or row["price"]))
    rows.sort(key=lambda row: (row["committed"] is None, row["covers_window"] is False, row["currency"]))
    return Answer(tuple(rows), days is None, window)


def as_json(answer: Answer) -> dict[str, Any]:
    """The keys of section 10, amounts as strings; with a window two more; a listing is `gpu` and its `offers`."""
    rows, keys = [dict(row) for row in answer.rows], [*answer.rows[0]][: 14 if answer.window else 12]
    return {"gpu": rows[0]["gpu"], "offers": rows} if answer.listing else {key: rows[0][key] for key in keys}


def _number(value: object, lang: str, *, money: bool = False) -> str:
    whole, point, rest = str(value).partition(".")
    shown = whole if money and lang == "en" else f"{int(whole):,}"  # the method writes 2071.00 USD
    return f"{shown}{point}{rest}".translate(str.maketrans(",.", {"fr": "\u202f,", "it": ".,"}.get(lang, ",.")))


def _placed(text: str, lang: str) -> str:  # `line 2` and `mine.csv, line 2` are data: the one word that is English
    return re.sub(r"(^|, )line (?=[0-9]+(\)|$))", lambda found: found[1] + _text("place.line", lang, number=""), text)


def _text(key: str, lang: str, **facts: object) -> str:
    return TEXTS[key][LANGUAGES.index(lang)].format_map(facts)


def as_text(answer: Answer, lang: str) -> str:
    """The answer in words: each offer with its budget, cost per result, catalogue version and source."""
    shown = [_text("price.listing", lang)] * answer.listing
    for row in answer.rows:
        facts = {**row, "name": " ".join(filter(None, [row["name"], row["region"], "spot" * row["spot"]]))}
        facts["cards"] = _text("price.card" if row["cards"] == 1 else "price.cards", lang, n=row["cards"])
        facts |= {key: row[key] and _number(row[key], lang, money=key in _MONEY) for key in (*_HOURS, *_MONEY)}
        head = "open" if row["committed"] is None else "package" if row["days"] else "hourly"
        cost = () if row["cost_status"] == "not_stated" else (f"cost-{row['cost_status']}",)
        keys = (*["short"] * (row["covers_window"] is False), *cost, "source", *["example-price"] * row["example"], *["break-even"] * (row["break_even_hours"] is not None))  # fmt: skip
        shown += [_text(f"price.{head}", lang, **facts), *(f"  {_text(f'price.{key}', lang, **facts)}" for key in keys)]
    return "\n".join(shown)


OPTIONS: dict[str, tuple[str, Callable[[str], Any], str]] = {  # its form, reader and an example; `answer`'s come first
    "--gpu": (".+", str, "rtx-4090"), "--days": (_COUNT, int, "7"), "--lots": (_COUNT, int, "2"),
    "--periods": (_COUNT, int, "1"), "--window": (_AMOUNT % 6, Decimal, "96.5"),
    "--accepted-results": ("[0-9]{1,6}", int, "3"), "--catalogue": (".+", str, "tarifs-forfaits.csv"), "--lang": ("en|fr|it", str, "en"), "--json": ("", lambda _: True, ""), "--help": ("", lambda _: True, ""),
}  # fmt: skip


def _refused(option: str, value: object, slug: str = "price-option") -> CatalogueError:
    return CatalogueError(Problem(slug, option, {"option": option, "value": str(value), "wanted": OPTIONS.get(option, ("",) * 3)[2]}), exit_code=2)  # fmt: skip


def _options(words: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {**dict.fromkeys(OPTIONS), "--lots": 1, "--periods": 1}
    while words or not (options["--gpu"] or options["--help"]):
        option = words.pop(0) if words else "--gpu"  # the one that cannot be left out, found without its value
        if option not in OPTIONS:
            raise _refused(option, "", "price-option-unknown")
        form, read, example = OPTIONS[option]
        value = words.pop(0) if words and example and words[0][:2] != "--" else ""
        if not re.fullmatch(form, value):
            raise _refused(option, value, "price-option" if value else "price-option-missing")
        options[option] = (*(options[option] or ()), value) if option == "--catalogue" else read(value)
    return options


def main(argv: Sequence[str]) -> int:
    """Print the answer (0) or, on standard error, what is wrong: 2 an option, 3 the catalogue or the question."""
    words = [part for word in argv for part in (word.split("=", 1) if word[:2] == "--" else [word])]
    asked = words[words.index("--lang") + 1 :][:1] if "--lang" in words else []
    lang = next((one for one in [*asked, *(os.environ.get(name, "")[:2] for name in ("LC_ALL", "LC_MESSAGES", "LANG"))] if one in LANGUAGES), "en")  # fmt: skip
    try:
        options = _options(words)
        if options["--help"]:
            print(_text("price.help", lang, usage=" ".join(f"[{option} {row[2]}".rstrip() + "]" for option, row in OPTIONS.items())))  # fmt: skip
            return 0
        files = options["--catalogue"] or [Path(__file__).with_name("tarifs-forfaits.csv")]
        offers = together(offer for file in files for offer in read_offers(file))
        found = answer(offers, *[options[name] for name in [*OPTIONS][:6]])
    except CatalogueError as error:
        for problem in error.problems:
            where = ", ".join(filter(None, [problem.file or error.file, _placed(problem.place or "", lang)]))
            facts = {name: _placed(str(value), lang) for name, value in problem.values.items()}
            text, todo = (_text(f"fault.{problem.slug}{end}", lang, **facts) for end in ("", ".do"))
            print(_text("place.fault", lang, where=where, found=text) if where else text, f"\n  {todo}", sep="", file=sys.stderr)  # fmt: skip
        return error.exit_code
    print(json.dumps(as_json(found), indent=2) if options["--json"] else as_text(found, lang))
    return 0


# Each text in English, French and Italian; a test holds them to the catalogues of `lab`.
TEXTS = {
    "price.card": ("{n} card", "{n} carte", "{n} scheda"), "price.cards": ("{n} cards", "{n} cartes", "{n} schede"), "price.package": ("{name}: {committed} {currency}, {cards} (days: {days}, lots: {lots}, periods: {periods}, hours covered: {covers_hours})", "{name} : {committed} {currency}, {cards} (jours : {days}, lots : {lots}, périodes : {periods}, heures couvertes : {covers_hours})", "{name}: {committed} {currency}, {cards} (giorni: {days}, lotti: {lots}, periodi: {periods}, ore coperte: {covers_hours})"), "price.hourly": ("{name}: {committed} {currency}, {cards} (per hour: {price}, lots: {lots}, hours billed: {covers_hours})", "{name} : {committed} {currency}, {cards} (par heure : {price}, lots : {lots}, heures facturées : {covers_hours})", "{name}: {committed} {currency}, {cards} (all’ora: {price}, lotti: {lots}, ore fatturate: {covers_hours})"), "price.open": ("{name}: {price} {currency} per hour and lot, {cards}; give the window to get a budget", "{name} : {price} {currency} par heure et par lot, {cards} ; indiquez la fenêtre pour obtenir un budget", "{name}: {price} {currency} per ora e per lotto, {cards}; indica la finestra per ottenere un budget"), "price.source": ("Catalogue {catalogue_version}, source: {source}", "Catalogue {catalogue_version}, source : {source}", "Catalogo {catalogue_version}, fonte: {source}"), "price.example-price": ("Example price: it shows the method, nobody rents at it.", "Prix d’exemple : il montre la méthode, personne ne loue à ce prix.", "Prezzo di esempio: mostra il metodo, nessuno noleggia a questo prezzo."), "price.short": ("{hours_missing} h of the window are missing. Nothing is extended by itself: price more periods.", "Il manque {hours_missing} h pour couvrir la fenêtre. Rien ne se prolonge tout seul : chiffrez des périodes supplémentaires.", "Mancano {hours_missing} h per coprire la finestra. Nulla si prolunga da solo: calcola periodi aggiuntivi."), "price.cost-value": ("Cost per accepted result: {cost_per_result} {currency} (accepted: {accepted_results})", "Coût par résultat accepté : {cost_per_result} {currency} (acceptés : {accepted_results})", "Costo per risultato accettato: {cost_per_result} {currency} (accettati: {accepted_results})"), "price.cost-undefined": ("Cost per accepted result: undefined, none was accepted. The budget stays committed.", "Coût par résultat accepté : non défini, aucun n’est accepté. Le budget reste engagé.", "Costo per risultato accettato: non definito, nessuno è accettato. Il budget resta impegnato."), "price.listing": ("Cheapest first within each currency; offers that do not cover the window come after.", "Du moins cher au plus cher dans chaque devise ; les offres qui ne couvrent pas la fenêtre viennent après.", "Dal meno caro al più caro in ogni valuta; le offerte che non coprono la finestra vengono dopo."), "price.break-even": ("As many cards by the hour ({break_even_price} {currency}) cost more beyond {break_even_hours} billed hours.", "Autant de cartes à l’heure ({break_even_price} {currency}) coûtent plus cher au-delà de {break_even_hours} heures facturées.", "Altrettante schede a ore ({break_even_price} {currency}) costano di più oltre {break_even_hours} ore fatturate."), "price.help": ("Committed budget of a GPU package: price of a lot x lots x periods. Without --days: every offer of the card.\ncalcul_forfaits.py {usage}", "Budget engagé d’un forfait GPU : prix du lot x lots x périodes. Sans --days : toutes les offres de la carte.\ncalcul_forfaits.py {usage}", "Budget impegnato di un forfait GPU: prezzo del lotto x lotti x periodi. Senza --days: tutte le offerte della scheda.\ncalcul_forfaits.py {usage}"), "place.line": ("line {number}", "ligne {number}", "riga {number}"), "place.fault": ("{where}: {found}", "{where} : {found}", "{where}: {found}"),
    "fault.price-empty": ("The catalogue holds no offer.", "Le catalogue ne contient aucune offre.", "Il catalogo non contiene alcuna offerta."), "fault.price-empty.do": ("Add a row for each offer, under the header.", "Ajoutez une ligne par offre, sous l’en-tête.", "Aggiungi una riga per ogni offerta, sotto l’intestazione."), "fault.price-file": ("The catalogue is missing or cannot be opened.", "Le catalogue manque ou ne peut pas être ouvert.", "Il catalogo manca o non si può aprire."), "fault.price-file.do": ("Check the path and the access rights.", "Vérifiez le chemin et les droits d’accès.", "Controlla il percorso e i diritti di accesso."), "fault.price-encoding": ("The catalogue is not UTF-8 text.", "Le catalogue n’est pas du texte en UTF-8.", "Il catalogo non è testo in UTF-8."), "fault.price-encoding.do": ("Save the file again as CSV in UTF-8.", "Enregistrez de nouveau le fichier en CSV, encodage UTF-8.", "Salva di nuovo il file come CSV in UTF-8."), "fault.price-row": ("The line cannot be read: its cells are not as many as in the header, or a quotation mark is not closed.", "La ligne est illisible : elle n’a pas autant de cellules que l’en-tête, ou un guillemet n’est pas fermé.", "La riga non è leggibile: non ha tante celle quante l’intestazione, o una virgoletta non è chiusa."), "fault.price-row.do": ("Give the line one cell per column, and put a cell that holds a comma between quotation marks.", "Donnez à la ligne une cellule par colonne, et mettez entre guillemets droits une cellule qui contient une virgule.", "Dai alla riga una cella per colonna, e metti tra virgolette dritte una cella che contiene una virgola."), "fault.price-delimiter": ("Cells are separated by `{found}`; `{wanted}` is wanted.", "Les cellules sont séparées par `{found}` ; il faut `{wanted}`.", "Le celle sono separate da `{found}`; serve `{wanted}`."), "fault.price-delimiter.do": ("Save the file with `{wanted}` between cells and a point in numbers.", "Enregistrez le fichier avec `{wanted}` entre les cellules et un point dans les nombres.", "Salva il file con `{wanted}` tra le celle e un punto nei numeri."), "fault.price-columns": ("Columns missing: {missing}. Columns unknown or twice there: {unknown}.", "Colonnes absentes : {missing}. Colonnes inconnues ou en double : {unknown}.", "Colonne mancanti: {missing}. Colonne sconosciute o doppie: {unknown}."), "fault.price-columns.do": ("Take the header of `tarifs-forfaits.csv`; the order of the columns is free.", "Reprenez l’en-tête de `tarifs-forfaits.csv` ; l’ordre des colonnes est libre.", "Riprendi l’intestazione di `tarifs-forfaits.csv`; l’ordine delle colonne è libero."), "fault.price-cell": ("`{column}` holds `{value}`; a value like `{wanted}` is wanted.", "`{column}` contient `{value}` ; il faut une valeur comme `{wanted}`.", "`{column}` contiene `{value}`; serve un valore come `{wanted}`."), "fault.price-cell.do": ("Correct the cell. Numbers are above 0, with a point, without unit or thousands separator; the price of a package has at most two decimals.", "Corrigez la cellule. Un nombre est supérieur à 0, avec un point, sans unité ni séparateur de milliers ; le prix d’un forfait a au plus deux décimales.", "Correggi la cella. Un numero è maggiore di 0, con il punto, senza unità né separatore delle migliaia; il prezzo di un forfait ha al massimo due decimali."), "fault.price-twice": ("One offer of {gpu} has two prices: {there} ({first}) and {here}.", "Une même offre de {gpu} a deux prix : {there} ({first}) et {here}.", "Una stessa offerta di {gpu} ha due prezzi: {there} ({first}) e {here}."), "fault.price-twice.do": ("Keep the price that holds and delete the other row.", "Gardez le prix valable et supprimez l’autre ligne.", "Tieni il prezzo valido ed elimina l’altra riga."),
    "fault.price-gpu-unknown": ("The catalogue holds no card named `{gpu}`. Names it holds: {near}.", "Le catalogue n’a pas de carte nommée `{gpu}`. Noms qu’il contient : {near}.", "Il catalogo non ha una scheda di nome `{gpu}`. Nomi che contiene: {near}."), "fault.price-gpu-unknown.do": ("Use one of these names, or add the card with its price and source to a catalogue.", "Employez un de ces noms, ou ajoutez la carte à un catalogue avec son prix et sa source.", "Usa uno di questi nomi, o aggiungi la scheda a un catalogo con prezzo e fonte."), "fault.price-gpu-several": ("`{gpu}` may name several cards: {near}.", "`{gpu}` peut désigner plusieurs cartes : {near}.", "`{gpu}` può indicare più schede: {near}."), "fault.price-gpu-several.do": ("Type one of these names in full.", "Écrivez l’un de ces noms en entier.", "Scrivi per intero uno di questi nomi."), "fault.price-days-unknown": ("Price unknown: {gpu} has no package for this number of days: {days}. Days in the catalogue: {held}.", "Prix inconnu : {gpu} n’a pas de forfait pour ce nombre de jours : {days}. Jours au catalogue : {held}.", "Prezzo sconosciuto: {gpu} non ha un forfait per questo numero di giorni: {days}. Giorni a catalogo: {held}."), "fault.price-days-unknown.do": ("Ask for a length the catalogue holds, or add this one with its price and source. No price is guessed.", "Demandez une durée du catalogue, ou ajoutez celle-ci avec son prix et sa source. Aucun prix n’est deviné.", "Chiedi una durata a catalogo, o aggiungi questa con prezzo e fonte. Nessun prezzo viene indovinato."), "fault.price-offers-several": ("Several packages of {gpu} for this number of days ({days}): {held}.", "Plusieurs forfaits de {gpu} pour ce nombre de jours ({days}) : {held}.", "Più forfait di {gpu} per questo numero di giorni ({days}): {held}."), "fault.price-offers-several.do": ("Leave the number of days out to see them all, or use a catalogue that holds one of them.", "Omettez le nombre de jours pour les voir tous, ou prenez un catalogue qui n’en contient qu’un.", "Ometti il numero di giorni per vederli tutti, o usa un catalogo che ne contenga uno solo."), "fault.price-option": ("The value `{value}` does not fit here; write for example `{wanted}`.", "La valeur `{value}` ne convient pas ici ; écrivez par exemple `{wanted}`.", "Il valore `{value}` qui non è adatto; scrivi per esempio `{wanted}`."), "fault.price-option.do": ("Correct the option; `--help` shows how each is written.", "Corrigez l’option ; `--help` montre comment chacune s’écrit.", "Correggi l’opzione; `--help` mostra come si scrive ciascuna."), "fault.price-gpu-spellings": ("`{gpu}` and `{other}` ({first}) are two spellings of one card.", "`{gpu}` et `{other}` ({first}) sont deux écritures d’une même carte.", "`{gpu}` e `{other}` ({first}) sono due grafie della stessa scheda."), "fault.price-gpu-spellings.do": ("Write one and the same name in both rows, and in the manifest.", "Écrivez le même nom dans les deux lignes, et dans le manifeste.", "Scrivi lo stesso nome nelle due righe, e nel manifesto."), "fault.price-option-unknown": ("The command has no such option.", "La commande n’a pas cette option.", "Il comando non ha questa opzione."), "fault.price-option-unknown.do": ("See the options with `--help`.", "Consultez les options avec `--help`.", "Vedi le opzioni con `--help`."), "fault.price-option-missing": ("The option or its value is missing.", "L’option ou sa valeur manque.", "Manca l’opzione o il suo valore."), "fault.price-option-missing.do": ("Write for example `{option} {wanted}`.", "Écrivez par exemple `{option} {wanted}`.", "Scrivi per esempio `{option} {wanted}`."),
}  # fmt: skip

if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a narrow space is in no code page
    sys.exit(main(sys.argv[1:]))
