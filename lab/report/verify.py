"""Verifying: everything recomputed from the folder and held against what a version of the report says."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.analysis.decide import decide
from lab.errors import Fault, InvalidInputError, UsageProblemError, fault
from lab.model.attempt import COLUMNS, Record
from lab.model.campaign import Campaign
from lab.model.decision import Decision, Verdict
from lab.model.names import WORKBOOK
from lab.model.reason import Reason, reason
from lab.report.changes import changes
from lab.report.document import build
from lab.report.document_plain import Json, plain
from lab.report.hashes import HASHES, declared_values, recorded_files, recorded_renderer
from lab.report.render import read_assets
from lab.report.renderer import renderer
from lab.report.versions import (
    index_pages,
    published_content,
    read_version,
    read_versions,
    version_numbers,
    version_pages,
)
from lab.store.campaign import read_campaign
from lab.store.files import inside, read_json, sha256_file
from lab.store.lines import Lines, changed_lines
from lab.store.seal import flat

_JUDGED = tuple(one for one in COLUMNS if one.owner == "judged")
_SAME = 1e-12  # a spreadsheet computes with 15 to 17 digits
# Said already, file by file and value by value, when the consequences are told.
_NAMED_BEFORE = tuple(
    f"report.change.{one}" for one in ("file", "predictions", "record", "protocol", "setting", "other")
)
_KEYS = ("attempt_id", "id", "gate", "fingerprint", "deliverable")  # what names an entry of a list


@dataclass
class Verification:
    """What was compared and what differs.

    Attributes:
        version: the version of the report that was held against the folder.
        files: how many files of the report were compared.
        inputs: how many files that the decision was made from were compared.
        differences: what differs, in words, each with what was and what is.
        consequences: what the decision would say otherwise because of them.
        faults: what cannot be read any more, or was noticed since; each is a difference too.
        notes: what could not be compared, and why.
        same: attempts judged again from their predictions with the verdict that the version states.
        other: attempts judged again with another verdict.
        unjudged: attempts that have no predictions to be judged from again.
    """

    version: int
    files: int = 0
    inputs: int = 0
    differences: list[Reason] = field(default_factory=list)
    consequences: list[Reason] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[Reason] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.faults


def verify(folder: Path, version: int | None, notes: Mapping[str, str]) -> Verification:
    """Hold a version of the report against the folder: its own files, its inputs, its verdicts and its decision.

    Args:
        folder: the campaign folder, or the payload of a bag with the corpus in it. Nothing in it is written.
        version: the version's number; None: the latest.
        notes: the author's own words by language, as published.

    Raises:
        UsageProblemError: no such version was published.
        InvalidInputError: there is no report.
    """
    report = folder / "report"
    numbers = version_numbers(report)
    if not numbers:
        raise InvalidInputError(fault("verify-no-report", file=str(folder)))
    if version is not None and version not in numbers:
        raise UsageProblemError(fault("verify-no-version", version=str(version), known=[str(one) for one in numbers]))
    found = Verification(version or numbers[-1])
    _check_report(report, found)
    shown = f"report/v{found.version}/decision.json"
    checks: tuple[Callable[[], None], ...] = (
        lambda: _check_pages(report, found),
        lambda: _check_index(report, numbers, found),
        lambda: _compare(folder, read_version(report, found.version), notes, found),
    )
    for check in checks:
        said: tuple[Fault, ...] = ()
        try:
            check()
        except InvalidInputError as error:
            said = error.faults
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):  # not what a report writes
            said = (fault("verify-not-one", file=shown),)
        found.faults += [one for one in said if one not in found.faults]
    return found


def _compare(folder: Path, document: Json, notes: Mapping[str, str], found: Verification) -> None:
    of_report = len(found.differences)
    memory = _memory(folder / "report" / f"v{found.version}" / HASHES)
    for path, digest in document["inputs"].items():
        if path != WORKBOOK:
            _check_input(folder, path, str(digest), memory.lines.get(path), found)
    damaged: dict[str, Fault] = {}
    try:
        campaign = read_campaign(folder, damaged=damaged)
    except InvalidInputError:
        found.notes.append(reason("verify.not_recomputed"))
        raise
    _check_declared(campaign, document, memory.declared, found)
    if damaged:  # the rest is judged again, and nothing is decided as if it were all
        found.faults += damaged.values()
        found.notes.append(reason("verify.not_recomputed"))
        _check_verdicts(campaign, document, decide(campaign), found)
        return
    inputs_hold = len(found.differences) == of_report and not found.faults
    _recompute(campaign, document, notes, found, inputs_hold=inputs_hold)


def _check_report(report: Path, found: Verification) -> None:
    """The version's files and the shared ones against what was recorded when they were written."""
    name = f"v{found.version}"
    folders = ((report / name, recorded_files(report / name / HASHES)), (report, recorded_files(report / HASHES)))
    for folder, recorded in folders:
        shown = folder.relative_to(report.parent).as_posix()
        if not recorded:
            found.differences.append(reason("verify.no_hashes", path=f"{shown}/{HASHES}"))
        for path, digest in recorded.items():
            found.files += 1
            found.differences += _file(report.parent, f"{shown}/{path}", digest)
    present = [one for one in (report / name).rglob("*") if one.is_file() and one.name != HASHES]
    strangers = sorted({one.relative_to(report / name).as_posix() for one in present} - set(folders[0][1]))
    if folders[0][1]:
        found.differences += [reason("verify.file.added", path=f"report/{name}/{one}") for one in strangers]


def _check_pages(report: Path, found: Verification) -> None:
    """The version's pages made again from its `decision.json`: a page rewritten with its fingerprint is found too.

    Only by the very product that made them; another may write the same document in other words.
    """
    name = f"v{found.version}"
    recorded, made_by = recorded_files(report / name / HASHES), recorded_renderer(report / name / HASHES)
    if not recorded or any(_file(report / name, "decision.json", recorded.get("decision.json", ""))):
        return  # said already
    pages = [path for path in recorded if path.endswith(".html")]
    if made_by != renderer():
        found.notes.append(_not_made_again(f"report/{name}", pages, made_by))
        return
    made = version_pages(read_version(report, found.version), read_assets())
    found.differences += _made_again(report.parent, f"report/{name}", made, recorded)


def _check_index(report: Path, numbers: Sequence[int], found: Verification) -> None:
    """The list of versions made again from the `decision.json` of each, as the pages are."""
    recorded, made_by = recorded_files(report / HASHES), recorded_renderer(report / HASHES)
    folders = [(f"v{number}", recorded_files(report / f"v{number}" / HASHES)) for number in numbers]
    pages = [path for path in recorded if path.endswith(".html")]
    if not recorded:
        return  # said already
    altered = {
        name: list(_file(report.parent, f"report/{name}/decision.json", own["decision.json"]))
        for name, own in folders
        if "decision.json" in own
    }
    found.differences += [one for name, told in altered.items() if name != f"v{found.version}" for one in told]
    if any(altered.values()) or len(altered) < len(folders):
        return  # what the list is made from is not what it was
    if made_by != renderer():
        found.notes.append(_not_made_again("report", pages, made_by))
    else:
        made = index_pages(read_versions(report), read_assets())
        found.differences += _made_again(report.parent, "report", made, recorded)


def _not_made_again(path: str, pages: Sequence[str], made_by: str | None) -> Reason:
    """Which pages another product made, so that only their fingerprints were compared."""
    return reason("verify.pages_not_made_again", path=path, pages=sorted(pages), made_by=made_by, now=renderer())


def _made_again(folder: Path, shown: str, made: Mapping[str, bytes], recorded: Mapping[str, str]) -> Iterator[Reason]:
    """Pages that are other than what was just made; those that differ from what was recorded of them are said."""
    for path, data in made.items():
        digest = hashlib.sha256(data).hexdigest()
        if digest != recorded.get(path) or not (folder / shown / path).is_file():
            yield from _file(folder, f"{shown}/{path}", digest)


def _file(folder: Path, path: str, digest: str) -> Iterator[Reason]:
    try:
        now = sha256_file(inside(folder, path))
    except InvalidInputError:
        yield reason("verify.file.missing", path=path, before=digest)
        return
    if now != digest:
        yield reason("verify.file.changed", path=path, before=digest, after=now)


@dataclass(frozen=True)
class _Memory:
    """What was kept beside the version to name a change by: lines of its inputs, and declared values."""

    lines: Mapping[str, Lines] = field(default_factory=dict)
    declared: Mapping[str, str] = field(default_factory=dict)


def _memory(path: Path) -> _Memory:
    """What `hashes.json` keeps; nothing where it is not there or damaged, which is said of its fingerprints already."""
    try:
        value = read_json(path)
        lines = {name: Lines(max(1, int(one["per"])), str(one["prints"])) for name, one in value["lines"].items()}
        return _Memory(lines, {str(name): str(text) for name, text in value["declared"].items()})
    except (InvalidInputError, KeyError, TypeError, AttributeError, ValueError):
        return _Memory()


def _check_input(folder: Path, path: str, digest: str, kept: Lines | None, found: Verification) -> None:
    found.inputs += 1
    different = list(_file(folder, path, digest))
    found.differences += different
    if kept is None or not any(one.key == "verify.file.changed" for one in different):
        return
    for one in changed_lines(inside(folder, path), kept):
        key = "verify.line" if one.first == one.last == one.now_last else "verify.lines"
        facts = {"first": str(one.first), "last": str(one.last), "now_last": str(one.now_last), "text": one.text}
        found.differences.append(reason(key, path=path, before=one.was or None, after=one.now or None, **facts))


def _check_declared(campaign: Campaign, document: Json, kept: Mapping[str, str], found: Verification) -> None:
    """What people declare: value by value where the version kept them, else by the fingerprint of all of it."""
    found.inputs += 1
    before, after = document["inputs"].get(WORKBOOK), campaign.inputs[WORKBOOK]
    now = declared_values(campaign) if kept else {}
    names = [name for name in dict.fromkeys((*kept, *now)) if kept.get(name) != now.get(name)]
    found.differences += [reason("verify.value", name=one, before=kept.get(one), after=now.get(one)) for one in names]
    if before != after and all(name.startswith("manifest.") for name in names):
        found.differences.append(reason("verify.file.changed", path=WORKBOOK, before=before, after=after))
    sealed = (document.get("sealing") or {}).get("sealed_at")
    if campaign.seal and sealed not in (None, campaign.seal.sealed_at):
        facts = {"before": sealed, "after": campaign.seal.sealed_at}
        found.differences.append(reason("verify.value", name="seal.sealed_at", **facts))
    added = [path for path in campaign.inputs if path not in document["inputs"]]
    found.differences += [reason("verify.input.added", path=path) for path in added]
    said = [{**one["fault"]["values"], "slug": one["fault"]["slug"]} for one in document.get("notices", [])]
    found.faults += [one for one in campaign.notices if {**plain(one.values), "slug": one.slug} not in said]
    changed = campaign.seal.changes if campaign.seal else ()
    found.notes += [
        reason("verify.not_as_sealed", name=one.name, before=one.sealed, after=one.now)
        for one in changed
        if one.name not in names
    ]


def _recompute(
    campaign: Campaign, document: Json, notes: Mapping[str, str], found: Verification, *, inputs_hold: bool
) -> None:
    """Decide again: what follows from inputs that differ; where they hold, every value that is stated otherwise."""
    decision = decide(campaign)
    recomputed = published_content(build(campaign, decision), notes)
    _check_verdicts(campaign, document, decision, found)
    found.differences += _cells(campaign, decision, {one["attempt_id"]: one for one in document["attempts"]})
    if not inputs_hold:
        told = changes(document, {**recomputed, "report_version": found.version})
        found.consequences += [one for one in told if not one.key.startswith(_NAMED_BEFORE)]
        return
    before, after = dict(flat(_named(document))), dict(flat(_named(recomputed)))
    found.differences += [
        reason("verify.recomputed", name=name, before=text, after=after.get(name))
        for name, text in before.items()
        if after.get(name) != text
    ]


def _check_verdicts(campaign: Campaign, document: Json, decision: Decision, found: Verification) -> None:
    stated = {one["attempt_id"]: (one.get("verdict") or {}).get("verdict") for one in document["attempts"]}
    for name, before in stated.items():
        verdict = decision.verdicts.get(name)
        if name not in campaign.evidence or verdict is None:
            found.unjudged.append(name)
        elif verdict.verdict == before:
            found.same.append(name)
        else:
            found.other.append(name)
            found.differences.append(reason("verify.verdict", attempt=name, before=before, after=verdict.verdict))


def _cells(campaign: Campaign, decision: Decision, stated: Mapping[str, Json]) -> Iterator[Reason]:
    """Judged cells of the workbook that say what neither the predictions do nor the version did."""
    for record in campaign.records:
        name = record.attempt.attempt_id
        if not record.typed:
            yield from _cells_of(record, decision.verdicts[name], stated.get(name, {}))


def _cells_of(record: Record, verdict: Verdict, stated: Json) -> Iterator[Reason]:
    if all(getattr(record.attempt, column.name) is None for column in _JUDGED):
        return  # nothing was written yet, or the row is in a file beside the workbook
    for column in _JUDGED:
        judged = verdict.verdict if column.name == "corpus_accepted" else getattr(verdict, column.name)
        cell = getattr(record.attempt, column.name)
        if not _agree(judged, cell) and not (column.name in stated and _agree(stated[column.name], cell)):
            place = f"raw-results.{record.attempt.attempt_id}.{column.name}"
            yield reason("verify.cell", name=place, before=_shown(judged), after=_shown(cell))


def _agree(judged: object, cell: object) -> bool:
    if isinstance(judged, float) and isinstance(cell, int | float) and not isinstance(cell, bool):
        return math.isclose(judged, cell, rel_tol=_SAME)
    return judged == cell


def _shown(value: object) -> str | None:
    return None if value is None else str(value)


def _named(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """A document with the entries of its lists under their names, its version, its inputs and second texts left out.

    The facts behind a sentence are left out: the sentence itself is compared. Inputs are compared one by one before.
    """
    if isinstance(value, dict):
        left_out = ("message", "report_version", "inputs")
        return {key: _named(one) for key, one in value.items() if key not in left_out}
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return {_name(one, number): _named(one) for number, one in enumerate(value, 1)}
    return value


def _name(entry: object, number: int) -> str:
    names = (entry.get(key) for key in _KEYS) if isinstance(entry, dict) else ()
    return next((str(one) for one in names if one), str(number))
