"""Eligibility and calendar: what the decision stands on, as sections of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.messages import DASH
from lab.model.decision import GATES
from lab.report.blocks import Block, Cell, Column, Fold, Line, Lines, Section, Table, Text
from lab.report.charts import charts_of
from lab.report.document_plain import Json
from lab.report.words import MARKS, Words


def gates(document: Json, words: Words) -> Section:
    """Variants by gates, with marks and words, then the reason of each."""
    rows = tuple(_gate_row(one, words) for one in document["variants"])
    columns = (Column(words.text("column.variant")), *(Column(words.shared(f"gatename.{gate}")) for gate in GATES))
    blocks: list[Block] = [Table("gates", words.text("gates.caption"), columns, rows, compact=True)]
    if open_ones := tuple(_open_gates(document["variants"], words)):
        blocks.append(Lines(open_ones, words.text("gates.open")))
    blocks.append(Fold(words.text("gates.evidence"), tuple(_evidence(one, words) for one in document["variants"])))
    return Section("gates", words.text("gates.title"), words.text("gates.intro"), tuple(blocks))


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
    charts = charts_of("calendar", document, words)
    numbers = Fold(words.text("show_numbers"), (table,)) if charts else table
    return Section("calendar", title, intro, (Text(said), *charts, windows, numbers))


def _gate_row(variant: Json, words: Words) -> tuple[Cell, ...]:
    by_name = {gate["gate"]: gate for gate in variant["gates"]}
    failed = any(gate["result"] == "failed" for gate in variant["gates"])
    word = words.text("eligible" if variant["eligible"] else "not_eligible" if failed else "still_open")
    cells = [Cell(variant["id"], _under(words.short(variant["id"]), word))]
    for gate in GATES:
        found = by_name.get(gate)
        cells.append(_state(found["result"], words) if found else Cell(DASH))
    return tuple(cells)


def _open_gates(variants: Sequence[Json], words: Words) -> Iterator[Line]:
    """Each gate that did not pass, with its reason; the variants that have both in common stand in one line."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for variant in variants:
        for gate in variant["gates"]:
            if gate["result"] != "passed":
                found.setdefault((gate["gate"], gate["result"], words.say(gate)), []).append(variant["id"])
    for (name, result, why), ids in found.items():
        who = f"{words.all_of(ids)}, {words.shared('gatename.' + name)}"
        yield Line(words.text("colon", before=who, after=why), result, MARKS[result])


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
