"""The passes of a run on the nodes of a Ray cluster, each placed by what its variant declares.

Rounds go on in order. Within a round, variants are started in their rotated order; two are measured side by side only
on different hosts. A node runs a pass by the tool's own supervisor, so that exit codes, progress and process groups
are the same as on one machine; Ray only carries the order there and the attempt's folder back.
"""

from __future__ import annotations

import importlib
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from lab.errors import Fault, InvalidInputError, OutsideFailureError, fault
from lab.measure import ray_node
from lab.measure.attempts import Host
from lab.measure.clock import seconds_since
from lab.measure.endings import Ending
from lab.measure.engines import EngineChoice
from lab.measure.events import AttemptEnded, AttemptProgress, AttemptStarted, Standing
from lab.measure.journal import End, finished, started
from lab.measure.ray_files import code_fingerprint, listing, unpack
from lab.measure.ray_nodes import Node, demands, fitting
from lab.measure.schedule import order_facts
from lab.model.attempt import Attempt, Outcome, Record, Slot
from lab.model.campaign import Campaign
from lab.model.manifest import Variant
from lab.model.reason import reason
from lab.store.attempt_json import from_json
from lab.store.attempts import ATTEMPT_JSON, attempt_folder, attempt_id, finish_attempt, start_attempt
from lab.store.environments import ENVIRONMENTS
from lab.store.files import read_json, write_atomically

_LOOK_S: Final = 0.25
_NODE_S: Final = 300.0  # for a node to answer before its first pass: a worker's start, its imports, the files
_SPARE_S: Final = 900.0  # beyond a pass's own limit: observing, loading the tool, waiting for what others hold
_STOP_S: Final = 15.0
_CONNECT_S: Final = 10.0


@dataclass(frozen=True)
class _Running:
    slot: Slot
    node: Node
    record: Record
    began: float
    standing: Standing


class RayAttempts:
    """One run over a cluster: its nodes as they come and go, and what each has been given."""

    def __init__(
        self, folder: Path, campaign: Campaign, host: Host, planned: Sequence[Slot], choice: EngineChoice
    ) -> None:
        """Take the campaign and all slots of its plan; nothing is asked of the cluster before the `with` block."""
        self._ray = importlib.import_module("ray")  # an extra: only this engine needs it
        self._said = importlib.import_module("ray.exceptions")
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        self._pinned_to = strategies.NodeAffinitySchedulingStrategy
        self._folder = folder
        self._at = str(folder)  # where a node that shares a file system finds the same files
        self._campaign = replace(campaign, records=(), evidence={}, evidence_faults={}, notices=())
        self._host = host
        self._planned = tuple(planned)
        self._choice = choice
        self._token = secrets.token_hex(4)
        self._ready: dict[str, bool] = {}  # node -> whether it found the files at the campaign's own path
        self._lost: set[str] = set()
        self._cool: dict[str, float] = {}  # host -> when it may be used again
        self._running: dict[Any, _Running] = {}
        self._failures: dict[Outcome, int] = {}
        self._blobs: dict[str, Any] = {}

    def __enter__(self) -> Self:
        """Connect, and let a node for each variant say whether it can run it; all that it cannot is told at once."""
        self._connected = not self._ray.is_initialized()
        if self._connected:
            _connect(self._ray, self._choice.address)
        try:
            self._files = listing(self._folder)
            self._code = code_fingerprint()
            here = self._pinned_to(self._ray.get_runtime_context().get_node_id(), soft=True)
            self._board = self._ray.remote(ray_node.Board).options(num_cpus=0, scheduling_strategy=here).remote()
            self._check()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Cancel what still runs, take the campaign's files off the nodes, and leave the cluster."""
        for one in self._running:
            self._ray.cancel(one)
        left = [self._task(ray_node.remove, node).remote(self._place(node)) for node in self._ready]
        if left:
            self._ray.wait(left, num_returns=len(left), timeout=_STOP_S)
        if self._connected:
            self._ray.shutdown()

    def all(
        self,
        slots: tuple[Slot, ...],
        earlier: Iterable[Record],  # noqa: ARG002  (the engines' one signature)
        on_attempt: Callable[[Record], None],
    ) -> list[Record]:
        """Run `slots` round by round; an attempt whose node or worker is lost is on record, and the run goes on.

        Raises:
            KeyboardInterrupt: a person stopped the run; the attempts under way are on record.
            OutsideFailureError: the disk refused; or, once all else is done, passes that no node could take any more.
        """
        records: list[Record] = []
        unplaced: dict[str, int] = {}
        self._begun, self._total = 0, len(slots)
        for _, group in groupby(slots, key=lambda slot: (slot.round, slot.seed, slot.corpus)):
            for record in self._round(list(group), unplaced):
                records.append(record)
                on_attempt(record)
        self._host.interrupts.raise_if_asked()
        if unplaced:
            raise OutsideFailureError(*(self._no_place(one, left=count) for one, count in unplaced.items()))
        return records

    def _round(self, waiting: list[Slot], unplaced: dict[str, int]) -> Iterable[Record]:
        since: dict[str, float] = {}
        while waiting or self._running:
            if self._host.interrupts.asked is not None:
                yield from self._stop()
                raise KeyboardInterrupt
            for slot in tuple(waiting):
                fits = self._fitting(self._variant(slot.variant))
                free = [node for node in fits if self._is_free(node)]
                if (free and self._start(slot, free[0])) or (not fits and self._given_up(slot, since, unplaced)):
                    waiting.remove(slot)
            yield from self._ended()

    def _given_up(self, slot: Slot, since: dict[str, float], unplaced: dict[str, int]) -> bool:
        """Whether no node for the slot has come in time; one that was given up before is not waited for again."""
        first = since.setdefault(slot.variant, time.monotonic())
        if slot.variant not in unplaced and time.monotonic() - first < self._choice.place_within_s:
            return False
        unplaced[slot.variant] = unplaced.get(slot.variant, 0) + 1
        return True

    def _start(self, slot: Slot, node: Node) -> bool:
        """Put the attempt on record and send it; False where the node turned out to be gone."""
        variant = self._variant(slot.variant)
        if not self._made_ready(node, variant):
            return False
        moment = self._host.now().astimezone(ZoneInfo(self._campaign.protocol.time_zone or "UTC"))
        token, seal = secrets.token_hex(3), self._campaign.seal
        known = Attempt(
            attempt_id=attempt_id(slot.variant, slot.corpus, slot.round, moment, token),
            started_at=moment.isoformat(timespec="milliseconds"),
            seal=None if seal is None else seal.fingerprint,
        )
        files = "shared" if self._ready[node.id] else "sent"
        facts = {"engine": f"ray {self._ray.__version__}", "engine.files": files}
        record = started(
            known, slot, variant, self._campaign.manifest.run, {**order_facts(self._planned, slot), **facts}
        )
        start_attempt(self._folder, record)
        self._begun += 1
        standing = Standing(slot, known.attempt_id, self._begun, self._total, dict(self._failures))
        self._host.observe(AttemptStarted(standing))
        asked = ray_node.PassOrder(self._campaign, self._planned, slot, moment, token, facts)
        task = self._task(ray_node.measure, node.id, variant)
        reference = task.remote(self._place(node.id), asked, self._board)
        self._running[reference] = _Running(slot, node, record, time.perf_counter(), standing)
        return True

    def _ended(self) -> Iterable[Record]:
        """Wait a moment; every attempt that has ended by then, its folder back and its record written."""
        if not self._running:
            time.sleep(_LOOK_S)
            return
        done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=_LOOK_S)
        self._tell_progress()
        limit = self._campaign.manifest.run.timeout_s + self._choice.place_within_s + _SPARE_S
        for one in list(self._running):
            late = time.perf_counter() - self._running[one].began > limit
            if one in done or late:
                if late:
                    self._ray.cancel(one, force=True)
                yield self._finish(one, late=late)

    def _finish(self, reference: Any, *, late: bool = False) -> Record:  # noqa: ANN401  (Ray's own type)
        one = self._running.pop(reference)
        self._cool[one.node.host] = time.monotonic() + self._campaign.manifest.run.cool_down_s
        ending: Ending = ("failed", reason("ended.node_silent"))
        try:
            if not late:
                record = self._brought_back(one, self._ray.get(reference))
                return self._told(one, record)
        except (self._said.NodeDiedError, self._said.TaskUnschedulableError):
            self._lost.add(one.node.id)
            ending = ("failed", reason("ended.node_lost"))
        except self._said.WorkerCrashedError:
            ending = ("failed", reason("ended.node_worker_lost"))
        except self._said.RayError as error:
            ending = ("failed", reason("ended.node_failed", error=type(error).__name__))
        return self._told(one, self._put_on_record(one, ending))

    def _brought_back(self, one: _Running, returned: ray_node.Returned) -> Record:
        at = attempt_folder(self._folder, one.record.attempt.attempt_id)
        if not unpack(returned.attempt, at, ATTEMPT_JSON):
            return self._put_on_record(one, ("interrupted", reason("ended.not_whole")))
        arrived = at / f".{ATTEMPT_JSON}"
        write_atomically(arrived, returned.attempt[ATTEMPT_JSON].data)
        record = from_json(read_json(arrived, ATTEMPT_JSON), ATTEMPT_JSON)
        name = f"{record.attempt.environment}.json"
        if name in returned.environments and not (self._folder / ENVIRONMENTS / name).exists():
            (self._folder / ENVIRONMENTS).mkdir(exist_ok=True)
            write_atomically(self._folder / ENVIRONMENTS / name, returned.environments[name].data)
        finish_attempt(self._folder, record)
        arrived.unlink()
        return record

    def _put_on_record(self, one: _Running, ending: Ending) -> Record:
        end = End(*ending, elapsed_s=seconds_since(one.began), result=None, progress=None)
        record = finished(one.record, end, self._campaign.manifest.language)
        finish_attempt(self._folder, record)
        return record

    def _told(self, one: _Running, record: Record) -> Record:
        outcome = record.attempt.outcome
        if outcome not in (None, "completed"):
            self._failures[outcome] = self._failures.get(outcome, 0) + 1
        self._host.observe(AttemptEnded(replace(one.standing, failures=dict(self._failures)), record))
        return record

    def _tell_progress(self) -> None:
        standings = {one.record.attempt.attempt_id: one.standing for one in self._running.values()}
        try:
            events = self._ray.get(self._board.take.remote(), timeout=_STOP_S)
        except self._said.RayError:  # only the view is poorer for it
            return
        for name, event in events.items():
            if name in standings and isinstance(event, AttemptProgress):
                self._host.observe(replace(event, standing=standings[name], remaining_s=None))

    def _stop(self) -> Iterable[Record]:
        """Ask every pass to end, as Ctrl-C does on one machine; what does not answer is on record as interrupted."""
        for one in self._running:
            self._ray.cancel(one)
        self._ray.wait(list(self._running), num_returns=len(self._running), timeout=_STOP_S)
        for reference in list(self._running):
            one = self._running.pop(reference)
            try:
                yield self._told(one, self._brought_back(one, self._ray.get(reference, timeout=0)))
            except self._said.RayError:
                yield self._told(one, self._put_on_record(one, ("interrupted", reason("ended.interrupted"))))

    def _check(self) -> None:
        """Before the first pass: a node for every variant, in time, that can do what the variant asks."""
        variants = [self._variant(one) for one in dict.fromkeys(slot.variant for slot in self._planned)]
        until = time.monotonic() + self._choice.place_within_s
        while lacking := [one for one in variants if not self._fitting(one)]:
            self._host.interrupts.raise_if_asked()
            if time.monotonic() > until:
                raise OutsideFailureError(*(self._no_place(one.id) for one in lacking))
            time.sleep(_LOOK_S)
        found: list[Fault] = []
        for variant in variants:
            node = self._fitting(variant)[0]
            if not self._made_ready(node, variant):
                raise OutsideFailureError(self._no_place(variant.id))
            task = self._task(ray_node.faults, node.id)
            said = self._answer(task.remote(self._place(node.id), self._campaign, variant.id), variant)
            found += [Fault(*one) for one in said]
        if found:
            raise InvalidInputError(*dict.fromkeys(found))

    def _made_ready(self, node: Node, variant: Variant) -> bool:
        """Let the node have the campaign's files, once; False where it is gone."""
        if node.id in self._ready:
            return True
        try:
            task = self._task(ray_node.prepare, node.id)
            said = self._answer(task.remote(self._place(node.id), self._at, self._files), variant)
            if said.code != self._code:
                raise OutsideFailureError(fault("ray-other-release", variant=variant.id))
            if not said.shared:
                names = list(self._files)
                for name in names:
                    if name not in self._blobs:
                        self._blobs[name] = self._ray.put((self._folder / name).read_bytes())
                sent = (self._blobs[name] for name in names)
                task = self._task(ray_node.take, node.id)
                self._answer(task.remote(self._place(node.id), names, self._files, *sent), variant)
        except (self._said.NodeDiedError, self._said.TaskUnschedulableError, self._said.WorkerCrashedError):
            self._lost.add(node.id)
            return False
        self._ready[node.id] = said.shared
        return True

    def _answer(self, reference: Any, variant: Variant) -> Any:  # noqa: ANN401  (Ray's own types)
        """A node's answer before a pass of the variant; OutsideFailureError if it failed, Ray's own if it died."""
        try:
            return self._ray.get(reference, timeout=_NODE_S)
        except (self._said.NodeDiedError, self._said.TaskUnschedulableError, self._said.WorkerCrashedError):
            raise
        except self._said.RayError as error:
            cause = getattr(error, "cause", None) or error
            raise OutsideFailureError(fault("ray-node-failed", variant=variant.id, error=str(cause)[:200])) from error

    def _task(self, act: Callable[..., Any], node: str, variant: Variant | None = None) -> Any:  # noqa: ANN401  (Ray's)
        """`act` as a task on this very node, tried once, holding what the variant declares."""
        wanted = dict(demands(variant)) if variant else {"CPU": 0.0}
        cpus, gpus = wanted.pop("CPU"), wanted.pop("GPU", 0.0)
        pinned = self._pinned_to(node, soft=False)
        return self._ray.remote(act).options(
            num_cpus=cpus, num_gpus=gpus, resources=wanted, max_retries=0, scheduling_strategy=pinned
        )

    def _fitting(self, variant: Variant) -> list[Node]:
        return fitting([Node.of(one) for one in self._ray.nodes() if one["Alive"]], demands(variant), self._lost)

    def _is_free(self, node: Node) -> bool:
        busy = {one.node.host for one in self._running.values()}
        return node.host not in busy and time.monotonic() >= self._cool.get(node.host, 0.0)

    def _variant(self, name: str) -> Variant:
        return next(one for one in self._campaign.manifest.variants if one.id == name)

    def _place(self, node: str) -> str:
        return f"{self._token}-{node[:12]}"

    def _no_place(self, variant: str, left: int | None = None) -> Fault:
        wanted = [f"{name} {amount:g}" for name, amount in demands(self._variant(variant)).items()]
        seconds = self._choice.place_within_s
        if left is None:
            return fault("ray-no-place", variant=variant, wanted=wanted, seconds=seconds)
        return fault("ray-place-lost", variant=variant, wanted=wanted, seconds=seconds, count=left)


def _connect(ray: Any, address: str | None) -> None:  # noqa: ANN401  (the module, imported by whoever calls)
    """Join the cluster; signals stay with the run, which Ray would take over."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if main else None
    try:
        if address is not None:  # Ray itself would try for minutes
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
        ray.init(address=address or "auto", log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError, OverflowError, OSError) as error:
        raise OutsideFailureError(fault("ray-unreachable", address=address or "auto")) from error
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)
