"""How a corpus is divided over devices, and what each device's process says of its share."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lab.model.attempt import DeviceMemory
from lab.model.manifest import Variant


@dataclass(frozen=True)
class Part:
    """What one device's process measured of its share of a pass.

    Attributes:
        inputs: of its share, and `size` what they weigh: tokens, or characters of a workload without tokens.
        duration_s: seconds from its order to its last prediction on the host.
        cpu_s: processor seconds of the process in that time.
        host_peak_bytes: its peak resident set, of the pass alone where `host_of_pass` says so.
        devices: the allocator's peaks of its device, by the name that the variant's machine has for it.
        readings: more figures, by name.
        durations: seconds of phases that only the work can see; `counts` and `facts` likewise (`Workload`).
    """

    inputs: int
    size: int
    duration_s: float
    cpu_s: float
    host_peak_bytes: int
    host_of_pass: bool
    devices: tuple[DeviceMemory, ...] = ()
    readings: Mapping[str, float | None] = field(default_factory=dict)
    durations: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


def balanced(sizes: Sequence[int], parts: int) -> tuple[tuple[int, ...], ...]:
    """Divide the indices of `sizes` into `parts` shares of about equal weight, each in ascending order.

    The longest first, each to the share that weighs least so far (Graham 1969: the heaviest share is then at most 4/3
    of the best possible one). Equal weights go to the first share, so that the same sizes give the same shares.
    """
    shares: list[list[int]] = [[] for _ in range(parts)]
    weights = [(0, number) for number in range(parts)]
    for index in sorted(range(len(sizes)), key=lambda index: (-sizes[index], index)):
        weight, number = heapq.heappop(weights)
        shares[number].append(index)
        heapq.heappush(weights, (weight + sizes[index], number))
    return tuple(tuple(sorted(share)) for share in shares)


def device_names(variant: Variant) -> tuple[str, ...]:
    """What each device of the variant is called: `cuda:0`, `cuda:1` ... and on the CPU one name for each process."""
    kind, _, index = variant.device.partition(":")
    first = int(index) if index.isdigit() else 0
    return tuple(f"{kind}:{number}" for number in range(first, first + variant.devices))


def merged_facts(parts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The facts of all devices: once where all say the same, else each with its device's name before it."""
    found: dict[str, str] = {}
    names = dict.fromkeys(name for facts in parts.values() for name in facts)
    for name in names:
        said = {facts.get(name) for facts in parts.values()}
        if len(said) == 1:
            found[name] = next(iter(parts.values()))[name]
        else:
            found |= {f"{device}.{name}": facts[name] for device, facts in parts.items() if name in facts}
    return found
