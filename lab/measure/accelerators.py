"""The devices of a machine as torch and as their driver see them, joined by UUID."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from typing import Any

from lab.measure.driver import open_driver, visible
from lab.measure.machine import cpu_model

Seen = tuple[Mapping[str, str], tuple[str, ...]]  # facts, names of the devices a variant uses


def accelerator_facts(device: str, devices: int) -> Seen:
    """What torch and the driver say of the devices a variant uses; imports torch. Without torch: what the driver says.

    The names are the driver's own, one per device; a processor's is the model name.
    """
    kind, _, index = device.partition(":")
    names = (cpu_model(),) if kind == "cpu" else ()
    facts = driver_facts()
    if importlib.util.find_spec("torch") is None:
        return facts, names or _names_of_driver(facts, index, devices)
    torch = importlib.import_module("torch")
    facts |= {
        "torch.version": str(torch.__version__),
        "torch.git": str(torch.version.git_version or ""),
        "torch.cuda": str(torch.version.cuda or ""),
        "torch.hip": str(torch.version.hip or ""),
        "torch.cpu_capability": str(torch.backends.cpu.get_cpu_capability()),
    }
    if torch.accelerator.is_available():
        accelerator = torch.accelerator.current_accelerator().type
        facts |= {
            "accelerator.kind": accelerator,
            "accelerator.count": str(torch.accelerator.device_count()),
            "torch.cudnn": str(torch.backends.cudnn.version() or ""),
            "torch.tf32_matmul": str(torch.get_float32_matmul_precision()),
        }
        if kind == accelerator:
            module = torch.get_device_module(accelerator)
            first = int(index) if index.isdigit() else torch.accelerator.current_device_index()
            for number in range(first, min(first + devices, torch.accelerator.device_count())):
                properties = module.get_device_properties(number)
                names = (*names, str(properties.name))
                facts |= {
                    f"device.{number}.name": str(properties.name),
                    f"device.{number}.uuid": str(getattr(properties, "uuid", "")),
                    f"device.{number}.pci": _address(properties),
                    f"device.{number}.memory_bytes": str(getattr(properties, "total_memory", "")),
                    f"device.{number}.capability": _capability(properties),
                }
    return {name: value for name, value in facts.items() if value}, names or _names_of_driver(facts, index, devices)


def _names_of_driver(facts: Mapping[str, str], index: str, devices: int) -> tuple[str, ...]:
    """The names of devices that torch does not see and another program may: by the driver, where that is known."""
    by_uuid = {
        facts[f"driver.{number}.uuid"]: facts.get(f"driver.{number}.name", "")
        for number in range(int(facts.get("driver.count", "0")))
        if f"driver.{number}.uuid" in facts
    }
    chosen = [by_uuid[one] for one in facts.get("driver.visible", "").split(", ") if one in by_uuid]
    first = int(index) if index.isdigit() else 0
    return tuple(chosen[first : first + devices])


def driver_facts(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The driver's version, how many devices it has, which, and the UUIDs that the visibility variables leave of them.

    Empty where no driver's reader answers.
    """
    driver = open_driver()
    if driver is None:
        return {}
    with driver:
        chosen = visible(driver.devices, os.environ if variables is None else variables)
        facts = {**driver.facts, "driver.reader": driver.kind, "driver.count": str(len(driver.devices))}
        for one in driver.devices:
            facts |= {f"driver.{one.index}.name": one.name, f"driver.{one.index}.uuid": one.uuid or ""}
    if chosen is not None:
        facts["driver.visible"] = ", ".join(chosen) or "-"
    return {name: value for name, value in facts.items() if value}


def _address(properties: Any) -> str:  # noqa: ANN401  (torch's own type)
    """`0000:65:00.0`; empty where torch does not say it."""
    parts = [getattr(properties, f"pci_{name}_id", None) for name in ("domain", "bus", "device")]
    numbers = [one for one in parts if isinstance(one, int)]
    return "{:04x}:{:02x}:{:02x}.0".format(*numbers) if len(numbers) == len(parts) else ""


def _capability(properties: Any) -> str:  # noqa: ANN401  (torch's own type)
    """`9.0` on NVIDIA, the architecture's name on AMD; empty elsewhere."""
    architecture = getattr(properties, "gcnArchName", None)
    if architecture:
        return str(architecture)
    major, minor = getattr(properties, "major", None), getattr(properties, "minor", None)
    return "" if major is None or minor is None else f"{major}.{minor}"
