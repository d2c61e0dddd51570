"""How one document is said in one language: texts, figures with their units, and the names of its variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from babel.dates import format_date
from babel.lists import format_list

from lab.errors import fault
from lab.messages import DASH, messages
from lab.model.moments import in_zone
from lab.report.document_plain import Json, cut, facts_of

MARKS = {"passed": "✓", "failed": "✗", "unknown": "?"}
_NAMED_SETTINGS = ("batch_size", "precision", "quantization", "padding")
# British lists: no comma before the last "and".
_LIST_LOCALES = {"en": "en_GB", "fr": "fr", "it": "it"}
_GIB, _MIB = 1024**3, 1024**2
_WHOLE, _FINE = 100, 10  # seconds from which one and two decimals say enough


class Words:
    """The texts of one language for one document."""

    def __init__(self, document: Json, language: str) -> None:
        """Take the document (for the names of its variants) and one of `lab.messages.LANGUAGES`."""
        self.language = language
        self.messages = messages(language)
        self._settings = document["settings"]["different"]
        self._zone = document["protocol"]["time_zone"]

    def text(self, key: str, **values: object) -> str:
        """The text of `report.<key>`."""
        return self.messages.text(f"report.{key}", **values)

    def count(self, key: str, n: int, **values: object) -> str:
        """The plural-aware text of `report.<key>`."""
        return self.messages.count(f"report.{key}", n, **values)

    def shared(self, key: str) -> str:
        """A text of another domain: an outcome, a verdict, a gate's name, a reason of an empty cell."""
        return self.messages.text(key)

    def say(self, entry: Json) -> str:
        """A reason of the document, `{"message": {"key", "values"}}`, in this language."""
        message = entry["message"]
        example = message.get("example_price", False)
        return self.messages.text(message["key"], **facts_of(message["values"], self.messages, example=example))

    def say_fault(self, entry: Json) -> str:
        """A notice of the document, `{"fault": {...}}`, in this language."""
        found = entry["fault"]
        values = facts_of(found["values"], self.messages)
        return self.messages.fault(fault(found["slug"], file=found["file"], place=found["place"], **values))

    def variant(self, name: str) -> str:
        """A variant within a sentence: by the one setting that tells all variants apart, else by its id."""
        key = self._naming_key()
        if key is None:
            return self.text("variant.id", id=name)
        return self.text(f"variant.{key}", value=str(self._settings[key].get(name, name)))

    def short(self, name: str) -> str | None:
        """The setting that tells a variant apart, to stand under its id; None when no single one does."""
        key = self._naming_key()
        return (
            None if key is None else self.text(f"variant.short.{key}", value=str(self._settings[key].get(name, name)))
        )

    def _naming_key(self) -> str | None:
        keys = [key for key in self._settings if key != "gpu"]
        if len(keys) != 1 or keys[0] not in _NAMED_SETTINGS or "gpu" in self._settings:
            return None
        values = list(self._settings[keys[0]].values())
        return keys[0] if len({str(value) for value in values}) == len(values) else None

    def variants(self, names: Sequence[str]) -> str:
        """Several variants within a sentence ("batches 1, 4 and 8"); one is named as by `variant`."""
        if len(names) == 1:
            return self.variant(names[0])
        key = self._naming_key()
        if key is None:
            return self.text("variant.many.id", values=self.all_of(names))
        values = [str(self._settings[key].get(name, name)) for name in names]
        return self.text(f"variant.many.{key}", values=self.all_of(values))

    def all_of(self, names: Iterable[str]) -> str:
        """Names joined as a sentence of the language does ("a, b and c"); very many of them are cut and counted."""
        every = list(names)
        shown = cut(every, self.messages)
        if len(shown) < len(every):
            return ", ".join(map(str, shown))
        return format_list(every, locale=_LIST_LOCALES[self.language])

    def said_of(self, remark: str, names: Iterable[str]) -> str:
        """A remark with whom it is about: "This phase was not needed (install and compile)."."""
        return self.text("said_of", what=remark.rstrip("."), names=self.all_of(names))

    def price(self, amount: str | None, currency: str | None, *, example: bool) -> str:
        """An amount with its currency, marked when it comes from an example catalogue; a dash when absent."""
        shown = self.messages.money(Decimal(amount) if amount is not None else None, currency)
        return self.text("price.example", price=shown) if example and amount is not None else shown

    def moment(self, value: str | None) -> str:
        """An ISO 8601 moment in the campaign's time zone, as the language writes it."""
        at = in_zone(value, self._zone) if value else None
        return at if isinstance(at, str) else self.messages.date_time(at)

    def day(self, value: datetime) -> str:
        """A day as short as the axis of a chart needs it ("Mon 7 Dec")."""
        return format_date(value.date(), "EEE d MMM", locale=self.language)

    def metric(self, name: str | None) -> tuple[str, str | None]:
        """A metric in words and, when it has words of its own, the name that the protocol writes."""
        key = f"report.metric.{name}"
        return (self.messages.text(key), name) if name and self.messages.has(key) else (name or DASH, None)

    def seconds(self, values: Sequence[float | None]) -> Callable[[float | None], str]:
        """How to write the seconds of one column: as many decimals as its smallest value needs, the same for all."""
        smallest = min((abs(value) for value in values if value), default=float(_WHOLE))
        digits = 1 if smallest >= _WHOLE else 2 if smallest >= _FINE else 3 if smallest >= 1 else 4
        return lambda value: self.messages.number(value, digits)

    def ratio(self, value: float | None) -> str:
        """A metric or threshold with four decimals."""
        return self.messages.number(value, 4)

    def size(self, value: int | None) -> str:
        """Bytes as GiB or MiB."""
        if value is None:
            return DASH
        unit, name = (_GIB, "GiB") if value >= _GIB else (_MIB, "MiB")
        return f"{self.messages.number(value / unit, 2 if name == 'GiB' else 1)}\u00a0{name}"

    def hours(self, value: float | None) -> str:
        """Hours with their unit."""
        return DASH if value is None else f"{self.messages.number(value, None)}\u00a0h"

    def value(self, value: Any) -> str:  # noqa: ANN401  (a setting is any JSON value)
        """A setting of the manifest or a field of the protocol as text."""
        if value is None or value in ([], ""):
            return DASH
        if isinstance(value, bool):
            return self.text("yes") if value else self.text("no")
        if isinstance(value, int | float):
            return self.messages.number(value, grouping=False)
        if isinstance(value, list):
            return "; ".join(self.value(one) for one in value)
        return str(value)


def sentence(text: str) -> str:
    """`text` with its first letter as a sentence begins."""
    return text[:1].upper() + text[1:]
