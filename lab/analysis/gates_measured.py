"""The gates that attempts decide: sealed, passes_tried, passes_accepted, memory, device (the method, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from lab.analysis.passes import Group, groups, moment, of_variant, slots, where
from lab.analysis.sealing import broken_terms, concerning
from lab.messages import DASH
from lab.model.attempt import Record, ended_by_itself
from lab.model.campaign import Amendment, Campaign, Seal
from lab.model.catalogue import Offer
from lab.model.decision import Exclusion, Gate, Verdict
from lab.model.moments import in_zone
from lab.model.reason import reason

_CONTENTS = ("model", "tokenizer", "function", "command")


def sealed(campaign: Campaign, variant: str) -> Gate:
    """Everything decided before the first timing; what was amended since breaks nothing (`lab.analysis.sealing`)."""
    seal, own = campaign.seal, of_variant(campaign, variant)
    zone = campaign.protocol.time_zone
    measured = [record for record in own if not (record.declared or record.imported)]
    if seal is None:
        return Gate("sealed", "unknown", reason("gate.sealed.unknown.no_seal"))
    if seal.changes:
        names = [change.name for change in seal.changes]
        return Gate(
            "sealed",
            "failed",
            reason("gate.sealed.failed.amended", names=names, sealed_at=in_zone(seal.sealed_at, zone)),
        )
    if broken := broken_terms(seal):
        first = broken[0].amendment
        terms = [
            f"{one.name} {one.sealed or DASH} → {one.now or DASH}"
            for one in first.changes
            if one.name in broken[0].terms
        ]
        facts = {"amended_at": in_zone(first.amended_at, zone), "terms": terms, "known": len(first.known)}
        return Gate("sealed", "failed", reason("gate.sealed.failed.terms", **facts))
    if changed := _changed_contents(campaign, measured):
        return Gate("sealed", "failed", reason("gate.sealed.failed.contents", contents=changed))
    completed = any(record.attempt.outcome == "completed" for record in measured)
    if len(measured) < len(own) and not completed:  # declared rows carry the figures, whatever failed beside them
        return Gate("sealed", "unknown", reason("gate.sealed.unknown.declared"))
    return _sealed_attempts(zone, seal, measured)


def _changed_contents(campaign: Campaign, measured: Sequence[Record]) -> list[str]:
    """What a variant names by its path (model, tokenizer, function, program) and was not the same in all its attempts.

    The seal covers the path; the content is in what was observed, attempt by attempt.
    """
    seen = [campaign.environments.get(record.attempt.environment or "") for record in measured]
    facts = [one.facts for one in seen if one is not None]
    return [name for name in _CONTENTS if len({one[f"{name}.sha256"] for one in facts if f"{name}.sha256" in one}) > 1]


def _sealed_attempts(zone: str | None, seal: Seal, measured: Sequence[Record]) -> Gate:
    seals: dict[str | None, Seal | Amendment] = {one.fingerprint: one for one in seal.amendments}
    seals[seal.fingerprint] = seal
    other = [r.attempt.attempt_id for r in measured if r.attempt.seal is not None and r.attempt.seal not in seals]
    if other:
        return Gate("sealed", "failed", reason("gate.sealed.failed.other_seal", attempts=other))
    if left := _left_behind(seal, seals, measured):
        names = sorted({name for names in left.values() for name in names})
        return Gate("sealed", "failed", reason("gate.sealed.failed.left_behind", attempts=list(left), names=names))
    taken = {r.attempt.attempt_id: moment(seals.get(r.attempt.seal, seal).sealed_at) for r in measured}
    starts = {r.attempt.attempt_id: moment(r.attempt.started_at) for r in measured}
    early = [one for one, started in starts.items() if started and (at := taken[one]) and started < at]
    if early:
        missed = in_zone(seals.get(_seal_of(early[0], measured), seal).sealed_at, zone)
        return Gate("sealed", "failed", reason("gate.sealed.failed.too_late", attempts=early, sealed_at=missed))
    unsealed = [r.attempt.attempt_id for r in measured if r.attempt.seal is None]
    undated = [one for one, started in starts.items() if started is None or taken[one] is None]
    if unsealed or undated:
        return Gate("sealed", "unknown", reason("gate.sealed.unknown.unproven", attempts=sorted({*unsealed, *undated})))
    earlier = [r for r in measured if r.attempt.seal != seal.fingerprint]
    if not earlier:
        return Gate("sealed", "passed", reason("gate.sealed.passed", sealed_at=in_zone(seal.sealed_at, zone)))
    first = min((seals[r.attempt.seal].sealed_at for r in earlier), key=datetime.fromisoformat)
    facts = {"sealed_at": in_zone(first, zone), "amended_at": in_zone(seal.sealed_at, zone)}
    return Gate("sealed", "passed", reason("gate.sealed.passed.amended", **facts))


def _left_behind(
    seal: Seal, seals: Mapping[str | None, Seal | Amendment], measured: Sequence[Record]
) -> dict[str, tuple[str, ...]]:
    """Attempts that ended by themselves under an earlier seal -> what concerns them and changed since."""
    found = {
        r.attempt.attempt_id: concerning(r.attempt, seals[r.attempt.seal].sealed, seal.sealed)
        for r in measured
        if r.attempt.seal in seals and r.attempt.seal != seal.fingerprint and ended_by_itself(r.attempt)
    }
    return {name: changed for name, changed in found.items() if changed}


def _seal_of(attempt_id: str, measured: Sequence[Record]) -> str | None:
    return next(r.attempt.seal for r in measured if r.attempt.attempt_id == attempt_id)


def passes_tried(campaign: Campaign, variant: str) -> Gate:
    """Every planned pass has an attempt that nobody cut off; a failed one has been tried."""
    planned = slots(campaign, variant)
    if not planned:
        return Gate("passes_tried", "unknown", reason("gate.passes_tried.unknown.no_plan"))
    tried = sum(record is not None for record in planned.values())
    facts: dict[str, object] = {"planned": len(planned), "tried": tried, "remaining": len(planned) - tried}
    if tried < len(planned):
        return Gate("passes_tried", "unknown", reason("gate.passes_tried.unknown.remaining", **facts))
    typed = [
        record.attempt.attempt_id
        for record in planned.values()
        if record is not None and (record.declared or record.imported)
    ]
    if typed:
        return Gate("passes_tried", "unknown", reason("gate.passes_tried.unknown.declared", attempts=typed))
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


def device(campaign: Campaign, variant: str, offer: Offer | None, cards: int | None) -> Gate:
    """Every card that the driver named in every attempt is one that the package sells, and there are no more of them.

    `cards` is how many cards the chosen lots hold.
    """
    own = [record for record in of_variant(campaign, variant) if ended_by_itself(record.attempt)]
    if offer is None:
        return Gate("device", "unknown", reason("gate.device.unknown.no_offer"))
    if not offer.device_names:
        return Gate("device", "unknown", reason("gate.device.unknown.no_names", package=offer.name))
    observed: set[str] = set()
    unseen = []
    spec = campaign.manifest.variant(variant)
    for record in own:
        seen = campaign.environments.get(record.attempt.environment or "")
        if record.declared or record.imported or seen is None or not seen.device_names:
            unseen.append(record.attempt.attempt_id)
            continue
        facts = {"attempt": record.attempt.attempt_id, "package": offer.name, "observed": list(seen.device_names)}
        if not set(seen.device_names) <= set(offer.device_names):
            return Gate("device", "failed", reason("gate.device.failed", expected=list(offer.device_names), **facts))
        used = max(len(seen.device_names), spec.devices if spec else 1)
        if cards is not None and used > cards:
            return Gate("device", "failed", reason("gate.device.failed.cards", used=used, cards=cards, **facts))
        observed |= set(seen.device_names)
    completed = any(record.attempt.outcome == "completed" for record in own)
    if unseen or not completed:
        key = "gate.device.unknown.unseen" if unseen else "gate.device.unknown.no_attempt"
        return Gate("device", "unknown", reason(key, attempts=unseen))
    return Gate("device", "passed", reason("gate.device.passed", observed=sorted(observed), package=offer.name))
