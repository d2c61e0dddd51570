"""A metric of the user's own: `[metrics.NAME] function = "module:function"` in the manifest, a file of the campaign.

The function takes the confusion, (reference, prediction) -> number of inputs, and returns a finite number:

    def cost_weighted(confusion: dict[tuple[str, str], int]) -> float: ...

It is called once over the corpus and once for each declared subgroup that has an input, where the predictions are
counted; its value travels in the evidence, so that judging runs no code. Direction and range are the manifest's:
`higher_is_better` (default true), `lowest`, `highest` (default: no end).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from lab.metrics.base import Needs, total
from lab.model.evidence import Aggregates, Confusion
from lab.model.manifest import MetricSpec

OwnFunction = Callable[[dict[tuple[str, str], int]], object]


class OwnMetricError(Exception):
    """The user's function is not there, raised, or gave no finite number; the message says which, for the verdict."""


@dataclass(frozen=True)
class OwnMetric:
    """A declared metric as acceptance uses it; satisfies `Metric`."""

    name: str
    spec: MetricSpec
    needs: Needs = "confusion"

    @property
    def higher_is_better(self) -> bool:
        """The direction that the manifest states."""
        return self.spec.higher_is_better

    @property
    def lowest(self) -> float | None:
        """The lower end that the manifest states."""
        return self.spec.lowest

    @property
    def highest(self) -> float | None:
        """The upper end that the manifest states."""
        return self.spec.highest

    def of(self, counted: Aggregates) -> float | None:
        """The value that came with the evidence; raises `OwnMetricError` with the message that came instead."""
        if counted.own_error is not None:
            raise OwnMetricError(counted.own_error)
        return counted.own

    def inputs(self, counted: Aggregates) -> int:
        """Inputs with a reference and a prediction."""
        return total(counted.confusion)


def module_file(spec: MetricSpec) -> str:
    """The path, within the campaign folder, of the file that holds the function."""
    return spec.function.partition(":")[0].replace(".", "/") + ".py"


class _Loader(SourceFileLoader):
    """Compiles the file as it stands: no cached bytecode is believed, and none is written into the campaign."""

    def get_code(self, fullname: str) -> CodeType:
        """The file's code."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


@contextmanager
def _among_modules(module: ModuleType) -> Iterator[None]:
    """Let the file find itself by its name while it runs, as a dataclass in it does; nothing of it is kept."""
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        sys.modules.pop(module.__name__, None)
        if before is not None:
            sys.modules[module.__name__] = before


def load(spec: MetricSpec, path: Path) -> OwnFunction:
    """The function out of the file `path` and from nowhere else; raises `OwnMetricError` when it cannot be had."""
    module_name, _, function_name = spec.function.partition(":")
    loader = _Loader(module_name, str(path))
    module = ModuleType(module_name)
    try:
        with _among_modules(module):
            loader.exec_module(module)
        function = getattr(module, function_name)
    except (Exception, SystemExit) as error:
        raise OwnMetricError(_said(error)) from error
    if not callable(function):
        raise OwnMetricError(f"{spec.function} is not a function")
    chosen: OwnFunction = function
    return chosen


def call(function: OwnFunction, confusion: Confusion) -> float:
    """What the function says of a confusion.

    Raises:
        OwnMetricError: it raised, or its answer is no finite number.
    """
    try:
        value = function(dict(confusion))
    except (Exception, SystemExit) as error:
        raise OwnMetricError(_said(error)) from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise OwnMetricError(f"not a finite number: {value!r}"[:200])
    return float(value)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
