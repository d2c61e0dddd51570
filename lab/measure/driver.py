"""What a device's driver says of it, whoever uses it: memory of all processes, clocks, heat, power, energy.

One reader a vendor (`driver_nvidia`, `driver_amd`), tried in their order. It is asked from outside the pass: by the
runner while a pass goes on, by the worker right before its start and right after its end. Intel's devices have no
reader of their own here: for them, and wherever no reader is installed, `memory` asks torch what is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from lab.measure.driver_amd import Amd, open_amd
from lab.measure.driver_facts import DriverDevice
from lab.measure.driver_nvidia import Nvidia, open_nvidia

Driver = Nvidia | Amd

_PREFIX: Final = "gpu-"


def open_driver() -> Driver | None:
    """The reader of the driver that answers on this machine; None where there is none. Close it by its `with` block."""
    return open_nvidia() or open_amd()


def join(devices: Iterable[DriverDevice], uuid: str | None, pci: str | None = None) -> DriverDevice | None:
    """The driver's device that torch means: of that UUID, else at that address; None where neither is known there.

    Numbers are never joined: torch counts what `CUDA_VISIBLE_DEVICES` leaves, and by speed unless told otherwise.
    """
    known = list(devices)
    if uuid:
        for one in known:
            if one.uuid and plain_uuid(one.uuid) == plain_uuid(uuid):
                return one
    return next((one for one in known if pci and one.pci == pci.lower()), None)


def plain_uuid(uuid: str) -> str:
    """A UUID without the vendor's prefix: torch leaves out the `GPU-` that NVML writes."""
    return uuid.lower().removeprefix(_PREFIX)


def visible(devices: tuple[DriverDevice, ...], variables: Mapping[str, str]) -> tuple[str, ...] | None:
    """UUIDs that the visibility variables leave, in their order; None where that cannot be known without torch.

    A number in `CUDA_VISIBLE_DEVICES` means the driver's own only when `CUDA_DEVICE_ORDER` is `PCI_BUS_ID` or all
    cards are of one model; an unknown entry ends the list, as CUDA reads it.
    """
    names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    text = next((variables[name] for name in names if name in variables), None)
    if text is None:
        return tuple(one.uuid for one in devices if one.uuid)
    by_number = variables.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({one.name for one in devices}) <= 1
    found: list[str] = []
    for part in (one.strip() for one in text.split(",")):
        if part.isdigit():
            if not by_number:
                return None
            seen = devices[int(part)].uuid if int(part) < len(devices) else None
        else:
            wanted = plain_uuid(part)
            matches = [one.uuid for one in devices if one.uuid and wanted and plain_uuid(one.uuid).startswith(wanted)]
            seen = matches[0] if len(matches) == 1 else None
        if seen is None:
            break
        found.append(seen)
    return tuple(found)
