"""Costs: packages and budgets, then apart from them other expenses and hourly offers, as a section of the page."""

from __future__ import annotations

from decimal import Decimal

from lab.messages import DASH
from lab.report.blocks import Block, Cell, Column, Fold, Line, Lines, Section, Table, Text
from lab.report.document_plain import Json
from lab.report.words import MARKS, Words

_TOTALS = ("warning.expense_missing", "warning.expense_currencies")  # why totals of other expenses do not compare


def costs(document: Json, words: Words) -> Section:
    """Packages and committed budgets, then apart from them other expenses, and hourly offers for comparison."""
    columns = [
        Column(words.text(f"column.{name}"), numeric=numeric)
        for name, numeric in (
            ("variant", False), ("package", False), ("covers", True), ("committed", True),
            ("deliverables", True), ("cost", True), ("catalogue", False),
        )
    ]  # fmt: skip
    rows = [_cost_row(one, document, words) for one in document["variants"]]
    if any(one["rental_reference"] for one in document["variants"]):
        columns.append(Column(words.text("column.rental_reference")))
        rows = [
            (*row, Cell(one["rental_reference"] or DASH)) for row, one in zip(rows, document["variants"], strict=True)
        ]
    blocks: list[Block] = [Table("costs", words.text("costs.caption"), tuple(columns), tuple(rows))]
    blocks += [*_expenses(document, words), *_by_the_hour(document, words)]
    sensitivity = document["decision"]["sensitivity"]
    if sensitivity:
        blocks.append(
            Fold(words.text("costs.sensitivity"), (Lines(tuple(Line(words.say(one)) for one in sensitivity)),))
        )
    return Section("costs", words.text("costs.title"), words.text("costs.intro"), tuple(blocks))


def _cost_row(variant: Json, document: Json, words: Words) -> tuple[Cell, ...]:
    mark = words.text("price.mark") if variant["example_price"] else None
    committed = words.price(variant["committed"], variant["currency"], example=False)
    price = next((gate for gate in variant["gates"] if gate["gate"] == "price"), None)
    unknown = mark if variant["committed"] is not None or price is None else words.say(price)
    planned = len(document["protocol"]["planned_deliverables"])
    accepted = variant["accepted_deliverables"]
    deliverables = (
        Cell(DASH, words.text("cost.not_stated"))
        if accepted is None
        else Cell(words.text("of", part=accepted, whole=planned) if planned else words.messages.number(accepted, 0))
    )
    cost = (
        Cell(words.price(variant["cost_per_validated_corpus"], variant["currency"], example=False), mark)
        if variant["cost_status"] == "value"
        else Cell(DASH, words.text(f"cost.{variant['cost_status']}"))
    )
    offer = variant["offer"]
    catalogue = Cell(offer["catalogue_version"], offer["source"]) if offer else Cell(DASH)
    return (
        Cell(variant["id"], words.short(variant["id"])),
        _package(variant, words),
        Cell(words.hours(variant["covers_hours"])),
        Cell(committed, unknown),
        deliverables,
        cost,
        catalogue,
    )


def _package(variant: Json, words: Words) -> Cell:
    offer = variant["offer"]
    if offer is None:
        return Cell(DASH, words.text("no_package"))
    if offer["days"] is None:
        mark = words.text("price.mark") if variant["example_price"] else None
        return Cell(offer["name"], beside(_hourly_terms(offer, variant["lots"], words), mark))
    lots = words.count("package.lots", variant["lots"] or 1, price=words.price(
        offer["price"], offer["currency"], example=variant["example_price"]))  # fmt: skip
    parts = [lots, words.count("package.of_cards", variant["cards"] or 0)]
    parts.append(words.count("package.length", offer["days"]))
    if (variant["periods"] or 1) > 1:
        parts.append(words.count("package.periods", variant["periods"]))
    return Cell(offer["name"], ", ".join(parts))


def _expenses(document: Json, words: Words) -> tuple[Block, ...]:
    """The other expenses, and beside them the items that one variant leaves out or that stand in two currencies."""
    if not document["expenses"]:
        return (Text(words.text("expenses.none")),)
    columns = tuple(
        Column(words.text(f"column.{name}"), numeric=name == "amount")
        for name in ("item", "variant", "amount", "justification")
    )
    rows = tuple(
        (
            Cell(one["item"]),
            Cell(one["variant"] or words.text("all_variants")),
            Cell(words.price(one["amount"], one["currency"], example=False)),
            Cell(one["justification"] or DASH),
        )
        for one in document["expenses"]
    )
    table = Table("expenses", words.text("expenses.caption"), columns, rows)
    missing = tuple(
        Line(words.text("colon", before=variant["id"], after=words.say(one)), "unknown", MARKS["unknown"])
        for variant in document["variants"]
        for one in variant["warnings"]
        if one["message"]["key"] in _TOTALS
    )
    return (table, Lines(missing)) if missing else (table,)


def _by_the_hour(document: Json, words: Words) -> tuple[Block, ...]:
    """Hourly offers of the cards beside their packages; nothing when the catalogue holds none."""
    if not document["hourly"]:
        return ()
    columns = tuple(
        Column(words.text(f"column.{name}"), numeric=numeric)
        for name, numeric in (
            ("variant", False), ("hourly", False), ("against", False), ("by_the_hour", True), ("break_even", True),
            ("catalogue", False),
        )
    )  # fmt: skip
    rows = tuple(_hourly_row(one, words) for one in document["hourly"])
    return (Table("hourly", words.text("hourly.caption"), columns, rows),)


def _hourly_row(one: Json, words: Words) -> tuple[Cell, ...]:
    offer, billed, package = one["offer"], one["by_the_hour"], one["package"]
    why = words.say(one) if one["message"] else None
    if offer is None:
        return (Cell(one["variant"], words.short(one["variant"])), Cell(DASH, why), *[Cell(DASH)] * 4)
    mark = words.text("price.mark") if offer["catalogue_version"].startswith("example") else None
    cost = words.text("hourly.billed", hours=words.hours(billed["covers_hours"])) if billed else None
    crossing = one["break_even_hours"]
    return (
        Cell(one["variant"], words.short(one["variant"])),
        Cell(offer["name"], _hourly_terms(offer, one["lots"], words)),
        package_cell(package, words, priced=True) if package else Cell(DASH, why),
        Cell(words.price(billed["committed"], billed["currency"], example=False), beside(cost, mark))
        if billed
        else Cell(DASH, why),
        Cell(
            DASH if crossing is None else f"{words.messages.number(crossing, 2)}\u00a0h",
            None if package is None or crossing is not None else why,
        ),
        Cell(offer["catalogue_version"], offer["source"]),
    )


def _hourly_terms(offer: Json, lots: int | None, words: Words) -> str:
    """Lots, price (not rounded), region, increment and minimum of an hourly offer."""
    price = f"{words.messages.amount(Decimal(offer['price']), None)}\u00a0{offer['currency']}"
    parts = [words.count("hourly.lots", lots or 1, price=price)]
    parts += [offer["region"]] if offer["region"] else []
    parts.append(words.count("hourly.increment", offer["increment_minutes"]))
    if offer["minimum_hours"] is not None:
        parts.append(words.text("hourly.minimum", hours=words.hours(offer["minimum_hours"])))
    return ", ".join(parts)


def package_cell(package: Json, words: Words, *, priced: bool) -> Cell:
    """A package that stands beside the decision: its name, its length and cards, and what it commits if `priced`."""
    parts = [words.count("package.length", package["days"])] if package["days"] else []
    if package["periods"] > 1:
        parts.append(words.count("package.periods", package["periods"]))
    parts.append(words.count("package.of_cards", package["cards"]))
    if priced:
        parts.append(words.price(package["committed"], package["currency"], example=package["example_price"]))
    return Cell(package["name"], ", ".join(parts))


def beside(*notes: str | None) -> str | None:
    """Quiet notes under a cell, those that are there; None when there is none."""
    return ", ".join(one for one in notes if one) or None
