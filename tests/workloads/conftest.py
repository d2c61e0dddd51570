"""A tiny real classifier and a corpus for it: what the workloads are tested with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from lab.model.manifest import CorpusSpec, Variant
from lab.workloads.base import Job

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "alpha", "beta", "gamma", "delta", "élan")
TEXTS = tuple(" ".join(WORDS[4 + (number * step) % 5] for step in range(number % 9 + 1)) for number in range(23))


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    """What a workload sets for its process stays in its test: here they share one."""
    variables, threads = dict(os.environ), torch.get_num_threads()
    yield
    os.environ.clear()
    os.environ.update(variables)
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def campaign_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign folder with `models/tiny` (BERT, 2 layers, 2 labels, 12 tokens at most) and `corpus.jsonl`."""
    folder = tmp_path_factory.mktemp("campaign")
    rows = [{"id": f"{number:03}", "text": text} for number, text in enumerate(TEXTS)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    backend = Tokenizer(models.WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token=WORDS[1]))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=12, **names)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=12,
        initializer_range=0.5,  # from random weights, and yet not the same answer to every text
        id2label={0: "non", 1: "sì"},
        label2id={"non": 0, "sì": 1},
    )
    for part in (BertForSequenceClassification(config), tokenizer):
        part.save_pretrained(folder / "models" / "tiny")
    return folder


@pytest.fixture
def make_job(campaign_folder: Path, tmp_path: Path) -> Callable[..., Job]:
    """Build a job over the corpus; keywords are the variant's settings."""

    def build(**settings: object) -> Job:
        given = {"id": "v", "model": "models/tiny", "batch_size": 4, **settings}
        variant = Variant.model_validate_json(json.dumps(given))
        corpus = CorpusSpec(id="texts", path="corpus.jsonl")
        return Job(campaign_folder, variant, corpus, len(TEXTS), 0, 1, 8, tmp_path / "predictions.jsonl")

    return build
