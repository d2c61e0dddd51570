"""What acceptance, statistics and the decision say: frozen results, in no language yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from lab.model.attempt import VerdictWord
from lab.model.catalogue import Offer, Window
from lab.model.reason import Reason

Control = Literal["outcome", "predictions", "ids", "format", "quality", "reference", "subgroups", "all"]
GateName = Literal[
    "sealed", "passes_tried", "passes_accepted", "memory", "device", "calendar", "deadline", "price", "budget",
    "deliverables",
]  # fmt: skip
GateResult = Literal["passed", "failed", "unknown"]
CostStatus = Literal["value", "undefined", "not_stated"]
Status = Literal["chosen", "undecided", "none_eligible"]
BlockedBy = Literal["range", "test", "range_and_test", "too_few"]

GATES: tuple[GateName, ...] = (
    "sealed", "passes_tried", "passes_accepted", "memory", "device", "calendar", "deadline", "price", "budget",
    "deliverables",
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What acceptance says of one attempt, and which control decided.

    The judged columns of `raw-results` are here under their own names; None where a control was not reached.
    `subgroups` is (group, value) -> (metric value or None, threshold or None, number of inputs).
    """

    attempt_id: str
    verdict: VerdictWord
    control: Control
    reason: Reason
    expected_ids: int | None = None
    observed_ids: int | None = None
    duplicate_ids: int | None = None
    missing_ids: int | None = None
    unexpected_ids: int | None = None
    ids_match: bool | None = None
    format_ok: bool | None = None
    metric: str | None = None
    metric_value: float | None = None
    reference_delta: float | None = None
    quality_ok: bool | None = None
    subgroups: Mapping[tuple[str, str], tuple[float | None, float | None, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Exclusion:
    """An attempt left out of the figures: by a rule of the protocol, or by a person's attestation. Its row stays."""

    attempt_id: str
    rule: str | None
    reason: Reason
    attested: bool


@dataclass(frozen=True)
class Summary:
    """One variant on one corpus with one seed; durations are seconds of accepted, not excluded attempts.

    `durations_s` is in schedule order over all attempts, None where an attempt contributes none; median, min and max
    are None when no attempt contributes. Counts are of attempts, excluded ones among them.
    """

    variant: str
    corpus: str
    seed: int | None
    attempts: int
    accepted: int
    rejected: int
    unassessed: int
    failed: int
    excluded: int
    durations_s: tuple[float | None, ...]
    median_s: float | None
    min_s: float | None
    max_s: float | None
    median_metric: float | None = None
    warnings: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Separation:
    """Whether two variants are told apart by their durations on one corpus; `faster` only when separated.

    `gap_s` is the distance of the medians, `range_s` the larger of the two ranges, `p_value` of the two-sided exact
    Mann-Whitney test before, `p_adjusted` after Holm's correction. `more_passes` is how many more passes a side could
    tell, when only the test blocks.
    """

    corpus: str
    a: str
    b: str
    separated: bool
    blocked_by: BlockedBy | None
    reason: Reason
    faster: str | None = None
    gap_s: float | None = None
    range_s: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    more_passes: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Gate:
    """One gate of one variant with its evidence."""

    gate: GateName
    result: GateResult
    reason: Reason


@dataclass(frozen=True)
class VariantDecision:
    """Everything the decision says of one variant. `offer` is what the budget was computed from."""

    id: str
    eligible: bool
    gates: tuple[Gate, ...]
    summaries: tuple[Summary, ...]
    committed: Decimal | None
    currency: str | None
    cards: int | None
    covers_hours: int | None
    offer: Offer | None
    window: Window | None
    accepted_deliverables: int | None
    cost_status: CostStatus
    cost_per_validated_corpus: Decimal | None
    warnings: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Decision:
    """The answer. `variant` only when chosen; `contenders` are those among which it is undecided."""

    status: Status
    variant: str | None
    committed: Decimal | None
    currency: str | None
    cost_per_validated_corpus: Decimal | None
    reasons: tuple[Reason, ...]
    next_steps: tuple[Reason, ...]
    contenders: tuple[str, ...]
    variants: tuple[VariantDecision, ...]
    separations: tuple[Separation, ...]
    verdicts: Mapping[str, Verdict]
    exclusions: tuple[Exclusion, ...]
    covers: tuple[Reason, ...]
    does_not_cover: tuple[Reason, ...]
    sensitivity: tuple[Reason, ...] = ()
    warnings: tuple[Reason, ...] = ()
