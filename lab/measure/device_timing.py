"""The inference part of a pass by the device's own clock: events around each call of the model.

Read in torch 2.13's sources, not run on a device in this release. The figure goes to `attempt.json` beside the main
duration and is never compared with it: it covers no reading, tokenising, transfer or waiting (seeds: a duration limited
to the device's work does not compare with the main one).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

READING: Final = "pass.inference_device_s"
_MILLI: Final = 1000


@contextmanager
def inference_seconds(work: object, device: str, into: dict[str, float | None]) -> Iterator[None]:
    """Add the seconds between the start and the end of every call of `work.inference` to `into`, as `READING`.

    Nothing is added on the CPU, without an accelerator, or for work that names no module as its inference. Recording an
    event queues a mark and waits for nothing; the marks are read once the pass is over.
    """
    module: Any = getattr(work, "inference", None)
    torch = sys.modules.get("torch")
    if module is None or torch is None or device.startswith("cpu") or not torch.accelerator.is_available():
        yield
        return
    marks: list[Any] = []

    def mark(*_arguments: object) -> None:
        event = torch.Event(device=device, enable_timing=True)
        event.record()
        marks.append(event)

    hooks = (module.register_forward_pre_hook(mark), module.register_forward_hook(mark))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
    into[READING] = round(sum(a.elapsed_time(b) for a, b in zip(marks[::2], marks[1::2], strict=True)) / _MILLI, 6)
