"""How inputs are grouped into batches: by corpus order, by length, or by a budget of tokens. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_order(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Group `items` by `size` in their own order; the last group holds what is left. Reads no further than asked."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def by_length(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Group indices by `size`, longest first, so that the largest batch comes before anything was spent on others."""
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    return list(in_order(order, size))


def by_budget(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group indices, longest first, so that longest length x number of inputs stays within `budget` tokens.

    An input that is longer than the budget makes a batch of its own: no input is left out.
    """
    batches: list[list[int]] = []
    width = 0
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        if not batches or width * (len(batches[-1]) + 1) > budget:
            batches.append([])
            width = lengths[index]
        batches[-1].append(index)
    return batches
