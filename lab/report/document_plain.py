"""Model values as plain JSON values: amounts are text with two decimals, absent is None, reasons keep their facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from lab.errors import Fault
from lab.messages import Messages
from lab.model.reason import Reason

Json = dict[str, Any]

_CURRENCIES = ("currency", "currency_before")  # facts that stand right after an amount of the catalogue
_LISTED, _FIRST = 12, 10  # names that a sentence lists; of more, so many and the number of the others


@dataclass(frozen=True)
class Speech:
    """The texts of the campaign's language, and whether its prices come from an example catalogue."""

    texts: Messages
    example: bool = False


def amount(value: Decimal | None) -> str | None:
    """`value` as text with two decimals, ROUND_HALF_UP (the product's method, section 7); None when absent."""
    return None if value is None else str(value.quantize(Decimal("0.01"), ROUND_HALF_UP))


def hours(value: Fraction | Decimal | int | None) -> int | float | None:
    """Exact hours as a JSON number: an integer when whole."""
    if value is None:
        return None
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else float(exact)


def moment(value: datetime | None) -> str | None:
    """`value` as ISO 8601 with its offset."""
    return None if value is None else value.isoformat()


def plain(value: object) -> Any:  # noqa: ANN401, PLR0911  (JSON has no narrower type; one return a type reads best)
    """A fact of a reason as JSON, with what JSON has no type for (an amount, a moment) under a key that names it."""
    if value is None or isinstance(value, (str, bool, int, float)):  # a tuple: asked very often, and thrice as fast
        return value
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, Fraction):
        return hours(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    return str(value)


def facts_of(values: Mapping[str, Any], texts: Messages, *, example: bool = False) -> dict[str, object]:
    """The facts of a message back from JSON, ready for a text in the language of `texts`: money has two decimals.

    A long list is cut, and says by how many: the message keeps all of it, and tables of the page name each variant.

    `example`: the amounts come from an example catalogue, and their currency says so.
    """
    facts = {name: _fact(value, texts) for name, value in values.items()}
    for name in _CURRENCIES if example else ():
        if isinstance(facts.get(name), str):
            facts[name] = texts.text("report.price.example", price=facts[name])
    return facts


def _fact(value: object, texts: Messages) -> object:
    if isinstance(value, dict) and set(value) == {"decimal"}:
        return texts.amount(Decimal(value["decimal"]))
    if isinstance(value, dict) and set(value) == {"moment"}:
        return texts.date_time(datetime.fromisoformat(value["moment"]))
    if isinstance(value, list):
        return cut([_fact(one, texts) for one in value], texts)
    return value


def cut(names: Sequence[object], texts: Messages) -> Sequence[object]:
    """What a sentence lists of `names`: all of few; of more the first ones, and how many the others are."""
    if len(names) <= _LISTED:
        return names
    return [*names[:_FIRST], texts.count("report.list.others", len(names) - _FIRST)]


def said(reason: Reason, speech: Speech) -> Json:
    """A reason as `{"reason": its text in the campaign's language, "message": {"key", "values"}}`.

    A message that holds an amount of an example catalogue has `example_price` true beside its values.
    """
    values = {name: plain(value) for name, value in reason.values.items()}
    example = speech.example and any(isinstance(value, Decimal) for value in reason.values.values())
    mark = {"example_price": True} if example else {}
    return {
        "reason": speech.texts.text(reason.key, **facts_of(values, speech.texts, example=example)),
        "message": {"key": reason.key, "values": values, **mark},
    }


def said_fault(fault: Fault, speech: Speech) -> Json:
    """A notice as `{"reason", "fault": {"slug", "file", "place", "values"}}`."""
    values = {name: plain(value) for name, value in fault.values.items()}
    return {
        "reason": speech.texts.fault(fault),
        "fault": {"slug": fault.slug, "file": fault.file, "place": fault.place, "values": values},
    }


def named(answer: Json) -> list[str]:
    """The variants that an answer of the document is about: the chosen one, else those in question."""
    return [answer["variant"]] if answer["variant"] else list(answer["contenders"])
