"""AMD's devices through `amdsmi`, which comes with ROCm, where it is installed and a driver answers.

Read in the sources of amdsmi 7.0.2, and tested against a module with the same names; not run on a device in this
release. It answers VRAM in mebibytes, a power cap in microwatts, and energy in steps of a resolution in microjoules.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
from typing import Any, Final, Self

from lab.measure.driver_facts import DriverDevice, DriverReading

_MIB: Final = 2**20
_MICRO: Final = 1_000_000


def open_amd() -> Amd | None:
    """The reader; None where its module is not installed or no driver answers."""
    if importlib.util.find_spec("amdsmi") is None:
        return None
    try:
        module = importlib.import_module("amdsmi")  # loads its C library, which may be missing
        module.amdsmi_init()
    except Exception:  # noqa: BLE001  (its errors have no base class outside the module that did not load)
        return None
    return Amd(module)


class Amd:
    """amdsmi, initialised."""

    kind = "amdsmi"

    def __init__(self, module: ModuleType) -> None:
        """Take the initialised module and list what is there."""
        self._smi: Any = module
        self._handles = list(self._ask(module.amdsmi_get_processor_handles) or ())
        self.devices = tuple(self._device(index, handle) for index, handle in enumerate(self._handles))
        info = self._ask(lambda: module.amdsmi_get_gpu_driver_info(self._handles[0])) if self._handles else None
        self.facts: Mapping[str, str] = {"driver.version": str(info["driver_version"])} if info else {}

    def __enter__(self) -> Self:
        """Hold amdsmi open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give amdsmi back."""
        self._ask(self._smi.amdsmi_shut_down)

    def used_bytes(self, device: DriverDevice) -> int | None:
        """What all processes have taken of the card's own memory."""
        found = self._ask(lambda: self._smi.amdsmi_get_gpu_vram_usage(self._handles[device.index]))
        return None if found is None else int(found["vram_used"]) * _MIB

    def read(self, device: DriverDevice) -> DriverReading:
        """The device's state; each value is asked on its own, since cards differ in what they answer."""
        smi, handle, ask = self._smi, self._handles[device.index], self._ask
        heat = (smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT)
        power = ask(lambda: smi.amdsmi_get_power_info(handle)) or {}
        cap = ask(lambda: smi.amdsmi_get_power_cap_info(handle)) or {}
        energy = ask(lambda: smi.amdsmi_get_energy_count(handle)) or {}
        activity = ask(lambda: smi.amdsmi_get_gpu_activity(handle)) or {}
        processes = ask(lambda: smi.amdsmi_get_gpu_process_list(handle))
        limit, steps, step = (
            _number(cap.get("power_cap")),
            _number(energy.get("energy_accumulator")),
            _number(energy.get("counter_resolution")),
        )
        return DriverReading(
            used_bytes=self.used_bytes(device),
            temperature_c=_number(ask(lambda: smi.amdsmi_get_temp_metric(handle, *heat))),
            core_clock_mhz=self._clock(handle, smi.AmdSmiClkType.GFX),
            memory_clock_mhz=self._clock(handle, smi.AmdSmiClkType.MEM),
            power_w=_number(power.get("current_socket_power")) or _number(power.get("average_socket_power")),
            power_limit_w=None if limit is None else limit / _MICRO,
            utilisation_percent=_number(activity.get("gfx_activity")),
            energy_j=None if steps is None or step is None else steps * step / _MICRO,
            process_ids=None if processes is None else tuple(int(one["pid"]) for one in processes),
        )

    def _clock(self, handle: object, kind: object) -> float | None:
        found = self._ask(lambda: self._smi.amdsmi_get_clock_info(handle, kind)) or {}
        return _number(found.get("clk"))

    def _device(self, index: int, handle: object) -> DriverDevice:
        smi, ask = self._smi, self._ask
        asic = ask(lambda: smi.amdsmi_get_gpu_asic_info(handle)) or {}
        memory = ask(lambda: smi.amdsmi_get_gpu_vram_usage(handle))
        pci = ask(lambda: smi.amdsmi_get_gpu_device_bdf(handle))
        return DriverDevice(
            index=index,
            name=str(asic.get("market_name", "")),
            uuid=ask(lambda: smi.amdsmi_get_gpu_device_uuid(handle)),
            pci=None if pci is None else str(pci).lower(),
            memory_bytes=None if memory is None else int(memory["vram_total"]) * _MIB,
        )

    def _ask(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401  (amdsmi's own values)
        """The answer; None where the device or the driver has none."""
        try:
            return call()
        except self._smi.AmdSmiException:
            return None


def _number(value: object) -> float | None:
    """A number as it is; amdsmi writes `N/A` for what it does not know."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
