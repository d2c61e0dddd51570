"""A campaign over a real Ray cluster on this machine: a head and two nodes with resources of their own, one killed."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import fast_campaign
import psutil
import pytest

from lab.cli import main
from lab.errors import InvalidInputError, OutsideFailureError
from lab.measure import ray_connect, ray_node
from lab.measure.attempts import Host
from lab.measure.engines import EngineChoice
from lab.measure.events import AttemptProgress, AttemptStarted, Event
from lab.measure.interrupts import Interrupts
from lab.measure.ray_connect import joined
from lab.measure.ray_engine import RayAttempts
from lab.measure.ray_node import Place
from lab.measure.ray_nodes import Node
from lab.measure.runner import RunResult, run_campaign
from lab.measure.strays import MARK
from lab.model.attempt import Record
from lab.model.reason import reason
from lab.store.attempts import read_records
from lab.store.environments import read_environments
from lab.store.files import sha256_file

HERE = Path(__file__).resolve().parents[2]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is an extra: `pip install .[ray]`, then these tests run"
)
SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}
SLOW = """
import os, time

def steady(inputs, settings):
    for one, text in inputs:
        time.sleep(0.01)
        yield one, "short"

def long(inputs):
    for one, text in inputs:
        time.sleep(0.4)
        yield one, "short"

def full(inputs):
    yield next(inputs)[0], "short"
    os._exit(74)  # as a worker does that could not write
"""


class Nodes:
    """The cluster under test."""

    def __init__(self) -> None:
        """Start the head, which offers nothing, and the nodes `a` and `b`."""
        from ray.cluster_utils import Cluster

        head: dict[str, Any] = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
        # As quick as one is killed here: Ray's own pace takes a dead node for alive for 15 s more.
        head["_system_config"] = {"health_check_period_ms": 500, "health_check_initial_delay_ms": 500}
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
    tmp_path: Path, nodes: Nodes, capsys: pytest.CaptureFixture[str]
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
    assert capsys.readouterr().out == ""  # Ray would print the lost node's log into the command's answer
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
    shutil.rmtree(
        tmp_path / "attempts" / records[3].attempt.attempt_id
    )  # what is left needs `a` alone: `b` is not asked
    (last,) = run(tmp_path, nodes, within=1).records
    assert (last.attempt.variant, last.attempt.round, last.attempt.outcome) == ("on-a", 2, "completed")


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
    left = {one.name.split("-")[3] for one in Path(os.environ["TMPDIR"]).glob("lab-ray-*")}
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


@needs_ray
@pytest.mark.timeout(180)
def test_a_node_that_cannot_write_cuts_a_variant_off_and_the_others_go_on(tmp_path: Path, nodes: Nodes) -> None:
    """Its pass is no failure: it is run again later, its next one is not started, and the end says so with exit 4."""
    if "a" not in nodes.node:
        nodes.join("a")
    full = {"id": "full", "workload": "python", "function": "work:full", "resources": {"a": 1}}
    fast_campaign.write(tmp_path, [full, on("a")], inputs=3, repetitions=2)
    with pytest.raises(OutsideFailureError) as told:
        run(tmp_path, nodes)
    records = read_records(tmp_path)
    assert [(one.attempt.variant, one.attempt.outcome) for one in records] == [
        ("full", "interrupted"), ("on-a", "completed"), ("on-a", "completed"),
    ]  # fmt: skip
    assert [(one.slug, one.values["attempt"]) for one in told.value.faults] == [
        ("ray-cut-off", records[0].attempt.attempt_id)
    ]


@needs_ray
@pytest.mark.timeout(180)
def test_what_an_earlier_run_left_on_a_node_is_ended_and_cleared(tmp_path: Path, nodes: Nodes) -> None:
    """Its driver was killed: the folder goes, and a process that still measures in it; another campaign's stay."""
    if "a" not in nodes.node:
        nodes.join("a")
    fast_campaign.write(tmp_path, [on("a")], inputs=2, repetitions=1)
    (tmp_path / "work.py").write_text(SLOW)
    choice = EngineChoice("ray", nodes.cluster.address)
    with Interrupts() as interrupts:
        host = Host(print, lambda: datetime.now(UTC), interrupts, "forkserver")
        engine = RayAttempts(tmp_path.resolve(), fast_campaign.read(tmp_path), host, (), choice)
    at = Path(os.environ["TMPDIR"])
    ours, others = (at / Place(one, "0123", "node").folder.name for one in (engine._name, "0" * 12))
    for one in (ours, others):
        (one / "attempts" / "v_c_r1_x").mkdir(parents=True)
    left = subprocess.Popen(["sleep", "100"], env={**os.environ, MARK: "v_c_r1_x"})
    try:
        run(tmp_path, nodes)
        assert left.wait(10) == -signal.SIGKILL
    finally:
        left.kill()
    assert not ours.exists()
    assert others.exists()
    shutil.rmtree(others)
    assert not list(at.glob(f"lab-ray-{engine._name}-*"))


@needs_ray
@pytest.mark.timeout(180)
def test_what_a_node_cannot_run_is_said_once_before_the_first_pass(tmp_path: Path, nodes: Nodes) -> None:
    """A module that is nowhere, for two variants on one node: two faults by name, nothing on record, nothing left."""
    if "a" not in nodes.node:
        nodes.join("a")
    variants = [{**on("a"), "id": one, "function": "nowhere:f"} for one in ("one", "two")]
    fast_campaign.write(tmp_path, variants, inputs=2, repetitions=1)
    with pytest.raises(InvalidInputError) as told:
        run(tmp_path, nodes)
    assert [(one.slug, one.place) for one in told.value.faults] == [
        ("module-missing", "variants.one.function"),
        ("module-missing", "variants.two.function"),
    ]
    assert not (tmp_path / "attempts").exists()


@needs_ray
@pytest.mark.timeout(180)
def test_a_pass_that_ray_ends_for_memory_was_out_of_memory(
    tmp_path: Path, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's own watch over a node's memory ends a task before the kernel does: the outcome says so."""
    if "a" not in nodes.node:
        nodes.join("a")

    def measure(*_given: object) -> None:
        raise importlib.import_module("ray.exceptions").OutOfMemoryError("killed")

    monkeypatch.setattr(ray_node, "measure", measure)
    fast_campaign.write(tmp_path, [on("a")], inputs=2, repetitions=1)
    (record,) = run(tmp_path, nodes).records
    assert record.attempt.outcome == "out_of_memory"
    assert record.details.ended_because == reason("ended.node_memory")


@needs_ray
@pytest.mark.timeout(180)
def test_a_cluster_of_another_python_is_told_from_none(tmp_path: Path, nodes: Nodes) -> None:
    """Ray refuses to join it: both sides' versions are said, and not that nobody answers."""
    from ray import _raylet
    from ray._common.usage import usage_constants
    from ray._private import ray_constants

    store = _raylet.GcsClient(address=nodes.cluster.address)
    place = ray_constants.KV_NAMESPACE_CLUSTER
    before = store.internal_kv_get(usage_constants.CLUSTER_METADATA_KEY, place)
    other = json.dumps({**json.loads(before), "python_version": "3.9.1"}).encode()
    fast_campaign.write(tmp_path, [on("a")])
    store.internal_kv_put(usage_constants.CLUSTER_METADATA_KEY, other, True, place)  # noqa: FBT003  (Ray's own)
    try:
        with pytest.raises(OutsideFailureError) as told:
            run(tmp_path, nodes)
    finally:
        store.internal_kv_put(usage_constants.CLUSTER_METADATA_KEY, before, True, place)  # noqa: FBT003  (Ray's own)
    (fault,) = told.value.faults
    assert (fault.slug, fault.values["python"]) == ("ray-other-versions", "3.9.1")
    assert fault.values["own_python"] == platform.python_version()


@needs_ray
def test_a_program_that_is_no_cluster_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something answers at the address and says nothing Ray knows: Ray alone would hang for minutes, deaf to Ctrl-C."""
    monkeypatch.setattr(ray_connect, "_TRY_S", 3)
    with socket.create_server(("127.0.0.1", 0)) as other, Interrupts() as interrupts:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        ray = importlib.import_module("ray")
        with pytest.raises(OutsideFailureError, match="ray-unreachable"), joined(ray, address, interrupts):
            pass
        interrupts.asked = signal.SIGINT
        with pytest.raises(KeyboardInterrupt), joined(ray, address, interrupts):
            pass


def test_an_address_without_its_engine_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab run --address` alone would silently measure here."""
    assert main(["run", str(tmp_path), "--address", "head:6379", "--lang", "en"]) == 2
    assert "--engine ray" in capsys.readouterr().err
