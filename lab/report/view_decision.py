"""Eligibility, costs and calendar: what the decision stands on, as sections of the page."""

from __future__ import annotations

from lab.model.decision import GATES
from lab.report.blocks import Block, Cell, Column, Fold, Line, Lines, Section, Table, Text
from lab.report.document_plain import DASH, Json
from lab.report.words import MARKS, Words


def gates(document: Json, words: Words) -> Section:
    """Variants by gates, with marks and words, then the reason of each."""
    rows = tuple(_gate_row(one, words) for one in document["variants"])
    columns = (Column(words.text("column.variant")), *(Column(words.shared(f"gatename.{gate}")) for gate in GATES))
    blocks: list[Block] = [Table("gates", words.text("gates.caption"), columns, rows, compact=True)]
    open_ones = tuple(
        Line(words.text("colon", before=_check(variant, gate, words), after=words.say(gate)),
             gate["result"], MARKS[gate["result"]])
        for variant in document["variants"] for gate in variant["gates"] if gate["result"] != "passed"
    )  # fmt: skip
    if open_ones:
        blocks.append(Lines(open_ones, words.text("gates.open")))
    blocks.append(Fold(words.text("gates.evidence"), tuple(_evidence(one, words) for one in document["variants"])))
    return Section("gates", words.text("gates.title"), words.text("gates.intro"), tuple(blocks))


def costs(document: Json, words: Words) -> Section:
    """Packages and committed budgets, then the other expenses apart."""
    columns = tuple(
        Column(words.text(f"column.{name}"), numeric=numeric)
        for name, numeric in (
            ("variant", False), ("package", False), ("covers", True), ("committed", True),
            ("deliverables", True), ("cost", True), ("catalogue", False),
        )
    )  # fmt: skip
    rows = tuple(_cost_row(one, document, words) for one in document["variants"])
    blocks: list[Block] = [Table("costs", words.text("costs.caption"), columns, rows)]
    blocks.append(_expenses(document, words))
    sensitivity = document["decision"]["sensitivity"]
    if sensitivity:
        blocks.append(
            Fold(words.text("costs.sensitivity"), (Lines(tuple(Line(words.say(one)) for one in sensitivity)),))
        )
    return Section("costs", words.text("costs.title"), words.text("costs.intro"), tuple(blocks))


def calendar(document: Json, words: Words) -> Section:
    """The tasks that keep the rental, the window they span, and the deadline."""
    title, intro = words.text("calendar.title"), words.text("calendar.intro")
    deadline = document["protocol"]["deadline"]
    said = (
        words.text("calendar.deadline", moment=words.moment(deadline))
        if deadline
        else words.text("calendar.no_deadline")
    )
    if not document["calendar"]:
        return Section("calendar", title, intro, (Text(words.text("calendar.none")), Text(said)))
    columns = tuple(Column(words.text(f"column.{name}")) for name in ("task", "variant", "start", "end"))
    rows = tuple(
        (
            Cell(one["task"], one["notes"]),
            Cell(one["variant"] or words.text("all_variants")),
            Cell(words.moment(one["start"])),
            Cell(words.moment(one["end"])),
        )
        for one in document["calendar"]
    )
    table = Table("calendar-tasks", words.text("calendar.caption"), columns, rows)
    windows = Table(
        "windows",
        words.text("windows.caption"),
        (
            Column(words.text("column.variant")),
            *(Column(words.text(f"column.{one}")) for one in ("start", "end")),
            *(Column(words.text(f"column.{one}"), numeric=True) for one in ("window", "covers", "left")),
        ),
        tuple(_window_row(one, words) for one in document["variants"]),
    )
    return Section("calendar", title, intro, (Text(said), windows, table))


def _gate_row(variant: Json, words: Words) -> tuple[Cell, ...]:
    by_name = {gate["gate"]: gate for gate in variant["gates"]}
    failed = any(gate["result"] == "failed" for gate in variant["gates"])
    word = words.text("eligible" if variant["eligible"] else "not_eligible" if failed else "still_open")
    cells = [Cell(variant["id"], _under(words.short(variant["id"]), word))]
    for gate in GATES:
        found = by_name.get(gate)
        cells.append(_state(found["result"], words) if found else Cell(DASH))
    return tuple(cells)


def _check(variant: Json, gate: Json, words: Words) -> str:
    return f"{variant['id']}, {words.shared('gatename.' + gate['gate'])}"


def _under(short: str | None, word: str) -> str:
    return f"{short}, {word}" if short else word


def _state(result: str, words: Words) -> Cell:
    return Cell(f"{MARKS[result]}\u00a0{words.text('state.' + result)}", state=result)


def _evidence(variant: Json, words: Words) -> Table:
    columns = tuple(Column(words.text(f"column.{name}")) for name in ("check", "result", "reason"))
    rows = tuple(
        (Cell(words.shared(f"gatename.{gate['gate']}")), _state(gate["result"], words), Cell(words.say(gate)))
        for gate in variant["gates"]
    )
    return Table(f"gates-{variant['id']}", words.text("gates.of", variant=variant["id"]), columns, rows)


def _cost_row(variant: Json, document: Json, words: Words) -> tuple[Cell, ...]:
    mark = words.text("price.mark") if variant["example_price"] else None
    committed = words.price(variant["committed"], variant["currency"], example=False)
    unknown = words.text("figure.budget.unknown") if variant["committed"] is None else mark
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
    lots = words.count("package.lots", variant["lots"] or 1, price=words.price(
        offer["price"], offer["currency"], example=variant["example_price"]))  # fmt: skip
    cards = words.count("package.of_cards", variant["cards"] or 0)
    parts = [lots, cards]
    if variant["days"]:
        parts.append(words.count("package.length", variant["days"]))
    if (variant["periods"] or 1) > 1:
        parts.append(words.count("package.periods", variant["periods"]))
    return Cell(offer["name"], ", ".join(parts))


def _expenses(document: Json, words: Words) -> Block:
    if not document["expenses"]:
        return Text(words.text("expenses.none"))
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
    return Table("expenses", words.text("expenses.caption"), columns, rows)


def _window_row(variant: Json, words: Words) -> tuple[Cell, ...]:
    window, covers = variant["window"], variant["covers_hours"]
    hours = window["hours"] if window else None
    left = covers - hours if covers is not None and hours is not None else None
    start, end = (window["start"], window["end"]) if window else (None, None)
    return (
        Cell(variant["id"], words.short(variant["id"])),
        Cell(words.moment(start), None if window else words.text("figure.window.unknown")),
        Cell(words.moment(end)),
        Cell(words.hours(hours)),
        Cell(words.hours(covers), None if covers is not None else words.text("no_package")),
        Cell(words.hours(left)),
    )
