"""Devices that a variant asks for and this machine lacks, said before a pass: a failed one is never run again."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from lab.errors import Fault, fault
from lab.measure.driver import open_driver, visible
from lab.measure.sharding import device_names
from lab.model.manifest import Manifest, Variant
from lab.model.names import MANIFEST
from lab.workloads import workload

_FILES: Final = ("nvidia[0-9]*", "nvidiactl", "nvidia-caps", "kfd", "dxg", "nvmap", "nvgpu")  # NVIDIA, ROCm, WSL, Tegra
_SLICE: Final = "MIG-"


def absent_devices(
    manifest: Manifest,
    only: Collection[str] | None = None,
    *,
    variables: Mapping[str, str] = os.environ,
    system_devices: Path = Path("/dev"),
) -> dict[str, tuple[str, ...]]:
    """Variant id -> its devices that are not here; no entry where all are here, or where it cannot be known.

    The driver is asked how many there are; where none answers, whether the system has a device file of any. A `cuda`
    device is NVIDIA's or ROCm's. Kinds that are neither asked nor ruled out here are left to the pass itself.

    Args:
        manifest: whose variants are looked at.
        only: the variants of this host; None: all.
        variables: the environment, whose visibility variables hide devices.
        system_devices: the folder of the device files.
    """
    chosen = [one for one in manifest.variants if only is None or one.id in only]
    kinds = {one.device.partition(":")[0] for one in chosen}
    here = {kind: _count(kind, variables, system_devices) for kind in kinds}
    found = {}
    for variant in chosen:
        known = here[variant.device.partition(":")[0]]
        absent = tuple(name for name in device_names(variant) if known is not None and _number(name) >= known)
        if absent:
            found[variant.id] = absent
    return found


def device_faults(manifest: Manifest, only: Collection[str]) -> tuple[Fault, ...]:
    """A fault for each variant of this host whose device it lacks: run, its passes would fail, and failed ones stay."""
    return tuple(
        fault(
            "device-absent", file=MANIFEST, place=f"variants.{variant}.device", variant=variant, devices=list(devices)
        )
        for variant, devices in absent_devices(manifest, only).items()
    )


def unseen_faults(variant: Variant, seen: Mapping[str, str]) -> tuple[Fault, ...]:
    """A fault where torch was asked and does not see the variant's devices, such as a torch built for processors only.

    `seen`: the facts of the environment, as `accelerators` gives them; where torch was not asked, nothing is said.
    """
    kind = variant.device.partition(":")[0]
    torch = seen.get("torch.version")
    if kind == "cpu" or torch is None or "torch" not in workload(variant.workload).preload:
        return ()
    count = int(seen.get("accelerator.count", "0")) if seen.get("accelerator.kind") == kind else 0
    unseen = [name for name in device_names(variant) if _number(name) >= count]
    place = f"variants.{variant.id}.device"
    facts = {"variant": variant.id, "devices": unseen, "torch": torch}
    return (fault("device-unseen", file=MANIFEST, place=place, **facts),) if unseen else ()


def _number(name: str) -> int:
    return int(name.partition(":")[2])


def _count(kind: str, variables: Mapping[str, str], system_devices: Path) -> int | None:
    """How many devices of a kind this process could use; None where that is not known without torch."""
    if kind == "mps":
        return None if sys.platform == "darwin" else 0
    if kind != "cuda":
        return None
    driver = open_driver()
    if driver is None:
        if not sys.platform.startswith("linux") or any(any(system_devices.glob(one)) for one in _FILES):
            return None
        return 0
    with driver:
        left = visible(driver.devices, variables)
        named = all(one.uuid for one in driver.devices)
    sliced = any(_SLICE in value for name, value in variables.items() if name.endswith("_VISIBLE_DEVICES"))
    return len(left) if left is not None and named and not sliced else None
