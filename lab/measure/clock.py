"""The one clock of durations, and the barrier that waits for a device before it is read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from lab.model.attempt import DURATION_DIGITS


def seconds_since(began: float) -> float:
    """Seconds from `began`, a reading of `time.perf_counter`, rounded to the microsecond (design.md section 4)."""
    return round(time.perf_counter() - began, DURATION_DIGITS)


def barrier(device: str) -> Callable[[], None]:
    """A call that returns when everything queued on `device` is done; one that does nothing where nothing can queue.

    Device work is asynchronous: the host's clock waits for earlier work before it starts and for the measured work
    before it stops (seeds: separating start, warm-up and measured pass). torch is asked only when the work has already
    imported it, and only where an accelerator answers: its calls raise without one. A variant on the CPU queues
    nothing, and asking would make this process take hold of a device it does not use.
    """
    torch = sys.modules.get("torch")
    if device.startswith("cpu") or torch is None or not torch.accelerator.is_available():
        return lambda: None
    accelerator = torch.accelerator.current_accelerator()
    kind, _, index = device.partition(":")
    number = int(index) if kind == accelerator.type and index.isdigit() else torch.accelerator.current_device_index()

    def wait() -> None:
        torch.accelerator.synchronize(number)

    return wait
