"""The straight path: a campaign folder in; attempts, verdicts, a decision and a report out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import CheckFoundError, Fault, InvalidInputError, LabError, UsageProblemError, fault
from lab.messages import DASH, LANGUAGES, messages
from lab.model.attempt import COLUMNS, Record, Slot
from lab.model.campaign import Campaign, Change, Seal
from lab.model.decision import Decision, Verdict

MANIFEST = "manifest.toml"
WORKBOOK = "campaign.xlsx"
JUDGED = tuple(column.name for column in COLUMNS if column.owner == "judged")


@dataclass(frozen=True)
class Judgement:
    """What judging a campaign gave: the decision, and what the readers noticed."""

    campaign: Campaign
    decision: Decision
    altered: tuple[str, ...]
    workbook_fault: Fault | None


def initialise(folder: Path, language: str, name: str | None = None) -> Path:
    """Make an empty campaign to fill: a commented manifest and a workbook in `language`.

    Raises:
        UsageProblemError: the folder holds a campaign already, or is a file.
    """
    from lab.store.catalogue import shipped_offers  # noqa: PLC0415  (each command imports what it needs)
    from lab.store.files import write_atomically  # noqa: PLC0415
    from lab.store.manifest import read_manifest  # noqa: PLC0415
    from lab.store.starter import starter_manifest, starter_name  # noqa: PLC0415
    from lab.store.workbook import write_workbook  # noqa: PLC0415
    from lab.store.workbook.content import empty_content  # noqa: PLC0415

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
    from lab.store.campaign import read_campaign  # noqa: PLC0415

    return read_campaign(folder, examine=examine)


def check(folder: Path) -> tuple[Campaign | None, tuple[Fault, ...]]:
    """Read a campaign and list what stands in the way of measuring or judging it; empty when nothing does."""
    try:
        campaign = load(folder)
    except InvalidInputError as error:
        return None, error.faults
    return campaign, (*missing_terms(campaign), *seal_faults(campaign), *campaign.notices)


def missing_terms(campaign: Campaign) -> tuple[Fault, ...]:
    """A fault for each protocol field that must be decided before the first timing and is still empty."""
    from lab.store.workbook import missing_fields  # noqa: PLC0415

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
    from lab.store.corpus import read_corpus  # noqa: PLC0415
    from lab.store.seal import take_seal  # noqa: PLC0415

    campaign = load(folder, examine=False)
    if missing := missing_terms(campaign):
        raise InvalidInputError(*missing)
    if changed := seal_faults(campaign):
        raise CheckFoundError(*changed)
    if campaign.seal:
        return campaign.seal
    corpora = {spec.id: read_corpus(folder, spec) for spec in campaign.manifest.corpora}
    return take_seal(folder, campaign.manifest, campaign.protocol, corpora, now())


def plan(campaign: Campaign) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
    """All planned passes in the order they run, and those that are still to run."""
    from lab.measure.schedule import plan as planned  # noqa: PLC0415
    from lab.measure.schedule import remaining  # noqa: PLC0415

    slots = planned(campaign.manifest, campaign.protocol)
    return slots, remaining(slots, campaign.records)


def run(
    folder: Path,
    *,
    only: Collection[str] | None = None,
    observe: Callable[[object], None] = lambda _event: None,
    notice: Callable[[Fault], None] = lambda _fault: None,
) -> Judgement:
    """Measure what is still to be measured, then judge. Goes on where an earlier run stopped.

    Args:
        folder: the campaign folder.
        only: ids of the variants that belong to this host; None: all.
        observe: takes the events of the run as they happen (`lab.measure.events`).
        notice: takes what went another way than planned, such as rows written to a file beside the workbook.
    """
    from lab.measure.runner import run_campaign  # noqa: PLC0415
    from lab.store.workbook import append_attempts  # noqa: PLC0415

    seal(folder)
    campaign = load(folder, examine=False)
    language = campaign.manifest.language
    unknown = [one for one in only or () if campaign.manifest.variant(one) is None]
    if unknown:
        known = [variant.id for variant in campaign.manifest.variants]
        raise UsageProblemError(fault("run-unknown-variant", ids=unknown, known=known))

    def on_attempt(record: Record) -> None:
        written = append_attempts(folder / WORKBOOK, [record.attempt], language)
        if written.fault:
            notice(written.fault)

    run_campaign(folder, campaign, only=only, observe=observe, on_attempt=on_attempt)
    return judge(folder)


def judge(folder: Path) -> Judgement:
    """Recompute every verdict from the predictions, write them into the rows that exist, and decide."""
    from lab.analysis.decide import decide  # noqa: PLC0415
    from lab.store.workbook import update_judged  # noqa: PLC0415

    campaign = load(folder)
    decision = decide(campaign)
    rows = {
        record.attempt.attempt_id: judged_cells(decision.verdicts[record.attempt.attempt_id])
        for record in campaign.records
        if not record.declared
    }
    stale = {
        record.attempt.attempt_id: rows[record.attempt.attempt_id]
        for record in campaign.records
        if not record.declared and _differs(record, rows[record.attempt.attempt_id])
    }
    written = update_judged(folder / WORKBOOK, stale, campaign.manifest.language) if stale else None
    altered = tuple(name for name, evidence in sorted(campaign.evidence.items()) if evidence.altered)
    return Judgement(campaign, decision, altered, written.fault if written else None)


def judged_cells(verdict: Verdict) -> dict[str, object]:
    """The judged columns of `raw-results` as this verdict fills them."""
    shown = {f.name: getattr(verdict, f.name) for f in fields(verdict)}
    return {name: verdict.verdict if name == "corpus_accepted" else shown[name] for name in JUDGED}


def _differs(record: Record, cells: Mapping[str, object]) -> bool:
    return any(getattr(record.attempt, name) != value for name, value in cells.items())


def report(folder: Path) -> object:
    """Judge, decide and publish: the version that already says the same, or a new one."""
    from lab.report.document import build  # noqa: PLC0415
    from lab.report.versions import publish  # noqa: PLC0415

    judgement = judge(folder)
    return publish(folder, build(judgement.campaign, judgement.decision), author_notes(folder))


def author_notes(folder: Path) -> dict[str, str]:
    """The author's own words: `notes.<language>.md` in the campaign folder, by language; absent ones left out."""
    from lab.store.files import read_text  # noqa: PLC0415

    paths = {language: folder / f"notes.{language}.md" for language in LANGUAGES}
    return {language: read_text(path) for language, path in paths.items() if path.is_file()}
