"""The mapping file: which column of a table is what, in which unit, written in TOML by the person who knows.

```toml
delimiter = ";"                  # of a csv; decimal = "," where numbers are written so
sheet = "runs"                   # of a spreadsheet; the first one when left out
[constants]
outcome = "completed"            # what holds for every row
[columns]
duration_s = { column = "time", unit = "ms" }
variant = "config"
outcome = { column = "status", values = { ok = "completed", OOM = "out_of_memory" } }
started_at = { column = "when", zone = "+01:00" }
[predictions]                    # for `lab judge --predictions`
id = "ticket"                    # or: order = "corpus", where the file has no ids
prediction = "label"
scores = ["p_billing", "p_bug"]
```
"""

from __future__ import annotations

import codecs
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from difflib import get_close_matches
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lab.errors import Fault, InvalidInputError, fault
from lab.formats.units import ENERGIES, SIZES, TIMES, YEARS
from lab.messages import DASH
from lab.model.attempt import COLUMNS, OUTCOMES

# The product's own: they name files of the campaign or what was observed by it.
_OURS = {
    "attempt_id", "parameters", "position", "environment", "predictions_path", "predictions_sha256", "seal",
    "missing_reason",
}  # fmt: skip
TARGETS: Mapping[str, str] = {
    **{one.name: one.kind for one in COLUMNS if one.owner == "measured" and one.name not in _OURS},
    "notes": "text",
}
UNIT_OF = {one.name: one.unit for one in COLUMNS if one.unit in ("s", "bytes", "J")}
_UNITS: Mapping[str, Sequence[str]] = {"s": tuple(TIMES), "bytes": tuple(SIZES), "J": tuple(ENERGIES)}
_PLAIN = ("delimiter", "decimal", "encoding", "sheet")
_TOP = (*_PLAIN, "columns", "constants", "predictions")
_COLUMN = ("column", "unit", "values", "zone")
_PREDICTIONS = ("id", "prediction", "scores", "order")
_LARGEST = 2**53  # of a constant that counts, like every count of an imported file


@dataclass(frozen=True)
class ColumnMap:
    """One column of the table: its header, its unit, what its words mean, the zone of its moments."""

    column: str
    unit: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo | None = None


@dataclass(frozen=True)
class PredictionMap:
    """The columns of a predictions file; `in_order`: it has no ids, its rows are in the corpus's order."""

    prediction: str = "prediction"
    id: str | None = "id"
    scores: str | tuple[str, ...] | None = None
    in_order: bool = False


@dataclass(frozen=True)
class TableMap:
    """A mapping file: columns and constants by field of `Attempt`, and the columns of predictions."""

    columns: Mapping[str, ColumnMap] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    predictions: PredictionMap | None = None
    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    sheet: str | None = None


def parse_mapping(text: str, file: str) -> TableMap:
    """The mapping that `text` states.

    Raises:
        InvalidInputError: it is no TOML, has an unknown key (the nearest known one is named), a measure without a unit,
            an unknown unit, outcome, zone or encoding, or a key that its column has no use for; every fault at once.
    """
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(fault("map-not-toml", file=file, found=str(error))) from None
    reader = _Reader(file)
    reader.only(held, _TOP, "")
    columns = {
        name: found
        for name, stated in reader.table(held, "columns").items()
        if reader.target(name, "columns") and (found := reader.column(name, stated)) is not None
    }
    constants = {
        name: constant
        for name, value in reader.table(held, "constants").items()
        if (constant := reader.constant(name, value)) is not None
    }
    predictions = reader.predictions(held["predictions"]) if "predictions" in held else None
    plain = {name: reader.plain(name, held[name]) for name in _PLAIN if name in held}
    if reader.faults:
        raise InvalidInputError(*reader.faults)
    return TableMap(columns, constants, predictions, **plain)


class _Reader:
    """Collects what is wrong with one mapping file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def fault(self, slug: str, place: str, **values: object) -> None:
        self.faults.append(Fault(slug, self.file, place, values))

    def only(self, held: Mapping[str, object], known: Sequence[str], within: str) -> None:
        for name in held:
            if name not in known:
                near = get_close_matches(name, known, 1)
                facts = {"name": name, "near": near[0] if near else DASH, "known": list(known)}
                self.fault("map-unknown-key", f"{within}{name}", **facts)

    def plain(self, name: str, value: object) -> str:
        """One of the keys at the top, as text; an encoding by its canonical name."""
        text = value if isinstance(value, str) else ""
        if name == "encoding":
            try:
                "".encode(text)
                return codecs.lookup(text).name
            except (LookupError, ValueError):
                self.fault("map-unknown-encoding", name, found=str(value)[:60])
        elif name == "delimiter" and (len(text) != 1 or text in '"\r\n'):
            self.fault("import-bad-delimiter", name, found=str(value)[:60])
        elif name == "decimal" and text not in (".", ","):
            self.fault("map-bad-decimal", name, found=str(value)[:60])
        elif not text:
            self.fault("map-no-text", name, name=name)
        return text

    def table(self, held: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        found = held.get(name, {})
        if isinstance(found, dict):
            return found
        self.fault("map-not-a-table", name, name=name)
        return {}

    def target(self, name: str, within: str) -> bool:
        if name in TARGETS:
            return True
        self.only({name: None}, tuple(TARGETS), f"{within}.")
        return False

    def column(self, name: str, stated: object) -> ColumnMap | None:
        place = f"columns.{name}"
        if isinstance(stated, str):
            stated = {"column": stated}
        if not isinstance(stated, dict) or not isinstance(stated.get("column"), str):
            self.fault("map-no-column", place, name=name)
            return None
        self.only(stated, _COLUMN, f"{place}.")
        unit, wanted = stated.get("unit"), UNIT_OF.get(name)
        if wanted is not None and unit not in _UNITS[str(wanted)]:
            slug = "map-no-unit" if unit is None else "map-unknown-unit"
            self.fault(slug, place, name=name, unit=str(unit), known=list(_UNITS[str(wanted)]))
        values = stated.get("values", {})
        if not isinstance(values, dict):
            self.fault("map-not-a-table", f"{place}.values", name=f"columns.{name}.values")
            values = {}
        kind = TARGETS[name]
        useless = {"unit": wanted is None, "values": kind not in ("text", "choice"), "zone": kind != "moment"}
        for key in [key for key, here in useless.items() if here and key in stated]:
            self.fault("map-useless-key", f"{place}.{key}", name=name, key=key)
        if name == "outcome":
            self._outcomes(values, place)
        zone = self._zone(stated["zone"], place) if "zone" in stated and not useless["zone"] else None
        return ColumnMap(stated["column"], unit, values, zone)

    def _outcomes(self, values: Mapping[str, object], place: str) -> None:
        for word, outcome in values.items():
            if outcome not in OUTCOMES:
                self.fault("map-unknown-outcome", f"{place}.values.{word}", found=str(outcome), known=list(OUTCOMES))

    def _zone(self, stated: object, place: str) -> tzinfo | None:
        text = str(stated)
        try:
            offset = datetime.strptime(text, "%z").utcoffset()
            return None if offset is None else timezone(offset)
        except ValueError:
            pass
        try:
            return ZoneInfo(text)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.fault("map-unknown-zone", place, found=text)
            return None

    def constant(self, name: str, value: object) -> object:
        """The value that holds for every row, None after a fault; a moment as ISO 8601 text."""
        if not self.target(name, "constants"):
            return None
        if name == "outcome" and value not in OUTCOMES:
            self.fault("map-unknown-outcome", "constants.outcome", found=str(value), known=list(OUTCOMES))
            return None
        kind = TARGETS[name]
        if kind == "moment":
            return self._moment(name, value)
        types: Mapping[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float)}
        fits = isinstance(value, types.get(kind, (str,))) and not isinstance(value, bool)
        if isinstance(value, int | float):
            fits = fits and 0 <= value <= _LARGEST  # NaN is neither
        if not fits:
            self.fault("map-bad-constant", f"constants.{name}", name=name, wanted=kind, found=str(value)[:60])
        return value if fits else None

    def _moment(self, name: str, value: object) -> str | None:
        """TOML has moments of its own; text is taken too."""
        try:
            found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        except ValueError:
            found = None
        if found is not None and found.tzinfo is not None and found.year in YEARS:
            return found.isoformat()
        self.fault("import-not-a-moment", f"constants.{name}", found=str(value)[:60])
        return None

    def predictions(self, stated: object) -> PredictionMap | None:
        if not isinstance(stated, dict):
            self.fault("map-not-a-table", "predictions", name="predictions")
            return None
        self.only(stated, _PREDICTIONS, "predictions.")
        scores, order = stated.get("scores"), stated.get("order")
        several = scores if isinstance(scores, list) else [] if scores is None else [scores]
        if not all(isinstance(one, str) for one in several):
            self.fault("map-no-column", "predictions.scores", name="scores")
        if order not in (None, "corpus"):
            self.fault("map-unknown-order", "predictions.order", found=str(order))
        if order is not None and "id" in stated:
            self.fault("map-id-and-order", "predictions.order")
        for name in ("id", "prediction"):
            if name in stated and not isinstance(stated[name], str):
                self.fault("map-no-column", f"predictions.{name}", name=name)
        return PredictionMap(
            prediction=str(stated.get("prediction", "prediction")),
            id=None if order else str(stated.get("id", "id")),
            scores=tuple(map(str, scores)) if isinstance(scores, list) else None if scores is None else str(scores),
            in_order=order == "corpus",
        )
