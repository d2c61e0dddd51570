"""NVIDIA's devices through NVML's Python reader (`nvidia-ml-py`), where it is installed and a driver answers.

Read in the sources of nvidia-ml-py 13.615 and in NVML's documentation, and tested against a module with the same names;
not run on a device in this release. Memory is asked by its second version: the first counts what the driver keeps for
itself as used. In a container NVML sees the host's process ids, so processes are counted, not named.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType, TracebackType
from typing import Any, Final, Self

from lab.measure.driver_facts import DriverDevice, DriverReading

_MILLI: Final = 1000
# NVML's reasons for a clock below what was asked, by bit; the idle bit slows no work down and is left out.
THROTTLE_NAMES: Final[Mapping[int, str]] = {
    0x2: "application_clocks",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
    0x100: "display_clocks",
}


def open_nvidia() -> Nvidia | None:
    """The reader; None where its module is not installed or no driver answers."""
    if importlib.util.find_spec("pynvml") is None:
        return None
    module = importlib.import_module("pynvml")
    try:
        module.nvmlInit()
    except module.NVMLError:
        return None
    return Nvidia(module)


class Nvidia:
    """NVML, initialised."""

    kind = "nvml"

    def __init__(self, module: ModuleType) -> None:
        """Take the initialised module and list what is there."""
        self._nvml: Any = module
        numbers = range(self._ask(module.nvmlDeviceGetCount) or 0)
        self._handles = [self._ask(partial(module.nvmlDeviceGetHandleByIndex, number)) for number in numbers]
        self.devices = tuple(
            self._device(index, handle) for index, handle in enumerate(self._handles) if handle is not None
        )
        version = self._ask(module.nvmlSystemGetDriverVersion)
        self.facts: Mapping[str, str] = {"driver.version": _text(version)} if version else {}

    def __enter__(self) -> Self:
        """Hold NVML open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give NVML back."""
        self._ask(self._nvml.nvmlShutdown)

    def used_bytes(self, device: DriverDevice) -> int | None:
        """What all processes have taken, without what the driver reserves."""
        handle = self._handles[device.index]
        version = getattr(self._nvml, "nvmlMemory_v2", None)
        found = self._ask(lambda: self._nvml.nvmlDeviceGetMemoryInfo(handle, version))
        return None if found is None else int(found.used)

    def read(self, device: DriverDevice) -> DriverReading:
        """The device's state; each value is asked on its own, since cards differ in what they answer."""
        nvml, handle, ask = self._nvml, self._handles[device.index], self._ask
        processes = ask(lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle))
        rates = ask(lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
        reasons = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
        return DriverReading(
            used_bytes=self.used_bytes(device),
            temperature_c=ask(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
            core_clock_mhz=ask(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
            memory_clock_mhz=ask(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)),
            power_w=_thousandth(ask(lambda: nvml.nvmlDeviceGetPowerUsage(handle))),
            power_limit_w=_thousandth(ask(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle))),
            utilisation_percent=None if rates is None else rates.gpu,
            throttle_bits=ask(lambda: (reasons or nvml.nvmlDeviceGetCurrentClocksThrottleReasons)(handle)),
            energy_j=_thousandth(ask(lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle))),
            process_ids=None if processes is None else tuple(int(one.pid) for one in processes),
        )

    def _device(self, index: int, handle: object) -> DriverDevice:
        nvml, ask = self._nvml, self._ask
        memory = ask(lambda: nvml.nvmlDeviceGetMemoryInfo(handle, getattr(nvml, "nvmlMemory_v2", None)))
        pci = ask(lambda: nvml.nvmlDeviceGetPciInfo(handle))
        uuid, name = ask(lambda: nvml.nvmlDeviceGetUUID(handle)), ask(lambda: nvml.nvmlDeviceGetName(handle))
        return DriverDevice(
            index=index,
            name=_text(name) if name else "",
            uuid=_text(uuid) if uuid else None,
            pci=None if pci is None else _text(pci.busId).lower()[-12:],
            memory_bytes=None if memory is None else int(memory.total),
        )

    def _ask(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401  (NVML's own values)
        """The answer; None where the device or the driver has none (not supported, lost, no permission)."""
        try:
            return call()
        except self._nvml.NVMLError:
            return None


def _thousandth(value: float | None) -> float | None:
    return None if value is None else value / _MILLI


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
