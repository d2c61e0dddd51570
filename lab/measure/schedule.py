"""Which passes are to be run, in which order, and which of them are still missing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeVar

from lab.errors import InvalidInputError, UsageProblemError, fault
from lab.model.attempt import Record, Slot, ended_by_itself, slot_key
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol

T = TypeVar("T")
OrderRule = Literal["rotated", "balanced", "by_variant"]


def order_of_round(items: Sequence[T], number: int, rounds: int) -> tuple[T, ...]:
    """The order of round `number` (from 1) of `rounds`.

    As many rounds as items or more: each round starts one further, 1-4-8, 4-8-1, 8-1-4, and again (seeds: so that
    one variant is not always the first). Fewer rounds than items: a rotation would leave most items always late, so
    every second round runs the one before it backwards, and each such pair starts at another part of the list.
    """
    count = len(items)
    if count <= rounds:
        shift = (number - 1) % count if count else 0
        return (*items[shift:], *items[:shift])
    pair, backwards = divmod(number - 1, 2)
    shift = pair * count // math.ceil(rounds / 2)
    turned = (*items[shift:], *items[:shift])
    return turned[::-1] if backwards else turned


def plan(manifest: Manifest, protocol: Protocol, *, only: Collection[str] | None = None) -> tuple[Slot, ...]:
    """Every planned pass in the order it is to be run: round by round, in it seed by seed and corpus by corpus.

    Where one process serves all passes of a variant, the plan goes variant by variant instead, and nothing rotates.

    Args:
        manifest: variants, corpora and seeds.
        protocol: the number of repetitions, one round each.
        only: the variants of this host; rounds rotate among them alone. None: all.

    Raises:
        InvalidInputError: the protocol states no repetitions.
        UsageProblemError: `only` names a variant that the manifest does not have.
    """
    if not protocol.repetitions or protocol.repetitions < 1:
        # Without a file: which one is the workbook is known where its folder is, and `lab check` names its cell.
        raise InvalidInputError(fault("repetitions-missing", place="protocol.repetitions"))
    known = [variant.id for variant in manifest.variants]
    strangers = sorted(set(only or ()) - set(known))
    if strangers:
        raise UsageProblemError(fault("only-unknown-variant", ids=strangers, known=known))
    chosen = [one for one in known if only is None or one in only]
    if manifest.run.process == "per-variant":
        return tuple(
            Slot(variant=variant, corpus=corpus.id, seed=seed, round=number, position=position)
            for position, variant in enumerate(chosen, start=1)
            for number in range(1, protocol.repetitions + 1)
            for seed in manifest.run.seeds
            for corpus in manifest.corpora
        )
    return tuple(
        Slot(variant=variant, corpus=corpus.id, seed=seed, round=number, position=position)
        for number in range(1, protocol.repetitions + 1)
        for seed in manifest.run.seeds
        for corpus in manifest.corpora
        for position, variant in enumerate(order_of_round(chosen, number, protocol.repetitions), start=1)
    )


def order_of(slots: Sequence[Slot]) -> OrderRule:
    """The rule behind the order of a plan, as `plan` and `order_of_round` have it."""
    rounds = [slot.round for slot in slots]
    if rounds != sorted(rounds):
        return "by_variant"
    return "rotated" if len({slot.variant for slot in slots}) <= max(rounds, default=0) else "balanced"


def order_facts(slots: Sequence[Slot], slot: Slot) -> dict[str, str]:
    """What the plan was when an attempt was made, to be kept with it: its rule, the order of this round, the place."""
    same = [one for one in slots if (one.round, one.corpus, one.seed) == (slot.round, slot.corpus, slot.seed)]
    return {
        "plan.order": order_of(slots),
        "plan.round": " ".join(one.variant for one in same),
        "plan.place": f"{slots.index(slot) + 1}/{len(slots)}",
    }


def remaining(slots: Iterable[Slot], records: Iterable[Record]) -> tuple[Slot, ...]:
    """The slots of which no attempt has ended by itself, in the order given, whatever the order of `records`.

    A failed, out-of-memory or timed-out slot is never run again (the product's method, section 8); a row typed into
    the workbook counts when it says how the attempt ended.
    """
    tried = {slot_key(one.attempt) for one in records if ended_by_itself(one.attempt)}
    return tuple(slot for slot in slots if slot_key(slot) not in tried)
