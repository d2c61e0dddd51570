"""What measuring costs: `python tests/bench/overhead.py [ALTERNATIONS] [TEXTS]` prints ratios; no test asserts a time.

The main duration of a pass of the `text-classification` workload, with all that the worker does while its clock runs
(progress counter, signs of life, collected predictions), beside the same work in a bare hand-written loop, and beside
transformers' own `pipeline`. One process, one thread, one model on the same file in batches of eight in corpus
order; in each alternation the three run once, each in turn first. CPU time of the process, which foreign load disturbs
less than the clock on the wall; the ratio is taken within each alternation, and its median has the interval of order
statistics. The bound (issue "Measurement that can be trusted"): the lower end does not exceed 1.01, else exit code 1.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # after the variable that it is to see
import transformers
from comparisons import Row, compared

from lab.analysis.intervals import of_median
from lab.measure.orders import Order
from lab.measure.progress import PROGRESS_FILE, ProgressFile
from lab.measure.worker import _counting, _watched
from lab.model.manifest import CorpusSpec, Variant
from lab.store.corpus import read_corpus
from lab.workloads.base import Job
from lab.workloads.text_classification import TextClassification
from lab.workloads.training import build_tokenizer

BATCH, LONGEST, LABELS = 8, 128, ("a", "b", "c")
LAYERS, WIDTH = 4, 256
BOUND = 1.01
Labels = list[str]


def build(folder: Path, texts: int) -> None:
    """A random model of four layers and 256 wide with a tokenizer of its own, and a ragged corpus."""
    draw = random.Random(0)  # noqa: S311  (lengths and words of a bench)
    words = [f"word{number}" for number in range(400)]
    rows = [" ".join(draw.choices(words, k=draw.choice((6, 12, 24, 48, 100)))) for _ in range(texts)]
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    backend = build_tokenizer(rows, 600).backend
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=LONGEST, **names)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=LONGEST,
        pad_token_id=tokenizer.pad_token_id,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    lines = [json.dumps({"id": f"{number:04}", "text": text}) for number, text in enumerate(rows)]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")


def ours(folder: Path) -> tuple[Callable[[], Labels], Any, Any]:
    """One pass of the workload, with what the worker does while its clock runs; and its model and tokenizer."""
    corpus = CorpusSpec(id="c", path="corpus.jsonl", labels=LABELS)
    variant = Variant(id="v", model="model", batch_size=BATCH, max_length=LONGEST)
    size = read_corpus(folder, corpus).facts.size
    job = Job(folder, variant, corpus, size, 0, 0, 0, folder / "predictions.jsonl")
    order = Order(job, folder, LABELS)
    work = TextClassification()
    work.prepare(job)

    def run() -> Labels:
        progress = ProgressFile(order.at / PROGRESS_FILE, pid=os.getpid(), process_start=0, total=size)
        with progress, _watched(progress):
            sink = _counting(progress)
            work.run_pass(sink)
        return [str(one) for one in sink.predictions]

    return run, work._model, work._tokenizer


def bare(folder: Path, model: Any, tokenizer: Any) -> Callable[[], Labels]:  # noqa: ANN401  (untyped library objects)
    """The loop that one writes by hand: read, tokenise and pad a batch, run it, keep labels and scores."""

    def run() -> Labels:
        labels: Labels = []
        scores: list[list[float]] = []
        ids: list[str] = []
        batch: list[tuple[str, str]] = []

        def flush() -> None:
            texts = [text for _, text in batch]
            encoded = tokenizer(texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
            with torch.inference_mode():
                found = model(**encoded).logits.softmax(-1).cpu()
            ids.extend(one for one, _ in batch)
            labels.extend(model.config.id2label[number] for number in found.argmax(-1).tolist())
            scores.extend(found.tolist())
            batch.clear()

        with (folder / "corpus.jsonl").open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                batch.append((row["id"], row["text"]))
                if len(batch) == BATCH:
                    flush()
        if batch:
            flush()
        return labels

    return run


def peer(folder: Path, model: Any, tokenizer: Any) -> Callable[[], Labels]:  # noqa: ANN401
    """The `pipeline` of transformers on the same texts, giving the scores of all labels too."""
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")

    def run() -> Labels:
        with (folder / "corpus.jsonl").open(encoding="utf-8") as file:
            texts = [json.loads(line)["text"] for line in file]
        found = pipe(texts, batch_size=BATCH, top_k=None, truncation=True, max_length=LONGEST)
        return [str(one[0]["label"]) for one in found]

    return run


def cpu_seconds(run: Callable[[], Labels]) -> tuple[float, Labels]:
    """CPU seconds of this process for one run, and what it gave."""
    gc.collect()
    began = time.process_time()
    labels = run()
    return time.process_time() - began, labels


def measured(alternations: int, texts: int) -> dict[str, list[float]]:
    """CPU seconds of each way, by alternation."""
    transformers.utils.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, texts)
        run, *shared = ours(folder)  # one model for all three: where its weights lie in memory is worth some percent
        runs = {"a pass of ours": run, "bare loop": bare(folder, *shared), "pipeline": peer(folder, *shared)}
        torch.set_num_threads(1)
        answers = [run() for run in runs.values()]  # warm-up
        assert answers[0] == answers[1] == answers[2], "not the same work"
        taken: dict[str, list[float]] = {one: [] for one in runs}
        names = list(runs)
        for turn in range(alternations):
            for one in (*names[turn % 3 :], *names[: turn % 3]):
                taken[one].append(cpu_seconds(runs[one])[0])
    return taken


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table; the limit is held against the lower end of the interval."""
    alternations, texts = (7, 24) if quick else (31, 48)
    ours, *others = measured(alternations, texts).items()
    found = []
    for name, theirs in others:
        ratios = [mine / other for mine, other in zip(ours[1], theirs, strict=True)]
        own, middle, ratio = (sorted(one)[alternations // 2] for one in (ours[1], theirs, ratios))
        bound, low = (BOUND, of_median(ratios).low) if name == "bare loop" else (None, None)
        row = compared("overhead: a pass, processor", own, name, middle, bound)
        found.append(replace(row, ratio=ratio, bound=low))
    return found


def main(alternations: int = 31, texts: int = 48) -> int:
    """Measure, print the table, and say whether the bound holds."""
    taken = measured(alternations, texts)
    names = list(taken)
    shape = f"{LAYERS} layers, {WIDTH} wide, batch {BATCH}, one thread"
    sys.stdout.write(f"{texts} texts, {shape}; {alternations} alternations; CPU seconds of a pass\n")
    held = True
    for one in names:
        middle = sorted(taken[one])[alternations // 2]
        ratios = [mine / other for mine, other in zip(taken[one], taken["bare loop"], strict=True)]
        interval = of_median(ratios)
        ratio = sorted(ratios)[alternations // 2]
        between = "too few alternations for an interval"
        if interval.low is not None and interval.high is not None and interval.coverage is not None:
            between = f"{interval.low:.4f} to {interval.high:.4f}, {interval.coverage:.1%}"
        sys.stdout.write(f"  {one:15} median {middle:.4f} s   against the bare loop {ratio:.4f} ({between})\n")
        if one == names[0]:
            held = interval.low is not None and interval.low <= BOUND
    sys.stdout.write(f"lower end at most {BOUND}: {'yes' if held else 'no'}\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(*(int(one) for one in sys.argv[1:])))
