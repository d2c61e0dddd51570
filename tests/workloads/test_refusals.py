"""What a transformers variant cannot have on this machine is refused by key, before any pass."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab.model.manifest import Variant
from lab.workloads import WORKLOADS, declaration_faults
from lab.workloads.embedding import Embedding
from lab.workloads.generation import Generation
from lab.workloads.text_classification import TextClassification

HERE = "models/tiny"


def _faults(folder: Path, **settings: object) -> list[tuple[str, str]]:
    variant = Variant.model_validate({"id": "v", "model": HERE, **settings})
    return [
        (one.slug, (one.place or "").removeprefix("variants.v.")) for one in TextClassification.check(variant, folder)
    ]


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has torch and transformers, and no other library of theirs."""
    found = importlib.util.find_spec
    extras = {"torchao", "triton", "flash_attn", "kernels"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in extras else found(name, *rest))


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"padding": "token-budget"}, ("token-budget-missing", "token_budget")),
        ({"compile": True}, ("compile-mode-unknown", "compile")),
        ({"compile": "fastest"}, ("compile-mode-unknown", "compile")),
        ({"compile": "reduce-overhead"}, ("compile-mode-needs-accelerator", "compile")),
        ({"compile": "default", "device": "cuda:0"}, ("compiler-missing", "compile")),
        ({"quantization": "int4"}, ("quantization-unknown", "quantization")),
        ({"quantization": "int8-weight-only"}, ("quantization-needs-torchao", "quantization")),
        ({"quantization": "int8-dynamic", "precision": "bf16"}, ("quantization-needs-torchao", "quantization")),
        ({"precision": "int8", "device": "cuda:0"}, ("quantization-needs-torchao", "precision")),
        ({"quantization": "torch-int8-dynamic", "precision": "fp16"}, ("quantization-cpu-only", "quantization")),
        ({"attention": "flash"}, ("attention-needs-accelerator", "attention")),
        ({"attention": "flash", "device": "cuda:0"}, ("attention-needs-half", "attention")),
        (
            {"attention": "flash", "device": "cuda:0", "precision": "bf16"},
            ("attention-package-missing", "attention"),
        ),
    ],
)
def test_a_setting_that_cannot_be_had_here_is_refused_at_its_key(
    tmp_path: Path, settings: dict[str, Any], expected: tuple[str, str]
) -> None:
    """One fault, at the key that would have to change; never another setting in its place."""
    assert _faults(tmp_path, **settings) == [expected]


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    "settings",
    [{}, {"precision": "int8"}, {"quantization": "torch-int8-dynamic"}, {"precision": "fp16", "attention": "eager"}],
)
def test_what_can_be_had_is_not_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    """No fault where there is none."""
    assert _faults(tmp_path, **settings) == []


def test_without_a_compiler_nothing_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch would fail in the middle of the first pass."""
    assert _faults(tmp_path, compile="default") == ([] if shutil.which("g++") else [("compiler-missing", "compile")])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert _faults(tmp_path, compile="default") == [("compiler-missing", "compile")]


def test_a_model_outside_the_campaign_is_refused(tmp_path: Path) -> None:
    """Model and tokenizer are looked for inside the folder only."""
    found = TextClassification.check(Variant(id="v", model="../a", tokenizer="/b"), tmp_path)
    assert len(found) == 2


def test_a_generation_needs_its_limit_and_is_not_compiled(tmp_path: Path) -> None:
    """The size of the work is declared; a compiled decoder is not in this release."""
    found = Generation.check(Variant(id="v", model=HERE, compile="default"), tmp_path)
    assert [one.slug for one in found] == ["setting-unsupported", "manifest-workload-needs"]
    assert found[-1].values["name"] == "max_new_tokens"
    assert Generation.check(Variant(id="v", model=HERE, max_new_tokens=4), tmp_path) == ()
    assert Embedding.check(Variant(id="v", model=HERE), tmp_path) == ()


def test_a_setting_of_another_workload_is_no_setting_of_this_one() -> None:
    """A key that would change nothing is refused, with the workload that it belongs to."""
    values = {"shell": True, "predictions_format": "csv", "pooling": "cls", "normalize": False}
    values |= {"max_new_tokens": 3, "temperature": 0.5}
    assert {key for one in WORKLOADS for key in one.owns} == set(values)
    for owner in WORKLOADS:
        for key in owner.owns:
            own = Variant(id="v", workload=owner.name, model=HERE, command=("x",), **{key: values[key]})
            assert declaration_faults([own]) == ()
            (found,) = declaration_faults([Variant(id="v", model=HERE, **{key: values[key]})])
            assert (found.slug, found.place) == ("setting-of-another-workload", f"variants.v.{key}")
            assert found.values["owner"] == owner.name
