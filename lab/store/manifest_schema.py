"""The JSON Schema of `manifest.toml`, for editors that check and complete TOML."""

from __future__ import annotations

from typing import Any

from lab.messages import LANGUAGES
from lab.model.manifest import Manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def manifest_schema() -> dict[str, Any]:
    """The shape of the file as it is written: `[defaults]` takes any key of a variant but its id.

    Rules between keys (unique ids, what a series varies) are checked by `lab check` and not here.
    """
    schema = Manifest.model_json_schema(by_alias=True, mode="validation")
    variant = schema["$defs"]["Variant"]
    shared = {name: keys for name, keys in variant["properties"].items() if name != "id"}
    defaults = {"type": "object", "properties": shared, "additionalProperties": False}
    properties = {**schema["properties"], "defaults": defaults}
    properties["language"] = {**properties["language"], "enum": list(LANGUAGES)}
    return {"$schema": DIALECT, **schema, "title": "manifest.toml", "properties": properties}
