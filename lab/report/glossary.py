"""The words of the page: what they mean, where they are explained, and the forms in which texts use them."""

from __future__ import annotations

from lab.report.blocks import Pair, Pairs, Section, Term
from lab.report.words import Words

_TERMS = (
    "campaign", "protocol", "variant", "corpus", "pass", "round", "attempt", "outcome", "verdict", "validated_corpus",
    "deliverable", "metric", "threshold", "tolerance", "subgroup", "median", "interval", "separated", "rank_test",
    "package", "lot", "committed", "window", "planning", "seal", "amendment", "fingerprint", "warm_up",
)  # fmt: skip


def section(words: Words) -> Section:
    """The glossary, each entry under the id that the rest of the page leads to."""
    pairs = tuple(Pair(words.text(f"term.{one}"), words.text(f"term.{one}.text"), id=_id(one)) for one in _TERMS)
    return Section("glossary", words.text("glossary.title"), words.text("glossary.intro"), (Pairs(pairs, wide=True),))


def terms(words: Words) -> tuple[Term, ...]:
    """The same words as the page's texts use them: each form is separated from the next by `|` in the catalogue."""
    return tuple(
        Term(_id(one), tuple(words.text(f"term.{one}.forms").split("|")), words.text(f"term.{one}.text"))
        for one in _TERMS
    )


def _id(name: str) -> str:
    return f"term-{name.replace('_', '-')}"
