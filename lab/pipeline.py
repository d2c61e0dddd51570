"""The straight path: a campaign folder in; attempts, verdicts, a decision and a report out."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import CheckFoundError, Fault, InvalidInputError, UsageProblemError, fault
from lab.messages import DASH, LANGUAGES
from lab.model.attempt import COLUMNS, FAILURES, Record, Slot

if TYPE_CHECKING:  # slow to import, and most commands never need them
    from lab.calcul_forfaits import Answer
    from lab.measure.events import Event
    from lab.measure.progress import Current
    from lab.model.campaign import Campaign, Change, Seal
    from lab.model.decision import Decision, Verdict
    from lab.report.versions import Published

MANIFEST = "manifest.toml"
WORKBOOK = "campaign.xlsx"
JUDGED = tuple(column.name for column in COLUMNS if column.owner == "judged")


@dataclass(frozen=True)
class Judgement:
    """What judging a campaign gave.

    Attributes:
        campaign: as it was read.
        decision: what follows from it.
        altered: ids of attempts whose predictions were changed after they were measured.
        fault: why the verdicts could not be written into the workbook; None when they are in it.
    """

    campaign: Campaign
    decision: Decision
    altered: tuple[str, ...]
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
    """How far a campaign is, and what runs at this moment (None: nothing)."""

    variants: tuple[VariantStatus, ...]
    running: Current | None


def campaign_language(folder: Path) -> str | None:
    """The language the campaign in `folder` declares; None where there is none to be read."""
    try:
        declared = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("language")
    except (OSError, ValueError):
        return None
    return declared if declared in LANGUAGES else None


def initialise(folder: Path, language: str, name: str | None = None) -> Path:
    """Make an empty campaign to fill: a commented manifest and a workbook in `language`.

    Raises:
        UsageProblemError: the folder holds a campaign already, or is a file.
    """
    from lab.store.catalogue import shipped_offers
    from lab.store.files import write_atomically
    from lab.store.manifest import read_manifest
    from lab.store.starter import starter_manifest, starter_name
    from lab.store.workbook import write_workbook
    from lab.store.workbook.content import empty_content

    if folder.exists() and not folder.is_dir():
        raise UsageProblemError(fault("campaign-is-a-file", file=str(folder)))
    for existing in (MANIFEST, WORKBOOK):
        if (folder / existing).exists():
            raise UsageProblemError(fault("campaign-exists", file=str(folder), name=existing))
    folder.mkdir(parents=True, exist_ok=True)
    text = starter_manifest(language, name or starter_name(folder))
    write_atomically(folder / MANIFEST, text.encode("utf-8"))
    manifest = read_manifest(folder / MANIFEST)
    write_workbook(folder / WORKBOOK, replace(empty_content(manifest), offers=shipped_offers()), manifest)
    return folder


def load(folder: Path, *, examine: bool = True) -> Campaign:
    """Read everything a campaign folder holds; every fault of its inputs at once."""
    from lab.store.campaign import read_campaign

    return read_campaign(folder, examine=examine)


def check(folder: Path) -> tuple[Campaign | None, tuple[Fault, ...]]:
    """Read a campaign and list what stands in the way of measuring or judging it; empty when nothing does."""
    from lab.workloads import declaration_faults

    try:
        campaign = load(folder)
    except InvalidInputError as error:
        return None, error.faults
    workloads = declaration_faults(campaign.manifest.variants)
    return campaign, (*workloads, *missing_terms(campaign), *seal_faults(campaign), *campaign.notices)


def missing_terms(campaign: Campaign) -> tuple[Fault, ...]:
    """A fault for each protocol field that must be decided before the first timing and is still empty."""
    from lab.store.workbook import missing_fields

    return tuple(
        fault("protocol-field-missing", file=WORKBOOK, place="protocol", field=spec.name)
        for spec in missing_fields(campaign.protocol)
    )


def seal_faults(campaign: Campaign) -> tuple[Fault, ...]:
    """A fault for each sealed value that was changed since, old value and new value."""
    changes: tuple[Change, ...] = campaign.seal.changes if campaign.seal else ()
    return tuple(
        fault("seal-changed", place=change.name, sealed=change.sealed or DASH, now=change.now or DASH)
        for change in changes
    )


def seal(folder: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Seal:
    """Take the seal of a campaign, or return the one that holds.

    Raises:
        InvalidInputError: a required term of the protocol is empty.
        CheckFoundError: what is sealed has been changed since.
    """
    from lab.store.seal import take_seal

    campaign = load(folder, examine=False)
    _check_terms(campaign)
    if campaign.seal:
        return campaign.seal
    return take_seal(folder, campaign.manifest, campaign.protocol, campaign.corpora, now())


def _check_terms(campaign: Campaign) -> None:
    if missing := missing_terms(campaign):
        raise InvalidInputError(*missing)
    if changed := seal_faults(campaign):
        raise CheckFoundError(*changed)


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
) -> Judgement:
    """Measure what is still to be measured, then judge. Goes on where an earlier run stopped.

    Args:
        folder: the campaign folder.
        only: ids of the variants that belong to this host; None: all.
        observe: takes the events of the run as they happen (`lab.measure.events`).
        notice: takes what went another way than planned, such as rows written to a file beside the workbook.
    """
    from lab.measure.runner import run_campaign
    from lab.store.workbook import append_attempts

    campaign = load(folder, examine=False)
    _check_terms(campaign)
    plan(campaign, only)  # a wrong id is said before anything is sealed
    campaign = replace(campaign, seal=seal(folder))

    def append(records: Sequence[Record]) -> None:
        rows = [record.attempt for record in records]
        written = append_attempts(folder / WORKBOOK, rows, campaign.manifest.language)
        if written.fault:
            notice(written.fault)

    def on_attempt(record: Record) -> None:
        append([record])

    # An earlier run can have been cut off between an attempt and its row.
    without_row = {one.values["id"] for one in campaign.notices if one.slug == "attempt-without-row"}
    if late := [record for record in campaign.records if record.attempt.attempt_id in without_row]:
        append(late)
    run_campaign(folder, campaign, only=only, observe=observe, on_attempt=on_attempt)
    return judge(folder)


def judge(folder: Path) -> Judgement:
    """Recompute every verdict from the predictions, write them into the rows that exist, and decide."""
    from lab.analysis.decide import decide
    from lab.store.workbook import update_judged

    campaign = load(folder)
    decision = decide(campaign)
    stale = _stale(campaign, decision)
    written = update_judged(folder / WORKBOOK, stale, campaign.manifest.language) if stale else None
    altered = tuple(name for name, evidence in sorted(campaign.evidence.items()) if evidence.altered)
    return Judgement(campaign, decision, altered, written.fault if written else None)


def _stale(campaign: Campaign, decision: Decision) -> dict[str, dict[str, object]]:
    """The judged cells of each attempt whose row says something else."""
    found = {}
    for record in campaign.records:
        cells = judged_cells(decision.verdicts[record.attempt.attempt_id])
        if not record.declared and any(getattr(record.attempt, name) != value for name, value in cells.items()):
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

    campaign = load(folder, examine=False)
    slots, left = plan(campaign)
    outcomes = [(record.attempt.variant, record.attempt.outcome) for record in campaign.records]
    variants = tuple(
        VariantStatus(
            id=variant.id,
            planned=sum(slot.variant == variant.id for slot in slots),
            left=sum(slot.variant == variant.id for slot in left),
            failed=sum(outcomes.count((variant.id, outcome)) for outcome in FAILURES),
            interrupted=outcomes.count((variant.id, "interrupted")),
        )
        for variant in campaign.manifest.variants
    )
    return Status(variants, current(folder) if is_running(folder) else None)


def price(  # noqa: PLR0913  (the options of `lab price`, one by one)
    gpu: str,
    days: int | None,
    lots: int,
    *,
    periods: int = 1,
    window: str | None = None,
    accepted: int | None = None,
    catalogue: Path | None = None,
) -> Answer:
    """What a package commits, by the very code of `calcul_forfaits.py`; `window` in hours, as typed.

    Raises:
        InvalidInputError: the catalogue cannot be read, or holds no such card or package.
        UsageProblemError: a number that cannot be.
    """
    from lab.prices import answer, read_catalogue
    from lab.store.catalogue import shipped_offers

    try:
        hours = None if window is None else Decimal(window)
    except InvalidOperation:
        hours = Decimal("NaN")
    if hours is not None and not hours.is_finite():
        raise UsageProblemError(fault("price-option", place="--window", value=window, wanted="96.5"))
    offers = read_catalogue(catalogue) if catalogue else shipped_offers()
    return answer(offers, gpu, days, lots=lots, periods=periods, window=hours, accepted=accepted)


def report(folder: Path) -> Published:
    """Judge, decide and publish: the version that already says the same, or a new one."""
    from lab.report.document import build
    from lab.report.versions import publish

    judgement = judge(folder)
    return publish(folder, build(judgement.campaign, judgement.decision), author_notes(folder))


def author_notes(folder: Path) -> dict[str, str]:
    """The author's own words: `notes.<language>.md` in the campaign folder, by language; absent ones left out."""
    from lab.store.files import read_text

    paths = {language: folder / f"notes.{language}.md" for language in LANGUAGES}
    return {language: read_text(path) for language, path in paths.items() if path.is_file()}
