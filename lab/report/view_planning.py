"""Planning hypotheses: projected, not observed, in a section of their own and in no figure of the decision."""

from __future__ import annotations

from lab.messages import DASH
from lab.report.blocks import Block, Cell, Column, Line, Lines, Section, Table, Text
from lab.report.document_plain import Json
from lab.report.view_costs import beside, package_cell
from lab.report.words import Words

_HOUR_DIGITS = 3
_TIMES = "\u00a0\N{MULTIPLICATION SIGN}\u00a0"
_COLUMNS = (("variant", None), ("planned", ""), ("needed", "h"), ("smallest", None), ("its_budget", ""))
# The parts of the window, and the column that shows each.
_ADDENDS = {"passes": "slowest", "phases": "beside", "once": "once", "cool_downs": "cool_downs"}


def planning(document: Json, words: Words) -> Section:
    """The window that production would need, the smallest package that covers it and its budget, per variant."""
    title, intro = words.text("planning.title"), words.text("planning.intro")
    found = document["planning"]["variants"]
    projected = [one for one in found if one["window_hours"] is not None]
    blocks: list[Block] = []
    if projected:
        columns = tuple(
            Column(words.text(f"column.{name}"), unit or None, numeric=unit is not None) for name, unit in _COLUMNS
        )
        rows = tuple(_row(one, words) for one in projected)
        blocks += [
            Table("planning", words.text("planning.caption"), columns, rows),
            _addends(projected, document, words),
            Text(words.text("planning.not_in")),
        ]
    said = [(words.text("planning.left_out", phases=_phases(one, words)), one) for one in projected if one["left_out"]]
    said += [(words.say(one), one) for one in found if one["message"]]
    about: dict[str, list[str]] = {}
    for text, one in said:
        about.setdefault(text, []).append(one["variant"])
    lines = [Line(words.said_of(text, variants)) for text, variants in about.items()]
    if lines:
        blocks.append(Lines(tuple(lines)))
    return Section("planning", title, intro, tuple(blocks) or (Text(words.text("planning.none")),))


def _row(one: Json, words: Words) -> tuple[Cell, ...]:
    package = one["package"]
    return (
        Cell(one["variant"], words.short(one["variant"])),
        Cell(words.messages.number(one["deliverables"], 0)),
        Cell(words.messages.number(one["window_hours"], _HOUR_DIGITS)),
        package_cell(package, words, priced=False) if package else Cell(DASH),
        Cell(
            words.price(package["committed"], package["currency"], example=False),
            beside(
                f"{package['catalogue_version']}, {package['source']}",
                words.text("price.mark") if package["example_price"] else None,
            ),
        )
        if package
        else Cell(DASH),
    )


def _addends(projected: list[Json], document: Json, words: Words) -> Table:
    """What each window is the sum of: seconds in all, and below them how often and how long each time."""
    found = {one["variant"]: {each["part"]: each for each in one["addends"]} for one in projected}
    parts = [part for part in _ADDENDS if part != "once" or any(one[part]["seconds"] for one in found.values())]
    columns = (
        Column(words.text("column.variant")),
        *(Column(words.text(f"column.{_ADDENDS[part]}"), "s", numeric=True) for part in parts),
    )
    write = {part: words.seconds([one[part]["each_s"] for one in found.values()]) for part in parts}
    several = len(document["corpora"]) > 1
    rows = []
    for one in projected:
        cells = [Cell(one["variant"], words.short(one["variant"]))]
        for part in parts:
            each = found[one["variant"]][part]
            times = f"{words.messages.number(each['times'], 0)}{_TIMES}{write[part](each['each_s'])}"
            corpus = one["corpus"] if several and part == "passes" else None
            cells.append(Cell(write[part](each["seconds"]), beside(times if part != "once" else None, corpus)))
        rows.append(tuple(cells))
    return Table("planning-addends", words.text("planning.addends"), columns, tuple(rows))


def _phases(one: Json, words: Words) -> str:
    return words.all_of(words.text(f"phase.{name}") for name in one["left_out"])
