"""Whose code ran, in which state: files, git revision, dirtiness; a hub's model by its commit. And nobody's secrets."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import fast_campaign
import pytest

from lab.measure.contents import Contents
from lab.measure.environment import Observer
from lab.measure.machine import variable_facts
from lab.measure.runner import run_campaign
from lab.measure.user_code import code_files, git_facts
from lab.model.manifest import Variant
from lab.model.names import WORKBOOK_ENDINGS
from lab.store.environments import read_environments

WHO = "zoe.zwiebel"


def _variant(**more: object) -> Variant:
    return Variant.model_validate_json(json.dumps({"id": "v", "workload": "python", "function": "work:go", **more}))


def _git(folder: Path, *arguments: str) -> None:
    who = {
        f"GIT_{role}_{what}": f"{WHO}@secret.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env={**os.environ, **who})


@pytest.fixture
def repository_of_code(tmp_path: Path) -> Path:
    """A campaign in a git repository of its own, with a remote whose address holds a token."""
    folder = tmp_path / "campaign"
    folder.mkdir()
    (folder / "work.py").write_text("def go(inputs):\n    yield from ()\n")
    for ending in WORKBOOK_ENDINGS:
        (folder / f"campaign{ending}").write_bytes(b"PK")
    _git(folder, "init", "-q", "-b", f"branch-of-{WHO}")
    _git(folder, "remote", "add", "origin", "https://token-verysecret@git.example/private.git")
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", f"message of {WHO}")
    return folder


def test_revision_and_dirtiness_of_the_users_code(repository_of_code: Path) -> None:
    """Clean; then dirty with a fingerprint of how; what the tool and people write meanwhile is no change of code."""
    folder, variant = repository_of_code, _variant()
    clean = git_facts(variant, folder)
    assert len(clean["git.campaign.revision"]) == 40
    assert clean["git.campaign.dirty"] == "no"
    for ending in WORKBOOK_ENDINGS:
        (folder / f"campaign{ending}").write_bytes(b"PK and a row")
    (folder / "attempts").mkdir()
    (folder / "attempts" / "x.json").write_text("{}")
    assert git_facts(variant, folder) == clean
    (folder / "work.py").write_text("def go(inputs):\n    yield 1\n")
    dirty = git_facts(variant, folder)
    assert dirty["git.campaign.dirty"] == "yes"
    (folder / "work.py").write_text("def go(inputs):\n    yield 2\n")
    assert git_facts(variant, folder)["git.campaign.changes"] != dirty["git.campaign.changes"]


def test_code_in_another_repository_has_a_revision_of_its_own(repository_of_code: Path, tmp_path: Path) -> None:
    """A command whose script lies elsewhere: both repositories, each once."""
    other = tmp_path / "tools"
    other.mkdir()
    (other / "run.sh").write_text("exit 0\n")
    _git(other, "init", "-q")
    _git(other, "add", ".")
    _git(other, "commit", "-q", "-m", "x")
    variant = _variant(workload="command", function=None, command=["sh", str(other / "run.sh"), "{corpus}"])
    facts = git_facts(variant, repository_of_code)
    assert facts["git.code.revision"] != facts["git.campaign.revision"]
    assert code_files(variant, repository_of_code) == (other / "run.sh",)


def test_without_git_or_a_repository_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No fact is better than a made-up one."""
    assert git_facts(_variant(), tmp_path) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_facts(_variant(), tmp_path) == {}


def test_the_files_of_a_command_are_part_of_what_ran(tmp_path: Path) -> None:
    """A script that is an argument's file is fingerprinted; one that stands in an argument is in the manifest."""
    (tmp_path / "count.awk").write_text("{ print }")
    variant = _variant(workload="command", function=None, command=["awk", "-f", "count.awk", "{corpus}", "{ x }" * 900])
    before = Contents(tmp_path).facts(variant)
    (tmp_path / "count.awk").write_text("{ print $1 }")
    assert Contents(tmp_path).facts(variant) != before
    assert set(before) == {"command.sha256"}
    assert Contents(tmp_path).files(variant) == (tmp_path / "count.awk",)


def test_a_hubs_model_is_named_by_its_commit_and_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy on this machine, by branch or by commit; nothing before it was fetched, and no path of the cache."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    cache = tmp_path / WHO / "hub"
    snapshot = cache / "models--people--model" / "snapshots" / commit
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    folder = tmp_path / "campaign"
    folder.mkdir()
    variant = _variant(workload="text-classification", function=None, model="people/model", revision="main")
    assert Contents(folder).facts(variant) == {}
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (cache / "models--people--model" / "refs").mkdir()
    (cache / "models--people--model" / "refs" / "main").write_text(commit)
    facts = Contents(folder).facts(variant)
    assert facts["model.hub_commit"] == facts["tokenizer.hub_commit"] == commit
    assert facts["model.sha256"] == facts["tokenizer.sha256"]
    assert WHO not in json.dumps(facts)


FETCHES = """
import os, pathlib
def go(inputs):
    cache = pathlib.Path(os.environ["LAB_TEST_HUB"]) / "models--people--model"
    (cache / "snapshots" / "c0ffee").mkdir(parents=True, exist_ok=True)
    (cache / "refs").mkdir(exist_ok=True)
    (cache / "snapshots" / "c0ffee" / "config.json").write_text("{}")
    (cache / "refs" / "main").write_text("c0ffee")
    for one, text in inputs:
        yield one, "short"
"""


def test_a_model_that_the_first_attempt_fetches_is_in_its_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two passes, one environment, with the commit: the first one is not another machine for having fetched it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("LAB_TEST_HUB", str(tmp_path / "hub"))
    folder = tmp_path / "campaign"
    fast_campaign.write(folder, [fast_campaign.variant("a", "go", model="people/model")], repetitions=2)
    (folder / "work.py").write_text(FETCHES)
    first, second = run_campaign(
        folder, fast_campaign.read(folder), observe=lambda _: None, on_attempt=lambda _: None
    ).records
    assert first.attempt.environment == second.attempt.environment
    (seen,) = read_environments(folder).values()
    assert seen.fingerprint == first.attempt.environment
    assert seen.facts["model.hub_commit"] == "c0ffee"


def test_no_name_no_home_and_no_secret_is_in_an_environment(
    repository_of_code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted in the environment, in git, in paths and in the host's name; none of it comes out."""
    home = f"/home/{WHO}"
    planted = {
        "HOME": home,
        "USER": WHO,
        "LOGNAME": WHO,
        "HF_TOKEN": "hf_verysecret",
        "MKL_LICENSE_KEY": "verysecret",
        "OMP_AUTH_TOKEN": "verysecret",
        "MALLOC_PASSWORD": "verysecret",
        "LD_PRELOAD": f"{home}/lib/libjemalloc.so",
        "LD_LIBRARY_PATH": f"{home}/lib:/opt/{WHO}/cuda",
        "OMP_TOOL_LIBRARIES": f"{home}/tool.so",
        "KMP_SETTINGS": "host zwiebel-ws-17",
        "AWS_SECRET_ACCESS_KEY": "verysecret",
    }
    for name, value in planted.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(socket, "gethostname", lambda: "zwiebel-ws-17")
    said = json.dumps(dict(Observer(repository_of_code, lambda _: ({}, ())).observe(_variant()).facts))
    for secret in (
        WHO,
        "zwiebel",
        "verysecret",
        "secret.example",
        "git.example",
        str(repository_of_code),
        "message of",
    ):
        assert secret not in said
    assert "libjemalloc.so" in said
    assert "git.campaign.revision" in said


def test_a_name_that_sounds_like_a_secret_is_never_looked_at() -> None:
    """Whatever list it is on."""
    assert variable_facts({"MKL_KEY": "x", "OMP_TOKEN_FILE": "y", "OMP_NUM_THREADS": "2"}) == {
        "env.OMP_NUM_THREADS": "2"
    }
