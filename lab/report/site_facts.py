"""The figures and lists that the site's pages name: taken from the code that works with them, never typed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal

from lab.analysis.coverage import USUAL_DAYS
from lab.analysis.foremost import NAMED
from lab.analysis.separation import ALPHA
from lab.analysis.statistics import smallest_sample
from lab.calcul_forfaits import price_package
from lab.messages import Messages
from lab.model.attempt import OUTCOMES, VERDICTS
from lab.model.decision import GATES
from lab.model.manifest import RunPolicy
from lab.model.protocol import PROTOCOL_FIELDS
from lab.store.catalogue import shipped_offers

_EXAMPLES = (("rtx-4090", 7, 2), ("b200", 7, 1))  # card, days, lots: the two sums that the mission's article works out


def site_facts(texts: Messages) -> Mapping[str, str]:
    """Name -> text in the language of `texts`, for every `{{ name }}` of the site's Markdown.

    Raises:
        InvalidInputError: the catalogue that ships does not hold.
    """
    policy = RunPolicy()
    numbers = {
        "warm_up_passes": policy.warm_up.passes,
        "warm_up_inputs": policy.warm_up.inputs,
        "timeout_s": policy.timeout_s,
        "all_pairs_up_to": NAMED,
        **{f"needed_p{round(q * 100)}": smallest_sample(q) for q in (0.9, 0.95, 0.99)},
        **{f"hours_{days}": 24 * days for days in USUAL_DAYS},
    }
    return {
        **{name: texts.number(Decimal(str(value))) for name, value in numbers.items()},
        "alpha": texts.number(ALPHA),
        "days": ", ".join(texts.number(Decimal(days)) for days in USUAL_DAYS),
        "gates": _listed(GATES, "gatename", texts),
        "outcomes": _listed(OUTCOMES, "outcome", texts),
        "verdicts": _listed(VERDICTS, "verdictword", texts),
        "required_fields": _codes(one.name for one in PROTOCOL_FIELDS if one.required),
        "unsealed_fields": _codes(one.name for one in PROTOCOL_FIELDS if not one.sealed),
        **_prices(texts),
    }


def _listed(names: Iterable[str], family: str, texts: Messages) -> str:
    """A Markdown list of the words of a closed list, each with its name in the files."""
    return "\n".join(f"- `{name}`{_colon(texts)} {texts.text(f'{family}.{name}')}" for name in names)


def _colon(texts: Messages) -> str:
    return "\N{NARROW NO-BREAK SPACE}:" if texts.language == "fr" else ":"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _prices(texts: Messages) -> Mapping[str, str]:
    found = {}
    for gpu, days, lots in _EXAMPLES:
        offer = next(one for one in shipped_offers() if (one.gpu, one.days) == (gpu, days))
        quote, name = price_package(offer, lots), gpu.replace("-", "_")
        if lots > 1:  # else it is what is committed
            found[f"{name}_price"] = texts.money(offer.price, offer.currency)
        found[f"{name}_committed"] = texts.money(quote.committed, quote.currency)
        found[f"{name}_cards"] = texts.number(Decimal(quote.cards))
        dated = datetime.combine(date.fromisoformat(offer.catalogue_version), time())
        found["catalogue_date"] = texts.date(dated)
    return found
