"""The `summary` sheet: one line per variant (and corpus, and seed), readable by itself."""

from __future__ import annotations

from lab.store.workbook.formulas import quoted
from lab.store.workbook.lines import Lines
from lab.store.workbook.page import Mark, Page

_HEADER = 4


def summary_sheet(page: Page, lines: Lines) -> None:
    """Live formulas, in lines for what the manifest compares and some that are ready for more."""
    page.title("summary")
    table, styles, words = lines.summary_table, page.styles, page.words
    groups = [*lines.groups(), *[None] * table.spare]
    rows = [lines.summary(group, _HEADER + 1 + place, table) for place, group in enumerate(groups)]
    page.widths(table, 1)
    last = page.table(table, _HEADER, 1, rows, spare=0)
    near = words.text("word.not_separated", names="")
    doubt, alarm = styles.doubt(), styles.alarm()
    in_words = Mark('AND(ISTEXT({{{0}}}),{{{0}}}<>"")', doubt)
    page.highlight(
        table, _HEADER + 1, 1, last,
        {
            "failed_attempts": (Mark("AND(ISNUMBER({failed_attempts}),{failed_attempts}>0)", alarm),),
            "separation": (Mark(f"LEFT({{separation}},{len(near)})={quoted(near)}", doubt),),
            "cost_per_validated_corpus": (
                Mark(f"{{cost_per_validated_corpus}}={quoted(words.text('word.undefined'))}", alarm),
                _of(in_words, "cost_per_validated_corpus"),
            ),
            "committed": (_of(in_words, "committed"),),
            "accepted_deliverables": (_of(in_words, "accepted_deliverables"),),
            "answer": (
                Mark(f'AND({{answer}}<>"",{{answer}}<>{quoted(words.text("word.eligible"))})', doubt),
            ),
        },
    )  # fmt: skip
    page.sheet.freeze_panes(_HEADER, 1)
    page.prints(_HEADER, None)
    # Two parts, each readable on paper: what was measured, what it costs; the variants stand beside both.
    cut, end = table.names.index("committed"), len(table.columns)
    bottom = _HEADER + max(1, len(groups) - table.spare)
    page.prints_parts(((1, 1, bottom, cut), (_HEADER, cut + 1, bottom, end)))
    page.sheet.repeat_columns(0)
    page.protect()


def _of(mark: Mark, name: str) -> Mark:
    return Mark(mark.holds.format(name), mark.look)
