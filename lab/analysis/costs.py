"""Committed budgets, accepted deliverables and the cost of a validated corpus (the product's method, section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lab.calcul_forfaits import Quote
from lab.model.campaign import Campaign
from lab.model.catalogue import Deliverable, PackageChoice, Window
from lab.model.decision import Verdict
from lab.model.reason import Reason, reason
from lab.prices import quote, unknown_card


@dataclass(frozen=True)
class Priced:
    """The quote of a variant's package, or why there is none."""

    quote: Quote | None
    why: Reason | None = None


@dataclass(frozen=True)
class Delivered:
    """The planned deliverables of one variant.

    Attributes:
        accepted: how many are accepted, each counted once; None when nothing is stated.
        faults: what a statement claims and the attempts do not show; unplanned rows are not faults of the variant.
        open: planned ones that no row of this variant states.
    """

    accepted: int | None
    faults: tuple[Reason, ...] = ()
    open: tuple[str, ...] = ()


def priced(campaign: Campaign, variant: str, window: Window | None) -> Priced:
    """The package chosen for a variant in `forfaits`, priced; the card is the one that the manifest names."""
    choice = chosen_package(campaign, variant)
    if isinstance(choice, Reason):
        return Priced(None, choice)
    found = quote(choice, campaign.offers, window.hours if window else None)
    return Priced(found) if isinstance(found, Quote) else Priced(None, found)


def chosen_package(campaign: Campaign, variant: str) -> PackageChoice | Reason:
    """The variant's one row of `forfaits`, with the manifest's card, which the catalogue holds, and its lots stated.

    Or why there is none.
    """
    spec = campaign.manifest.variant(variant)
    chosen = [choice for choice in campaign.choices if choice.variant == variant]
    if not chosen:
        return reason("gate.price.unknown.no_choice")
    if len(chosen) > 1:
        return reason("gate.price.unknown.two_choices", choices=len(chosen))
    choice = replace(chosen[0], gpu=(spec.gpu if spec else None) or chosen[0].gpu)
    if (unknown := unknown_card(choice.gpu, campaign.offers)) is not None:
        return unknown
    if choice.lots is None or choice.lots < 1 or choice.periods < 1:
        return reason("gate.price.unknown.no_lots")
    return choice


def delivered(campaign: Campaign, variant: str, verdicts: Mapping[str, Verdict]) -> Delivered:
    """Which planned deliverables cite an accepted attempt of this variant.

    A deliverable is a useful corpus: it counts once, whatever the number of attempts it cites, and a corpus counts for
    one deliverable only, so that five repetitions on one corpus are never five deliverables. Without any statement the
    number is not known, unless the variant has ended attempts and all of them were rejected: then it is 0.
    """
    planned = campaign.protocol.planned_deliverables
    rows = [row for row in campaign.deliverables if _variant(campaign, row) == variant and row.deliverable in planned]
    if not rows:
        return Delivered(0 if planned and _all_rejected(campaign, variant, verdicts) else None, (), planned)
    used: dict[str, str] = {}  # corpus -> the deliverable it counts for
    faults: list[Reason] = []
    for name in planned:
        own = sorted((row for row in rows if row.deliverable == name), key=lambda row: row.attempt_id or "")
        wrong = [_not_shown(campaign, row, variant, verdicts) for row in own]
        faults += [why for why in wrong if why is not None]
        corpora = [_corpus(campaign, row) for row, why in zip(own, wrong, strict=True) if why is None]
        free = next((corpus for corpus in corpora if corpus not in used), None)
        if free is not None:
            used[free] = name
        elif corpora:
            facts = {"deliverable": name, "other": used[corpora[0]], "corpus": corpora[0]}
            faults.append(reason("gate.deliverables.failed.same_corpus", **facts))
    stated = {row.deliverable for row in rows}
    return Delivered(len(used), tuple(faults), tuple(name for name in planned if name not in stated))


def unplanned_deliverables(campaign: Campaign) -> tuple[str, ...]:
    """Names in the `deliverables` sheet that the protocol does not plan: they are counted nowhere."""
    planned = campaign.protocol.planned_deliverables
    return tuple(sorted({row.deliverable for row in campaign.deliverables} - set(planned)))


def expense_warnings(campaign: Campaign, variant: str) -> tuple[Reason, ...]:
    """What is wrong with a variant's other expenses.

    One stated for another variant and missing for it, or stated in several currencies (totals would not compare), or
    without its justification.
    """
    return (
        *_expenses_missing(campaign, variant),
        *_expenses_in_currencies(campaign, variant),
        *_expenses_unjustified(campaign, variant),
    )


def _expenses_missing(campaign: Campaign, variant: str) -> Iterator[Reason]:
    everywhere = {one.item for one in campaign.expenses if one.variant is None}
    stated: dict[str, set[str]] = {}
    for one in campaign.expenses:
        if one.variant is not None and one.item not in everywhere:
            stated.setdefault(one.item, set()).add(one.variant)
    for item, others in sorted(stated.items()):
        if variant not in others:
            yield reason("warning.expense_missing", item=item, variants=sorted(others))


def _expenses_in_currencies(campaign: Campaign, variant: str) -> Iterator[Reason]:
    """Of the items that bear on the variant, those that any variant states in another currency."""
    used: dict[str, set[str]] = {}
    for one in campaign.expenses:
        if one.currency:
            used.setdefault(one.item, set()).add(one.currency)
    own = {one.item for one in campaign.expenses if one.variant in {None, variant}}
    for item in sorted(own):
        if len(used.get(item, ())) > 1:
            yield reason("warning.expense_currencies", item=item, currencies=sorted(used[item]))


def _expenses_unjustified(campaign: Campaign, variant: str) -> Iterator[Reason]:
    own = [one for one in campaign.expenses if one.variant in {None, variant}]
    for item in sorted({one.item for one in own if not one.justification}):
        yield reason("warning.expense_unjustified", item=item)


def _variant(campaign: Campaign, row: Deliverable) -> str | None:
    return row.variant or _attempt_facts(campaign, row)[0]


def _corpus(campaign: Campaign, row: Deliverable) -> str:
    return _attempt_facts(campaign, row)[1] or ""


def _attempt_facts(campaign: Campaign, row: Deliverable) -> tuple[str | None, str | None]:
    for record in campaign.records:
        if record.attempt.attempt_id == row.attempt_id:
            return record.attempt.variant, record.attempt.corpus
    return None, None


def _all_rejected(campaign: Campaign, variant: str, verdicts: Mapping[str, Verdict]) -> bool:
    own = [record.attempt for record in campaign.by_variant.get(variant, ())]
    ended = [row for row in own if row.outcome != "interrupted"]
    return bool(ended) and all(verdicts[row.attempt_id].verdict == "rejected" for row in ended)


def _not_shown(campaign: Campaign, row: Deliverable, variant: str, verdicts: Mapping[str, Verdict]) -> Reason | None:
    """Why a row does not stand for an accepted deliverable of this variant; None when it does."""
    facts = {"deliverable": row.deliverable, "attempt": row.attempt_id or ""}
    if not row.accepted:
        return reason("gate.deliverables.failed.not_accepted", deliverable=row.deliverable)
    if row.attempt_id is None:
        return reason("gate.deliverables.failed.no_attempt", deliverable=row.deliverable)
    verdict = verdicts.get(row.attempt_id)
    if verdict is None:
        return reason("gate.deliverables.failed.no_such_attempt", **facts)
    if _attempt_facts(campaign, row)[0] != variant:
        return reason("gate.deliverables.failed.other_variant", **facts, variant=variant)
    if verdict.verdict != "accepted":
        return reason("gate.deliverables.failed.attempt_not_accepted", **facts)
    return None
