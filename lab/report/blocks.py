"""What a page is made of: frozen pieces that hold texts already translated and formatted, and no HTML.

Each kind of block names the template that shows it, so that templates include and never compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Union


@dataclass(frozen=True)
class Cell:
    """One cell. `note` is a quiet line below; `sort` orders the column; `href` leads to a place of the same page.

    `state` is `passed`, `failed` or `unknown`, or `other` for what differs from most of its row.
    """

    text: str
    note: str | None = None
    state: str | None = None
    mono: bool = False
    sort: str | None = None
    href: str | None = None


@dataclass(frozen=True)
class Column:
    """One column: its label, unit and whether its cells are numbers (right-aligned)."""

    label: str
    unit: str | None = None
    numeric: bool = False


@dataclass(frozen=True)
class Choice:
    """A control that keeps the rows whose cell of `column` (from 0) has one of the texts `options`."""

    label: str
    column: int
    options: tuple[str, ...]


@dataclass(frozen=True)
class Tools:
    """Words of the controls that sort, search, filter and page a table when scripts run."""

    filter: str
    shown: str  # with {first}, {last}, {found} and {all}, filled in by the script
    sort: str
    before: str
    after: str
    empty: str
    any: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its header. `caption` says how to read it.

    A long one has its first `rows` only, `data` for the script (JSON with < > & escaped) and `partial`, which says so.
    """

    template: ClassVar[str] = "table.html.j2"
    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tools: Tools | None = None
    compact: bool = False
    data: str | None = None
    partial: str | None = None


@dataclass(frozen=True)
class Line:
    """One line of a list, with the mark and words of a state before it when it has one."""

    text: str
    state: str | None = None
    mark: str | None = None


@dataclass(frozen=True)
class Lines:
    """A short list of sentences under an optional lead."""

    template: ClassVar[str] = "lines.html.j2"
    items: tuple[Line, ...]
    lead: str | None = None


@dataclass(frozen=True)
class Pair:
    """A term and what is said of it; `mono` for hashes and ids; `id` for what other places of the page lead to."""

    term: str
    text: str
    mono: bool = False
    id: str | None = None


@dataclass(frozen=True)
class Pairs:
    """Terms with their texts: the glossary, the protocol."""

    template: ClassVar[str] = "pairs.html.j2"
    items: tuple[Pair, ...]
    wide: bool = False


@dataclass(frozen=True)
class Entry:
    """What lies behind one row, under an id that the row links to: (label, value) pairs."""

    id: str
    title: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Entries:
    """Entries that rows of a table link to; many of them have their first `items` only, and `data` for the script."""

    template: ClassVar[str] = "entries.html.j2"
    id: str
    items: tuple[Entry, ...]
    data: str | None = None


@dataclass(frozen=True)
class Text:
    """One paragraph."""

    template: ClassVar[str] = "text.html.j2"
    text: str


@dataclass(frozen=True)
class Prose:
    """The author's own Markdown, not yet HTML."""

    template: ClassVar[str] = "prose.html.j2"
    markdown: str
    language: str


@dataclass(frozen=True)
class Chart:
    """A figure as plotly takes it, its title (the finding) and what a screen reader says in its place."""

    template: ClassVar[str] = "chart.html.j2"
    id: str
    title: str
    caption: str
    spoken: str
    figure: str  # JSON with < > & escaped
    file_name: str
    download: str
    without_script: str


@dataclass(frozen=True)
class Fold:
    """Blocks that a reader opens; open in print."""

    template: ClassVar[str] = "fold.html.j2"
    summary: str
    blocks: tuple[Block, ...]


Block = Union[Table, Lines, Pairs, Entries, Text, Prose, Chart, Fold]  # noqa: UP007  (Fold refers to it before it exists)


@dataclass(frozen=True)
class Section:
    """One section of the page, with a sentence on how to read it."""

    id: str
    title: str
    intro: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Figure:
    """One of the four figures of the first screen."""

    caption: str
    value: str
    note: str | None


@dataclass(frozen=True)
class Reading:
    """A heading of the first screen with its few lines: why, how sure, what is not said."""

    title: str
    lines: Lines


@dataclass(frozen=True)
class Term:
    """A word of the glossary: the id of its entry, the forms in which texts use it, and what it means."""

    id: str
    forms: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class Switch:
    """One link of the language switch; `here` for the page's own language."""

    language: str
    name: str
    href: str
    here: bool


@dataclass(frozen=True)
class Note:
    """The decision note in one language."""

    language: str
    title: str
    running_header: str
    quiet_line: tuple[str, ...]
    question: str
    question_label: str
    question_language: str
    answer: str
    configuration: Pair | None
    figures: tuple[Figure, ...]
    reading: tuple[Reading, ...]
    sections: tuple[Section, ...]
    terms: tuple[Term, ...]
    words: Mapping[str, str] = field(default_factory=dict)  # the page's own labels: skip link, contents ...


@dataclass(frozen=True)
class Link:
    """A link within the report."""

    name: str
    href: str


@dataclass(frozen=True)
class Version:
    """One published version, with what changed since the one before."""

    id: str
    name: str
    href: str
    date: str | None
    answer: str
    changes: Lines
    files: tuple[Link, ...]


@dataclass(frozen=True)
class Versions:
    """The list of versions in one language, the newest first."""

    language: str
    title: str
    campaign: str
    intro: str
    versions: tuple[Version, ...]
    words: Mapping[str, str] = field(default_factory=dict)
