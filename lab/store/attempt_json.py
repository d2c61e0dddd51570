"""`attempt.json`: a record as JSON and back, with nothing lost and nothing let through that is not a record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any

from lab.errors import Fault, InvalidInputError, fault
from lab.model.attempt import COLUMNS, Attempt, Column, Details, DeviceMemory, Population, Provenance, Record
from lab.model.reason import Reason

SCHEMA = 1


def to_json(record: Record) -> dict[str, object]:
    """A record as the object that `attempt.json` holds: `schema`, `attempt` (every column), `details`.

    What only imported attempts have is left out of the others.
    """
    held = {one.name: getattr(record.details, one.name) for one in fields(Details)}
    details = {name: value for name, value in held.items() if value or name not in _IMPORTED}
    return {"schema": SCHEMA, "attempt": record.attempt, "details": details}


def from_json(value: object, shown: str) -> Record:
    """The record that an `attempt.json` holds.

    Args:
        value: what the file holds.
        shown: the file's name, for faults.

    Raises:
        InvalidInputError: it is no record of this schema, has a column or detail that is unknown, or a value of
            another kind than its column; every fault at once.
    """
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise InvalidInputError(fault("attempt-not-a-record", file=shown, schema=SCHEMA))
    reader = _Reader(shown)
    reader.only(value, ("schema", "attempt", "details"), "")
    attempt = reader.attempt(value.get("attempt"))
    details = reader.details(value.get("details", {}))
    if reader.faults or attempt is None:
        raise InvalidInputError(*reader.faults)
    declared = details.provenance is not None and attempt.predictions_sha256 is None
    return Record(attempt, details, declared)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # false for NaN and infinity, and for integers that no float can hold


def _is_moment(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_map(value: object) -> bool:
    return isinstance(value, dict) and all(_is_text(one) for one in value.values())


def _is_count_map(value: object) -> bool:
    return isinstance(value, dict) and all(_is_integer(one) for one in value.values())


def _is_reading_map(value: object) -> bool:
    return isinstance(value, dict) and all(one is None or _is_number(one) for one in value.values())


def _is_reason(value: object) -> bool:
    if not isinstance(value, dict) or set(value) != {"key", "values"}:
        return False
    return isinstance(value["key"], str) and isinstance(value["values"], dict)


_COLUMN_KINDS: Mapping[str, Callable[[object], bool]] = {
    "text": _is_text,
    "json": _is_text,
    "choice": _is_text,
    "moment": _is_moment,
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
}
_DETAILS: Mapping[str, Callable[[object], bool]] = {
    "ended_because": lambda value: value is None or _is_reason(value),
    "missing": _is_text_map,
    "devices": lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
    "host_peak_bytes": lambda value: value is None or _is_integer(value),
    "counts": _is_count_map,
    "readings": _is_reading_map,
    "facts": _is_text_map,
    "provenance": lambda value: value is None or isinstance(value, dict),
    "predictions_from": lambda value: value is None or isinstance(value, dict),
    "populations": lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
}
_IMPORTED = ("provenance", "predictions_from", "populations")
_DEVICE: Mapping[str, Callable[[object], bool]] = {
    one.name: _is_integer if one.name.endswith("_bytes") else _is_text for one in fields(DeviceMemory)
}


_PROVENANCE: Mapping[str, Callable[[object], bool]] = {
    one.name: (lambda value: isinstance(value, bool)) if one.name == "in_order" else _is_text
    for one in fields(Provenance)
}
_POPULATION: Mapping[str, Callable[[object], bool]] = {
    one.name: _is_integer if one.name == "count" else _is_number if one.name.endswith("_s") else _is_text
    for one in fields(Population)
}
_ALWAYS_THERE = tuple(one.name for one in fields(Population) if one.default is MISSING)  # percentiles may be absent


class _Reader:
    """Collects what is wrong with one file."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.faults: list[Fault] = []

    def _add(self, slug: str, place: str, **values: object) -> None:
        self.faults.append(fault(slug, file=self.shown, place=place, **values))

    def only(self, value: Mapping[str, object], known: tuple[str, ...], within: str) -> None:
        """Report the keys of `value` that are not known."""
        for key in value:
            if key not in known:
                self._add("attempt-unknown-key", f"{within}{key}", name=key)

    def attempt(self, value: object) -> Attempt | None:
        if not isinstance(value, dict) or not isinstance(value.get("attempt_id"), str):
            self._add("attempt-bad-value", "attempt.attempt_id", found=None)
            return None
        self.only(value, tuple(column.name for column in COLUMNS), "attempt.")
        cells = {column.name: self._cell(column, value.get(column.name)) for column in COLUMNS}
        return Attempt(**cells)

    def _cell(self, column: Column, value: object) -> Any:  # noqa: ANN401  (checked against the column's kind)
        if value is None:
            return None
        holds = _COLUMN_KINDS[column.kind](value) and (not column.choices or value in column.choices)
        if not holds:
            self._add("attempt-bad-value", f"attempt.{column.name}", found=str(value)[:60])
            return None
        return float(value) if column.kind == "number" and isinstance(value, int) else value

    def details(self, value: object) -> Details:
        if not isinstance(value, dict):
            self._add("attempt-bad-value", "details", found=str(value)[:60])
            return Details()
        self.only(value, tuple(_DETAILS), "details.")
        found: dict[str, Any] = {name: value[name] for name in _DETAILS if name in value}
        for name in list(found):
            if not _DETAILS[name](found[name]):
                self._add("attempt-bad-value", f"details.{name}", found=str(found[name])[:60])
                del found[name]
        if because := found.get("ended_because"):
            found["ended_because"] = Reason(because["key"], because["values"])
        if "devices" in found:
            found["devices"] = tuple(self._device(one) for one in found["devices"])
        for name in ("provenance", "predictions_from"):
            if found.get(name):
                needed = ("file", "sha256", "format")
                found[name] = Provenance(**self._part(found[name], _PROVENANCE, f"details.{name}.", needed))
        if "populations" in found:
            within = "details.populations."
            parts = [self._part(one, _POPULATION, within, _ALWAYS_THERE) for one in found["populations"]]
            found["populations"] = tuple(Population(**one) for one in parts)
        return Details(**found)

    def _device(self, value: dict[str, Any]) -> DeviceMemory:
        return DeviceMemory(**self._part(value, _DEVICE, "details.devices.", ("device",)))

    def _part(
        self, value: dict[str, Any], kinds: Mapping[str, Callable[[object], bool]], within: str, needed: tuple[str, ...]
    ) -> dict[str, Any]:
        """The fields of one part that are there and sound; what is needed and not there is a fault, and empty text."""
        self.only(value, tuple(kinds), within)
        held = {name: one for name, one in value.items() if one is not None and name in kinds and kinds[name](one)}
        for name in kinds:
            if value.get(name) is not None and name not in held:
                self._add("attempt-bad-value", f"{within}{name}", found=str(value[name])[:60])
        for name in needed:
            if name not in held:
                self._add("attempt-bad-value", f"{within}{name}", found=None)
        return {**dict.fromkeys(needed, ""), **held}
