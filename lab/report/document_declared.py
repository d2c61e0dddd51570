"""What people declared before and around the measurements, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, fields
from decimal import Decimal

from lab.analysis.sealing import amended_terms, broken_terms
from lab.model.campaign import Amendment, Campaign, Seal
from lab.model.protocol import ExclusionRule, Protocol, SubgroupThreshold
from lab.report.document_plain import Json, amount, moment, plain


def sealing(campaign: Campaign) -> Json | None:
    """When the campaign was sealed and what differs from the sealed values now; None before the seal."""
    if campaign.seal is None:
        return None
    changes = [{"name": one.name, "sealed": one.sealed, "now": one.now} for one in campaign.seal.changes]
    return {"sealed_at": campaign.seal.sealed_at, "changes": changes}


def amendments(campaign: Campaign) -> list[Json]:
    """Every amendment of the seal, oldest first: when, why, what it changed, and which attempts were known then.

    `acceptance_terms` names the changes that touch what results are accepted by; `fails_seal` is whether they fail the
    gate `sealed` now (`lab.analysis.sealing`).
    """
    seal = campaign.seal
    if seal is None:
        return []
    failing = {one.amendment.fingerprint for one in broken_terms(seal)}
    laters: list[Amendment | Seal] = [*seal.amendments[1:], *([seal] if seal.amendments else [])]
    return [
        {
            "amended_at": one.amended_at,
            "reason": one.reason,
            "earlier": one.fingerprint,
            "earlier_sealed_at": one.sealed_at,
            "fingerprint": later.fingerprint,
            "changes": [{"name": each.name, "sealed": each.sealed, "now": each.now} for each in one.changes],
            "acceptance_terms": list(amended_terms(one.sealed, later.sealed)),
            "fails_seal": one.fingerprint in failing,
            "known": {
                "outcomes": _counted(each.outcome for each in one.known),
                "verdicts": _counted(each.verdict for each in one.known),
                "attempts": [asdict(each) for each in one.known],
            },
        }
        for one, later in zip(seal.amendments, laters, strict=True)
    ]


def _counted(words: Iterable[str | None]) -> dict[str, int]:
    """How often each word stands there, in order of the word; absent ones are not counted."""
    return dict(sorted(Counter(one for one in words if one is not None).items()))


def protocol(declared: Protocol) -> Json:
    """Every field of the protocol under its own name; the budget limit as text, moments as ISO 8601."""
    values: Json = {}
    for one in fields(declared):
        value = getattr(declared, one.name)
        if isinstance(value, Decimal):
            values[one.name] = amount(value)
        elif one.name == "deadline":
            values[one.name] = moment(value)
        elif one.name == "subgroup_thresholds":
            values[one.name] = [_subgroup(each) for each in value]
        elif one.name == "exclusion_rules":
            values[one.name] = [_rule(each) for each in value]
        else:
            values[one.name] = plain(value)
    return values


def corpora(campaign: Campaign) -> list[Json]:
    """Each corpus in the manifest's order: its number of inputs, fingerprint, labels and subgroup sizes."""
    found = []
    for spec in campaign.manifest.corpora:
        facts = campaign.corpora.get(spec.id)
        if facts is not None:
            found.append(
                {
                    "id": facts.id,
                    "path": spec.path,
                    "size": facts.size,
                    "sha256": facts.sha256,
                    "tuning_sha256": facts.tuning_sha256,
                    "labels": list(facts.labels),
                    "label_counts": dict(facts.label_counts),
                    "groups": {name: dict(counts) for name, counts in facts.groups.items()},
                }
            )
    return found


def deliverables(campaign: Campaign) -> list[Json]:
    """The rows of the sheet `deliverables`."""
    return [{one.name: plain(getattr(row, one.name)) for one in fields(row)} for row in campaign.deliverables]


def expenses(campaign: Campaign) -> list[Json]:
    """Other expenses, kept apart from the committed budget; `variant` None is all of them."""
    return [
        {**{one.name: plain(getattr(row, one.name)) for one in fields(row)}, "amount": amount(row.amount)}
        for row in campaign.expenses
    ]


def calendar(campaign: Campaign) -> list[Json]:
    """The tasks of the calendar; `variant` None is all of them."""
    return [
        {
            "task": row.task,
            "variant": row.variant,
            "start": moment(row.start),
            "end": moment(row.end),
            "notes": row.notes,
        }
        for row in campaign.calendar
    ]


def _subgroup(one: SubgroupThreshold) -> Json:
    return {"group": one.group, "value": one.value, "threshold": one.threshold}


def _rule(one: ExclusionRule) -> Json:
    return {"id": one.id, "column": one.column, "operator": one.operator, "value": one.value}
