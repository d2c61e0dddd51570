"""Running a campaign: what is still missing, one pass after the other, each on record before and after it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import Fault, InvalidInputError
from lab.measure.attempts import Host, StartMethod
from lab.measure.engines import EngineChoice
from lab.measure.events import Event, Recovered
from lab.measure.interrupts import Interrupts
from lab.measure.lock import run_lock
from lab.measure.recovery import recover
from lab.measure.schedule import plan, remaining
from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.manifest import Manifest
from lab.store.attempts import read_records
from lab.workloads import declaration_faults, workload

__all__ = ["RunResult", "StartMethod", "run_campaign", "setting_faults"]


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
    engine: EngineChoice = EngineChoice(),  # noqa: B008  (frozen)
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
        engine: where passes are run; on a cluster, what a variant needs is checked on the node that is to run it.
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
    here = {slot.variant for slot in slots} if engine.name == "local" else ()
    left_to_run = {slot.variant for slot in remaining(slots, campaign.records)}
    if faults := (*engine.faults(campaign.manifest, left_to_run), *setting_faults(campaign.manifest, folder, here)):
        raise InvalidInputError(*faults)
    recovered: list[Record] = []
    with run_lock(folder), Interrupts() as interrupts:
        at_start()
        for record in recover(folder, campaign.manifest.language):
            recovered.append(record)
            on_attempt(record)
            observe(Recovered(record))
        done = (*(one for one in campaign.records if one.declared), *read_records(folder))
        host = Host(observe, now, interrupts, start_method)
        records: list[Record] = []
        if left := remaining(slots, done):  # else no cluster need be there either
            with engine.start(folder, campaign, host, slots) as attempts:
                records = attempts.all(left, done, on_attempt)
    return RunResult(tuple(records), tuple(recovered), len(slots))


def setting_faults(manifest: Manifest, folder: Path, only: Collection[str] | None = None) -> tuple[Fault, ...]:
    """What in the manifest, or missing on this machine, makes every pass of a variant impossible; known without one.

    `only`: the variants of this host; None: all.
    """
    faults: list[Fault] = []
    undeclared = declaration_faults(manifest.variants)
    faults.extend(undeclared)
    for variant in () if undeclared else manifest.variants:
        if only is None or variant.id in only:
            found = workload(variant.workload).check(variant, folder)
            faults.extend(one for one in found if one not in faults)  # what the machine lacks is said once
    return tuple(faults)
