"""The first screen: the answer in one sentence, four figures, why, and what it does not say."""

from __future__ import annotations

from collections.abc import Sequence

from lab.messages import DASH
from lab.report.blocks import Figure, Line, Lines, Pair, Reading
from lab.report.document_plain import Json, named
from lab.report.findings import finding
from lab.report.words import Words, sentence

_WHY_LINES, _NOT_SAID_LINES = 3, 2
# What a reader needs to recognise a configuration; all settings are in their own section.
_SETTINGS = ("gpu", "devices", "model", "precision", "quantization", "batch_size", "padding", "max_length", "attention",
             "compile")  # fmt: skip


def answer(document: Json, words: Words) -> str:
    """The answer as one sentence in a director's words."""
    status, variants = document["decision"]["status"], document["variants"]
    if not document["attempts"]:
        return words.text("answer.nothing")
    if status == "none_eligible":
        return words.count("answer.none", len(variants))
    if status == "chosen":
        return _chosen(document, words)
    return _undecided(document, words)


def figures(document: Json, words: Words) -> tuple[Figure, ...]:
    """Committed budget, cost per validated corpus, accepted passes of planned, window against package."""
    behind = _behind(document)
    return (_budget(document, behind, words), _cost(document, behind, words),
            _passes(document, behind, words), _window(behind, words))  # fmt: skip


def reading(document: Json, words: Words) -> tuple[Reading, ...]:
    """Why, how sure and what is not said, a few lines each; what has no line is left out."""
    said = (
        ("why", [words.say(one) for one in document["decision"]["reasons"][:_WHY_LINES]]),
        ("sure", _sure(document, words)),
        ("not_said", [words.say(one) for one in document["limits"]["does_not_cover"][:_NOT_SAID_LINES]]),
    )
    return tuple(
        Reading(words.text(f"page.{name}"), Lines(tuple(Line(one) for one in lines))) for name, lines in said if lines
    )


def configuration(document: Json, words: Words) -> Pair | None:
    """The settings of the chosen variant, or the variants still in the running; None where there is neither."""
    chosen, settings = document["decision"]["variant"], document["settings"]
    if chosen is None:
        left = document["decision"]["contenders"]
        return Pair(words.text("configuration.open"), words.all_of(left)) if left else None
    values = {**settings["shared"], **{key: by_name.get(chosen) for key, by_name in settings["different"].items()}}
    parts = [
        words.text(f"setting.{key}", value=words.value(values[key]))
        for key in _SETTINGS
        if values.get(key) not in (None, False, "none") and (key, values[key]) != ("devices", 1)
    ]
    said = words.text("colon", before=chosen, after=", ".join(parts)) if parts else chosen
    return Pair(words.text("configuration.chosen"), said)


def _sure(document: Json, words: Words) -> list[str]:
    """What the measurements carry: when the terms were fixed, how many passes, and what nobody verified."""
    if not document["attempts"]:
        return []
    behind = _behind(document)
    sealed = {gate["result"] for one in behind for gate in one["gates"] if gate["gate"] == "sealed"}
    worst = next((one for one in ("failed", "unknown", "passed") if one in sealed), "unknown")
    imported = sum(1 for one in document["attempts"] if one["provenance"])
    declared = sum(1 for one in document["attempts"] if one["declared"] and not one["provenance"])
    accepted = sum(value is not None for one in behind for part in one["summaries"] for value in part["durations_s"])
    passes = words.count("sure.passes", accepted) if accepted else words.text("sure.no_pass")
    lines = [words.text(f"sure.sealed.{worst}"), passes]
    if imported:
        lines.append(words.count("limits.imported", imported))
    if declared:
        lines.append(words.count("limits.declared", declared))
    elif (
        not imported
        and document["separations"]
        and not (len(document["corpora"]) > 1 or len(document["run"]["seeds"]) > 1)
    ):
        first = document["corpora"][0]["id"] if document["corpora"] else document["separations"][0]["corpus"]
        lines.append(f"{finding(document, words, first, document['run']['seeds'][0])}.")
    return lines


def _chosen(document: Json, words: Words) -> str:
    decision = document["decision"]
    chosen = next(one for one in document["variants"] if one["id"] == decision["variant"])
    price = words.price(decision["committed"], decision["currency"], example=decision["example_price"])
    name = words.variant(chosen["id"])
    package = package_in_words(chosen, words)
    if package is None:
        return sentence(words.text("answer.chosen.bare", variant=name, price=price))
    return sentence(words.text("answer.chosen", variant=name, package=package, price=price))


def _undecided(document: Json, words: Words) -> str:
    contenders = _behind(document)
    ids = [one["id"] for one in contenders]
    names = [words.variant(one) for one in ids]
    if not document["decision"]["contenders"]:
        return words.text("answer.undecided")
    if len(contenders) == 1:
        return sentence(words.text("answer.open.one", variant=names[0]))
    amounts = {(one["committed"], one["currency"]) for one in contenders}
    if not all(one["eligible"] for one in contenders) or len(amounts) > 1:
        return sentence(words.text("answer.open.many", variants=words.variants(ids)))
    first = contenders[0]
    price = words.price(first["committed"], first["currency"], example=document["decision"]["example_price"])
    if len(contenders) == 2:  # noqa: PLR2004  (two things are told one from the other; more are told apart)
        return sentence(words.text("answer.tie.two", a=names[0], b=names[1], price=price))
    return sentence(words.text("answer.tie.many", variants=words.variants(ids), price=price))


def package_in_words(variant: Json, words: Words) -> str | None:
    """A variant's package as a phrase ("one RTX 4090 card for 7 days"); None without a package."""
    offer = variant["offer"]
    if offer is None:
        return None
    days = (variant["days"] or 0) * (variant["periods"] or 1)
    cards = variant["cards"] or 1
    example = variant["example_price"]
    what = words.text("package.example") if example else words.count("package.cards", cards, name=offer["name"])
    return words.count("package.days", days, what=what) if days else words.text("package.hourly", what=what)


def _behind(document: Json) -> list[Json]:
    """The variants that the figures are of: the chosen one, else the contenders, else all of them."""
    names = named(document["decision"])
    return [one for one in document["variants"] if one["id"] in names] or list(document["variants"])


def _one(values: Sequence[object]) -> bool:
    return len(set(values)) == 1 and values[0] is not None


def _budget(document: Json, behind: Sequence[Json], words: Words) -> Figure:
    caption = words.text("figure.budget")
    if not _named(document):
        return Figure(caption, DASH, words.text("figure.no_candidate"))
    if not _one([(one["committed"], one["currency"]) for one in behind]):
        return Figure(caption, DASH, words.text("figure.budget.differ"))
    first = behind[0]
    if first["committed"] is None:
        return Figure(caption, DASH, words.text("figure.budget.unknown"))
    notes = [words.text("figure.either")] if len(behind) > 1 else []
    notes += [words.text("price.mark")] if first["example_price"] else []
    return Figure(caption, words.price(first["committed"], first["currency"], example=False), _joined(notes))


def _cost(document: Json, behind: Sequence[Json], words: Words) -> Figure:
    caption = words.text("figure.cost")
    if not _named(document):
        return Figure(caption, DASH, words.text("figure.no_candidate"))
    if len({one["cost_status"] for one in behind}) > 1:
        return Figure(caption, DASH, words.text("figure.cost.differ"))
    first = behind[0]
    if first["cost_status"] != "value":
        return Figure(caption, DASH, words.text(f"cost.{first['cost_status']}"))
    if not _one([(one["cost_per_validated_corpus"], one["currency"]) for one in behind]):
        return Figure(caption, DASH, words.text("figure.cost.differ"))
    notes = [words.count("figure.cost.of", first["accepted_deliverables"])]
    notes += [words.text("price.mark")] if first["example_price"] else []
    value = words.price(first["cost_per_validated_corpus"], first["currency"], example=False)
    return Figure(caption, value, _joined(notes))


def _passes(document: Json, behind: Sequence[Json], words: Words) -> Figure:
    summaries = [summary for one in behind for summary in one["summaries"]]
    accepted = sum(value is not None for one in summaries for value in one["durations_s"])
    repetitions = document["protocol"]["repetitions"]
    planned = (
        repetitions * len(document["corpora"]) * len(document["run"]["seeds"]) * len(behind) if repetitions else None
    )
    value = (
        words.text("figure.passes.value", accepted=accepted, planned=planned)
        if planned
        else words.text("figure.passes.alone", accepted=accepted)
    )
    lost = [
        words.count(f"lost.{kind}", number)
        for kind in ("failed", "rejected", "unassessed", "excluded")
        if (number := sum(one[kind] for one in summaries))
    ]
    of_whom = words.all_of([one["id"] for one in behind]) if len(behind) > 1 and _named(document) else None
    return Figure(words.text("figure.passes"), value, _joined([*([of_whom] if of_whom else []), *lost]))


def _window(behind: Sequence[Json], words: Words) -> Figure:
    caption = words.text("figure.window")
    windows = [one["window"]["hours"] if one["window"] else None for one in behind]
    covers = [one["covers_hours"] for one in behind]
    if not _one(windows):
        key = "figure.window.differ" if any(one is not None for one in windows) else "figure.window.unknown"
        return Figure(caption, DASH, words.text(key))
    if not _one(covers):
        return Figure(caption, words.hours(windows[0]), words.text("figure.window.no_package"))
    left = covers[0] - windows[0]
    note = words.text("figure.window.left" if left >= 0 else "figure.window.short", hours=words.hours(abs(left)))
    value = words.text("figure.window.value", window=words.hours(windows[0]), package=words.hours(covers[0]))
    return Figure(caption, value, note)


def _named(document: Json) -> bool:
    return bool(named(document["decision"]))


def _joined(notes: Sequence[str]) -> str | None:
    return ", ".join(notes) or None
