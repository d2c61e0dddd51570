"""The sheets `raw-results` and `deliverables`: one table each, one row per attempt or deliverable."""

from __future__ import annotations

from collections.abc import Sequence

from lab.model.attempt import Attempt
from lab.model.catalogue import Deliverable
from lab.store.workbook.page import GROWS_TO, Page
from lab.store.workbook.tables import DELIVERABLES, RESULTS

HEADER = 4  # the row of the headers on every sheet of one table
# Where a printed page of raw-results ends: identity, phases, memory and ids, verdict, evidence, remarks.
_PAGE_ENDS = ("elapsed_s", "peak_allocated_bytes", "ids_match", "exclusion_reason", "seal")
_NAMES = {
    "attempts_variant": "variant", "attempts_corpus": "corpus", "attempts_seed": "seed", "attempts_outcome": "outcome",
    "attempts_duration": "duration_s", "attempts_verdict": "corpus_accepted", "attempts_excluded": "excluded",
}  # fmt: skip


def results_sheet(page: Page, rows: Sequence[Attempt]) -> None:
    """One Excel table over the columns of `Attempt`, in order."""
    page.title("raw-results")
    page.widths(RESULTS, 1, typed_below=True)
    values = [{column.name: getattr(row, column.name) for column in RESULTS.columns} for row in rows]
    page.table(RESULTS, HEADER, 1, values, spare=0 if rows else 1)
    end = HEADER + GROWS_TO
    page.columns_named(RESULTS, HEADER, 1, _NAMES, end)
    page.checks(RESULTS, HEADER, 1, end)
    page.sheet.freeze_panes(HEADER, 1)
    page.prints(HEADER, None)
    page.sheet.set_print_scale(55)
    page.sheet.set_v_pagebreaks([RESULTS.names.index(name) + 1 for name in _PAGE_ENDS])
    page.sheet.repeat_columns(0)


def deliverables_sheet(page: Page, deliverables: Sequence[Deliverable]) -> None:
    """Which deliverable is done by which attempt; yes and no in words, as a person chooses them."""
    page.title("deliverables")
    words = page.words
    values = [
        {
            "deliverable": one.deliverable,
            "variant": one.variant,
            "accepted": None if one.accepted is None else words.text("word.yes" if one.accepted else "word.no"),
            "attempt_id": one.attempt_id,
            "notes": one.notes,
        }
        for one in deliverables
    ]
    page.widths(DELIVERABLES, 1, typed_below=True)
    last = page.table(DELIVERABLES, HEADER, 1, values)
    end = HEADER + GROWS_TO
    names = {"deliverable_variant": "variant", "deliverable_accepted": "accepted"}
    page.columns_named(DELIVERABLES, HEADER, 1, names, end)
    page.checks(DELIVERABLES, HEADER, 1, end)
    page.sheet.freeze_panes(HEADER, 0)
    page.prints(HEADER, (last, len(DELIVERABLES.columns)))
