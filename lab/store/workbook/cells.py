"""What a person typed into a cell, read by the campaign's language and never by guess.

Each reader takes a stored cell and gives a value, or raises `CellError` with the slug and facts of a fault; the caller
knows the address. A text that could mean two numbers is refused with both readings.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from lab.messages import messages
from lab.store.workbook.sheet import Cell

_SPACES = " \u00a0\u202f\u2009"  # what may group thousands, or be all that a blank cell holds
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_SPACED = re.compile(r"[+-]?\d{1,3}(?: \d{3})+")
_SHOWN = 60  # characters of a cell that a fault repeats
_TRUE, _FALSE = "TRUE", "FALSE"  # what every spreadsheet program understands, whatever its language


class CellError(ValueError):
    """A cell that cannot be read: slug and facts of its fault."""

    def __init__(self, slug: str, **values: object) -> None:
        """Keep what the fault needs."""
        super().__init__(slug)
        self.slug, self.values = slug, values


def is_blank(cell: Cell | None) -> bool:
    """Whether nothing is there: no cell, or only spaces (also no-break ones)."""
    return cell is None or (cell.stored == "text" and not str(cell.value).strip())


def shown(cell: Cell) -> str:
    """What the cell holds, for a fault: short, and with what makes it special."""
    if isinstance(cell.value, datetime):
        return cell.value.isoformat(sep=" ")
    if cell.percent and isinstance(cell.value, int | float):
        return f"{round(cell.value * 100, 6):g} %"
    text = str(cell.value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _usable(cell: Cell, wanted: str) -> Cell:
    if cell.stored == "error":
        raise CellError("cell-error", found=str(cell.value), wanted=wanted)
    if cell.stored == "uncalculated":
        raise CellError("cell-not-calculated", wanted=wanted)
    return cell


def text(cell: Cell, *, strict: bool, wanted: str, language: str) -> str:
    """A text as it was typed, outer spaces removed.

    `strict` is for ids, where a number or a date is what a spreadsheet made of `0012` or `1-4` and is refused; free
    text takes numbers and yes or no as words.
    """
    _usable(cell, wanted)
    if cell.stored == "text":
        return str(cell.value).strip()
    if cell.stored == "date":
        raise CellError("cell-became-date", found=shown(cell), wanted=wanted)
    if strict:
        if cell.stored == "boolean":
            raise CellError("cell-became-yes-no", found=str(cell.value).upper(), wanted=wanted)
        raise CellError("cell-became-number", found=shown(cell), wanted=wanted)
    if cell.stored == "boolean":
        return messages(language).text("word.yes" if cell.value else "word.no")
    return shown(cell)


def number(cell: Cell, *, wanted: str, language: str) -> float:
    """A finite number: a number cell, or text in the language's own notation."""
    _usable(cell, wanted)
    if cell.stored == "number" and isinstance(cell.value, int | float):
        if not math.isfinite(cell.value):
            raise CellError("cell-not-finite", found=shown(cell), wanted=wanted)
        return cell.value
    if cell.stored == "date":
        raise CellError("cell-is-date", found=shown(cell), wanted=wanted)
    if cell.stored == "boolean":
        raise CellError("cell-not-a-number", found=shown(cell), wanted=wanted)
    return number_of_text(str(cell.value), wanted=wanted, language=language)


def number_of_text(typed: str, *, wanted: str, language: str) -> float:
    """The one number that a text means in a language: `12,5`, `1 234,5` (fr), `1.234,5` (it), `1,234.5` (en).

    Raises:
        CellError: no number, or one that could be read in two ways, such as `1.234` in French and Italian.
    """
    refused = CellError("cell-not-a-number", found=typed.strip(), wanted=wanted)
    plain = "".join(" " if sign in _SPACES else sign for sign in typed.strip()).replace("\u2212", "-")
    if plain.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        raise CellError("cell-not-finite", found=typed.strip(), wanted=wanted)
    point, other = (".", ",") if language == "en" else (",", ".")
    whole, mark, rest = plain.partition(point)
    if point in rest or (mark and not whole.strip("+-") and not rest):
        raise refused
    grouped = re.fullmatch(rf"[+-]?\d{{1,3}}(?:{re.escape(other)}\d{{3}})+", whole) is not None
    groups = whole.count(other)
    if grouped and groups == 1 and not mark and not whole.lstrip("+-").startswith("0"):
        raise CellError("cell-two-readings", found=typed.strip(), wanted=wanted, **_readings(whole, other, language))
    if grouped and (groups > 1 or mark):
        whole = whole.replace(other, "")
    elif _SPACED.fullmatch(whole):
        whole = whole.replace(" ", "")
    # A decimal point is the technical form everywhere; it is taken where it cannot be a mark of thousands.
    if other == "." and not mark:
        whole_text = whole
    elif other in whole:
        raise refused
    else:
        whole_text = f"{whole}.{rest}" if mark else whole
    if not whole_text.isascii() or not _PLAIN.fullmatch(whole_text):
        raise refused
    value = float(whole_text)
    if not math.isfinite(value):
        raise CellError("cell-not-finite", found=typed.strip(), wanted=wanted)
    return int(whole_text) if whole_text.lstrip("+-").isdigit() and len(whole_text) < 16 else value  # noqa: PLR2004  (digits a double holds)


def _readings(whole: str, other: str, language: str) -> dict[str, object]:
    # A group mark alone: thousands for the language, decimals for a program or another language.
    small = Decimal(whole.replace(other, "."))
    large = Decimal(whole.replace(other, ""))
    words = messages(language)
    return {"first": words.number(large, grouping=False), "second": words.number(small, grouping=False)}


def integer(cell: Cell, *, wanted: str, language: str) -> int:
    """A whole number."""
    value = number(cell, wanted=wanted, language=language)
    if isinstance(value, float) and not value.is_integer():
        raise CellError("cell-not-whole", found=shown(cell), wanted=wanted)
    return int(value)


def amount(cell: Cell, *, wanted: str, language: str) -> Decimal:
    """Money as the shortest decimal that a number cell means, or as text says."""
    return Decimal(repr(number(cell, wanted=wanted, language=language)))


@lru_cache
def _boolean_words(language: str) -> dict[str, bool]:
    words = messages(language)
    listed = {one.strip().casefold(): True for one in words.text("cell.true_words").split("/")}
    listed.update({one.strip().casefold(): False for one in words.text("cell.false_words").split("/")})
    return {**listed, _TRUE.casefold(): True, _FALSE.casefold(): False, "1": True, "0": False}


def boolean(cell: Cell, *, language: str) -> bool:
    """Yes or no: a boolean cell, 1 or 0, or a word of the language's closed list."""
    wanted = " | ".join(messages(language).text(key) for key in ("word.yes", "word.no"))
    _usable(cell, wanted)
    if cell.stored == "boolean":
        return bool(cell.value)
    found = _boolean_words(language).get(str(cell.value).strip().casefold()) if cell.stored != "date" else None
    if found is None:
        raise CellError("cell-not-yes-no", found=shown(cell), wanted=wanted)
    return found


def choice(cell: Cell, allowed: Collection[str], *, language: str) -> str:
    """One of a closed list; capitals do not matter."""
    wanted = " | ".join(allowed)
    typed = text(cell, strict=True, wanted=wanted, language=language)
    found = next((one for one in allowed if one.casefold() == typed.casefold()), None)
    if found is None:
        raise CellError("cell-not-in-list", found=typed, wanted=wanted)
    return found


def moment(cell: Cell, *, language: str) -> str:
    """ISO 8601 text with its offset, kept as it was typed; a date cell has no offset and is refused."""
    wanted = "2026-11-30T09:00:00+01:00"
    typed = text(cell, strict=True, wanted=wanted, language=language)
    try:
        found = datetime.fromisoformat(typed)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CellError("cell-not-a-moment", found=typed, wanted=wanted)
    return typed


def json_object(cell: Cell, *, language: str) -> str:
    """JSON text of one object, kept as it was typed."""
    wanted = '{"batch_size": 8}'
    typed = text(cell, strict=True, wanted=wanted, language=language)
    try:
        held = json.loads(typed)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        raise CellError("cell-not-json", found=shown(cell), wanted=wanted)
    return typed


def at_least(cell: Cell, value: float | Decimal, least: float | None, *, wanted: str) -> None:
    """Raise `CellError` for a value below the smallest allowed one; None: there is none."""
    if least is not None and value < least:
        raise CellError("cell-too-small", found=shown(cell), wanted=wanted, least=least)
