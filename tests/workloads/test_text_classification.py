"""The transformers workload, on a tiny real model: every way of batching gives the same answers."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from lab.workloads.base import Job, Sink, WorkloadError, warm_up_inputs
from lab.workloads.text_classification import TextClassification

MakeJob = Callable[..., Job]


@pytest.fixture(autouse=True)
def _own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a workload sets is set for its whole process: the test process gets its own settings back."""
    for name in ("TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS", "CUBLAS_WORKSPACE_CONFIG"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    threads = torch.get_num_threads()
    yield
    torch.use_deterministic_algorithms(mode=False)
    torch.set_num_threads(threads)


def _run(job: Job, *, warm: bool = True) -> tuple[TextClassification, Sink, list[int]]:
    work, counted = TextClassification(), []
    work.prepare(job)
    if warm:
        work.warm_up(warm_up_inputs(list(job.inputs()), 8))
    sink = Sink(counted.append)
    work.run_pass(sink)
    return work, sink, counted


def _answers(sink: Sink) -> dict[str, str | None]:
    return dict(zip(sink.ids, sink.predictions, strict=True))


@pytest.fixture(scope="module")
def expected(campaign_folder: Path) -> dict[str, str]:
    """The labels that a bare loop gives, one text at a time."""
    at = campaign_folder / "models" / "tiny"
    model = AutoModelForSequenceClassification.from_pretrained(at, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(at)
    labels = {}
    for line in (campaign_folder / "corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        with torch.inference_mode():
            logits = model(**tokenizer(row["text"], truncation=True, return_tensors="pt")).logits
        labels[row["id"]] = model.config.id2label[int(logits.argmax())]
    assert set(labels.values()) == {"non", "sì"}
    return labels


@pytest.mark.parametrize(
    "settings",
    [
        {"batch_size": 1},
        {"batch_size": 8},
        {"padding": "max_length"},
        {"padding": "sorted"},
        {"padding": "token-budget", "token_budget": 40},
        {"attention": "eager"},
        {"deterministic": True, "threads": 2},
    ],
)
def test_every_batching_gives_the_answers_of_a_bare_loop(
    make_job: MakeJob, expected: dict[str, str], settings: dict[str, Any]
) -> None:
    """Same labels for the same ids, each id once, the count ends at the number of inputs."""
    _, sink, counted = _run(make_job(**settings))
    assert _answers(sink) == expected
    assert len(sink.ids) == len(expected)
    assert counted == sorted(counted)
    assert counted[-1] == len(expected)


def test_corpus_order_is_kept_unless_the_variant_sorts(make_job: MakeJob, expected: dict[str, str]) -> None:
    """`longest` gives predictions in the corpus's order; `sorted` begins with the longest text."""
    assert _run(make_job())[1].ids == list(expected)
    work, sink, _ = _run(make_job(padding="sorted"))
    assert sink.ids != list(expected)
    assert work.counts["padded_batches"] < _run(make_job())[0].counts["padded_batches"]


def test_what_is_cut_is_counted_and_the_length_in_use_is_told(make_job: MakeJob) -> None:
    """At five tokens, markers included, every text of more than three words is cut; the warm-up counts nothing."""
    work, _, _ = _run(make_job(max_length=5))
    texts = [text for _, text in make_job().inputs()]
    assert work.counts["truncated_inputs"] == sum(len(text.split()) > 3 for text in texts)
    assert work.facts["max_length_used"] == "5"
    assert _run(make_job(max_length=512))[0].facts["max_length_used"] == "12"  # the model's own limit


def test_scores_are_probabilities_of_the_models_own_labels(make_job: MakeJob) -> None:
    """Each row's scores add up to one over both labels, and the prediction has the highest."""
    _, sink, _ = _run(make_job(), warm=False)
    for row in sink.rows():
        scores = row["scores"]
        assert isinstance(scores, dict)
        assert set(scores) == {"non", "sì"}
        assert math.isclose(sum(scores.values()), 1, abs_tol=1e-5)
        assert row["prediction"] == max(scores, key=scores.__getitem__)


@pytest.mark.parametrize("precision", ["bf16", "fp16", "int8"])
def test_other_precisions_answer_every_input(make_job: MakeJob, expected: dict[str, str], precision: str) -> None:
    """Labels of the set for every id; whether they are good enough is judged elsewhere."""
    work, sink, _ = _run(make_job(precision=precision))
    assert set(sink.ids) == set(expected)
    assert set(sink.predictions) <= {"non", "sì"}
    assert ("quantization_used" in work.facts) == (precision == "int8")
    assert work.facts["dtype"] == {"bf16": "bfloat16", "fp16": "float16", "int8": "float32"}[precision]


def test_a_missing_model_is_named(make_job: MakeJob) -> None:
    """A path under a folder of the campaign is no name of the hub's: nothing is looked up outside."""
    with pytest.raises(WorkloadError) as raised:
        TextClassification().prepare(make_job(model="models/absent"))
    assert raised.value.reason.key == "ended.model_missing"
    assert dict(raised.value.reason.values) == {"model": "models/absent"}


def test_a_model_whose_weights_do_not_fit_is_refused(make_job: MakeJob, campaign_folder: Path) -> None:
    """A checkpoint without its classifier would be measured with random weights: never."""
    shutil.copytree(campaign_folder / "models" / "tiny", campaign_folder / "models" / "headless")
    file = campaign_folder / "models" / "headless" / "model.safetensors"
    weights = {name: value for name, value in load_file(file).items() if not name.startswith("classifier")}
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(WorkloadError) as raised:
        TextClassification().prepare(make_job(model="models/headless"))
    assert raised.value.reason.key == "ended.weights_do_not_fit"
    assert raised.value.reason.values["count"] == 2


def test_a_device_that_is_not_there_is_named(make_job: MakeJob) -> None:
    """No device of that number: said, never replaced by another."""
    with pytest.raises(WorkloadError) as raised:
        TextClassification().prepare(make_job(device="cuda:63"))
    assert dict(raised.value.reason.values) == {"device": "cuda:63"}


def test_the_attention_kernel_that_ran_is_named_for_padded_and_unpadded_batches(make_job: MakeJob) -> None:
    """`sdpa` is what was asked, one of torch's kernels is what ran; eager attention has a softmax of its own."""
    work, _, _ = _run(make_job(padding="sorted"))
    assert not any(name.startswith("attention_kernel") for name in work.facts)
    work.look_back()
    assert min(work.counts["padded_batches"], work.counts["unpadded_batches"]) > 0
    for kind in ("padded", "unpadded"):
        assert work.facts[f"attention_kernel_{kind}"].startswith("aten::_scaled_dot_product_")
    eager, _, _ = _run(make_job(attention="eager", batch_size=23))
    eager.look_back()
    assert eager.facts["attention_kernel_padded"] == "aten::_softmax"
    assert "attention_kernel_unpadded" not in eager.facts


def test_a_second_pass_of_the_same_process_counts_anew_and_loads_nothing(make_job: MakeJob) -> None:
    """Same answers, counts of one pass, the seed of the new job."""
    work, first, _ = _run(make_job())
    before = dict(work.counts)
    assert work.again(replace(make_job(), seed=7))
    second = Sink(lambda _: None)
    work.run_pass(second)
    assert _answers(second) == _answers(first)
    assert (work.counts, work.facts["seed"]) == (before, "7")
    assert torch.initial_seed() == 7


def test_a_model_compiled_for_the_shapes_of_its_batches_is_not_compiled_again(
    make_job: MakeJob, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilation has its own seconds, the pass recompiles nothing although it is forbidden to, labels stay.

    The graphs are traced and guarded as ever, and then run without C++ being written for them, which takes a minute.
    """
    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda model, **given: real(model, backend="aot_eager", **_less(given)))
    job = replace(make_job(compile="default", padding="max_length"), recompilations="fail")
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=False):
        work, sink, _ = _run(job)
    torch.compiler.reset()
    assert _answers(sink) == expected
    assert work.durations["compile_s"] > 0
    assert (work.counts["recompilations"], work.counts["graph_breaks"]) == (0, 0)
    assert (work.counts["padded_batches"], work.inference) == (6, None)


def _less(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "mode"}
