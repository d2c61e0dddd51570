"""The one text of a value: equal values give equal JSON, and so equal fingerprints."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any


def sha256_text(text: str) -> str:
    """The sha256 of a text's UTF-8 bytes, 64 hex digits; a lone surrogate counts as its three bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def plain(value: object) -> Any:  # noqa: ANN401  (JSON values: the caller knows which)
    """A value as JSON can hold it: dataclasses and mappings to dicts, sequences to lists, the rest to scalars.

    Money and fractions become text, moments ISO 8601. Trailing zeros of an amount are dropped: 220 is 220.00.

    Raises:
        ValueError: a number is not finite. Absent is None, never NaN.
        TypeError: the value has no plain form.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return _scalar(value)


def _scalar(value: object) -> str | float | None:
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise ValueError("not a finite number")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Decimal):
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    raise TypeError(type(value).__name__)


def canonical_json(value: object) -> str:
    """The one JSON text of a value: keys sorted, no spaces, characters as they are, `Decimal` as text.

    Raises:
        ValueError: a number is not finite.
        TypeError: the value has no plain form.
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def readable_json(value: object) -> bytes:
    """A value as indented JSON in UTF-8, its keys in their own order, for files that people read too.

    Raises:
        ValueError: a number is not finite.
        TypeError: the value has no plain form.
    """
    text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    # A lone surrogate cannot stand in UTF-8; its backslash escape is JSON's own way to write it.
    return (text + "\n").encode("utf-8", "backslashreplace")
