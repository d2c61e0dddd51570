"""`text-classification`: a transformers sequence classifier over the corpus, one label an input.

torch and transformers are imported when a pass runs, never when this module is read.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lab.errors import Fault, LabError, fault
from lab.model.manifest import Variant
from lab.store.files import inside
from lab.workloads.base import Input, Job, Sink, Told, WorkloadError
from lab.workloads.batching import by_budget, by_length, in_order

if TYPE_CHECKING:
    import torch

_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "int8": "float32"}
_ATTENTION = {"eager": "eager", "sdpa": "sdpa", "flash": "flash_attention_2"}
_HUB_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
# transformers imports these only while the first model loads: 1.4 s that would be in every attempt's `load_s`.
_LAZY = (
    "torch",
    "transformers",
    "transformers.modeling_utils",
    "transformers.modeling_layers",
    "transformers.masking_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.tokenization_utils_tokenizers",
)
_NO_LIMIT = 1_000_000  # a tokenizer without a limit of its own says a number far above any real one

Encoded = Mapping[str, Sequence[int]]  # one input's numbers by name: input_ids, attention_mask ...


class TextClassification(Told):
    """Reads, tokenises, pads, runs the model, and brings label and scores of each input to the host."""

    name: ClassVar[str] = "text-classification"
    needs: ClassVar[str] = "model"
    preload: ClassVar[tuple[str, ...]] = _LAZY
    warms_up: ClassVar[bool] = True
    exports: ClassVar[bool] = False

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """Settings that this release does not run, paths out of the campaign, packages that are not installed."""
        place = f"variants.{variant.id}"
        found: list[Fault] = []
        for key, value, supported in (
            ("compile", variant.compile, variant.compile is False),
            ("quantization", variant.quantization, variant.quantization == "none"),
            ("devices", variant.devices, variant.devices == 1),
        ):
            if not supported:
                shown = str(value).lower() if isinstance(value, bool) else str(value)
                found.append(
                    fault("setting-unsupported", file="manifest.toml", place=f"{place}.{key}", key=key, value=shown)
                )
        if variant.precision == "int8" and not variant.device.startswith("cpu"):
            found.append(
                fault("precision-unsupported", file="manifest.toml", place=f"{place}.precision", device=variant.device)
            )
        if variant.padding == "token-budget" and variant.token_budget is None:
            found.append(fault("token-budget-missing", file="manifest.toml", place=f"{place}.token_budget"))
        for path in (variant.model, variant.tokenizer):
            try:
                inside(folder, path or "", "manifest.toml") if path else None
            except LabError as error:
                found.extend(error.faults)
        if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
            found.append(fault("measure-extra-missing"))
        return tuple(found)

    def prepare(self, job: Job) -> None:
        """Set threads, seed and determinism, then load tokenizer and model onto the device."""
        import torch
        import transformers

        self._job = job
        variant = job.variant
        transformers.utils.logging.disable_progress_bar()
        _settle(torch, variant, job.seed)
        self._device = _device(torch, variant.device)
        model_at = self._resolve(variant.model or "", variant.revision)
        tokenizer_at = self._resolve(variant.tokenizer, variant.tokenizer_revision) if variant.tokenizer else model_at
        self._tokenizer = self._load_tokenizer(tokenizer_at)
        self._model = self._load_model(model_at)
        limits = (
            getattr(self._tokenizer, "model_max_length", None),
            getattr(self._model.config, "max_position_embeddings", None),
        )
        self._longest: int = min(variant.max_length, *(one for one in limits if one and 0 < one < _NO_LIMIT))
        self._labels = {int(number): label for number, label in self._model.config.id2label.items()}
        self._reset_counts()
        self.facts |= {
            "model_class": type(self._model).__name__,
            "attention_asked": variant.attention,
            "attention_configured": str(getattr(self._model.config, "_attn_implementation", "")),
            "max_length_used": str(self._longest),
            "threads": str(torch.get_num_threads()),
            "seed": str(job.seed),
        }

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Process the chosen inputs, then a full batch of the longest, a single one, and the size of the last batch."""
        nowhere = Sink(lambda _: None)
        self._process(chosen, nowhere)
        if chosen:
            longest = sorted(chosen, key=lambda one: -len(one[1]))
            size = self._job.variant.batch_size
            for width in {size, 1, self._job.size % size or size}:
                full = [longest[index % len(longest)] for index in range(width)]
                encoded = self._encode([text for _, text in full])
                self._infer([one for one, _ in full], encoded, nowhere)
        self._reset_counts()

    def run_pass(self, sink: Sink) -> None:
        """Process the corpus as it is read; every input that `sink` was given is on the host."""
        sink.score_names = tuple(self._labels[number] for number in range(len(self._labels)))
        self._process(self._job.inputs(), sink)

    def _process(self, inputs: Iterator[Input] | Sequence[Input], sink: Sink) -> None:
        variant = self._job.variant
        if variant.padding in {"longest", "max_length"}:
            for batch in in_order(inputs, variant.batch_size):
                self._infer([one for one, _ in batch], self._encode([text for _, text in batch]), sink)
            return
        rows = list(inputs)
        encoded = self._encode([text for _, text in rows])
        lengths = [len(one["input_ids"]) for one in encoded]
        groups = (
            by_length(lengths, variant.batch_size)
            if variant.padding == "sorted"
            else by_budget(lengths, variant.token_budget or 1)
        )
        for group in groups:
            self._infer([rows[index][0] for index in group], [encoded[index] for index in group], sink)

    def _encode(self, texts: list[str]) -> list[Encoded]:
        """Token numbers of each text, cut at the length in use; what was cut is counted."""
        if not texts:
            return []
        found = self._tokenizer(texts, truncation=True, max_length=self._longest, padding=False)
        for index, numbers in enumerate(found["input_ids"]):
            if len(numbers) == self._longest and self._was_cut(found, index, texts[index]):
                self.counts["truncated_inputs"] += 1
        names = [name for name in found if name in {"input_ids", "attention_mask", "token_type_ids"}]
        return [{name: found[name][index] for name in names} for index in range(len(texts))]

    def _was_cut(self, found: Any, index: int, text: str) -> bool:  # noqa: ANN401  (the tokenizer's own type)
        if found.encodings:
            rest: list[object] = found.encodings[index].overflowing
            return bool(rest)
        whole: list[int] = self._tokenizer(text, truncation=False)["input_ids"]
        return len(whole) > self._longest

    def _infer(self, ids: Sequence[str], encoded: Sequence[Encoded], sink: Sink) -> None:
        import torch

        with torch.inference_mode():
            output = self._model(**self._padded(encoded))
            scores = output.logits.float().softmax(-1).cpu()
        predictions: list[str | None] = []
        rows: list[list[float] | None] = []
        for best, row in zip(scores.argmax(-1).tolist(), scores.tolist(), strict=True):
            finite = row[best] == row[best]  # only NaN differs from itself
            self.counts["inputs_without_answer"] += not finite
            predictions.append(self._labels[best] if finite else None)
            rows.append(row if finite else None)
        sink.add(ids, predictions, rows)

    def _padded(self, encoded: Sequence[Encoded]) -> dict[str, torch.Tensor]:
        """Tensors of shape (inputs, width) on the device, padded on the tokenizer's own side."""
        import torch

        width = max(len(one["input_ids"]) for one in encoded)
        if self._job.variant.padding == "max_length":
            width = self._longest
        needs_padding = any(len(one["input_ids"]) < width for one in encoded)
        self.counts["padded_batches" if needs_padding else "unpadded_batches"] += 1
        fill = {"attention_mask": 0, "token_type_ids": getattr(self._tokenizer, "pad_token_type_id", 0)}
        fill["input_ids"] = self._tokenizer.pad_token_id
        if needs_padding and fill["input_ids"] is None:
            raise WorkloadError("no_padding_token")
        left = self._tokenizer.padding_side == "left"
        tensors: dict[str, torch.Tensor] = {}
        for name in encoded[0]:
            rows = []
            for one in encoded:
                space = [fill[name]] * (width - len(one[name]))
                rows.append([*space, *one[name]] if left else [*one[name], *space])
            tensors[name] = torch.tensor(rows).to(self._device)
        return tensors

    def _resolve(self, name: str, revision: str | None) -> str:
        """The local folder of a model: inside the campaign, else fetched from the hub, which is timed as download."""
        local = inside(self._job.folder, name, "manifest.toml")
        if local.is_dir():
            return str(local)
        first = inside(self._job.folder, name.partition("/")[0], "manifest.toml")
        if first.exists() or name.count("/") > 1:  # a path of this campaign, and no name of the hub's
            raise WorkloadError("model_missing", model=name)
        from huggingface_hub import snapshot_download

        began = time.perf_counter()
        try:
            found = snapshot_download(name, revision=revision, allow_patterns=list(_HUB_FILES))
        except (OSError, ValueError) as error:
            raise WorkloadError("model_missing", model=name) from error
        seconds = self.durations.get("download_s", 0.0) + time.perf_counter() - began
        self.durations["download_s"] = round(seconds, 6)
        self.facts[f"hub_revision {name}"] = Path(found).name
        return str(found)

    def _load_tokenizer(self, at: str) -> Any:  # noqa: ANN401  (an untyped library's object)
        from transformers import AutoTokenizer

        try:
            return AutoTokenizer.from_pretrained(at, local_files_only=True)
        except (OSError, ValueError) as error:
            raise WorkloadError("tokenizer_unreadable", error=type(error).__name__) from error

    def _load_model(self, at: str) -> Any:  # noqa: ANN401  (an untyped library's object)
        import torch
        from transformers import AutoModelForSequenceClassification

        variant = self._job.variant
        try:
            model, info = AutoModelForSequenceClassification.from_pretrained(
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
        strays = sorted({str(one) for kind in ("missing", "unexpected", "mismatched") for one in info[f"{kind}_keys"]})
        if strays:
            raise WorkloadError("weights_do_not_fit", count=len(strays), first=strays[0])
        model = model.eval()
        if variant.precision == "int8":
            model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
            self.facts["quantization_used"] = "torch.ao dynamic int8, linear layers"
        return model.to(self._device)

    def _reset_counts(self) -> None:
        names = ("truncated_inputs", "padded_batches", "unpadded_batches", "inputs_without_answer")
        self.counts = dict.fromkeys(names, 0)


def _settle(torch_module: Any, variant: Variant, seed: int) -> None:  # noqa: ANN401  (the module torch)
    """Set what decides results and speed: threads, seed, deterministic kernels. Before the device is first used."""
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if variant.threads > 1 else "false"
    os.environ["RAYON_NUM_THREADS"] = str(variant.threads)
    torch_module.set_num_threads(variant.threads)
    random.seed(seed)
    torch_module.manual_seed(seed)
    if variant.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch_module.backends.cudnn.benchmark = False
        torch_module.use_deterministic_algorithms(mode=True)


def _device(torch_module: Any, name: str) -> Any:  # noqa: ANN401  (torch.device)
    """The device of that name; raises `WorkloadError` when the machine has none."""
    try:
        device = torch_module.device(name)
    except RuntimeError as error:
        raise WorkloadError("device_missing", device=name) from error
    if device.type != "cpu":
        present = torch_module.accelerator.is_available() and torch_module.accelerator.current_accelerator()
        if not present or present.type != device.type or (device.index or 0) >= torch_module.accelerator.device_count():
            raise WorkloadError("device_missing", device=name)
        torch_module.accelerator.set_device_index(device.index or 0)
    return device
