"""Volatile readings at the start and the end of a pass: the load of the machine, and who caused it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Reading:
    """One moment of the machine: load averages, runnable tasks, CPU seconds of all and of this process so far."""

    load_1m: float | None
    runnable: int | None
    busy_s: float
    own_s: float


def read_now() -> Reading:
    """Take a reading; costs well under a millisecond."""
    times = psutil.cpu_times()
    busy = sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
    own = os.times()
    try:
        load: float | None = os.getloadavg()[0]
    except OSError:
        load = None
    return Reading(load, _runnable(), busy, own.user + own.system + own.children_user + own.children_system)


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


def _runnable() -> int | None:
    """Tasks of the machine that want to run now, this one not counted; None where the system does not say."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123  (one read of a kernel file)
            return max(0, int(file.read().split()[3].split("/")[0]) - 1)
    except OSError:
        return None
