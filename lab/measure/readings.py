"""Volatile readings at the start and the end of a pass: the load of the machine, the state of its devices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import psutil

from lab.measure.driver import Driver
from lab.measure.driver_facts import READINGS, DriverDevice, DriverReading
from lab.measure.driver_nvidia import THROTTLE_NAMES

ENERGY_SCOPE = "the driver's energy counter of each whole device, from right before the pass to right after it"


@dataclass(frozen=True)
class Reading:
    """One moment of the machine: load averages, runnable tasks, CPU seconds of all and of this process so far."""

    load_1m: float | None
    runnable: int | None
    busy_s: float
    own_s: float


def read_now() -> Reading:
    """Take a reading of the machine; costs well under a millisecond."""
    times = psutil.cpu_times()
    busy = sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
    own = os.times()
    try:
        load: float | None = os.getloadavg()[0]
    except OSError:
        load = None
    return Reading(load, _runnable(), busy, own.user + own.system + own.children_user + own.children_system)


def read_devices(driver: Driver | None, devices: Mapping[str, DriverDevice]) -> dict[str, DriverReading]:
    """The state of each device by torch's name for it; nothing without a driver's reader."""
    return {} if driver is None else {name: driver.read(one) for name, one in devices.items()}


def between(start: Reading, end: Reading) -> Mapping[str, float | None]:
    """Both readings by name, and the CPU seconds that this process and all others used in between.

    `pass.foreign_cpu_s` is the load that a duration may have suffered from (measurement facts: two threads beside
    another busy process ran three times slower than one).
    """
    own = round(end.own_s - start.own_s, 2)
    return {
        "start.load_1m": start.load_1m,
        "end.load_1m": end.load_1m,
        "start.other_runnable": start.runnable,
        "end.other_runnable": end.runnable,
        "pass.cpu_s": own,
        "pass.foreign_cpu_s": max(0.0, round(end.busy_s - start.busy_s - own, 2)),
    }


def with_processes(found: dict[str, float | None], cpu_s: float) -> None:
    """Count processor seconds of this work's other processes, which the system tells only when they end, as its own."""
    for name, seconds in (("pass.cpu_s", cpu_s), ("pass.foreign_cpu_s", -cpu_s)):
        before = found.get(name)
        found[name] = None if before is None else max(0.0, round(before + seconds, 2))


def of_devices(
    start: Mapping[str, DriverReading], end: Mapping[str, DriverReading], own: Iterable[int] = ()
) -> dict[str, float | None]:
    """Both states of each device by name, such as `start.cuda:0.temperature_c`, and `pass.cuda:0.energy_j`.

    `own` are the process ids of this work: what else has the device open is counted. In a container the driver's ids
    are the host's and none is known: one process is then taken to be this one. A value a device does not say is None.
    """
    found: dict[str, float | None] = {}
    mine = set(own)
    for moment, states in (("start", start), ("end", end)):
        for device, state in states.items():
            found |= {f"{moment}.{device}.{name}": _plain(getattr(state, name)) for name in READINGS}
            ids = state.process_ids
            others = None if ids is None else float(max(0, len(ids) - (len(mine & set(ids)) or 1)))
            found[f"{moment}.{device}.other_processes"] = others
    for device in start.keys() & end.keys():
        first, last = start[device].energy_j, end[device].energy_j
        if first is None or last is None or last < first:  # a driver that was reset begins again at nothing
            found[f"pass.{device}.energy_j"] = None
        else:
            found[f"pass.{device}.energy_j"] = round(last - first, 3)
    return found


def energy_j(found: Mapping[str, float | None]) -> float | None:
    """Joules of the pass over all its devices; None where any of them has no counter, or there is none at all."""
    of_each = [value for name, value in found.items() if name.startswith("pass.") and name.endswith(".energy_j")]
    present = [value for value in of_each if value is not None]
    return round(sum(present), 3) if present and len(present) == len(of_each) else None


def throttled(kind: str, found: Mapping[str, float | None]) -> dict[str, str]:
    """Device to the reasons for which its clock was held down at the start or the end, in NVML's words."""
    said: dict[str, str] = {}
    for name, value in found.items():
        moment, _, rest = name.partition(".")
        device, _, what = rest.rpartition(".")
        if kind == "nvml" and what == "throttle_bits" and value:
            reasons = [word for bit, word in THROTTLE_NAMES.items() if int(value) & bit]
            if reasons:
                said[f"{moment}.{device}.throttled"] = ", ".join(reasons)
    return said


def taken(states: Iterable[Mapping[str, DriverReading]]) -> dict[str, int | None]:
    """Device to the largest count of bytes taken on it among some moments."""
    found: dict[str, int | None] = {}
    for moment in states:
        for device, state in moment.items():
            if state.used_bytes is not None:
                found[device] = max(int(state.used_bytes), found.get(device) or 0)
    return found


def _plain(value: float | None) -> float | None:
    return None if value is None else round(float(value), 3)


def _runnable() -> int | None:
    """Tasks of the machine that want to run now, this one not counted; None where the system does not say."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123  (one read of a kernel file)
            return max(0, int(file.read().split()[3].split("/")[0]) - 1)
    except OSError:
        return None
