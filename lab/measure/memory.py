"""Memory peaks: what each counter covers, and which of them exist here. Absent counters are None, never 0.

Read in sources, not run on a device in this release: everything below that needs an accelerator.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lab.model.attempt import DeviceMemory

_KIB: Final = 1024
_STATUS: Final = Path("/proc/self/status")
_CLEAR: Final = Path("/proc/self/clear_refs")
_RESET_PEAK: Final = "5"  # proc(5): resets the peak resident set size

# What each counter covers, written beside the counters in `attempt.json` under `facts`.
SCOPES: Final[Mapping[str, str]] = {
    "peak_allocated_bytes": "torch.accelerator.max_memory_allocated: this process's tensors on the one device,"
    " from the reset right before the pass to its end",
    "peak_reserved_bytes": "torch.accelerator.max_memory_reserved: what this process's allocator holds on the one"
    " device, the allocated bytes included, from the reset right before the pass to its end",
}
HOST_WHILE_MEASURED: Final = "VmHWM: peak resident set of the worker, from the reset right before the pass to its end"
HOST_OF_PROCESS: Final = "peak resident set of the worker, from its start on: loading and warm-up included"


def reset_device_peaks(device: str) -> None:
    """Start the allocator's peaks anew on every device that is there, so that they are of the pass alone."""
    torch = _torch_with_accelerator(device)
    if torch is not None:
        for number in range(torch.accelerator.device_count()):
            torch.accelerator.reset_peak_memory_stats(number)


def device_peaks(device: str) -> tuple[DeviceMemory, ...]:
    """The allocator's peaks in bytes of each device that the process used; none for a variant on the CPU.

    Allocated bytes are this process's tensors, reserved bytes what its allocator holds: never added (seeds: memory as
    a criterion of feasibility). The driver's count of the whole device is asked of the driver: None here.
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


def with_whole_device(
    devices: tuple[DeviceMemory, ...], taken: Mapping[str, int | None], known: tuple[DeviceMemory, ...] = ()
) -> tuple[DeviceMemory, ...]:
    """The same peaks with the driver's count of each whole device, the largest that was seen; each device on its own.

    Args:
        devices: as counted so far; a device of `known` that is not among them joins them when something was seen of it.
        taken: device to the bytes that all processes had taken of it.
        known: devices whose names and UUIDs are known without the worker.
    """
    here = {one.device for one in devices}
    seen = {device: count for device, count in taken.items() if count is not None}
    joined = (*devices, *(one for one in known if one.device not in here and one.device in seen))
    return tuple(replace(one, peak_device_bytes=_larger(one.peak_device_bytes, seen.get(one.device))) for one in joined)


def free_by_torch(device: str) -> dict[str, int | None]:
    """Bytes taken on each device by all processes, as total less free by torch: for devices without a reader."""
    torch = _torch_with_accelerator(device)
    if torch is None:
        return {}
    kind = torch.accelerator.current_accelerator().type
    taken: dict[str, int | None] = {}
    for number in range(torch.accelerator.device_count()):
        with suppress(RuntimeError, NotImplementedError):  # not every backend says what is free
            free, total = torch.accelerator.get_memory_info(number)
            taken[f"{kind}:{number}"] = total - free
    return taken


def reset_host_peak() -> bool:
    """Start the peak resident set of this process anew; False where the system cannot: it covers its whole life."""
    try:
        _CLEAR.write_text(_RESET_PEAK)
    except OSError:
        return False
    return True


def host_peak_bytes() -> int:
    """The peak resident set of this process in bytes, pages shared with the process it was forked from included."""
    if _STATUS.exists():  # exact after an exec, where getrusage still counts the program before it
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * _KIB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIB


def _larger(one: int | None, other: int | None) -> int | None:
    present = [value for value in (one, other) if value is not None]
    return max(present) if present else None


def _torch_with_accelerator(device: str) -> Any:  # noqa: ANN401  (the untyped module torch, or None)
    torch = None if device.startswith("cpu") else sys.modules.get("torch")
    return torch if torch is not None and torch.accelerator.is_available() else None
