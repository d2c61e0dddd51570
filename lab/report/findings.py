"""What the durations show, in one sentence: the title of their chart."""

from __future__ import annotations

from lab.messages import DASH
from lab.report.document_plain import Json
from lab.report.words import Words, sentence

_NAMED_PAIRS = 6  # beyond that many pairs a sentence counts them instead of naming them


def finding(document: Json, words: Words, corpus: str, seed: int | None) -> str:
    """Which variants are faster than which, and which the measurements do not tell apart, on one corpus and seed."""
    pairs = [one for one in document["separations"] if (one["corpus"], one["seed"]) == (corpus, seed)]
    several = len(document["corpora"]) > 1 or len(document["run"]["seeds"]) > 1
    told = _told(document, words, pairs, corpus, seed)
    return (
        words.text("finding.on", finding=told, corpus=corpus, seed=seed if seed is not None else DASH)
        if several
        else told
    )


def _told(document: Json, words: Words, pairs: list[Json], corpus: str, seed: int | None) -> str:
    if not pairs:
        with_figures = [
            variant["id"]
            for variant in document["variants"]
            for one in variant["summaries"]
            if (one["corpus"], one["seed"]) == (corpus, seed) and one["median_s"] is not None
        ]
        return words.text("finding.one" if with_figures else "finding.none")
    separated = [one for one in pairs if one["separated"]]
    if not separated and len(pairs) > 1:
        return words.text("finding.no_pair")
    if len(pairs) > _NAMED_PAIRS:
        return words.text("finding.counted", separated=len(separated), pairs=len(pairs))
    parts = []
    for variant in document["variants"]:
        slower = [_other(one) for one in separated if one["faster"] == variant["id"]]
        if slower:
            parts.append(words.text("finding.faster", a=words.variant(variant["id"]), others=words.variants(slower)))
    parts += [
        words.text("finding.together", a=words.variant(one["a"]), b=words.variant(one["b"]))
        for one in pairs
        if not one["separated"]
    ]
    return sentence(words.text("semicolon").join(parts))


def _other(pair: Json) -> str:
    return str(pair["b"] if pair["faster"] == pair["a"] else pair["a"])
