"""The manifest that `lab init` writes: valid as it stands, commented in the campaign's language."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from lab.messages import messages
from lab.store.files import resource

_WIDTH = 100


def starter_name(folder: Path) -> str:
    """A campaign name made from the folder's: letters, digits, `.`, `_` and `-` only, 64 characters at most."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-._")
    return name[:64] or "campaign"


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
