"""`torch.compile` around a model: what it took, what was compiled again, how a pass fails where that is forbidden."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from lab.workloads.base import WorkloadError

MODES: Final = ("default", "reduce-overhead", "max-autotune")
NEEDS_GRAPHS: Final = ("reduce-overhead",)  # CUDA graphs: on a CPU torch would run `default` without a word

_FAILED: Final = "fail_on_recompile"


class Compiled:
    """A compiled model, called as the model itself is.

    Attributes:
        seconds: what the first calls took, compilation and one run of each shape together.
    """

    def __init__(self, model: Any, mode: str, *, one_width: bool) -> None:  # noqa: ANN401  (an untyped library's object)
        """Wrap `model`; nothing is compiled before the first call.

        `one_width` says that every batch is padded to one length: then a graph for each number of inputs is worth
        having. Otherwise shapes are free from the start, since one graph a width would soon be too many.
        """
        import torch

        # Past its limit torch runs uncompiled without a word: what is measured is to be what was asked, or to fail.
        torch._dynamo.config.fail_on_recompile_limit_hit = True  # noqa: SLF001  (the only place where it can be set)
        self._call = torch.compile(model, mode=mode, dynamic=None if one_width else True)
        self._marks = mode != "default" and torch.accelerator.is_available()
        self.seconds = 0.0

    def __call__(self, **tensors: Any) -> Any:  # noqa: ANN401  (as above)
        """Run the model; an earlier result may be overwritten, so take it to the host first."""
        import torch

        if self._marks:
            torch.compiler.cudagraph_mark_step_begin()
        return self._call(**tensors)

    def compile(self, run: Callable[[], None]) -> None:
        """Let `run` call the model in every shape that the pass will have, and time it.

        Raises:
            WorkloadError: the model cannot be compiled.
        """
        import torch

        began = time.perf_counter()
        try:
            run()
        except torch._dynamo.exc.TorchDynamoException as error:  # noqa: SLF001  (where torch keeps it)
            raise WorkloadError("compile_failed", error=type(error).__name__) from error
        self.seconds = round(time.perf_counter() - began, 6)

    @contextmanager
    def watched(self, counts: dict[str, int], facts: dict[str, str], *, forbidden: bool) -> Iterator[None]:
        """Count what is compiled again while the block runs, into `counts` and `facts`.

        Raises:
            WorkloadError: something had to be compiled again and `forbidden` says that it must not, or torch reached
                the number of graphs after which it would go on uncompiled.
        """
        import torch

        graphs, spent = _graphs(), _seconds()
        try:
            with torch.compiler.set_stance(_FAILED if forbidden else "default"):
                yield
        except torch._dynamo.exc.FailOnRecompileLimitHit as error:  # noqa: SLF001  (as above)
            raise WorkloadError("compile_limit", graphs=_graphs()) from error
        except RuntimeError as error:
            if _FAILED in str(error):
                raise WorkloadError("recompiled") from error
            raise
        finally:
            counts |= {"recompilations": _graphs() - graphs, "compiled_graphs": _graphs(), **_others()}
            facts["recompilation_s"] = f"{_seconds() - spent:.6f}"


def _graphs() -> int:
    return int(_counters()["stats"]["unique_graphs"])


def _others() -> dict[str, int]:
    """Graph breaks, and how often a graph came out of the cache on the disk: then `compile_s` is shorter."""
    counters = _counters()
    cache = counters["inductor"]
    return {
        "graph_breaks": sum(counters["graph_break"].values()),
        "compile_cache_hits": int(cache["fxgraph_cache_hit"]),
        "compile_cache_misses": int(cache["fxgraph_cache_miss"]),
    }


def _counters() -> Any:  # noqa: ANN401  (as above)
    from torch._dynamo.utils import counters

    return counters


def _seconds() -> float:
    from torch._dynamo.utils import calculate_time_spent

    return float(calculate_time_spent().get("entire_frame_compile", 0.0))
