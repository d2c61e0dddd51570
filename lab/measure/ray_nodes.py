"""Which nodes of a Ray cluster can run a variant, by what it declares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from lab.model.manifest import Variant

_TYPE: Final = "accelerator_type"
_TRACE: Final = 0.001  # Ray's own way of asking for a type: every node of that type offers 1 of it


@dataclass(frozen=True)
class Node:
    """A node as Ray describes it: its id, the host that it is on, and how much of what it offers."""

    id: str
    host: str
    offers: Mapping[str, float]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """From one entry of `ray.nodes()`."""
        return cls(said["NodeID"], said["NodeManagerAddress"], said["Resources"])


def demands(variant: Variant) -> dict[str, float]:
    """What a node must offer, by Ray's names: processors, accelerators and their type, and resources of one's own."""
    wanted = {"CPU": float(variant.threads)}
    if not variant.device.startswith("cpu"):
        wanted["GPU"] = float(variant.devices)
    if variant.accelerator_type:
        wanted[f"{_TYPE}:{variant.accelerator_type}"] = _TRACE
    return {**wanted, **(variant.resources or {})}


def fitting(nodes: Iterable[Node], wanted: Mapping[str, float], lost: Collection[str] = ()) -> list[Node]:
    """The nodes that offer all of it, none that was lost, in the order of their ids: the same choice every time."""
    fits = (one for one in nodes if all(one.offers.get(name, 0.0) >= amount for name, amount in wanted.items()))
    return sorted((one for one in fits if one.id not in lost), key=lambda one: one.id)


def described(wanted: Mapping[str, float]) -> list[str]:
    """What a node must offer, as a person reads it: `accelerator_type H100`, `GPU 2`."""
    kind = f"{_TYPE}:"
    return [
        f"{_TYPE} {name.removeprefix(kind)}" if name.startswith(kind) else f"{name} {amount:g}"
        for name, amount in wanted.items()
    ]
