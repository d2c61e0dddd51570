"""Attempts left out of the figures, by rules of the protocol, written before measuring (the method, section 6).

A rule is a condition on columns, which the tool applies to every attempt of every variant itself, or a named person's
attestation, given in `excluded` and `exclusion_reason` ("rule: who, why") and shown as such. The row stays, always.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation

from lab.analysis.acceptance import judge
from lab.analysis.passes import by_start, moment
from lab.model.attempt import COLUMNS, Attempt, Column, Record
from lab.model.campaign import Campaign
from lab.model.decision import Exclusion, Verdict
from lab.model.protocol import ExclusionRule
from lab.model.reason import Reason, reason

_COLUMNS: Mapping[str, Column] = {column.name: column for column in COLUMNS}
_ORDER: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Comparable = Decimal | datetime | str | bool


def exclusions(campaign: Campaign, verdicts: Mapping[str, Verdict] | None = None) -> tuple[Exclusion, ...]:
    """Every attempt that a rule leaves out, in order of start; the first rule of the protocol that does so is named.

    `verdicts` are those of `judge(campaign)`, computed when not given: judged columns are read from them, since the
    cells of the workbook may be of an earlier judgement.
    """
    known = judge(campaign) if verdicts is None else verdicts
    found = (_exclusion(campaign, record, known) for record in sorted(campaign.records, key=by_start))
    return tuple(one for one in found if one is not None)


def exclusion_warnings(campaign: Campaign, found: tuple[Exclusion, ...]) -> tuple[Reason, ...]:
    """What people must know: rules that cannot be applied, exclusions without a rule, rules attested for some only."""
    left_out = {one.attempt_id for one in found}
    warnings = []
    for rule in campaign.protocol.exclusion_rules:
        why = unusable(rule, campaign.manifest.language)
        if why:
            warnings.append(why)
    for record in sorted(campaign.records, key=by_start):
        row = record.attempt
        if row.excluded and row.attempt_id not in left_out:
            warnings.append(reason("warning.exclusion_without_rule", attempt=row.attempt_id))
    variants = {record.attempt.attempt_id: record.attempt.variant for record in campaign.records}
    measured = {variant for variant in variants.values() if variant}
    for rule_id in sorted({one.rule for one in found if one.attested and one.rule}):
        hit = {variants[one.attempt_id] for one in found if one.rule == rule_id}
        if measured - hit:
            facts = {"rule": rule_id, "variants": sorted(v for v in hit if v), "others": sorted(measured - hit)}
            warnings.append(reason("warning.exclusion_one_sided", **facts))
    return tuple(warnings)


def unusable(rule: ExclusionRule, language: str) -> Reason | None:
    """Why a condition cannot be applied, or None: no such column to measure, no such comparison, no such value."""
    if rule.column is None:
        return None
    column = _COLUMNS.get(rule.column)
    if column is None or column.owner == "declared":  # `excluded = true` would let anyone leave anything out
        return reason("warning.rule_column", rule=rule.id, column=rule.column)
    ordered = rule.operator in _ORDER
    wanted = _wanted(column, rule.value, language)
    if wanted is None or (ordered and not isinstance(wanted, Decimal | datetime)):
        facts = {"column": rule.column, "operator": rule.operator or "", "value": rule.value or ""}
        return reason("warning.rule_value", rule=rule.id, **facts)
    return None


def _exclusion(campaign: Campaign, record: Record, verdicts: Mapping[str, Verdict]) -> Exclusion | None:
    row = record.attempt
    for rule in campaign.protocol.exclusion_rules:
        if rule.column is None:
            who = _attested_by(row, rule.id)
            if who:
                why = reason("exclusion.attested", rule=rule.id, statement=who)
                return Exclusion(row.attempt_id, rule.id, why, attested=True)
        elif unusable(rule, campaign.manifest.language) is None and _meets(campaign, row, rule, verdicts):
            facts = {"column": rule.column, "operator": rule.operator or "", "value": rule.value or ""}
            return Exclusion(row.attempt_id, rule.id, reason("exclusion.rule", rule=rule.id, **facts), attested=False)
    return None


def _attested_by(row: Attempt, rule_id: str) -> str | None:
    rule, _colon, statement = (row.exclusion_reason or "").partition(":")
    return statement.strip() or None if row.excluded and rule.strip() == rule_id else None


def _meets(campaign: Campaign, row: Attempt, rule: ExclusionRule, verdicts: Mapping[str, Verdict]) -> bool:
    column = _COLUMNS[rule.column or ""]
    found = _found(column, row, verdicts.get(row.attempt_id))
    wanted = _wanted(column, rule.value, campaign.manifest.language)
    if found is None or wanted is None:  # an absent measure meets no condition, `!=` included
        return False
    if rule.operator in ("=", "!="):
        return (found == wanted) is (rule.operator == "=")
    if isinstance(found, datetime) and isinstance(wanted, datetime):
        apart = (found - wanted).total_seconds()
        return _ORDER[rule.operator or ""](Decimal(repr(apart)), Decimal(0))
    if isinstance(found, Decimal) and isinstance(wanted, Decimal):
        return _ORDER[rule.operator or ""](found, wanted)
    return False


def _found(column: Column, row: Attempt, verdict: Verdict | None) -> Comparable | None:
    if column.owner == "judged":
        value: object = getattr(verdict, "verdict" if column.name == "corpus_accepted" else column.name, None)
    else:
        value = getattr(row, column.name)
    if value is None or isinstance(value, bool):
        return value
    if column.kind == "moment":
        return moment(str(value))
    return Decimal(repr(value)) if isinstance(value, int | float) else str(value)


def _wanted(column: Column, text: str | None, language: str) -> Comparable | None:
    if text is None:
        return None
    if column.kind == "moment":
        return moment(text)
    if column.kind == "boolean":
        return {"true": True, "false": False}.get(text.strip().lower())
    if column.kind in ("integer", "number"):
        plain = text.strip() if language == "en" else text.strip().replace(",", ".")
        try:
            number = Decimal(plain)
        except InvalidOperation:
            return None
        return number if number.is_finite() else None
    return text if column.kind != "choice" or text in column.choices else None
