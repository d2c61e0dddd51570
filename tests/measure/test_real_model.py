"""A small real classifier measured whole: three batch sizes, two rounds, and a variant that fails."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lab.measure.runner import RunResult, run_campaign
from lab.model.campaign import Campaign
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol
from lab.store.corpus import read_corpus
from lab.store.environments import read_environments
from lab.store.predictions import examine
from lab.workloads.training import Recipe, build_tokenizer, train_classifier

LABELS = ("chien", "être")
ROWS = tuple((f"{LABELS[number % 2]} numéro {number} " * (number % 4 + 1), LABELS[number % 2]) for number in range(40))
ORDER = ("b1", "b4", "b8", "lost")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Campaign, RunResult]:
    """The campaign folder, the campaign, and what its run did: 8 attempts in workers forked with torch loaded."""
    folder = tmp_path_factory.mktemp("real")
    tokenizer = build_tokenizer([text for text, _ in ROWS], 60)
    recipe = Recipe(LABELS, hidden=16, intermediate=16, layers=2, max_tokens=16, epochs=8, learning_rate=5e-3)
    (folder / "models").mkdir()
    train_classifier(ROWS, tokenizer, folder / "models" / "small", recipe)
    lines = [{"id": f"{number:03}", "text": text, "label": label} for number, (text, label) in enumerate(ROWS)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    variants = [{"id": f"b{size}", "model": "models/small", "batch_size": size} for size in (1, 4, 8)]
    data = {
        "schema": 1,
        "name": "real",
        "language": "it",
        "corpora": [{"id": "c", "path": "corpus.jsonl", "reference_column": "label", "labels": LABELS}],
        "run": {"warm_up": {"passes": 1, "inputs": 8}},
        "variants": [*variants, {"id": "lost", "model": "models/lost"}],
    }
    manifest = Manifest.model_validate_json(json.dumps(data))
    facts = read_corpus(folder, manifest.corpora[0]).facts
    campaign = Campaign(manifest, Protocol(repetitions=2, time_zone="Europe/Rome"), {"c": facts}, ())
    result = run_campaign(folder, campaign, observe=lambda _: None, on_attempt=lambda _: None)
    return folder, campaign, result


Measured = tuple[Path, Campaign, RunResult]


def test_the_lost_variant_is_in_every_round_and_disturbs_nobody(measured: Measured) -> None:
    """More variants than rounds, so there and back; the missing model is a failed row of its own in each round."""
    _, _, result = measured
    assert [record.attempt.variant for record in result.records] == [*ORDER, *reversed(ORDER)]
    for record in result.records:
        lost = record.attempt.variant == "lost"
        assert record.attempt.outcome == ("failed" if lost else "completed")
        if lost:
            assert record.details.ended_because is not None
            assert record.details.ended_because.key == "ended.model_missing"
            assert "models/lost" in (record.attempt.missing_reason or "")
            assert (record.attempt.completed_inputs, record.attempt.load_s) == (0, None)


def test_predictions_are_whole_and_the_same_for_every_batch_size(measured: Measured) -> None:
    """Each file holds every id once and labels of the set; batches of 1, 4 and 8 give the same labels."""
    folder, campaign, result = measured
    corpus = read_corpus(folder, campaign.manifest.corpora[0])
    labels: set[tuple[str, ...]] = set()
    for record in result.records:
        if record.attempt.predictions_path is None:
            continue
        path = folder / record.attempt.predictions_path
        evidence = examine(path, corpus, LABELS, record.attempt.predictions_sha256)
        assert (evidence.observed, evidence.missing, evidence.duplicates, evidence.bad_label_count) == (40, 0, 0, 0)
        assert evidence.altered is False
        labels.add(tuple(json.loads(line)["prediction"] for line in path.read_text().splitlines()))
    assert len(labels) == 1
    assert set(*labels) == set(LABELS)


def test_phases_are_apart_and_what_was_counted_is_kept(measured: Measured) -> None:
    """Load, warm-up, export and evaluation have cells of their own, outside the main duration; threads are kept."""
    _, _, result = measured
    for record in result.records:
        if record.attempt.outcome != "completed":
            continue
        one = record.attempt
        phases = (one.load_s, one.warm_up_s, one.duration_s, one.export_s, one.evaluate_s)
        assert all(value is not None and value > 0 for value in phases)
        assert sum(value or 0 for value in phases) <= (one.elapsed_s or 0)
        batches = record.details.counts["padded_batches"] + record.details.counts["unpadded_batches"]
        assert batches == -(-40 // int(record.attempt.variant.removeprefix("b"))) if record.attempt.variant else False
        assert record.details.counts["inputs_without_answer"] == 0
        assert record.details.facts["threads"] == "1"
        assert record.details.facts["start_method"] == "forkserver"
        assert record.details.host_peak_bytes is not None


def test_one_stack_is_one_environment_whatever_the_batch(measured: Measured) -> None:
    """Batches of 1, 4 and 8 share a fingerprint; the variant without a model has another, without its content."""
    folder, _, result = measured
    by_variant = {record.attempt.variant: record.attempt.environment for record in result.records}
    assert by_variant["b1"] == by_variant["b4"] == by_variant["b8"] != by_variant["lost"]
    seen = read_environments(folder)[by_variant["b1"] or ""]
    assert {"model.sha256", "torch.version", "cpu.model", "transformers"} <= set(seen.facts)
    assert len(seen.device_names) == 1


def test_one_process_serves_all_passes_of_a_variant_with_the_model_it_loaded(
    measured: Measured, tmp_path: Path
) -> None:
    """Loaded once, warmed up before every pass, the same labels as from fresh processes; counts start anew."""
    folder, campaign, result = measured
    shutil.copytree(folder / "models", tmp_path / "models")
    shutil.copy(folder / "corpus.jsonl", tmp_path)
    run = campaign.manifest.run.model_copy(update={"process": "per-variant"})
    chosen = {"run": run, "variants": campaign.manifest.variants[1:2]}
    kept = replace(campaign, manifest=campaign.manifest.model_copy(update=chosen), protocol=Protocol(repetitions=3))
    records = run_campaign(tmp_path, kept, observe=lambda _: None, on_attempt=lambda _: None).records
    assert [one.attempt.outcome for one in records] == ["completed"] * 3
    assert [one.details.facts["process_pass"] for one in records] == ["1", "2", "3"]
    assert [one.attempt.load_s is None for one in records] == [False, True, True]
    assert all(one.attempt.warm_up_s for one in records)
    fresh = next(one for one in result.records if one.attempt.variant == "b4")
    assert [dict(one.details.counts) for one in records] == [dict(fresh.details.counts)] * 3
    assert {one.attempt.predictions_sha256 for one in records} == {fresh.attempt.predictions_sha256}
