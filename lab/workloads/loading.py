"""What a transformers pass has before it begins: settings of the process, a device, a tokenizer, a model."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from lab.model.manifest import Variant
from lab.model.names import MANIFEST
from lab.store.files import inside
from lab.workloads.base import WorkloadError
from lab.workloads.quantizing import quantized

# transformers imports these only while the first model loads: 1.4 s that would be in every attempt's `load_s`.
PRELOAD: Final = (
    "torch",
    "transformers",
    "transformers.modeling_utils",
    "transformers.modeling_layers",
    "transformers.masking_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.tokenization_utils_tokenizers",
)
_DTYPES: Final = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "int8": "float32"}
_ATTENTION: Final = {"eager": "eager", "sdpa": "sdpa", "flash": "flash_attention_2"}
_HUB_FILES: Final = ("*.json", "*.txt", "*.model", "*.safetensors")
_NO_LIMIT: Final = 1_000_000  # a tokenizer without a limit of its own says a number far above any real one


def settle(variant: Variant, seed: int) -> dict[str, str]:
    """Set what decides results and speed: threads, seed, deterministic kernels. Before the device is first used.

    Returns:
        What was set, as facts of the run.
    """
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if variant.threads > 1 else "false"
    os.environ["RAYON_NUM_THREADS"] = str(variant.threads)
    torch.set_num_threads(variant.threads)
    random.seed(seed)
    torch.manual_seed(seed)
    if variant.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        torch.use_deterministic_algorithms(mode=True)
    return {
        "threads": str(torch.get_num_threads()),
        "seed": str(seed),
        "deterministic_algorithms": str(torch.are_deterministic_algorithms_enabled()).lower(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
    }


def device_of(variant: Variant) -> Any:  # noqa: ANN401  (torch.device)
    """The variant's device; raises `WorkloadError` when the machine has none, or none that knows the precision."""
    import torch

    name = variant.device
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise WorkloadError("device_missing", device=name) from error
    if device.type != "cpu":
        present = torch.accelerator.is_available() and torch.accelerator.current_accelerator()
        if not present or present.type != device.type or (device.index or 0) >= torch.accelerator.device_count():
            raise WorkloadError("device_missing", device=name)
        torch.accelerator.set_device_index(device.index or 0)
    emulated = device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False)
    if variant.precision == "bf16" and emulated:
        raise WorkloadError("precision_unavailable", precision=variant.precision, device=name)
    return device


class Source:
    """Where a campaign's models come from: its own folder, else the hub, whose download is timed apart."""

    def __init__(self, folder: Path, durations: dict[str, float], facts: dict[str, str]) -> None:
        """Take the campaign folder, and the places that download time and hub revisions are told in."""
        self._folder = folder
        self._durations = durations
        self._facts = facts

    def find(self, name: str, revision: str | None) -> str:
        """The local folder of a model or tokenizer; raises `WorkloadError` where there is none."""
        local = inside(self._folder, name, MANIFEST)
        if local.is_dir():
            return str(local)
        first = inside(self._folder, name.partition("/")[0], MANIFEST)
        if first.exists() or name.count("/") > 1:  # a path of this campaign, and no name of the hub's
            raise WorkloadError("model_missing", model=name)
        from huggingface_hub import snapshot_download

        began = time.perf_counter()
        try:
            found = snapshot_download(name, revision=revision, allow_patterns=list(_HUB_FILES))
        except (OSError, ValueError) as error:
            raise WorkloadError("model_missing", model=name) from error
        seconds = self._durations.get("download_s", 0.0) + time.perf_counter() - began
        self._durations["download_s"] = round(seconds, 6)
        self._facts[f"hub_revision {name}"] = Path(found).name
        return str(found)


def load_tokenizer(at: str) -> Any:  # noqa: ANN401  (an untyped library's object)
    """The tokenizer in the folder `at`; raises `WorkloadError` where it cannot be read."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(at, local_files_only=True)
    except (OSError, ValueError) as error:
        raise WorkloadError("tokenizer_unreadable", error=type(error).__name__) from error


def load_model(  # noqa: PLR0913  (what is loaded, how, where to, and what is told of it)
    at: str,
    auto_class: str,
    variant: Variant,
    device: Any,  # noqa: ANN401  (torch.device)
    *,
    facts: dict[str, str],
    harmless: Callable[[str, str], bool] = lambda _kind, _weight: False,
) -> Any:  # noqa: ANN401  (an untyped library's object)
    """The model in the folder `at` on the device, in the variant's precision, attention and quantization.

    Args:
        at: the folder.
        auto_class: the name of transformers' class that picks the architecture.
        variant: the settings.
        device: where the model goes.
        facts: is told what was loaded.
        harmless: whether a weight that is (kind) `missing`, `unexpected` or `mismatched` changes nothing in the pass.

    Raises:
        WorkloadError: it cannot be read, its weights do not fit, or a setting is not available here.
    """
    import torch
    import transformers

    try:
        model, info = getattr(transformers, auto_class).from_pretrained(
            at,
            dtype=getattr(torch, _DTYPES[variant.precision]),
            attn_implementation=_ATTENTION[variant.attention],
            output_loading_info=True,
            local_files_only=True,
        )
    except ImportError as error:
        raise WorkloadError("attention_unavailable", attention=variant.attention) from error
    except (OSError, ValueError) as error:
        raise WorkloadError("model_unreadable", error=type(error).__name__) from error
    _check_weights(info, harmless)
    facts |= {
        "model_class": type(model).__name__,
        "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
        "attention_asked": variant.attention,
        "attention_configured": str(getattr(model.config, "_attn_implementation", "")),
    }
    own = getattr(model.config, "quantization_config", None)
    if own is not None:
        facts["checkpoint_quantization"] = str(getattr(own, "quant_method", type(own).__name__))
    return quantized(model.eval().to(device), variant, facts)


def _check_weights(info: Mapping[str, Iterable[object]], harmless: Callable[[str, str], bool]) -> None:
    """Refuse a model that would run with random weights, or without some of its own."""
    strays = sorted(
        str(one)
        for kind in ("missing", "unexpected", "mismatched")
        for one in info[f"{kind}_keys"]
        if not harmless(kind, str(one))
    )
    if strays:
        raise WorkloadError("weights_do_not_fit", count=len(strays), first=strays[0])


def longest_input(tokenizer: Any, model: Any, wanted: int, room: int = 0) -> int:  # noqa: ANN401  (untyped library objects)
    """Tokens of the longest input: `wanted`, or less where tokenizer or model allow less; `room` is kept for answers.

    Raises:
        WorkloadError: nothing is left for the input.
    """
    positions = getattr(model.config, "max_position_embeddings", None)
    limits = (getattr(tokenizer, "model_max_length", None), positions and positions - room)
    longest: int = min(wanted, *(one for one in limits if one is not None and one < _NO_LIMIT))
    if longest < 1:
        raise WorkloadError("no_room_for_input", positions=positions, room=room)
    return longest
