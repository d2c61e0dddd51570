"""What a French colleague sends back, saved by real LibreOffice: read right, added to, and nothing of theirs lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_workbooks import renamed, reordered, rewritten
from openpyxl.chart import BarChart, Reference
from openpyxl.workbook import Workbook
from openpyxl.worksheet.filters import AutoFilter, FilterColumn, Filters
from workbook_sample import attempt, attempts, converted, edited, manifest, open_package, parts, said, write

from lab.model.attempt import Attempt
from lab.store.workbook import append_attempts, read_workbook
from lab.store.workbook.book import open_book

RESULTS_NOW = "Résultats bruts"
TYPED = Attempt(
    "mesure_a_la_main",
    variant="b4",
    corpus="tickets",
    duration_s=12.5,
    elapsed_s=1234.5,
    peak_allocated_bytes=2_147_483_648,
    excluded=True,
    notes="=1+1 à vérifier",
)
NEW = attempt("b4", 2, notes="@SUM(A1)", duration_s=99.5)


def as_they_worked(book: Workbook) -> None:
    """A chart, a column and a sheet of their own; three empty lines, a row in French; a filter that shows only `b4`."""
    sheet = book[RESULTS_NOW]
    chart = BarChart()
    chart.title = "Durées"
    chart.add_data(Reference(sheet, min_col=11, min_row=4, max_row=9), titles_from_data=True)
    sheet.add_chart(chart, "C30")
    sheet["AR4"] = "ma colonne"
    for row in range(5, 10):
        sheet[f"AR{row}"] = f"vu {row}"
    typed = {
        "A": TYPED.attempt_id, "C": "b4", "D": "tickets", "K": "12,5", "J": "1\u202f234,5",
        "S": "2\u202f147\u202f483\u202f648", "AI": "VRAI", "AR": "moi",
    }  # fmt: skip
    for column, value in typed.items():
        sheet[f"{column}13"].value = value
    sheet["AQ13"].value = TYPED.notes
    sheet["AQ13"].data_type = "s"  # text that begins with =, as someone types it with an apostrophe
    columns = [FilterColumn(colId=2, filters=Filters(filter=["b4"]))]
    sheet.tables["attempts"].autoFilter = AutoFilter(ref=sheet.tables["attempts"].ref, filterColumn=columns)
    for row in range(5, 9):
        sheet.row_dimensions[row].hidden = True
    book.create_sheet("Mes notes")["A1"] = "à moi"


@pytest.fixture
def sent(tmp_path: Path, soffice: str) -> Path:
    """The colleague's file: edited, its sheet renamed and all of them reordered, saved by LibreOffice."""
    path = write(tmp_path / "campaign.xlsx", "fr")
    edited(rewritten(path, lambda held: reordered(renamed(held, "raw-results", RESULTS_NOW))), as_they_worked)
    (tmp_path / "sent").mkdir()
    return converted(soffice, path, "xlsx", tmp_path / "sent")


def _sheet_part(path: Path) -> str:
    return open_book(open_package(path)).parts[RESULTS_NOW]


def test_a_french_colleague_s_file_is_read_right_and_added_to(sent: Path, tmp_path: Path, soffice: str) -> None:
    """`12,5`, `VRAI`, U+202F, empty lines, a filter; then a row more, with chart, filter, column and sheet kept."""
    read = read_workbook(sent, manifest("fr"))
    assert read.rows == (*attempts(), TYPED)
    assert [(one.slug, one.place, one.values["hidden"]) for one in said(read.notices)] == [
        ("rows-hidden", RESULTS_NOW, 4)
    ]
    before, part = parts(sent), _sheet_part(sent)
    assert append_attempts(sent, [NEW], "fr").fault is None
    after = parts(sent)
    tables = {name for name in before if name.startswith("xl/tables/")}
    changed = {name for name in before if before[name] != after[name]}
    assert part in changed
    assert changed <= {part, "xl/workbook.xml", *tables}
    charts = [name for name in after if name.startswith("xl/charts/chart")]
    assert charts
    filters = [name for name in after if b'<filter val="b4"' in after[name]]
    assert filters == [name for name in before if b'<filter val="b4"' in before[name]] != []
    assert read_workbook(sent, manifest("fr")).rows == (*attempts(), TYPED, NEW)
    (tmp_path / "again").mkdir()
    again = converted(soffice, sent, "xlsx", tmp_path / "again")
    held = parts(again)
    assert any(name.startswith("xl/charts/chart") for name in held)
    assert b"Mes notes" in held["xl/workbook.xml"]
    texts = held["xl/sharedStrings.xml"].decode()
    assert all(text in texts for text in ("ma colonne", "vu 5", "moi", "à moi"))
    reread = read_workbook(again, manifest("fr"))
    assert reread.rows == (*attempts(), TYPED, NEW)
