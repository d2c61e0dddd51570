"""Which library brings a model to int8: torchao where it works, else torch's own, and it is told which."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
import torch

from lab.model.manifest import Variant
from lab.workloads.base import WorkloadError
from lab.workloads.quantizing import kind_of, quantized


def _model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).eval()


def _given(model: torch.nn.Module) -> torch.Tensor:
    with torch.inference_mode():
        answer: torch.Tensor = model(torch.linspace(-1, 1, 64).reshape(2, 32))
    return answer


def test_two_keys_ask_for_one_quantization() -> None:
    """`precision = "int8"` alone is the dynamic one; `quantization` says which where it is given."""
    assert kind_of(Variant(id="v")) == "none"
    assert kind_of(Variant(id="v", precision="int8")) == "int8-dynamic"
    assert kind_of(Variant(id="v", precision="int8", quantization="int8-weight-only")) == "int8-weight-only"


@pytest.mark.parametrize("kind", ["int8-dynamic", "torch-int8-dynamic"])
def test_int8_is_near_and_says_who_did_it(kind: str) -> None:
    """Numbers close to those of fp32 and not the same, library and version beside them."""
    facts: dict[str, str] = {}
    expected = _given(_model())
    found = _given(quantized(_model(), Variant(id="v", quantization=kind), facts))
    assert 0 < float((found - expected).abs().max()) < 0.05
    installed = kind == "int8-dynamic" and importlib.util.find_spec("torchao") is not None
    library = "torchao" if installed else "torch"
    assert facts["quantization_used"].startswith(f"{library} {importlib.metadata.version(library).partition('+')[0]}")
    assert "quantization_fallback" not in facts


@pytest.fixture
def broken_torchao(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torchao that was built for another torch: installed, and failing when it is used."""
    broken = ModuleType("torchao")
    broken.__spec__ = ModuleSpec("torchao", None)
    monkeypatch.setitem(sys.modules, "torchao", broken)
    monkeypatch.delitem(sys.modules, "torchao.quantization", raising=False)
    monkeypatch.setattr(importlib.metadata, "version", lambda _name: "0.0")


@pytest.mark.usefixtures("broken_torchao")
def test_a_torchao_that_does_not_fit_is_replaced_in_words() -> None:
    """The model itself was not touched by the attempt, and the fallback is on record."""
    facts: dict[str, str] = {}
    found = _given(quantized(_model(), Variant(id="v", precision="int8"), facts))
    assert torch.allclose(found, _given(_model()), atol=0.05)
    assert facts["quantization_fallback"] == "torchao 0.0: ImportError"
    assert "torch-int8-dynamic" in facts["quantization_used"]


@pytest.mark.usefixtures("broken_torchao")
@pytest.mark.parametrize(
    "settings", [{"quantization": "int8-weight-only"}, {"precision": "bf16"}, {"device": "cuda:0"}]
)
def test_where_no_library_can_the_pass_fails_with_the_reason(settings: dict[str, str]) -> None:
    """Nothing is measured under a name that it does not have."""
    variant = Variant.model_validate({"id": "v", "quantization": "int8-dynamic", **settings})
    with pytest.raises(WorkloadError) as raised:
        quantized(_model(), variant, {})
    assert raised.value.reason.key == "ended.quantization_failed"
    assert raised.value.reason.values["error"] == "torchao 0.0: ImportError"
