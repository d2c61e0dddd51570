"""The evidence in the document: confusion, bad lines, agreement; and the matrices that the page shows of it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import report_campaigns as made
from jsonschema import Draft202012Validator

from lab.analysis.decide import decide
from lab.messages import LANGUAGES
from lab.model.campaign import Campaign
from lab.model.evidence import Agreement, Evidence
from lab.report.blocks import Block, Fold, Table, Text
from lab.report.document import build
from lab.report.schema import decision_schema
from lab.report.view_measures import quality
from lab.report.words import Words


def _with(evidence: Evidence) -> Campaign:
    """The usual campaign, with this evidence for every pass."""
    whole = made.campaign()
    return replace(whole, evidence=dict.fromkeys(whole.evidence, evidence))


def _refused(document: dict[str, Any]) -> list[str]:
    """What the published schema does not accept in the attempts."""
    errors = Draft202012Validator(decision_schema()).iter_errors(document)
    return [one.message for one in errors if "attempts" in one.absolute_path]


def _shown(document: dict[str, Any], language: str = "en") -> tuple[Block, ...]:
    """What is in the fold of the confusion matrices, after its introduction."""
    blocks = quality(document, Words(document, language)).blocks
    return next((one.blocks[1:] for one in blocks if isinstance(one, Fold)), ())


def test_the_evidence_holds_confusion_bad_lines_and_agreement() -> None:
    """What a metric was computed from, in a fixed order; without a reference run the agreement is absent."""
    agreement = Agreement("run", {("bug", "billing"): 1}, {}, 1, ("7",), Decimal("0.25"))
    bad = ((3, "predictions-bad-json"),)
    whole = _with(made.evidence(agreement=agreement, bad_lines=bad, bad_line_count=1))
    document = build(whole, decide(whole))
    found = next(one["evidence"] for one in document["attempts"] if one["variant"] == "b4")
    assert found["confusion"] == [
        {"reference": "billing", "prediction": "billing", "inputs": 412},
        {"reference": "billing", "prediction": "bug", "inputs": 188},
        {"reference": "bug", "prediction": "bug", "inputs": 400},
    ]
    assert found["confusion_left_out"] == 0
    assert found["bad_lines"] == [{"line": 3, "why": "predictions-bad-json"}]
    verdicts = decide(whole).verdicts
    for one in document["attempts"]:
        if one["evidence"]:
            assert (one["evidence"]["agreement"] is None) == (verdicts[one["attempt_id"]].agreement is None)
    assert _refused(document) == []


def test_an_agreement_is_written_with_its_counts() -> None:
    """The run that it is with, how many inputs differ and which, and by how much."""
    whole = _with(made.evidence(agreement=Agreement("run", {("bug", "billing"): 1}, {}, 1, ("7",), Decimal("0.25"))))
    decision = decide(whole)
    assert any(one.agreement for one in decision.verdicts.values())
    document = build(whole, decision)
    assert document["attempts"][0]["evidence"]["agreement"] == {
        "run": "run", "differing": 1, "first_differing": ["7"], "largest_distance": 0.25,
        "confusion": [{"reference": "bug", "prediction": "billing", "inputs": 1}], "confusion_left_out": 0,
    }  # fmt: skip
    assert _refused(document) == []


def test_of_many_cells_the_largest_stay() -> None:
    """Free text would fill the document; how many cells are left out is said, and the page shows no matrix."""
    cells = {("billing", f"text {number:03}"): 1 + (number == 450) for number in range(500)}
    document = made.document(_with(made.evidence(confusion=cells)))
    found = next(one["evidence"] for one in document["attempts"] if one["evidence"])
    assert (len(found["confusion"]), found["confusion_left_out"]) == (400, 100)
    assert [one["inputs"] for one in found["confusion"]].count(2) == 1
    assert found["confusion"] == sorted(found["confusion"], key=lambda one: (one["reference"], one["prediction"]))
    shown = _shown(document)
    assert shown
    assert all(isinstance(one, Text) and "more than 20" in one.text for one in shown)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_variant_shows_the_matrix_of_one_pass(language: str) -> None:
    """References go down and predictions across, with a zero where no input is; the caption names the pass."""
    document = made.document(made.campaign())
    shown = _shown(document, language)
    assert len(shown) == len(document["quality"])
    for block, row in zip(shown, document["quality"], strict=True):
        assert isinstance(block, Table)
        assert row["variant"] in block.caption
        assert [one.label for one in block.columns[1:]] == ["billing", "bug"]
        assert [[cell.text for cell in one] for one in block.rows] == [["billing", "412", "188"], ["bug", "0", "400"]]


def test_the_pass_shown_is_the_median_one() -> None:
    """Of five passes with five metrics the third; not the first that was accepted."""
    whole = made.campaign()
    names = [one.attempt.attempt_id for one in whole.records if one.attempt.variant == "b4"]
    right = dict(zip(names, (900, 810, 850, 820, 840), strict=True))
    evidence = {name: made.evidence(right.get(name, 812)) for name in whole.evidence}
    document = made.document(replace(whole, evidence=evidence))
    place = [one["variant"] for one in document["quality"]].index("b4")
    block = _shown(document)[place]
    assert isinstance(block, Table)
    assert names[4] in block.caption
    assert block.rows[0][1].text == "440"


def test_without_a_confusion_there_is_nothing_to_open() -> None:
    """A campaign of numbers has no matrix, and no empty fold."""
    assert _shown(made.document(_with(made.evidence(confusion={})))) == ()
