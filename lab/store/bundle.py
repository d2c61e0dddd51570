"""A campaign as a BagIt bag in one zip file: what a reviewer needs to check it, with the sha256 of every file."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bagit

from lab.errors import InvalidInputError, fault
from lab.metrics.own import module_file
from lab.model.campaign import Campaign
from lab.model.names import MANIFEST
from lab.store.attempts import ATTEMPTS, LOG
from lab.store.environments import ENVIRONMENTS
from lab.store.files import inside, replacing, writing
from lab.store.seal import SEAL
from lab.store.workbook.which import campaign_workbook

REPORT = "report"

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest moment that a zip file can hold
_MODE = 0o100644 << 16


@dataclass(frozen=True)
class Bundle:
    """A bag that was written: where, the files of the campaign in it, and those of the corpus that were left out."""

    path: Path
    files: tuple[str, ...]
    left_out: tuple[str, ...]


def write_bundle(folder: Path, campaign: Campaign, out: Path, *, with_corpus: bool) -> Bundle:
    """Pack a campaign as a bag (BagIt 0.97, sha256) within the zip file `out`; the same campaign gives the same bytes.

    In it: manifest, seal, workbook, attempts with their predictions, environments, the functions of own metrics, the
    author's notes and the report. Left out: logs and names that begin with a dot, which tell of the machine, and the
    models. The corpus goes with it only when that is asked for, since its rights may not allow it.

    Args:
        folder: the campaign folder.
        campaign: as it was read from there.
        out: the zip file; it is replaced whole or not at all.
        with_corpus: whether corpora and tuning sets go with it.

    Raises:
        InvalidInputError: a file is unreadable, or a link leads out of the campaign.
        OutsideFailureError: the disk refused.
    """
    corpora = _corpora(campaign)
    paths = sorted({*_files(folder, campaign)} - (set() if with_corpus else corpora))
    name = campaign.manifest.name
    with writing(out), tempfile.TemporaryDirectory() as made:
        bag = Path(made) / name
        for path in paths:
            _copy(folder, path, bag)
        bagit.make_bag(str(bag), _info(campaign), checksums=["sha256"])
        with replacing(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for one in sorted(one for one in bag.rglob("*") if one.is_file()):
                entry = zipfile.ZipInfo(one.relative_to(made).as_posix(), _LONG_AGO)
                entry.external_attr = _MODE
                entry.compress_type = zipfile.ZIP_DEFLATED
                with one.open("rb") as content, packed.open(entry, "w", force_zip64=True) as target:
                    shutil.copyfileobj(content, target)
    left = sorted(path for path in corpora if path not in paths)
    return Bundle(out, tuple(paths), tuple(left))


def _info(campaign: Campaign) -> dict[str, str]:
    """The bag's own facts; its date is that of the latest attempt, so that no clock is read."""
    starts = [one.attempt.started_at for one in campaign.records if one.attempt.started_at]  # by moment, not as texts
    latest = starts[-1] if starts else campaign.seal.sealed_at if campaign.seal else ""
    facts = {"External-Identifier": campaign.manifest.name, "Bagging-Date": latest[:10]}
    if campaign.seal:
        facts["External-Description"] = f"GPU Decision Lab campaign, seal {campaign.seal.fingerprint}"
    return facts


def _corpora(campaign: Campaign) -> set[str]:
    return {path for spec in campaign.manifest.corpora for path in (spec.path, spec.tuning) if path}


def _files(folder: Path, campaign: Campaign) -> Iterator[str]:
    """Every file of the campaign that a bag may hold, as paths in its folder."""
    functions = [module_file(spec) for spec in campaign.manifest.metrics.values()]
    notes = sorted(path.name for path in folder.glob("notes.*.md"))
    for path in (MANIFEST, campaign_workbook(folder).name, SEAL, *campaign.inputs, *functions, *notes):
        if (folder / path).is_file():
            yield path
    for room in (ATTEMPTS, ENVIRONMENTS, REPORT):
        for one in (folder / room).rglob("*"):
            found = one.relative_to(folder)
            if one.is_file() and one.name != LOG and not any(part.startswith(".") for part in found.parts):
                yield found.as_posix()


def _copy(folder: Path, path: str, bag: Path) -> None:
    source, target = inside(folder, path), bag / path
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source, target)
    except PermissionError:
        raise InvalidInputError(fault("file-not-readable", file=path)) from None
