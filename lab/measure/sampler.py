"""The driver's count of each whole device while a pass goes on, sampled by the runner, outside the pass's process."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from lab.measure.driver import Driver, join, open_driver
from lab.measure.driver_facts import DriverDevice
from lab.model.attempt import DeviceMemory
from lab.model.campaign import Environment

Place = tuple[str | None, str | None]  # UUID, PCI address

SCOPE: Final = (
    "{kind}: what all processes have taken of the one whole device; the largest of {samples} samples that the runner"
    " took about every 0.1 s during the pass, and of one right before it and one right after it"
)
BY_TORCH: Final = (
    "torch.accelerator.get_memory_info: total less free of the one whole device, all processes; the larger of one"
    " reading right before the pass and one right after it"
)


class Sampler:
    """The driver's reader, opened on the first variant of a run that needs it, and the peaks of the pass under way."""

    def __init__(self) -> None:
        """Open nothing yet: a run on the processor alone takes hold of no device."""
        self._driver: Driver | None = None
        self._opened = False
        self._devices: dict[str, DriverDevice] = {}
        self.known: tuple[DeviceMemory, ...] = ()
        self.taken: dict[str, int | None] = {}
        self.samples = 0

    def __enter__(self) -> Self:
        """Be used for one run."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give the driver back."""
        if self._driver is not None:
            self._driver.__exit__(kind, error, at)

    @property
    def kind(self) -> str | None:
        """Which reader answers; None without one."""
        return None if self._driver is None or not self._devices else self._driver.kind

    def start(self, environment: Environment) -> None:
        """Begin a pass on the devices that `environment` names with a UUID or an address."""
        places = device_places(environment.facts)
        if places and not self._opened:
            self._driver, self._opened = open_driver(), True
        listed = () if self._driver is None else self._driver.devices
        joined = {name: join(listed, *ids) for name, ids in places.items()}
        self._devices = {name: one for name, one in joined.items() if one is not None}
        self.known = tuple(DeviceMemory(name, one.name, one.uuid) for name, one in self._devices.items())
        self.taken, self.samples = {}, 0

    def sample(self) -> None:
        """Look once; keeps the largest count of each device."""
        if self._driver is None or not self._devices:
            return
        self.samples += 1
        for name, device in self._devices.items():
            now = self._driver.used_bytes(device)
            if now is not None:
                self.taken[name] = max(now, self.taken.get(name) or 0)


def device_places(facts: Mapping[str, str]) -> dict[str, Place]:
    """Torch's name of each device of an environment -> its UUID and address; those without either are left out.

    Where torch does not see the device (a program of its own may), the number counts what the visibility variables
    leave of the driver's devices, as far as that is known.
    """
    kind = facts.get("accelerator.kind", "")
    numbers = sorted({name.split(".")[1] for name in facts if name.startswith("device.")})
    found: dict[str, Place] = {}
    for number in numbers:
        uuid, pci = facts.get(f"device.{number}.uuid"), facts.get(f"device.{number}.pci")
        if uuid or pci:
            found[f"{kind}:{number}"] = (uuid, pci)
    kind, _, index = facts.get("variant.device", "cpu").partition(":")
    seen = facts.get("driver.visible", "-").split(", ")
    if found or kind == "cpu" or seen == ["-"]:
        return found
    first = int(index) if index.isdigit() else 0
    last = min(first + int(facts.get("variant.devices", "1")), len(seen))
    return {f"{kind}:{number}": (seen[number], None) for number in range(first, last)}
