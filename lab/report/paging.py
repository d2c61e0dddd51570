"""Long tables: the first rows stand in the page, all of them in compact data that the page's script builds rows of.

A table that may be long is made by columns, so that what thousands of rows share is said once and not row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lab.report.blocks import Cell, Choice, Column, Entries, Entry, Table, Tools
from lab.report.page import island
from lab.report.words import Words

ALL_IN_THE_PAGE = 200  # rows that a page holds as HTML; beyond, its size and the time it takes to open would be felt
FIRST = 50  # rows and entries that a reader without scripts, or on paper, still finds there
_CONTROLS = ("filter", "shown", "sort", "before", "after", "empty", "any")

_Raw = TypeVar("_Raw", bound=Hashable)
Texts = Sequence[str | None]


@dataclass(frozen=True)
class Stack:
    """The cells of one column, row by row: the parts of `Cell` as lists of one length."""

    column: Column
    text: Sequence[str]
    note: Texts | None = None
    state: Texts | None = None
    sort: Texts | None = None
    href: Texts | None = None
    mono: bool = False

    def cell(self, row: int) -> Cell:
        """The cell of one row."""
        parts = {name: values[row] for name in ("note", "state", "sort", "href") if (values := getattr(self, name))}
        return Cell(self.text[row], mono=self.mono, **parts)

    def coded(self) -> dict[str, object]:
        """The column as data: texts and all else that some cell has."""
        found: dict[str, object] = {"text": _coded(self.text)}
        for name in ("note", "state", "sort", "href"):
            values = getattr(self, name)
            if values and any(value is not None for value in values):
                found[name] = _coded(values)
        return {**found, "mono": True} if self.mono else found


def said(raw: Iterable[_Raw], say: Callable[[_Raw], str]) -> list[str]:
    """What `say` makes of each value; equal values are said once."""
    known: dict[_Raw, str] = {}
    return [known[one] if one in known else known.setdefault(one, say(one)) for one in raw]


def tools(words: Words, choices: Sequence[Choice] = ()) -> Tools:
    """The controls of a table that sorts, searches and pages, and filters by `choices`."""
    return Tools(**{name: words.text(f"tools.{name}") for name in _CONTROLS}, choices=tuple(choices))


def table(name: str, caption: str, stacks: Sequence[Stack], controls: Tools | None, words: Words) -> Table:
    """The table of these columns: whole, or its first rows with all of them as data and a sentence that says so."""
    count, columns = len(stacks[0].text), tuple(stack.column for stack in stacks)
    long = count > ALL_IN_THE_PAGE
    rows = tuple(tuple(stack.cell(row) for stack in stacks) for row in range(FIRST if long else count))
    if not long:
        return Table(name, caption, columns, rows, controls)
    data = str(island({"columns": [stack.coded() for stack in stacks]}))
    partial = words.text("attempts.partial", first=FIRST, all=count)
    return Table(name, caption, columns, rows, controls, data=data, partial=partial)


def entries(name: str, titles: Sequence[str], pairs: Sequence[tuple[str, Texts]]) -> Entries:
    """What cells link to: the entry at `place` has the id `entry_id(name, place)`; a pair without a value is left out.

    Args:
        name: where the ids begin.
        titles: of the entries.
        pairs: label and the value of each entry.
    """
    long = len(titles) > ALL_IN_THE_PAGE
    items = tuple(
        Entry(entry_id(name, place), title, tuple((label, value) for label, of in pairs if (value := of[place])))
        for place, title in enumerate(titles[: FIRST if long else None])
    )
    data = {"titles": titles, "pairs": [(label, _coded(of)) for label, of in pairs]} if long else None
    return Entries(name, items, None if data is None else str(island(data)))


def entry_id(name: str, place: int) -> str:
    """The id of an entry within the page; from its place, since a title is data and no id."""
    return f"{name}-{place}"


def _coded(values: Texts) -> dict[str, object]:
    """Values as `each`, or, where few differ, as `of` (the different ones) and `at` (the place of each in `of`)."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    if len(places) * 2 > len(values):
        return {"each": list(values)}
    return {"of": list(places), "at": [places[value] for value in values]}
