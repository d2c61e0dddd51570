"""`generation`: a transformers language model over the corpus, one text an input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lab.errors import Fault, fault
from lab.model.manifest import Variant
from lab.model.names import MANIFEST
from lab.workloads.base import Sink
from lab.workloads.transformers_work import Answers, TransformersWork

if TYPE_CHECKING:
    import torch


class Generation(TransformersWork):
    """What the model writes after the input: at most `max_new_tokens`, greedy unless `temperature` is given.

    Inputs are padded on the left, so that all continue at the same place. A sampled pass draws from the attempt's seed,
    set anew at its start. The prediction is the new text without special tokens and without white space at its ends.
    """

    name: ClassVar[str] = "generation"
    owns: ClassVar[tuple[str, ...]] = ("max_new_tokens", "temperature")
    auto_class: ClassVar[str] = "AutoModelForCausalLM"
    compiles: ClassVar[bool] = False
    counted: ClassVar[tuple[str, ...]] = (*TransformersWork.counted, "generated_tokens", "answers_at_token_limit")

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """Without a limit of new tokens the work has no size: it must be declared."""
        found = super().check(variant, folder)
        if variant.max_new_tokens is not None:
            return found
        place, facts = f"variants.{variant.id}", {"workload": cls.name, "name": "max_new_tokens"}
        return (*found, fault("manifest-workload-needs", file=MANIFEST, place=place, **facts))

    def _room(self) -> int:
        return self._job.variant.max_new_tokens or 0

    def _learn_model(self) -> None:
        tokenizer, ends = self._tokenizer, self._model.generation_config.eos_token_id
        tokenizer.padding_side = "left"
        self._ends = frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])
        if tokenizer.pad_token_id is None and self._ends:
            tokenizer.pad_token_id = min(self._ends)  # hidden by the mask, so that which one it is changes nothing
        temperature = self._job.variant.temperature
        self._drawing: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if temperature is not None:
            self._drawing = {"do_sample": True, "temperature": temperature}
        self.facts["decoding"] = "greedy" if temperature is None else f"sampled, temperature {temperature:g}"

    def _describe(self, sink: Sink) -> None:
        import torch

        super()._describe(sink)
        torch.manual_seed(self._job.seed)

    def _answers(self, tensors: dict[str, torch.Tensor]) -> Answers:
        limit = self._job.variant.max_new_tokens or 1
        rows = self._generated(tensors, limit)[:, tensors["input_ids"].shape[1] :].cpu().tolist()
        for row in rows:
            stop = next((place for place, token in enumerate(row, start=1) if token in self._ends), None)
            self.counts["generated_tokens"] += stop or len(row)
            self.counts["answers_at_token_limit"] += stop is None
        texts = self._tokenizer.batch_decode(rows, skip_special_tokens=True)
        return [text.strip() for text in texts], None

    def _generated(self, tensors: dict[str, torch.Tensor], limit: int) -> Any:  # noqa: ANN401  (an untyped library's output)
        return self._model.generate(
            **{name: tensors[name] for name in ("input_ids", "attention_mask")},
            max_new_tokens=limit,
            num_beams=1,
            pad_token_id=self._tokenizer.pad_token_id,
            **self._drawing,
        )

    def _look(self, tensors: dict[str, torch.Tensor]) -> None:
        """Two tokens: the input is read with one kernel, and what follows may be with another."""
        self._generated(tensors, min(2, self._job.variant.max_new_tokens or 1))
