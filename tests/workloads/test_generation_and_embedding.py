"""Vectors and texts of tiny real models: every way of batching gives what a bare loop over single inputs gives."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from lab.metrics import metric
from lab.model.manifest import CorpusSpec
from lab.store.agreement import compare
from lab.store.corpus import read_corpus
from lab.store.prediction_lines import vector_of
from lab.store.predictions import examine, write_predictions
from lab.workloads.base import Job, Sink, WorkloadError, warm_up_inputs
from lab.workloads.embedding import Embedding
from lab.workloads.generation import Generation
from lab.workloads.transformers_work import TransformersWork

MakeJob = Callable[..., Job]
SPECIAL = ("<unk>", "<end>")
BATCHES: tuple[dict[str, Any], ...] = (
    {"batch_size": 1},
    {"batch_size": 8},
    {"padding": "max_length"},
    {"padding": "sorted"},
    {"padding": "token-budget", "token_budget": 40},
)


@pytest.fixture(autouse=True)
def _own_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a workload sets is set for its whole process: the test process gets its own settings back."""
    for name in ("TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS"):
        monkeypatch.setenv(name, "")
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def writer(campaign_folder: Path) -> Path:
    """`models/writer`: GPT-2 of two layers from random weights, 40 positions, a tokenizer trained on the corpus."""
    texts = [json.loads(line)["text"] for line in (campaign_folder / "corpus.jsonl").read_text().splitlines()]
    backend = Tokenizer(models.BPE(unk_token=SPECIAL[0]))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=list(SPECIAL), show_progress=False)
    backend.train_from_iterator(texts, trainer)
    at = campaign_folder / "models" / "writer"
    torch.manual_seed(2)
    size = backend.get_vocab_size()
    config = GPT2Config(
        vocab_size=size, n_positions=40, n_embd=32, n_layer=2, n_head=2, eos_token_id=1, bos_token_id=1,
        initializer_range=0.4, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0,
    )  # fmt: skip
    names = {"eos_token": SPECIAL[1]}
    for part in (GPT2LMHeadModel(config), PreTrainedTokenizerFast(tokenizer_object=backend, **names)):
        part.save_pretrained(at)
    return at


def _run(kind: type[TransformersWork], job: Job) -> tuple[TransformersWork, dict[str, Any]]:
    work, sink = kind(), Sink(lambda _: None)
    work.prepare(job)
    work.warm_up(warm_up_inputs(list(job.inputs()), 8))
    work.run_pass(sink)
    return work, {str(row["id"]): row["prediction"] for row in sink.rows()}


@pytest.fixture(scope="module")
def states(campaign_folder: Path) -> dict[str, list[list[float]]]:
    """The encoder's last hidden states of each text alone, one list a token."""
    at = campaign_folder / "models" / "tiny"
    model, tokenizer = AutoModel.from_pretrained(at, dtype=torch.float32).eval(), AutoTokenizer.from_pretrained(at)
    found = {}
    for line in (campaign_folder / "corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        with torch.inference_mode():
            given = tokenizer(row["text"], truncation=True, return_tensors="pt")
            found[row["id"]] = model(**given).last_hidden_state[0].tolist()
    return found


@pytest.mark.parametrize("settings", BATCHES)
def test_vectors_are_the_mean_of_the_tokens_alone(
    make_job: MakeJob, states: dict[str, list[list[float]]], settings: dict[str, Any]
) -> None:
    """Padding takes no part in a vector; each has length 1 and is read back as it was written."""
    _, found = _run(Embedding, make_job(workload="embedding", **settings))
    assert set(found) == set(states)
    for one, text in found.items():
        mean = [sum(column) / len(column) for column in zip(*states[one], strict=True)]
        vector = vector_of(text)
        assert vector is not None
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)
        assert vector == pytest.approx([value / math.hypot(*mean) for value in mean], abs=1e-4)


@pytest.mark.parametrize(("pooling", "place"), [("cls", 0), ("last", -1)])
def test_a_vector_may_be_one_token_and_keep_its_length(
    make_job: MakeJob, states: dict[str, list[list[float]]], pooling: str, place: int
) -> None:
    """The first token, or the last one that is no padding; without normalisation as the model gives it."""
    settings = {"workload": "embedding", "pooling": pooling, "normalize": False}
    work, found = _run(Embedding, make_job(**settings))
    for one, text in found.items():
        assert vector_of(text) == pytest.approx(states[one][place], abs=1e-4)
    assert (work.facts["pooling"], work.facts["normalize"]) == (pooling, "false")
    work.look_back()
    assert work.facts["attention_kernel_padded"].startswith("aten::_scaled_dot_product_")


def test_the_cosine_with_a_reference_run_tells_precisions_apart(make_job: MakeJob, tmp_path: Path) -> None:
    """The run itself has cosine 1, fp16 nearly, another pooling less; none of them has a confusion of vectors."""
    job = make_job()
    corpus = read_corpus(job.folder, CorpusSpec(id="texts", path="corpus.jsonl"))
    cosine = metric("reference_cosine")
    assert cosine is not None
    found = {}
    variants = {"fp32": {}, "fp16": {"precision": "fp16"}, "cls": {"pooling": "cls"}}
    for name, settings in variants.items():
        work, sink = Embedding(), Sink(lambda _: None)
        work.prepare(make_job(workload="embedding", **settings))
        work.run_pass(sink)
        path = tmp_path / f"{name}.jsonl"
        digest = write_predictions(path, sink.rows())
        evidence = examine(path, corpus, None, digest, distances=True, vectors=True)
        assert (evidence.bad_vector_count, evidence.missing, evidence.confusion) == (0, 0, {})
        for large in (10**9, 0):
            agreement = compare("run", path, tmp_path / "fp32.jsonl", corpus, distance=True, large=large)
            assert (agreement.confusion, agreement.subgroups) == ({}, {})
            value = cosine.of(evidence.__class__(**{**vars(evidence), "agreement": agreement}).aggregates())
            assert found.setdefault(name, value) == value
            assert agreement.largest_distance is not None
            assert (agreement.differing == 0) == (name == "fp32")
    assert found["fp32"] == 1.0
    assert 0.99 < found["fp16"] <= 1.0
    assert found["cls"] < 0.99


@pytest.fixture(scope="module")
def continued(campaign_folder: Path, writer: Path) -> dict[str, str]:
    """What greedy decoding adds to each text alone, six tokens at most."""
    model, tokenizer = AutoModelForCausalLM.from_pretrained(writer).eval(), AutoTokenizer.from_pretrained(writer)
    found = {}
    for line in (campaign_folder / "corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        given = tokenizer(row["text"], return_tensors="pt")
        with torch.inference_mode():
            tokens = model.generate(**given, max_new_tokens=6, do_sample=False, pad_token_id=1)[0]
        found[row["id"]] = tokenizer.decode(tokens[given["input_ids"].shape[1] :], skip_special_tokens=True).strip()
    assert len(set(found.values())) > 5
    return found


WRITER = {"workload": "generation", "model": "models/writer", "max_new_tokens": 6}


@pytest.mark.parametrize("settings", BATCHES)
def test_texts_are_those_of_a_bare_loop_however_they_are_batched(
    make_job: MakeJob, continued: dict[str, str], settings: dict[str, Any]
) -> None:
    """Padded on the left, an input continues as it does alone."""
    if settings.get("padding") == "max_length":
        settings = {**settings, "max_length": 24}
    work, found = _run(Generation, make_job(**WRITER, **settings))
    assert found == continued
    assert work.counts["generated_tokens"] <= 23 * 6
    assert work.counts["answers_at_token_limit"] > 0
    assert work.facts["decoding"] == "greedy"


def test_sampling_draws_from_the_seed_of_the_attempt(make_job: MakeJob, continued: dict[str, str]) -> None:
    """The same seed gives the same texts in another process or another pass, another seed gives others."""
    job = make_job(**WRITER, temperature=3.0)
    work, first = _run(Generation, job)
    again = Sink(lambda _: None)
    work.run_pass(again)
    assert {str(row["id"]): row["prediction"] for row in again.rows()} == first != continued
    other = Job(**{**vars(job), "seed": 1})
    assert _run(Generation, other)[1] != first
    assert work.facts["decoding"] == "sampled, temperature 3"


def test_room_is_kept_for_the_answer_and_what_is_cut_for_it_is_counted(make_job: MakeJob) -> None:
    """Forty positions less 34 new tokens leave six for the input; forty less forty leave none."""
    work, _ = _run(Generation, make_job(**{**WRITER, "max_new_tokens": 34}))
    assert work.facts["max_length_used"] == "6"
    assert work.counts["truncated_inputs"] > 0
    with pytest.raises(WorkloadError) as raised:
        Generation().prepare(make_job(**{**WRITER, "max_new_tokens": 40}))
    assert raised.value.reason.key == "ended.no_room_for_input"
