"""What a version of the report is checked by later: `hashes.json`, beside its pages and beside the list of versions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from lab.errors import InvalidInputError
from lab.model.attempt import COLUMNS
from lab.model.campaign import Campaign
from lab.report.document_plain import Json
from lab.report.renderer import renderer
from lab.store.canonical import plain, readable_json
from lab.store.files import inside, read_json
from lab.store.lines import read_lines
from lab.store.seal import flat

HASHES = "hashes.json"
SCHEMA = 1

_DECLARED = tuple(column.name for column in COLUMNS if column.owner == "declared")


def of_version(folder: Path, document: Json, files: Mapping[str, bytes], declared: Mapping[str, str]) -> bytes:
    """`report/v<N>/hashes.json`.

    `renderer`: of `lab.report.renderer`, by which pages can be made again and compared. `files`: name -> sha256 of each
    other file of the version. `lines`: input -> short fingerprints of its lines
    (`lab.store.lines`), which name a changed line later; `declared`: what manifest and workbook said, by name.

    Args:
        folder: the campaign folder.
        document: the version's document; its `inputs` name the files.
        files: name -> content of the version's other files.
        declared: from `declared_values`.

    Raises:
        InvalidInputError: an input is unreadable, or its path leads out of the campaign.
    """
    lines = {}
    for path in document["inputs"]:
        file = inside(folder, path)
        found = read_lines(file) if not path.endswith(".xlsx") and file.is_file() else None
        if found is not None:
            lines[path] = asdict(found)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    made = {"schema": SCHEMA, "renderer": renderer(), "files": hashes}
    return readable_json({**made, "lines": lines, "declared": dict(declared)})


def of_shared(files: Mapping[str, bytes], earlier: Mapping[str, str]) -> bytes:
    """`report/hashes.json`: path -> sha256 of the list of versions and of the assets, those of `earlier` kept.

    `renderer` is of what made the list of versions.

    An asset is named by its content and never rewritten, so that what was recorded of it first holds.
    """
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    kept = {path: digest for path, digest in earlier.items() if path.startswith("assets/")}
    return readable_json({"schema": SCHEMA, "renderer": renderer(), "files": dict(sorted({**hashes, **kept}.items()))})


def recorded_files(path: Path) -> dict[str, str]:
    """The fingerprints that a `hashes.json` holds of files; none where there is none, or it is damaged."""
    try:
        found = read_json(path)["files"]
    except (InvalidInputError, KeyError, TypeError):
        return {}
    return {str(name): str(digest) for name, digest in found.items()} if isinstance(found, dict) else {}


def recorded_renderer(path: Path) -> str | None:
    """The fingerprint of what the pages beside a `hashes.json` were made with; None where it holds none."""
    try:
        found = read_json(path)["renderer"]
    except (InvalidInputError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def declared_values(campaign: Campaign) -> dict[str, str]:
    """Everything that manifest and workbook declare, name -> text, such as `manifest.variants.b8.batch_size`.

    Rows of a sheet count from 1 in their own order; rows of `raw-results` are named by their attempt, and hold what
    people declare there.
    """
    rows = {
        one.attempt.attempt_id: {name: getattr(one.attempt, name) for name in _DECLARED} for one in campaign.records
    }
    sheets = {
        "manifest": campaign.manifest.model_dump(mode="json", by_alias=True, exclude_none=True),
        "protocol": plain(campaign.protocol),
        "raw-results": rows,
        "deliverables": _numbered(campaign.deliverables),
        "forfaits": _numbered(campaign.offers),
        "forfaits.choice": {one.variant: plain(one) for one in campaign.choices},
        "forfaits.expense": _numbered(campaign.expenses),
        "calendar": _numbered(campaign.calendar),
    }
    return {name: text for name, text in flat(plain(sheets)) if text != "null"}


def _numbered(rows: tuple[object, ...]) -> dict[str, object]:
    return {str(number): plain(row) for number, row in enumerate(rows, 1)}
