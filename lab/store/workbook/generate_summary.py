"""The `summary` sheet: one line per variant (and corpus, and seed), readable by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lab.messages import Messages
from lab.model.catalogue import PackageChoice
from lab.model.decision import Summary, VariantDecision
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.formulas import Formulas
from lab.store.workbook.page import Formula, Frame, Page
from lab.store.workbook.tables import SUMMARY
from lab.store.workbook.values import Group, Shown, choice_values, cost_values, cost_words, measured_values

_HEADER = 4


def summary_sheet(
    page: Page,
    content: WorkbookContent,
    frame: Frame,
    summaries: Sequence[Summary],
    variants: Sequence[VariantDecision],
) -> None:
    """Live formulas; where the tool's own figure is another than the formula's, the figure stands instead."""
    page.title("summary")
    words, formulas = page.words, Formulas(page.words)
    several = len(frame.seeds) > 1
    left_out = {*([] if several else ["seed"]), *([] if variants else ["answer"])}
    table = replace(SUMMARY, columns=tuple(one for one in SUMMARY.columns if one.name not in left_out))
    choices = {one.variant: one for one in content.choices}
    rows: list[dict[str, object]] = []
    for group in groups(frame, several=several):
        choice = choices.get(group.variant, PackageChoice(group.variant))
        values = {
            **measured_values(group, content.rows),
            **cost_values(group.variant, content, choice_values(choice, content, words), words),
        }
        known = {**_measured(group, summaries), **_costs(group.variant, variants, words)}
        texts = formulas.summary(_HEADER + 1 + len(rows), table)
        cells = {
            name: Formula(texts[name], value) if known.get(name, value) == value else known[name]
            for name, value in values.items()
        }
        own = {"variant": group.variant, "corpus": group.corpus, "seed": group.seed}
        rows.append({**own, **cells, "answer": _answer(group.variant, variants, words)})
    page.widths(table, 1)
    last = page.table(table, _HEADER, 1, rows)
    page.sheet.freeze_panes(_HEADER, 1)
    page.prints(_HEADER, (last, len(table.columns)))
    page.protect()


def groups(frame: Frame, *, several: bool) -> list[Group]:
    """What the lines are about: every variant on every corpus, per seed where several are planned."""
    seeds = frame.seeds if several else (None,)
    return [Group(variant, corpus, seed) for variant, _ in frame.variants for corpus in frame.corpora for seed in seeds]


def _measured(group: Group, summaries: Sequence[Summary]) -> dict[str, Shown]:
    own = [one for one in summaries if (one.variant, one.corpus) == (group.variant, group.corpus)]
    own = own if group.seed is None else [one for one in own if one.seed == group.seed]
    if len(own) != 1:
        return {}
    found = own[0]
    counts: dict[str, Shown] = {
        "attempts": found.attempts, "accepted_attempts": found.accepted, "failed_attempts": found.failed,
    }  # fmt: skip
    durations = {"median_s": found.median_s, "min_s": found.min_s, "max_s": found.max_s}
    return {**counts, **{name: value for name, value in durations.items() if value is not None}}


def _costs(variant: str, variants: Sequence[VariantDecision], words: Messages) -> dict[str, Shown]:
    found = next((one for one in variants if one.id == variant), None)
    if found is None or found.committed is None:
        return {}
    known: dict[str, Shown] = {"committed": found.committed, "currency": found.currency}
    if found.accepted_deliverables is not None:
        known["accepted_deliverables"] = found.accepted_deliverables
        known["cost_per_validated_corpus"] = cost_words(found.cost_status, found.cost_per_validated_corpus, words)
    return known


def _answer(variant: str, variants: Sequence[VariantDecision], words: Messages) -> str | None:
    """Eligible, or the reason of the first gate that did not pass, in words."""
    found = next((one for one in variants if one.id == variant), None)
    if found is None:
        return None
    if found.eligible:
        return words.text("word.eligible")
    first = next((gate.reason for gate in found.gates if gate.result != "passed"), None)
    # Backticks mark codes in pages; a cell has no such marks.
    return None if first is None else words.text(first.key, **first.values).replace("`", "")
