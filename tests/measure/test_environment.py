"""What is observed of a machine: enough to tell stacks apart, and nobody's name."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.measure.accelerators import accelerator_facts
from lab.measure.environment import Observer, observe
from lab.measure.machine import cpu_model, variable_facts
from lab.measure.privacy import scrubbed, without_paths
from lab.model.campaign import Environment
from lab.model.manifest import Variant
from lab.store.environments import fingerprint, read_environments, write_environment


def _variant(**more: object) -> Variant:
    return Variant.model_validate_json(json.dumps({"id": "v", "model": "models/m", **more}))


def _see(folder: Path, variant: Variant) -> Environment:
    return Observer(folder, lambda _: ({"torch.version": "2.13.0"}, ("A card",))).observe(variant)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign folder with a model of two files."""
    (tmp_path / "models" / "m").mkdir(parents=True)
    (tmp_path / "models" / "m" / "config.json").write_text("{}")
    (tmp_path / "models" / "m" / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def test_it_names_system_stack_device_and_settings(folder: Path) -> None:
    """OS, processor, memory, Python, every distribution, torch's build, the model's content, precision, attention."""
    seen = _see(folder, _variant(precision="bf16", attention="eager"))
    assert seen.device_names == ("A card",)
    assert seen.facts["cpu.model"] == cpu_model()
    assert seen.facts["pytest"] == pytest.__version__
    assert (seen.facts["variant.precision"], seen.facts["variant.attention"]) == ("bf16", "eager")
    assert seen.facts["torch.version"] == "2.13.0"
    assert float(seen.facts["ram.gib"]) > 0
    assert seen.facts["model.sha256"] == seen.facts["tokenizer.sha256"]
    assert seen.fingerprint == fingerprint(seen.facts, seen.device_names)
    write_environment(folder, seen)
    assert read_environments(folder) == {seen.fingerprint: seen}


def test_no_user_host_home_or_secret_is_in_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of people and machines stay here, also where a variable that matters holds a path."""
    home = str(Path("/home") / "zoe.zwiebel")
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("USER", "zoe.zwiebel")
    monkeypatch.setenv("HF_TOKEN", "hf_verysecret")
    monkeypatch.setenv("LD_PRELOAD", f"{home}/lib/libjemalloc.so:/opt/zoe.zwiebel/x.so")
    monkeypatch.setattr(socket, "gethostname", lambda: "zwiebel-ws-17")
    monkeypatch.setenv("MKL_VERBOSE", "zwiebel-ws-17")
    said = json.dumps(dict(_see(folder, _variant()).facts))
    for secret in ("zoe", "zwiebel", "verysecret", str(folder)):
        assert secret not in said
    assert "libjemalloc.so" in said


def test_this_machines_own_names_are_not_in_it(folder: Path) -> None:
    """The real host name and home folder of the machine that runs this test."""
    seen = _see(folder, _variant())
    for value in seen.facts.values():
        assert socket.gethostname() not in value
        assert str(Path.home()) not in value


def test_a_changed_model_is_another_environment(folder: Path) -> None:
    """One observer sees a file that changed between two attempts; unchanged files give the same fingerprint."""
    observer = Observer(folder, lambda _: ({}, ("A card",)))
    first = observer.observe(_variant())
    assert observer.observe(_variant()) == first
    (folder / "models" / "m" / "model.safetensors").write_bytes(b"other w")
    os.utime(folder / "models" / "m" / "model.safetensors", ns=(1, 1))
    assert observer.observe(_variant()).fingerprint != first.fingerprint


def test_torch_is_asked_once_for_each_device(folder: Path) -> None:
    """Three variants on one device cost one question; another device is another one."""
    asked: list[str] = []

    def probe(variant: Variant) -> tuple[dict[str, str], tuple[str, ...]]:
        asked.append(variant.device)
        return {}, ()

    observer = Observer(folder, probe)
    for batch in (1, 4, 8):
        observer.observe(_variant(batch_size=batch))
    observer.observe(_variant(device="cuda:0"))
    assert asked == ["cpu", "cuda:0"]


def test_on_the_cpu_the_device_is_the_processor(folder: Path) -> None:
    """The observed name is the processor's, with torch's build beside it; a python variant needs no torch."""
    facts, names = accelerator_facts("cpu", 1)
    assert names == (cpu_model(),)
    assert facts["torch.version"]
    seen = observe(_variant(workload="python", function="work:go"), folder)
    assert seen.device_names == (cpu_model(),)
    assert "torch.version" not in seen.facts


def test_only_variables_that_change_results_are_looked_at() -> None:
    """A list of names and of beginnings; a token is not on it."""
    variables = {"OMP_NUM_THREADS": "2", "MKL_CBWR": "AVX2", "HF_TOKEN": "x", "MY_MKL_": "1", "PATH": "/bin"}
    assert variable_facts(variables) == {"env.OMP_NUM_THREADS": "2", "env.MKL_CBWR": "AVX2"}


@given(st.lists(st.from_regex(r"(/[a-z]{1,5}){0,3}[a-z]{1,5}", fullmatch=True), min_size=1, max_size=4))
def test_paths_lose_their_folders(parts: list[str]) -> None:
    """No slash is left, and the last part of each path is."""
    cut = without_paths(":".join(parts))
    assert "/" not in cut
    assert cut.split(":") == [part.rsplit("/", 1)[-1] for part in parts]


def test_scrubbing_takes_host_names_as_words_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host called `node` does not take letters out of `nodes`; the campaign folder becomes a dot."""
    monkeypatch.setattr(socket, "gethostname", lambda: "node")
    assert scrubbed(f"node nodes {tmp_path}/x", tmp_path) == "(host) nodes ./x"
