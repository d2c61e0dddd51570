"""Ids that a reader would take for the same: the likely cause when an id is missing and another one unexpected."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"0*([0-9]+)(\.0+)?")
_INVISIBLE = "\u200b\u2060\ufeff"  # zero-width characters that a copied id may carry at its ends


def near_matches(unexpected: Sequence[str], candidates: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    """Pairs (observed, expected) that differ only in what a spreadsheet, a system or an eye changes.

    Args:
        unexpected: the ids to explain.
        candidates: ids of the corpus, the likelier ones first: the missing ones, then all.
    """
    wanted = {_loose(one) for one in unexpected}
    found: dict[str, str] = {}
    for ids in candidates if wanted else ():
        for one in ids:
            key = _loose(one)
            if key in wanted:
                found.setdefault(key, one)
        if len(found) == len(wanted):
            break
    return tuple((one, found[_loose(one)]) for one in unexpected if _loose(one) in found)


def _loose(one: str) -> str:
    """An id without what a spreadsheet, a system or an eye changes: normal form, spaces, case, zeros of a number."""
    text = unicodedata.normalize("NFKC", one).strip().strip(_INVISIBLE).strip().casefold()
    text = unicodedata.normalize("NFKC", text)
    number = _NUMBER.fullmatch(text)
    return number[1] if number else text
