"""The user's own code: the files that a variant names, and which state of their git repository they are."""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import subprocess
from pathlib import Path
from typing import Final

from lab.errors import LabError
from lab.model.manifest import Variant
from lab.model.names import WORKBOOK_ENDINGS
from lab.store.files import inside

_LIMIT_S: Final = 20
_DIGITS: Final = 16
# What the tool itself writes into a campaign folder, or people fill in while it runs: no change of anybody's code.
_NOT_CODE: Final = (
    "attempts",
    "environments",
    "report",
    "seal.json",
    *(f"*{ending}" for ending in WORKBOOK_ENDINGS),
    "notes.*.md",
    ".*",
)


def code_files(variant: Variant, folder: Path) -> tuple[Path, ...]:
    """The files of the campaign, or beside it, that a variant runs: its function's module, or its command's files."""
    if variant.function:
        name = variant.function.partition(":")[0]
        spec = importlib.machinery.PathFinder.find_spec(name.partition(".")[0], [str(folder)])
        within = folder / f"{name.replace('.', '/')}.py"
        origin = Path(spec.origin) if spec and spec.origin and spec.origin != "built-in" else None
        return tuple(one for one in dict.fromkeys((within, origin)) if one is not None and one.is_file())
    found = []
    for part in variant.command:
        try:
            path = Path(part) if Path(part).is_absolute() else inside(folder, part)
        except (LabError, ValueError):
            continue  # no path, such as a script that stands in an argument
        if len(part) < os.pathconf(folder, "PC_NAME_MAX") and path.is_file():
            found.append(path)
    return tuple(found)


def git_facts(variant: Variant, folder: Path) -> dict[str, str]:
    """Revision and dirtiness of the campaign's repository, and of the one the variant's code is in, when another.

    `dirty` says whether a file that git knows, the tool's own and the workbook left aside, differs from the revision;
    `changes` is a fingerprint of how. No name, address or branch of the repository is taken.
    """
    found = {}
    seen: dict[Path, str] = {}
    places = [("campaign", folder), *(("code", one.parent) for one in code_files(variant, folder))]
    for what, place in places:
        root = _git(place, "rev-parse", "--show-toplevel")
        if not root or Path(root) in seen or (what == "code" and f"git.{what}.revision" in found):
            continue
        seen[Path(root)] = what
        revision = _git(place, "rev-parse", "HEAD")
        if not revision:
            continue
        found[f"git.{what}.revision"] = revision
        aside = [f":(exclude,glob)**/{one}/**" for one in _NOT_CODE] + [f":(exclude,glob)**/{one}" for one in _NOT_CODE]
        changes = _git(place, "diff", "HEAD", "--no-ext-diff", "--", ".", *aside)
        found[f"git.{what}.dirty"] = "unknown" if changes is None else "yes" if changes else "no"
        if changes:
            found[f"git.{what}.changes"] = hashlib.sha256(changes.encode()).hexdigest()[:_DIGITS]
    return found


def _git(place: Path, *arguments: str) -> str | None:
    """What git says in `place`, without its last line's end; None where it says nothing or is not installed."""
    variables = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        said = subprocess.run(  # noqa: S603  (fixed arguments, no shell)
            ["git", "-C", str(place), *arguments],  # noqa: S607  (the user's own git)
            capture_output=True,
            check=False,
            timeout=_LIMIT_S,
            env=variables,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.decode("utf-8", "replace").strip() if said.returncode == 0 else None
