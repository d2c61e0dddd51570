"""The workbook as it is made: sheets, columns, cells by who fills them, the same bytes from the same content."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from test_messages import texts
from workbook_sample import HEADER, attempt, content, manifest, write

from lab.messages import LANGUAGES, messages
from lab.model.attempt import COLUMNS
from lab.model.protocol import PROTOCOL_FIELDS, Protocol
from lab.store.workbook import empty_content, missing_fields, read_workbook
from lab.store.workbook.blanks import blank_csv, blank_workbook
from lab.store.workbook.content import SHEETS
from lab.store.workbook.tables import TABLES


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_written_reads_back_the_same(tmp_path: Path, language: str) -> None:
    """Every declared value survives the way into the workbook and back, in each language."""
    held = content(language)
    read = read_workbook(write(tmp_path / "campaign.xlsx", language), manifest(language))
    for name in ("protocol", "rows", "choices", "offers", "expenses", "calendar", "deliverables"):
        assert getattr(read, name) == getattr(held, name), name
    assert read.cells["b1_tickets_r2", "corpus_accepted"] == "raw-results!AH6"
    assert read.notices == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_workbook_reads_and_says_what_a_run_still_needs(tmp_path: Path, language: str) -> None:
    """Nothing filled in is no fault; the fields that are needed are named."""
    empty = empty_content(manifest(language))
    read = read_workbook(write(tmp_path / "campaign.xlsx", language, empty), manifest(language))
    assert (read.protocol, read.rows, read.calendar, read.choices) == (Protocol(), (), (), empty.choices)
    missing = [spec.name for spec in missing_fields(read.protocol)]
    assert missing == [spec.name for spec in PROTOCOL_FIELDS if spec.required]


def test_sheets_and_columns_stand_in_the_order_of_the_contract(tmp_path: Path) -> None:
    """Eight sheets by their technical names; `raw-results` is one Excel table over the columns of `Attempt`."""
    book = load_workbook(write(tmp_path / "campaign.xlsx"))
    assert tuple(book.sheetnames) == SHEETS
    sheet = book["raw-results"]
    assert [cell.value for cell in sheet[HEADER]] == [column.name for column in COLUMNS]
    assert sheet.tables["attempts"].ref == "A4:AQ9"
    assert sheet.freeze_panes == "B5"
    assert {name for one in book.worksheets for name in one.tables} == {table.name for table in TABLES}


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    """Nothing in the file depends on when it was made."""
    first, second = (write(tmp_path / name, "en", content()) for name in ("a.xlsx", "b.xlsx"))
    assert first.read_bytes() == second.read_bytes()


def test_text_columns_are_text_and_cells_show_who_fills_them(tmp_path: Path) -> None:
    """`0012` and `1-4` stay what was typed; pale yellow is a person's, grey the tool's, white computed."""
    book = load_workbook(write(tmp_path / "campaign.xlsx"))
    sheet = book["raw-results"]
    assert sheet["A5"].number_format == "@"
    assert sheet.column_dimensions["A"].width > 40
    fills = {name: sheet[f"{column}5"].fill.fgColor.rgb for name, column in {"tool": "A", "person": "AI"}.items()}
    assert fills == {"tool": "FFEEF0F2", "person": "FFFFF9DB"}
    assert book["forfaits"]["H7"].fill.fgColor.rgb == "FFFFFFFF"
    assert sheet["AQ6"].value == '=HYPERLINK("http://x")'
    assert sheet["AQ6"].data_type == "s"


@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_carry_notes_and_cells_are_checked_in_the_language(tmp_path: Path, language: str) -> None:
    """Label and help in the header's note; prompt and error message of the threshold in the campaign's language."""
    book = load_workbook(write(tmp_path / "campaign.xlsx", language))
    words = messages(language)
    comment = book["raw-results"]["K4"].comment
    assert comment is not None
    assert comment.text.startswith(words.text("field.duration_s.label"))
    rules = [rule for rule in book["protocol"].data_validations.dataValidation if "B10" in rule.sqref]
    assert [(rule.type, rule.operator, rule.formula1, rule.formula2) for rule in rules] == [("decimal", None, "0", "1")]
    assert rules[0].promptTitle == words.text("field.threshold.label")
    lists = {rule.formula1 for sheet in book for rule in sheet.data_validations.dataValidation if rule.type == "list"}
    named = {name.strip("=") for name in lists}
    assert (
        {"list_variants", "list_outcomes", "list_yes_no", "list_gpus", "list_days"} <= named <= set(book.defined_names)
    )


def test_what_nobody_fills_in_is_protected_without_a_password(tmp_path: Path) -> None:
    """`read-me`, `summary` and `dictionary`; the sheets that people fill are not, so that their tables grow."""
    book = load_workbook(write(tmp_path / "campaign.xlsx"))
    assert {sheet.title for sheet in book if sheet.protection.sheet} == {"read-me", "summary", "dictionary"}
    assert all(sheet.protection.password is None for sheet in book)


def test_every_sheet_prints_on_a4_landscape_with_its_header_repeated(tmp_path: Path) -> None:
    """Fitted to the width, except raw-results, which is several pages wide and prints whatever rows it has got."""
    for sheet in load_workbook(write(tmp_path / "campaign.xlsx")):
        assert (sheet.page_setup.paperSize, sheet.page_setup.orientation) == (9, "landscape")
        assert bool(sheet.print_area) == (sheet.title != "raw-results")
        if sheet.title not in {"read-me", "forfaits"}:
            assert sheet.print_title_rows == "$4:$4"


def test_a_text_longer_than_a_cell_keeps_its_head_and_says_so(tmp_path: Path) -> None:
    """40,000 characters: 32,767 in the cell, the last of them telling where the rest is."""
    held = replace(content(), rows=(attempt("b1", 1, notes="x" * 40_000),))
    read = read_workbook(write(tmp_path / "campaign.xlsx", "en", held), manifest())
    note = read.rows[0].notes
    assert note is not None
    assert len(note) == 32_767
    assert note.endswith(messages("en").text("cell.cut"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_committed_blank_is_what_the_code_makes(repository: Path, language: str) -> None:
    """Cell by cell: value, kind, number format, note; and the drop-downs."""
    committed = load_workbook(repository / "workbook" / f"campaign.{language}.xlsx")
    made = load_workbook(io.BytesIO(blank_workbook(language)))
    assert committed.sheetnames == made.sheetnames
    assert {name: one.attr_text for name, one in committed.defined_names.items()} == {
        name: one.attr_text for name, one in made.defined_names.items()
    }
    for old, new in zip(committed, made, strict=True):
        assert _cells(old) == _cells(new)
        assert _look(old) == _look(new)
        assert [rule.sqref for rule in old.data_validations.dataValidation] == [
            rule.sqref for rule in new.data_validations.dataValidation
        ]


def _look(sheet: Any) -> tuple[object, ...]:  # noqa: ANN401  (an openpyxl worksheet)
    """What is not in the cells: rules of colour, tables, what prints, what is frozen and protected, widths."""
    rules = {str(area.cells): [one.formula for one in area.rules] for area in sheet.conditional_formatting}
    tables = {one.name: (one.ref, [column.name for column in one.tableColumns]) for one in sheet.tables.values()}
    widths = {name: one.width for name, one in sheet.column_dimensions.items()}
    printed = (sheet.print_area, sheet.print_title_rows, sheet.page_setup.orientation, sheet.freeze_panes)
    return rules, tables, widths, printed, sheet.protection.sheet


def _cells(sheet: object) -> dict[str, tuple[object, ...]]:
    return {
        cell.coordinate: (
            getattr(cell.value, "text", cell.value), cell.data_type, cell.number_format, cell.fill.fgColor.rgb,
            cell.comment and cell.comment.text,
        )
        for row in sheet.iter_rows()  # type: ignore[attr-defined]  (an openpyxl worksheet)
        for cell in row
    }  # fmt: skip


def test_the_committed_csv_is_the_header_of_raw_results(repository: Path) -> None:
    """The blank `raw-results.csv` holds the columns in their order and nothing else."""
    assert (repository / "workbook" / "raw-results.csv").read_bytes() == blank_csv()


def test_the_words_of_yes_read_back_as_yes() -> None:
    """The first word of each list is the one that drop-downs offer."""
    for language in LANGUAGES:
        words = messages(language)
        assert words.text("cell.true_words").split("/")[0].strip() == words.text("word.yes")
        assert words.text("cell.false_words").split("/")[0].strip() == words.text("word.no")


def test_a_deadline_is_written_as_the_local_time_of_its_zone(tmp_path: Path) -> None:
    """18:00 in Paris stands as 18:00 in the cell, whatever the machine's own zone."""
    book = load_workbook(write(tmp_path / "campaign.xlsx"))
    assert book["protocol"]["B20"].value == datetime(2026, 12, 18, 18)  # noqa: DTZ001  (a sheet knows no zone)


@pytest.mark.parametrize("language", ["fr", "it"])
def test_nothing_in_the_workbook_is_left_in_english(tmp_path: Path, language: str) -> None:
    """No cell, note, prompt or message says what only the English catalogue says."""
    book = load_workbook(write(tmp_path / "campaign.xlsx", language, empty_content(manifest(language))), rich_text=True)
    shown: set[str] = set()
    for sheet in book:
        cells = [cell for row in sheet.iter_rows() for cell in row]
        shown |= {part for cell in cells if cell.value for part in str(cell.value).split("\n")}
        shown |= {part for cell in cells if cell.comment for part in cell.comment.text.split("\n")}
        for rule in sheet.data_validations.dataValidation:
            shown |= {str(text) for text in (rule.promptTitle, rule.prompt, rule.errorTitle, rule.error)}
    english, own = (texts(one, "workbook") for one in ("en", language))
    foreign = {str(text) for text in english.values()} - {str(text) for text in own.values()}
    assert len(shown) > 200
    contract = {name for table in TABLES for name in table.names}
    assert not sorted((shown & foreign) - contract)
