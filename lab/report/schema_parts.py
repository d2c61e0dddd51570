"""Pieces of the JSON Schema of `decision.json`; a word list or a column has its one source in the models."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.document_plain import Json

TEXT: Json = {"type": "string"}
YES_NO: Json = {"type": "boolean"}
NUMBER: Json = {"type": "number"}
COUNT: Json = {"type": "integer", "minimum": 0}
INTEGER: Json = {"type": "integer"}
SECONDS: Json = {"type": "number", "minimum": 0, "description": "seconds"}
BYTES: Json = {"type": "integer", "minimum": 0, "description": "bytes"}
HOURS: Json = {"type": "number", "minimum": 0, "description": "hours"}
RATIO: Json = {"type": "number", "minimum": 0, "maximum": 1}
MOMENT: Json = {"type": "string", "format": "date-time", "description": "ISO 8601 with its offset"}
AMOUNT: Json = {"type": "string", "pattern": r"^-?\d+\.\d{2}$", "description": "an amount as text, two decimals"}
SHA256: Json = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
SAID = {"reason": "the sentence in the campaign's language", "message": "its key and facts, for the other languages"}


def maybe(schema: Json) -> Json:
    """The same, or null: what is absent is never 0 or an empty text."""
    if "type" in schema and isinstance(schema["type"], str):
        named = {**schema, "type": [schema["type"], "null"]}
        return {**named, "enum": [*schema["enum"], None]} if "enum" in schema else named
    return {"anyOf": [schema, {"type": "null"}]}


def words(choices: Sequence[str]) -> Json:
    """One of a closed list."""
    return {"type": "string", "enum": list(choices)}


def record(properties: Json, description: str | None = None) -> Json:
    """An object that has all of these; a later minor addition may bring more."""
    shape: Json = {"type": "object", "properties": properties, "required": list(properties)}
    return {**shape, "description": description} if description else shape


def several(items: Json, description: str | None = None) -> Json:
    """An array of any length."""
    shape: Json = {"type": "array", "items": items}
    return {**shape, "description": description} if description else shape


def mapping(values: Json) -> Json:
    """An object whose keys are names."""
    return {"type": "object", "additionalProperties": values}


def part(name: str) -> Json:
    """A shape that is defined once."""
    return {"$ref": f"#/$defs/{name}"}


def reason(**more: Json) -> Json:
    """A reason, with what stands beside it."""
    return record({**more, "reason": {**TEXT, "description": SAID["reason"]}, "message": part("message")})


def open_reason(**more: Json) -> Json:
    """As `reason`, where there may be none."""
    return record({**more, "reason": maybe(TEXT), "message": maybe(part("message"))})


MESSAGE = record(
    {"key": TEXT, "values": mapping({}), "example_price": YES_NO}, SAID["message"] + "; amounts and moments are marked"
)
MESSAGE["required"] = ["key", "values"]
NOTICE = record(
    {"reason": TEXT, "fault": record({"slug": TEXT, "file": maybe(TEXT), "place": maybe(TEXT), "values": mapping({})})}
)
