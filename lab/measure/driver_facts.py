"""The plain values that every vendor's reader gives."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class DriverDevice:
    """One device as its driver names it.

    Attributes:
        index: the driver's own number, which is not torch's.
        name: the driver's name of the model.
        uuid: as the driver writes it; None where it gives none.
        pci: its address such as `0000:65:00.0`; None where it gives none.
        memory_bytes: the whole memory; None where it does not say.
    """

    index: int
    name: str
    uuid: str | None = None
    pci: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class DriverReading:
    """One moment of one device; None for what it does not say.

    `energy_j` counts from some moment in the past. `process_ids` are of the host, which in a container are others than
    the ones that this process sees.
    """

    used_bytes: float | None = None
    temperature_c: float | None = None
    core_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    utilisation_percent: float | None = None
    throttle_bits: float | None = None
    energy_j: float | None = None
    process_ids: tuple[int, ...] | None = None


READINGS: tuple[str, ...] = tuple(one.name for one in fields(DriverReading) if one.name != "process_ids")
