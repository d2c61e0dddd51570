"""Whether a variant's model can fit on its card at all: by formula, from the files of the model, before renting.

The formulas are those of `lab.estimate_memory`, the same that the kit hands out. They give the least that is needed, so
that "cannot fit" holds; that a variant can fit, only a pass shows (the product's method: the gate `memory`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from lab.estimate_memory import GIB, Load, estimate, read_shape, read_weights
from lab.model.campaign import Campaign
from lab.model.manifest import Variant
from lab.model.reason import Reason, reason

# Workloads that put the whole model on each of their devices, in the precision they declare; what a program or a
# function of the user's own does with a model, nothing here knows.
_WHOLE = ("text-classification", "embedding", "generation")


def memory_warnings(campaign: Campaign, folder: Path) -> tuple[Reason, ...]:
    """A warning for each variant that cannot fit on its card, or of which that cannot be said here.

    Of variants whose card's memory a catalogue of the campaign states, and whose model goes whole on each card. Where
    catalogues differ, the largest memory counts.
    """
    return tuple(_warnings(campaign, folder))


def _warnings(campaign: Campaign, folder: Path) -> Iterator[Reason]:
    for variant in campaign.manifest.variants:
        stated = [
            one.memory_gib_per_card
            for one in campaign.offers
            if one.gpu == variant.gpu and one.memory_gib_per_card is not None
        ]
        if stated and variant.model and variant.workload in _WHOLE and not variant.device.startswith("cpu"):
            yield from _compared(variant, folder / variant.model, max(stated))


def _compared(variant: Variant, model: Path, stated: Decimal) -> Iterator[Reason]:
    weights, shape = read_weights(model), read_shape(model)
    load = _load(variant, None if shape is None else shape.positions)
    found = estimate(shape, weights, load)
    facts = {"variant": variant.id, "gpu": variant.gpu, "memory_gib": float(stated)}
    if found.weights is not None and found.weights > stated * GIB:
        yield reason("check.memory_weights", needed_gib=_gib(found.weights), **facts)
    elif found.least is None:
        yield reason("check.memory_unknown", model=variant.model, **facts)
    elif found.least > stated * GIB:
        yield reason("check.memory_batch", needed_gib=_gib(found.least), batch=load.batch, tokens=load.length, **facts)


def _gib(count: int) -> float:
    """Rounded up, so that what is too much never shows as what the card has."""
    return math.ceil(count / GIB * 100) / 100


def _load(variant: Variant, positions: int | None) -> Load:
    """The largest batch that the variant's settings allow."""
    length = min(variant.max_length, positions or variant.max_length)
    by_tokens = variant.padding == "token-budget" and variant.token_budget is not None
    batch = max(1, (variant.token_budget or 0) // length) if by_tokens else variant.batch_size
    precision = "int8" if variant.quantization != "none" else variant.precision
    attention = "sdpa" if variant.compile else variant.attention  # a compiler may merge what eager attention writes
    return Load(precision, attention, batch, length, variant.max_new_tokens or 0)
