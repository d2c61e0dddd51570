"""How an attempt ended and why, from an exception, an exit status, and what the kernel counted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from lab.errors import Fault, LabError, OutsideFailureError
from lab.measure.driver import Driver, join
from lab.measure.privacy import scrubbed
from lab.model.attempt import Outcome
from lab.model.reason import Reason, reason
from lab.workloads.base import WorkloadError, signal_name

Ending = tuple[Outcome, Reason]

_LONGEST_MESSAGE = 500
_CPU_ALLOCATOR = "DefaultCPUAllocator"  # torch 2.13: on the CPU a failed allocation is a plain RuntimeError
_KILLED = ("ended.killed", "ended.command_killed", "ended.device_process_killed")
# Libraries under torch that say "no memory left" in a plain RuntimeError of theirs (read in their sources).
_DEVICE_ALLOCATORS = ("CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED", "HIPBLAS_STATUS_ALLOC_FAILED")

LOST: Ending = ("failed", reason("ended.device_lost"))
# A full disk is no failure of the variant's: the pass was cut off by its surroundings, and is run again.
NOT_WRITTEN: Ending = ("interrupted", reason("ended.not_written"))
NOT_WRITTEN_STATUS = 74  # sysexits.h: an error of input or output


class EndedError(Exception):
    """An attempt that another process ended, with the ending it told or was found with."""

    def __init__(self, ending: Ending) -> None:
        """Keep the ending."""
        super().__init__(ending[1].key)
        self.ending = ending


def of_exception(error: BaseException, folder: Path) -> Ending:
    """Outcome and reason of what the work raised; messages lose the paths that name a person or a machine."""
    if isinstance(error, EndedError):
        return error.ending
    return _of_work(error, folder)


def _of_work(error: BaseException, folder: Path) -> Ending:
    if isinstance(error, WorkloadError):
        return "failed", error.reason
    if isinstance(error, LabError):
        outside = isinstance(error, OutsideFailureError)
        return NOT_WRITTEN if outside else ("failed", of_fault(error.faults[0], folder))
    torch = sys.modules.get("torch")
    if _is_device_memory(error, torch):
        return "out_of_memory", reason("ended.device_memory")
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _CPU_ALLOCATOR in str(error)):
        return "out_of_memory", reason("ended.host_memory")
    if torch is not None and isinstance(error, torch.AcceleratorError):
        return "failed", reason("ended.device_failed", message=_message(error, folder))
    return "failed", reason("ended.exception", error=type(error).__name__, message=_message(error, folder))


def of_fault(found: Fault, folder: Path) -> Reason:
    """What could not be read or written, in the words of its own text; `file` and `place` are among its facts."""
    values = {**found.values, "file": found.file or "", "place": found.place or ""}
    clean = {name: scrubbed(value, folder) if isinstance(value, str) else value for name, value in values.items()}
    return Reason(f"fault.{found.slug}", clean)


def of_status(status: int) -> Ending:
    """Outcome and reason of a worker that left no result: its exit code, negative for a signal (as `subprocess`)."""
    if status < 0:
        return "failed", reason("ended.killed", signal=signal_name(-status))
    return NOT_WRITTEN if status == NOT_WRITTEN_STATUS else ("failed", reason("ended.exited", code=status))


def on_device(ending: Ending, device: str) -> Ending:
    """The ending of one device's process, its device named; of an ending without values of its own, the cause too."""
    outcome, why = ending
    if outcome == "out_of_memory":
        on_host = why.key == "ended.host_memory"
        return outcome, reason(
            "ended.device_process_host_memory" if on_host else "ended.device_process_memory", device=device
        )
    message = str(why.values.get("message", "")) or why.key
    return outcome, reason("ended.device_process_failed", device=device, message=message)


def of_device_process(status: int, device: str) -> Ending:
    """Outcome and reason of one device's process that said nothing: its exit code, negative for a signal."""
    if status < 0:
        return "failed", reason("ended.device_process_killed", device=device, signal=signal_name(-status))
    return "failed", reason("ended.device_process_exited", device=device, code=status)


def with_kernel(ending: Ending, *, oom_kills: int) -> Ending:
    """Tell the kernel's out-of-memory kill from another SIGKILL: its counter rose while the attempt ran."""
    killed = ending[1].key in _KILLED and ending[1].values.get("signal") == signal.SIGKILL.name
    if not killed or oom_kills <= 0:
        return ending
    device = ending[1].values.get("device")
    if device is not None:
        return "out_of_memory", reason("ended.device_process_host_memory", device=device)
    return "out_of_memory", reason("ended.kernel_memory")


def is_lost(driver: Driver, devices: Mapping[str, tuple[str | None, str | None]]) -> bool:
    """Whether a device that the attempt used answers its driver no more, not even how much of it is taken."""
    joined = (join(driver.devices, *ids) for ids in devices.values())
    return any(one is not None and driver.used_bytes(one) is None for one in joined)


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


def _is_device_memory(error: BaseException, torch: ModuleType | None) -> bool:
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(one in str(error) for one in _DEVICE_ALLOCATORS)


def _message(error: BaseException, folder: Path) -> str:
    return scrubbed(str(error), folder)[:_LONGEST_MESSAGE]
