"""What stays of a machine without its devices: system, processor, memory, Python's packages, variables that matter."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

from lab.measure.privacy import without_paths

_GIB: Final = 2**30
# Variables that change results or speed; a name that ends in _ stands for all that begin so. No other one is looked at.
_VARIABLES: Final = (
    "ATEN_CPU_CAPABILITY",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "CUDNN_DETERMINISTIC",
    "DNNL_",
    "GLIBC_TUNABLES",
    "HF_HUB_OFFLINE",
    "HIP_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "KMP_",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MALLOC_",
    "MIOPEN_FIND_MODE",
    "MKL_",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_",
    "ONEAPI_DEVICE_SELECTOR",
    "ONEDNN_",
    "OPENBLAS_",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONOPTIMIZE",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_TUNABLEOP_ENABLED",
    "RAYON_NUM_THREADS",
    "ROCR_VISIBLE_DEVICES",
    "TOKENIZERS_PARALLELISM",
    "TORCHDYNAMO_DISABLE",
    "TORCHINDUCTOR_FREEZING",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCH_COMPILE_DISABLE",
    "TRANSFORMERS_OFFLINE",
    "VLLM_ATTENTION_BACKEND",
)
# Whatever list a name is on: what such a variable holds is nobody's business.
_SECRET: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


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
        "cpu.governor": _first_line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "ram.gib": f"{psutil.virtual_memory().total / _GIB:.1f}",
        "ram.limit_gib": _memory_limit(),
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
    """The environment variables that change results, paths in them cut to their last part; never one with a secret."""
    return {
        f"env.{name}": without_paths(value)
        for name, value in variables.items()
        if any(name == one or (one.endswith("_") and name.startswith(one)) for one in _VARIABLES)
        and not any(word in name.upper() for word in _SECRET)
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


def _memory_limit() -> str:
    """The control group's limit in GiB; empty where there is none."""
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _first_line(Path(file))
        if text.isdigit() and int(text) < psutil.virtual_memory().total:
            return f"{int(text) / _GIB:.1f}"
    return ""


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""
