"""Running a campaign: what is still missing, one pass after the other, each on record before and after it runs."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, Self
from zoneinfo import ZoneInfo

from lab.errors import Fault, InvalidInputError, OutsideFailureError, fault
from lab.measure import endings
from lab.measure.clock import seconds_since
from lab.measure.environment import Observer, Seen, accelerator_needed, cpu_only
from lab.measure.events import AttemptEnded, AttemptProgress, AttemptStarted, CoolingDown, Event, Recovered, Standing
from lab.measure.interrupts import Interrupts
from lab.measure.journal import End, finished, started
from lab.measure.lock import run_lock
from lab.measure.orders import LOG_FILE, PREDICTIONS_FILE, Order
from lab.measure.progress import PROGRESS_FILE, read_progress
from lab.measure.recovery import clear_working_files, recover
from lab.measure.result import RESULT_FILE, Result, read_result
from lab.measure.schedule import plan, remaining
from lab.measure.supervisor import Supervisor, WorkerEnd
from lab.model.attempt import Attempt, Outcome, Record, Slot
from lab.model.campaign import Campaign
from lab.model.manifest import CorpusSpec, Manifest, Variant
from lab.model.reason import Reason, reason
from lab.store.attempts import attempt_folder, attempt_id, finish_attempt, read_records, start_attempt
from lab.store.environments import write_environment
from lab.workloads import declaration_faults, workload
from lab.workloads.base import Job

StartMethod = Literal["forkserver", "spawn"]

_PROGRESS_EVERY_S: Final = 0.25
_OBSERVE_LIMIT_S: Final = 300.0
_WAIT_STEP_S: Final = 0.1


@dataclass(frozen=True)
class RunResult:
    """What one run did.

    Attributes:
        records: the attempts of this run, in order.
        recovered: attempts of earlier runs that were ended on record first.
        planned: passes of the plan that this run was asked for, done or not.
    """

    records: tuple[Record, ...]
    recovered: tuple[Record, ...]
    planned: int


def run_campaign(  # noqa: PLR0913  (the two listeners and what a test or a host decides, all by name)
    folder: Path,
    campaign: Campaign,
    *,
    observe: Callable[[Event], None],
    on_attempt: Callable[[Record], None],
    only: Collection[str] | None = None,
    at_start: Callable[[], None] = lambda: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    start_method: StartMethod = "forkserver",
) -> RunResult:
    """Run every planned pass that is missing, in the plan's order.

    Args:
        folder: the campaign folder.
        campaign: as read from it; sealed already, if it is to be.
        observe: told what happens while it happens.
        on_attempt: given each record once it is on the disk, recovered ones included; its exceptions end the run.
        only: the variants of this host; None: all.
        at_start: called once no other run can be under way, before anything is measured.
        now: the clock of `started_at`.
        start_method: `spawn` gives each attempt a fresh interpreter instead of a fork of one that has its imports done.

    Raises:
        CheckFoundError: another run is under way in this folder.
        InvalidInputError: settings that cannot be run; every one of them at once, before the first pass.
        UsageProblemError: `only` names a variant that does not exist.
        OutsideFailureError: the disk or the operating system refused.
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP came; the attempt under way is on record as interrupted.
    """
    folder = folder.resolve()
    slots = plan(campaign.manifest, campaign.protocol, only=only)
    if faults := setting_faults(campaign.manifest, folder, {slot.variant for slot in slots}):
        raise InvalidInputError(*faults)
    recovered: list[Record] = []
    with run_lock(folder), Interrupts() as interrupts:
        at_start()
        for record in recover(folder, campaign.manifest.language):
            recovered.append(record)
            on_attempt(record)
            observe(Recovered(record))
        done = (*(one for one in campaign.records if one.declared), *read_records(folder))
        with _Run(folder, campaign, _Host(observe, now, interrupts, start_method)) as run:
            records = run.all(remaining(slots, done), on_attempt)
    return RunResult(tuple(records), tuple(recovered), len(slots))


def setting_faults(manifest: Manifest, folder: Path, only: Collection[str] | None = None) -> tuple[Fault, ...]:
    """What in the manifest, or missing on this machine, makes every pass of a variant impossible; known without one.

    `only`: the variants of this host; None: all.
    """
    faults: list[Fault] = []
    for key, value, supported in (
        ("process", manifest.run.process, manifest.run.process == "per-attempt"),
        ("caches", manifest.run.caches, manifest.run.caches == "keep"),
    ):
        if not supported:
            faults.append(fault("setting-unsupported", file="manifest.toml", place=f"run.{key}", key=key, value=value))
    undeclared = declaration_faults(manifest.variants)
    faults.extend(undeclared)
    for variant in () if undeclared else manifest.variants:
        if only is None or variant.id in only:
            found = workload(variant.workload).check(variant, folder)
            faults.extend(one for one in found if one not in faults)  # what the machine lacks is said once
    return tuple(faults)


@dataclass(frozen=True)
class _Host:
    """What surrounds a run: who listens, the clock, who may stop it, how workers are started."""

    observe: Callable[[Event], None]
    now: Callable[[], datetime]
    interrupts: Interrupts
    start_method: StartMethod


class _Run:
    """One run: its launchers, one for each set of imports, and what it has observed and counted so far."""

    def __init__(self, folder: Path, campaign: Campaign, host: _Host) -> None:
        self._folder = folder
        self._campaign = campaign
        self._host = host
        self._supervisors: dict[tuple[str, ...], Supervisor] = {}
        self._failures: Counter[Outcome] = Counter()
        self._environments = Observer(folder, self._probe)

    def __enter__(self) -> Self:
        self._open = ExitStack()
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def all(self, slots: tuple[Slot, ...], on_attempt: Callable[[Record], None]) -> list[Record]:
        records: list[Record] = []
        for index, slot in enumerate(slots, start=1):
            if index > 1:
                self._cool_down()
            self._host.interrupts.raise_if_asked()
            record = self._attempt(slot, index, len(slots))
            records.append(record)
            on_attempt(record)
            if record.attempt.outcome == "interrupted":
                raise KeyboardInterrupt
        self._host.interrupts.raise_if_asked()
        return records

    def _attempt(self, slot: Slot, index: int, total: int) -> Record:
        manifest = self._campaign.manifest
        variant = next(one for one in manifest.variants if one.id == slot.variant)
        corpus = next(one for one in manifest.corpora if one.id == slot.corpus)
        supervisor = self._supervisor(workload(variant.workload).preload)
        environment = self._environments.observe(variant)
        write_environment(self._folder, environment)

        moment = self._host.now().astimezone(self._zone())
        name = attempt_id(slot.variant, slot.corpus, slot.round, moment, secrets.token_hex(3))
        seal = self._campaign.seal
        known = Attempt(
            attempt_id=name,
            started_at=moment.isoformat(timespec="milliseconds"),
            environment=environment.fingerprint,
            seal=None if seal is None else seal.fingerprint,
        )
        record = started(known, slot, variant, manifest.run)
        began = time.perf_counter()
        start_attempt(self._folder, record)
        standing = Standing(slot, name, index, total, dict(self._failures))
        self._host.observe(AttemptStarted(standing))
        order = self._order(slot, variant, corpus, name)
        kills_before = endings.oom_kill_count()
        end = supervisor.run(
            order.write(),
            order.at / LOG_FILE,
            timeout_s=manifest.run.timeout_s,
            asked_to_stop=lambda: self._host.interrupts.asked is not None,
            tick=_Ticker(self._host.observe, standing, order, began),
        )
        result = read_result(order.at / RESULT_FILE)
        ending = _ending(end, result, manifest.run.timeout_s, endings.oom_kill_count() - kills_before)
        ended = End(
            *ending,
            elapsed_s=seconds_since(began),
            result=result,
            progress=read_progress(order.at / PROGRESS_FILE),
            facts={"start_method": supervisor.start_method},
            host_peak_bytes=end.peak_bytes,
        )
        record = finished(record, ended, manifest.language)
        finish_attempt(self._folder, record)
        clear_working_files(order.at)
        if ending[0] != "completed":
            self._failures[ending[0]] += 1
        self._host.observe(AttemptEnded(Standing(slot, name, index, total, dict(self._failures)), record))
        return record

    def _order(self, slot: Slot, variant: Variant, corpus: CorpusSpec, name: str) -> Order:
        size = self._campaign.corpora[corpus.id].size
        warm_up = self._campaign.manifest.run.warm_up
        at = attempt_folder(self._folder, name)
        job = Job(
            folder=self._folder,
            variant=variant,
            corpus=corpus,
            size=size,
            seed=slot.seed,
            warm_up_passes=warm_up.passes,
            warm_up_inputs=warm_up.inputs,
            predictions=at / PREDICTIONS_FILE,
        )
        return Order(job, at, corpus.labels)

    def _supervisor(self, modules: tuple[str, ...]) -> Supervisor:
        """The launcher that has these imports done; a new one when there is none, or when it was lost."""
        found = self._supervisors.get(modules)
        if found is None or not found.alive:
            found = self._open.enter_context(Supervisor(modules, start_method=self._host.start_method))
            self._supervisors[modules] = found
        return found

    def _probe(self, variant: Variant) -> Seen:
        """Ask torch in a worker of its own: this process never imports it, and never holds a device."""
        if not accelerator_needed(variant):
            return cpu_only(variant)
        supervisor = self._supervisor(workload(variant.workload).preload)
        with tempfile.TemporaryDirectory() as place:
            question, log = Path(place) / "device.json", Path(place) / LOG_FILE
            asked = {"device": variant.device, "devices": str(variant.devices)}
            question.write_text(json.dumps(asked), encoding="utf-8")
            supervisor.run(question, log, timeout_s=_OBSERVE_LIMIT_S)
            try:
                answer = json.loads(question.with_suffix(".answer").read_text(encoding="utf-8"))
            except FileNotFoundError:
                raise OutsideFailureError(fault("device-not-observed", device=variant.device)) from None
        return answer["facts"], tuple(answer["names"])

    def _cool_down(self) -> None:
        seconds = self._campaign.manifest.run.cool_down_s
        if seconds > 0:
            self._host.observe(CoolingDown(seconds))
            until = time.monotonic() + seconds
            while self._host.interrupts.asked is None and time.monotonic() < until:
                time.sleep(min(_WAIT_STEP_S, seconds))

    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self._campaign.protocol.time_zone or "UTC")


class _Ticker:
    """Turns the supervisor's ticks into progress events, four a second at most."""

    def __init__(self, observe: Callable[[Event], None], standing: Standing, order: Order, began: float) -> None:
        self._observe = observe
        self._standing = standing
        self._order = order
        self._began = began
        self._last = began

    def __call__(self) -> None:
        if time.perf_counter() - self._last < _PROGRESS_EVERY_S:
            return
        self._last = time.perf_counter()
        progress = read_progress(self._order.at / PROGRESS_FILE)
        if progress is not None:
            self._observe(
                AttemptProgress(
                    self._standing,
                    phase=progress.phase,
                    completed=progress.completed,
                    inputs=self._order.job.size,
                    rate=progress.rate,
                    elapsed_s=seconds_since(self._began),
                )
            )


def _ending(end: WorkerEnd, result: Result | None, limit_s: float, oom_kills: int) -> tuple[Outcome, Reason | None]:
    """How the attempt ended: what the worker said comes first, then who ended it, then its exit status."""
    if result is not None and result.outcome == "completed":
        return "completed", None
    if end.ended_by is not None:
        return (
            ("timed_out", reason("ended.timed_out", limit_s=limit_s))
            if end.ended_by == "timeout"
            else ("interrupted", reason("ended.interrupted"))
        )
    if result is not None and result.outcome is not None and result.reason is not None:
        return endings.with_kernel((result.outcome, result.reason), oom_kills=oom_kills)
    if result is not None:  # it was told to stop, and not by us
        return "failed", reason("ended.killed", signal="SIGTERM")
    if end.status is None:
        return "failed", reason("ended.worker_lost")
    return endings.with_kernel(endings.of_status(end.status), oom_kills=oom_kills)
