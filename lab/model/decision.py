"""What acceptance, statistics and the decision say: frozen results, in no language yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

from lab.calcul_forfaits import Quote
from lab.model.attempt import VerdictWord
from lab.model.catalogue import Offer, Window
from lab.model.evidence import Agreement
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

GATES: tuple[GateName, ...] = get_args(GateName)  # in the order of the product's method, section 8


@dataclass(frozen=True)
class Verdict:
    """What acceptance says of one attempt, and which control decided.

    The judged columns of `raw-results` are here under their own names; None where a control was not reached.
    `subgroups` is (group, value) -> (metric value or None, threshold or None, number of inputs). `agreement` is with
    the predictions of the reference run; None where there is none.
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
    agreement: Agreement | None = None


@dataclass(frozen=True)
class Exclusion:
    """An attempt left out of the figures: by a rule of the protocol, or by a person's attestation. Its row stays."""

    attempt_id: str
    rule: str | None
    reason: Reason
    attested: bool


@dataclass(frozen=True)
class Interval:
    """What a sample carries for a median (seconds) or a ratio (no unit); all None, with the reason, when too few.

    `coverage` is the probability, 0 to 1, that the interval holds what it is of: at least that.
    """

    low: float | None
    high: float | None
    coverage: float | None
    reason: Reason


@dataclass(frozen=True)
class Figures:
    """Durations of one summary in seconds, taken another way: `passes` of them, in schedule order in `durations_s`."""

    passes: int
    durations_s: tuple[float | None, ...]
    median_s: float | None
    min_s: float | None
    max_s: float | None


@dataclass(frozen=True)
class Summary:
    """One variant on one corpus with one seed; durations are seconds of accepted, not excluded attempts.

    `durations_s` is in schedule order over all attempts, None where an attempt contributes none; median, min and max
    are None when no attempt contributes. Counts are of attempts, excluded ones among them. `median_interval` is what
    the sample carries for its median. `with_excluded` is the same figures with the attempts that an exclusion rule
    left out, when there are any.
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
    interrupted: int = 0  # of the unassessed ones, those that a person or the runner's death cut off
    warnings: tuple[Reason, ...] = ()
    median_interval: Interval | None = None
    with_excluded: Figures | None = None


@dataclass(frozen=True)
class Paired:
    """Two variants side by side in the rounds whose order was rotated: what drifts on the machine meets both.

    `rounds` are those in which both have a duration that counts, in one environment; `differences_s` are a minus b in
    them, in seconds; `a_faster` is in how many a was the faster one. A view, no test: it decides nothing.
    """

    rounds: tuple[int, ...]
    differences_s: tuple[float, ...]
    median_s: float
    a_faster: int
    reason: Reason


@dataclass(frozen=True)
class Separation:
    """Whether two variants are told apart by their durations on one corpus; `faster` only when separated.

    `gap_s` is the distance of the medians, `range_s` the larger of the two ranges, `p_value` of the two-sided exact
    Mann-Whitney test before, `p_adjusted` after Holm's correction. `more_passes` is how many more passes a side could
    tell, when only the test blocks. `shown` is whether the page shows the pair (of very many variants: not every one);
    only then `ratio`, which bounds the slower median over the faster one, and `paired` are worked out. `ratio` is None
    too when a sample carries no interval, `paired` where no order was rotated.
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
    shown: bool = False
    ratio: Interval | None = None
    paired: Paired | None = None
    warnings: tuple[Reason, ...] = ()


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
    covers_hours: int | Fraction | None
    offer: Offer | None
    window: Window | None
    accepted_deliverables: int | None
    cost_status: CostStatus
    cost_per_validated_corpus: Decimal | None
    warnings: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Planning:
    """A planning hypothesis of one variant: projected from accepted passes, never observed, and behind no figure.

    Attributes:
        deliverables: how many the protocol plans.
        corpus: the corpus of the slowest accepted pass.
        slowest_s: that pass, in seconds; None without an accepted one, and then nothing is projected.
        overheads_s: column -> median seconds of the phases beside a pass, spent once a deliverable.
        once_s: column -> seconds of phases that some accepted passes had and the others did not need: spent once.
        cool_down_s: what the manifest declares between two passes.
        left_out: columns of phases that not every accepted pass recorded, so that nothing is added for them.
        hours: the window that production would need, exact.
        quote: the smallest package that covers it, with the periods it takes; None when there is none.
        why: why nothing is projected, or why there is no package or no price for it.
    """

    variant: str
    deliverables: int
    corpus: str | None = None
    slowest_s: float | None = None
    overheads_s: Mapping[str, float] = field(default_factory=dict)
    once_s: Mapping[str, float] = field(default_factory=dict)
    cool_down_s: float | None = None
    left_out: tuple[str, ...] = ()
    hours: Fraction | None = None
    quote: Quote | None = None
    why: Reason | None = None


@dataclass(frozen=True)
class HourlyComparison:
    """An hourly offer of a variant's card beside one package of it, apart from the decision.

    Attributes:
        offer: the hourly offer; None when the catalogue holds none for this card.
        lots: lots of the hourly offer that hold at least the cards of the package; None when no lots are stated.
        by_the_hour: what the access window would cost by the hour; None when it cannot be known.
        package: what it is set against; None when that is unknown.
        break_even_hours: billed hours at which both cost the same, exact; None when that cannot be said.
        why: why a figure is absent; the first reason.
    """

    variant: str
    offer: Offer | None = None
    lots: int | None = None
    by_the_hour: Quote | None = None
    package: Quote | None = None
    break_even_hours: Fraction | None = None
    why: Reason | None = None


@dataclass(frozen=True)
class OtherAnswer:
    """What the answer would be under another assumption, with what tells the variants apart then."""

    status: Status
    variant: str | None
    contenders: tuple[str, ...]
    separations: tuple[Separation, ...]


@dataclass(frozen=True)
class Decision:
    """The answer. `variant` only when chosen; `contenders` are those among which it is undecided.

    `planning` and `hourly` stand beside the answer and never in it. `with_excluded` is the answer that the same
    attempts would give if no rule left any of them out; None when none does.
    """

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
    planning: tuple[Planning, ...] = ()
    hourly: tuple[HourlyComparison, ...] = ()
    with_excluded: OtherAnswer | None = None
