"""Which product renders: one fingerprint of all that the bytes of a page come from besides its document."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

import lab
from lab.store.canonical import canonical_json, sha256_text
from lab.store.files import resource

_PACKAGES = ("babel", "jinja2", "markdown", "markupsafe", "nh3", "plotly")  # what `lab.report` writes pages with


def renderer() -> str:
    """The sha256, 64 hex digits, of the product's code, texts and templates and of what it renders with.

    Two renderers of one fingerprint make the same bytes of the same document; of another fingerprint, they may not.

    Raises:
        OutsideFailureError: the templates are not installed.
    """
    package, templates = Path(lab.__file__).resolve().parent, resource("templates")
    sources = (*package.rglob("*.py"), *package.rglob("*.mo"))
    kept = {
        **{f"lab/{one.relative_to(package).as_posix()}": _sha256(one) for one in sources},
        **{one.relative_to(templates).as_posix(): _sha256(one) for one in templates.rglob("*") if one.is_file()},
        **{name: version(name) for name in _PACKAGES},
        "python": platform.python_version(),
    }
    return sha256_text(canonical_json(kept))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
