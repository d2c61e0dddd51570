"""One variant over several devices: a process for each, shares of about equal weight, one start and one end for all.

Each process loads and warms up on its own device; nothing is exchanged between them. The main duration begins when all
are ready and ends when the last prediction of the last one is on the host. Counting tokens and dividing the corpus
stand inside it: a pass on one device reads and tokenises inside it too.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, ClassVar, Final

from lab.errors import Fault
from lab.measure import device_process, endings
from lab.measure.clock import seconds_since
from lab.measure.device_process import Failed
from lab.measure.sharding import Part, balanced, device_names, merged_facts
from lab.model.manifest import Variant
from lab.workloads import workload
from lab.workloads.base import Input, Job, Prediction, Scores, Sink, Told, WorkloadError

_CRASHED: Final = 70
_LOOK_S: Final = 0.1
_COUNT: Final = struct.Struct("<q")
Places = Mapping[str, tuple[str | None, str | None]]  # a device's name -> its UUID and address


@dataclass(frozen=True)
class _Process:
    name: str
    pid: int
    link: Connection


class Sharded(Told):
    """The work of a variant with `devices` above 1, as one workload.

    Attributes:
        modules: what the devices' processes need imported, before they are forked.
        parts: what each device's process measured in the last pass, by the device's name.
    """

    name: ClassVar[str] = "sharded"
    needs: ClassVar[str] = "model"
    preload: ClassVar[tuple[str, ...]] = ()
    warms_up: ClassVar[bool] = True
    exports: ClassVar[bool] = False

    def __init__(self, workload_name: str, places: Places) -> None:
        """Take the workload that each device runs, and the UUID of each device where it is known."""
        super().__init__()
        self.modules = workload(workload_name).preload
        self.parts: dict[str, Part] = {}
        self._places = places
        self._processes: list[_Process] = []

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:  # noqa: ARG003  (the workloads' one signature)
        """Nothing: what the devices run is checked by its own workload."""
        return ()

    def prepare(self, job: Job) -> None:
        """Start one process for each device, let all of them load, and divide the corpus."""
        names = device_names(job.variant)
        absent = [one for one in names if self._places and one not in self._places]
        if absent:
            raise WorkloadError("devices_missing", devices=absent, count=len(names))
        self._counts = mmap.mmap(-1, _COUNT.size * len(names))
        for number, name in enumerate(names):
            self._processes.append(self._start(number, name, job))
        self._take(job)
        self._ask("prepare", job)
        self._divide()
        self._listen()

    def again(self, job: Job) -> bool:
        """Keep the processes and what they have loaded."""
        self._take(job)
        kept = all(self._ask("again", job))
        if kept:
            self._divide()
        else:
            self.close()
        return kept

    def sizes(self, texts: Sequence[str]) -> list[int]:
        """Not asked of this work: its processes are."""
        return [len(text) for text in texts]

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Let every device process the chosen inputs once."""
        self._ask("warm_up", (chosen, 1))
        self._listen()

    def ready(self) -> None:
        """Let every process get ready for its order; all are when this returns."""
        self._ask("ready", None)

    def run_pass(self, sink: Sink) -> None:
        """Divide the corpus, give all the one order, and wait for the last prediction of the last device."""
        began = time.perf_counter()
        self._divide()
        self.sharing_s = seconds_since(began)
        parts: list[Part] = self._ask("run", None, lambda: sink.count(self._counted()))
        sink.count(sum(one.inputs for one in parts))
        self.parts = dict(zip(device_names(self._job.variant), parts, strict=True))
        self.counts = _added([one.counts for one in parts])
        self._merge({name: {"durations": one.durations, "facts": one.facts} for name, one in self.parts.items()})

    def collect(self, sink: Sink) -> None:
        """Bring all predictions into `sink`, in the corpus's order; they were counted when they were made."""
        rows: list[tuple[str, Prediction | None, Scores | None]] = []
        for ids, predictions, scores, names in self._ask("rows", None):
            sink.score_names = names
            rows += zip(ids, predictions, scores, strict=True)
        places = {one: place for place, (one, _) in enumerate(self._job.inputs())}
        rows.sort(key=lambda row: places.get(row[0], len(places)))  # nothing is left out, not even what nobody asked
        for one, prediction, score in rows:
            sink.ids.append(one)
            sink.predictions.append(prediction)
            sink.scores.append(score)

    def look_back(self) -> None:
        """Let each process look at what really ran."""
        said = self._ask("look_back", None)
        self.facts |= merged_facts(dict(zip(device_names(self._job.variant), said, strict=True)))

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the devices' processes."""
        return tuple(one.pid for one in self._processes)

    def close(self) -> None:
        """End every process that is left, at once."""
        for one in self._processes:
            one.link.close()
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        for one in self._processes:
            with suppress(ChildProcessError):
                os.waitpid(one.pid, 0)
        self._processes = []

    def _take(self, job: Job) -> None:
        self._job = replace(job)
        self.facts["devices.processes"] = str(job.variant.devices)

    def _divide(self) -> None:
        """Let each process weigh every n-th input, divide the corpus by that, and give each its share."""
        count, size = len(self._processes), self._job.size
        slices = [range(number, size, count) for number in range(count)]
        sizes = [0] * size
        for places, found in zip(slices, self._ask_each("sizes", slices), strict=True):
            for place, one in zip(places, found, strict=True):
                sizes[place] = one
        shares = balanced(sizes, count)
        self._ask_each("share", [(share, sum(sizes[place] for place in share)) for share in shares])

    def _listen(self) -> None:
        """Take what the work tells after loading and warm-up: seconds that only it can see, and facts."""
        self._merge(dict(zip(device_names(self._job.variant), self._ask("tell", None), strict=True)))

    def _merge(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        """Phases of processes that go on side by side take as long as the slowest; facts are joined."""
        for name in {name for one in told.values() for name in one["durations"]}:
            self.durations[name] = max(one["durations"].get(name, 0.0) for one in told.values())
        self.facts |= merged_facts({device: one["facts"] for device, one in told.items()})

    def _start(self, number: int, name: str, job: Job) -> _Process:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            theirs.close()
            return _Process(name, pid, ours)
        code = _CRASHED
        try:
            for link in (ours, *(one.link for one in self._processes)):
                link.close()  # each end closes with its owner, or the other side never sees it
            uuid, _ = self._places.get(name, (None, None))

            def count(done: int) -> None:
                _COUNT.pack_into(self._counts, _COUNT.size * number, done)

            code = device_process.serve(theirs, name, uuid, job.folder, count)
        except BaseException:  # noqa: BLE001  (nothing of the worker may run in its child)
            traceback.print_exc()
        finally:
            os._exit(code)

    def _counted(self) -> int:
        return sum(_COUNT.unpack_from(self._counts, _COUNT.size * one)[0] for one in range(len(self._processes)))

    def _ask(self, order: str, given: object, tick: Callable[[], None] = lambda: None) -> list[Any]:
        return self._ask_each(order, [given] * len(self._processes), tick)

    def _ask_each(self, order: str, given: Sequence[object], tick: Callable[[], None] = lambda: None) -> list[Any]:
        """Give every process its order, then wait for all answers; the first that fails or dies ends all of them."""
        try:
            for one, what in zip(self._processes, given, strict=True):
                with suppress(OSError):  # it is gone: how is asked below
                    one.link.send((order, what))
            answers: dict[str, Any] = {}
            waiting: dict[object, _Process] = {one.link: one for one in self._processes}
            while waiting:
                for link in wait([one.link for one in waiting.values()], _LOOK_S):
                    one = waiting.pop(link)
                    answers[one.name] = self._answer(one)
                tick()
        except BaseException:
            self.close()
            raise
        return [answers[one.name] for one in self._processes]

    def _answer(self, one: _Process) -> object:
        try:
            answer = one.link.recv()
        except (EOFError, OSError):
            self._processes.remove(one)
            one.link.close()
            _, status = os.waitpid(one.pid, 0)
            raise endings.EndedError(endings.of_device_process(os.waitstatus_to_exitcode(status), one.name)) from None
        if isinstance(answer, Failed):
            raise endings.EndedError(answer.ending)
        return answer


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(one.get(name, 0) for one in counts) for name in dict.fromkeys(n for one in counts for n in one)}
