"""What a Ray task does on its node: hold the campaign's files there, and run one pass by the tool's own supervisor."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final, ParamSpec, TypeVar

from lab.errors import Fault, InvalidInputError, LabError, OutsideFailureError
from lab.measure.attempts import Attempts, Host
from lab.measure.events import AttemptProgress, Event
from lab.measure.interrupts import Interrupts
from lab.measure.ray_files import Listing, Piece, Sent, checked, code_fingerprint, packed, receive, take_shared
from lab.measure.runner import setting_faults
from lab.measure.strays import end_marked
from lab.model.attempt import Record, Slot
from lab.model.campaign import Campaign
from lab.store.attempts import ATTEMPTS, attempt_folder
from lab.store.environments import ENVIRONMENTS

P = ParamSpec("P")
R = TypeVar("R")
Plain = tuple[str, str | None, str | None, dict[str, object]]  # a fault: slug, file, place, values

_MOST_EVENTS: Final = 64
_PREFIX: Final = "lab-ray-"


@dataclass(frozen=True)
class Prepared:
    """A node's answer before its first pass: which code it has, and whether it found the campaign's files itself."""

    code: str
    shared: bool


@dataclass(frozen=True)
class Refused:
    """What a node answers where something is wrong: an error's faults as plain values, since errors do not travel."""

    plain: tuple[Plain, ...]
    outside: bool

    @property
    def error(self) -> LabError:
        """The error as it was raised on the node."""
        kind = OutsideFailureError if self.outside else InvalidInputError
        return kind(*(Fault(*one) for one in self.plain))


def answering(act: Callable[P, R]) -> Callable[P, R | Refused]:
    """Let a task answer with what is wrong instead of raising it."""

    @wraps(act)
    def answer(*given: P.args, **named: P.kwargs) -> R | Refused:
        try:
            return act(*given, **named)
        except LabError as error:
            plain = tuple((one.slug, one.file, one.place, dict(one.values)) for one in error.faults)
            return Refused(plain, outside=isinstance(error, OutsideFailureError))

    return answer


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


@dataclass(frozen=True)
class Place:
    """The folder on a node that holds the campaign while it is measured.

    Attributes:
        campaign: stands for the campaign and the machine that runs it, the same in every run.
        run: one run's own.
        node: the node's id, since two nodes may be on one host.
    """

    campaign: str
    run: str
    node: str

    @property
    def folder(self) -> Path:
        """The folder; the names of one campaign begin alike, and so do those of one run."""
        return Path(gettempdir()) / f"{_PREFIX}{self.campaign}-{self.run}-{self.node}"

    def left(self) -> list[Path]:
        """What earlier runs of this campaign left here, whose node or driver died: only one run of it is under way."""
        every = Path(gettempdir()).glob(f"{_PREFIX}{self.campaign}-*")
        return [one for one in every if not one.name.startswith(f"{_PREFIX}{self.campaign}-{self.run}-")]


@answering
def prepare(place: Place, folder: str, wanted: Listing) -> Prepared:
    """Clear what earlier runs left, make the place, and fill it from `folder` where that is the same campaign here."""
    for one in place.left():
        for attempt in (one / ATTEMPTS).glob("[!.]*"):
            end_marked(attempt.name)
        shutil.rmtree(one, ignore_errors=True)
    place.folder.mkdir(mode=0o700)
    return Prepared(code_fingerprint(), take_shared(Path(folder), wanted, place.folder))


@answering
def take(place: Place, load: tuple[Piece, ...]) -> None:
    """Write parts of files that came through Ray's object store."""
    receive(place.folder, load)


@answering
def whole(place: Place, wanted: Listing) -> None:
    """Make sure that every file that was sent has arrived as it was."""
    checked(place.folder, wanted)


@answering
def check(place: Place, campaign: Campaign, variant: str) -> None:
    """Raise what makes every pass of a variant impossible on this node."""
    if found := setting_faults(campaign.manifest, place.folder, {variant}):
        raise InvalidInputError(*found)


@answering
def measure(place: Place, asked: PassOrder, board: Any) -> Returned:  # noqa: ANN401  (an actor's handle)
    """Run one pass as a run on this machine does, and give back the whole attempt; a failed one comes back too."""
    root = place.folder
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


def remove(place: Place) -> None:
    """Leave nothing of the campaign on this node."""
    shutil.rmtree(place.folder, ignore_errors=True)


def _teller(board: Any) -> Callable[[Event], None]:  # noqa: ANN401  (an actor's handle)
    def tell(event: Event) -> None:
        if isinstance(event, AttemptProgress):
            board.put.remote(event.standing.attempt_id, event)

    return tell
