"""The files that the site offers: where they come from, and how the page lists them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from lab import calcul_forfaits
from lab.messages import LANGUAGES, Messages
from lab.report.languages import LANGUAGE_NAMES
from lab.store.files import read_bytes, resource

FOLDER = "downloads"
_SHIPPED = (
    ("workbook/raw-results.csv", "site.download.raw-results"),
    ("workbook/tarifs-forfaits.csv", "site.download.tarifs"),
    ("templates/schemas/manifest.schema.json", "site.download.manifest-schema"),
    ("templates/schemas/decision.schema.json", "site.download.decision-schema"),
)


@dataclass(frozen=True)
class Download:
    """A file of the folder `downloads/`: its name there, the key of its title with the facts of it, its content."""

    name: str
    key: str
    data: bytes
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Listed:
    """A download as the page shows it."""

    title: str
    name: str
    href: str
    size: str
    sha256: str


def shipped_downloads() -> tuple[Download, ...]:
    """The blank workbooks and CSV, the price calculation with its catalogue, and the schemas.

    Raises:
        OutsideFailureError: one of them is not installed.
    """
    books = (
        Download(
            f"campaign.{one}.xlsx",
            "site.download.workbook",
            read_bytes(resource("workbook", f"campaign.{one}.xlsx")),
            {"language": LANGUAGE_NAMES[one]},
        )
        for one in LANGUAGES
    )
    script = Path(calcul_forfaits.__file__)
    shipped = ((resource(*path.split("/")), key) for path, key in _SHIPPED)
    return (
        *books,
        Download(script.name, "site.download.calcul", read_bytes(script)),
        *(Download(path.name, key, read_bytes(path)) for path, key in shipped),
    )


def listed(downloads: Iterable[Download], prefix: str, texts: Messages) -> tuple[Listed, ...]:
    """The rows of the page; `prefix` leads from it to the folder."""
    return tuple(
        Listed(
            texts.text(one.key, **one.facts),
            one.name,
            prefix + one.name,
            texts.text("site.download.size", size=texts.number(Decimal(len(one.data)) / 1024, 1)),
            hashlib.sha256(one.data).hexdigest(),
        )
        for one in downloads
    )
