"""The passes of a run on the nodes of a Ray cluster, each placed by what its variant declares.

Rounds go on in order. Within a round, variants are started in their rotated order; two are measured side by side only
on different hosts. A node runs a pass by the tool's own supervisor, so that exit codes, progress and process groups
are the same as on one machine; Ray only carries the order there and the attempt's folder back.
"""

from __future__ import annotations

import importlib
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from lab.errors import Fault, InvalidInputError, LabError, OutsideFailureError, fault
from lab.measure import endings, ray_node
from lab.measure.attempts import Host
from lab.measure.clock import seconds_since
from lab.measure.endings import Ending
from lab.measure.engines import EngineChoice
from lab.measure.events import AttemptEnded, AttemptProgress, AttemptStarted, Standing
from lab.measure.journal import End, finished, started
from lab.measure.ray_connect import joined
from lab.measure.ray_files import code_fingerprint, listing, pieces, unpack
from lab.measure.ray_nodes import Node, demands, described, fitting
from lab.measure.schedule import order_facts
from lab.model.attempt import Attempt, Outcome, Record, Slot
from lab.model.campaign import Campaign
from lab.model.manifest import Variant
from lab.model.reason import reason
from lab.store.attempt_json import from_json
from lab.store.attempts import ATTEMPT_JSON, attempt_folder, attempt_id, finish_attempt, start_attempt
from lab.store.canonical import sha256_text
from lab.store.environments import ENVIRONMENTS
from lab.store.files import read_json, write_atomically

_LOOK_S: Final = 0.25
_NODE_S: Final = 300.0  # for a node to answer before its first pass: a worker's start, its imports, the files
_SPARE_S: Final = 900.0  # beyond a pass's own limit: observing, loading the tool, waiting for what others hold
_STOP_S: Final = 15.0
_BYTES_PER_S: Final = 20e6  # that a slow disk reads and fingerprints


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
        self._name = sha256_text(f"{socket.gethostname()} {folder}")[:12]
        self._token = secrets.token_hex(4)
        self._cluster = ExitStack()
        self._asked: set[str] = set()  # nodes that may hold something of this run
        self._ready: dict[str, bool] = {}  # node -> whether it found the files at the campaign's own path
        self._lost: set[str] = set()
        self._refused: tuple[Fault, ...] = ()  # why nodes that came in mid-run were not used
        self._cut_off: dict[str, str] = {}  # variant -> its attempt that a node or the way back cut off
        self._cool: dict[str, float] = {}  # host -> when it may be used again
        self._running: dict[Any, _Running] = {}
        self._failures: dict[Outcome, int] = {}

    def __enter__(self) -> Self:
        """Connect, and read what the nodes are to have."""
        self._cluster.enter_context(joined(self._ray, self._choice.address, self._host.interrupts))
        try:
            self._files = listing(self._folder)
            size = sum((self._folder / name).stat().st_size for name in self._files)
            self._node_s = _NODE_S + size / _BYTES_PER_S
            self._code = code_fingerprint()
            here = self._pinned_to(self._ray.get_runtime_context().get_node_id(), soft=True)
            self._board = self._ray.remote(ray_node.Board).options(num_cpus=0, scheduling_strategy=here).remote()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Cancel what still runs, take the campaign's files off the nodes, and leave the cluster."""
        for one in self._running:
            self._ray.cancel(one)
        there = self._asked - self._lost  # Ray itself needs up to 15 s to take a lost node for dead
        left = [self._task(ray_node.remove, node).remote(self._place(node)) for node in there]
        if left:
            self._ray.wait(left, num_returns=len(left), timeout=_STOP_S)
        self._cluster.close()

    def all(
        self,
        slots: tuple[Slot, ...],
        earlier: Iterable[Record],  # noqa: ARG002  (the engines' one signature)
        on_attempt: Callable[[Record], None],
    ) -> list[Record]:
        """Run `slots` round by round; an attempt whose node or worker is lost is on record, and the run goes on.

        Before the first one, a node for each variant says whether it can run it; all that it cannot is told at once.

        Raises:
            InvalidInputError: settings that cannot be run; every one of them at once, and nothing is measured.
            KeyboardInterrupt: a person stopped the run; the attempts under way are on record.
            OutsideFailureError: a node that cannot be used, or the disk refused; or, once all else is done, passes that
                no node could take any more, or that were cut off and are to be run again.
        """
        self._check(slots)
        records: list[Record] = []
        unplaced: dict[str, int] = {}
        self._begun, self._total = 0, len(slots)
        for _, group in groupby(slots, key=lambda slot: (slot.round, slot.seed, slot.corpus)):
            for record in self._round(list(group), unplaced):
                records.append(record)
                on_attempt(record)
        self._host.interrupts.raise_if_asked()
        undone = [self._no_place(one, left=count) for one, count in unplaced.items()]
        undone += [fault("ray-cut-off", variant=one, attempt=name) for one, name in self._cut_off.items()]
        if undone:
            raise OutsideFailureError(*undone, *(self._refused if unplaced else ()))
        return records

    def _round(self, waiting: list[Slot], unplaced: dict[str, int]) -> Iterable[Record]:
        since: dict[str, float] = {}
        while waiting or self._running:
            if self._host.interrupts.asked is not None:
                yield from self._stop()
                raise KeyboardInterrupt
            for slot in tuple(waiting):
                if slot.variant in self._cut_off:  # its next pass would be cut off for the same reason
                    waiting.remove(slot)
                    continue
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
        try:
            if not self._made_ready(node, variant):
                return False
        except KeyboardInterrupt:  # first the passes under way are ended on record
            return False
        except LabError as error:  # one that came later and cannot be used: the others go on
            self._lost.add(node.id)
            self._refused += tuple(one for one in error.faults if one not in self._refused)
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
                return self._told(one, self._brought_back(one, self._ray.get(reference)))
        except (self._said.NodeDiedError, self._said.TaskUnschedulableError):
            self._lost.add(one.node.id)
            ending = ("failed", reason("ended.node_lost"))
        except self._said.WorkerCrashedError:
            ending = ("failed", reason("ended.node_worker_lost"))
        except self._said.OutOfMemoryError:
            ending = ("out_of_memory", reason("ended.node_memory"))
        except self._said.RayError as error:
            ending = ("failed", reason("ended.node_failed", error=type(error).__name__))
        return self._told(one, self._put_on_record(one, ending))

    def _brought_back(self, one: _Running, returned: ray_node.Returned | ray_node.Refused) -> Record:
        if isinstance(returned, ray_node.Refused):  # before its pass: nothing was measured, so it says nothing of it
            return self._put_on_record(one, ("interrupted", endings.of_fault(returned.error.faults[0], self._folder)))
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
        if outcome == "interrupted" and self._host.interrupts.asked is None:
            self._cut_off[one.slot.variant] = record.attempt.attempt_id
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

    def _check(self, slots: Iterable[Slot]) -> None:
        """Before the first pass: a node for every variant that has one, in time, that can do what the variant asks."""
        variants = [self._variant(one) for one in dict.fromkeys(slot.variant for slot in slots)]
        until = time.monotonic() + self._choice.place_within_s
        ready: dict[str, Node] = {}
        while lacking := [one for one in variants if one.id not in ready]:
            for variant in lacking:
                for node in self._fitting(variant):  # one that died just now may be among them
                    if variant.id not in ready and self._made_ready(node, variant):
                        ready[variant.id] = node
            if len(ready) == len(variants):
                break
            self._host.interrupts.raise_if_asked()
            if time.monotonic() > until:
                raise OutsideFailureError(*(self._no_place(one.id) for one in lacking if one.id not in ready))
            time.sleep(_LOOK_S)
        found: list[Fault] = []
        for variant in variants:
            node = ready[variant.id]
            task = self._task(ray_node.check, node.id)
            try:
                self._answer(task.remote(self._place(node.id), self._campaign, variant.id), variant)
            except InvalidInputError as error:
                found += [one for one in error.faults if one not in found]
        if found:
            raise InvalidInputError(*found)

    def _made_ready(self, node: Node, variant: Variant) -> bool:
        """Let the node have the campaign's files, once; False where it is gone."""
        if node.id in self._ready:
            return True
        place = self._place(node.id)
        self._asked.add(node.id)
        try:
            said = self._answer(self._task(ray_node.prepare, node.id).remote(place, self._at, self._files), variant)
            if said.code != self._code:
                raise OutsideFailureError(fault("ray-other-release", variant=variant.id))
            if not said.shared:
                for load in pieces(self._folder, self._files):
                    self._answer(self._task(ray_node.take, node.id).remote(place, load), variant)
                self._answer(self._task(ray_node.whole, node.id).remote(place, self._files), variant)
        except _gone(self._said):
            self._lost.add(node.id)
            return False
        self._ready[node.id] = said.shared
        return True

    def _answer(self, reference: Any, variant: Variant) -> Any:  # noqa: ANN401  (Ray's own types)
        """A node's answer before a pass of the variant.

        Raises LabError if it refused or failed, Ray's own error if it died, KeyboardInterrupt if a person stopped it.
        """
        until = time.monotonic() + self._node_s
        while time.monotonic() < until and not self._ray.wait([reference], timeout=_LOOK_S)[0]:
            if self._host.interrupts.asked is not None:
                self._ray.cancel(reference)
                raise KeyboardInterrupt
        try:
            answer = self._ray.get(reference, timeout=0)
        except _gone(self._said):
            raise
        except self._said.RayError as error:
            cause = getattr(error, "cause", None) or error
            raise OutsideFailureError(fault("ray-node-failed", variant=variant.id, error=str(cause)[:200])) from error
        if isinstance(answer, ray_node.Refused):
            raise answer.error
        return answer

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

    def _place(self, node: str) -> ray_node.Place:
        return ray_node.Place(self._name, self._token, node[:12])

    def _no_place(self, variant: str, left: int | None = None) -> Fault:
        wanted = described(demands(self._variant(variant)))
        seconds = self._choice.place_within_s
        if left is None:
            return fault("ray-no-place", variant=variant, wanted=wanted, seconds=seconds)
        return fault("ray-place-lost", variant=variant, wanted=wanted, seconds=seconds, count=left)


def _gone(said: Any) -> tuple[type[Exception], ...]:  # noqa: ANN401  (the module of Ray's errors)
    """What Ray raises where a node, or its process there, is no more."""
    return said.NodeDiedError, said.TaskUnschedulableError, said.WorkerCrashedError
