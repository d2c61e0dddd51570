"""The attempts of one run, one after the other, each on record before and after it runs."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Self
from zoneinfo import ZoneInfo

from lab.errors import InvalidInputError, OutsideFailureError, fault
from lab.measure import caches, endings
from lab.measure.absent_devices import unseen_faults
from lab.measure.accelerators import Seen
from lab.measure.bounded_log import BoundedLog
from lab.measure.clock import seconds_since
from lab.measure.environment import Observer, accelerator_needed, cpu_only
from lab.measure.estimate import Estimate, estimate
from lab.measure.events import AttemptEnded, AttemptProgress, AttemptStarted, CoolingDown, Event, Standing
from lab.measure.interrupts import Interrupts
from lab.measure.journal import End, finished, started
from lab.measure.orders import LOG_FILE, PREDICTIONS_FILE, Order
from lab.measure.progress import PROGRESS_FILE, read_progress
from lab.measure.recovery import clear_working_files
from lab.measure.result import RESULT_FILE, Result, read_result
from lab.measure.sampler import SCOPE, Sampler, device_places
from lab.measure.schedule import order_facts
from lab.measure.supervisor import Supervisor, WorkerEnd
from lab.model.attempt import Attempt, Outcome, Record, Slot
from lab.model.campaign import Campaign, Environment
from lab.model.manifest import CorpusSpec, Variant
from lab.model.reason import Reason, reason
from lab.store.attempts import attempt_folder, attempt_id, finish_attempt, read_records, start_attempt
from lab.store.environments import ENVIRONMENTS, write_environment
from lab.store.files import inside
from lab.workloads import workload
from lab.workloads.base import Job

StartMethod = Literal["forkserver", "spawn"]

_PROGRESS_EVERY_S: Final = 0.25
_OBSERVE_LIMIT_S: Final = 300.0
_WAIT_STEP_S: Final = 0.1


@dataclass(frozen=True)
class Host:
    """What surrounds a run: who listens, the clock, who may stop it, how workers are started.

    `token` ends each attempt's id; `facts` are kept with every attempt.
    """

    observe: Callable[[Event], None]
    now: Callable[[], datetime]
    interrupts: Interrupts
    start_method: StartMethod
    token: Callable[[], str] = lambda: secrets.token_hex(3)
    facts: Mapping[str, str] = field(default_factory=dict)


class Attempts:
    """One run: its launchers, one for each set of imports, and what it has observed and counted so far."""

    def __init__(self, folder: Path, campaign: Campaign, host: Host, planned: Sequence[Slot]) -> None:
        """Take the campaign and all slots of its plan; nothing starts before the `with` block is entered."""
        self._folder = folder
        self._campaign = campaign
        self._host = host
        self._planned = tuple(planned)
        self._supervisors: dict[tuple[str, ...], Supervisor] = {}
        self._failures: Counter[Outcome] = Counter()
        self._environments = Observer(folder, self._probe)

    def __enter__(self) -> Self:
        """Hold what the run opens."""
        self._open = ExitStack()
        self._sampler = self._open.enter_context(Sampler())
        return self

    def __exit__(self, *_error: object) -> None:
        """End every launcher, and with it whatever still runs."""
        self._open.close()

    def all(
        self, slots: tuple[Slot, ...], earlier: Iterable[Record], on_attempt: Callable[[Record], None]
    ) -> list[Record]:
        """Run `slots` in their order; `earlier` attempts tell how long one may take.

        Raises:
            KeyboardInterrupt: a person stopped the run; the attempt under way is on record.
            InvalidInputError: torch does not see the devices of a variant whose turn has come; its pass is not begun.
            OutsideFailureError: the disk refused; the attempt under way is on record, or will be by the next run.
        """
        before, records = tuple(earlier), list[Record]()
        for index, slot in enumerate(slots, start=1):
            if index > 1:
                self._cool_down()
            self._host.interrupts.raise_if_asked()
            guess = estimate((*before, *records), self._campaign.manifest.run.cool_down_s)
            record = self._attempt(slot, index, slots, guess)
            records.append(record)
            on_attempt(record)
            if record.details.ended_because == endings.NOT_WRITTEN[1]:
                raise OutsideFailureError(fault("run-not-written", attempt=record.attempt.attempt_id))
            if record.attempt.outcome == "interrupted":
                raise KeyboardInterrupt
            if index == len(slots) or slots[index].variant != slot.variant:
                self._release()
        self._host.interrupts.raise_if_asked()
        return records

    def _release(self) -> None:
        """Let the process of a variant whose passes are done go, before another one is measured."""
        if self._campaign.manifest.run.process == "per-variant":
            for one in self._supervisors.values():
                one.release()

    def _attempt(self, slot: Slot, index: int, slots: tuple[Slot, ...], guess: Estimate) -> Record:
        policy, language = self._campaign.manifest.run, self._campaign.manifest.language
        variant = next(one for one in self._campaign.manifest.variants if one.id == slot.variant)
        corpus = next(one for one in self._campaign.manifest.corpora if one.id == slot.corpus)
        supervisor = self._supervisor(workload(variant.workload).preload)
        environment = self._observed(variant)
        facts = {**order_facts(self._planned, slot), **self._dropped(variant, corpus), **self._host.facts}
        if self._campaign.seal is not None:
            facts["sealed_at"] = self._campaign.seal.sealed_at  # its date is in no fingerprint: every attempt keeps it
        record = started(self._new(slot, environment), slot, variant, policy, facts)
        name = record.attempt.attempt_id
        self._sampler.start(environment)

        began = time.perf_counter()
        start_attempt(self._folder, record)
        standing = Standing(slot, name, index, len(slots), dict(self._failures))
        self._host.observe(AttemptStarted(standing))
        order = self._order(slot, variant, corpus, name, environment)
        kills_before, log = endings.oom_kill_count(), BoundedLog(order.at / LOG_FILE)
        end = supervisor.run(
            order.write(),
            log.path,
            timeout_s=policy.timeout_s,
            keep=policy.process == "per-variant",
            asked_to_stop=lambda: self._host.interrupts.asked is not None,
            tick=_Ticker(self._host.observe, standing, order, began, self._sampler, guess, slots[index - 1 :], log),
        )
        result = read_result(order.at / RESULT_FILE)
        ending = _ending(end, result, policy.timeout_s, endings.oom_kill_count() - kills_before)
        ended = End(
            *ending,
            elapsed_s=seconds_since(began),
            result=result,
            progress=read_progress(order.at / PROGRESS_FILE),
            facts=self._facts_of(supervisor),
            host_peak_bytes=end.peak_bytes,
            known=self._sampler.known,
            taken=self._sampler.taken,
        )
        record = finished(self._with_what_came(record, variant, environment), ended, language)
        log.settle()
        finish_attempt(self._folder, record)
        self._forget(environment, record)
        clear_working_files(order.at)
        if ending[0] != "completed":
            self._failures[ending[0]] += 1
        left = guess.remaining_s(slots[index:])
        self._host.observe(AttemptEnded(replace(standing, failures=dict(self._failures)), record, left))
        return record

    def _new(self, slot: Slot, environment: Environment) -> Attempt:
        moment = self._host.now().astimezone(ZoneInfo(self._campaign.protocol.time_zone or "UTC"))
        seal = self._campaign.seal
        return Attempt(
            attempt_id=attempt_id(slot.variant, slot.corpus, slot.round, moment, self._host.token()),
            started_at=moment.isoformat(timespec="milliseconds"),
            environment=environment.fingerprint,
            seal=None if seal is None else seal.fingerprint,
        )

    def _order(self, slot: Slot, variant: Variant, corpus: CorpusSpec, name: str, environment: Environment) -> Order:
        run = self._campaign.manifest.run
        at = attempt_folder(self._folder, name)
        job = Job(
            folder=self._folder,
            variant=variant,
            corpus=corpus,
            size=self._campaign.corpora[corpus.id].size,
            seed=slot.seed,
            warm_up_passes=run.warm_up.passes,
            warm_up_inputs=run.warm_up.inputs,
            predictions=at / PREDICTIONS_FILE,
            recompilations=run.warm_up.recompilations,
        )
        return Order(job, at, corpus.labels, run.caches, device_places(environment.facts))

    def _observed(self, variant: Variant) -> Environment:
        environment = self._environments.observe(variant)
        if unseen := unseen_faults(variant, environment.facts):
            raise InvalidInputError(*unseen)
        write_environment(self._folder, environment)
        return environment

    def _with_what_came(self, record: Record, variant: Variant, environment: Environment) -> Record:
        """The record in the environment that holds the hub's model, where the attempt itself fetched it."""
        if variant.model is None or "model.sha256" in environment.facts:
            return record
        now = self._environments.observe(variant)
        if "model.sha256" not in now.facts:
            return record
        write_environment(self._folder, now)
        return replace(record, attempt=replace(record.attempt, environment=now.fingerprint))

    def _forget(self, before: Environment, record: Record) -> None:
        """Remove what was observed before the hub's model came, unless an attempt was in that environment."""
        if record.attempt.environment != before.fingerprint:
            used = {one.attempt.environment for one in read_records(self._folder)}
            if before.fingerprint not in used:
                (self._folder / ENVIRONMENTS / f"{before.fingerprint}.json").unlink(missing_ok=True)

    def _dropped(self, variant: Variant, corpus: CorpusSpec) -> dict[str, str]:
        """Drop the system's copies of what the attempt reads, where the manifest says so; what came of it."""
        if self._campaign.manifest.run.caches == "keep":
            return {}
        files = (inside(self._folder, corpus.path), *self._environments.contents.files(variant))
        return caches.drop_pages(files).facts()

    def _facts_of(self, supervisor: Supervisor) -> dict[str, str]:
        facts: dict[str, str] = {"start_method": supervisor.start_method}
        if supervisor.why_spawn is not None:
            facts["start_method_because"] = supervisor.why_spawn
        if self._sampler.kind is not None:
            facts["scope.peak_device_bytes"] = SCOPE.format(kind=self._sampler.kind, samples=self._sampler.samples)
        return facts

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


class _Ticker:
    """What happens ten times a second while a worker runs: a look at its devices, and now and then a progress event."""

    def __init__(  # noqa: PLR0913, PLR0917  (what it looks at and whom it tells, each of another kind)
        self,
        observe: Callable[[Event], None],
        standing: Standing,
        order: Order,
        began: float,
        sampler: Sampler,
        guess: Estimate,
        left: Sequence[Slot],
        log: BoundedLog,
    ) -> None:
        self._observe = observe
        self._standing = standing
        self._order = order
        self._began = began
        self._sampler = sampler
        self._guess = guess
        self._left = left
        self._log = log
        self._last = began

    def __call__(self) -> None:
        self._log.look()
        due = time.perf_counter() - self._last >= _PROGRESS_EVERY_S
        if not due and self._sampler.kind is None:
            return
        progress = read_progress(self._order.at / PROGRESS_FILE)
        if progress is None:
            return
        if progress.phase == "measuring":
            self._sampler.sample()
        if not due:
            return
        self._last = time.perf_counter()
        elapsed, size = seconds_since(self._began), self._order.job.size
        share = progress.completed / size if size and progress.phase == "measuring" else None
        self._observe(
            AttemptProgress(
                self._standing,
                phase=progress.phase,
                completed=progress.completed,
                inputs=size,
                rate=progress.rate,
                elapsed_s=elapsed,
                remaining_s=self._guess.remaining_s(self._left, elapsed, share),
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
