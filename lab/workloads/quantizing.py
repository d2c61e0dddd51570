"""Int8 for a model's linear layers: by torchao where it works with this torch, else by torch's own, and by which."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from typing import Any, Final

from lab.model.manifest import Variant
from lab.workloads.base import WorkloadError

NONE: Final = "none"
DYNAMIC: Final = "int8-dynamic"  # weights and activations; torchao, else torch's own
WEIGHT_ONLY: Final = "int8-weight-only"  # weights; torchao
TORCH_DYNAMIC: Final = "torch-int8-dynamic"  # torch's own, deprecated there, asked for by name
KINDS: Final = (DYNAMIC, WEIGHT_ONLY, TORCH_DYNAMIC)

_CONFIGS: Final = {DYNAMIC: "Int8DynamicActivationInt8WeightConfig", WEIGHT_ONLY: "Int8WeightOnlyConfig"}


def kind_of(variant: Variant) -> str:
    """The quantization that a variant's two keys ask for together: `precision = "int8"` alone is the dynamic one."""
    if variant.quantization != NONE:
        return variant.quantization
    return DYNAMIC if variant.precision == "int8" else NONE


def quantized(model: Any, variant: Variant, facts: dict[str, str]) -> Any:  # noqa: ANN401  (an untyped library's object)
    """The model with its linear layers in int8 as the variant asks, and in `facts` which library did it.

    `facts` is given `quantization_used`, and where torchao is installed and did not work `quantization_fallback`. The
    two libraries differ in speed and in numbers: a campaign that compares them asks for each by its own name.

    Raises:
        WorkloadError: no library here can do what is asked.
    """
    kind = kind_of(variant)
    if kind == NONE:
        return model
    failed = "torchao is not installed"
    if kind in _CONFIGS and importlib.util.find_spec("torchao") is not None:
        sample = next(model.parameters())
        failed = _torchao_fails(kind, sample.dtype, sample.device)
        if not failed:
            return _by_torchao(model, kind, facts)
        facts["quantization_fallback"] = failed
    torch_can = kind != WEIGHT_ONLY and variant.device.startswith("cpu") and variant.precision in {"fp32", "int8"}
    if not torch_can:
        raise WorkloadError("quantization_failed", quantization=kind, error=failed)
    return _by_torch(model, facts)


def _torchao_fails(kind: str, dtype: Any, device: Any) -> str:  # noqa: ANN401  (torch's types)
    """Why torchao cannot do `kind` with this torch, tried on one layer: it changes a model in place. Empty: it can."""
    import torch

    try:
        layer = torch.nn.Sequential(torch.nn.Linear(32, 32)).to(device=device, dtype=dtype)
        with torch.inference_mode():
            _by_torchao(layer, kind, {})(torch.ones(2, 32, device=device, dtype=dtype))
    except Exception as error:  # noqa: BLE001  (whatever a library that does not fit this torch raises)
        return f"torchao {importlib.metadata.version('torchao')}: {type(error).__name__}"
    return ""


def _by_torchao(model: Any, kind: str, facts: dict[str, str]) -> Any:  # noqa: ANN401  (as above)
    from torchao import quantization

    quantization.quantize_(model, getattr(quantization, _CONFIGS[kind])())
    facts["quantization_used"] = f"torchao {importlib.metadata.version('torchao')} {kind}"
    return model


def _by_torch(model: Any, facts: dict[str, str]) -> Any:  # noqa: ANN401  (as above)
    import torch

    with warnings.catch_warnings():  # its deprecation is known: it is why torchao is tried first
        warnings.simplefilter("ignore", DeprecationWarning)
        found = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    facts["quantization_used"] = f"torch {torch.__version__} {TORCH_DYNAMIC} ({torch.backends.quantized.engine})"
    return found
