"""Which attention kernel really ran: torch chooses among several for one `sdpa`, and only its profiler names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_CHOSEN: Final = ("_scaled_dot_product_", "flash_attn", "flashattn", "_efficient_attention", "flex_attention", "fmha")
_BY_HAND: Final = "aten::_softmax"
_NOT_SEEN: Final = "no kernel seen by name"


def attention_kernel(run: Callable[[], object]) -> str:
    """The names of the attention operators that `run` called, as torch's profiler gives them.

    `aten::_softmax` alone is attention written out step by step (eager). Only the host's side is profiled: the
    operators name the kernel, and the device's tracer would stay in this process and slow it down.
    """
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        run()
    names = sorted({event.name for event in profiled.events()})
    chosen = [name for name in names if any(part in name.lower() for part in _CHOSEN)]
    return ", ".join(chosen) or (_BY_HAND if _BY_HAND in names else _NOT_SEEN)
