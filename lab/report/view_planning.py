"""Planning hypotheses: projected, not observed, in a section of their own and in no figure of the decision."""

from __future__ import annotations

from lab.messages import DASH
from lab.report.blocks import Block, Cell, Column, Line, Lines, Section, Table, Text
from lab.report.document_plain import Json
from lab.report.view_costs import package_cell
from lab.report.words import Words

_HOUR_DIGITS = 3
_COLUMNS = (
    ("variant", None), ("planned", ""), ("slowest", "s"), ("beside", "s"), ("needed", "h"), ("smallest", None),
    ("its_budget", ""),
)  # fmt: skip


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
        rows = tuple(_row(one, projected, document, words) for one in projected)
        blocks += [
            Table("planning", words.text("planning.caption"), columns, rows),
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


def _row(one: Json, projected: list[Json], document: Json, words: Words) -> tuple[Cell, ...]:
    write = words.seconds([each[name] for each in projected for name in ("slowest_s", "overhead_s")])
    package = one["package"]
    return (
        Cell(one["variant"], words.short(one["variant"])),
        Cell(words.messages.number(one["deliverables"], 0)),
        Cell(write(one["slowest_s"]), one["corpus"] if len(document["corpora"]) > 1 else None),
        Cell(write(one["overhead_s"])),
        Cell(words.messages.number(one["window_hours"], _HOUR_DIGITS)),
        package_cell(package, words, priced=False) if package else Cell(DASH),
        Cell(
            words.price(package["committed"], package["currency"], example=False),
            words.text("price.mark") if package["example_price"] else None,
        )
        if package
        else Cell(DASH),
    )


def _phases(one: Json, words: Words) -> str:
    return words.all_of(words.text(f"phase.{name}") for name in one["left_out"])
