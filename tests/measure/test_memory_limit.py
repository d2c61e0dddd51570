"""A batch that does not fit: its row with what it had done, the smaller one unaffected, the retry its own variant."""

from __future__ import annotations

import json
import resource

import psutil
import pytest

from lab.measure.events import AttemptStarted, Event
from lab.measure.runner import run_campaign
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol
from lab.store.corpus import read_corpus
from lab.workloads.training import Recipe, build_tokenizer, train_classifier

LABELS = ("court", "long")
SHORT, LONG = 40, 8
TOKENS = 500
ROOM = 120 * 2**20  # bytes that a worker may take beyond what its launcher holds


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, ...]:
    """A round of three variants of a real classifier, forty short texts and then eight long ones."""
    folder = tmp_path_factory.mktemp("memory")
    texts = [("mot " * 4, "court")] * SHORT + [("mot " * TOKENS, "long")] * LONG
    recipe = Recipe(LABELS, TOKENS, hidden=32, intermediate=2048, epochs=1, batch_size=4)
    (folder / "models").mkdir()
    train_classifier(texts[:8], build_tokenizer([text for text, _ in texts], 60), folder / "models" / "wide", recipe)
    lines = [{"id": f"{n:03}", "text": text, "label": label} for n, (text, label) in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sizes = {"b4": 4, "b8": 8, "b8-retry-as-b2": 2}
    data = {
        "schema": 1,
        "name": "memory",
        "language": "fr",
        "corpora": [{"id": "c", "path": "corpus.jsonl", "reference_column": "label", "labels": LABELS}],
        "run": {"warm_up": {"passes": 0, "inputs": 0}},
        "variants": [{"id": name, "model": "models/wide", "batch_size": size} for name, size in sizes.items()],
    }
    manifest = Manifest.model_validate_json(json.dumps(data))
    facts = read_corpus(folder, manifest.corpora[0]).facts
    campaign = Campaign(manifest, Protocol(repetitions=1, time_zone="Europe/Rome"), {"c": facts}, ())
    return run_campaign(folder, campaign, observe=_limit, on_attempt=lambda _: None).records


def _limit(event: Event) -> None:
    """Give the launcher, and so every worker forked from it, a limit on its data."""
    if isinstance(event, AttemptStarted):
        for child in psutil.Process().children():
            if "lab.measure.launcher" in child.cmdline():
                limits = (child.memory_info().data + ROOM, resource.RLIM_INFINITY)
                resource.prlimit(child.pid, resource.RLIMIT_DATA, limits)


def _of(records: tuple[Record, ...], variant: str) -> list[Attempt]:
    return [one.attempt for one in records if one.attempt.variant == variant]


def test_the_large_batch_dies_on_the_long_inputs_and_its_row_says_so(records: tuple[Record, ...]) -> None:
    """Out of memory, the short inputs counted and their predictions kept, no duration, and never run again."""
    rows = _of(records, "b8")
    assert [(one.outcome, one.completed_inputs, one.duration_s) for one in rows] == [("out_of_memory", SHORT, None)]
    assert all(one.elapsed_s and one.load_s and one.predictions_sha256 and one.missing_reason for one in rows)
    why = next(one.details.ended_because for one in records if one.attempt.variant == "b8")
    assert why is not None
    assert why.key == "ended.host_memory"


def test_the_smaller_batch_is_unaffected(records: tuple[Record, ...]) -> None:
    """Under the same limit."""
    rows = _of(records, "b4")
    assert [(one.outcome, one.completed_inputs) for one in rows] == [("completed", SHORT + LONG)]


def test_the_retry_is_a_variant_of_its_own(records: tuple[Record, ...]) -> None:
    """Rows, settings and place in the rounds of its own; the rows of the one that died stay what they are."""
    rows = _of(records, "b8-retry-as-b2")
    assert [one.outcome for one in rows] == ["completed"]
    assert {json.loads(one.parameters or "{}")["batch_size"] for one in rows} == {2}
    assert sorted(one.position or 0 for one in (*rows, *_of(records, "b8"), *_of(records, "b4"))) == [1, 2, 3]
