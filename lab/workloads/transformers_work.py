"""What the workloads through transformers share: read, tokenise, batch, pad, run; each says what its model answers.

torch and transformers are imported when a pass runs, never when this module is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from lab.errors import Fault
from lab.model.manifest import Variant
from lab.workloads.attention import attention_kernel
from lab.workloads.base import Input, Job, Prediction, Scores, Sink, Told, WorkloadError
from lab.workloads.batching import by_budget, by_length, in_order
from lab.workloads.compiling import Compiled
from lab.workloads.loading import PRELOAD, Source, device_of, load_model, load_tokenizer, longest_input, settle
from lab.workloads.refusals import transformer_faults

if TYPE_CHECKING:
    import torch

Encoded = Mapping[str, Sequence[int]]  # one input's numbers by name: input_ids, attention_mask ...
Answers: TypeAlias = "tuple[Sequence[Prediction | None], Sequence[Scores | None] | None]"

_COUNTED = ("truncated_inputs", "padded_batches", "unpadded_batches", "inputs_without_answer")


class TransformersWork(Told, ABC):
    """Reads, tokenises, pads, runs a model, and brings an answer to each input to the host.

    Attributes:
        inference: the module whose calls are the inference part of a pass, for timing by the device's own clock.
    """

    needs: ClassVar[str] = "model"
    preload: ClassVar[tuple[str, ...]] = PRELOAD
    warms_up: ClassVar[bool] = True
    exports: ClassVar[bool] = False

    auto_class: ClassVar[str]  # the name of transformers' class that picks the architecture
    compiles: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = _COUNTED

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """Settings that cannot be had here, paths out of the campaign, packages that are not installed."""
        return transformer_faults(variant, folder, compiles=cls.compiles)

    def prepare(self, job: Job) -> None:
        """Set threads, seed and determinism, load tokenizer and model onto the device, compile where that is asked."""
        self._job = job
        variant = job.variant
        self.facts |= settle(variant, job.seed)
        self._device = device_of(variant)
        source = Source(job.folder, self.durations, self.facts)
        model_at = source.find(variant.model or "", variant.revision)
        tokenizer_at = source.find(variant.tokenizer, variant.tokenizer_revision) if variant.tokenizer else model_at
        self._tokenizer = load_tokenizer(tokenizer_at)
        self._model = load_model(
            model_at, self.auto_class, variant, self._device, facts=self.facts, harmless=self._harmless
        )
        self._learn_model()
        room = self._room()
        self._longest = longest_input(self._tokenizer, self._model, variant.max_length, room)
        self.facts["max_length_used"] = str(self._longest)
        self._start_counting()
        self._compiled: Compiled | None = None
        # Hooks on a module that is compiled would be one more thing to compile: its device time is not taken.
        self.inference = self._model if variant.compile is False else None
        if variant.compile is not False:
            self._compile(str(variant.compile))

    def again(self, job: Job) -> bool:
        """Keep model and tokenizer; the seed is set anew."""
        self._job = job
        self.facts |= settle(job.variant, job.seed)
        return True

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Process the chosen inputs, then a full batch of the longest, a single one, and the size of the last batch."""
        self._process(chosen, Sink(lambda _: None))
        self._every_size(chosen)
        self._start_counting()

    def run_pass(self, sink: Sink) -> None:
        """Process the corpus as it is read; every input that `sink` was given is on the host."""
        self._start_counting()
        self._describe(sink)
        with self._watched():
            self._process(self._job.inputs(), sink)

    def sizes(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, cut at the length in use; nothing is counted."""
        if not texts:
            return []
        found = self._tokenizer(list(texts), truncation=True, max_length=self._longest, padding=False)
        return [len(one) for one in found["input_ids"]]

    def look_back(self) -> None:
        """Run the first batch that was padded, and the first that was not, once more, for the kernel's name."""
        import torch

        for kind, encoded in self._first.items():
            tensors = self._tensors(encoded)
            with torch.inference_mode():
                self.facts[f"attention_kernel_{kind}"] = attention_kernel(partial(self._look, tensors))

    @abstractmethod
    def _answers(self, tensors: dict[str, torch.Tensor]) -> Answers:
        """Run the model on one padded batch; predictions and scores of its inputs, on the host."""

    def _describe(self, sink: Sink) -> None:
        """Tell `sink` what all its answers share, before the first one."""

    def _learn_model(self) -> None:
        """Take from model and tokenizer what the answers need, once both are loaded."""

    def _room(self) -> int:
        """How many of the model's positions an input must leave free."""
        return 0

    def _harmless(self, kind: str, weight: str) -> bool:  # noqa: ARG002  (the workloads' one signature)
        """Whether a weight that is `missing`, `unexpected` or `mismatched` changes nothing in the answers."""
        return False

    def _forward(self, tensors: dict[str, torch.Tensor]) -> Any:  # noqa: ANN401  (an untyped library's output)
        return self._compiled(**tensors) if self._compiled else self._model(**tensors)

    def _look(self, tensors: dict[str, torch.Tensor]) -> None:
        self._forward(tensors)

    def _watched(self) -> AbstractContextManager[None]:
        if self._compiled is None:
            return nullcontext()
        return self._compiled.watched(self.counts, self.facts, forbidden=self._job.recompilations == "fail")

    def _start_counting(self) -> None:
        self.counts = dict.fromkeys(self.counted, 0)
        self._first: dict[str, Sequence[Encoded]] = {}

    def _compile(self, mode: str) -> None:
        """Compile for every size of batch, on the longest text of the corpus: `compile_s`, whatever the warm-up is."""
        compiled = Compiled(self._model, mode, one_width=self._job.variant.padding == "max_length")
        self._compiled = compiled
        longest = max(self._job.inputs(), key=lambda one: len(one[1]), default=None)
        compiled.compile(lambda: self._every_size([longest] if longest else []))
        self.durations["compile_s"] = compiled.seconds
        self._start_counting()

    def _every_size(self, chosen: Sequence[Input]) -> None:
        """Run the longest of `chosen` in a full batch, alone, and in a batch of the size of the last one."""
        if not chosen:
            return
        nowhere = Sink(lambda _: None)
        longest = sorted(chosen, key=lambda one: -len(one[1]))
        size = self._full_batch(longest[0])
        for width in {size, 1, self._job.size % size or size}:
            full = [longest[index % len(longest)] for index in range(width)]
            self._infer([one for one, _ in full], self._encode([text for _, text in full]), nowhere)

    def _full_batch(self, longest: Input) -> int:
        """Inputs in a full batch of texts as long as `longest`."""
        variant = self._job.variant
        if variant.padding != "token-budget":
            return variant.batch_size
        return max(1, (variant.token_budget or 1) // len(self._encode([longest[1]])[0]["input_ids"]))

    def _process(self, inputs: Iterable[Input], sink: Sink) -> None:
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

        kind = "padded" if self._needs_padding(encoded) else "unpadded"
        self.counts[f"{kind}_batches"] += 1
        self._first.setdefault(kind, encoded)
        with torch.inference_mode():
            predictions, scores = self._answers(self._tensors(encoded))
        self.counts["inputs_without_answer"] += sum(one is None for one in predictions)
        sink.add(ids, predictions, scores)

    def _width(self, encoded: Sequence[Encoded]) -> int:
        if self._job.variant.padding == "max_length":
            return self._longest
        return max(len(one["input_ids"]) for one in encoded)

    def _needs_padding(self, encoded: Sequence[Encoded]) -> bool:
        width = self._width(encoded)
        return any(len(one["input_ids"]) < width for one in encoded)

    def _tensors(self, encoded: Sequence[Encoded]) -> dict[str, torch.Tensor]:
        """Tensors of shape (inputs, width) on the device, padded on the tokenizer's own side."""
        import torch

        width = self._width(encoded)
        fill = {"attention_mask": 0, "token_type_ids": getattr(self._tokenizer, "pad_token_type_id", 0)}
        fill["input_ids"] = self._tokenizer.pad_token_id
        if fill["input_ids"] is None and self._needs_padding(encoded):
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
