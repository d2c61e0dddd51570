"""Which answers were given for which: one confusion matrix a variant, folded, where it fits a page."""

from __future__ import annotations

from lab.report.blocks import Block, Cell, Column, Fold, Table, Text
from lab.report.document_plain import Json
from lab.report.words import Words

LABELS = 20  # the widest matrix that a page shows
_LONG = 40  # characters of a label that a heading shows


def confusions(document: Json, words: Words) -> list[Block]:
    """A fold with the matrix of one pass of each line of the quality table; empty where there is none to show.

    The pass is the one with the median metric (the lower of two); without a metric, the first accepted one.
    """
    populations: dict[tuple[object, ...], list[Json]] = {}
    for one in document["attempts"]:
        populations.setdefault(_population(one), []).append(one)
    blocks: list[Block] = []
    for number, one in enumerate(document["quality"], 1):
        attempt = _shown(populations.get(_population(one), []))
        if attempt is not None:
            blocks.append(_matrix(f"confusion-{number}", attempt, words))
    return [Fold(words.text("confusions.title"), (Text(words.text("confusions.intro")), *blocks))] if blocks else []


def _population(one: Json) -> tuple[object, ...]:
    return one["variant"], one["corpus"], one["seed"]


def _shown(attempts: list[Json]) -> Json | None:
    """The attempt, of one population, whose matrix stands for it."""
    found = [one for one in attempts if not one["excluded"] and one["evidence"] and one["evidence"]["confusion"]]
    judged = sorted((one for one in found if one["metric_value"] is not None), key=lambda one: one["metric_value"])
    if judged:
        return judged[(len(judged) - 1) // 2]
    return next((one for one in found if one["corpus_accepted"] == "accepted"), None)


def _matrix(name: str, attempt: Json, words: Words) -> Block:
    evidence = attempt["evidence"]
    counts = {(one["reference"], one["prediction"]): one["inputs"] for one in evidence["confusion"]}
    labels = sorted({label for pair in counts for label in pair})
    said = {"variant": attempt["variant"], "corpus": attempt["corpus"], "attempt": attempt["attempt_id"]}
    if evidence["confusion_left_out"] or len(labels) > LABELS:
        return Text(words.text("confusions.too_many", most=LABELS, **said))
    columns = (
        Column(words.text("confusions.corner")),
        *(Column(_label(label, words), numeric=True) for label in labels),
    )
    rows = tuple(
        (
            Cell(_label(reference, words)),
            *(Cell(words.messages.number(counts.get((reference, given), 0), 0)) for given in labels),
        )
        for reference in labels
    )
    return Table(name, words.text("confusions.caption", **said), columns, rows)


def _label(label: str, words: Words) -> str:
    if not label.strip():
        return words.text("confusions.no_text")
    return label if len(label) <= _LONG else f"{label[: _LONG - 1]}…"
