"""One line of a predictions file, read strictly; and the numbers that a prediction or a reference may be."""

from __future__ import annotations

import codecs
import json
import math
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path

from lab.errors import Fault
from lab.store.files import reading
from lab.store.tables import Table

# Numbers are read to the twelfth decimal, so that sums are exact in any order; larger ones are none.
_STEP = Decimal("1e-12")
_TOO_LARGE = Decimal(10) ** 18
EXACT = 60  # digits in which sums of such numbers are carried: far more than any file can need
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_KEYS = (b'"id"', b'"prediction"', b'"scores"')
_CONSTANTS = (b"NaN", b"Infinity", b"\\u")  # an escape can spell a key too
_TABLES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}


@dataclass(frozen=True)
class Line:
    """A line that holds something. `id` and `prediction` are None where they cannot be read, and `slug` says why."""

    number: int
    id: str | None
    prediction: str | None
    slug: str | None = None
    scores: object = None


class _BadLineError(ValueError):
    """A line that is no prediction; its argument is the slug that says why."""


def table_format(path: Path) -> str | None:
    """`csv` or `parquet`, by the ending of the name; None: JSON lines."""
    return _TABLES.get(path.suffix.lower())


def lines(path: Path) -> Iterator[Line]:
    """Every line of a predictions file that holds something, in order: JSON lines, or a csv or parquet of that ending.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable; a csv or parquet is none, or lacks a column.
    """
    kind = table_format(path)
    if kind:
        yield from _table_lines(path, kind)
        return
    with reading(path), path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            line = read_line(number, raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw)
            if line is not None:
                yield line


def _table_lines(path: Path, kind: str) -> Iterator[Line]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    for number, row in Table(path, path.name, kind, delimiter).rows(("id", "prediction")):
        if isinstance(row, Fault):
            yield Line(number, None, None, "predictions-bad-row")
        elif not row.get("id"):
            yield Line(number, None, None, "predictions-no-id")
        else:
            given = row.get("prediction")
            slug = "predictions-no-prediction" if given is None else None
            yield Line(number, str(row["id"]), None if given is None else str(given), slug)


def read_line(number: int, raw: bytes) -> Line | None:
    """One line of JSON with its line end, if it has one; None when it holds nothing.

    A line with an id is observed even when its prediction cannot be read: the ids are one control, the format another.
    A prediction that is a JSON number is the text that it is written as.
    """
    if not raw.strip():
        return None
    try:
        found = _parsed(raw)
    except _BadLineError as error:
        return Line(number, None, None, str(error))
    one = str(found["id"])
    if slug := _not_json(raw) or ("predictions-no-prediction" if "prediction" not in found else None):
        return Line(number, one, None, slug)
    prediction = found["prediction"]
    if _is_number(prediction):
        prediction = _as_written(raw)
    if not _is_text(prediction):
        return Line(number, one, None, "predictions-prediction-not-text")
    return Line(number, one, str(prediction), None, found.get("scores"))


def _parsed(raw: bytes) -> dict[str, object]:
    """One line as an object with a text id; raises `_BadLineError`."""
    try:
        found = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise _BadLineError("predictions-not-utf8" if raw.endswith(b"\n") else "predictions-incomplete-line") from None
    except (ValueError, RecursionError):
        raise _BadLineError("predictions-bad-json" if raw.endswith(b"\n") else "predictions-incomplete-line") from None
    if not isinstance(found, dict):
        raise _BadLineError("predictions-not-object")
    if "id" not in found:
        raise _BadLineError("predictions-no-id")
    if not _is_text(found["id"]):
        raise _BadLineError("predictions-id-not-text")
    return found


def _not_json(raw: bytes) -> str | None:
    """What Python's reader lets pass: NaN and infinity, which JSON has not, and one of the keys twice in a line."""
    if not any(one in raw for one in _CONSTANTS) and not any(raw.count(key) > 1 for key in _KEYS):
        return None
    outermost: list[tuple[str, object]] = []
    constants: list[str] = []

    def taken(pairs: list[tuple[str, object]]) -> dict[str, object]:
        outermost[:] = pairs  # the outermost object is the last one to be complete
        return dict(pairs)

    json.loads(raw.decode("utf-8"), object_pairs_hook=taken, parse_constant=constants.append)
    keys = [key for key, _value in outermost]
    if any(keys.count(key) > 1 for key in ("id", "prediction", "scores")):
        return "predictions-key-twice"
    return "predictions-not-finite" if constants else None


def _is_number(value: object) -> bool:
    """Whether a value is a JSON number; true and false are none, nor are NaN and what a float holds as infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _as_written(raw: bytes) -> object:
    """The number that is the prediction of a line, as the text that the file holds: `1.50` is not `1.5`."""
    return json.loads(raw.decode("utf-8"), parse_int=str, parse_float=str)["prediction"]


def _is_text(value: object) -> bool:
    """Whether a value is text that a file can hold; half a character, which JSON can write, is none."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def vector_of(text: str) -> tuple[float, ...] | None:
    """The vector that a text is, a JSON array of finite numbers; None when it is none or has no place."""
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not found or not all(_is_number(value) for value in found):
        return None
    try:
        return tuple(map(float, found))
    except OverflowError:
        return None


def cosine_distance(reference: str, prediction: str) -> Decimal | None:
    """1 - cosine of two vectors of one size, from 0 to 2, to the twelfth decimal; None where a text is none, or 0."""
    wanted = vector_of(reference)
    given = None if wanted is None else vector_of(prediction)
    if wanted is None or given is None or len(wanted) != len(given):
        return None
    lengths = math.hypot(*wanted) * math.hypot(*given)
    if not lengths or not math.isfinite(lengths):
        return None
    cosine = math.fsum(map(operator.mul, wanted, given)) / lengths
    return Decimal(1 - min(1.0, max(-1.0, cosine))).quantize(_STEP, ROUND_HALF_UP)


def number_of(text: str) -> Decimal | None:
    """The number that a text is, to the twelfth decimal, half away from zero; None when it is none or 10^18 or more."""
    if not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    if value and value.adjusted() >= _TOO_LARGE.adjusted():
        return None
    with localcontext(prec=max(EXACT, len(text))):
        return value.quantize(_STEP, ROUND_HALF_UP)
