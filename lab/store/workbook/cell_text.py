"""Text on its way into a cell: no longer than a cell can hold, and without what XML cannot carry."""

from __future__ import annotations

import re

from lab.store.workbook.content import LONGEST_CELL

_UNCARRIED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_LOOKS_ESCAPED = re.compile(r"_x[0-9A-Fa-f]{4}_")


def fitted(text: str, mark: str) -> tuple[str, bool]:
    """The text as a cell holds it, and whether it had to be cut: its head, then `mark`, 32,767 UTF-16 units in all.

    A lone surrogate, which no file can hold, becomes U+FFFD.
    """
    stored = text.encode("utf-16-le", "surrogatepass")
    whole = stored.decode("utf-16-le", "replace")
    if len(stored) <= 2 * LONGEST_CELL:
        return whole, False
    room = 2 * (LONGEST_CELL - len(mark))
    return stored[:room].decode("utf-16-le", "ignore") + mark, True


def escaped(text: str) -> str:
    """Control characters, and what looks like their escapes, in the format's own `_x000D_` notation."""
    shielded = _LOOKS_ESCAPED.sub(lambda found: "_x005F" + found[0], text)
    return _UNCARRIED.sub(lambda found: f"_x{ord(found[0]):04X}_", shielded)
