"""The phases of one attempt, each in its column: load, warm up, the timed pass, export, evaluate."""

from __future__ import annotations

import gc
import importlib
import os
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lab.errors import LabError
from lab.measure import memory, readings
from lab.measure.clock import barrier, seconds_since
from lab.measure.device_timing import inference_seconds
from lab.measure.driver import Driver, join
from lab.measure.driver_facts import DriverDevice
from lab.measure.orders import Order
from lab.measure.progress import Phase, ProgressFile
from lab.measure.sampler import BY_TORCH
from lab.measure.sharded import Sharded
from lab.model.attempt import DURATION_DIGITS, DeviceMemory, Outcome
from lab.model.reason import Reason
from lab.store.corpus import open_corpus
from lab.store.files import sha256_file
from lab.store.predictions import examine, write_predictions
from lab.workloads.base import Sink, Workload, warm_up_inputs


@dataclass
class Notes:
    """What is known so far: complete enough to be written at any moment the attempt may end."""

    outcome: Outcome | None = None
    reason: Reason | None = None
    durations: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    readings: dict[str, float | None] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    devices: tuple[DeviceMemory, ...] = ()
    host_peak_bytes: int | None = None
    energy_j: float | None = None
    predictions_sha256: str | None = None

    def take_peaks(self, device: str) -> None:
        """Read the counters of memory now, their scopes beside them; a device that answers no more has none."""
        self.facts.setdefault("scope.host_peak_bytes", memory.HOST_OF_PROCESS)
        self.host_peak_bytes = memory.host_peak_bytes()
        try:
            self.devices = memory.device_peaks(device)
        except RuntimeError:  # the rest of the result is worth having
            traceback.print_exc()
        if self.devices:
            self.facts |= {f"scope.{name}": scope for name, scope in memory.SCOPES.items()}

    def take_parts(self, work: Sharded) -> None:
        """Take what each device's process measured; nothing is added up that does not add up."""
        parts = work.parts
        self.devices = tuple(device for part in parts.values() for device in part.devices)
        if self.devices:
            self.facts |= {f"scope.{name}": scope for name, scope in memory.SCOPES.items()}
        self.host_peak_bytes = max(part.host_peak_bytes for part in parts.values())
        of_pass = all(part.host_of_pass for part in parts.values())
        scope = memory.HOST_WHILE_MEASURED if of_pass else memory.HOST_OF_PROCESS
        self.facts["scope.host_peak_bytes"] = f"{scope}; the largest of {len(parts)} processes, one for each device"
        readings.with_processes(self.readings, sum(part.cpu_s for part in parts.values()))
        self.readings["pass.sharing_s"] = work.sharing_s
        for name, part in parts.items():
            figures = {"inputs": part.inputs, "size": part.size, "duration_s": part.duration_s, "cpu_s": part.cpu_s}
            figures["host_peak_bytes"] = part.host_peak_bytes
            self.readings |= {f"pass.{name}.{what}": float(value) for what, value in figures.items()}
            self.readings |= {
                f"pass.{name}.{what.removeprefix('pass.')}": value for what, value in part.readings.items()
            }


@dataclass(frozen=True)
class Phases:
    """One attempt's phases: what is to be done, what does it, and where each figure goes."""

    order: Order
    work: Workload
    sink: Sink
    notes: Notes
    progress: ProgressFile
    driver: Driver | None

    def all(self, *, loaded: bool) -> None:
        """Run them in their order; `loaded`: an earlier pass of this process did the loading."""
        job, notes = self.order.job, self.notes
        if loaded:
            notes.missing["load_s"] = "missing.loaded_before"
        elif not self.work.warms_up:  # a program that starts anew loads within its pass; it may mark that time itself
            self.work.prepare(job)
            notes.missing["load_s"] = "missing.loaded_in_pass"
        else:
            for name in (
                self.work.modules if isinstance(self.work, Sharded) else self.work.preload
            ):  # already there in a forked worker; elsewhere its cost is in no column
                importlib.import_module(name)
            with self._timed("loading", "load_s", less=self.work):
                self.work.prepare(job)
        self._warm_up()
        duration = self._pass()
        if self.work.exports:
            notes.missing["export_s"] = "missing.exported_in_pass"
            notes.predictions_sha256 = sha256_file(job.predictions)
        else:
            with self._timed("exporting", "export_s"):
                if isinstance(self.work, Sharded):
                    self.work.collect(self.sink)
                notes.predictions_sha256 = write_predictions(job.predictions, self.sink.rows())
        self._evaluate()
        notes.durations["duration_s"] = duration

    def _pass(self) -> float:
        """The measured pass in seconds, the counters started anew right before it and read right after it."""
        notes, device = self.notes, self._device
        if isinstance(self.work, Sharded):
            self.work.ready()
        wait = barrier(device)
        gc.unfreeze()  # of an earlier pass of this process
        gc.collect()
        gc.freeze()  # what loading left is walked by no collection inside the pass, whichever way the worker started
        listed = self._listed()
        memory.reset_device_peaks(device)
        if memory.reset_host_peak():
            notes.facts["scope.host_peak_bytes"] = memory.HOST_WHILE_MEASURED
        devices_before, free_before = readings.read_devices(self.driver, listed), memory.free_by_torch(device)
        before = readings.read_now()
        with inference_seconds(self.work, device, notes.readings):
            self.progress.phase("measuring")
            wait()
            began = time.perf_counter()
            self.work.run_pass(self.sink)
            wait()
            duration = seconds_since(began)
        notes.readings.update(readings.between(before, readings.read_now()))
        if "duration_s" in self.work.durations:  # the work knows which part of it is the main one: the whole beside it
            notes.readings["pass.wall_s"] = duration
        devices_after, free_after = readings.read_devices(self.driver, listed), memory.free_by_torch(device)
        notes.take_peaks(device)
        own = [os.getpid()]
        if isinstance(self.work, Sharded):
            own += self.work.pids
            notes.take_parts(self.work)
        if self.driver is not None and listed:
            notes.readings.update(readings.of_devices(devices_before, devices_after, own=own))
            notes.facts |= readings.throttled(self.driver.kind, notes.readings)
            known = tuple(DeviceMemory(name, one.name, one.uuid) for name, one in listed.items())
            seen = readings.taken((devices_before, devices_after))
            notes.devices = memory.with_whole_device(notes.devices, seen, known)
            notes.energy_j = readings.energy_j(notes.readings)
            if notes.energy_j is not None:
                notes.facts["scope.energy_j"] = readings.ENERGY_SCOPE
        elif free_after:
            for moment in (free_before, free_after):
                notes.devices = memory.with_whole_device(notes.devices, moment)
            notes.facts["scope.peak_device_bytes"] = BY_TORCH
        return duration

    @property
    def _device(self) -> str:
        """The device that this very process uses: several devices are their own processes' affair."""
        return "cpu" if isinstance(self.work, Sharded) else self.order.job.variant.device

    def _listed(self) -> dict[str, DriverDevice]:
        """The driver's own devices that this attempt uses, by torch's names for them."""
        listed = () if self.driver is None else self.driver.devices
        joined = {name: join(listed, *ids) for name, ids in self.order.devices.items()}
        return {name: one for name, one in joined.items() if one is not None}

    def _warm_up(self) -> None:
        job, notes = self.order.job, self.notes
        if not self.work.warms_up:
            notes.missing["warm_up_s"] = "missing.no_warm_up_possible"
        elif not job.warm_up_passes or not job.warm_up_inputs:
            notes.missing["warm_up_s"] = "missing.no_warm_up_declared"
        else:
            chosen = warm_up_inputs(list(job.inputs()), job.warm_up_inputs)
            with self._timed("warming_up", "warm_up_s", less=self.work):
                wait = barrier(self._device)
                for _ in range(job.warm_up_passes):
                    self.work.warm_up(chosen)
                wait()

    def _evaluate(self) -> None:
        """Time the reading of the references and the comparison; the verdict itself is another program's."""
        order = self.order
        try:
            with self._timed("evaluating", "evaluate_s"):
                corpus = open_corpus(order.job.folder, order.job.corpus)
                examine(order.job.predictions, corpus, order.labels or None, self.notes.predictions_sha256)
        except LabError:
            traceback.print_exc()
            self.notes.missing["evaluate_s"] = "missing.evaluation_failed"

    @contextmanager
    def _timed(self, phase: Phase, column: str, less: Workload | None = None) -> Iterator[None]:
        """Time one phase into its column, once it is over; what `less` timed apart inside it is taken off."""
        self.progress.phase(phase)
        apart = sum(less.durations.values()) if less else 0.0
        began = time.perf_counter()
        yield
        apart = (sum(less.durations.values()) if less else 0.0) - apart
        seconds = round(seconds_since(began) - apart, DURATION_DIGITS)
        self.notes.durations[column] = seconds
        self.progress.duration(column, seconds)
