"""Generate the whole workbook: eight sheets in their order, the same bytes from the same content."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from lab.messages import messages
from lab.metrics import METRICS
from lab.model.manifest import Manifest
from lab.store.files import write_atomically
from lab.store.workbook.content import SHEETS, SheetName, WorkbookContent
from lab.store.workbook.generate_forfaits import calendar_sheet, forfaits_sheet
from lab.store.workbook.generate_protocol import protocol_sheet
from lab.store.workbook.generate_rows import deliverables_sheet, results_sheet
from lab.store.workbook.generate_summary import summary_sheet
from lab.store.workbook.generate_words import dictionary_sheet, read_me_sheet
from lab.store.workbook.lines import Figures, Lines
from lab.store.workbook.page import Frame, Page
from lab.store.workbook.styles import FONT, Styles

MADE_ON = datetime(2026, 9, 24)  # noqa: DTZ001  (fixed, so that the same content gives the same bytes)
SCHEMA = 1


def write_workbook(
    path: Path,
    content: WorkbookContent,
    manifest: Manifest,
    *,
    figures: Figures = Figures(),  # noqa: B008  (frozen and empty)
) -> None:
    """Write the whole workbook, replacing what is there; formulas carry their values.

    Args:
        path: the workbook; written whole or not at all.
        content: what people and the tool declared; local times are written in the protocol's zone.
        manifest: language, variants, corpora and seeds.
        figures: what the tool decided, where it is known.

    Raises:
        OutsideFailureError: the file cannot be written; the old one is whole.
    """
    write_atomically(path, workbook_bytes(content, frame_of(manifest), figures=figures))


def frame_of(manifest: Manifest) -> Frame:
    """What a manifest says to the sheets."""
    return Frame(
        manifest.language,
        manifest.name,
        tuple((variant.id, variant.gpu) for variant in manifest.variants),
        tuple(corpus.id for corpus in manifest.corpora),
        manifest.run.seeds,
        (*(one.name for one in METRICS), *manifest.metrics),
        bool(manifest.metrics),
    )


def workbook_bytes(
    content: WorkbookContent,
    frame: Frame,
    *,
    figures: Figures = Figures(),  # noqa: B008  (frozen and empty)
    only: Sequence[SheetName] = SHEETS,
) -> bytes:
    """The bytes of the workbook, or of the sheets in `only`."""
    from xlsxwriter import Workbook

    words = messages(frame.language)
    file = io.BytesIO()
    options = {
        "in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False,
        "default_format_properties": FONT,
    }  # fmt: skip
    book = Workbook(file, options)
    book.set_calc_mode("auto")
    book.set_properties(
        {
            "title": words.text("book.title"), "subject": frame.name or "", "author": "GPU Decision Lab",
            "comments": words.text("book.about"), "created": MADE_ON,
        }
    )  # fmt: skip
    for name, value in (("schema_version", SCHEMA), ("language", frame.language), ("campaign", frame.name or "")):
        book.set_custom_property(name, value)
    book.set_size(26_000, 15_000)
    styles = Styles(book, words)
    lines = Lines(content, frame, words, figures)
    pages = {name: Page(book, name, words, styles, lists=only == SHEETS) for name in SHEETS if name in only}
    sheets: dict[SheetName, Callable[[Page], None]] = {
        "read-me": lambda page: read_me_sheet(page, frame),
        "protocol": lambda page: protocol_sheet(page, content, frame),
        "raw-results": lambda page: results_sheet(page, content.rows),
        "deliverables": lambda page: deliverables_sheet(page, content.deliverables),
        "forfaits": lambda page: forfaits_sheet(page, lines),
        "calendar": lambda page: calendar_sheet(page, lines),
        "summary": lambda page: summary_sheet(page, lines),
        "dictionary": lambda page: dictionary_sheet(page, content, frame),
    }
    for name, page in pages.items():
        sheets[name](page)
    first = pages.get("read-me")
    if first is not None:
        first.sheet.activate()
    book.close()
    return file.getvalue()
