"""`python`: a function of the user's own, `module:function`, given an iterator of (id, text), yielding predictions."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, ClassVar, Final

from lab.errors import Fault, fault
from lab.model.manifest import Variant
from lab.model.names import MANIFEST
from lab.workloads.base import Input, Job, Sink, Told, WorkloadError
from lab.workloads.threads import hold_libraries, thread_facts

_WITH_SCORES: Final = 3


class PythonFunction(Told):
    """Calls `function(inputs)` and takes what it yields: `(id, prediction)` or `(id, prediction, scores)`.

    Inputs are read as the function asks for them, and a prediction counts when it is yielded. However the pass ends, a
    generator is closed inside it, so that its `finally` and `with` blocks run.

    The module is looked for in the campaign folder first. A function with a parameter `settings` is given the
    variant's settings there, as a mapping of plain values. Only the manifest can name a function. What the module
    imports is held to the variant's `threads` (`lab.workloads.threads`).
    """

    name: ClassVar[str] = "python"
    needs: ClassVar[str] = "function"
    preload: ClassVar[tuple[str, ...]] = ()
    warms_up: ClassVar[bool] = True
    exports: ClassVar[bool] = False

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """The module must be in the campaign folder or installed; it is not imported, so its function is not known."""
        top = (variant.function or "").partition(":")[0].partition(".")[0]
        if top in sys.builtin_module_names or PathFinder.find_spec(top, [str(folder), *sys.path]):
            return ()
        return (fault("module-missing", file=MANIFEST, place=f"variants.{variant.id}.function", module=top),)

    def prepare(self, job: Job) -> None:
        """Import the module and find the function; raises `WorkloadError` when either is not there."""
        module_name, _, function_name = (job.variant.function or "").partition(":")
        hold_libraries(job.variant.threads)
        self.facts |= thread_facts(job.variant.threads)
        sys.path.insert(0, str(job.folder))
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
                raise
            raise WorkloadError("function_missing", function=job.variant.function) from error
        function = getattr(module, function_name, None)
        if not callable(function):
            raise WorkloadError("function_missing", function=job.variant.function)
        hold_libraries(job.variant.threads)  # torch, if the module has just imported it
        self._job = job
        self._function: Callable[..., Iterator[Any]] = function
        wants_settings = "settings" in inspect.signature(function).parameters
        self._arguments = {"settings": job.variant.parameters()} if wants_settings else {}

    def again(self, job: Job) -> bool:
        """Keep the imported module, and whatever it holds."""
        self._job = job
        return True

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Call the function with the chosen inputs and take its predictions, which go nowhere."""
        self._take(iter(chosen), Sink(lambda _: None))

    def run_pass(self, sink: Sink) -> None:
        """Call the function with the corpus as it is read; each prediction counts when it is yielded."""
        self._take(self._job.inputs(), sink)

    def _take(self, inputs: Iterator[Input], sink: Sink) -> None:
        given = self._function(inputs, **self._arguments)
        if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
            raise WorkloadError("function_gave_no_predictions", found=type(given).__name__)
        with ExitStack() as stack:
            for source in (inputs, given):  # closed in reverse: the function's own clean-up may still read its inputs
                if isinstance(source, Generator):
                    stack.callback(source.close)
            for number, row in enumerate(given, start=1):
                one, prediction, scores = _checked(row, number)
                sink.add((one,), (prediction,), (scores,))


def _checked(row: object, number: int) -> tuple[str, str, Mapping[str, float] | None]:
    """`row` as id, prediction and scores; an id or a prediction that is not text is refused, never converted."""
    if isinstance(row, tuple | list) and len(row) in {2, _WITH_SCORES}:
        one, prediction, *rest = row
        scores = rest[0] if rest else None
        if isinstance(one, str) and isinstance(prediction, str) and (scores is None or isinstance(scores, Mapping)):
            return one, prediction, scores
    raise WorkloadError("prediction_malformed", number=number, found=type(row).__name__)
