"""The process that runs attempts: one, or all passes of a variant one after the other; each leaves what it measured.

Started by a launcher (`lab.measure.launcher`), in a session of its own, its output already going to the attempt's
log; or, where nothing can be forked from, as `python -m lab.measure.worker ORDER [ORDERS SAID]`: the two are the
descriptors that further orders come from and that "done" is said to.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import psutil

from lab.errors import LabError, OutsideFailureError
from lab.measure import caches, endings, strays
from lab.measure.accelerators import accelerator_facts
from lab.measure.driver import Driver, open_driver
from lab.measure.orders import ORDER_FILE, Order, read_order
from lab.measure.phases import Notes, Phases
from lab.measure.progress import PROGRESS_FILE, ProgressFile
from lab.measure.result import RESULT_FILE, Result
from lab.measure.sharded import Sharded
from lab.store.files import sha256_file
from lab.store.predictions import write_predictions
from lab.workloads import workload
from lab.workloads.base import Sink, Workload

_HEARTBEAT_S = 0.5


class _StoppedError(BaseException):
    """The supervisor asked this worker to end; no `except Exception` of the work takes it."""


@dataclass
class Worker:
    """What this process keeps from one pass of its variant to the next.

    Attributes:
        work: with all that it has loaded; None before the first pass.
        passes: how many this process has begun.
        driver: the devices' driver, opened for the first pass that uses one.
    """

    work: Workload | None = None
    passes: int = 0
    driver: Driver | None = None

    def run(self, order_file: Path) -> bool:
        """Do what the order says and leave the result beside it; the work's own failures are results, not exceptions.

        Returns:
            Whether this process may do another pass: only after one that completed, since an error may have left
            anything behind.
        """
        if order_file.name != ORDER_FILE:
            _observe(order_file)
            return False
        order = read_order(order_file)
        self.passes += 1
        os.environ[strays.MARK] = order.at.name
        signal.signal(signal.SIGTERM, _stop)
        started = psutil.Process().create_time()
        path = order.at / PROGRESS_FILE
        size = order.job.size
        with ProgressFile(path, pid=os.getpid(), process_start=started, total=size) as progress, _watched(progress):
            os.chdir(order.job.folder)
            result = self._attempt(order, progress)
            result.write(order.at / RESULT_FILE)
            completed = result.outcome == "completed"
            if completed and self.work is not None:
                # Only now, so that nothing which goes wrong in looking can cost the pass.
                _looked_back(self.work, result).write(order.at / RESULT_FILE)
            progress.phase("ended")
        return completed

    def _attempt(self, order: Order, progress: ProgressFile) -> Result:
        """Run the phases; whatever ends them, what was measured until then is in the result."""
        notes = Notes(facts={"process_pass": str(self.passes)})
        sink = _counting(progress)
        try:
            os.environ.update(caches.own_folders(order.at) if order.caches == "clear" else {})
            if order.devices and self.driver is None:
                self.driver = open_driver()
            loaded = self._take_over(order)
            Phases(order, self._work(order), sink, notes, progress, self.driver).all(loaded=loaded)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from here on there is only writing down
            notes.outcome = "completed"
        except _StoppedError:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            sys.stderr.write("stopped by the supervisor\n")  # this process's output is the attempt's log
        except BaseException as error:  # noqa: BLE001  (whatever the work raises is how the attempt ended)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            traceback.print_exc()
            notes.outcome, notes.reason = endings.of_exception(error, order.job.folder)
            if self.driver is not None and endings.is_lost(self.driver, order.devices):
                notes.outcome, notes.reason = endings.LOST
        work = self._work(order)
        if notes.outcome != "completed":
            _keep_partial(order, work, sink, notes)
        if notes.host_peak_bytes is None:
            notes.take_peaks("cpu" if isinstance(work, Sharded) else order.job.variant.device)
        return Result(
            outcome=notes.outcome,
            reason=notes.reason,
            durations={**notes.durations, **work.durations},
            missing=notes.missing,
            counts=work.counts,
            facts={**work.facts, **notes.facts},
            readings=notes.readings,
            devices=notes.devices,
            host_peak_bytes=notes.host_peak_bytes,
            energy_j=notes.energy_j,
            completed_inputs=sink.done,
            predictions_sha256=notes.predictions_sha256,
        )

    def _take_over(self, order: Order) -> bool:
        """Whether what an earlier pass of this process loaded serves this one."""
        if self.work is None:
            return False
        self.work.durations.clear()
        if self.work.again(order.job):
            return True
        self.work = None  # let go before anything is loaded again, or both would be in memory
        return False

    def _work(self, order: Order) -> Workload:
        if self.work is None:
            self.work = self._new_work(order)
        return self.work

    @staticmethod
    def _new_work(order: Order) -> Workload:
        """The variant's work here, or in a process for each of its devices; a program divides its work by itself."""
        kind = workload(order.job.variant.workload)
        if order.job.variant.devices > 1 and not kind.exports:
            return Sharded(kind.name, order.devices)
        return kind()


class _CountingSink(Sink):
    """A sink that remembers what it last counted, also where a program wrote the predictions itself."""

    done: int = 0


def _counting(progress: ProgressFile) -> _CountingSink:
    def count(completed: int) -> None:
        sink.done = completed
        progress.count(completed)

    sink = _CountingSink(count)
    return sink


def _looked_back(work: Workload, result: Result) -> Result:
    try:
        work.look_back()
    except Exception:  # noqa: BLE001  (what cannot be looked at is absent, and the log says why)
        traceback.print_exc()
    return replace(result, facts={**work.facts, **result.facts})


def _keep_partial(order: Order, work: Workload, sink: Sink, notes: Notes) -> None:
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


@contextmanager
def _watched(progress: ProgressFile) -> Iterator[None]:
    """Give signs of life, and end this process group when its parent is gone: nothing may run on unwatched."""
    parent, over = os.getppid(), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            progress.sign()
            if over.wait(_HEARTBEAT_S):
                return
        os.killpg(os.getpgrp(), signal.SIGKILL)

    thread = threading.Thread(target=watch, name="parent", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _StoppedError


def _observe(question: Path) -> None:
    """Answer what torch sees of a device: the question is a JSON file, the answer one beside it."""
    asked: dict[str, str] = json.loads(question.read_text(encoding="utf-8"))
    facts, names = accelerator_facts(asked["device"], int(asked["devices"]))
    question.with_suffix(".answer").write_text(json.dumps({"facts": facts, "names": list(names)}), encoding="utf-8")


def write_to(log: Path) -> None:
    """Send what this process prints to the end of `log` from now on."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)


def main(arguments: list[str], act: Callable[[Path], bool] | None = None) -> int:
    """Run the order whose file is the first argument, then those that come; 0 once every result is written, else 74."""
    order, *pipes = arguments
    run = act or Worker().run
    try:
        return _serve(Path(order), [int(one) for one in pipes], run)
    except OutsideFailureError:  # not even its result could be written
        traceback.print_exc()
        return endings.NOT_WRITTEN_STATUS


def _serve(order: Path, pipes: list[int], run: Callable[[Path], bool]) -> int:
    goes_on = run(order)
    if not pipes:
        return 0
    orders, said = pipes
    with os.fdopen(orders, encoding="utf-8") as lines:
        while goes_on:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(said, b"1")
            line = lines.readline()
            if not line:
                return 0
            following, log = json.loads(line)
            write_to(Path(log))
            goes_on = run(Path(following))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
