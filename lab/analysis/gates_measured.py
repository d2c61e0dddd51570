"""The gates that attempts decide: sealed, passes_tried, passes_accepted, memory, device (the method, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lab.analysis.passes import Group, ended_by_itself, groups, moment, of_variant, slots, where
from lab.model.attempt import Record
from lab.model.campaign import Campaign, Seal
from lab.model.catalogue import Offer
from lab.model.decision import Exclusion, Gate, Verdict
from lab.model.reason import reason


def sealed(campaign: Campaign, variant: str) -> Gate:
    """Everything decided before the first timing, and nothing amended since."""
    seal, own = campaign.seal, of_variant(campaign, variant)
    measured = [record for record in own if not record.declared]
    if seal is None:
        return Gate("sealed", "unknown", reason("gate.sealed.unknown.no_seal"))
    if seal.changes:
        names = [change.name for change in seal.changes]
        return Gate(
            "sealed", "failed", reason("gate.sealed.failed.amended", names=names, sealed_at=_shown(campaign, seal))
        )
    completed = any(record.attempt.outcome == "completed" for record in measured)
    if len(measured) < len(own) and not completed:  # declared rows carry the figures, whatever failed beside them
        return Gate("sealed", "unknown", reason("gate.sealed.unknown.declared"))
    return _sealed_attempts(campaign, seal, measured)


def _sealed_attempts(campaign: Campaign, seal: Seal, measured: Sequence[Record]) -> Gate:
    other = [r.attempt.attempt_id for r in measured if r.attempt.seal not in (None, seal.fingerprint)]
    if other:
        return Gate("sealed", "failed", reason("gate.sealed.failed.other_seal", attempts=other))
    sealed_at = moment(seal.sealed_at)
    starts = {r.attempt.attempt_id: moment(r.attempt.started_at) for r in measured}
    early = [one for one, started in starts.items() if started and sealed_at and started < sealed_at]
    if early:
        return Gate(
            "sealed", "failed", reason("gate.sealed.failed.too_late", attempts=early, sealed_at=_shown(campaign, seal))
        )
    unsealed = [r.attempt.attempt_id for r in measured if r.attempt.seal is None]
    undated = [one for one, started in starts.items() if started is None or sealed_at is None]
    if unsealed or undated:
        return Gate("sealed", "unknown", reason("gate.sealed.unknown.unproven", attempts=sorted({*unsealed, *undated})))
    return Gate("sealed", "passed", reason("gate.sealed.passed", sealed_at=_shown(campaign, seal)))


def _shown(campaign: Campaign, seal: Seal) -> datetime | str:
    """The seal's moment, in the protocol's time zone where it states a known one."""
    found = moment(seal.sealed_at)
    if found is None or campaign.protocol.time_zone is None:
        return found or seal.sealed_at
    try:
        return found.astimezone(ZoneInfo(campaign.protocol.time_zone))
    except (ZoneInfoNotFoundError, ValueError):
        return found


def passes_tried(campaign: Campaign, variant: str) -> Gate:
    """Every planned pass has an attempt that nobody cut off; a failed one has been tried."""
    planned = slots(campaign, variant)
    if not planned:
        return Gate("passes_tried", "unknown", reason("gate.passes_tried.unknown.no_plan"))
    tried = sum(record is not None for record in planned.values())
    facts = {"planned": len(planned), "tried": tried, "remaining": len(planned) - tried}
    if tried < len(planned):
        return Gate("passes_tried", "unknown", reason("gate.passes_tried.unknown.remaining", **facts))
    return Gate("passes_tried", "passed", reason("gate.passes_tried.passed", **facts))


def passes_accepted(
    campaign: Campaign, variant: str, verdicts: Mapping[str, Verdict], exclusions: Sequence[Exclusion]
) -> Gate:
    """As many accepted passes as the protocol requires, on every corpus and seed; an excluded one does not count.

    Each planned pass counts once, by the attempt that stands for it: a pass tried again after a failure adds nothing.
    """
    required = campaign.protocol.required_passes()
    if required is None:
        return Gate("passes_accepted", "unknown", reason("gate.passes_accepted.unknown.no_plan"))
    left_out = frozenset(one.attempt_id for one in exclusions)
    planned = slots(campaign, variant)
    counts = {group: _slot_counts(planned, group, verdicts, left_out) for group in groups(campaign)}
    short = {group: c for group, c in counts.items() if c["accepted"] < required}
    lost = {group: c for group, c in short.items() if c["accepted"] + c["possible"] < required}
    worst = lost or short
    if not worst:
        fewest = min(counts.values(), key=lambda one: one["accepted"])
        return Gate("passes_accepted", "passed", reason("gate.passes_accepted.passed", required=required, **fewest))
    group = min(worst, key=lambda one: worst[one]["accepted"])
    facts: dict[str, object] = {"required": required, "corpus": where(campaign, group), **worst[group]}
    if lost:
        return Gate("passes_accepted", "failed", reason("gate.passes_accepted.failed", **facts))
    return Gate("passes_accepted", "unknown", reason("gate.passes_accepted.unknown.open", **facts))


def _slot_counts(
    planned: Mapping[tuple[Group, int], Record | None],
    group: Group,
    verdicts: Mapping[str, Verdict],
    left_out: frozenset[str],
) -> dict[str, int]:
    ids = [record.attempt.attempt_id if record else None for (one, _n), record in planned.items() if one == group]
    kept = [verdicts[one].verdict for one in ids if one is not None and one not in left_out]
    excluded = sum(one in left_out for one in ids)
    possible = ids.count(None) + kept.count("unassessed")
    return {"accepted": kept.count("accepted"), "possible": possible, "excluded": excluded}


def memory(campaign: Campaign, variant: str) -> Gate:
    """The whole corpus, its longest inputs among them, has been completed, and memory never ran out."""
    own = [record for record in of_variant(campaign, variant) if ended_by_itself(record.attempt)]
    out = [record.attempt for record in own if record.attempt.outcome == "out_of_memory"]
    if out:
        facts = {"times": len(out), "attempt": out[0].attempt_id}
        return Gate("memory", "failed", reason("gate.memory.failed", **facts))
    completed = {r.attempt.corpus for r in own if r.attempt.outcome == "completed" and not r.declared}
    lacking = [corpus.id for corpus in campaign.manifest.corpora if corpus.id not in completed]
    if lacking:
        return Gate("memory", "unknown", reason("gate.memory.unknown", corpora=lacking))
    return Gate("memory", "passed", reason("gate.memory.passed"))


def device(campaign: Campaign, variant: str, offer: Offer | None) -> Gate:
    """The card that the driver named in every attempt is one that the package sells."""
    own = [record for record in of_variant(campaign, variant) if ended_by_itself(record.attempt)]
    if offer is None:
        return Gate("device", "unknown", reason("gate.device.unknown.no_offer"))
    if not offer.device_names:
        return Gate("device", "unknown", reason("gate.device.unknown.no_names", package=offer.name))
    observed: set[str] = set()
    unseen = []
    for record in own:
        seen = campaign.environments.get(record.attempt.environment or "")
        if record.declared or seen is None or not seen.device_names:
            unseen.append(record.attempt.attempt_id)
        elif set(seen.device_names) & set(offer.device_names):
            observed |= set(seen.device_names) & set(offer.device_names)
        else:
            facts = {"observed": list(seen.device_names), "expected": list(offer.device_names)}
            why = reason("gate.device.failed", attempt=record.attempt.attempt_id, package=offer.name, **facts)
            return Gate("device", "failed", why)
    completed = any(record.attempt.outcome == "completed" for record in own)
    if unseen or not completed:
        key = "gate.device.unknown.unseen" if unseen else "gate.device.unknown.no_attempt"
        return Gate("device", "unknown", reason(key, attempts=unseen))
    return Gate("device", "passed", reason("gate.device.passed", observed=sorted(observed), package=offer.name))
