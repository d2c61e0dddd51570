"""Every text a person reads, by key, in the languages of the catalogues, with numbers written as each language does.

`locales/<language>/LC_MESSAGES/<domain>.po` are the sources; the `.mo` beside each is compiled from it (`pybabel
compile`) and a test holds the two together. All domains of a language are read as one catalogue of keys.
"""

from __future__ import annotations

import gettext
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from lab.errors import Fault

LANGUAGES = ("en", "fr", "it")
DASH = "\N{EN DASH}"  # what stands where a value is absent
_MOST_DIGITS = 6
_PLACES = ("first", "held")  # facts of a fault that are other places than its own, or end in them
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
        self._found: dict[str, str] = {}
        self._groups_money = language != "en"
        for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.mo")):
            with path.open("rb") as file:
                self._catalogues.append(gettext.GNUTranslations(file))

    def has(self, key: str) -> bool:
        """Tell whether `key` has a text here."""
        return any(catalogue.gettext(key) != key for catalogue in self._catalogues)

    def keys(self, prefix: str) -> tuple[str, ...]:
        """The keys without plural that begin with `prefix`, in the order of the alphabet."""
        from babel.messages.mofile import read_mo

        found: set[str] = set()
        for path in (LOCALES / self.language / "LC_MESSAGES").glob("*.mo"):
            with path.open("rb") as file:
                found.update(one.id for one in read_mo(file) if isinstance(one.id, str) and one.id.startswith(prefix))
        return tuple(sorted(found))

    def text(self, key: str, /, **values: object) -> str:
        """The text of `key` with its named places filled; numbers are formatted by the language."""
        found = self._found.get(key) or self._find(key)
        return found.format_map(self._shown(values)) if values else found

    def _find(self, key: str) -> str:
        """The text of `key` as the catalogues hold it, remembered: a page asks for the same one thousands of times."""
        for catalogue in self._catalogues:
            found = catalogue.gettext(key)
            if found != key:
                self._found[key] = found
                return found
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
        place = self.placed(fault.place or "")
        where = ", ".join(part for part in (fault.file, place) if part)
        other = {name: self.placed(str(fault.values[name])) for name in _PLACES if name in fault.values}
        values = {**fault.values, **other, "file": fault.file or "", "place": place}
        found = self.text(f"fault.{fault.slug}", **values)
        do = self.text(f"fault.{fault.slug}.do", **values)
        said = self.text("place.fault", where=where, found=found) if where else found
        return f"{said}\n  {do}"

    def placed(self, place: str) -> str:
        """A place is data and says `line 12`, perhaps after its file: the one word of it that is English."""
        return re.sub(r"(^|, )line (\d+)", lambda found: found[1] + self.text("place.line", number=found[2]), place)

    def number(self, value: float | Decimal | None, digits: int | None = None, *, grouping: bool = True) -> str:
        """`value` with the language's separators; a dash when absent.

        Exactly `digits` decimals when given, else up to six. A value that would round to 0 is shown as below the
        smallest step (`<0.001`), so that nothing that was measured reads as nothing.
        """
        if value is None:
            return DASH
        return _written(_rounded(value, digits), self.language, cut=digits is None, group=grouping)

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

    def amount(self, value: Decimal, digits: int | None = 2) -> str:
        """An amount of money without its currency, `digits` as in `number`; see `money` about thousands."""
        return self.number(value, digits, grouping=self._groups_money)

    def money(self, amount: Decimal | None, currency: str | None) -> str:
        """`amount` with two decimals (ROUND_HALF_UP) and its currency code, `220,00 USD`; a dash when absent.

        English leaves thousands together, as the product's method writes them: `2071.00 USD`.
        """
        if amount is None:
            return DASH
        cents = amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
        shown = _written(f"{cents:,f}", self.language, group=self._groups_money)
        return f"{shown}\u00a0{currency}" if currency else shown

    def date_time(self, moment: datetime | None, *, exact: bool = False) -> str:
        """A zoned moment as day, month name, year, hour and minute with its UTC offset; a dash when absent.

        `exact`: with the seconds too, where there are any.
        """
        if moment is None:
            return DASH
        offset = "" if not moment.utcoffset() else f"{moment:%z}"
        zone = f" UTC{offset[:3]}:{offset[3:]}" if offset else " UTC"
        time = "%H:%M:%S" if exact and moment.second else "%H:%M"
        return f"{_day(moment.date(), self.language)}, {moment:{time}}{zone}"

    def date_time_in_zone(self, moment: datetime) -> str:
        """As `date_time`, and behind it the name of the moment's time zone, where it has one: `(Europe/Paris)`."""
        name = getattr(moment.tzinfo, "key", None)
        return self.date_time(moment) + (f" ({name})" if name not in (None, "UTC") else "")

    def date(self, moment: datetime | None) -> str:
        """A moment's day, month name and year; a dash when absent."""
        return DASH if moment is None else _day(moment.date(), self.language)

    def time(self, hours: float) -> str:
        """A time in hours, to the second, as it is said: `1 min`, `95 h 30 min`, `<1 s`."""
        seconds = round(hours * 3600)
        if not seconds:
            return self.text("time.below" if hours else "time.s", n=1 if hours else 0)
        parts = {"h": seconds // 3600, "min": seconds % 3600 // 60, "s": seconds % 60}
        return "\N{NO-BREAK SPACE}".join(self.text(f"time.{unit}", n=n) for unit, n in parts.items() if n)

    def _shown(self, values: Mapping[str, object]) -> dict[str, object]:
        """The facts as a text shows them; a text may say the fact `hours` as `{time}`, in words."""
        shown = {name: self._value(_readable(name, value)) for name, value in values.items()}
        if "p" in shown:  # a probability with its sign: `= 0.0079`, or `< 0.000001`
            number = str(shown["p"])
            sign, number = ("<", number[1:]) if number.startswith("<") else ("=", number)
            shown["p"] = f"{sign}\N{NO-BREAK SPACE}{number}"
        hours = values.get("hours")
        return {**shown, "time": self.time(hours)} if isinstance(hours, int | float) else shown

    def _value(self, value: object) -> object:
        """A fact as a text shows it; `Decimal` is money, and nothing else is; a dash when absent."""
        match value:
            case None:
                shown: object = DASH
            case bool() | str():
                shown = value
            case Decimal():
                shown = self.amount(value)
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


def _readable(name: str, value: object) -> object:
    """Measured seconds (`..._s`) and a probability (`p`) with four digits that count, whole seconds always whole.

    No sentence is clearer for a microsecond. A probability too small for a float is not none at all.
    """
    if not isinstance(value, float) or not (name.endswith("_s") or name == "p"):
        return value
    kept = value or (math.ulp(0.0) if name == "p" else 0.0)
    decimals = 3 - math.floor(math.log10(abs(kept))) if kept and math.isfinite(kept) else 0
    return round(kept, max(0, decimals)) if decimals <= _MOST_DIGITS else kept  # rounded once, and not again


@lru_cache(maxsize=1 << 15)
def _rounded(value: float | Decimal, digits: int | None) -> str:
    """`value` as `Messages.number` rounds it, in no language yet: `-1,234.50`, or `<0.01`."""
    shown = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    step = Decimal(1).scaleb(-_MOST_DIGITS if digits is None else -digits)
    rounded = shown.quantize(step, ROUND_HALF_UP)
    if shown and not rounded:
        return f"<{step:f}" if shown > 0 else f">{-step:f}"
    return f"{rounded + 0:,f}"  # no minus before a 0


def _written(rounded: str, language: str, *, cut: bool = False, group: bool = True) -> str:
    """A rounded number with the language's signs; `cut`: without the zeros at its end.

    Babel gives the signs, and a test holds the result to Babel's own; its `format_decimal` takes 20 times as long, and
    a page of thousands of attempts is made of numbers.
    """
    grouping, point = _signs(language)
    whole, _, decimals = rounded.partition(".")
    decimals = decimals.rstrip("0") if cut else decimals
    return whole.replace(",", grouping if group else "") + (point + decimals if decimals else "")


@lru_cache
def _signs(language: str) -> tuple[str, str]:
    from babel.numbers import get_decimal_symbol, get_group_symbol

    return get_group_symbol(language), get_decimal_symbol(language)


@lru_cache(maxsize=512)
def _day(day: date, language: str) -> str:
    from babel.dates import format_date

    first = language == "fr" and day.day == 1  # the one ordinal of a French month, which Babel does not write
    return format_date(day, "d'er' MMMM y" if first else "d MMMM y", locale=language)


@lru_cache
def messages(language: str) -> Messages:
    """The catalogue of `language`; `en` for one that has no catalogue."""
    return Messages(language if language in LANGUAGES else "en")
