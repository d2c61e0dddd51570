"""What the formulas say when the file is made: the same figures, by the code that prices and judges.

A viewer that does not recalculate shows these; where the tool's own figure differs from what a formula can know (an
exclusion by rule, a deliverable that cites no accepted attempt), the tool's figure is written instead of the formula.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from lab.calcul_forfaits import cost_per_result
from lab.messages import DASH, Messages
from lab.model.attempt import FAILURES, Attempt
from lab.model.catalogue import PackageChoice, window_hours
from lab.model.reason import Reason
from lab.prices import quote
from lab.store.workbook.content import WorkbookContent

Shown = str | int | float | Decimal | datetime | None
_WHY = {
    "gate.price.unknown.no_card": "word.unknown_price",
    "gate.price.unknown.no_offer": "word.unknown_price",
    "gate.price.unknown.several": "word.several_prices",
    "gate.price.unknown.no_window": "word.window_unknown",
}


@dataclass(frozen=True)
class Span:
    """The access window of one variant as the calendar states it; aware moments, exact hours."""

    start: datetime
    end: datetime
    hours: Fraction


def span(content: WorkbookContent, variant: str) -> Span | None:
    """The span of a variant's tasks and of those of all; None without any (the product's method, section 4)."""
    own = [task for task in content.calendar if task.variant in {None, variant}]
    if not own:
        return None
    start = min((task.start for task in own), key=lambda moment: moment.astimezone(UTC))
    end = max((task.end for task in own), key=lambda moment: moment.astimezone(UTC))
    return Span(start, end, window_hours(start, end))


def choice_values(choice: PackageChoice, content: WorkbookContent, words: Messages) -> dict[str, Shown]:
    """The computed cells of one line of choices; without days it is rental by the hour."""
    if choice.gpu is None or choice.lots is None:
        return _no_quote(words.text("word.no_package"))
    window = span(content, choice.variant)
    found = quote(choice, content.offers, window.hours if window else None)
    if isinstance(found, Reason):
        return _no_quote(words.text(_WHY[found.key]))
    covered = window is not None and window.hours <= found.covers_hours
    return {
        "cards": found.cards,
        "committed": found.committed,
        "currency": found.currency,
        "covers_hours": found.covers_hours if isinstance(found.covers_hours, int) else float(found.covers_hours),
        "covers_window": words.text(
            "word.window_unknown" if window is None else "word.yes" if covered else "word.no"
        ),
        "price_status": words.text("word.example_price" if found.offer.example else "word.catalogue_price"),
    }  # fmt: skip


def _no_quote(committed: str) -> dict[str, Shown]:
    rest = dict.fromkeys(("cards", "currency", "covers_hours", "covers_window", "price_status"), DASH)
    return {**rest, "committed": committed}


@dataclass(frozen=True)
class Group:
    """What one line of `summary` is about; `seed` None: any."""

    variant: str
    corpus: str
    seed: int | None


def measured_values(group: Group, rows: Sequence[Attempt]) -> dict[str, Shown]:
    """Counts and durations of one line, from the rows as the sheet's formulas see them."""
    own = [
        row
        for row in rows
        if (row.variant, row.corpus) == (group.variant, group.corpus) and group.seed in {None, row.seed}
    ]
    durations = [
        row.duration_s
        for row in own
        if row.corpus_accepted == "accepted" and not row.excluded and row.duration_s is not None
    ]
    return {
        "attempts": len(own),
        "accepted_attempts": sum(row.corpus_accepted == "accepted" for row in own),
        "failed_attempts": sum(row.outcome in FAILURES for row in own),
        "median_s": statistics.median(durations) if durations else DASH,
        "min_s": min(durations, default=DASH),
        "max_s": max(durations, default=DASH),
    }


def cost_values(
    variant: str, content: WorkbookContent, chosen: Mapping[str, Shown] | None, words: Messages
) -> dict[str, Shown]:
    """Budget, deliverables and cost of one line; `chosen` are the computed cells of the variant's choice."""
    committed = chosen["committed"] if chosen else DASH
    stated = [one for one in content.deliverables if one.variant == variant and one.accepted is not None]
    accepted = sum(bool(one.accepted) for one in stated) if stated else None
    budget = committed if isinstance(committed, Decimal) else None
    status, cost = cost_per_result(budget, accepted)
    return {
        "committed": committed,
        "currency": chosen["currency"] if chosen else DASH,
        "accepted_deliverables": words.text("word.not_stated") if accepted is None else accepted,
        "cost_per_validated_corpus": cost_words(status, cost, words) if budget is not None else DASH,
    }


def cost_words(status: str, cost: Decimal | None, words: Messages) -> Shown:
    """The cost, or the word for why there is none."""
    if status == "value":
        return cost
    return words.text("word.undefined" if status == "undefined" else "word.not_stated")
