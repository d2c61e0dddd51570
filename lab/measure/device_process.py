"""The process that holds one of several devices: it loads, warms up, and processes its share when it is told to."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeAlias

from lab.measure import endings, memory
from lab.measure.clock import barrier, seconds_since
from lab.measure.device_timing import inference_seconds
from lab.measure.driver import plain_uuid
from lab.measure.sharding import Part
from lab.model.attempt import Outcome
from lab.model.reason import Reason
from lab.workloads import workload
from lab.workloads.base import Input, Job, Prediction, Scores, Sink, WorkloadError

Rows: TypeAlias = "tuple[list[str], list[Prediction | None], list[Scores | None], tuple[str, ...]]"

_LEFT: Final = 0
_FAILED: Final = 1


@dataclass(frozen=True)
class Failed:
    """What a device's process says when its work fails: outcome, and the key and facts of its reason."""

    outcome: Outcome
    key: str
    values: Mapping[str, object]

    @property
    def ending(self) -> endings.Ending:
        """Outcome and reason."""
        return self.outcome, Reason(self.key, self.values)


class DeviceProcess:
    """The orders of one device's process, each a method: what it is given, what it answers."""

    def __init__(self, name: str, device: str, count: Callable[[int], None]) -> None:
        """Take the device's name on the machine, its name in this process, and who counts its inputs."""
        self.name = name
        self._device = device
        self._count = count

    def prepare(self, job: Job) -> None:
        """Load the work for this process's own device."""
        self._work = workload(job.variant.workload)()
        self._job = self._own(job)
        self._work.prepare(self._job)

    def again(self, job: Job) -> bool:
        """Take the next pass of the same variant; see `Workload.again`."""
        self._work.durations.clear()
        self._job = self._own(job)
        return self._work.again(self._job)

    def sizes(self, indices: range) -> list[int]:
        """What each of these inputs of the whole corpus weighs."""
        whole = replace(self._job, share=indices)
        return self._work.sizes([text for _, text in whole.inputs()])

    def share(self, given: tuple[tuple[int, ...], int]) -> None:
        """Take the indices of its own inputs, and what they weigh together."""
        indices, self._size = given
        if self._job.share is None or tuple(self._job.share) != indices:
            self._job = replace(self._job, share=indices, size=len(indices))
            self._work.again(self._job)

    def warm_up(self, given: tuple[Sequence[Input], int]) -> None:
        """Process the chosen inputs so many times."""
        chosen, passes = given
        wait = barrier(self._device)
        for _ in range(passes):
            self._work.warm_up(chosen)
        wait()

    def ready(self, _nothing: None) -> None:
        """Do what must not happen inside the pass: collect, start the peaks anew."""
        self._count(0)
        self._sink = Sink(self._count)
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        memory.reset_device_peaks(self._device)
        self._host_of_pass = memory.reset_host_peak()
        barrier(self._device)()

    def run(self, _nothing: None) -> Part:
        """Process the share: what the main duration covers, with every prediction on the host at its end."""
        wait = barrier(self._device)
        found: dict[str, float | None] = {}
        times = os.times()
        with inference_seconds(self._work, self._device, found):
            began = time.perf_counter()
            self._work.run_pass(self._sink)
            wait()
            duration = seconds_since(began)
        now = os.times()
        mine = [one for one in memory.device_peaks(self._device) if one.device == self._device]
        return Part(
            inputs=len(self._sink.ids),
            size=self._size,
            duration_s=duration,
            cpu_s=round(now.user + now.system - times.user - times.system, 2),
            host_peak_bytes=memory.host_peak_bytes(),
            host_of_pass=self._host_of_pass,
            devices=tuple(replace(one, device=self.name) for one in mine),
            readings=found,
            **self._told(),
        )

    def rows(self, _nothing: None) -> Rows:
        """The predictions of the pass: their export begins here, after the clock was read."""
        sink = self._sink
        return sink.ids, sink.predictions, sink.scores, sink.score_names

    def tell(self, _nothing: None) -> dict[str, dict[str, Any]]:
        """What the work tells beside its predictions."""
        return self._told()

    def look_back(self, _nothing: None) -> dict[str, str]:
        """Look at what really ran; what cannot be looked at is absent, and the log says why."""
        try:
            self._work.look_back()
        except Exception:  # noqa: BLE001  (the pass is over and has its result)
            traceback.print_exc()
        return dict(self._work.facts)

    def _told(self) -> dict[str, dict[str, Any]]:
        work = self._work
        return {"durations": dict(work.durations), "counts": dict(work.counts), "facts": dict(work.facts)}

    def _own(self, job: Job) -> Job:
        return replace(job, variant=job.variant.model_copy(update={"device": self._device, "devices": 1}))


def serve(link: Connection, name: str, uuid: str | None, folder: Path, count: Callable[[int], None]) -> int:
    """Take orders (a method of `DeviceProcess` and what it is given) until the other side is gone; an exit code."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # of the whole group: who gave the orders ends this process
    process = DeviceProcess(name, _held(name, uuid), count)
    while True:
        try:
            order, given = link.recv()
        except EOFError:
            return _LEFT
        try:
            answer = getattr(process, order)(given)
        except BaseException as error:  # noqa: BLE001  (whatever the work raises is how the attempt ended)
            traceback.print_exc()
            ending = endings.of_exception(error, folder)
            if not isinstance(error, WorkloadError):  # its own reason says what was wrong, on any device
                ending = endings.on_device(ending, name)
            with suppress(OSError):
                link.send(Failed(ending[0], ending[1].key, dict(ending[1].values)))
            return _FAILED
        sys.stdout.flush()
        sys.stderr.flush()
        link.send(answer)


def _held(name: str, uuid: str | None) -> str:
    """Make the device with this UUID the only one that this process sees, and say what it is called then.

    NVIDIA's runtime reads the variable when it starts, which it has not in a process forked from one that never used a
    device. Elsewhere, or without a UUID, the device keeps its name.
    """
    torch = sys.modules.get("torch")
    if uuid is None or not name.startswith("cuda:") or torch is None or torch.version.cuda is None:
        return name.partition(":")[0] if name.startswith("cpu") else name
    part = uuid.upper().startswith("MIG-")  # a slice of a card, which is named so already
    os.environ["CUDA_VISIBLE_DEVICES"] = uuid if part else f"GPU-{plain_uuid(uuid)}"
    return "cuda:0"
