"""What would change the answer: the price at which it flips, and the margins to threshold, deadline and limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis.exact import distance
from lab.analysis.gates_declared import hours
from lab.analysis.passes import of_variant
from lab.analysis.ranking import Answer, budget
from lab.calcul_forfaits import window_hours
from lab.metrics import metric
from lab.model.campaign import Campaign
from lab.model.decision import Exclusion, VariantDecision, Verdict
from lab.model.reason import Reason, reason


def sensitivity(
    campaign: Campaign,
    variants: Sequence[VariantDecision],
    answer: Answer,
    verdicts: Mapping[str, Verdict],
    exclusions: Sequence[Exclusion],
) -> tuple[Reason, ...]:
    """What is close to tipping: for the chosen variant, else for those among which it is undecided."""
    named = {answer.winner.id} if answer.winner else set(answer.contenders)
    found = list(_prices(variants, answer))
    left_out = frozenset(one.attempt_id for one in exclusions)
    for one in variants:
        if one.id in named:
            found += [*_quality(campaign, one, verdicts, left_out), *_time(campaign, one), *_limit(campaign, one)]
            found += _passes(campaign, one)
    return tuple(found)


def _prices(variants: Sequence[VariantDecision], answer: Answer) -> list[Reason]:
    able, winner = [one for one in variants if one.eligible], answer.winner
    if winner is None:
        tied = [one.id for one in able if one.id in answer.contenders]
        return (
            [reason("sensitivity.any_price", variants=tied)] if len(tied) > 1 and tied == [*answer.contenders] else []
        )
    rivals = [one for one in able if one.id != winner.id]
    if not rivals:
        return [reason("sensitivity.only_eligible", variant=winner.id)]
    other = min(rivals, key=budget)  # the first of equals, in the manifest's order
    facts: dict[str, object] = {"variant": winner.id, "other": other.id, "currency": winner.currency}
    if budget(other) == budget(winner):
        return [reason("sensitivity.flip_any", **facts)]
    facts |= {"amount": other.committed, "own": winner.committed, "margin": budget(other) - budget(winner)}
    return [reason("sensitivity.flip", **facts)]


def _quality(
    campaign: Campaign, one: VariantDecision, verdicts: Mapping[str, Verdict], left_out: frozenset[str]
) -> list[Reason]:
    threshold, used = campaign.protocol.threshold, metric(campaign.protocol.metric)
    ids = [record.attempt.attempt_id for record in of_variant(campaign, one.id)]
    values = [verdicts[i].metric_value for i in ids if verdicts[i].verdict == "accepted" and i not in left_out]
    known = [value for value in values if value is not None]
    if threshold is None or used is None or not known:
        return []
    closest = min(known) if used.higher_is_better else max(known)
    facts: dict[str, object] = {"variant": one.id, "metric": used.name, "value": closest, "threshold": threshold}
    return [reason("sensitivity.threshold", **facts, margin=float(distance(closest, threshold)))]


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
