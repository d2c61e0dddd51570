"""The straight path: a campaign folder in; attempts, verdicts, a decision and a report out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lab.checks import evidence_faults, ready, seal_dates, seal_faults, term_faults
from lab.errors import Fault, InvalidInputError, UsageProblemError, fault
from lab.messages import LANGUAGES
from lab.model.attempt import COLUMNS, FAILURES, Record, Slot
from lab.model.names import MANIFEST

if TYPE_CHECKING:  # slow to import, and most commands never need them
    from lab.measure.engines import EngineChoice
    from lab.measure.events import Event
    from lab.measure.progress import Current
    from lab.model.campaign import Campaign, Seal
    from lab.model.decision import Decision, Verdict
    from lab.report.verify import Verification
    from lab.report.versions import Published
    from lab.store.bundle import Bundle

JUDGED = tuple(column.name for column in COLUMNS if column.owner == "judged")


@dataclass(frozen=True)
class Judgement:
    """What judging a campaign gave.

    Attributes:
        campaign: as it was read.
        decision: what follows from it.
        evidence: a fault for each attempt whose predictions are not what was measured.
        fault: why the verdicts could not be written into the workbook; None when they are in it.
    """

    campaign: Campaign
    decision: Decision
    evidence: tuple[Fault, ...]
    fault: Fault | None


@dataclass(frozen=True)
class VariantStatus:
    """How far one variant is, in passes: an interrupted one is run again, a failed one is done."""

    id: str
    planned: int
    left: int
    failed: int
    interrupted: int

    @property
    def done(self) -> int:
        """Planned passes that have their attempt."""
        return self.planned - self.left


@dataclass(frozen=True)
class Status:
    """How far a campaign is, what runs at this moment (None: nothing), and sealed values that were changed since.

    `evidence` names records that cannot be read, and predictions files that are gone or were changed.
    """

    variants: tuple[VariantStatus, ...]
    running: Current | None
    changed: tuple[Fault, ...] = ()
    evidence: tuple[Fault, ...] = ()


def campaign_language(folder: Path) -> str | None:
    """The language the campaign in `folder` declares; None where there is none to be read."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    # By its line, not as TOML: a manifest that does not parse is told in its own language too.
    found = re.search(r"^language\s*=\s*[\"'](\w+)", text, re.MULTILINE)
    return found[1] if found and found[1] in LANGUAGES else None


def initialise(folder: Path, language: str, name: str | None = None) -> Path:
    """Make an empty campaign to fill: a commented manifest and a workbook in `language`.

    Raises:
        UsageProblemError: the folder holds a campaign already, or is a file, or `name` is no id.
        OutsideFailureError: the folder cannot be written.
    """
    from lab.store.starter import start_campaign
    from lab.store.workbook import campaign_workbook

    for existing in (MANIFEST, campaign_workbook(folder).name):
        if (folder / existing).exists():
            raise UsageProblemError(fault("campaign-exists", file=str(folder), name=existing))
    return start_campaign(folder, language, name)


def load(folder: Path, *, examine: bool = True) -> Campaign:
    """Read everything a campaign folder holds; every fault of its inputs at once."""
    from lab.store.campaign import read_campaign

    return read_campaign(folder, examine=examine)


def seal(
    folder: Path, *, only: Collection[str] | None = None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Seal:
    """Take the seal of a campaign, or return the one that holds; `only`: the variants that must be able to run here.

    Raises:
        InvalidInputError: a required term of the protocol is empty.
        CheckFoundError: what is sealed has been changed since.
    """
    from lab.store.seal import take_seal

    campaign = load(folder, examine=False)
    ready(campaign, folder, only)
    if campaign.seal:
        return campaign.seal
    return take_seal(folder, campaign.manifest, campaign.protocol, campaign.corpora, now())


def amend(folder: Path, reason: str, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Seal:
    """Put a new seal over what is declared now; the earlier one is kept, with why and which attempts were known.

    Raises:
        UsageProblemError: no reason, no seal yet, or nothing that is sealed has changed.
        InvalidInputError: a required term of the protocol is empty or means nothing.
        CheckFoundError: a run is under way.
    """
    from lab.measure.lock import run_lock
    from lab.store.seal import amend_seal

    campaign = load(folder, examine=False)
    if wrong := term_faults(campaign, folder):
        raise InvalidInputError(*wrong)
    with run_lock(folder):
        return amend_seal(folder, campaign, reason, now())


def plan(campaign: Campaign, only: Collection[str] | None = None) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
    """All planned passes (of the variants `only`, when given) in their order, and those that are still to run."""
    from lab.measure.schedule import plan as planned
    from lab.measure.schedule import remaining

    slots = planned(campaign.manifest, campaign.protocol, only=only)
    return slots, remaining(slots, campaign.records)


def run(
    folder: Path,
    *,
    only: Collection[str] | None = None,
    observe: Callable[[Event], None] = lambda _event: None,
    notice: Callable[[Fault], None] = lambda _fault: None,
    engine: EngineChoice | None = None,
) -> Judgement:
    """Measure what is still to be measured, then judge. Goes on where an earlier run stopped.

    Args:
        folder: the campaign folder.
        only: ids of the variants that belong to this host; None: all.
        observe: takes the events of the run as they happen (`lab.measure.events`).
        notice: takes what went another way than planned, such as rows written to a file beside the workbook.
        engine: where passes are run; None: on this machine.

    Raises:
        InvalidInputError: an input, a term of the protocol, a setting or `only` is wrong; nothing is sealed then.
        CheckFoundError: what is sealed has been changed since, or a run is under way.
        OutsideFailureError: the disk or the cluster refused.
    """
    from lab.measure.engines import EngineChoice
    from lab.measure.runner import run_campaign
    from lab.store.workbook import append_attempts, campaign_workbook

    campaign = load(folder, examine=False)  # whatever can be wrong is said before anything is sealed
    engine = engine or EngineChoice()
    here = only if engine.name == "local" else ()  # a cluster's nodes say themselves what they can run
    ready(campaign, folder, here)
    left = {slot.variant for slot in plan(campaign, only)[1]}
    if faults := engine.faults(campaign.manifest, left):
        raise InvalidInputError(*faults)
    campaign = replace(campaign, seal=seal(folder, only=here))

    taken = True

    def append(records: Sequence[Record]) -> bool:
        rows = [record.attempt for record in records]
        written = append_attempts(campaign_workbook(folder), rows, campaign.manifest.language)
        if written.fault:
            notice(written.fault)
        return written.fault is None

    def on_attempt(record: Record) -> None:
        nonlocal taken  # a workbook that is open elsewhere is tried again when the run ends, not after every pass
        taken = taken and append([record])

    def late_rows() -> None:
        """An earlier run can have been cut off between an attempt and its row."""
        now = load(folder, examine=False)
        without_row = {one.values["id"] for one in now.notices if one.slug == "attempt-without-row"}
        if late := [record for record in now.records if record.attempt.attempt_id in without_row]:
            append(late)

    try:
        run_campaign(
            folder, campaign, only=only, observe=observe, on_attempt=on_attempt, at_start=late_rows, engine=engine
        )
    finally:
        if not taken:
            late_rows()
    return judge(folder)


def judge(folder: Path) -> Judgement:
    """Recompute every verdict from the predictions, write them into the rows that exist, and decide.

    While a run is under way it owns the workbook, and writes the verdicts itself when it ends.
    """
    from lab.analysis.decide import decide
    from lab.measure.lock import is_running
    from lab.store.workbook import campaign_workbook, update_judged
    from lab.store.wrong_ids import keep_wrong_ids

    campaign = load(folder)
    decision = decide(campaign)
    keep_wrong_ids(folder, campaign)
    stale = {} if is_running(folder) else stale_cells(campaign, decision)
    written = update_judged(campaign_workbook(folder), stale, campaign.manifest.language) if stale else None
    return Judgement(campaign, decision, evidence_faults(campaign), written.fault if written else None)


def stale_cells(campaign: Campaign, decision: Decision) -> dict[str, dict[str, object]]:
    """The judged cells of each attempt whose row says something else."""
    found = {}
    for record in campaign.records:
        cells = judged_cells(decision.verdicts[record.attempt.attempt_id])
        if not record.typed and any(getattr(record.attempt, name) != value for name, value in cells.items()):
            found[record.attempt.attempt_id] = cells
    return found


def judged_cells(verdict: Verdict) -> dict[str, object]:
    """The judged columns of `raw-results` as this verdict fills them."""
    shown = {f.name: getattr(verdict, f.name) for f in fields(verdict)}
    return {name: verdict.verdict if name == "corpus_accepted" else shown[name] for name in JUDGED}


def status(folder: Path) -> Status:
    """How far the campaign is; reads only, so that it answers while a run is under way."""
    from lab.measure.lock import is_running
    from lab.measure.progress import current
    from lab.store.campaign import read_campaign
    from lab.store.findings import changed_predictions

    damaged: dict[str, Fault] = {}
    campaign = read_campaign(folder, examine=False, damaged=damaged)
    slots, left = plan(campaign)
    running = is_running(folder)
    begun = [one.attempt.variant for one in campaign.records if one.attempt.outcome is None and not one.declared]
    cut_off = [] if running else begun  # its runner is gone: the next run puts it on record as interrupted
    outcomes = [(record.attempt.variant, record.attempt.outcome) for record in campaign.records]
    variants = tuple(
        VariantStatus(
            id=variant.id,
            planned=sum(slot.variant == variant.id for slot in slots),
            left=sum(slot.variant == variant.id for slot in left),
            failed=sum(outcomes.count((variant.id, outcome)) for outcome in FAILURES),
            interrupted=outcomes.count((variant.id, "interrupted")) + cut_off.count(variant.id),
        )
        for variant in campaign.manifest.variants
    )
    evidence = (*damaged.values(), *seal_dates(campaign), *changed_predictions(folder, campaign.records))
    return Status(variants, current(folder) if running else None, seal_faults(campaign), evidence)


def report(folder: Path, *, notice: Callable[[Fault], None] = lambda _fault: None) -> Published:
    """Judge, decide and publish: the version that already says the same, or a new one.

    `notice` takes each sealed value that was changed since: the report says it, and its gate `sealed` fails.
    """
    from lab.report.document import build
    from lab.report.hashes import declared_values
    from lab.report.versions import publish

    judgement = judge(folder)
    campaign = judgement.campaign
    for one in seal_faults(campaign):
        notice(one)
    return publish(folder, build(campaign, judgement.decision), author_notes(folder), declared_values(campaign))


def verify(folder: Path, version: int | None = None) -> Verification:
    """Recompute everything from the folder and hold it against a version of the report, the latest by default."""
    from lab.report.verify import verify as compare

    return compare(folder, version, author_notes(folder))


def bundle(
    folder: Path,
    out: Path | None = None,
    *,
    with_corpus: bool = False,
    notice: Callable[[Fault], None] = lambda _fault: None,
) -> Bundle:
    """Pack the campaign as a BagIt bag into `out`, by default NAME.zip in the current folder.

    `notice` takes each sealed value that was changed since: the bag is packed all the same.
    """
    from lab.store.bundle import write_bundle

    campaign = load(folder)
    for one in seal_faults(campaign):
        notice(one)
    return write_bundle(folder, campaign, out or Path(f"{campaign.manifest.name}.zip"), with_corpus=with_corpus)


def site(out: Path, language: str, example: Path | None = None) -> tuple[Path, ...]:
    """Write the static site into `out`; the pages, first the one to open.

    `language`: the calculator opens in it. `example`: a measured campaign whose report the site shows.
    """
    from lab.report.kit import kits
    from lab.report.site import build_site

    return build_site(out, language, example=example, downloads=kits())


def kit(out: Path) -> tuple[Path, ...]:
    """Write the kit of every language into the folder `out`; the zip files."""
    from lab.report.kit import write_kits

    return write_kits(out)


def author_notes(folder: Path) -> dict[str, str]:
    """The author's own words: `notes.<language>.md` in the campaign folder, by language; absent ones left out."""
    from lab.store.files import read_text

    paths = {language: folder / f"notes.{language}.md" for language in LANGUAGES}
    return {language: read_text(path) for language, path in paths.items() if path.is_file()}
