"""A small text classifier trained from scratch on the CPU, and the tokenizer it reads with.

What comes out is an ordinary local transformers folder: nothing that measures it knows where it came from. torch,
transformers and tokenizers are imported when a function that needs them is called.
"""

from __future__ import annotations

import math
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.workloads.vocabulary import wordpiece_vocabulary

if TYPE_CHECKING:
    import tokenizers
    import torch
    import transformers

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_PAD, _UNK, _CLS, _SEP, _MASK = SPECIAL_TOKENS
_MARKERS = 2  # [CLS] before and [SEP] after each text


@dataclass(frozen=True)
class TextTokenizer:
    """A WordPiece tokenizer: lower case, accents off, words parted at white space and punctuation.

    Attributes:
        backend: the tokenizers library's object.
    """

    backend: tokenizers.Tokenizer

    @property
    def vocabulary(self) -> list[str]:
        """The pieces in the order of their numbers: the special tokens, then the others by code point."""
        numbers: dict[str, int] = self.backend.get_vocab()
        return sorted(numbers, key=numbers.__getitem__)

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text; the markers [CLS] and [SEP] are not counted."""
        # One by one: encode_batch starts threads, and the library then warns at every later fork.
        return [len(self.backend.encode(text, add_special_tokens=False).ids) for text in texts]

    def cut(self, text: str, tokens: int) -> str:
        """The beginning of `text` that holds its first `tokens` tokens (markers not counted); all of a shorter one."""
        encoding = self.backend.encode(text, add_special_tokens=False)
        if len(encoding.ids) <= tokens:
            return text
        return text[: encoding.offsets[tokens - 1][1]] if tokens > 0 else ""


@dataclass(frozen=True)
class Recipe:
    """What is trained, and how. The defaults are the demo's.

    Attributes:
        labels: the classes, in the order of the model's outputs.
        max_tokens: tokens of a text that the model reads; what is longer is cut. The two markers come on top.
        hidden: width of the model; `intermediate` that of its gated feed-forward part.
        layers: number of layers.
        heads: attention heads per layer.
        dropout: of embeddings, feed-forward part and classifier, in training only.
        epochs: passes over the training rows.
        batch_size: texts in a step.
        learning_rate: AdamW's peak rate, reached after a tenth of the steps, then falling to 0 in a straight line.
        weight_decay: AdamW's.
        seed: of the initial weights, the dropout and the order of the batches.
        threads: of torch while training.
    """

    labels: tuple[str, ...]
    max_tokens: int
    hidden: int = 128
    intermediate: int = 256
    layers: int = 1
    heads: int = 2
    dropout: float = 0.1
    epochs: int = 5
    batch_size: int = 32
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    seed: int = 0
    threads: int = 1

    @property
    def max_length(self) -> int:
        """The longest input in tokens, markers included: what a tokenizer is to be given as `max_length`."""
        return self.max_tokens + _MARKERS


@dataclass(frozen=True)
class TrainingReport:
    """What a training did.

    Attributes:
        folder: where the model and its tokenizer are.
        rows: texts trained on.
        parameters: weights of the model, as a count.
        steps: optimiser steps over all epochs.
        losses: mean cross-entropy (nats) of each epoch.
        duration_s: seconds from building the model to the folder in place; imports are not in it.
    """

    folder: Path
    rows: int
    parameters: int
    steps: int
    losses: tuple[float, ...]
    duration_s: float


def build_tokenizer(texts: Iterable[str], size: int = 4000) -> TextTokenizer:
    """Learn a WordPiece tokenizer of at most `size` tokens, the five special ones included.

    The same texts give the same tokenizer in every process and on every machine (see `lab.workloads.vocabulary`).
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    normalizer = normalizers.BertNormalizer(lowercase=True)
    parting = pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for text in texts:
        words.update(word for word, _ in parting.pre_tokenize_str(normalizer.normalize_str(text)))
    learned = wordpiece_vocabulary(words, size - len(SPECIAL_TOKENS))
    numbers = {token: number for number, token in enumerate((*SPECIAL_TOKENS, *learned))}
    backend = Tokenizer(models.WordPiece(numbers, unk_token=_UNK, max_input_chars_per_word=100))
    backend.normalizer = normalizer
    backend.pre_tokenizer = parting
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.TemplateProcessing(
        single=f"{_CLS} $A {_SEP}",
        pair=f"{_CLS} $A {_SEP} $B:1 {_SEP}:1",
        special_tokens=[(_CLS, numbers[_CLS]), (_SEP, numbers[_SEP])],
    )
    backend.add_special_tokens(list(SPECIAL_TOKENS))
    return TextTokenizer(backend)


def train_classifier(
    rows: Sequence[tuple[str, str]],
    tokenizer: TextTokenizer,
    out: Path,
    recipe: Recipe,
    progress: Callable[[str], None] | None = None,
) -> TrainingReport:
    """Train a ModernBERT classifier (Warner et al. 2024, arXiv 2412.13663) from random weights, on the CPU in fp32.

    The folder appears whole or not at all: it is written beside `out` and renamed. What a training that was cut left
    there is removed by the next one. On one machine and one version of torch the same arguments give the same weights.

    Args:
        rows: (text, label), at least one.
        tokenizer: what `build_tokenizer` made.
        out: the folder to make; its parent exists.
        recipe: labels, sizes and schedule.
        progress: called with "1/5", "2/5" ... when an epoch is done.

    Raises:
        ValueError: no rows, or a label that the recipe does not have.
        FileExistsError: `out` is there already.
        FloatingPointError: the loss left the finite numbers.
    """
    numbers = {label: number for number, label in enumerate(recipe.labels)}
    if not rows or not {label for _, label in rows} <= numbers.keys():
        msg = "no rows, or a label that is not in recipe.labels"
        raise ValueError(msg)
    if out.exists():
        raise FileExistsError(out)
    import torch  # noqa: F401  (its import is not training time)
    import transformers  # noqa: F401  (its import is not training time)

    began = time.perf_counter()
    inputs = [_shortened(tokenizer.backend.encode(text).ids, recipe.max_length) for text, _ in rows]
    targets = [numbers[label] for _, label in rows]
    with _torch_alone(recipe):
        model = _new_model(recipe, tokenizer)
        losses, steps = _fit(model, inputs, targets, recipe, progress or (lambda _: None))
    _save(model, tokenizer, recipe, out)
    return TrainingReport(
        folder=out,
        rows=len(rows),
        parameters=sum(weight.numel() for weight in model.parameters()),
        steps=steps,
        losses=losses,
        duration_s=round(time.perf_counter() - began, 6),
    )


@contextmanager
def _torch_alone(recipe: Recipe) -> Iterator[None]:
    """Give the block its seed and threads, and torch its own state back afterwards."""
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        torch.set_num_threads(recipe.threads)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _new_model(recipe: Recipe, tokenizer: TextTokenizer) -> transformers.ModernBertForSequenceClassification:
    from transformers import ModernBertConfig, ModernBertForSequenceClassification

    numbers = {token: tokenizer.backend.token_to_id(token) for token in SPECIAL_TOKENS}
    config = ModernBertConfig(
        vocab_size=tokenizer.backend.get_vocab_size(),
        hidden_size=recipe.hidden,
        intermediate_size=recipe.intermediate,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        max_position_embeddings=recipe.max_length,
        embedding_dropout=recipe.dropout,
        mlp_dropout=recipe.dropout,
        classifier_dropout=recipe.dropout,
        classifier_pooling="mean",
        pad_token_id=numbers[_PAD],
        cls_token_id=numbers[_CLS],
        sep_token_id=numbers[_SEP],
        bos_token_id=numbers[_CLS],
        eos_token_id=numbers[_SEP],
        id2label=dict(enumerate(recipe.labels)),
        label2id={label: number for number, label in enumerate(recipe.labels)},
    )
    config._attn_implementation = "sdpa"  # noqa: SLF001  (the library's own name for the choice before loading)
    return ModernBertForSequenceClassification(config)


def _fit(
    model: transformers.ModernBertForSequenceClassification,
    inputs: Sequence[list[int]],
    targets: Sequence[int],
    recipe: Recipe,
    progress: Callable[[str], None],
) -> tuple[tuple[float, ...], int]:
    """Train in place; return the mean loss of each epoch and the number of steps."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    steps = recipe.epochs * math.ceil(len(inputs) / recipe.batch_size)
    warm_up = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up))
    )
    order = random.Random(recipe.seed)  # noqa: S311  (an order of batches, no secret)
    losses: list[float] = []
    model.train()
    for epoch in range(recipe.epochs):
        total = 0.0
        for batch in _batches([len(tokens) for tokens in inputs], recipe.batch_size, order):
            output = model(
                **_padded([inputs[index] for index in batch], model.config.pad_token_id),
                labels=torch.tensor([targets[index] for index in batch]),
            )
            optimizer.zero_grad()
            output.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += output.loss.item() * len(batch)
        if not math.isfinite(total):
            msg = f"loss of epoch {epoch + 1} is {total}"
            raise FloatingPointError(msg)
        losses.append(total / len(inputs))
        progress(f"{epoch + 1}/{recipe.epochs}")
    model.eval()
    return tuple(losses), steps


def _batches(lengths: Sequence[int], size: int, order: random.Random) -> list[list[int]]:
    """Part the indices into batches of texts of like length, in a random order that `order` decides.

    Shuffled first, so that texts of one length meet others in each epoch.
    """
    indices = list(range(len(lengths)))
    order.shuffle(indices)
    indices.sort(key=lambda index: lengths[index])
    batches = [indices[start : start + size] for start in range(0, len(indices), size)]
    order.shuffle(batches)
    return batches


def _padded(batch: Sequence[list[int]], pad: int) -> dict[str, torch.Tensor]:
    """Token numbers and mask, each (texts, longest), padded on the right."""
    import torch

    longest = max(len(tokens) for tokens in batch)
    return {
        "input_ids": torch.tensor([tokens + [pad] * (longest - len(tokens)) for tokens in batch]),
        "attention_mask": torch.tensor([[1] * len(tokens) + [0] * (longest - len(tokens)) for tokens in batch]),
    }


def _shortened(tokens: list[int], longest: int) -> list[int]:
    """Cut as the saved tokenizer will: the text loses its end, the closing marker stays."""
    return tokens if len(tokens) <= longest else [*tokens[: longest - 1], tokens[-1]]


@contextmanager
def _quiet_bars() -> Iterator[None]:
    """Keep the library's progress bars off the user's screen, and its own setting as it was."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _save(
    model: transformers.ModernBertForSequenceClassification, tokenizer: TextTokenizer, recipe: Recipe, out: Path
) -> None:
    from transformers import PreTrainedTokenizerFast

    part = out.with_name(f".{out.name}.training")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    with _quiet_bars():
        model.save_pretrained(part)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend,
        model_max_length=recipe.max_length,
        pad_token=_PAD,
        unk_token=_UNK,
        cls_token=_CLS,
        sep_token=_SEP,
        mask_token=_MASK,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(part)
    part.replace(out)
