"""`embedding`: a transformers encoder over the corpus, one vector an input."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, ClassVar

from lab.workloads.transformers_work import Answers, TransformersWork

if TYPE_CHECKING:
    import torch


class Embedding(TransformersWork):
    """The last hidden states of an input pooled into one vector, of length 1 unless `normalize = false`.

    `pooling` is the mean over the input's tokens (the default), the first token or the last; padding never counts. The
    prediction is the vector as the text of a JSON array, to six significant digits, so that a reference vector can
    stand in the corpus in the same form. It is compared by cosine (`mean_cosine`, `reference_cosine`), never by
    equality.
    """

    name: ClassVar[str] = "embedding"
    owns: ClassVar[tuple[str, ...]] = ("pooling", "normalize")
    auto_class: ClassVar[str] = "AutoModel"

    def _learn_model(self) -> None:
        variant = self._job.variant
        self._pooling = variant.pooling or "mean"
        self._normalize = variant.normalize is not False
        self.facts |= {"pooling": self._pooling, "normalize": str(self._normalize).lower()}

    def _harmless(self, kind: str, weight: str) -> bool:
        """A head of its own that the checkpoint has beside the encoder, or an encoder's pooler, which is not used."""
        return kind == "unexpected" or "pooler." in weight

    def _answers(self, tensors: dict[str, torch.Tensor]) -> Answers:
        from torch.nn.functional import normalize

        vectors = self._pooled(self._forward(tensors).last_hidden_state, tensors["attention_mask"]).float()
        if self._normalize:
            vectors = normalize(vectors, dim=-1)
        vectors = vectors.cpu()
        finite = vectors.isfinite().all(-1).tolist()
        rows = zip(vectors.tolist(), finite, strict=True)
        return [array("f", row) if whole else None for row, whole in rows], None

    def _pooled(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(inputs, width, size) and (inputs, width) to (inputs, size)."""
        import torch

        if self._pooling == "mean":
            weights = mask.unsqueeze(-1).float()
            return (states.float() * weights).sum(1) / weights.sum(1).clamp(min=1)
        places = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
        if self._pooling == "cls":
            chosen = places.masked_fill(mask == 0, mask.shape[1] - 1).amin(1)
        else:
            chosen = places.masked_fill(mask == 0, 0).amax(1)
        return states[torch.arange(len(states), device=states.device), chosen]
