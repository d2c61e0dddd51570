"""What would change the answer: the price at which it flips, the margins, one more failed pass, what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lab.analysis.exact import distance
from lab.analysis.gates_declared import hours
from lab.analysis.passes import groups, of_variant, slots
from lab.analysis.ranking import Answer, budget
from lab.analysis.weigh import Weighed, weigh
from lab.metrics import metric
from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.catalogue import window_hours
from lab.model.decision import OtherAnswer, VariantDecision
from lab.model.reason import Reason, reason

ONE_BY_ONE = 8  # variants that the answer is about; of more, nobody reads the margins, and most are out soon
CLOSE = 1  # failed gates: a variant that only one of them keeps out is close to being the answer


def sensitivity(campaign: Campaign, found: Weighed, with_excluded: OtherAnswer | None) -> tuple[Reason, ...]:
    """What is close to tipping: for the chosen variant, else for those among which it is undecided, if they are few.

    When none is eligible: for each variant that a single gate keeps out, how far it is from passing it.
    """
    answer = found.answer
    named = {answer.winner.id} if answer.winner else set(answer.contenders)
    said = list(_prices(found))
    if len(named) > ONE_BY_ONE:
        said.append(reason("sensitivity.too_many", count=len(named), limit=ONE_BY_ONE))
    for one in found.variants:
        if one.id in named and len(named) <= ONE_BY_ONE:
            said += [*_quality(campaign, one, found), *_time(campaign, one), *_limit(campaign, one)]
            said += [*_passes(campaign, one), *_one_more_failed(campaign, one, found)]
        elif answer.status == "none_eligible":
            said += _nearly(campaign, one)
    if with_excluded is not None:
        then = (with_excluded.status, with_excluded.variant, with_excluded.contenders)
        said.append(_then("sensitivity.excluded.", answer, then, attempts=len(found.exclusions)))
    return tuple(said)


def _prices(found: Weighed) -> list[Reason]:
    able, winner, answer = [one for one in found.variants if one.eligible], found.answer.winner, found.answer
    if winner is None:
        tied = [one.id for one in able if one.id in answer.contenders]
        if len(tied) > 1 and tied == [*answer.contenders]:
            return [reason("sensitivity.any_price", variants=tied)]
        return _unpriced(found)
    rivals = [one for one in able if one.id != winner.id]
    if not rivals:
        return [reason("sensitivity.only_eligible", variant=winner.id)]
    other = min(rivals, key=budget)  # the first of equals, in the manifest's order
    facts: dict[str, object] = {"variant": winner.id, "other": other.id, "currency": winner.currency}
    if budget(other) == budget(winner):
        return [reason("sensitivity.flip_any", **facts)]
    facts |= {"amount": other.committed, "own": winner.committed, "margin": budget(other) - budget(winner)}
    return [reason("sensitivity.flip", **facts)]


def _unpriced(found: Weighed) -> list[Reason]:
    """Up to which price a contender whose price is unknown could still be the answer."""
    able = [one for one in found.variants if one.eligible]
    best = min(able, key=budget, default=None)
    if best is None or best.currency is None:
        return []
    open_ = [one.id for one in found.variants if one.id in found.answer.contenders and one.committed is None]
    facts = {"other": best.id, "amount": best.committed, "currency": best.currency}
    return [reason("sensitivity.unknown_price", variant=name, **facts) for name in open_]


def _quality(campaign: Campaign, one: VariantDecision, found: Weighed) -> list[Reason]:
    """The accepted pass closest to the threshold, to the tolerance, and to each subgroup's threshold."""
    threshold, tolerance, used = (
        campaign.protocol.threshold,
        campaign.protocol.tolerance,
        metric(campaign.protocol.metric, campaign.manifest),
    )
    left_out = frozenset(exclusion.attempt_id for exclusion in found.exclusions)
    ids = [record.attempt.attempt_id for record in of_variant(campaign, one.id)]
    passed = [found.verdicts[i] for i in ids if found.verdicts[i].verdict == "accepted" and i not in left_out]
    if used is None or not passed:
        return []
    worst = min if used.higher_is_better else max
    said: list[Reason] = []
    values = [verdict.metric_value for verdict in passed if verdict.metric_value is not None]
    if threshold is not None and values:
        value = worst(values)
        facts: dict[str, object] = {"variant": one.id, "metric": used.name, "value": value, "threshold": threshold}
        said.append(reason("sensitivity.threshold", **facts, margin=float(distance(value, threshold))))
    deltas = [abs(verdict.reference_delta) for verdict in passed if verdict.reference_delta is not None]
    if tolerance is not None and deltas and one.id != campaign.protocol.reference_variant:
        facts = {"variant": one.id, "delta": max(deltas), "tolerance": tolerance}
        said.append(reason("sensitivity.tolerance", **facts, margin=float(distance(max(deltas), tolerance))))
    for declared in campaign.protocol.subgroup_thresholds:
        name = (declared.group, declared.value)
        own = [
            found_value for verdict in passed if (found_value := verdict.subgroups.get(name, (None,))[0]) is not None
        ]
        if own:
            value, wanted = worst(own), declared.threshold
            facts = {"variant": one.id, "subgroup": "=".join(name), "value": value, "threshold": wanted}
            said.append(reason("sensitivity.subgroup", **facts, margin=float(distance(value, wanted))))
    return said


def _time(campaign: Campaign, one: VariantDecision) -> list[Reason]:
    found, end, deadline = [], one.window.end if one.window else None, campaign.protocol.deadline
    if end is not None and deadline is not None and window_hours(end, deadline) >= 0:
        left = hours(window_hours(end, deadline))
        found.append(reason("sensitivity.deadline", variant=one.id, hours=left))
    if one.window is not None and one.covers_hours is not None and one.covers_hours >= one.window.hours:
        left = hours(one.covers_hours - one.window.hours)
        found.append(reason("sensitivity.package_hours", variant=one.id, hours=left))
    return found


def _limit(campaign: Campaign, one: VariantDecision) -> list[Reason]:
    limit = campaign.protocol.budget_limit
    if limit is None or one.committed is None or campaign.protocol.currency != one.currency or one.committed > limit:
        return []
    return [reason("sensitivity.limit", variant=one.id, amount=limit - one.committed, currency=one.currency)]


def _passes(campaign: Campaign, one: VariantDecision) -> list[Reason]:
    required = campaign.protocol.required_passes()
    passed = next((gate for gate in one.gates if gate.gate == "passes_accepted" and gate.result == "passed"), None)
    fewest = passed.reason.values.get("accepted") if passed else None
    if required is None or not isinstance(fewest, int):
        return []
    key = "sensitivity.passes_to_spare" if fewest > required else "sensitivity.no_pass_to_spare"
    return [reason(key, variant=one.id, spare=fewest - required, required=required)]


def _one_more_failed(campaign: Campaign, one: VariantDecision, found: Weighed) -> Iterable[Reason]:
    """What the answer had been if one accepted pass of an eligible variant had failed: weighed again, not guessed.

    The first accepted pass of each corpus and seed stands for the others of its population.
    """
    if not one.eligible:
        return
    said = set()
    for record in _standing(campaign, one.id, found):
        lost = replace(record, attempt=replace(record.attempt, outcome="failed", duration_s=None))
        records = tuple(lost if other is record else other for other in campaign.records)
        answer = weigh(replace(campaign, records=records), views=False).answer
        then = (answer.status, answer.winner.id if answer.winner else None, answer.contenders)
        if then not in said:
            said.add(then)
            yield _then("sensitivity.pass_lost.", found.answer, then, variant=one.id)


def _standing(campaign: Campaign, variant: str, found: Weighed) -> list[Record]:
    left_out = {exclusion.attempt_id for exclusion in found.exclusions}
    first: dict[object, Record] = {}
    for (group, _round), record in slots(campaign, variant).items():
        if record is None or record.attempt.attempt_id in left_out or group in first:
            continue
        if found.verdicts[record.attempt.attempt_id].verdict == "accepted":
            first[group] = record
    return [first[group] for group in groups(campaign) if group in first]


def _then(key: str, now: Answer, then: tuple[str, str | None, tuple[str, ...]], **facts: object) -> Reason:
    """What the answer would be instead, named; or that it would be the same."""
    status, chosen, contenders = then
    if then == (now.status, now.winner.id if now.winner else None, now.contenders):
        return reason(f"{key}same", **facts)
    if status == "chosen":
        return reason(f"{key}chosen", **facts, other=chosen)
    return reason(f"{key}{status}", **facts, **({"contenders": list(contenders)} if contenders else {}))


def _nearly(campaign: Campaign, one: VariantDecision) -> list[Reason]:
    """How far a variant is from the one gate that keeps it out, where that is a distance."""
    failed = [gate for gate in one.gates if gate.result == "failed"]
    if len(failed) != CLOSE:
        return []
    gate, limit, deadline = failed[0], campaign.protocol.budget_limit, campaign.protocol.deadline
    if gate.gate == "budget" and limit is not None and one.committed is not None:
        return [reason("sensitivity.over_limit", variant=one.id, amount=one.committed - limit, currency=one.currency)]
    if gate.gate == "deadline" and one.window is not None and deadline is not None:
        return [reason("sensitivity.late", variant=one.id, hours=hours(window_hours(deadline, one.window.end)))]
    if gate.gate == "calendar" and one.window is not None and one.covers_hours is not None:
        return [reason("sensitivity.window_over", variant=one.id, hours=hours(one.window.hours - one.covers_hours))]
    if gate.gate == "passes_accepted":
        facts = {name: gate.reason.values[name] for name in ("accepted", "required", "corpus")}
        return [reason("sensitivity.short_of_passes", variant=one.id, **facts)]
    return []
