"""`manifest.toml` read strictly: every fault at once, each with its line, its key and what would be right."""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from lab.errors import Fault, InvalidInputError, fault
from lab.model.manifest import (
    CorpusSpec,
    Manifest,
    ManifestRuleError,
    MetricSpec,
    RunPolicy,
    Series,
    Variant,
    WarmUp,
    with_defaults,
)
from lab.store.files import read_text
from lab.store.toml_lines import KeyPath, key_lines

DEFAULTS = "defaults"  # the table whose keys every variant shares

_TABLES: tuple[tuple[tuple[str, ...], type[BaseModel]], ...] = (
    ((), Manifest),
    (("corpora", "*"), CorpusSpec),
    (("run",), RunPolicy),
    (("run", "warm_up"), WarmUp),
    (("metrics", "*"), MetricSpec),
    (("series", "*"), Series),
    (("variants", "*"), Variant),
)
# What pydantic calls a fault -> how ours is called; where several kinds are accepted, all of them are reported.
_SLUGS = {
    frozenset({"string_type"}): "manifest-not-text",
    frozenset({"int_type"}): "manifest-not-integer",
    frozenset({"int_from_float"}): "manifest-not-integer",
    frozenset({"float_type"}): "manifest-not-number",
    frozenset({"float_parsing"}): "manifest-not-number",
    frozenset({"bool_type"}): "manifest-not-boolean",
    frozenset({"tuple_type"}): "manifest-not-list",
    frozenset({"model_type"}): "manifest-not-table",
    frozenset({"dict_type"}): "manifest-not-table",
    frozenset({"bool_type", "string_type"}): "manifest-not-boolean-or-text",
    frozenset({"date_type", "string_type"}): "manifest-not-date-or-text",
    frozenset({"date_from_datetime_inexact", "string_type"}): "manifest-not-date-or-text",
    frozenset({"too_short"}): "manifest-too-few",
    frozenset({"greater_than"}): "manifest-not-above",
    frozenset({"greater_than_equal"}): "manifest-below-least",
}
_SHOWN = 60  # characters of a value that a fault repeats


def read_manifest(path: Path) -> Manifest:
    """Read a manifest; `[defaults]` is merged into every variant, whose own keys win.

    Raises:
        InvalidInputError: the file is missing, a folder, not UTF-8, not TOML, or breaks a rule of the manifest. It
            carries every fault found, in the order of their lines (the product's method, section 4).
    """
    text = read_text(path, path.name)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(_syntax_fault(str(error), text, path.name)) from None
    except RecursionError:
        raise InvalidInputError(fault("manifest-too-deep", file=path.name)) from None
    reader = _Reader(data, text, path.name)
    faults = list(reader.before())
    manifest = None
    try:
        manifest = Manifest.model_validate(_tuples(with_defaults(data)))
    except ValidationError as error:
        faults += reader.translated(error)
    if faults or manifest is None:
        raise InvalidInputError(*reader.in_order(faults))
    return manifest


def _tuples(value: object) -> Any:  # noqa: ANN401  (the same value, lists as tuples: TOML knows lists only)
    if isinstance(value, Mapping):
        return {key: _tuples(one) for key, one in value.items()}
    if isinstance(value, list):
        return tuple(_tuples(one) for one in value)
    return value


def _syntax_fault(said: str, text: str, name: str) -> Fault:
    """What the parser met, with the line itself: its own words are English and about its grammar."""
    lines = text.split("\n")
    found = re.search(r"at line (\d+)", said)
    number = int(found[1]) if found else len(text.rstrip().split("\n"))
    slug = "manifest-key-twice" if "overwrite" in said or "twice" in said else "manifest-not-toml"
    return fault(slug, file=name, place=f"line {number}", found=_cut(lines[number - 1].strip()))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _shown(value: object) -> str:
    """A value of the manifest as TOML writes it, cut where it is long."""
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


@dataclass(frozen=True)
class _Reader:
    """One manifest's raw values and text, and how its faults are told."""

    data: Mapping[str, Any]
    text: str
    name: str

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        return key_lines(self.text)

    def before(self) -> Iterator[Fault]:
        """Faults that the model cannot see: a `[defaults]` that is no table, numbers that are none."""
        defaults = self.data.get(DEFAULTS)
        if defaults is not None and not isinstance(defaults, dict):
            yield self._fault("manifest-not-table", (DEFAULTS,), found=_shown(defaults))
        for path, value in _leaves(self.data, ()):
            if isinstance(value, float) and not math.isfinite(value):
                yield self._fault("manifest-not-finite", path, found=str(value))

    def translated(self, error: ValidationError) -> list[Fault]:
        """Pydantic's report as faults, one for each place."""
        by_place: dict[KeyPath, list[Any]] = {}
        for one in error.errors(include_url=False):
            if not _wrongly_short(one):
                by_place.setdefault(self._path(one["loc"], missing=one["type"] == "missing"), []).append(one)
        return [self._translate(path, errors) for path, errors in by_place.items()]

    def in_order(self, faults: Iterable[Fault]) -> list[Fault]:
        """The faults in the order of their lines, each once: one in `[defaults]` is met by every variant."""

        def line(one: Fault) -> int:
            found = re.match(r"line (\d+)", one.place or "")
            return int(found[1]) if found else 0

        once: dict[object, Fault] = {}
        for one in faults:
            once.setdefault((one.place, one.values.get("name")), one)
        return sorted(once.values(), key=line)

    def _translate(self, path: KeyPath, errors: Sequence[Any]) -> Fault:
        kinds = frozenset(one["type"] for one in errors)
        context = errors[0].get("ctx", {})
        found = _shown(errors[0].get("input"))
        if isinstance(rule := context.get("error"), ManifestRuleError):
            return self._rule(rule)
        slug, at, values = _SLUGS.get(kinds, "manifest-bad-value"), path, {"found": found}
        if kinds == {"extra_forbidden"}:
            slug, values = "manifest-unknown-key", {"name": str(path[-1]), "nearest": self._nearest(path)}
        elif kinds == {"missing"}:
            slug, at, values = "manifest-missing-key", path[:-1], {"name": str(path[-1])}
        elif kinds == {"literal_error"}:
            return self._not_in_list(path, found, str(context.get("expected", "")))
        elif kinds == {"string_pattern_mismatch"}:
            slug = "manifest-bad-function" if path[-1] == "function" else "manifest-bad-id"
        elif "string_too_short" in kinds:
            slug, values = "manifest-empty-text", {}
        elif limits := [context[name] for name in ("gt", "ge", "min_length") if name in context]:
            return self._fault(slug, at, found=found, limit=limits[0])
        return self._fault(slug, at, **values)

    def _not_in_list(self, path: KeyPath, found: str, expected: str) -> Fault:
        choices = re.findall(r"'([^']*)'", expected) or [expected]
        return self._fault("manifest-not-in-list", path, found=found, choices=choices)

    def _rule(self, rule: ManifestRuleError) -> Fault:
        """A rule between keys: its place names a table, and a table within it by its id."""
        path: KeyPath = ()
        value: object = self.data
        for part in rule.place.split(".", 1):
            if isinstance(value, dict) and part in value:
                path, value = (*path, part), value[part]
            elif isinstance(value, list):
                index = next((i for i, one in enumerate(value) if isinstance(one, dict) and one.get("id") == part), 0)
                path = (*path, index)
        return self._fault(rule.slug, path, shown=rule.place, **rule.values)

    def _path(self, location: tuple[str | int, ...], *, missing: bool) -> KeyPath:
        """Where an error is, without the names of a union's members that pydantic adds at the end."""
        value: Any = with_defaults(dict(self.data))
        for depth, part in enumerate(location):
            here = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
            if part not in here:
                return location if missing else location[:depth]
            value = here[part]
        return location

    def _nearest(self, path: KeyPath) -> str:
        keys = _keys_of(path[:-1])
        return difflib.get_close_matches(str(path[-1]), keys, 1, 0.0)[0]

    def _fault(self, slug: str, path: KeyPath, *, shown: str | None = None, **values: object) -> Fault:
        path, line = self._located(path)
        name = ".".join(str(part) for part in self._by_id(path)) if shown is None else shown
        place = ", ".join(part for part in (f"line {line}" if line else "", name) if part)
        return fault(slug, file=self.name, place=place or None, **values)

    def _located(self, path: KeyPath) -> tuple[KeyPath, int | None]:
        """The path as it stands in the file, a variant's key in `[defaults]` included, and the line of it."""
        lines = self._lines
        if path not in lines and len(path) > 2 and path[0] == "variants":  # noqa: PLR2004  (list, index, key)
            shared = (DEFAULTS, *path[2:])
            path = shared if shared in lines else path
        known = next((path[:length] for length in range(len(path), 0, -1) if path[:length] in lines), None)
        return path, lines[known] if known else None

    def _by_id(self, path: KeyPath) -> Iterator[object]:
        """The parts of a path with tables named by their id where they have one: `variants.b8.padding`."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (LookupError, TypeError):
                value = None
            named = value.get("id") if isinstance(part, int) and isinstance(value, dict) else None
            yield named if isinstance(named, str) and named else part + 1 if isinstance(part, int) else part


def _wrongly_short(error: Mapping[str, Any]) -> bool:
    """Whether pydantic calls a list short only because some of its items are at fault."""
    return error["type"] == "too_short" and bool(len(error["input"]) >= error["ctx"]["min_length"])


def _leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    members: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    else:
        yield path, value
    for key, one in members:
        yield from _leaves(one, (*path, key))


def _keys_of(table: KeyPath) -> list[str]:
    """The keys that a table of the manifest may have, in the order they are declared."""
    shape = tuple("*" if isinstance(part, int) or table[:place] == ("metrics",) else part
                  for place, part in enumerate(table))  # fmt: skip
    model = next((model for pattern, model in _TABLES if pattern == shape), None)
    keys = [info.alias or name for name, info in model.model_fields.items()] if model else []
    return [*keys, DEFAULTS] if model is Manifest else keys
