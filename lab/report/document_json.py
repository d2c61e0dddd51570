"""A document as the text of `decision.json`: readable, and with one line an attempt where there are thousands."""

from __future__ import annotations

import json

from lab.report.document_plain import Json

_ROWS = "attempts"  # one line each: a page of indentation an attempt helps nobody, and a difference shows by its line

_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once: thousands of rows are written by it


def written(document: Json) -> bytes:
    """The document as indented JSON in UTF-8, its keys in their own order; each attempt is one line.

    Raises:
        ValueError: a number is not finite. Absent is None, never NaN.
        TypeError: a value has no JSON form.
    """
    parts = [f"  {json.dumps(key)}: {_value(key, value)}" for key, value in document.items()]
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    # A lone surrogate cannot stand in UTF-8; its backslash escape is JSON's own way to write it.
    return text.encode("utf-8", "backslashreplace")


def read_back(document: Json) -> Json:
    """The document as it is once written and read: what documents are compared by."""
    found: Json = json.loads(json.dumps(document, allow_nan=False))
    return found


def _value(key: str, value: object) -> str:
    if key == _ROWS and isinstance(value, list) and value:
        rows = ",\n".join(f"    {_LINE.encode(one)}" for one in value)
        return f"[\n{rows}\n  ]"
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return text.replace("\n", "\n  ")  # a line break within a text is written as an escape
