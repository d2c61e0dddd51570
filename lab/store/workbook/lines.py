"""The computed lines of `forfaits`, `calendar` and `summary`: each cell's live formula with the value it has now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from lab.messages import Messages
from lab.model.attempt import Attempt
from lab.model.catalogue import PackageChoice
from lab.model.decision import Separation, Summary, VariantDecision
from lab.store.moments import zone_named
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.formulas import Formulas
from lab.store.workbook.page import Formula, Frame
from lab.store.workbook.tables import SUMMARY, Table
from lab.store.workbook.values import Group, Shown, choice_values, cost_values, cost_words, measured_values, span

Line = dict[str, object]


@dataclass(frozen=True)
class Figures:
    """What the tool decided, where it is known: it knows exclusions by rule, seals and tests, which no formula does.

    Attributes:
        summaries: figures of each variant, corpus and seed.
        variants: budgets and answers.
        separations: which pairs of variants are told apart.
    """

    summaries: Sequence[Summary] = ()
    variants: Sequence[VariantDecision] = ()
    separations: Sequence[Separation] = ()


@dataclass(frozen=True)
class Lines:
    """Makes the lines of one workbook; `row` is the sheet row of a line, `first` the column of its first cell."""

    content: WorkbookContent
    frame: Frame
    words: Messages
    figures: Figures = Figures()

    def choices(self) -> list[PackageChoice]:
        """One choice a variant, in the manifest's order, then those that stand there all the same."""
        chosen, gpus = {one.variant: one for one in self.content.choices}, dict(self.frame.variants)
        names = [*gpus, *(name for name in chosen if name not in gpus)]
        return [chosen.get(name, PackageChoice(name, gpus.get(name))) for name in names]

    def choice(self, choice: PackageChoice | None, row: int, first: int) -> Line:
        """A line of choices; None: ready for a variant that is still to come."""
        texts = Formulas(self.words).choice(row, first)
        if choice is None:
            return _ready(texts)
        values = choice_values(choice, self.content, self.words)
        return {
            "variant": choice.variant, "gpu": choice.gpu, "days": choice.days, "lots": choice.lots,
            "periods": choice.periods if choice.days else None, "rental_reference": choice.rental_reference,
            **{name: Formula(text, values[name]) for name, text in texts.items()},
        }  # fmt: skip

    def window(self, variant: str | None, row: int, first: int) -> Line:
        """A line of access windows, in the protocol's zone."""
        texts = Formulas(self.words).window(row, first)
        if variant is None:
            return _ready(texts)
        zone, window = zone_named(self.content.protocol.time_zone), span(self.content, variant)
        unknown = self.words.text("word.unknown")
        values: dict[str, str | float | datetime] = {
            "window_start": window.start.astimezone(zone) if window else unknown,
            "window_end": window.end.astimezone(zone) if window else unknown,
            "window_hours": float(window.hours) if window else unknown,
        }
        return {"window_variant": variant, **{name: Formula(text, values[name]) for name, text in texts.items()}}

    @property
    def summary_table(self) -> Table:
        """The table `summary`, without the seed where only one is planned."""
        columns = [one for one in SUMMARY.columns if one.name != "seed" or len(self.frame.seeds) > 1]
        return replace(SUMMARY, columns=tuple(columns))

    def groups(self) -> list[Group]:
        """What the lines of `summary` are about: every variant on every corpus, per seed where several are planned."""
        seeds = self.frame.seeds if len(self.frame.seeds) > 1 else (None,)
        names = [name for name, _ in self.frame.variants]
        return [Group(name, corpus, seed) for name in names for corpus in self.frame.corpora for seed in seeds]

    def summary(self, group: Group | None, row: int, table: Table) -> Line:
        """A line of `summary`; where the tool's own figure is another than the formula's, the figure stands instead."""
        texts = Formulas(self.words).summary(row, table)
        if group is None:
            return _ready(texts)
        choice = self._choices.get(group.variant, PackageChoice(group.variant))
        priced = choice_values(choice, self.content, self.words)
        values = {
            **measured_values(group, self._rows.get(group.variant, ())),
            **cost_values(group.variant, self.content, priced, self.words),
        }
        known = {**_measured(group, self._summaries.get(group.variant, ())), **self._costs(group.variant)}
        cells = {
            name: Formula(texts[name], value) if known.get(name, value) == value else known[name]
            for name, value in values.items()
        }
        own = {"variant": group.variant, "corpus": group.corpus, "seed": group.seed}
        return {**own, **cells, "separation": self._separation(group), "answer": self._answer(group.variant)}

    # What belongs to each variant: found once, and not anew for each line, of which there are as many as variants.

    @cached_property
    def _choices(self) -> Mapping[str, PackageChoice]:
        return {one.variant: one for one in self.choices()}

    @cached_property
    def _rows(self) -> Mapping[str | None, Sequence[Attempt]]:
        found: dict[str | None, list[Attempt]] = {}
        for row in self.content.rows:
            found.setdefault(row.variant, []).append(row)
        return found

    @cached_property
    def _separations(self) -> Mapping[str, Sequence[Separation]]:
        found: dict[str, list[Separation]] = {}
        for one in self.figures.separations:
            for variant in (one.a, one.b):
                found.setdefault(variant, []).append(one)
        return found

    @cached_property
    def _summaries(self) -> Mapping[str, Sequence[Summary]]:
        found: dict[str, list[Summary]] = {}
        for one in self.figures.summaries:
            found.setdefault(one.variant, []).append(one)
        return found

    def _costs(self, variant: str) -> dict[str, Shown]:
        found = next((one for one in self.figures.variants if one.id == variant), None)
        if found is None or found.committed is None:
            return {}
        known: dict[str, Shown] = {"committed": found.committed, "currency": found.currency}
        if found.accepted_deliverables is not None:
            known["accepted_deliverables"] = found.accepted_deliverables
            cost = cost_words(found.cost_status, found.cost_per_validated_corpus, self.words)
            known["cost_per_validated_corpus"] = cost
        return known

    def _separation(self, group: Group) -> str | None:
        """The variants that this one is not told apart from by its durations; None where nothing was compared."""
        own = [
            one
            for one in self._separations.get(group.variant, ())
            if one.corpus == group.corpus and group.seed in {None, one.seed}
        ]
        if not own:
            return None
        near = [one.b if one.a == group.variant else one.a for one in own if not one.separated]
        names = list(dict.fromkeys(near))
        return self.words.text("word.not_separated", names=names) if names else self.words.text("word.separated")

    def _answer(self, variant: str) -> str | None:
        """Eligible, or the reason of the first gate that did not pass, in words."""
        found = next((one for one in self.figures.variants if one.id == variant), None)
        if found is None:
            return None
        if found.eligible:
            return self.words.text("word.eligible")
        first = next((gate.reason for gate in found.gates if gate.result != "passed"), None)
        # Backticks mark codes in pages; a cell has no such marks.
        return None if first is None else self.words.text(first.key, **first.values).replace("`", "")


def _ready(texts: Mapping[str, str]) -> Line:
    return {name: Formula(text, "") for name, text in texts.items()}


def _measured(group: Group, summaries: Sequence[Summary]) -> dict[str, Shown]:
    """The tool's figures of a line, from the `summaries` of its variant; none where it shows several seeds as one."""
    own = [one for one in summaries if one.corpus == group.corpus]
    own = own if group.seed is None else [one for one in own if one.seed == group.seed]
    if len(own) != 1:
        return {}
    found = own[0]
    counts: dict[str, Shown] = {
        "attempts": found.attempts, "accepted_attempts": found.accepted, "failed_attempts": found.failed,
    }  # fmt: skip
    durations = {"median_s": found.median_s, "min_s": found.min_s, "max_s": found.max_s}
    return {**counts, **{name: value for name, value in durations.items() if value is not None}}
