"""What every bench gives: one comparison a row, and how a table of them is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEAD = ("what", "ours", "beside", "ratio", "limit", "holds")


@dataclass(frozen=True)
class Row:
    """One thing measured beside another in the same run.

    Attributes:
        name: what was measured.
        ours: its figure with its unit.
        beside: the baseline's name, with its figure where it has one.
        ratio: of ours to the baseline's; None: it could not be measured here, `ours` says why.
        limit: what the ratio is promised to keep to; None: nothing is promised at this size.
        least: the limit is the least that is promised, not the most.
        bound: the end of the ratio's interval that is held against the limit; None: the ratio itself is.
    """

    name: str
    ours: str
    beside: str
    ratio: float | None
    limit: float | None = None
    least: bool = False
    bound: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the limit is kept; None where there is none, or nothing was measured."""
        if self.limit is None or self.ratio is None:
            return None
        held = self.ratio if self.bound is None else self.bound
        return held >= self.limit if self.least else held <= self.limit

    def cells(self) -> tuple[str, ...]:
        """The row as it is printed."""
        limit = "" if self.limit is None else f"{'≥' if self.least else '≤'} {self.limit:g}"
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}" if self.ratio < 1 else f"{self.ratio:.2f}"
        if self.bound is not None:
            ratio += f" (from {self.bound:.3f})"
        return self.name, self.ours, self.beside, ratio, limit, {True: "yes", False: "NO", None: ""}[self.holds]


def seconds(value: float) -> str:
    """Seconds, or milliseconds below a tenth of one."""
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def compared(
    name: str, ours: float, baseline: str, theirs: float, limit: float | None = None, *, least: bool = False
) -> Row:
    """The row of two times in seconds; with `least`, the ratio says how many times as fast ours is."""
    ratio = theirs / ours if least else ours / theirs
    return Row(name, seconds(ours), f"{baseline}: {seconds(theirs)}", ratio, limit, least)


def plain_table(rows: Sequence[Row]) -> str:
    """The rows as one table of plain text."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]]) + "\n"


def markdown_table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [HEAD, tuple("---" for _ in HEAD), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines) + "\n"
