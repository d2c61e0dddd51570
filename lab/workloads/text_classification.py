"""`text-classification`: a transformers sequence classifier over the corpus, one label an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lab.workloads.base import Sink
from lab.workloads.transformers_work import Answers, TransformersWork

if TYPE_CHECKING:
    import torch


class TextClassification(TransformersWork):
    """The label with the highest score, and the scores of all labels as probabilities.

    An input whose scores are no numbers has no answer; it is counted, and acceptance rejects its format.
    """

    name: ClassVar[str] = "text-classification"
    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"

    def _learn_model(self) -> None:
        self._labels = {int(number): label for number, label in self._model.config.id2label.items()}

    def _describe(self, sink: Sink) -> None:
        sink.score_names = tuple(self._labels[number] for number in range(len(self._labels)))

    def _answers(self, tensors: dict[str, torch.Tensor]) -> Answers:
        scores = self._forward(tensors).logits.float().softmax(-1).cpu()
        predictions: list[str | None] = []
        rows: list[list[float] | None] = []
        for best, row in zip(scores.argmax(-1).tolist(), scores.tolist(), strict=True):
            finite = row[best] == row[best]  # only NaN differs from itself
            predictions.append(self._labels[best] if finite else None)
            rows.append(row if finite else None)
        return predictions, rows
