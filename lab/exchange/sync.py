"""`lab sync`: the workbook brought up to date with the attempts, keeping all that people declared.

It is completed in place: rows that are missing are added, the tool's own cells rewritten, rows that were written beside
it brought in. It is made anew only when it is missing or when a person asks for it; the old file stays beside it then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.analysis.decide import decide
from lab.checks import seal_faults
from lab.errors import Fault, InvalidInputError, fault
from lab.exchange.rebuild import content_to_rebuild
from lab.measure.lock import run_lock
from lab.model.attempt import COLUMNS, Attempt, Record
from lab.model.campaign import Campaign
from lab.model.catalogue import Deliverable
from lab.model.decision import Decision
from lab.model.manifest import Manifest
from lab.model.names import MANIFEST, WORKBOOK
from lab.pipeline import judged_cells, load, stale_cells
from lab.store.attempts import in_order
from lab.store.files import write_atomically, writing
from lab.store.intake import finish_intake
from lab.store.manifest import read_manifest
from lab.store.workbook import (
    append_attempts,
    append_deliverables,
    campaign_workbook,
    read_workbook,
    update_judged,
    write_workbook,
)
from lab.store.workbook.append import obstacle, open_elsewhere
from lab.store.workbook.content import AppendResult, WorkbookContent
from lab.store.workbook.lines import Figures
from lab.store.workbook.read import read_rows
from lab.store.workbook.refresh import refresh
from lab.store.workbook.which import NEW_ROWS, backup_of
from lab.store.wrong_ids import keep_wrong_ids

BACKUP = backup_of(Path(WORKBOOK)).name
_BESIDE = NEW_ROWS.format(stem=Path(WORKBOOK).stem, stamp="*")
_REPLACED = f"{Path(WORKBOOK).stem}.replaced-{{stamp}}{{ending}}"
_NO_ROW = "attempt-without-row"
_OTHER_FORMAT = "workbook-not-xlsx"  # what is made anew is in the format that can be added to
_DECLARED = tuple(column.name for column in COLUMNS if column.owner == "declared")


@dataclass(frozen=True)
class Synced:
    """What a sync did.

    Attributes:
        added: ids of the attempts whose rows were added.
        judged: how many rows say another verdict now.
        brought_in: name of a file beside the workbook -> how many attempts and deliverables came from it.
        computed: how many computed cells say something else now.
        rebuilt_from: what a workbook that was made anew was made from: `workbook`, `backup`, `seal` or `nothing`; None
            when it was completed in place.
        replaced: the name that the old file has now; None when there was none or it was completed in place.
        notices: what must be known: a measured cell changed by hand with both values, cells that could not be computed.
        fault: why the workbook is as it was; None when it is up to date.
    """

    added: tuple[str, ...] = ()
    judged: int = 0
    brought_in: Mapping[str, int] = field(default_factory=dict)
    computed: int = 0
    rebuilt_from: str | None = None
    replaced: str | None = None
    notices: tuple[Fault, ...] = ()
    fault: Fault | None = None


def sync(folder: Path, *, rebuild: bool = False, now: datetime | None = None) -> Synced:
    """Bring the workbook up to date; make it anew when it is missing, or when `rebuild` asks for it.

    Args:
        folder: the campaign folder.
        rebuild: make it anew from all that it declares; sheets and columns of people's own stay in the old file.
        now: the moment that names the old file; default: this one.

    Raises:
        InvalidInputError: something in the folder cannot be read; every fault at once.
        CheckFoundError: a run is under way.
        OutsideFailureError: the disk refused; the old workbook is whole.
    """
    manifest = own_manifest(folder)
    with run_lock(folder):
        finish_intake(folder)
        path = campaign_workbook(folder)
        if path.exists() and not rebuild:
            return complete(folder, {})
        # Who has it open would save over what is made anew; who may not write it did not ask for another in its place.
        why = obstacle(path) if path.exists() else open_elsewhere(path)
        if why is not None and why.slug != _OTHER_FORMAT:
            return Synced(fault=why)
        source, content = content_to_rebuild(folder, manifest, BACKUP)
        replaced = None
        if path.exists():
            stamp = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H%M%SZ")
            replaced = _REPLACED.format(stamp=stamp, ending=path.suffix)
            with writing(path):
                write_atomically(folder / replaced, path.read_bytes())
        write_workbook(folder / WORKBOOK, content, manifest)
        if path.name != WORKBOOK:  # of another format
            with writing(path):
                path.unlink(missing_ok=True)
        return replace(complete(folder, {}), rebuilt_from=source, replaced=replaced)


def own_manifest(folder: Path) -> Manifest:
    """The manifest of the campaign in `folder`; raises InvalidInputError: there is no campaign, or it is damaged."""
    if not folder.is_dir():
        raise InvalidInputError(fault("campaign-missing", file=str(folder)))
    if not (folder / MANIFEST).exists():
        raise InvalidInputError(fault("manifest-missing", file=MANIFEST))
    return read_manifest(folder / MANIFEST)


def complete(folder: Path, rows: Mapping[str, Attempt]) -> Synced:
    """Complete the workbook in place; the caller holds the campaign's lock.

    Args:
        folder: the campaign folder.
        rows: attempt id -> a row that came from elsewhere: what people declared of an attempt that is here, or a whole
            row, declared and not verified, of one that is not.

    Raises:
        InvalidInputError: something in the folder cannot be read; every fault at once.
        OutsideFailureError: the disk refused; the workbook is whole.
    """
    path = campaign_workbook(folder)
    campaign = load(folder)
    before = path.read_bytes()
    beside = _read_beside(folder, campaign.manifest)
    came = {row.attempt_id: row for content in beside.values() for row in content.rows} | dict(rows)
    held = campaign.deliverables
    campaign, missing = _joined(campaign, came, beside.values())
    delivered = [one for one in campaign.deliverables if one not in held]
    decision = decide(campaign)
    keep_wrong_ids(folder, campaign)
    noticed = [one for one in campaign.notices if one.slug != _NO_ROW]
    work = _Work(path, campaign, decision, [*noticed, *seal_faults(campaign)])
    if (why := obstacle(path)) is not None:
        return Synced(notices=tuple(work.notices), fault=why)
    added = [_row(one, decision, came) for one in campaign.records if one.attempt.attempt_id in missing]
    stale = {name: cells for name, cells in stale_cells(campaign, decision).items() if name not in missing}
    if (why := work.write(added, delivered, stale)) is not None:
        return Synced(notices=tuple(work.notices), fault=why)
    content = read_workbook(path, campaign.manifest)
    summaries = [one for variant in decision.variants for one in variant.summaries]
    figures = Figures(summaries, decision.variants, decision.separations)
    computed = refresh(path, content, campaign.manifest, figures)
    if path.read_bytes() != before:
        # Between the steps above the backup was a state that nobody has seen: a person goes back to what they had.
        write_atomically(folder / BACKUP, before)
    brought_in, left = _take_away(beside, content)
    return Synced(
        added=tuple(row.attempt_id for row in added),
        judged=len(stale),
        brought_in=brought_in,
        computed=computed.cells,
        notices=(*work.notices, *computed.faults, *left),
    )


def _read_beside(folder: Path, manifest: Manifest) -> dict[Path, WorkbookContent]:
    """The rows of every file that was written beside the workbook; raises InvalidInputError, every fault at once."""
    found: dict[Path, WorkbookContent] = {}
    faults: list[Fault] = []
    for path in sorted(folder.glob(_BESIDE)):
        try:
            found[path] = read_rows(path, manifest)
        except InvalidInputError as error:
            faults += error.faults
    if faults:
        raise InvalidInputError(*faults)
    return found


def _joined(
    campaign: Campaign, came: Mapping[str, Attempt], beside: Iterable[WorkbookContent]
) -> tuple[Campaign, set[str]]:
    """The campaign with rows and deliverables that came from elsewhere, and the ids that have no row yet."""
    here = {one.attempt.attempt_id for one in campaign.records}
    foreign = [Record(row, declared=True) for name, row in came.items() if name not in here]
    missing = {str(one.values["id"]) for one in campaign.notices if one.slug == _NO_ROW}
    delivered = dict.fromkeys(one for content in beside for one in content.deliverables)
    joined = replace(
        campaign,
        records=in_order((*campaign.records, *foreign)),
        deliverables=tuple(dict.fromkeys((*campaign.deliverables, *delivered))),
    )
    return joined, missing | {one.attempt.attempt_id for one in foreign}


@dataclass(frozen=True)
class _Work:
    """The additions to one workbook; `notices` grows by what must be known of them."""

    path: Path
    campaign: Campaign
    decision: Decision
    notices: list[Fault]

    def write(
        self, added: Sequence[Attempt], delivered: Sequence[Deliverable], stale: Mapping[str, Mapping[str, object]]
    ) -> Fault | None:
        """Add rows and deliverables, rewrite verdicts; why it could not be done, or None."""
        language = self.campaign.manifest.language
        steps: list[Callable[[], AppendResult]] = []
        if added:
            steps.append(lambda: append_attempts(self.path, added, language))
        if delivered:
            steps.append(lambda: append_deliverables(self.path, delivered, language))
        if stale:
            steps.append(lambda: update_judged(self.path, stale, language))
        for step in steps:
            result = step()
            self.notices.extend(result.notices)
            if result.fault is not None:
                if result.written_to != self.path:
                    # What it holds is in `attempts/`, in the files beside the workbook, or where the rows came from.
                    result.written_to.unlink(missing_ok=True)
                return result.fault
        return None


def _row(record: Record, decision: Decision, came: Mapping[str, Attempt]) -> Attempt:
    """A row as it is added: the attempt with its verdict, and with what people declared of it elsewhere."""
    if record.typed:
        return record.attempt
    name = record.attempt.attempt_id
    said = came.get(name)
    declared = {} if said is None else {one: getattr(said, one) for one in _DECLARED if getattr(said, one) is not None}
    cells: dict[str, Any] = {**judged_cells(decision.verdicts[name]), **declared}
    return replace(record.attempt, **cells)


def _take_away(
    beside: Mapping[Path, WorkbookContent], content: WorkbookContent
) -> tuple[dict[str, int], tuple[Fault, ...]]:
    """Remove each file beside the workbook whose rows and remarks are all in it; the others stay and are told."""
    rows = {row.attempt_id: row for row in content.rows}
    done: dict[str, int] = {}
    left = []
    for path, held in beside.items():
        unlike = [
            (row.attempt_id, column)
            for row in held.rows
            for column in _DECLARED
            if getattr(row, column) not in {None, getattr(rows.get(row.attempt_id, row), column)}
        ]
        here = all(row.attempt_id in rows for row in held.rows) and set(held.deliverables) <= set(content.deliverables)
        if unlike or not here:
            names = sorted({name for name, _ in unlike})
            left.append(
                fault("sync-beside-left", file=path.name, ids=names, columns=sorted({one for _, one in unlike}))
            )
            continue
        with writing(path):
            path.unlink()
        done[path.name] = len(held.rows) + len(held.deliverables)
    return done, tuple(left)
