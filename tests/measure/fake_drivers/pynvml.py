"""A module with NVML's own names and two invented cards, for machines without one. Nothing of it is a real reading.

`LAB_FAKE_NVML` is a folder: `used` in it holds the bytes taken of the first card, `lost` makes it answer nothing. Each
look at the energy counter is 5 J later than the one before.
"""

# ruff: noqa: D103  (each function answers what the real one of its name answers)
from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

NVML_TEMPERATURE_GPU = 0
NVML_CLOCK_SM = 1
NVML_CLOCK_MEM = 2
NVML_ERROR_NOT_SUPPORTED = 3
NVML_ERROR_GPU_IS_LOST = 15
nvmlMemory_v2 = 0x02000028  # noqa: N816  (NVML's own name)

UUIDS = ("GPU-11111111-aaaa-bbbb-cccc-000000000001", "GPU-22222222-aaaa-bbbb-cccc-000000000002")
MODEL = "Invented RTX 1"
TOTAL = 24 * 2**30

_looks: Counter[int] = Counter()


class NVMLError(Exception):
    """NVML's error, with its code."""

    def __init__(self, value: int) -> None:
        """Take the code."""
        super().__init__(value)
        self.value = value


def _folder() -> Path:
    return Path(os.environ["LAB_FAKE_NVML"])


def _here(handle: int) -> int:
    if handle == 0 and (_folder() / "lost").exists():
        raise NVMLError(NVML_ERROR_GPU_IS_LOST)
    return handle


def nvmlInit() -> None:  # noqa: N802  (NVML's own names, here and below)
    """Answer only where a folder says what the cards do."""
    if "LAB_FAKE_NVML" not in os.environ:
        raise NVMLError(9)


def nvmlShutdown() -> None:  # noqa: N802
    """Nothing to give back."""


def nvmlSystemGetDriverVersion() -> str:  # noqa: N802
    return "999.01"


def nvmlDeviceGetCount() -> int:  # noqa: N802
    return len(UUIDS)


def nvmlDeviceGetHandleByIndex(index: int) -> int:  # noqa: N802
    return index


def nvmlDeviceGetUUID(handle: int) -> str:  # noqa: N802
    return UUIDS[handle]


def nvmlDeviceGetName(_handle: int) -> str:  # noqa: N802
    return MODEL


def nvmlDeviceGetPciInfo(handle: int) -> SimpleNamespace:  # noqa: N802
    return SimpleNamespace(busId=f"00000000:{0x41 + handle:02X}:00.0")


def nvmlDeviceGetMemoryInfo(handle: int, version: int | None = None) -> SimpleNamespace:  # noqa: N802
    assert version == nvmlMemory_v2, "the first version counts what the driver reserves"
    used = _folder() / "used"
    taken = int(used.read_text() or 0) if _here(handle) == 0 and used.exists() else 2**20
    return SimpleNamespace(total=TOTAL, used=taken, free=TOTAL - taken)


def nvmlDeviceGetTemperature(handle: int, sensor: int) -> int:  # noqa: N802
    assert sensor == NVML_TEMPERATURE_GPU
    return 40 + _here(handle)


def nvmlDeviceGetClockInfo(handle: int, kind: int) -> int:  # noqa: N802
    return {NVML_CLOCK_SM: 1500, NVML_CLOCK_MEM: 9000}[kind] + _here(handle)


def nvmlDeviceGetPowerUsage(handle: int) -> int:  # noqa: N802
    return 120_500 + _here(handle)


def nvmlDeviceGetEnforcedPowerLimit(handle: int) -> int:  # noqa: N802
    return 450_000 + _here(handle)


def nvmlDeviceGetUtilizationRates(handle: int) -> SimpleNamespace:  # noqa: N802
    return SimpleNamespace(gpu=37 + _here(handle), memory=5)


def nvmlDeviceGetCurrentClocksEventReasons(handle: int) -> int:  # noqa: N802
    return 0x4 | 0x20 | 0x1 if _here(handle) == 0 else 0x1


def nvmlDeviceGetComputeRunningProcesses(handle: int) -> list[SimpleNamespace]:  # noqa: N802
    return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in (4_000_001, 4_000_002)[: 2 - _here(handle)]]


def nvmlDeviceGetTotalEnergyConsumption(handle: int) -> int:  # noqa: N802
    if _here(handle) == 1:
        raise NVMLError(NVML_ERROR_NOT_SUPPORTED)
    _looks[handle] += 1
    return 1_000_000 + 5_000 * _looks[handle]
