"""How the passes of a run are started: on this machine, or on the nodes of a Ray cluster. One file for each."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Protocol, Self

from lab.errors import Fault, fault
from lab.measure.absent_devices import device_faults
from lab.measure.attempts import Attempts, Host
from lab.model.attempt import Record, Slot
from lab.model.campaign import Campaign
from lab.model.manifest import Manifest
from lab.model.names import MANIFEST

EngineName = Literal["local", "ray"]
PLACE_WITHIN_S: Final = 120.0
_ADDRESS: Final = re.compile(r"(?:[^\s/:\[\]]+|\[[0-9A-Fa-f:]+\]):\d{1,5}")


class Engine(Protocol):
    """One run of a campaign's passes; held open by its `with` block."""

    def __enter__(self) -> Self:
        """Open what the run needs. Raises what makes every pass impossible, before the first one."""
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it, and end whatever still runs."""
        ...

    def all(
        self, slots: tuple[Slot, ...], earlier: Iterable[Record], on_attempt: Callable[[Record], None]
    ) -> list[Record]:
        """Run `slots`, each on record before and after; see `Attempts.all`."""
        ...


@dataclass(frozen=True)
class EngineChoice:
    """Which engine, and what it needs to know.

    Attributes:
        name: `local`, or `ray`.
        address: of the Ray cluster; None: the one that Ray finds by itself.
        place_within_s: seconds after which a variant that no node can take is given up.
    """

    name: EngineName = "local"
    address: str | None = None
    place_within_s: float = PLACE_WITHIN_S

    def faults(self, manifest: Manifest, only: Collection[str] | None = None) -> tuple[Fault, ...]:
        """What makes this engine impossible here or for this campaign, known before anything is asked of it.

        `only`: the variants with passes left; None where these are not known yet, and then no device is looked for.
        """
        if self.name == "local":
            return () if only is None else device_faults(manifest, only)
        if importlib.util.find_spec("ray") is None:
            return (fault("ray-extra-missing"),)
        if self.address is not None and not _ADDRESS.fullmatch(self.address):
            return (fault("ray-address-bad", place="--address", found=self.address),)
        if manifest.run.process == "per-variant":
            return (fault("ray-per-variant", file=MANIFEST, place="run.process"),)
        chosen = (one for one in manifest.variants if only is None or one.id in only)
        return tuple(
            fault("ray-device-number", file=MANIFEST, place=f"variants.{one.id}.device", device=one.device)
            for one in chosen
            if one.device.partition(":")[2] not in {"", "0"} and not one.device.startswith("cpu")
        )

    def start(self, folder: Path, campaign: Campaign, host: Host, planned: Sequence[Slot]) -> Engine:
        """The engine for one run; nothing starts before its `with` block is entered."""
        if self.name == "local":
            return Attempts(folder, campaign, host, planned)
        from lab.measure.ray_engine import RayAttempts

        return RayAttempts(folder, campaign, host, planned, self)
