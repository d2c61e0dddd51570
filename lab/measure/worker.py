"""The process that runs one attempt: load, warm up, the timed pass, export, evaluate; then it says what it measured.

Started by a launcher (`lab.measure.launcher`), in a session of its own, its output already going to the attempt's
log; or, where nothing can be forked from, as `python -m lab.measure.worker ORDER`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psutil

from lab.errors import LabError
from lab.measure import endings, memory, readings
from lab.measure.clock import barrier, seconds_since
from lab.measure.environment import accelerator_facts
from lab.measure.orders import ORDER_FILE, Order, read_order
from lab.measure.progress import PROGRESS_FILE, Phase, ProgressFile
from lab.measure.result import RESULT_FILE, Result
from lab.model.attempt import DeviceMemory, Outcome
from lab.model.reason import Reason
from lab.store.corpus import open_corpus
from lab.store.files import sha256_file
from lab.store.predictions import examine, write_predictions
from lab.workloads import workload
from lab.workloads.base import Sink, Workload, warm_up_inputs

_HEARTBEAT_S = 0.5


class _StoppedError(BaseException):
    """The supervisor asked this worker to end; no `except Exception` of the work takes it."""


@dataclass
class _Notes:
    """What is known so far: complete enough to be written at any moment the attempt may end."""

    outcome: Outcome | None = None
    reason: Reason | None = None
    durations: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    readings: dict[str, float | None] = field(default_factory=dict)
    predictions_sha256: str | None = None


def run(order_file: Path) -> None:
    """Do what the order says and leave the result beside it; the work's own failures are results, not exceptions."""
    if order_file.name != ORDER_FILE:
        _observe(order_file)
        return
    order = read_order(order_file)
    signal.signal(signal.SIGTERM, _stop)
    started = psutil.Process().create_time()
    path = order.at / PROGRESS_FILE
    with ProgressFile(path, pid=os.getpid(), process_start=started, total=order.job.size) as progress:
        _watch_parent(progress)
        os.chdir(order.job.folder)
        _attempt(order, progress).write(order.at / RESULT_FILE)
        progress.phase("ended")


def _attempt(order: Order, progress: ProgressFile) -> Result:
    """Run the phases; whatever ends them, what was measured until then is in the result."""
    work = workload(order.job.variant.workload)()
    notes = _Notes()
    sink = _counting(progress)
    try:
        _phases(order, work, sink, notes, progress)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from here on there is only writing down
        notes.outcome = "completed"
    except _StoppedError:
        sys.stderr.write("stopped by the supervisor\n")  # this process's output is the attempt's log
    except BaseException as error:  # noqa: BLE001  (whatever the work raises is how the attempt ended)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        traceback.print_exc()
        notes.outcome, notes.reason = endings.of_exception(error, order.job.folder)
    if notes.outcome != "completed":
        _keep_partial(order, work, sink, notes)
    return Result(
        outcome=notes.outcome,
        reason=notes.reason,
        durations={**notes.durations, **work.durations},
        missing=notes.missing,
        counts=work.counts,
        facts=work.facts,
        readings=notes.readings,
        devices=_device_peaks(order.job.variant.device),
        host_peak_bytes=memory.host_peak_bytes(),
        completed_inputs=sink.done,
        predictions_sha256=notes.predictions_sha256,
    )


def _device_peaks(device: str) -> tuple[DeviceMemory, ...]:
    """The devices' peaks; none where a device that failed answers no more: the rest of the result is worth having."""
    try:
        return memory.device_peaks(device)
    except RuntimeError:
        traceback.print_exc()
        return ()


class _CountingSink(Sink):
    """A sink that remembers what it last counted, also where a program wrote the predictions itself."""

    done: int = 0


def _counting(progress: ProgressFile) -> _CountingSink:
    def count(completed: int) -> None:
        sink.done = completed
        progress.count(completed)

    sink = _CountingSink(count)
    return sink


def _phases(order: Order, work: Workload, sink: Sink, notes: _Notes, progress: ProgressFile) -> None:
    job = order.job
    for name in work.preload:  # already there in a forked worker; elsewhere its cost is in no column
        importlib.import_module(name)
    with _timed("loading", "load_s", notes, progress, less=work):
        work.prepare(job)
    _warm_up(order, work, notes, progress)

    wait = barrier(job.variant.device)
    gc.collect()
    gc.freeze()  # what loading left is walked by no collection inside the pass, whichever way the worker started
    memory.reset_device_peaks(job.variant.device)
    before = readings.read_now()
    progress.phase("measuring")
    wait()
    began = time.perf_counter()
    work.run_pass(sink)
    wait()
    duration = seconds_since(began)
    notes.readings.update(readings.between(before, readings.read_now()))

    if work.exports:
        notes.missing["export_s"] = "missing.exported_in_pass"
        notes.predictions_sha256 = sha256_file(job.predictions)
    else:
        with _timed("exporting", "export_s", notes, progress):
            notes.predictions_sha256 = write_predictions(job.predictions, sink.rows())
    _evaluate(order, notes, progress)
    notes.durations["duration_s"] = duration


def _warm_up(order: Order, work: Workload, notes: _Notes, progress: ProgressFile) -> None:
    job = order.job
    if not work.warms_up:
        notes.missing["warm_up_s"] = "missing.no_warm_up_possible"
    elif not job.warm_up_passes or not job.warm_up_inputs:
        notes.missing["warm_up_s"] = "missing.no_warm_up_declared"
    else:
        chosen = warm_up_inputs(list(job.inputs()), job.warm_up_inputs)
        with _timed("warming_up", "warm_up_s", notes, progress):
            wait = barrier(job.variant.device)
            for _ in range(job.warm_up_passes):
                work.warm_up(chosen)
            wait()


def _evaluate(order: Order, notes: _Notes, progress: ProgressFile) -> None:
    """Time the reading of the references and the comparison; the verdict itself is another program's."""
    try:
        with _timed("evaluating", "evaluate_s", notes, progress):
            corpus = open_corpus(order.job.folder, order.job.corpus)
            examine(order.job.predictions, corpus, order.labels or None, notes.predictions_sha256)
    except LabError:
        traceback.print_exc()
        notes.missing["evaluate_s"] = "missing.evaluation_failed"


@contextmanager
def _timed(
    phase: Phase, column: str, notes: _Notes, progress: ProgressFile, less: Workload | None = None
) -> Iterator[None]:
    """Time one phase into its column, once it is over; what `less` timed apart inside it is taken off."""
    progress.phase(phase)
    began = time.perf_counter()
    yield
    apart = sum(less.durations.values()) if less else 0.0
    seconds = round(seconds_since(began) - apart, 6)
    notes.durations[column] = seconds
    progress.duration(column, seconds)


def _keep_partial(order: Order, work: Workload, sink: Sink, notes: _Notes) -> None:
    """Keep the predictions that are there; a pass that did not complete has no duration."""
    notes.durations.pop("duration_s", None)
    path = order.job.predictions
    try:
        if not work.exports and sink.ids:
            notes.predictions_sha256 = write_predictions(path, sink.rows())
        elif path.is_file():
            notes.predictions_sha256 = sha256_file(path)
    except LabError:
        traceback.print_exc()
        notes.predictions_sha256 = None


def _watch_parent(progress: ProgressFile) -> None:
    """Give signs of life, and end this process group when its parent is gone: nothing may run on unwatched."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            try:
                progress.sign()
            except ValueError:  # the map is closed: the attempt is over
                return
            time.sleep(_HEARTBEAT_S)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _StoppedError


def _observe(question: Path) -> None:
    """Answer what torch sees of a device: the question is a JSON file, the answer one beside it."""
    asked: dict[str, str] = json.loads(question.read_text(encoding="utf-8"))
    facts, names = accelerator_facts(asked["device"], int(asked["devices"]))
    question.with_suffix(".answer").write_text(json.dumps({"facts": facts, "names": list(names)}), encoding="utf-8")


def main(arguments: list[str], act: Callable[[Path], None] = run) -> int:
    """Run the order whose file is the one argument; the exit code is 0 once the result is written."""
    act(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
