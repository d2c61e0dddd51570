"""From the variants' gates and budgets to the answer (the product's method, section 8). Undecided is an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from lab.analysis.gates import excluded, open_gates
from lab.model.decision import GateName, GateResult, Separation, Status, VariantDecision
from lab.model.reason import Reason, reason

# What it takes to settle a gate, from a cell to fill in, over another package or date, to passes and a new campaign.
CHEAPEST_FIRST: Mapping[GateResult, tuple[GateName, ...]] = {
    "unknown": (
        "price", "calendar", "deadline", "budget", "deliverables", "device", "sealed", "passes_tried",
        "passes_accepted", "memory",
    ),
    "failed": (
        "price", "deliverables", "calendar", "deadline", "budget", "device", "passes_tried", "passes_accepted",
        "memory", "sealed",
    ),
}  # fmt: skip


PAIRS_SAID = 10  # pairs of candidates that the answer speaks of one by one: those of five variants


@dataclass(frozen=True)
class Answer:
    """The status with its reasons and next steps; `contenders` are those among which it is undecided."""

    status: Status
    reasons: tuple[Reason, ...]
    next_steps: tuple[Reason, ...] = ()
    winner: VariantDecision | None = None
    contenders: tuple[str, ...] = ()


def rank(variants: Sequence[VariantDecision], separations: Sequence[Separation]) -> Answer:
    """The cheapest eligible variant, when nothing unknown and no tie stands against it; else why there is none yet."""
    able = [one for one in variants if one.eligible]
    pending = [one for one in variants if not one.eligible and not excluded(one.gates)]
    currencies = sorted({one.currency for one in (*able, *pending) if one.currency is not None})
    if not able and not pending:
        reasons = (reason("decision.none_eligible"), *_by_gate(variants, "failed"))
        return Answer("none_eligible", reasons, _steps(variants, "failed"))
    if len(currencies) > 1:
        names = tuple(one.id for one in (*able, *pending))
        why = reason("decision.currencies", currencies=currencies, variants=list(names))
        return Answer("undecided", (why,), (reason("next.one_currency"),), contenders=names)
    best = min((budget(one) for one in able), default=None)
    could_win = [one for one in pending if best is None or one.committed is None or one.committed <= best]
    first = [one for one in able if budget(one) == best]
    if could_win:
        why = reason("decision.open", variants=[one.id for one in could_win])
        contenders = tuple(one.id for one in (*first, *could_win))
        return Answer(
            "undecided", (why, *_by_gate(could_win, "unknown")), _steps(could_win, "unknown"), None, contenders
        )
    answer = _among_equals(first, able, separations)
    # One that would cost no more and is out is named with its gate: nobody wonders where the cheap one went.
    paid = budget(first[0])
    out = [one for one in variants if excluded(one.gates) and one.committed is not None and one.committed <= paid]
    return replace(answer, reasons=(*answer.reasons, *_by_gate(out, "failed")))


def cheapest(variants: Sequence[VariantDecision]) -> frozenset[str]:
    """The eligible variants of the lowest committed budget: the only ones that their durations could still rank."""
    able = [one for one in variants if one.eligible]
    best = min((budget(one) for one in able), default=None)
    return frozenset(one.id for one in able if budget(one) == best)


def budget(variant: VariantDecision) -> Decimal:
    """The committed budget of an eligible variant.

    Raises:
        LookupError: when there is none; an eligible variant has passed the price gate and has one.
    """
    if variant.committed is None:
        raise LookupError(variant.id)
    return variant.committed


def mishaps(variant: VariantDecision) -> tuple[int, int]:
    """The fewest and the most failed or rejected attempts there can be, over all corpora and seeds.

    An exclusion hides none of them. An attempt that ended and could not be assessed may be one: evidence that is
    altered or gone never makes a variant look better.
    """
    sure = sum(one.failed + one.rejected for one in variant.summaries)
    return sure, sure + sum(one.unassessed - one.interrupted for one in variant.summaries)


def _among_equals(
    first: Sequence[VariantDecision], able: Sequence[VariantDecision], separations: Sequence[Separation]
) -> Answer:
    facts: dict[str, object] = {"amount": first[0].committed, "currency": first[0].currency}
    if len(first) == 1:
        key = "decision.cheapest" if len(able) > 1 else "decision.only_one"
        return Answer("chosen", (reason(key, variant=first[0].id, **facts),), winner=first[0])
    reasons = [reason("decision.same_budget", variants=[one.id for one in first], **facts)]
    most = min(mishaps(one)[1] for one in first)
    steady = [one for one in first if mishaps(one)[0] <= most]
    dropped = [one.id for one in first if one not in steady]
    fewest = mishaps(steady[0])[1]
    if len(steady) == 1:
        why = reason("decision.fewer_mishaps", variant=steady[0].id, count=fewest, others=dropped)
        return Answer("chosen", (*reasons, why), winner=steady[0])
    if dropped:
        reasons.append(reason("decision.more_mishaps", variants=dropped))
    names = [one.id for one in steady]
    if len({count for one in steady for count in mishaps(one)}) > 1:
        open_ = [one.id for one in steady if mishaps(one)[0] != mishaps(one)[1]]
        why = reason("decision.mishaps_open", variants=open_)
        step = reason("next.mishaps_open", variants=open_)
        return Answer("undecided", (*reasons, why), (step,), contenders=tuple(names))
    left = _not_slower(names, separations)
    if len(left) == 1:
        others = [name for name in names if name != left[0]]
        why = reason("decision.faster", variant=left[0], others=others)
        return Answer("chosen", (*reasons, why), winner=next(one for one in steady if one.id == left[0]))
    if slower := [name for name in names if name not in left]:
        reasons.append(reason("decision.slower", variants=slower))
    own = _between(left, separations)
    blocked = [one for one in own if not one.separated]
    why = reason("decision.not_separated" if blocked else "decision.directions_differ", variants=left)
    each = [one.reason for one in blocked] if len(blocked) <= PAIRS_SAID else []  # every pair keeps its own reason
    return Answer("undecided", (*reasons, why, *each), _how_to_tell(blocked), contenders=tuple(left))


def _between(names: Sequence[str], separations: Sequence[Separation]) -> list[Separation]:
    return [one for one in separations if one.a in names and one.b in names]


def _not_slower(names: Sequence[str], separations: Sequence[Separation]) -> list[str]:
    """The variants that none of the fastest beats: to beat another is to be faster on every corpus and seed.

    Only being beaten by a variant that is itself unbeaten counts: where a beats b, b beats c, and nothing is shown
    between a and c, c stays beside a.
    """
    pairs: dict[frozenset[str], list[Separation]] = {}
    for pair in separations:
        pairs.setdefault(frozenset((pair.a, pair.b)), []).append(pair)

    def beats(one: str, other: str) -> bool:
        both = pairs.get(frozenset((one, other)), [])
        return bool(both) and all(pair.faster == one for pair in both)

    fastest = [name for name in names if not any(beats(other, name) for other in names)]
    return [name for name in names if not any(beats(other, name) for other in fastest)]


def _how_to_tell(blocked: Sequence[Separation]) -> tuple[Reason, ...]:
    """What could tell, the cheapest first: to look at what is recorded, then the fewest passes; else to choose.

    One step for all pairs that the same would help. Choosing for another reason is last though it costs nothing: it
    does not answer the question.
    """
    steps: dict[str, list[Separation]] = {"find_cause": [], "measure_more": [], "more_passes": []}
    for one in blocked:
        if one.blocked_by == "test" and one.more_passes is not None:
            steps["more_passes"].append(one)
        elif one.blocked_by in ("range", "range_and_test"):
            steps["find_cause"].append(one)
        elif one.blocked_by == "too_few":
            steps["measure_more"].append(one)
    found = tuple(_step(kind, pairs) for kind, pairs in steps.items() if pairs)
    return (*found, reason("next.choose_otherwise"))


def _step(kind: str, pairs: Sequence[Separation]) -> Reason:
    """One step for one pair, or for all of them: which variants, on which corpora, and the most passes it takes."""
    more = max((one.more_passes or 0 for one in pairs), default=0)
    facts: dict[str, object] = {"more": more} if kind == "more_passes" else {}
    if len({(one.a, one.b, one.corpus) for one in pairs}) == 1:
        return reason(f"next.{kind}", a=pairs[0].a, b=pairs[0].b, corpus=pairs[0].corpus, **facts)
    variants = list(dict.fromkeys(name for one in pairs for name in (one.a, one.b)))
    corpora = list(dict.fromkeys(one.corpus for one in pairs))
    return reason(f"next.{kind}_of_several", variants=variants, corpora=corpora, pairs=len(pairs), **facts)


def _by_gate(variants: Sequence[VariantDecision], result: GateResult) -> tuple[Reason, ...]:
    """One sentence per gate that blocks, naming the variants it blocks."""
    found: dict[GateName, list[str]] = {}
    for variant in variants:
        blocking = open_gates(variant.gates) if result == "unknown" else variant.gates
        for gate in blocking:
            if gate.result == result:
                found.setdefault(gate.gate, []).append(variant.id)
    return tuple(reason(f"decision.{result}.{gate}", variants=names) for gate, names in found.items())


def _steps(variants: Sequence[VariantDecision], result: GateResult) -> tuple[Reason, ...]:
    """What to do about each gate that blocks, once, the cheapest first (`CHEAPEST_FIRST`)."""
    found = {one.key.rsplit(".", 1)[1]: one for one in _by_gate(variants, result)}
    ordered = [found[gate] for gate in CHEAPEST_FIRST[result] if gate in found]
    return tuple(reason(one.key.replace("decision.", "next.", 1), **one.values) for one in ordered)
