"""A campaign over a real Ray cluster on this machine: a head and two nodes with resources of their own, one killed."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import fast_campaign
import psutil
import pytest

from lab.cli import main
from lab.errors import InvalidInputError, OutsideFailureError
from lab.measure import ray_files
from lab.measure.engines import EngineChoice
from lab.measure.events import AttemptProgress, AttemptStarted, Event
from lab.measure.ray_nodes import Node, demands, fitting
from lab.measure.runner import RunResult, run_campaign
from lab.model.attempt import Record
from lab.model.manifest import Variant
from lab.store.attempts import read_records
from lab.store.environments import read_environments
from lab.store.files import sha256_file

HERE = Path(__file__).resolve().parents[2]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is an extra: `pip install .[ray]`, then these tests run"
)
SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}
SLOW = """
import time

def steady(inputs, settings):
    for one, text in inputs:
        time.sleep(0.01)
        yield one, "short"

def long(inputs):
    for one, text in inputs:
        time.sleep(0.4)
        yield one, "short"
"""


class Nodes:
    """The cluster under test."""

    def __init__(self) -> None:
        """Start the head, which offers nothing, and the nodes `a` and `b`."""
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.node: dict[str, Any] = {}
        for name in ("a", "b"):
            self.join(name)

    def join(self, name: str) -> None:
        """Let a node come that offers the resource `name`."""
        self.node[name] = self.cluster.add_node(resources={name: 1}, **SMALL)

    def kill(self, name: str) -> None:
        """Let a node die at once, as a machine that is switched off."""
        self.cluster.remove_node(self.node.pop(name), allow_graceful=False)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """One cluster for all tests here; its processes can import this very package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("nodes")))
        patch.setenv("RAY_TMPDIR", "/tmp")  # noqa: S108  (Ray's own: its sockets need a short path)
        found = Nodes()
        yield found
        found.cluster.shutdown()


def on(name: str, function: str = "steady", **more: object) -> dict[str, Any]:
    """A variant that declares the resource `name`."""
    return fast_campaign.variant(f"on-{name}", function, resources={name: 1}, **more)


def run(
    folder: Path, nodes: Nodes, *, within: float = 30, observe: Callable[[Event], None] = lambda _: None
) -> RunResult:
    """One run of the campaign in `folder` over the cluster."""
    (folder / "work.py").write_text(SLOW)
    choice = EngineChoice("ray", nodes.cluster.address, within)
    return run_campaign(folder, fast_campaign.read(folder), observe=observe, on_attempt=lambda _: None, engine=choice)


def span(record: Record) -> tuple[float, float]:
    """When an attempt began and ended, in seconds since the epoch."""
    began = datetime.fromisoformat(record.attempt.started_at or "").timestamp()
    return began, began + (record.attempt.elapsed_s or 0)


@needs_ray
@pytest.mark.timeout(180)
def test_a_node_killed_in_mid_campaign_is_one_failed_attempt_and_the_campaign_ends_complete(
    tmp_path: Path, nodes: Nodes
) -> None:
    """Each variant runs where its resource is, rounds rotate, folders come back whole; the lost pass is on record."""
    fast_campaign.write(tmp_path, [on("a"), on("b", "long")], inputs=5, repetitions=2)
    events: list[Event] = []
    killer: list[threading.Thread] = []

    def observe(event: Event) -> None:
        events.append(event)
        if not isinstance(event, AttemptProgress) or killer or not event.completed:
            return
        if (event.standing.slot.variant, event.standing.slot.round) == ("on-b", 2):
            killer.append(threading.Thread(target=nodes.kill, args=("b",)))
            killer[0].start()

    result = run(tmp_path, nodes, observe=observe)
    for one in killer:
        one.join()
    records = read_records(tmp_path)
    assert [(one.attempt.variant, one.attempt.round) for one in records] == [
        ("on-a", 1), ("on-b", 1), ("on-b", 2), ("on-a", 2),
    ]  # fmt: skip
    assert [one.attempt.outcome for one in records] == ["completed", "completed", "failed", "completed"]
    assert [one.attempt for one in records] == [one.attempt for one in result.records]
    lost = records[2]
    assert lost.details.ended_because is not None
    assert lost.details.ended_because.key == "ended.node_lost"
    assert (lost.attempt.elapsed_s or 0) > 0
    assert "nœud" in (lost.attempt.missing_reason or "")
    for one in (records[0], records[1], records[3]):
        path = tmp_path / (one.attempt.predictions_path or "")
        assert sha256_file(path) == one.attempt.predictions_sha256
        assert one.attempt.environment in read_environments(tmp_path)
        assert one.details.facts["engine"].startswith("ray ")
        assert one.details.facts["engine.files"] == "shared"
        assert one.details.facts["plan.place"].endswith("/4")
        assert (path.parent / "log.txt").exists()
    assert sum(isinstance(event, AttemptStarted) for event in events) == 4
    assert any(isinstance(event, AttemptProgress) and event.standing.total == 4 for event in events)
    assert all(span(two)[0] >= span(one)[1] for one, two in pairwise(records))  # one host: never side by side
    fast_campaign.write(tmp_path / "again", [on("a"), on("b")], inputs=3, repetitions=1)
    with pytest.raises(OutsideFailureError) as refused:  # nobody offers `b` now: said after a set time, nothing is run
        run(tmp_path / "again", nodes, within=1)
    assert [one.slug for one in refused.value.faults] == ["ray-no-place"]
    assert "b 1" in str(refused.value)
    assert not (tmp_path / "again" / "attempts").exists()


@needs_ray
@pytest.mark.timeout(180)
def test_a_device_type_that_is_gone_is_told_at_the_end_and_the_next_run_goes_on(tmp_path: Path, nodes: Nodes) -> None:
    """Passes that no node can take are not attempts: the others are done first, then they are named, then resumed."""
    if "b" not in nodes.node:
        nodes.join("b")
    fast_campaign.write(tmp_path, [on("b", "long"), on("a")], inputs=4, repetitions=2)

    def observe(event: Event) -> None:
        if isinstance(event, AttemptProgress) and event.standing.slot.variant == "on-b" and "b" in nodes.node:
            nodes.kill("b")

    with pytest.raises(OutsideFailureError) as told:
        run(tmp_path, nodes, within=2, observe=observe)
    assert [(one.slug, one.values["count"]) for one in told.value.faults] == [("ray-place-lost", 1)]
    first = [(one.attempt.variant, one.attempt.outcome) for one in read_records(tmp_path)]
    assert first == [("on-b", "failed"), ("on-a", "completed"), ("on-a", "completed")]
    nodes.join("b")
    run(tmp_path, nodes)
    assert [(one.attempt.variant, one.attempt.outcome) for one in read_records(tmp_path)][3:] == [("on-b", "completed")]


@needs_ray
@pytest.mark.timeout(180)
def test_a_killed_worker_is_a_failed_attempt_and_a_stopped_run_an_interrupted_one(tmp_path: Path, nodes: Nodes) -> None:
    """Ray's own process on the node dies in round 1; a person stops the run in round 2, and what was done is kept."""
    fast_campaign.write(tmp_path, [on("a", "long")], inputs=12, repetitions=2)
    acted: set[int] = set()

    def observe(event: Event) -> None:
        if not isinstance(event, AttemptProgress) or not event.completed or event.standing.slot.round in acted:
            return
        acted.add(event.standing.slot.round)
        if event.standing.slot.round == 1:
            # By what was read of each at once: other processes come and go meanwhile.
            every = psutil.process_iter(["name", "cmdline", "environ"])
            measuring = [one for one in every if "ray::measure" in f"{one.info['name']} {one.info['cmdline']}"]
            ours = os.environ["TMPDIR"]
            (worker,) = (one for one in measuring if (one.info["environ"] or {}).get("TMPDIR") == ours)
            worker.kill()
        else:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, nodes, observe=observe)
    first, second = read_records(tmp_path)
    assert (first.attempt.outcome, second.attempt.outcome) == ("failed", "interrupted")
    assert first.details.ended_because is not None
    assert first.details.ended_because.key == "ended.node_worker_lost"
    assert 1 <= (second.attempt.completed_inputs or 0) < 12
    lines = (tmp_path / (second.attempt.predictions_path or "")).read_text().splitlines()
    assert len(lines) == second.attempt.completed_inputs


@needs_ray
@pytest.mark.timeout(180)
def test_variants_on_different_hosts_are_measured_side_by_side_from_files_that_were_sent(
    tmp_path: Path, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two nodes taken for two hosts that share no folder: the passes overlap, and what they read came through Ray."""
    from lab.measure.ray_engine import RayAttempts

    for name in {"a", "b"} - set(nodes.node):
        nodes.join(name)
    begin = RayAttempts.__enter__

    engines: list[RayAttempts] = []

    def apart(engine: RayAttempts) -> RayAttempts:
        engines.append(engine)
        engine._at = str(tmp_path / "nowhere")
        return begin(engine)

    monkeypatch.setattr(RayAttempts, "__enter__", apart)
    monkeypatch.setattr(Node, "of", lambda said: Node(said["NodeID"], said["NodeID"], said["Resources"]))
    fast_campaign.write(tmp_path, [on("a", "long"), on("b", "long")], inputs=6, repetitions=1)
    first, second = run(tmp_path, nodes).records
    assert {first.attempt.outcome, second.attempt.outcome} == {"completed"}
    assert {one.details.facts["engine.files"] for one in (first, second)} == {"sent"}
    assert max(span(first)[0], span(second)[0]) < min(span(first)[1], span(second)[1])
    left = {one.name.split("-")[2] for one in Path(os.environ["TMPDIR"]).glob("lab-ray-*")}
    assert first.attempt.attempt_id not in str(sorted(Path(os.environ["TMPDIR"]).rglob("*")))
    assert engines[0]._token not in left


@needs_ray
def test_an_address_where_nobody_answers_is_an_error_at_once(tmp_path: Path) -> None:
    """Ray would try for minutes: the port is asked first, and nothing is measured."""
    fast_campaign.write(tmp_path, [fast_campaign.variant("v")])
    choice = EngineChoice("ray", "127.0.0.1:9")
    with pytest.raises(OutsideFailureError, match="ray-unreachable"):
        run_campaign(tmp_path, fast_campaign.read(tmp_path), observe=print, on_attempt=print, engine=choice)
    assert not read_records(tmp_path)


def test_a_node_fits_by_everything_that_a_variant_declares() -> None:
    """Processors, accelerators, their type and own resources; a node that was lost is no node any more."""
    variant = Variant(
        id="v", device="cuda:0", devices=2, threads=3, accelerator_type="H100", resources={"fast_disk": 1}
    )
    wanted = demands(variant)
    assert wanted == {"CPU": 3, "GPU": 2, "accelerator_type:H100": 0.001, "fast_disk": 1}
    whole = {"CPU": 8.0, "GPU": 2.0, "accelerator_type:H100": 1.0, "fast_disk": 1.0}
    nodes = [
        Node(str(number), "host", {**whole, **less})
        for number, less in enumerate(({}, {"GPU": 1.0}, {"CPU": 2.0}, {"fast_disk": 0.0}))
    ]
    assert [one.id for one in fitting(nodes, wanted)] == ["0"]
    assert fitting(nodes, wanted, lost={"0"}) == []
    assert demands(Variant(id="v")) == {"CPU": 1}


def test_files_reach_a_place_whole_or_not_at_all(tmp_path: Path) -> None:
    """Shared only when every fingerprint is the same; sent ones are checked; what is no input of a pass stays home."""
    folder, root = tmp_path / "campaign", tmp_path / "root"
    for name in (
        "corpus.jsonl",
        "models/m/weights",
        "attempts/x/attempt.json",
        ".run.lock",
        "campaign.xlsx",
        "report/i",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    wanted = ray_files.listing(folder)
    assert list(wanted) == ["corpus.jsonl", "models/m/weights"]
    assert not ray_files.take_shared(folder, {**wanted, "corpus.jsonl": "0" * 64}, root)
    assert not root.exists()
    assert ray_files.take_shared(folder, wanted, root)
    assert ray_files.listing(root) == wanted
    blobs = [(folder / name).read_bytes() for name in wanted]
    ray_files.receive(tmp_path / "sent", list(wanted), wanted, blobs)
    assert ray_files.listing(tmp_path / "sent") == wanted
    with pytest.raises(OutsideFailureError, match="ray-file-altered"):
        ray_files.receive(tmp_path / "bad", list(wanted), wanted, [b"x", *blobs[1:]])
    with pytest.raises(InvalidInputError):
        ray_files.receive(tmp_path / "out", ["../out.txt"], {"../out.txt": "0"}, [b"x"])


def test_an_attempt_that_came_back_altered_is_not_taken(tmp_path: Path) -> None:
    """One file with other bytes than its fingerprint, or no record among them: nothing is written."""
    at = tmp_path / "attempt"
    at.mkdir()
    (at / "attempt.json").write_text("{}")
    (at / "log.txt").write_text("said")
    whole = ray_files.packed(at)
    altered = {**whole, "log.txt": replace(whole["log.txt"], data=b"other")}
    for files in (altered, {"log.txt": whole["log.txt"]}):
        assert not ray_files.unpack(files, tmp_path / "to", "attempt.json")
    assert not (tmp_path / "to").exists()
    assert ray_files.unpack(whole, tmp_path / "to", "attempt.json")
    assert sorted(one.name for one in (tmp_path / "to").iterdir()) == ["log.txt"]


def test_what_ray_cannot_do_is_refused_by_name_before_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process for all passes of a variant; Ray that is not installed; the engine of this machine refuses neither."""
    fast_campaign.write(tmp_path, [fast_campaign.variant("v")], process="per-variant")
    manifest = fast_campaign.read(tmp_path).manifest
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: object() if name == "ray" else found(name, *rest)
    )
    assert [one.slug for one in EngineChoice("ray").faults(manifest)] == ["ray-per-variant"]
    for address in ("ray://head:10001", "head", "local", "head:", "a b:1"):
        assert [one.slug for one in EngineChoice("ray", address).faults(manifest)] == ["ray-address-bad"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "ray" else found(name, *rest))
    assert [one.slug for one in EngineChoice("ray").faults(manifest)] == ["ray-extra-missing"]
    assert EngineChoice().faults(manifest) == ()
    with pytest.raises(InvalidInputError, match="ray-extra-missing"):
        run_campaign(
            tmp_path, fast_campaign.read(tmp_path), observe=print, on_attempt=print, engine=EngineChoice("ray")
        )


def test_an_address_without_its_engine_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab run --address` alone would silently measure here."""
    assert main(["run", str(tmp_path), "--address", "head:6379", "--lang", "en"]) == 2
    assert "--engine ray" in capsys.readouterr().err
