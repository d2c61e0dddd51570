"""Every text a person reads, by key, in the languages of the catalogues, with numbers written as each language does.

`locales/<language>/LC_MESSAGES/<domain>.po` are the sources; the `.mo` beside each is compiled from it (`pybabel
compile`) and a test holds the two together. All domains of a language are read as one catalogue of keys.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from lab.errors import Fault

LANGUAGES = ("en", "fr", "it")
DASH = "\N{EN DASH}"  # what stands where a value is absent
_MOST_DIGITS = 6
LOCALES = Path(__file__).parent / "locales"


class MissingTextError(KeyError):
    """A key without a text in a language: a defect of ours, found by the tests."""


@runtime_checkable
class _Said(Protocol):
    """What has a text of its own: a reason within another one."""

    @property
    def key(self) -> str:
        """The key of its text."""

    @property
    def values(self) -> Mapping[str, object]:
        """The facts of its text."""


class Messages:
    """The texts and number formats of one language.

    Raises:
        MissingTextError: from `text` and `count` when the key is in no catalogue of this language.
    """

    def __init__(self, language: str) -> None:
        """Read the compiled catalogues of `language` (one of `LANGUAGES`)."""
        self.language = language
        self._catalogues: list[gettext.GNUTranslations] = []
        for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.mo")):
            with path.open("rb") as file:
                self._catalogues.append(gettext.GNUTranslations(file))

    def has(self, key: str) -> bool:
        """Tell whether `key` has a text here."""
        return any(catalogue.gettext(key) != key for catalogue in self._catalogues)

    def text(self, key: str, /, **values: object) -> str:
        """The text of `key` with its named places filled; numbers are formatted by the language."""
        for catalogue in self._catalogues:
            found = catalogue.gettext(key)
            if found != key:
                return found.format_map(self._shown(values)) if values else found
        raise MissingTextError(self.language, key)

    def count(self, key: str, n: int, /, **values: object) -> str:
        """The plural-aware text of `key` for `n` (named `{n}` in the text)."""
        for catalogue in self._catalogues:
            found = catalogue.ngettext(key, key, n)
            if found != key:
                return found.format_map(self._shown({"n": n, **values}))
        raise MissingTextError(self.language, key)

    def fault(self, fault: Fault) -> str:
        """File, place, what was found and what to do, as one or two lines."""
        # A place is data and says `line 12`: the one word of it that is English.
        place = re.sub(r"^line (\d+)", lambda found: self.text("place.line", number=found[1]), fault.place or "")
        where = ", ".join(part for part in (fault.file, place) if part)
        values = {**fault.values, "file": fault.file or "", "place": place}
        found = self.text(f"fault.{fault.slug}", **values)
        do = self.text(f"fault.{fault.slug}.do", **values)
        said = self.text("place.fault", where=where, found=found) if where else found
        return f"{said}\n  {do}"

    def number(self, value: float | Decimal | None, digits: int | None = None, *, grouping: bool = True) -> str:
        """`value` with the language's separators; a dash when absent.

        Exactly `digits` decimals when given, else up to six. A value that would round to 0 is shown as below the
        smallest step (`<0.001`), so that nothing that was measured reads as nothing.
        """
        from babel.numbers import format_decimal

        if value is None:
            return DASH
        shown = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        step = Decimal(1).scaleb(-_MOST_DIGITS if digits is None else -digits)
        sign = ""
        if shown and not shown.quantize(step, ROUND_HALF_UP):
            sign, shown = ("<", step) if shown > 0 else (">", -step)
        shown = shown.quantize(step, ROUND_HALF_UP) if digits is not None else shown
        decimals = "#" * _MOST_DIGITS if digits is None else "0" * digits
        pattern = f"#,##0.{decimals}" if decimals else "#,##0"
        return sign + format_decimal(shown, format=pattern, locale=self.language, group_separator=grouping)

    def percent(self, ratio: float | None, digits: int = 1) -> str:
        """`ratio` (0 to 1) as a percentage; "0 %" and "100 %" only for exactly so, else `<0.1 %` and `>99.9 %`."""
        from babel.numbers import format_percent

        if ratio is None:
            return DASH
        step = Decimal(1).scaleb(-digits - 2)
        shown, sign = Decimal(repr(ratio)).quantize(step, ROUND_HALF_UP), ""
        if shown >= 1 and ratio < 1:
            shown, sign = 1 - step, ">"
        if shown <= 0 < ratio:
            shown, sign = step, "<"
        space = "\N{NARROW NO-BREAK SPACE}" if self.language == "fr" else ""
        decimals = "." + "0" * digits if digits else ""
        return sign + format_percent(shown, format=f"#,##0{decimals}{space}%", locale=self.language)

    def money(self, amount: Decimal | None, currency: str | None) -> str:
        """`amount` with two decimals (ROUND_HALF_UP) and its currency code, `220,00 USD`; a dash when absent."""
        from babel.numbers import format_decimal

        if amount is None:
            return DASH
        rounded = amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
        shown = format_decimal(rounded, format="#,##0.00", locale=self.language)
        return f"{shown}\u00a0{currency}" if currency else shown

    def date_time(self, moment: datetime | None) -> str:
        """A zoned moment as day, month name, year, hour and minute with its UTC offset; a dash when absent."""
        from babel.dates import format_datetime

        if moment is None:
            return DASH
        offset = "" if not moment.utcoffset() else f"{moment:%z}"
        zone = f" UTC{offset[:3]}:{offset[3:]}" if offset else " UTC"
        return format_datetime(moment, "d MMMM y, HH:mm", locale=self.language) + zone

    def date(self, moment: datetime | None) -> str:
        """A moment's day, month name and year; a dash when absent."""
        from babel.dates import format_date

        return DASH if moment is None else format_date(moment, "d MMMM y", locale=self.language)

    def _shown(self, values: Mapping[str, object]) -> dict[str, object]:
        return {name: self._value(value) for name, value in values.items()}

    def _value(self, value: object) -> object:
        """A fact as a text shows it; `Decimal` is money, and nothing else is."""
        match value:
            case bool() | None | str():
                shown: object = value
            case Decimal():
                shown = self.number(value, 2)
            case int() | float():
                shown = self.number(value)
            case datetime():
                shown = self.date_time(value)
            case list() | tuple():
                shown = ", ".join(str(self._value(item)) for item in value)
            case _Said():
                shown = self.text(value.key, **value.values)
            case _:
                shown = value
        return shown


@lru_cache
def messages(language: str) -> Messages:
    """The catalogue of `language`; `en` for one that has no catalogue."""
    return Messages(language if language in LANGUAGES else "en")
