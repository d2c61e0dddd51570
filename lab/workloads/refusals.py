"""What a transformers variant asks that cannot be done here, said by name before the first pass: never replaced."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lab.errors import Fault, LabError, fault
from lab.model.manifest import Variant
from lab.model.names import MANIFEST
from lab.store.files import inside
from lab.workloads.compiling import MODES, NEEDS_GRAPHS
from lab.workloads.quantizing import KINDS, NONE, TORCH_DYNAMIC, WEIGHT_ONLY, kind_of

_HALF: Final = ("bf16", "fp16")
_COMPILERS: Final = ("g++", "c++", "clang++")


def transformer_faults(variant: Variant, folder: Path, *, compiles: bool = True) -> tuple[Fault, ...]:
    """Settings that are unknown or impossible on this machine, paths out of the campaign, packages not installed.

    Nothing is imported for it: what only torch can tell is said when the pass prepares.

    Args:
        variant: what is asked.
        folder: the campaign folder.
        compiles: whether the workload can be compiled at all.
    """
    found = [*_sizes(variant), *_compile(variant, able=compiles), *_quantization(variant), *_attention(variant)]
    for path in (variant.model, variant.tokenizer):
        try:
            inside(folder, path or "", MANIFEST) if path else None
        except LabError as error:
            found.extend(error.faults)
    if not _present("torch", "transformers"):
        found.append(fault("measure-extra-missing"))
    return tuple(found)


def _sizes(variant: Variant) -> Iterator[Fault]:
    if variant.padding == "token-budget" and variant.token_budget is None:
        yield _fault("token-budget-missing", variant, "token_budget")


def _compile(variant: Variant, *, able: bool) -> Iterator[Fault]:
    mode = variant.compile
    if mode is False:
        return
    shown = str(mode).lower() if isinstance(mode, bool) else mode
    if not able:
        yield _fault("setting-unsupported", variant, "compile", key="compile", value=shown)
    elif mode not in MODES:
        yield _fault("compile-mode-unknown", variant, "compile", found=shown, known=["false", *MODES])
    elif _on_cpu(variant) and mode in NEEDS_GRAPHS:
        yield _fault("compile-mode-needs-accelerator", variant, "compile", mode=mode, device=variant.device)
    elif not any(shutil.which(one) for one in (os.environ.get("CXX") or "", *_COMPILERS) if one):
        yield _fault("compiler-missing", variant, "compile", program=_COMPILERS[0])
    elif not _on_cpu(variant) and not _present("triton"):
        yield _fault("compiler-missing", variant, "compile", program="triton")


def _quantization(variant: Variant) -> Iterator[Fault]:
    if variant.quantization not in (NONE, *KINDS):
        found = variant.quantization
        yield _fault("quantization-unknown", variant, "quantization", found=found, known=[NONE, *KINDS])
        return
    kind = kind_of(variant)
    torch_can = _on_cpu(variant) and variant.precision not in _HALF
    needs = kind == WEIGHT_ONLY or (kind != NONE and not torch_can)
    if kind == TORCH_DYNAMIC and not torch_can:
        yield _fault("quantization-cpu-only", variant, "quantization", quantization=kind)
    elif needs and not _present("torchao"):
        key = "precision" if variant.quantization == NONE else "quantization"
        yield _fault("quantization-needs-torchao", variant, key, quantization=kind)


def _attention(variant: Variant) -> Iterator[Fault]:
    if variant.attention != "flash":
        return
    if _on_cpu(variant):
        yield _fault("attention-needs-accelerator", variant, "attention", device=variant.device)
    elif variant.precision not in _HALF:
        yield _fault("attention-needs-half", variant, "attention", precision=variant.precision)
    elif not _present("flash_attn") and not _present("kernels"):
        yield _fault("attention-package-missing", variant, "attention")


def _fault(slug: str, variant: Variant, where: str, /, **facts: object) -> Fault:
    return fault(slug, file=MANIFEST, place=f"variants.{variant.id}.{where}", **facts)


def _on_cpu(variant: Variant) -> bool:
    return variant.device.startswith("cpu")


def _present(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)
