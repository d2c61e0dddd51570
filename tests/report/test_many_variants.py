"""A note of very many variants: it shows what is asked for, says what it leaves out, and names where the rest is."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import report_campaigns as made

from lab.messages import LANGUAGES
from lab.report.blocks import Lines, Text
from lab.report.view import note
from lab.report.words import Words

VARIANTS, PASSES = 20, 8  # 8 a side reach p = 2 / 12,870: enough for 190 pairs
NAMES = [f"v{n}" for n in range(11, 11 + VARIANTS)]  # one by one, none is part of another
PAIRS = VARIANTS * (VARIANTS - 1) // 2


@cache
def document(*, alike: bool = False) -> dict[str, Any]:
    """Twenty variants on packages of one price, each slower than the one before, or all as fast as each other."""
    step = 0.0 if alike else 10.0
    durations = {name: tuple(10.0 + step * n + k / 10 for k in range(PASSES)) for n, name in enumerate(NAMES)}
    whole = made.campaign(durations, protocol=made.protocol(reference_variant=NAMES[0], repetitions=PASSES))
    return {**made.document(whole), "report_version": 1}


def blocks(found: dict[str, Any], language: str) -> tuple[Lines, str]:
    """The list of comparisons, and the sentence right below it."""
    words = Words(found, language)
    section = next(one for one in note(found, language).sections if one.id == "durations")
    place = next(
        n for n, one in enumerate(section.blocks)
        if isinstance(one, Lines) and one.lead == words.text("durations.separations")
    )  # fmt: skip
    lines, below = section.blocks[place], section.blocks[place + 1]
    assert isinstance(lines, Lines)
    assert isinstance(below, Text)
    return lines, below.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pairs_of_the_chosen_one_are_shown_and_the_others_counted(language: str) -> None:
    """37 of 190: 19 with the chosen variant, 19 of neighbours, one of them both; the page says how many."""
    found = document()
    assert found["decision"]["variant"] == NAMES[0]
    lines, below = blocks(found, language)
    assert len(lines.items) == 2 * (VARIANTS - 1) - 1
    assert (str(len(lines.items)) in below, str(PAIRS) in below, "decision.json" in below) == (True, True, True)
    assert Words(found, language).variant(NAMES[0]) in below
    assert len(found["separations"]) == PAIRS
    assert all(one["reason"] for one in found["separations"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_very_many_candidates_only_neighbours_are_shown(language: str) -> None:
    """All twenty cost the same and are as fast: undecided among them, and each is beside the next."""
    found = document(alike=True)
    assert len(found["decision"]["contenders"]) == VARIANTS
    lines, below = blocks(found, language)
    assert len(lines.items) == VARIANTS - 1
    assert str(PAIRS) in below


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_names_ten_and_counts_the_others(language: str) -> None:
    """The reason that names all twenty says ten and how many more; its message keeps every one of them."""
    found = document(alike=True)
    reason = next(one for one in found["decision"]["reasons"] if len(one["message"]["values"].get("variants", ())) > 12)
    told = Words(found, language).say(reason)
    assert reason["message"]["values"]["variants"] == NAMES
    assert [name for name in NAMES if name in told] == NAMES[:10]
    assert Words(found, language).count("list.others", VARIANTS - 10) in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_and_the_titles_name_ten_too(language: str) -> None:
    """Twenty candidates: no headline lists them all, on the first screen or over a chart."""
    found = note(document(alike=True), language)
    others = Words(document(alike=True), language).count("list.others", VARIANTS - 10)
    assert others in found.answer
    assert NAMES[9].removeprefix("v") in found.answer  # named by its batch, the one setting that differs
    assert NAMES[10].removeprefix("v") not in found.answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_stands_in_the_way_of_all_is_one_line(language: str) -> None:
    """Twenty variants without a price: one line a gate and reason, and not twenty."""
    durations = dict.fromkeys(NAMES, (10.0,) * PASSES)
    terms = made.protocol(reference_variant=NAMES[0], repetitions=PASSES)
    found = {**made.document(made.campaign(durations, protocol=terms, offers=())), "report_version": 1}
    words = Words(found, language)
    section = next(one for one in note(found, language).sections if one.id == "gates")
    (lines,) = (one for one in section.blocks if isinstance(one, Lines) and one.lead == words.text("gates.open"))
    assert len({line.text for line in lines.items}) == len(lines.items) < VARIANTS
    assert all(words.all_of(NAMES) in line.text for line in lines.items)
