"""What stays of a machine as observed for one variant, by fingerprint. No person, host, home or secret is in it.

Volatile readings (load, clocks, temperature) are not here: they would make every attempt another environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.measure.accelerators import Seen, accelerator_facts
from lab.measure.contents import Contents
from lab.measure.machine import cpu_model, distribution_facts, machine_facts, variable_facts
from lab.measure.privacy import scrubbed
from lab.measure.user_code import git_facts
from lab.model.campaign import Environment
from lab.model.manifest import Variant
from lab.store.environments import fingerprint
from lab.workloads import workload

Probe = Callable[[Variant], Seen]


class Observer:
    """Observes variants on this machine; what is slow is done once and kept in the object."""

    def __init__(self, folder: Path, probe: Probe | None = None) -> None:
        """Take the campaign folder and who asks torch (None: this process does, which imports it)."""
        self._folder = folder
        self._probe = probe or _probe_here
        self._machine: Mapping[str, str] | None = None
        self._seen: dict[tuple[str, int, bool], Seen] = {}
        self.contents = Contents(folder)

    def observe(self, variant: Variant) -> Environment:
        """The environment of `variant` here and now; files that changed since the last call are read again."""
        if self._machine is None:
            self._machine = {**machine_facts(), **distribution_facts()}
        key = (variant.device, variant.devices, accelerator_needed(variant))
        if key not in self._seen:
            self._seen[key] = self._probe(variant)
        seen, names = self._seen[key]
        facts = {
            **self._machine,
            **variable_facts(os.environ),
            **seen,
            **_declared(variant),
            **self.contents.facts(variant),
            **git_facts(variant, self._folder),
        }
        clean = {name: scrubbed(facts[name], self._folder) for name in sorted(facts)}
        return Environment(fingerprint(clean, names), names, clean)


def observe(variant: Variant, folder: Path) -> Environment:
    """Observe one variant from this process; imports torch where the variant's work needs it."""
    return Observer(folder).observe(variant)


def accelerator_needed(variant: Variant) -> bool:
    """Whether torch is to be asked about the variant's device: its work uses torch, or the device is not the CPU."""
    return _uses_torch(variant) or not variant.device.startswith("cpu")


def cpu_only(_variant: Variant) -> Seen:
    """What is seen without torch: the processor's name."""
    return {}, (cpu_model(),)


def _declared(variant: Variant) -> dict[str, str]:
    facts = {"variant.device": variant.device, "variant.devices": str(variant.devices)}
    if _uses_torch(variant):
        facts |= {
            "variant.precision": variant.precision,
            "variant.attention": variant.attention,
            "variant.compile": str(variant.compile).lower() if isinstance(variant.compile, bool) else variant.compile,
            "variant.quantization": variant.quantization,
            "variant.deterministic": str(variant.deterministic).lower(),
        }
    return facts


def _uses_torch(variant: Variant) -> bool:
    return "torch" in workload(variant.workload).preload


def _probe_here(variant: Variant) -> Seen:
    if accelerator_needed(variant):
        return accelerator_facts(variant.device, variant.devices)
    return cpu_only(variant)
