"""The example report of the site: one that was measured, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lab.errors import UsageProblemError, fault
from lab.messages import Messages
from lab.report.document_plain import Json
from lab.report.site_map import href
from lab.report.versions import read_version, version_numbers
from lab.report.view_first import answer
from lab.report.words import Words

FOLDER = "example"


def read_example(campaign: Path) -> Json:
    """The document of the latest report of a campaign that was measured.

    Raises:
        UsageProblemError: there is no report in that folder, or no attempt in the report.
        InvalidInputError: its `decision.json` cannot be read.
    """
    numbers = version_numbers(campaign / "report")
    document = read_version(campaign / "report", numbers[-1]) if numbers else {}
    if not document.get("attempts"):
        raise UsageProblemError(fault("site-example-missing", file=str(campaign)))
    return document


def shown_example(here: str, document: Json, texts: Messages) -> Mapping[str, str]:
    """The example as the page at `here` shows it: its question as it was asked, its answer in the page's language."""
    version = f"{FOLDER}/v{document['report_version']}/{texts.language}.html"
    return {
        "language": document["language"],
        "question": document["question"] or "",
        "answer": answer(document, Words(document, texts.language)),
        "href": href(here, version),
        "open": texts.text("site.example.open"),
    }
