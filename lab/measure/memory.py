"""Memory peaks: what each counter covers, and which of them exist here. Absent counters are None, never 0."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any

from lab.model.attempt import DeviceMemory

_KIB = 1024


def reset_device_peaks(device: str) -> None:
    """Start the allocator's peaks anew on every device that is there, so that they are of the pass alone."""
    torch = _torch_with_accelerator(device)
    if torch is not None:
        for number in range(torch.accelerator.device_count()):
            torch.accelerator.reset_peak_memory_stats(number)


def device_peaks(device: str) -> tuple[DeviceMemory, ...]:
    """The allocator's peaks in bytes of each device that the process used; none for a variant on the CPU.

    Allocated bytes are this process's tensors, reserved bytes what its allocator holds: never added (seeds: memory as
    a criterion of feasibility). The driver's count of the whole device needs a reader of its own: None here.
    """
    torch = _torch_with_accelerator(device)
    if torch is None:
        return ()
    kind = torch.accelerator.current_accelerator().type
    found = []
    for number in range(torch.accelerator.device_count()):
        reserved = torch.accelerator.max_memory_reserved(number)
        name = f"{kind}:{number}"
        if not reserved and device not in {name, kind}:
            continue  # a device that the pass did not touch
        properties = torch.get_device_module(kind).get_device_properties(number)
        uuid = getattr(properties, "uuid", None)
        found.append(
            DeviceMemory(
                device=name,
                name=getattr(properties, "name", None),
                uuid=None if uuid is None else str(uuid),
                peak_allocated_bytes=torch.accelerator.max_memory_allocated(number),
                peak_reserved_bytes=reserved,
            )
        )
    return tuple(found)


def host_peak_bytes() -> int:
    """The peak resident set of this process in bytes, pages shared with the process it was forked from included."""
    status = Path("/proc/self/status")
    if status.exists():  # exact after an exec, where getrusage still counts the program before it
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * _KIB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIB


def _torch_with_accelerator(device: str) -> Any:  # noqa: ANN401  (the untyped module torch, or None)
    torch = None if device.startswith("cpu") else sys.modules.get("torch")
    return torch if torch is not None and torch.accelerator.is_available() else None
