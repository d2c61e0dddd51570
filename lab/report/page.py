"""What every page stands on: templates that escape everything, and a policy that lets nothing in."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lab.store.files import resource


def environment(*folders: str) -> Environment:
    """The templates of `templates/<folder>`, the first folder that holds a name wins; a missing value is an error.

    Raises:
        OutsideFailureError: the templates are not installed.
    """
    return Environment(
        loader=FileSystemLoader([resource("templates", folder) for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def policy(scripts: Sequence[str], styles: Sequence[str], images: Sequence[str] = ()) -> str:
    """The Content-Security-Policy of a page that may load nothing but these sources (hashes, mostly)."""
    return "; ".join(
        (
            "default-src 'none'",
            *((f"script-src {' '.join(scripts)}",) if scripts else ()),
            f"style-src {' '.join(styles)}",
            *((f"img-src {' '.join(images)}",) if images else ()),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def digest(text: str) -> bytes:
    """The sha256 of a text's bytes."""
    return hashlib.sha256(text.encode()).digest()


def source_hash(text: str) -> str:
    """The text of an inline script or style as a source of the policy."""
    return f"'sha256-{base64.b64encode(digest(text)).decode()}'"


def island(value: object) -> Markup:
    """Data for a page's scripts, as JSON in which nothing can end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    escaped = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(escaped)  # noqa: S704  (JSON whose < > & are written as escapes)


def look() -> str:
    """The style that all pages share.

    Raises:
        OutsideFailureError: the templates are not installed.
    """
    return resource("templates", "look.css").read_text(encoding="utf-8")
