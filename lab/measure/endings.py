"""How an attempt ended and why, from an exception, an exit status, and what the kernel counted."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from lab.errors import LabError
from lab.measure.privacy import scrubbed
from lab.model.attempt import Outcome
from lab.model.reason import Reason, reason
from lab.workloads.base import WorkloadError, signal_name

Ending = tuple[Outcome, Reason]

_LONGEST_MESSAGE = 500
_CPU_ALLOCATOR = "DefaultCPUAllocator"  # torch 2.13: on the CPU a failed allocation is a plain RuntimeError
_KILLED = ("ended.killed", "ended.command_killed")


def of_exception(error: BaseException, folder: Path) -> Ending:
    """Outcome and reason of what the work raised; messages lose the paths that name a person or a machine."""
    if isinstance(error, WorkloadError):
        return "failed", error.reason
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return "out_of_memory", reason("ended.device_memory")
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _CPU_ALLOCATOR in str(error)):
        return "out_of_memory", reason("ended.host_memory")
    if torch is not None and isinstance(error, torch.AcceleratorError):
        return "failed", reason("ended.device_failed", message=_message(error, folder))
    name = error.faults[0].slug if isinstance(error, LabError) else type(error).__name__
    return "failed", reason("ended.exception", error=name, message=_message(error, folder))


def of_status(status: int) -> Ending:
    """Outcome and reason of a worker that left no result: its exit code, negative for a signal (as `subprocess`)."""
    if status < 0:
        return "failed", reason("ended.killed", signal=signal_name(-status))
    return "failed", reason("ended.exited", code=status)


def with_kernel(ending: Ending, *, oom_kills: int) -> Ending:
    """Tell the kernel's out-of-memory kill from another SIGKILL: its counter rose while the attempt ran."""
    killed = ending[1].key in _KILLED and ending[1].values.get("signal") == signal.SIGKILL.name
    return ("out_of_memory", reason("ended.kernel_memory")) if killed and oom_kills > 0 else ending


def oom_kill_count() -> int:
    """How many processes the kernel has killed for memory: on the host and in this control group, 0 where unknown.

    The two are added: only whether the sum rises is read from it.
    """
    files = [Path("/proc/vmstat")]
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            base = Path("/sys/fs/cgroup") if number == "0" else Path("/sys/fs/cgroup/memory")
            files.append(base / path.lstrip("/") / ("memory.events" if number == "0" else "memory.oom_control"))
    except OSError:
        pass
    total = 0
    for file in files:
        try:
            lines = file.read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return total


def _message(error: BaseException, folder: Path) -> str:
    return scrubbed(str(error), folder)[:_LONGEST_MESSAGE]
