"""The ten gates of a variant, in order, each with its evidence (the product's method, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis import gates_declared as declared
from lab.analysis import gates_measured as measured
from lab.analysis.costs import Delivered, Priced
from lab.model.campaign import Campaign
from lab.model.catalogue import Window
from lab.model.decision import GATES, Exclusion, Gate, Verdict


def gates(  # noqa: PLR0913  (the evidence of ten gates)
    campaign: Campaign,
    variant: str,
    *,
    verdicts: Mapping[str, Verdict],
    exclusions: Sequence[Exclusion],
    priced: Priced,
    window: Window | None,
    delivered: Delivered,
) -> tuple[Gate, ...]:
    """Every gate of one variant, in the order of `GATES`: passed, failed or unknown."""
    offer = priced.quote.offer if priced.quote else None
    found = {
        "sealed": measured.sealed(campaign, variant),
        "passes_tried": measured.passes_tried(campaign, variant),
        "passes_accepted": measured.passes_accepted(campaign, variant, verdicts, exclusions),
        "memory": measured.memory(campaign, variant),
        "device": measured.device(campaign, variant, offer, priced.quote.cards if priced.quote else None),
        "calendar": declared.calendar(priced, window),
        "deadline": declared.deadline(campaign.protocol, window),
        "price": declared.price(priced),
        "budget": declared.budget(campaign.protocol, priced),
        "deliverables": declared.deliverables(campaign, delivered),
    }
    return tuple(found[name] for name in GATES)


def eligible(found: Sequence[Gate]) -> bool:
    """Whether all gates passed; deliverables that nobody stated yet do not block."""
    return all(gate.result == "passed" or _does_not_block(gate) for gate in found)


def excluded(found: Sequence[Gate]) -> bool:
    """Whether a gate failed, so that nothing still unknown could make the variant the answer."""
    return any(gate.result == "failed" for gate in found)


def open_gates(found: Sequence[Gate]) -> tuple[Gate, ...]:
    """The unknown gates that keep a variant from being eligible."""
    return tuple(gate for gate in found if gate.result == "unknown" and not _does_not_block(gate))


def _does_not_block(gate: Gate) -> bool:
    return gate.gate == "deliverables" and gate.result == "unknown"
