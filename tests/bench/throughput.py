"""How fast `token-budget` classifies ragged texts beside transformers' own pipeline, and how far from the limit it is.

`python tests/bench/throughput.py` builds a BERT of 4 layers and 256 wide from random weights and 1,000 texts: 600
short, 300 middling, 100 long, up to 512 tokens. Each way of working processes all of them in turn, in the same
process, on one thread and in one precision, and the labels must be the same for every text. Seconds are the
processor's, not the clock's, since other programs may run; the ratio of each round is to the pipeline of the same
round, and the table shows the median. What is wanted: at least 2.5 times `pipeline(batch_size=8)` in corpus order, at
least 1.4 times the default pipeline; the exit code is 1 below that, or when a label differs.

The limit is arithmetic alone: the operations of the real tokens (linear layers, and attention within each text) at the
rate at which this machine multiplies matrices of these shapes. Nothing that pads, moves or normalises is in it.

Peers: transformers' pipeline is one. optimum-benchmark 0.6.0 is not: it does not import with transformers 5.24.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from comparisons import Row, compared
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, pipeline

from lab.model.manifest import CorpusSpec, Variant
from lab.workloads.base import Job, Sink, warm_up_inputs
from lab.workloads.text_classification import TextClassification

SHARES = ((600, 8, 48), (300, 64, 160), (100, 256, 512))  # texts, from and to how many tokens, markers included
LAYERS, WIDTH, INNER, HEADS, LONGEST = 4, 256, 1024, 4, 512
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = 4000
WANTED = {"pipeline, batch 8": 2.5, "pipeline, default": 1.4}
OURS = "token budget 2048"
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
VARIANTS: dict[str, dict[str, object]] = {
    "lab, batch 8, corpus order": {"batch_size": 8},
    "lab, sorted, batch 32": {"padding": "sorted", "batch_size": 32},
    OURS: {"padding": "token-budget", "token_budget": 2048},
}
Labels = dict[str, str | None]


def make(folder: Path) -> list[int]:
    """Write model, tokenizer and corpus; the length of each text in tokens, markers included."""
    chance = random.Random(1)  # noqa: S311  (figures of a bench, no secret)
    lengths = [chance.randint(low, high) for count, low, high in SHARES for _ in range(count)]
    chance.shuffle(lengths)
    with (folder / "corpus.jsonl").open("w", encoding="ascii") as corpus:
        for number, length in enumerate(lengths):
            text = " ".join(f"w{chance.randrange(WORDS)}" for _ in range(length - 2))
            corpus.write(json.dumps({"id": f"{number:04}", "text": text}) + "\n")
    known = {name: number for number, name in enumerate((*SPECIAL, *(f"w{one}" for one in range(WORDS))))}
    backend = Tokenizer(models.WordLevel(known, unk_token=SPECIAL[1]))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), SPECIAL, strict=True))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(known), hidden_size=WIDTH, intermediate_size=INNER, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=LONGEST, initializer_range=0.1,
    )  # fmt: skip
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=LONGEST, **names)
    for part in (BertForSequenceClassification(config), tokenizer):
        part.save_pretrained(folder / "model")
    return lengths


def by_pipeline(folder: Path, precision: str, batch_size: int | None) -> Callable[[], Labels]:
    """A pass through transformers' pipeline over the texts in corpus order."""
    at = str(folder / "model")
    classify = pipeline("text-classification", model=at, tokenizer=at, device="cpu", dtype=DTYPES[precision])
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    given = {"truncation": True, "max_length": LONGEST, **({"batch_size": batch_size} if batch_size else {})}

    def process() -> Labels:
        found = classify([row["text"] for row in rows], **given)
        return {row["id"]: one["label"] for row, one in zip(rows, found, strict=True)}

    return process


def by_lab(folder: Path, precision: str, settings: dict[str, object]) -> Callable[[], Labels]:
    """A pass of the workload itself, prepared and warmed up; reading the corpus is in it, as in a measured pass."""
    data = {"id": "v", "model": "model", "precision": precision, "max_length": LONGEST, **settings}
    variant = Variant.model_validate_json(json.dumps(data))
    size = sum(count for count, _, _ in SHARES)
    job = Job(folder, variant, CorpusSpec(id="c", path="corpus.jsonl"), size, 0, 1, 32, folder / "p.jsonl")
    work = TextClassification()
    work.prepare(job)
    work.warm_up(warm_up_inputs(list(job.inputs()), 32))

    def process() -> Labels:
        sink = Sink(lambda _: None)
        work.run_pass(sink)
        return dict(zip(sink.ids, sink.predictions, strict=True))

    return process


def limit(lengths: Sequence[int], precision: str) -> float:
    """Processor seconds of the arithmetic of these texts at the best rate of their largest matrix product."""
    linear = 2 * LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER) * sum(lengths)
    attention = 4 * LAYERS * WIDTH * sum(length * length for length in lengths)
    left = torch.randn(2048, WIDTH, dtype=DTYPES[precision])
    right = torch.randn(WIDTH, INNER, dtype=DTYPES[precision])
    seconds = min(timed(partial(_products, left, right))[0] for _ in range(10)) / 20
    return (linear + attention) / (2 * left.shape[0] * WIDTH * INNER / seconds)


def _products(left: torch.Tensor, right: torch.Tensor) -> None:
    for _ in range(20):
        left @ right


def timed(act: Callable[[], Labels | None]) -> tuple[float, Labels | None]:
    """Processor seconds of `act`, and what it gave."""
    began = time.process_time()
    found = act()
    return time.process_time() - began, found


@dataclass(frozen=True)
class Measured:
    """Seconds of each way by round, the labels of every pass, the lengths of the texts, the arithmetic's seconds."""

    rounds: list[dict[str, float]]
    labels: list[Labels | None]
    lengths: list[int]
    least: float

    @property
    def same(self) -> bool:
        """Whether every pass gave the same labels."""
        return all(one == self.labels[0] for one in self.labels)


def measured(wanted: int, precision: str) -> Measured:
    """So many rounds, each way in turn, in one process and on one thread."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lengths = make(folder)
        ways = {"pipeline, batch 8": by_pipeline(folder, precision, 8)}
        ways["pipeline, default"] = by_pipeline(folder, precision, None)
        ways |= {name: by_lab(folder, precision, settings) for name, settings in VARIANTS.items()}
        least = limit(lengths, precision)
        rounds, labels = [], []
        for _ in range(wanted):
            found = {name: timed(act) for name, act in ways.items()}
            rounds.append({name: seconds for name, (seconds, _) in found.items()})
            labels += [one for _, one in found.values()]
    return Measured(rounds, labels, lengths, least)


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table."""
    found = measured(1 if quick else 3, "fp32")
    if not found.same:
        raise AssertionError("not the same labels")
    middle = {name: statistics.median(one[name] for one in found.rounds) for name in found.rounds[0]}
    given = []
    for base, wanted in WANTED.items():
        row = compared(f"throughput: {OURS}, times as fast", middle[OURS], base, middle[base], wanted, least=True)
        given.append(replace(row, ratio=statistics.median(one[base] / one[OURS] for one in found.rounds)))
    return [*given, compared(f"throughput: {OURS}", middle[OURS], "arithmetic alone", found.least)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the rounds, print the table, say whether it is fast enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", choices=DTYPES, default="fp32")
    asked = parser.parse_args(argv)
    whole = measured(asked.rounds, asked.precision)
    rounds, labels, lengths, least, same = whole.rounds, whole.labels, whole.lengths, whole.least, whole.same
    table = [(name, [one[name] for one in rounds]) for name in rounds[0]]
    table.append(("arithmetic alone", [least] * asked.rounds))
    print(f"{len(lengths)} texts, {sum(lengths)} tokens, {asked.precision}, 1 thread, {asked.rounds} rounds")  # noqa: T201  (a bench prints)
    print(f"{'':28}{'CPU s':>8}{'x batch 8':>11}{'x default':>11}{'x limit':>9}")  # noqa: T201  (as above)
    for name, seconds in table:
        ratios = [
            statistics.median(one[base] / mine for one, mine in zip(rounds, seconds, strict=True)) for base in WANTED
        ]
        taken = statistics.median(seconds)
        print(f"{name:28}{taken:8.2f}{ratios[0]:11.2f}{ratios[1]:11.2f}{taken / least:9.2f}")  # noqa: T201  (as above)
    different = len(set((labels[0] or {}).values()))
    print(f"labels: {'the same everywhere' if same else 'NOT the same'}, {different} of them in use")  # noqa: T201  (as above)
    reached = {base: statistics.median(one[base] / one[OURS] for one in rounds) for base in WANTED}
    for base, wanted in WANTED.items():
        print(f"{OURS} / {base}: {reached[base]:.2f} (wanted: {wanted})")  # noqa: T201  (as above)
    return int(not same or any(reached[base] < wanted for base, wanted in WANTED.items()))


if __name__ == "__main__":
    sys.exit(main())
