"""What is damaged, taken away or dated otherwise is named, the rest is listed, and nothing is decided from a part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import costs_campaign
from campaign_folders import QUICK, SLOW, Plan, build, changed, name, right, rounds

from lab.report.renderer import renderer
from lab.store.files import sha256_file

ATTEMPT = costs_campaign.name("package", 0)
Said = tuple[int, str]


def test_one_damaged_record_lets_the_rest_be_listed_and_nothing_be_decided(
    campaign: Path, said: Callable[..., Said]
) -> None:
    """`status`, `check` and `verify` name it and go on; `judge`, `report` and `run` refuse, and write nothing."""
    damaged = f"attempts/{ATTEMPT}/attempt.json"
    (campaign / damaged).write_text('{"schema": 1, "att', encoding="utf-8")
    before = {path: path.read_bytes() for path in campaign.rglob("*") if path.is_file()}
    code, text = said("status", campaign)
    assert (code, damaged in text, "hourly" in text) == (0, True, True)
    code, text = said("check", campaign)
    assert (code, damaged in text) == (1, True)
    code, text = said("verify", campaign, "--json")
    found = json.loads(text)
    assert (code, len(found["judged_again"]["same"]), found["judged_again"]["without_predictions"]) == (1, 5, [ATTEMPT])
    assert damaged in [one["file"] for one in found["faults"]]
    assert found["consequences"] == []
    for command in ("judge", "report", "run"):
        code, text = said(command, campaign)
        assert (code, damaged in text) == (3, True), command
    assert {path: path.read_bytes() for path in campaign.rglob("*") if path.is_file()} == before


def test_status_names_predictions_that_are_gone_or_changed(campaign: Path, said: Callable[..., Said]) -> None:
    """By their fingerprints: nothing is judged for it."""
    names = sorted(one.parent.name for one in campaign.glob("attempts/*/predictions.jsonl"))[:2]
    first, second = (campaign / "attempts" / one / "predictions.jsonl" for one in names)
    assert names[0] not in said("status", campaign)[1]
    first.unlink()
    second.write_bytes(second.read_bytes() + b"\n")
    code, text = said("status", campaign, "--json")
    faults = json.loads(text)["evidence_faults"]
    assert code == 0
    assert [(one["slug"], one["file"].split("/")[1]) for one in faults] == [
        ("predictions-missing", names[0]),
        ("predictions-altered", names[1]),
    ]
    assert names[1] in said("status", campaign)[1]


def test_a_seal_dated_otherwise_is_named(campaign: Path, said: Callable[..., Said]) -> None:
    """Its date is in no fingerprint of its own: the report keeps it, and says both."""
    seal = json.loads((campaign / "seal.json").read_text(encoding="utf-8"))
    dated = {**seal, "sealed_at": seal["sealed_at"].replace("20", "19", 1)}
    (campaign / "seal.json").write_text(json.dumps(dated, indent=2), encoding="utf-8")
    code, text = said("verify", campaign)
    assert code == 1
    assert f"seal.sealed_at was {seal['sealed_at']} and is {dated['sealed_at']}" in text


def test_a_list_of_versions_rewritten_with_its_fingerprint_is_named(campaign: Path, said: Callable[..., Said]) -> None:
    """It is made again too; where another product made it, the pages that were not are named, and why."""
    report = campaign / "report"
    page = report / "index.fr.html"
    page.write_text(page.read_text(encoding="utf-8").replace("</main>", " </main>"), encoding="utf-8")
    hashes = json.loads((report / "hashes.json").read_text(encoding="utf-8"))
    assert hashes["renderer"] == renderer()
    hashes = {**hashes, "files": {**hashes["files"], "index.fr.html": sha256_file(page)}}
    (report / "hashes.json").write_text(json.dumps(hashes), encoding="utf-8")
    code, text = said("verify", campaign)
    assert (code, "report/index.fr.html was changed" in text, "index.it.html" in text) == (1, True, False)
    (report / "hashes.json").write_text(json.dumps({**hashes, "renderer": "0" * 64}), encoding="utf-8")
    code, text = said("verify", campaign)
    assert (code, "The pages of report were made by another version of the product (000000000000…" in text) == (0, True)
    assert "index.en.html, index.fr.html, index.html, index.it.html" in text


def test_judge_says_why_a_pass_is_unassessed_and_what_to_do(campaign: Path, said: Callable[..., Said]) -> None:
    """The first of each variant, in words; beside it the interval that the sample carries, or that it is too small."""
    (campaign / "attempts" / ATTEMPT / "predictions.jsonl").unlink()
    _code, text = said("judge", campaign)
    line = next(one for one in text.splitlines() if one.strip().startswith(f"Unassessed {ATTEMPT}"))
    assert "Bring back the file as it was measured" in line
    assert "Too few passes for an interval around the median" in text


def test_judge_says_why_a_pass_is_rejected(tmp_path: Path, said: Callable[..., Said]) -> None:
    """What the control that decided found, of the first one of a variant; nothing of those that are accepted."""
    passes = changed(rounds({"b1": SLOW, "b8": QUICK}), "b8", [2, 3], answers=lambda: right()[:-2])
    folder = build(tmp_path / "made", Plan(passes))
    _code, text = said("judge", folder)
    (line,) = [one for one in text.splitlines() if one.strip().startswith("Rejected ")]
    assert name(next(one for one in passes if (one.variant, one.round) == ("b8", 2))) in line
    assert "038" in line
