"""What a pass does: one file a workload, one line in `WORKLOADS`. Importing this imports no model library."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lab.errors import Fault, fault
from lab.model.manifest import Variant
from lab.workloads.base import Workload
from lab.workloads.command import Command
from lab.workloads.embedding import Embedding
from lab.workloads.generation import Generation
from lab.workloads.python_function import PythonFunction
from lab.workloads.text_classification import TextClassification

# Kinds of device that torch knows by name, and that a pass can run on; ROCm's cards are `cuda` too.
_DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "npu", "xla", "maia", "ipu")
_DEVICE = re.compile(rf"({'|'.join(_DEVICES)})(:\d{{1,3}})?")

WORKLOADS: tuple[type[Workload], ...] = (TextClassification, Embedding, Generation, PythonFunction, Command)


def workload(name: str) -> type[Workload]:
    """The workload that a variant's `workload` names. Raises KeyError for a name that is not in `WORKLOADS`."""
    for one in WORKLOADS:
        if one.name == name:
            return one
    raise KeyError(name)


def declaration_faults(variants: Iterable[Variant]) -> tuple[Fault, ...]:
    """What is wrong with the workloads of `variants` on any machine: unknown, lacking a key, or with another's."""
    known = {one.name: one.needs for one in WORKLOADS}
    faults = []
    for variant in variants:
        place = f"variants.{variant.id}"
        if not _DEVICE.fullmatch(variant.device):
            faults.append(fault("device-unknown", file="manifest.toml", place=f"{place}.device", found=variant.device))
        needs = known.get(variant.workload)
        if needs is None:
            faults.append(
                fault("workload-unknown", file="manifest.toml", place=place, found=variant.workload, known=list(known))
            )
        elif not getattr(variant, needs):
            faults.append(
                fault(
                    "manifest-workload-needs", file="manifest.toml", place=place, workload=variant.workload, name=needs
                )
            )
        faults += [
            fault(
                "setting-of-another-workload",
                file="manifest.toml",
                place=f"{place}.{key}",
                key=key,
                workload=variant.workload,
                owner=one.name,
            )
            for one in WORKLOADS
            if one.name != variant.workload
            for key in one.owns
            if needs is not None and getattr(variant, key) is not None
        ]
    return tuple(faults)
