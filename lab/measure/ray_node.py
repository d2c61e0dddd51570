"""What a Ray task does on its node: hold the campaign's files there, and run one pass by the tool's own supervisor."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final

from lab.errors import LabError
from lab.measure.attempts import Attempts, Host
from lab.measure.events import AttemptProgress, Event
from lab.measure.interrupts import Interrupts
from lab.measure.ray_files import Listing, Sent, code_fingerprint, packed, receive, take_shared
from lab.measure.runner import setting_faults
from lab.model.attempt import Record, Slot
from lab.model.campaign import Campaign
from lab.store.attempts import attempt_folder
from lab.store.environments import ENVIRONMENTS

Plain = tuple[str, str | None, str | None, dict[str, object]]  # a fault: slug, file, place, values

_MOST_EVENTS: Final = 64


@dataclass(frozen=True)
class Prepared:
    """A node's answer before its first pass: which code it has, and whether it found the campaign's files itself."""

    code: str
    shared: bool


@dataclass(frozen=True)
class PassOrder:
    """What a node must know of one pass: the slot, when it began and its token, which together name the attempt."""

    campaign: Campaign
    planned: tuple[Slot, ...]
    slot: Slot
    moment: datetime
    token: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Returned:
    """The files of a finished attempt, and those of the environments it was observed in."""

    attempt: Mapping[str, Sent]
    environments: Mapping[str, Sent]


class Board:
    """Where nodes write how far a pass is, and the driver reads it; an actor beside the driver."""

    def __init__(self) -> None:
        """Start empty."""
        self._events: dict[str, Event] = {}

    def put(self, attempt_id: str, event: Event) -> None:
        """Keep the newest event of an attempt."""
        if len(self._events) < _MOST_EVENTS:
            self._events[attempt_id] = event

    def take(self) -> dict[str, Event]:
        """Give what is there, once."""
        found, self._events = self._events, {}
        return found


def place(name: str) -> Path:
    """The folder on this node that holds the campaign while it is measured."""
    return Path(gettempdir()) / f"lab-ray-{name}"


def prepare(name: str, folder: str, wanted: Listing) -> Prepared:
    """Make the place, and fill it from `folder` where that is the same campaign here."""
    root = place(name)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(mode=0o700)
    return Prepared(code_fingerprint(), take_shared(Path(folder), wanted, root))


def take(name: str, names: Sequence[str], wanted: Listing, *blobs: bytes) -> None:
    """Write files that came through Ray's object store."""
    receive(place(name), names, wanted, blobs)


def faults(name: str, campaign: Campaign, variant: str) -> list[Plain]:
    """What makes every pass of a variant impossible on this node."""
    found = setting_faults(campaign.manifest, place(name), {variant})
    return [(one.slug, one.file, one.place, dict(one.values)) for one in found]


def measure(name: str, asked: PassOrder, board: Any) -> Returned:  # noqa: ANN401  (an actor's handle)
    """Run one pass as a run on this machine does, and give back the whole attempt; a failed one comes back too."""
    root = place(name)
    records: list[Record] = []
    with Interrupts() as interrupts:
        host = Host(
            _teller(board), lambda: asked.moment, interrupts, "forkserver", token=lambda: asked.token, facts=asked.facts
        )
        try:
            with Attempts(root, asked.campaign, host, asked.planned) as attempts:
                attempts.all((asked.slot,), (), records.append)
        except (KeyboardInterrupt, LabError):
            if not records:
                raise
    at = attempt_folder(root, records[0].attempt.attempt_id)
    found = Returned(packed(at), packed(root / ENVIRONMENTS))
    shutil.rmtree(at, ignore_errors=True)
    return found


def remove(name: str) -> None:
    """Leave nothing of the campaign on this node."""
    shutil.rmtree(place(name), ignore_errors=True)


def _teller(board: Any) -> Callable[[Event], None]:  # noqa: ANN401  (an actor's handle)
    def tell(event: Event) -> None:
        if isinstance(event, AttemptProgress):
            board.put.remote(event.standing.attempt_id, event)

    return tell
