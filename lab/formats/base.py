"""What every reader of a foreign format gives: raw values, each with its place in the file, and nothing made up."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from lab.errors import Fault, InvalidInputError, fault
from lab.formats.mapping import TableMap
from lab.formats.units import MOST_J, YEARS, Units, joules
from lab.model.attempt import DeviceMemory, Outcome
from lab.model.reason import Reason

Cells = Mapping[str, Any]  # columns of `Attempt` that the file states, in the workbook's own units
_TRUNCATED = ("Unterminated string", "Expecting value", "Expecting ',' delimiter", "Expecting property name")
# A number as tools write it; `float` would also take `1_000` and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
# Escapes of half a character, which no file can hold, and of controls, which a terminal would obey.
_UNREADABLE = re.compile(r"\\(?:u(?:[dD][89a-fA-F]|00[01][0-9a-fA-F]|007[fF]|00[89][0-9a-fA-F])|[bf])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LARGEST_COUNT = 2**53  # the largest whole number that every reader of a workbook or a JSON holds exactly


@dataclass(frozen=True)
class Unusable:
    """A cell of a workbook that holds no value: `found` is its error, empty for a formula that was never calculated."""

    found: str


# The rows of a sheet by its name (None: the first), each with its place and its cells; "" where nothing is.
SheetReader = Callable[[str | None], Iterator[tuple[str, Sequence[object]]]]


@dataclass(frozen=True)
class Source:
    """One file as it came.

    Attributes:
        name: its name without folders: what provenance keeps and faults show.
        folder: tells files that lie together from others; kept nowhere.
        data: its bytes.
        sha256: of the bytes, 64 hex digits.
        sheet: reads one of its sheets where it is a workbook.
    """

    name: str
    folder: str
    data: bytes
    sha256: str
    sheet: SheetReader | None = None

    @cached_property
    def head(self) -> str:
        """The first two thousand bytes as text; what is none of UTF-8 is replaced."""
        return self.data[:2000].decode("utf-8-sig", "replace")

    @cached_property
    def text(self) -> str:
        """The whole file as UTF-8 text; raises InvalidInputError with the line that is none."""
        try:
            return self.data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise InvalidInputError(fault("file-not-utf8", file=self.name, place=f"line {line}")) from None

    @property
    def looks_like_json(self) -> bool:
        """Whether the first character that is no space opens an object or a list."""
        return self.head.lstrip()[:1] in ("{", "[")

    @cached_property
    def json(self) -> Any:  # noqa: ANN401  (whatever the file holds)
        """The JSON value of the file, None when it is not meant as one.

        Raises:
            InvalidInputError: it begins as JSON and is cut off or damaged; the fault names the line.
        """
        if not self.looks_like_json:
            return None
        text = self.text
        try:
            found = json.loads(text)
            return _readable(found) if _UNREADABLE.search(text) else found
        except json.JSONDecodeError as error:
            at_end = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
            slug = "import-cut-off" if at_end and error.msg.startswith(_TRUNCATED) else "import-not-json"
            if error.msg == "Extra data":
                slug = "import-several-json"
            raise InvalidInputError(fault(slug, file=self.name, place=f"line {error.lineno}")) from None
        except (ValueError, RecursionError):
            raise InvalidInputError(fault("import-not-json", file=self.name)) from None


@dataclass(frozen=True)
class Latencies:
    """Latencies of requests or iterations, in seconds: a population of its own, never durations of passes."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Found:
    """One raw value, as it becomes one attempt.

    Attributes:
        place: where it stands in the file, `results[0].times[3]`; with the file's sha256 it names the attempt.
        cells: what the file says of it.
        missing: column to `missing.<why>` where there is more to say than that the file does not hold it.
        because: why it did not complete.
        group: which of the things that the file compares it is of (a command, a rate, a project); empty where one.
        populations: latencies that were measured within it.
        devices: memory of single devices.
        notes: figures that are no durations (means, medians) and what else a person should know.
    """

    place: str
    cells: Cells
    missing: Mapping[str, str] = field(default_factory=dict)
    because: Reason | None = None
    group: str = ""
    populations: tuple[Latencies, ...] = ()
    devices: tuple[DeviceMemory, ...] = ()
    host_peak_bytes: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What a file gave; `version` is None where the file does not state its tool's."""

    found: tuple[Found, ...]
    version: str | None = None
    notes: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Choices:
    """What a person settled because no file says it.

    Attributes:
        units: units that overrule those of the format (`--unit time=ms`).
        passes: the target whose every value is a pass over the whole corpus (`--passes forward`).
        ended: how runs ended, where the file does not say.
        table: which column of a table is what.
    """

    units: Units = field(default_factory=Units)
    passes: str | None = None
    ended: Outcome | None = None
    table: TableMap | None = None


@dataclass(frozen=True)
class Format:
    """One format: `name` is its id, `tool` what wrote it; `together`: files of one folder are one result."""

    name: str
    tool: str
    matches: Callable[[Source], bool]
    read: Callable[[Sequence[Source], Choices], Reading]
    together: bool = False


class Values:
    """Values of one file, converted once, at the door; what is wrong is collected and raised at the end."""

    def __init__(self, file: str, units: Units) -> None:
        """Take the file's name, for faults, and the units that a person stated."""
        self.file = file
        self.units = units
        self.faults: list[Fault] = []
        self.absent: dict[str, tuple[int, int]] = {}

    def fault(self, slug: str, place: str, **values: object) -> None:
        """Remember what is wrong at a place of the file."""
        self.faults.append(Fault(slug, self.file, place, values))

    def number(self, value: object, place: str) -> float | None:
        """A number, also one written as text; None for absent, NaN and infinity."""
        found: float | None = None
        match value:
            case None | "":
                return None
            case bool():
                self.fault("import-not-a-number", place, found=str(value))
                return None
            case int() | float():
                found = _float(value)
            case str() if _NUMBER.fullmatch(value.strip()):
                found = float(value)
            case str() if _NO_NUMBER.fullmatch(value.strip()):
                return None
            case Mapping() | list():
                self.fault("import-not-a-number", place, found=json.dumps(value)[:60])
                return None
            case _:
                self.fault("import-not-a-number", place, found=str(value)[:60])
                return None
        return found if found is not None and math.isfinite(found) else None

    def whole(self, value: object, place: str) -> int | None:
        """A count up to 2^53; None for absent."""
        found = self.number(value, place)
        if found is None:
            return None
        if not 0 <= found <= _LARGEST_COUNT or found != int(found):
            self.fault("import-not-a-count", place, found=str(value)[:60])
            return None
        return int(found)

    def seconds(self, value: object, place: str, unit: str = "s") -> float | None:
        """A duration in seconds, from the unit that the format documents or that a person stated."""
        found = self.number(value, place)
        return None if found is None else self._taken(self.units.seconds(found, unit), place)

    def bytes(self, value: object, place: str, unit: str) -> int | None:
        """A size in bytes, from the unit that the format documents or that a person stated."""
        found = self.number(value, place)
        taken = None if found is None else self._taken(self.units.bytes(found, unit), place)
        return None if taken is None else round(taken)

    def joules(self, value: object, place: str, unit: str) -> float | None:
        """An energy in joules, from the unit that the format documents or the mapping states."""
        found = self.number(value, place)
        if found is not None and found < 0:
            self.fault("import-negative", place, found=repr(found))
            return None
        taken = None if found is None else joules(found, unit)
        if taken is not None and taken > MOST_J:
            self.fault("import-beyond", place, found=repr(found), unit=unit)
            return None
        return taken

    def moment(self, found: datetime, place: str, *, before: float = 0, stated: object = None) -> datetime | None:
        """A moment with its offset, `before` seconds earlier; a fault where its year cannot be."""
        try:
            start = found - timedelta(seconds=before)
            year = start.astimezone(UTC).year
        except OverflowError:
            year = 0
        if year in YEARS:
            return start
        shown = found.isoformat() if stated is None else str(stated)
        self.fault("import-moment-doubt", place, found=shown, first=str(YEARS[0]), last=str(YEARS[-1]))
        return None

    def all_seconds(self, values: Sequence[object], place: str, unit: str = "s") -> list[float]:
        """Every latency of a list that is one, in seconds; how many are none is in `absent`."""
        each = self.each_seconds(values, place, unit)
        kept = [one for one in each if one is not None]
        if kept and len(kept) < len(each):
            self.absent[place] = (len(each) - len(kept), len(each))
        return kept

    def each_seconds(self, values: Sequence[object], place: str, unit: str = "s") -> list[float | None]:
        """Every latency of a list, in seconds, None where there is none; the largest tells of a wrong-looking unit."""
        numbers = [
            one if type(one) is float and math.isfinite(one) else self.number(one, f"{place}[{n}]")
            for n, one in enumerate(values)
        ]
        kept = [one for one in numbers if one is not None]
        factor = self.units.seconds(1.0, unit, doubt=False)
        if kept:
            self._taken(self.units.seconds(max(kept), unit, least=0.0), place)
            if min(kept) < 0:
                self.fault("import-negative", place, found=str(min(kept)))
        return [None if one is None else one * factor.value for one in numbers] if not factor.slug else []

    def _taken(self, converted: Any, place: str) -> float | None:  # noqa: ANN401  (a conversion of `units`)
        if converted.slug:
            self.fault(converted.slug, place, **converted.facts)
            return None
        return float(converted.value)

    def done(self) -> None:
        """Raise InvalidInputError with everything that was found wrong."""
        if self.faults:
            raise InvalidInputError(*self.faults)


def _readable(value: Any) -> Any:  # noqa: ANN401  (a JSON value)
    """The value with a replacement character for what cannot be written or shown, in texts and in keys."""
    if isinstance(value, str):
        return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_readable(key): _readable(one) for key, one in value.items()}
    return [_readable(one) for one in value] if isinstance(value, list) else value


def _float(value: float) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def of(value: object) -> Mapping[str, Any]:
    """The value as an object; an empty one where it is none: a key that is missing is absent, no error."""
    return value if isinstance(value, Mapping) else {}


def listed(value: object) -> Sequence[Any]:
    """The value as a list; an empty one where it is none."""
    return value if isinstance(value, list) else ()
