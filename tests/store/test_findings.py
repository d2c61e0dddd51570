"""A campaign's evidence: agreement with the reference run, the user's own metric, and the file of wrong ids."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.acceptance import judge
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign
from lab.model.evidence import Distances
from lab.model.protocol import Protocol
from lab.store.attempts import finish_attempt, start_attempt
from lab.store.campaign import read_campaign
from lab.store.manifest import read_manifest
from lab.store.predictions import write_predictions
from lab.store.workbook import WorkbookContent, write_workbook
from lab.store.wrong_ids import WRONG_IDS, keep_wrong_ids

MANIFEST = """schema = 1
name = "tickets"
language = "en"
[[corpora]]
id = "c"
path = "corpus.jsonl"
reference_column = "label"
[metrics.cost]
function = "my_metrics:cost"
higher_is_better = false
lowest = 0
[[variants]]
id = "b1"
[[variants]]
id = "b8"
"""
OWN = "def cost(confusion):\n    return 5 * sum(n for (a, b), n in confusion.items() if a != b)\n"


def ran(folder: Path, variant: str, number: int, predictions: str, **cells: object) -> str:
    """An attempt on record whose predictions for the ids 0, 1 ... are these letters; its id."""
    name = f"{variant}_c_r{number}_20261130T17204{number}Z_a1b2c{number}"
    started = f"2026-11-30T17:20:4{number}+00:00"
    row = Attempt(name, started_at=started, variant=variant, corpus="c", seed=0, round=number, outcome="completed")
    start_attempt(folder, Record(row))
    lines = [{"id": str(place), "prediction": one} for place, one in enumerate(predictions)]
    recorded = write_predictions(folder / "attempts" / name / "predictions.jsonl", lines)
    finish_attempt(folder, Record(replace(row, predictions_sha256=recorded, **cells)))  # type: ignore[arg-type]  # (columns by name)
    return name


def campaign(folder: Path, references: str = "abab", **terms: object) -> Campaign:
    """The campaign as it is read, with these terms; references are letters too."""
    (folder / "manifest.toml").write_text(MANIFEST)
    rows = [{"id": str(place), "text": "t", "label": one} for place, one in enumerate(references)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    base = Protocol(question="Which?", metric="accuracy", threshold=0.5, repetitions=5, time_zone="UTC")
    content = WorkbookContent(protocol=replace(base, **terms))  # type: ignore[arg-type]  # (fields by name)
    write_workbook(folder / "campaign.xlsx", content, read_manifest(folder / "manifest.toml"))
    return read_campaign(folder)


def test_every_attempt_is_held_against_the_first_sound_run_of_the_reference(tmp_path: Path) -> None:
    """One that misses an id is no reference run and agrees with none; the reference's own attempts are compared too."""
    short, first, second = (ran(tmp_path, "b1", n, said) for n, said in ((1, "aba"), (2, "abab"), (3, "abaa")))
    other = ran(tmp_path, "b8", 4, "bbab")
    found = campaign(tmp_path, reference_variant="b1", tolerance=1.0).evidence
    assert found[short].agreement is None
    agreements = [found[one].agreement for one in (first, second, other)]
    assert [(one.run, one.differing, one.first_differing) for one in agreements if one] == [
        (first, 0, ()),
        (first, 1, ("3",)),
        (first, 1, ("0",)),
    ]


def test_without_a_reference_variant_nothing_is_compared(tmp_path: Path) -> None:
    """Nor without a sound run of it."""
    name = ran(tmp_path, "b8", 1, "abab")
    assert campaign(tmp_path).evidence[name].agreement is None
    assert campaign(tmp_path, reference_variant="b1", tolerance=1.0).evidence[name].agreement is None


def test_identical_outputs_are_asked_for_and_found_different(tmp_path: Path) -> None:
    """One input of four: rejected, though the metric is met, and the number is named."""
    ran(tmp_path, "b1", 1, "abab")
    name = ran(tmp_path, "b8", 2, "abaa")
    read = campaign(tmp_path, reference_variant="b1", reproducibility_target="identical_outputs")
    verdict = judge(read)[name]
    assert (verdict.verdict, verdict.reason.key) == ("rejected", "verdict.reference.outputs_differ")
    assert (verdict.reason.values["differing"], verdict.quality_ok) == (1, False)


def test_the_users_own_metric_decides_and_its_file_is_an_input(tmp_path: Path) -> None:
    """Lower is better: a cost of 5 meets 5 and not 4; the threshold is no ratio."""
    (tmp_path / "my_metrics.py").write_text(OWN)
    name = ran(tmp_path, "b8", 1, "abaa")
    read = campaign(tmp_path, metric="cost", threshold=5.0)
    assert "my_metrics.py" in read.inputs
    verdict = judge(read)[name]
    assert (verdict.verdict, verdict.metric, verdict.metric_value) == ("accepted", "cost", 5.0)
    assert judge(campaign(tmp_path, metric="cost", threshold=4.0))[name].verdict == "rejected"


@pytest.mark.parametrize("source", [None, "def cost(confusion):\n    raise ValueError('no luck')\n"])
def test_an_own_metric_that_fails_leaves_the_verdict_open(tmp_path: Path, source: str | None) -> None:
    """Absent or raising: unassessed with the message, never accepted."""
    if source:
        (tmp_path / "my_metrics.py").write_text(source)
    name = ran(tmp_path, "b8", 1, "abab")
    verdict = judge(campaign(tmp_path, metric="cost", threshold=5.0))[name]
    assert (verdict.verdict, verdict.reason.key) == ("unassessed", "verdict.quality.raised")
    assert ("no luck" if source else "my_metrics.py") in str(verdict.reason.values["error"])


def test_a_metric_of_the_manifest_that_nobody_names_is_not_run(tmp_path: Path) -> None:
    """Code of the campaign runs only when the protocol asks for it."""
    (tmp_path / "my_metrics.py").write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()\n" + OWN)
    name = ran(tmp_path, "b8", 1, "abab")
    assert campaign(tmp_path).evidence[name].own == {}
    assert not (tmp_path / "ran").exists()


def test_numbers_are_judged_by_their_distance(tmp_path: Path) -> None:
    """Errors 1, 0, 1, 0: mean 0.5, and no confusion of every number is kept."""
    name = ran(tmp_path, "b8", 1, "1234")
    read = campaign(tmp_path, "2244", metric="mean_absolute_error", threshold=1.5)
    assert read.evidence[name].distances == Distances(4, 0, read.evidence[name].distances.total, 1)  # type: ignore[arg-type]  # (1 is Decimal(1))
    verdict = judge(read)[name]
    assert (verdict.verdict, verdict.metric_value) == ("accepted", 0.5)
    assert read.evidence[name].confusion == {}


def test_wrong_ids_are_kept_beside_the_predictions_and_are_no_input(tmp_path: Path) -> None:
    """Written when something is wrong, taken away when it no longer is, and of no weight for the decision."""
    name = ran(tmp_path, "b8", 1, "aba")
    path = tmp_path / "attempts" / name / WRONG_IDS
    before = campaign(tmp_path)
    assert keep_wrong_ids(tmp_path, before) == (f"attempts/{name}/{WRONG_IDS}",)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [{"kind": "missing", "id": "3"}]
    assert read_campaign(tmp_path).inputs == before.inputs
    assert keep_wrong_ids(tmp_path, campaign(tmp_path, "aba")) == ()
    assert not path.exists()
