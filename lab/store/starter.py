"""The manifest that `lab init` writes: valid as it stands, commented in the campaign's language."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path

from lab.errors import UsageProblemError, fault
from lab.messages import messages
from lab.model.names import MANIFEST, WORKBOOK
from lab.store.catalogue import shipped_offers
from lab.store.files import resource, write_atomically, writing

_WIDTH = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # as `Id` of the manifest


def starter_name(folder: Path) -> str:
    """A campaign name made from the folder's: letters, digits, `.`, `_` and `-` only, 64 characters at most."""
    return _as_name(folder.resolve().name)


def _as_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:64] or "campaign"


def start_campaign(folder: Path, language: str, name: str | None = None) -> Path:
    """Write a first manifest and the workbook that belongs to it into `folder`, which is made when it is not there.

    Raises:
        UsageProblemError: `folder` is a file, or `name` cannot be the name of a campaign; nothing was written.
        OutsideFailureError: the disk or the system refused.
    """
    from lab.store.manifest import read_manifest
    from lab.store.workbook import write_workbook
    from lab.store.workbook.content import empty_content

    if folder.exists() and not folder.is_dir():
        raise UsageProblemError(fault("campaign-is-a-file", file=str(folder)))
    name = name or starter_name(folder)
    if not _NAME.fullmatch(name):
        raise UsageProblemError(fault("campaign-bad-name", place="--name", found=name, near=_as_name(name)))
    with writing(folder, str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / MANIFEST, starter_manifest(language, name).encode("utf-8"))
    manifest = read_manifest(folder / MANIFEST)
    write_workbook(folder / WORKBOOK, replace(empty_content(manifest), offers=shipped_offers()), manifest)
    return folder


def starter_manifest(language: str, name: str) -> str:
    """The text of a first `manifest.toml`; `name` must be an id of the manifest, `language` one of `LANGUAGES`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    words = messages(language)

    def comment(key: str) -> str:
        return "\n".join(textwrap.wrap(words.text(key), _WIDTH, initial_indent="# ", subsequent_indent="# "))

    environment = Environment(
        loader=FileSystemLoader(resource("templates", "campaign")),
        undefined=StrictUndefined,
        autoescape=select_autoescape(),  # TOML is no HTML: the file's ending turns escaping off
        keep_trailing_newline=True,
    )
    return environment.get_template("manifest.toml.j2").render(comment=comment, name=name, language=language)
