"""Hosts without a common engine (SLURM, plain ssh): each runs its own variants, then the folders are merged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import small_campaign

from lab.store.attempts import read_records
from lab.store.campaign import read_campaign

Said = tuple[int, str]
MANIFEST = (
    small_campaign.CORPUS
    + """
[run]
timeout_s = 60

[defaults]
workload = "command"
predictions_format = "csv"
gpu = "rtx-4090"

[[variants]]
id = "here"
command = ["./on-here", "{corpus}", "{predictions}"]

[[variants]]
id = "there"
command = ["./on-there", "{corpus}", "{predictions}"]
"""
)
# What a host's own program may be: the right label for what each ticket says, as csv.
PROGRAM = """\
#!/bin/sh
echo id,prediction > "$2"
tail -n +2 "$1" | tr -d '\\r' | while IFS=, read -r id rest; do echo "$id,${rest##*,}"; done >> "$2"
"""


@pytest.fixture
def home(tmp_path: Path, said: Callable[..., Said]) -> Path:
    """The campaign where it is decided: filled in and sealed, where neither program is and nothing can be measured."""
    folder = tmp_path / "home"
    assert said("init", folder, "--lang", "fr", "--name", "tickets")[0] == 0
    (folder / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    small_campaign.write_corpus(folder, small_campaign.rows())
    small_campaign.fill_protocol(folder / "campaign.xlsx", {**small_campaign.PROTOCOL, "reference_variant": "here"})
    code, text = said("seal", folder)
    assert code == 0, text
    return folder


def test_each_host_runs_its_own_variants_and_the_merged_campaign_is_decided(
    home: Path, tmp_path: Path, said: Callable[..., Said]
) -> None:
    """Neither host can run the other's variant; home, which measured nothing, has all four attempts and the report."""
    for own, other in (("here", "there"), ("there", "here")):
        host = shutil.copytree(home, tmp_path / f"host-{own}")
        (host / f"on-{own}").write_text(PROGRAM)
        (host / f"on-{own}").chmod(0o755)
        code, text = said("run", host)
        assert code == 3  # not all of it can be measured here, and nothing is
        assert f"on-{other}" in text
        assert not read_records(host)
        code, text = said("run", host, "--only", own)
        assert code == 0, text
        assert [(one.attempt.variant, one.attempt.outcome) for one in read_records(host)] == [(own, "completed")] * 2
    code, text = said("merge", home, tmp_path / "host-here", tmp_path / "host-there", "--json")
    assert code == 0, text
    assert len(json.loads(text)["taken"]) == 4
    campaign = read_campaign(home)
    assert {one.attempt.corpus_accepted for one in campaign.records} == {"accepted"}
    assert campaign.seal is not None
    assert {one.attempt.seal for one in campaign.records} == {campaign.seal.fingerprint}
    code, text = said("status", home, "--json")
    assert [one["left"] for one in json.loads(text)["variants"]] == [0, 0]
    assert said("report", home)[0] == 0
    decision = json.loads((home / "report" / "v1" / "decision.json").read_text())
    assert {one["id"]: one["summaries"][0]["accepted"] for one in decision["variants"]} == {"here": 2, "there": 2}
    assert said("verify", home)[0] == 0
