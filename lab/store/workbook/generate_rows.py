"""The sheets `raw-results` and `deliverables`: one table each, one row per attempt or deliverable."""

from __future__ import annotations

from collections.abc import Sequence

from lab.model.attempt import FAILURES, Attempt
from lab.model.catalogue import Deliverable
from lab.store.workbook.formulas import Formulas
from lab.store.workbook.page import GROWS_TO, Mark, Page
from lab.store.workbook.tables import DELIVERABLES, RESULTS

HEADER = 4  # the row of the headers on every sheet of one table
# Where a printed page of raw-results ends: identity, phases, memory and ids, verdict, evidence, remarks.
_PAGE_ENDS = ("outcome", "peak_allocated_bytes", "ids_match", "environment", "seal")
_NAMES = {
    "attempts_variant": "variant", "attempts_corpus": "corpus", "attempts_seed": "seed", "attempts_outcome": "outcome",
    "attempts_duration": "duration_s", "attempts_verdict": "corpus_accepted", "attempts_excluded": "excluded",
}  # fmt: skip


def results_sheet(page: Page, rows: Sequence[Attempt]) -> None:
    """One Excel table over the columns of `Attempt`, in order."""
    page.title("raw-results", about_in=2)  # the first column prints on every page, and would cut a long sentence
    page.widths(RESULTS, 1, typed_below=True)
    values = [{column.name: getattr(row, column.name) for column in RESULTS.columns} for row in rows]
    page.table(RESULTS, HEADER, 1, values, spare=0 if rows else 1)
    end = HEADER + GROWS_TO
    page.columns_named(RESULTS, HEADER, 1, _NAMES, end)
    ids = f"'{page.name}'!$A${HEADER + 1}:$A${end}"
    # Only as long as there are attempts: a list with empty cells at its end would let anything pass.
    page.book.define_name("list_attempts", f"=OFFSET('{page.name}'!$A${HEADER + 1},0,0,MAX(1,COUNTA({ids})),1)")
    page.checks(RESULTS, HEADER, 1, end)
    page.highlight(RESULTS, HEADER + 1, 1, end, _result_marks(page))
    page.sheet.freeze_panes(HEADER, 1)
    page.prints(HEADER, None)
    page.sheet.set_print_scale(60)
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
    refused = Mark(Formulas(words).is_false("{accepted}"), page.styles.alarm())
    page.highlight(DELIVERABLES, HEADER + 1, 1, end, {"accepted": (refused,)})
    page.sheet.freeze_panes(HEADER, 0)
    page.prints(HEADER, (last, len(DELIVERABLES.columns)))


def _result_marks(page: Page) -> dict[str, tuple[Mark, ...]]:
    """Excluded rows aside; failures, and what made an attempt refused, in their own cells."""
    formulas, styles = Formulas(page.words), page.styles
    alarm, doubt = styles.alarm(), styles.doubt()
    failed = ",".join(f'{{outcome}}="{one}"' for one in FAILURES)
    controls = {
        name: (Mark(formulas.is_false(f"{{{name}}}"), alarm),) for name in ("ids_match", "format_ok", "quality_ok")
    }
    return {
        "*": (Mark(f"({formulas.is_true('{excluded}')})>0", styles.aside()),),
        "outcome": (Mark(f"OR({failed})", alarm), Mark('{outcome}="interrupted"', doubt)),
        "corpus_accepted": (
            Mark('{corpus_accepted}="rejected"', alarm), Mark('{corpus_accepted}="unassessed"', doubt),
        ),
        **controls,
    }  # fmt: skip
