"""One variant over several devices: on this machine each is a process of its own on the processor."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import fast_campaign
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.measure import device_process
from lab.measure.endings import on_device, with_kernel
from lab.measure.events import AttemptProgress, Event
from lab.measure.runner import run_campaign, setting_faults
from lab.measure.sharded import Sharded
from lab.measure.sharding import balanced, device_names, merged_facts
from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.manifest import CorpusSpec, Manifest, Variant
from lab.model.protocol import Protocol
from lab.model.reason import reason
from lab.store.corpus import read_corpus
from lab.workloads.base import Job, WorkloadError
from lab.workloads.training import Recipe, build_tokenizer, train_classifier

LABELS = ("chien", "être")
ROWS = tuple((f"{LABELS[one % 2]} numéro {one} " * (one % 7 + 1), LABELS[one % 2]) for one in range(41))
PARTED = """
import os, signal, time

def steady(inputs, settings):
    with open(f"seen-{settings['device']}-{os.getpid()}", "a") as file:
        for one, text in inputs:
            file.write(one + "\\n")
            time.sleep(0.02)
            yield one, "short"

def one_dies(inputs):
    for one, text in inputs:
        if one == "007é":
            os.kill(os.getpid(), signal.SIGKILL)
        open(f"pid-{os.getpid()}", "w").close()
        time.sleep(0.01)
        yield one, "short"

def one_raises(inputs):
    for one, text in inputs:
        if one == "007é":
            raise MemoryError
        yield one, "short"

def one_leaves(inputs):
    for one, text in inputs:
        if one == "007é":
            os._exit(3)
        yield one, "short"

def adds_one(inputs):
    for one, text in inputs:
        yield one, "short"
        if one == "007é":
            yield one, "long"
            yield "nobody's", "long"
"""


def run(
    folder: Path, *variants: dict[str, object], inputs: int = 24, **rule: object
) -> tuple[list[Record], list[Event]]:
    """Run a campaign of `work.py` once; its attempts and what was told meanwhile."""
    fast_campaign.write(folder, list(variants), inputs=inputs, repetitions=int(rule.pop("repetitions", 1)), **rule)
    (folder / "work.py").write_text(PARTED)
    events: list[Event] = []
    found = run_campaign(folder, fast_campaign.read(folder), observe=events.append, on_attempt=lambda _: None)
    return list(found.records), events


def rows(folder: Path, record: Record) -> list[dict[str, object]]:
    """The predictions of an attempt, in file order."""
    text = (folder / (record.attempt.predictions_path or "")).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@given(st.lists(st.integers(0, 500), max_size=60), st.integers(1, 6))
def test_every_input_is_in_one_share_and_no_share_is_a_whole_input_too_heavy(sizes: list[int], parts: int) -> None:
    """Shares partition the inputs in order; two shares differ by at most the heaviest input."""
    shares = balanced(sizes, parts)
    assert sorted(place for share in shares for place in share) == list(range(len(sizes)))
    assert all(list(share) == sorted(share) for share in shares)
    weights = [sum(sizes[place] for place in share) for share in shares]
    assert max(weights) - min(weights) <= max(sizes, default=0)


def test_devices_are_named_from_the_first_one_on() -> None:
    """`cuda:2` with three devices is 2, 3 and 4; facts that all share are said once."""
    variant = Variant(id="v", device="cuda:2", devices=3)
    assert device_names(variant) == ("cuda:2", "cuda:3", "cuda:4")
    said = {"cpu:0": {"same": "1", "other": "a"}, "cpu:1": {"same": "1", "other": "b", "one": "x"}}
    assert merged_facts(said) == {"same": "1", "cpu:0.other": "a", "cpu:1.other": "b", "cpu:1.one": "x"}


def test_two_processes_share_a_corpus_and_leave_one_row_in_its_order(tmp_path: Path) -> None:
    """Each input is processed once, by one of two processes; one attempt, every prediction, progress of both."""
    (record,), events = run(tmp_path, fast_campaign.variant("two", devices=2), inputs=60)
    assert record.attempt.outcome == "completed"
    assert record.attempt.completed_inputs == 60
    assert [row["id"] for row in rows(tmp_path, record)] == [f"{number:03}é" for number in range(60)]
    seen = [one.read_text().split() for one in tmp_path.glob("seen-cpu-*")]
    pass_and_warm_up = sorted(one for part in seen for one in part)
    assert len(seen) == 2
    assert len(pass_and_warm_up) == 60 + 2 * 2  # both warmed up with the same two inputs
    told = [one.completed for one in events if isinstance(one, AttemptProgress) and one.phase == "measuring"]
    assert any(0 < one < 60 for one in told)
    readings = record.details.readings
    parts = [readings[f"pass.cpu:{number}.inputs"] for number in range(2)]
    assert sum(one or 0 for one in parts) == 60
    weights = [readings[f"pass.cpu:{number}.size"] or 0 for number in range(2)]
    assert abs(weights[0] - weights[1]) <= 20  # characters: this work has no tokens; the longest text has 20
    longest = max(readings[f"pass.cpu:{number}.duration_s"] or 0 for number in range(2))
    assert longest <= (record.attempt.duration_s or 0)
    assert all(readings[f"pass.cpu:{number}.host_peak_bytes"] for number in range(2))


@pytest.mark.parametrize(
    ("function", "outcome", "key"),
    [
        ("one_dies", "failed", "ended.device_process_killed"),
        ("one_leaves", "failed", "ended.device_process_exited"),
        ("one_raises", "out_of_memory", "ended.device_process_host_memory"),
    ],
)
def test_a_process_that_ends_ends_the_attempt_and_its_siblings(
    tmp_path: Path, function: str, outcome: str, key: str
) -> None:
    """The outcome is the one of the process that ended, the reason names its device, and none of them is left."""
    policy = {"warm_up": {"passes": 0, "inputs": 0}}
    (record,), _ = run(tmp_path, fast_campaign.variant("two", function, devices=2), **policy)
    assert record.attempt.outcome == outcome
    why = record.details.ended_because
    assert why is not None
    assert why.key == key
    assert why.values["device"] in {"cpu:0", "cpu:1"}
    assert str(why.values["device"]) in (record.attempt.missing_reason or "")
    assert record.attempt.duration_s is None
    for one in tmp_path.glob("pid-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(one.name.removeprefix("pid-")), 0)


def test_a_prediction_nobody_asked_for_stays_in_the_file(tmp_path: Path) -> None:
    """Merging in the corpus's order neither drops a second answer nor one with an unknown id."""
    policy = {"warm_up": {"passes": 0, "inputs": 0}}
    (record,), _ = run(tmp_path, fast_campaign.variant("two", "adds_one", devices=2), inputs=10, **policy)
    ids = [row["id"] for row in rows(tmp_path, record)]
    assert ids == [*(f"{number:03}é" for number in range(8)), "007é", "008é", "009é", "nobody's"]


def test_processes_are_kept_between_passes_where_the_variant_keeps_its_own(tmp_path: Path) -> None:
    """With `process = "per-variant"` two passes meet the same two processes, and each is whole."""
    records, _ = run(tmp_path, fast_campaign.variant("two", devices=2), repetitions=2, process="per-variant")
    assert [record.attempt.outcome for record in records] == ["completed", "completed"]
    assert len(list(tmp_path.glob("seen-cpu-*"))) == 2
    assert [len(rows(tmp_path, record)) for record in records] == [24, 24]


def test_a_real_classifier_gives_the_same_labels_on_one_device_and_on_two(tmp_path: Path) -> None:
    """Shares balanced by tokens, the same label for every input, counts added up, longest shares side by side."""
    tokenizer = build_tokenizer([text for text, _ in ROWS], 60)
    recipe = Recipe(LABELS, hidden=16, intermediate=16, layers=2, max_tokens=32, epochs=4, learning_rate=5e-3)
    (tmp_path / "models").mkdir()
    train_classifier(ROWS, tokenizer, tmp_path / "models" / "small", recipe)
    lines = [{"id": f"{number:03}", "text": text, "label": label} for number, (text, label) in enumerate(ROWS)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shared = {"model": "models/small", "batch_size": 4, "max_length": 32}
    variants = [
        {"id": "one", **shared},
        *({"id": f"two-{one}", "devices": 2, "padding": one, **shared} for one in ("longest", "sorted")),
    ]
    data = {"schema": 1, "name": "real", "language": "it", "variants": variants}
    data["corpora"] = [{"id": "c", "path": "corpus.jsonl", "reference_column": "label", "labels": LABELS}]
    manifest = Manifest.model_validate_json(json.dumps(data))
    facts = read_corpus(tmp_path, manifest.corpora[0]).facts
    campaign = Campaign(manifest, Protocol(repetitions=1, time_zone="Europe/Rome"), {"c": facts}, ())
    found = run_campaign(tmp_path, campaign, observe=lambda _: None, on_attempt=lambda _: None).records
    assert [record.attempt.outcome for record in found] == ["completed"] * 3
    one, *others = ([(row["id"], row["prediction"]) for row in rows(tmp_path, record)] for record in found)
    assert all(other == one for other in others)
    for record in found[1:]:
        readings = record.details.readings
        tokens = [readings[f"pass.cpu:{number}.size"] or 0 for number in range(2)]
        assert abs(tokens[0] - tokens[1]) <= 32
        assert sum(tokens) < sum(len(text) for text, _ in ROWS)  # tokens, not characters
        assert record.details.counts["padded_batches"] + record.details.counts["unpadded_batches"] >= 11
        assert record.details.facts["devices.processes"] == "2"
        assert record.attempt.load_s
        assert record.attempt.warm_up_s


def test_a_program_that_is_not_told_of_its_devices_is_refused_by_name(tmp_path: Path) -> None:
    """`devices = 2` on a command that does not name them; with `{devices}` in it the program divides its work."""
    told = {"id": "told", "workload": "command", "command": ["sh", "run.sh", "{devices}"], "devices": 2}
    untold = {"id": "untold", "workload": "command", "command": ["sh", "run.sh"], "devices": 2}
    fast_campaign.write(tmp_path, [told, untold])
    (fault,) = setting_faults(fast_campaign.read(tmp_path).manifest, tmp_path)
    assert (fault.slug, fault.place) == ("command-devices-untold", "variants.untold.devices")


def test_the_kernels_kill_names_the_device_too() -> None:
    """A process killed while the kernel counted an out-of-memory kill was out of memory, on that device's side."""
    killed = reason("ended.device_process_killed", device="cpu:1", signal="SIGKILL")
    outcome, why = with_kernel(("failed", killed), oom_kills=1)
    assert (outcome, why.key, why.values["device"]) == ("out_of_memory", "ended.device_process_host_memory", "cpu:1")
    assert with_kernel(("failed", killed), oom_kills=0)[0] == "failed"
    ending = on_device(("failed", reason("ended.exception", error="ValueError", message="no")), "cuda:1")
    assert ending[1].values == {"device": "cuda:1", "message": "no"}


def test_a_process_sees_its_own_device_alone_where_the_runtime_goes_by_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's runtime is told the UUID and calls the device `cuda:0`; others keep the device's name."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for version, expected in (("13.0", "cuda:0"), (None, "cuda:3")):
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(version=SimpleNamespace(cuda=version)))
        assert device_process._held("cuda:3", "GPU-ABCD-1") == expected
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-abcd-1"
    assert device_process._held("cuda:3", None) == "cuda:3"
    assert device_process._held("cpu:1", None) == "cpu"


def test_more_devices_than_the_machine_has_are_named(tmp_path: Path) -> None:
    """Three are asked for and two are known: the attempt fails before any process is started."""
    variant = Variant(id="v", workload="python", function="work:steady", device="cuda:0", devices=3)
    job = Job(tmp_path, variant, CorpusSpec(id="c", path="corpus.jsonl"), 1, 0, 0, 0, tmp_path / "p.jsonl")
    with pytest.raises(WorkloadError) as told:
        Sharded("python", {"cuda:0": ("1", None), "cuda:1": ("2", None)}).prepare(job)
    assert told.value.reason == reason("ended.devices_missing", devices=["cuda:2"], count=3)
