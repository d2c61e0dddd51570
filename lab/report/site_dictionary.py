"""The field dictionary of the site: the fields of the workbook and the keys of the manifest, from their definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lab.messages import Messages
from lab.report.site_prose import Section
from lab.store.manifest_schema import manifest_schema
from lab.store.workbook.field_entries import FieldEntry, field_entries
from lab.workloads import WORKLOADS

Schema = Mapping[str, Any]

# Keys whose values are named elsewhere than in the model.
_NAMED = {"defaults": "[defaults]", "variants.workload": " | ".join(one.name for one in WORKLOADS)}
_PLAIN = {"string": "kind.text", "integer": "kind.integer", "number": "kind.number"}
_BOOLEAN = "true | false"
_FORMS = {  # what the two regular expressions of the manifest mean, by how they begin
    "^[A-Za-z0-9]": "site.allowed.name",
    "^[A-Za-z_]": "site.allowed.function",
}


@dataclass(frozen=True)
class Row:
    """One field or key: its anchor and name; label (none for a key), meaning, unit, what it may be, default, who."""

    anchor: str
    name: str
    label: str
    meaning: str
    unit: str
    allowed: str
    default: str
    who: str


@dataclass(frozen=True)
class Group:
    """The fields of one sheet or the keys of one table of the manifest; `code` is its name there."""

    anchor: str
    code: str
    title: str
    rows: tuple[Row, ...]


def sheet_groups(texts: Messages) -> tuple[Group, ...]:
    """The sheets of the workbook in their order, each with all its fields."""
    entries = tuple(field_entries(texts))
    sheets = tuple(dict.fromkeys(one.sheet for one in entries))
    return tuple(
        Group(
            f"sheet.{sheet}",
            sheet,
            texts.text(f"sheet.{sheet}.title"),
            tuple(_field_row(one, entries) for one in entries if one.sheet == sheet),
        )
        for sheet in sheets
    )


def _field_row(one: FieldEntry, entries: Sequence[FieldEntry]) -> Row:
    """The anchor is `sheet.field`; where a sheet has several tables, `sheet.table.field`."""
    tables = {other.table for other in entries if other.sheet == one.sheet}
    anchor = f"{one.sheet}.{one.table}.{one.name}" if len(tables) > 1 else f"{one.sheet}.{one.name}"
    return Row(anchor, one.name, one.label, one.meaning, one.unit, one.allowed, "", one.who)


def manifest_groups(texts: Messages) -> tuple[Group, ...]:
    """The tables of `manifest.toml` as a person writes them, each with all its keys."""
    schema = manifest_schema()
    return tuple(_tables("", "manifest.toml", schema, schema["$defs"], texts))


def _tables(path: str, code: str, schema: Schema, models: Schema, texts: Messages) -> Iterator[Group]:
    where = {key: f"{path}.{key}".lstrip(".") for key in schema["properties"]}
    inner = {key: _inner(where[key], value) for key, value in schema["properties"].items()}
    needed = texts.text("site.fields.needed")
    rows = tuple(
        Row(
            anchor=f"manifest.{where[key]}",
            name=key,
            label="",
            meaning=texts.text(f"site.key.{where[key]}"),
            unit=texts.text("unit.s") if key.endswith("_s") else "",
            allowed=inner[key][0] or _NAMED.get(where[key]) or _allowed(value, texts),
            default=needed if key in schema.get("required", ()) else _toml(value.get("default")),
            who=texts.text("site.fields.engineer"),
        )
        for key, value in schema["properties"].items()
    )
    name = path or "manifest"
    yield Group(f"table.{name}", code, texts.text(f"site.manifest.{name}"), rows)
    for key, (form, model) in inner.items():
        if model:
            yield from _tables(where[key], form, models[model], models, texts)


def _inner(where: str, value: Schema) -> tuple[str, str]:
    """How the table that a key opens is written, and the name of its model; both empty for a plain key."""
    for form, found in (
        (f"[{where}]", value),
        (f"[[{where}]]", value.get("items")),
        (f"[{where}.NAME]", value.get("additionalProperties")),
    ):
        if isinstance(found, Mapping) and "$ref" in found:
            return form, str(found["$ref"]).rpartition("/")[2]
    return "", ""


def _toml(value: object) -> str:
    """A default as the manifest would say it; nothing for what is absent, and for a table, whose keys have theirs."""
    return "" if value in (None, []) or isinstance(value, dict) else json.dumps(value, ensure_ascii=False)


def _allowed(value: Schema, texts: Messages) -> str:
    """What a key may hold, from its JSON Schema."""
    if "anyOf" in value:
        return " | ".join(_allowed(one, texts) for one in value["anyOf"] if one.get("type") != "null")
    if "enum" in value or "const" in value:
        return " | ".join(str(one) for one in value.get("enum", (value.get("const"),)))
    match value.get("type"):
        case "boolean":
            found = _BOOLEAN
        case "array":
            found = texts.text("site.allowed.list", items=_allowed(value["items"], texts))
        case "object" if "patternProperties" in value:
            (item,) = value["patternProperties"].values()
            found = texts.text("site.allowed.table", items=_allowed(item, texts))
        case "string" if "pattern" in value:
            found = next(texts.text(key) for start, key in _FORMS.items() if value["pattern"].startswith(start + "["))
        case "string" if value.get("format") == "date":
            found = texts.text("site.allowed.date")
        case kind:
            found = texts.text(_PLAIN[str(kind)])
    for bound, key in (("minimum", "site.allowed.least"), ("exclusiveMinimum", "site.allowed.above")):
        if bound in value:
            found = texts.text(key, kind=found, least=texts.number(Decimal(str(value[bound]))))
    return found


def sections(groups: Sequence[Group]) -> Iterator[Section]:
    """The fields as the search finds them: by name and label, in their meaning."""
    for group in groups:
        for row in group.rows:
            title = f"{row.name} · {row.label}" if row.label else row.name
            yield Section(row.anchor, title, f"{group.code} · {row.meaning} · {row.allowed}")
