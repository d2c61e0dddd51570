"""The first screen answers the question in a director's words, whatever the answer is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import report_campaigns as made

from lab.messages import LANGUAGES
from lab.model.protocol import ExclusionRule
from lab.report import view, view_first, view_record
from lab.report.blocks import Lines, Table
from lab.report.words import Words


def _answer(document: dict[str, Any], language: str = "en") -> str:
    return view_first.answer(document, Words(document, language))


def _figures(document: dict[str, Any], language: str = "en") -> list[tuple[str, str | None]]:
    return [(one.value, one.note) for one in view_first.figures(document, Words(document, language))]


def test_a_choice_names_variant_package_and_price() -> None:
    """One sentence that needs no manual."""
    document = made.document(made.campaign(made.APART))
    assert _answer(document) == "Batch\u00a08 on one RTX 4090 card for 7 days does the job for 110.00\u00a0USD."
    french = "Le batch\u00a08 sur une carte RTX 4090 pendant 7 jours fait le travail pour 110,00\u00a0USD."
    assert _answer(document, "fr") == french
    assert (
        _answer(document, "it")
        == "Il batch\u00a08 su una scheda RTX 4090 per 7 giorni fa il lavoro per 110,00\u00a0USD."
    )


def test_a_tie_says_that_either_does_the_job() -> None:
    """Undecided is an answer, with its price."""
    document = made.document(made.campaign())
    document["decision"]["contenders"] = ["b4", "b8"]
    expected = "The measurements do not tell batch\u00a04 from batch\u00a08: either does the job for 110.00\u00a0USD."
    assert _answer(document) == expected


def test_an_example_price_is_called_one_in_the_sentence_and_under_the_figures() -> None:
    """Nobody takes the demo's price for an offer."""
    document = made.document(made.campaign(example=True))
    assert "110.00\u00a0USD (example price)" in _answer(document)
    budget, cost, *_ = _figures(document)
    assert "example price" in (budget[1] or "")
    assert "example price" in (cost[1] or "")


def test_when_none_qualifies_the_figures_say_why_they_are_absent() -> None:
    """No 0 where there is nothing (H6)."""
    document = made.document(made.campaign({"b1": (None,) * 5, "b8": (None,) * 5}))
    assert _answer(document) == "None of the 2 variants tried does the job on the terms that were set."
    budget, cost, passes, _ = _figures(document)
    assert budget == ("–", "no variant qualifies")  # noqa: RUF001  (the dash of an absent value)
    assert cost[0] == "–"  # noqa: RUF001  (the dash of an absent value)
    assert passes == ("0 of 10", "10 did not end")


def test_without_an_attempt_nothing_is_claimed() -> None:
    """A campaign before its first pass (H6)."""
    document = made.document(made.campaign({"b1": (), "b8": ()}))
    assert _answer(document) == "Nothing has been measured yet, so there is nothing to choose from."


def test_one_attempt_leaves_the_question_open() -> None:
    """One pass is no answer (H6)."""
    document = made.document(made.campaign({"b1": (24.1,)}))
    expected = "Variant b1 could do the job, but something needed for the decision is not known yet."
    assert _answer(document) == expected


def test_window_and_package_stand_together() -> None:
    """96 hours in a package of 168 leave 72."""
    assert _figures(made.document(made.campaign()))[3] == ("96\u00a0h of 168\u00a0h", "72\u00a0h to spare")
    without = _figures(made.document(made.campaign(calendar=())))[3]
    assert without == ("–", "unknown: no calendar is stated")  # noqa: RUF001  (the dash of an absent value)


def test_an_undefined_cost_says_so_and_the_budget_is_still_shown() -> None:
    """The ratio is undefined, the money is committed all the same."""
    document = made.document(made.campaign())
    for one in document["variants"]:
        one.update(cost_status="undefined", cost_per_validated_corpus=None)
    budget, cost, *_ = _figures(document)
    assert budget[0] == "110.00\u00a0USD"
    assert cost == ("–", "undefined: no deliverable is accepted yet")  # noqa: RUF001  (the dash of an absent value)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "campaign",
    [
        made.campaign(example=True),
        made.campaign(made.APART),
        made.campaign(made.MIXED, outcome="timed_out"),
        made.campaign({"b1": (None,) * 5, "b8": (None,) * 5}),
        made.campaign({"b1": (), "b8": ()}),
        made.campaign({"b1": (24.1,)}),
        made.campaign(seal=None, calendar=(), choices=(), deliverables=(), environments={}),
    ],
)
def test_every_campaign_can_be_said_in_every_language(language: str, campaign: Any) -> None:  # noqa: ANN401  (a campaign)
    """No text is missing, and no section is empty."""
    document = {**made.document(campaign), "report_version": 1}
    note = view.note(document, language)
    assert note.answer.endswith(".")
    assert len(note.figures) == 4
    assert all(section.blocks for section in note.sections)


def test_what_differs_between_machines_is_in_sight() -> None:
    """Two machines are never shown as one: every fact that differs has its row outside the fold."""
    campaign = made.campaign()
    first = next(iter(campaign.environments.values()))
    other = replace(first, fingerprint="0123456789abcdef", facts={**first.facts, "torch": "2.12.0"})
    records = tuple(
        replace(one, attempt=replace(one.attempt, environment=other.fingerprint))
        if one.attempt.variant == "b8"
        else one
        for one in campaign.records
    )
    both = {**campaign.environments, other.fingerprint: other}
    document = made.document(replace(campaign, environments=both, records=records))
    section = view_record.environment(document, Words(document, "en"))
    (table,) = [one for one in section.blocks if isinstance(one, Table) and one.id == "machines-differ"]
    assert [[cell.text for cell in row] for row in table.rows[1:]] == [["torch", "2.12.0", "2.13.0"]]


def test_an_exclusion_and_a_declared_row_are_said() -> None:
    """What is left out has its section; what nobody verified is named."""
    campaign = made.campaign(protocol=made.protocol(exclusion_rules=(ExclusionRule("slow", "elapsed_s", ">", "50"),)))
    records = (replace(campaign.records[0], declared=True), *campaign.records[1:])
    document = {**made.document(replace(campaign, records=records)), "report_version": 1}
    note = view.note(document, "en")
    assert "exclusions" in [one.id for one in note.sections]
    limits = next(one for one in note.sections if one.id == "limits")
    said = [line.text for block in limits.blocks if isinstance(block, Lines) for line in block.items]
    assert any(text.startswith("1 attempt is declared, not verified") for text in said)
