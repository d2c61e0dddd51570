"""A module with amdsmi's own names and one invented card, for machines without one. Nothing of it is a real reading."""

# ruff: noqa: D103  (each function answers what the real one of its name answers)
from __future__ import annotations

import os
from enum import IntEnum

UUID = "33ff74a1-0000-1000-80c2-000000000003"


class AmdSmiException(Exception):  # noqa: N818  (amdsmi's own name)
    """amdsmi's error."""


class AmdSmiTemperatureType(IntEnum):
    """Which sensor."""

    HOTSPOT = 1


class AmdSmiTemperatureMetric(IntEnum):
    """Which figure of it."""

    CURRENT = 0


class AmdSmiClkType(IntEnum):
    """Which clock."""

    GFX = 0
    MEM = 4


def amdsmi_init() -> None:
    """Answer only when asked for."""
    if "LAB_FAKE_AMDSMI" not in os.environ:
        raise AmdSmiException


def amdsmi_shut_down() -> None:
    """Nothing to give back."""


def amdsmi_get_processor_handles() -> list[str]:
    return ["card"]


def amdsmi_get_gpu_driver_info(_handle: str) -> dict[str, str]:
    return {"driver_name": "amdgpu", "driver_version": "6.99", "driver_date": "N/A"}


def amdsmi_get_gpu_asic_info(_handle: str) -> dict[str, str]:
    return {"market_name": "Invented MI 1"}


def amdsmi_get_gpu_device_uuid(_handle: str) -> str:
    return UUID


def amdsmi_get_gpu_device_bdf(_handle: str) -> str:
    return "0000:C1:00.0"


def amdsmi_get_gpu_vram_usage(_handle: str) -> dict[str, int]:
    return {"vram_total": 65536, "vram_used": 300}


def amdsmi_get_temp_metric(_handle: str, _sensor: AmdSmiTemperatureType, _metric: AmdSmiTemperatureMetric) -> int:
    return 61


def amdsmi_get_clock_info(_handle: str, kind: AmdSmiClkType) -> dict[str, object]:
    if kind is AmdSmiClkType.MEM:
        raise AmdSmiException
    return {"clk": 1700, "max_clk": 2100}


def amdsmi_get_power_info(_handle: str) -> dict[str, object]:
    return {"current_socket_power": "N/A", "average_socket_power": 210}


def amdsmi_get_power_cap_info(_handle: str) -> dict[str, int]:
    return {"power_cap": 300_000_000}


def amdsmi_get_energy_count(_handle: str) -> dict[str, float]:
    return {"energy_accumulator": 1_000_000, "counter_resolution": 15.3, "timestamp": 1}


def amdsmi_get_gpu_activity(_handle: str) -> dict[str, object]:
    return {"gfx_activity": 12}


def amdsmi_get_gpu_process_list(_handle: str) -> list[dict[str, object]]:
    return [{"pid": 7, "name": "x"}]
