"""What stays of a machine as observed: system, stack, devices, the model's files. No person, host, home or secret.

Volatile readings (load, clocks, temperature) are not here: they would make every attempt another environment.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import psutil

from lab.errors import LabError
from lab.measure.privacy import scrubbed, without_paths
from lab.model.campaign import Environment
from lab.model.manifest import Variant
from lab.store.environments import fingerprint
from lab.store.files import inside, sha256_file
from lab.workloads import workload

Seen = tuple[Mapping[str, str], tuple[str, ...]]  # facts, names of the devices the variant uses
Probe = Callable[[Variant], Seen]

_GIB: Final = 2**30
# Variables that change results or speed; a name that ends in _ stands for all that begin so. No other one is looked at.
_VARIABLES: Final = (
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "MKL_",
    "KMP_",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKENIZERS_PARALLELISM",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUBLAS_WORKSPACE_CONFIG",
    "NVIDIA_TF32_OVERRIDE",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "ONEAPI_DEVICE_SELECTOR",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "PYTHONHASHSEED",
    "LD_PRELOAD",
    "MALLOC_",
)


class Observer:
    """Observes variants on this machine; what is slow is done once and kept in the object."""

    def __init__(self, folder: Path, probe: Probe | None = None) -> None:
        """Take the campaign folder and who asks torch (None: this process does, which imports it)."""
        self._folder = folder
        self._probe = probe or _probe_here
        self._machine: Mapping[str, str] | None = None
        self._seen: dict[tuple[str, int, bool], Seen] = {}
        self._contents: dict[tuple[object, ...], str] = {}

    def observe(self, variant: Variant) -> Environment:
        """The environment of `variant` here and now; files that changed since the last call are read again."""
        if self._machine is None:
            self._machine = {**machine_facts(), **distribution_facts()}
        key = (variant.device, variant.devices, accelerator_needed(variant))
        if key not in self._seen:
            self._seen[key] = self._probe(variant)
        seen, names = self._seen[key]
        facts = {**self._machine, **variable_facts(os.environ), **seen, **self._variant_facts(variant)}
        clean = {name: scrubbed(facts[name], self._folder) for name in sorted(facts)}
        return Environment(fingerprint(clean, names), names, clean)

    def _variant_facts(self, variant: Variant) -> dict[str, str]:
        facts = {"variant.device": variant.device, "variant.devices": str(variant.devices)}
        if _uses_torch(variant):
            facts |= {"variant.precision": variant.precision, "variant.attention": variant.attention}
        if variant.model:
            facts |= self._files("model", variant.model)
            facts |= self._files("tokenizer", variant.tokenizer or variant.model)
        if variant.function:
            module = variant.function.partition(":")[0].replace(".", "/")
            facts |= self._files("function", f"{module}.py")
        return facts

    def _files(self, what: str, name: str) -> dict[str, str]:
        """The content fingerprint of a folder or file of the campaign; nothing where there is none."""
        try:
            path = inside(self._folder, name)
        except LabError:
            return {}
        if not path.exists():
            return {}
        files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
        states = [(one, one.stat()) for one in files]
        key = tuple((str(one), state.st_size, state.st_mtime_ns, state.st_ino) for one, state in states)
        if key not in self._contents:
            digest = hashlib.sha256()
            for one in files:
                digest.update(f"{one.relative_to(path).as_posix()}\0{sha256_file(one)}\n".encode())
            self._contents[key] = digest.hexdigest()
        return {f"{what}.sha256": self._contents[key]}


def observe(variant: Variant, folder: Path) -> Environment:
    """Observe one variant from this process; imports torch where the variant's work needs it."""
    return Observer(folder).observe(variant)


def machine_facts() -> dict[str, str]:
    """Operating system, processor, memory and Python. Memory in GiB, so that a kernel update makes no other machine."""
    facts = {
        "system.os": _os_name(),
        "system.kernel": f"{platform.system()} {platform.release()}",
        "system.machine": platform.machine(),
        "cpu.model": cpu_model(),
        "cpu.cores": str(psutil.cpu_count(logical=False) or ""),
        "cpu.threads": str(psutil.cpu_count() or ""),
        "cpu.usable": str(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else "",
        "cpu.quota": _cpu_quota(),
        "ram.gib": f"{psutil.virtual_memory().total / _GIB:.1f}",
        "python": platform.python_version(),
        "python.implementation": platform.python_implementation(),
    }
    return {name: value for name, value in facts.items() if value}


def distribution_facts() -> dict[str, str]:
    """Version by normalised name of every distribution that Python finds."""
    found: dict[str, str] = {}
    for one in importlib.metadata.distributions():
        name = one.metadata["Name"]
        if name:
            found.setdefault(name.lower().replace("_", "-"), one.version)
    return found


def variable_facts(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that change results, paths in them cut to their last part."""
    return {
        f"env.{name}": without_paths(value)
        for name, value in variables.items()
        if any(name == one or (one.endswith("_") and name.startswith(one)) for one in _VARIABLES)
    }


def cpu_model() -> str:
    """The processor's name as its driver says; its architecture where the system gives no name."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def accelerator_facts(device: str, devices: int) -> Seen:
    """What torch and the driver say of the devices a variant uses; imports torch. Without torch: nothing.

    The names are the driver's own, one per device; a processor's is the model name.
    """
    kind, _, index = device.partition(":")
    names = (cpu_model(),) if kind == "cpu" else ()
    if importlib.util.find_spec("torch") is None:
        return {}, names
    torch = importlib.import_module("torch")
    facts = {
        "torch.version": str(torch.__version__),
        "torch.git": str(torch.version.git_version or ""),
        "torch.cuda": str(torch.version.cuda or ""),
        "torch.hip": str(torch.version.hip or ""),
        "torch.cpu_capability": str(torch.backends.cpu.get_cpu_capability()),
    }
    if torch.accelerator.is_available():
        accelerator = torch.accelerator.current_accelerator().type
        facts |= {
            "accelerator.kind": accelerator,
            "accelerator.count": str(torch.accelerator.device_count()),
            "torch.cudnn": str(torch.backends.cudnn.version() or ""),
            "driver.version": _driver_version(),
        }
        if kind == accelerator:
            module = torch.get_device_module(accelerator)
            first = int(index) if index.isdigit() else torch.accelerator.current_device_index()
            for number in range(first, min(first + devices, torch.accelerator.device_count())):
                properties = module.get_device_properties(number)
                names = (*names, str(properties.name))
                facts |= {
                    f"device.{number}.name": str(properties.name),
                    f"device.{number}.uuid": str(getattr(properties, "uuid", "")),
                    f"device.{number}.memory_bytes": str(getattr(properties, "total_memory", "")),
                }
    return {name: value for name, value in facts.items() if value}, names


def _driver_version() -> str:
    """The driver's version by NVML, where its Python reader is installed; empty elsewhere."""
    if importlib.util.find_spec("pynvml") is None:
        return ""
    nvml = importlib.import_module("pynvml")
    try:
        nvml.nvmlInit()
        version = nvml.nvmlSystemGetDriverVersion()
        nvml.nvmlShutdown()
    except nvml.NVMLError:
        return ""
    return version.decode() if isinstance(version, bytes) else str(version)


def accelerator_needed(variant: Variant) -> bool:
    """Whether torch is to be asked about the variant's device: its work uses torch, or the device is not the CPU."""
    return _uses_torch(variant) or not variant.device.startswith("cpu")


def _uses_torch(variant: Variant) -> bool:
    return "torch" in workload(variant.workload).preload


def cpu_only(_variant: Variant) -> Seen:
    """What is seen without torch: the processor's name."""
    return {}, (cpu_model(),)


def _probe_here(variant: Variant) -> Seen:
    if accelerator_needed(variant):
        return accelerator_facts(variant.device, variant.devices)
    return cpu_only(variant)


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def _cpu_quota() -> str:
    """The control group's limit in processors, such as `1.5`; empty where there is none."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return "" if quota == "max" else f"{int(quota) / int(period):g}"
    except (OSError, ValueError):
        return ""
