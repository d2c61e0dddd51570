"""Vectors measured and judged like labels: a whole campaign, from the manifest to the verdicts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import small_campaign

from lab.cli import main
from lab.model.decision import Verdict
from lab.pipeline import run

MANIFEST = """\
schema = 1
name = "vectors"
language = "it"

[[corpora]]
id = "texts"
path = "corpus.jsonl"
answers = "vector"

[defaults]
workload = "embedding"
model = "models/tiny"
padding = "sorted"

[[variants]]
id = "fp32"

[[variants]]
id = "fp16"
precision = "fp16"

[[variants]]
id = "cls"
pooling = "cls"

[[variants]]
id = "words"
workload = "command"
command = ["sh", "-c", "sed 's/\\"text\\":/\\"prediction\\":/' \\"$0\\" > \\"$1\\"", "{corpus}", "{predictions}"]
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory, campaign_folder: Path) -> dict[str, Verdict]:
    """By variant, the verdict of its one pass; at least 0.99 of the reference run's cosine is wanted."""
    folder = tmp_path_factory.mktemp("vectors") / "campaign"
    assert main(["init", str(folder), "--lang", "it", "--name", "vectors"]) == 0
    (folder / "manifest.toml").write_text(MANIFEST)
    shutil.copy(campaign_folder / "corpus.jsonl", folder)
    shutil.copytree(campaign_folder / "models" / "tiny", folder / "models" / "tiny")
    changed = {"metric": "reference_cosine", "threshold": 0.99, "tolerance": None, "repetitions": 1}
    small_campaign.fill_protocol(
        folder / "campaign.xlsx", {**small_campaign.PROTOCOL, **changed, "reference_variant": "fp32"}
    )
    found = run(folder)
    variants = {one.attempt.attempt_id: one.attempt.variant or "" for one in found.campaign.records}
    for name in variants:
        row = json.loads((folder / "attempts" / name / "predictions.jsonl").read_text().splitlines()[0])
        assert set(row) == {"id", "prediction"}
    return {variants[one.attempt_id]: one for one in found.decision.verdicts.values()}


def test_a_lower_precision_keeps_the_direction_of_its_vectors(verdicts: dict[str, Verdict]) -> None:
    """The reference run is the measure of itself; fp16 is within the threshold."""
    assert (verdicts["fp32"].verdict, verdicts["fp32"].metric_value) == ("accepted", 1.0)
    assert verdicts["fp16"].verdict == "accepted"
    assert 0.99 <= (verdicts["fp16"].metric_value or 0) <= 1


def test_other_vectors_are_rejected_for_their_cosine(verdicts: dict[str, Verdict]) -> None:
    """Another pooling gives vectors of the same form in other directions."""
    assert (verdicts["cls"].verdict, verdicts["cls"].control) == ("rejected", "quality")
    assert verdicts["cls"].format_ok


def test_what_is_no_vector_is_rejected_for_its_format(verdicts: dict[str, Verdict]) -> None:
    """A program that writes text where vectors are declared: the first ids are named."""
    found = verdicts["words"]
    assert (found.verdict, found.control, found.format_ok) == ("rejected", "format", False)
    assert found.reason.key == "verdict.format.bad_vectors"
    assert found.reason.values["inputs"] == 23
