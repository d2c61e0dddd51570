"""Reading what people send back: every fault at once with its cell, and what other programs wrote read the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.workbook import Workbook
from test_messages import texts
from workbook_sample import HEADER, content, converted, edited, faults, manifest, said, write

from lab.errors import InvalidInputError
from lab.messages import LANGUAGES, messages
from lab.store.workbook import read_workbook


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The sample, in English."""
    return write(tmp_path / "campaign.xlsx")


def set_cell(sheet: str, address: str, value: object) -> Callable[[Workbook], None]:
    """A change of one cell."""

    def change(book: Workbook) -> None:
        book[sheet][address].value = value

    return change


# --- saved by another program -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["fr"])
def test_a_file_saved_by_libreoffice_reads_the_same(tmp_path: Path, soffice: str, language: str) -> None:
    """Booleans as formulas, other styles, freeze panes gone: the same content (W9)."""
    made = write(tmp_path / "campaign.xlsx", language)
    (tmp_path / "out").mkdir()
    saved = read_workbook(converted(soffice, made, "xlsx", tmp_path / "out"), manifest(language))
    held = read_workbook(made, manifest(language))
    assert saved == held


def test_columns_are_found_by_name_wherever_they_are(path: Path) -> None:
    """Another order, extra columns and sheets, rows of notes above: read the same (W11)."""

    def change(book: Workbook) -> None:
        sheet = book["deliverables"]
        sheet.delete_rows(1, 2)
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2, max_col=5)]
        for number, row in enumerate(rows, start=2):
            for column, value in enumerate([row[4], "mine", row[3], row[0], None, row[1], row[2]], start=1):
                sheet.cell(number, column).value = value
        book.create_sheet("my own", 0)["A1"] = "attempt_id"

    assert read_workbook(edited(path, change), manifest()).deliverables == content().deliverables


def test_blank_lines_and_rows_below_the_table_are_no_obstacle(path: Path) -> None:
    """A row typed after three empty lines, below the table's range, is a row (W8)."""

    def change(book: Workbook) -> None:
        sheet = book["raw-results"]
        sheet["A14"], sheet["C14"], sheet["K14"] = "mine", "b4", 12.5

    rows = read_workbook(edited(path, change), manifest()).rows
    assert [(row.attempt_id, row.duration_s) for row in rows[-1:]] == [("mine", 12.5)]
    assert len(rows) == 6


def test_rows_hidden_by_a_filter_are_read_and_said(path: Path) -> None:
    """All rows count, the notice says how many are hidden (W12)."""

    def change(book: Workbook) -> None:
        book["raw-results"].row_dimensions[6].hidden = True

    read = read_workbook(edited(path, change), manifest())
    assert read.rows == content().rows
    assert [(one.slug, one.values["hidden"]) for one in said(read.notices)] == [("rows-hidden", 1)]


def test_numbers_and_words_typed_as_text_are_read_in_french(tmp_path: Path) -> None:
    """`12,5`, U+202F thousands, `VRAI` and a date as text, in a French campaign (C2, C3)."""
    path = write(tmp_path / "campaign.xlsx", "fr")

    def change(book: Workbook) -> None:
        results, forfaits = book["raw-results"], book["forfaits"]
        results["K5"], results["S5"], results["AI5"] = "12,5", "2\u202f147\u202f483\u202f648", "VRAI"
        forfaits["D20"], book["protocol"]["B20"] = "1 234,50", "2026-12-18 18:00"

    read = read_workbook(edited(path, change), manifest("fr"))
    row = read.rows[0]
    assert (row.duration_s, row.peak_allocated_bytes, row.excluded) == (12.5, 2147483648, True)
    assert str(read.expenses[0].amount) == "1234.5"
    assert read.protocol.deadline == content().protocol.deadline


# --- faults, with their cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "value", "slug"),
    [
        ("B10", 95, "protocol-not-a-ratio"),
        ("B10", "95 %", "cell-not-a-number"),
        ("B10", "#DIV/0!", "cell-error"),
        ("B10", "=0.9+0.05", "cell-not-calculated"),
        ("B11", -0.1, "cell-too-small"),
        ("B12", "b9", "protocol-name-unknown"),
        ("B9", "f1", "protocol-name-unknown"),
        ("B13", "source=mail: 0.9", "protocol-subgroup-unknown"),
        ("B13", "length long 0.9", "protocol-subgroups-form"),
        ("B14", "the same", "cell-not-in-list"),
        ("B15", 0, "cell-too-small"),
        ("B15", 2.5, "cell-not-whole"),
        ("B16", 6, "protocol-more-than-planned"),
        ("B17", 0, "cell-too-small"),
        ("B18", "slow: speed > 3", "protocol-name-unknown"),
        ("B18", "because", "protocol-rules-form"),
        ("B19", "Europe/Pari", "protocol-name-unknown"),
        ("B20", "2026-10-25 02:30", "cell-time-twice"),
        ("B20", "2026-12-18", "cell-no-time"),
        ("B22", "dollars", "protocol-not-a-currency"),
        ("B23", "one; one", "protocol-name-twice"),
    ],
)
def test_a_value_of_the_protocol_that_makes_no_sense_is_a_fault_of_its_cell(
    path: Path, address: str, value: object, slug: str
) -> None:
    """Out of range, unknown, of another form: the cell is named, nothing is guessed (C4-C7)."""
    found = faults(edited(path, set_cell("protocol", address, value)))
    assert found[slug].place == f"protocol!{address}"


@pytest.mark.parametrize(
    ("sheet", "address", "value", "slug"),
    [
        ("raw-results", "A6", "b1_tickets_r1", "row-twice"),
        ("raw-results", "A5", datetime(2026, 4, 1), "cell-became-date"),  # noqa: DTZ001  (a sheet knows no zone)
        ("raw-results", "A5", None, "row-without"),
        ("raw-results", "B5", "30/11/2026 17:20", "cell-not-a-moment"),
        ("raw-results", "E5", "batch 8", "cell-not-json"),
        ("raw-results", "H5", "crashed", "cell-not-in-list"),
        ("raw-results", "K5", "12 s", "cell-not-a-number"),
        ("raw-results", "K5", -1, "cell-too-small"),
        ("raw-results", "AI5", "maybe", "cell-not-yes-no"),
        ("deliverables", "B5", "b9", "row-name-unknown"),
        ("forfaits", "D7", 0, "cell-too-small"),
        ("forfaits", "B8", "b1", "row-twice"),
        ("forfaits", "B33", None, "price-cell"),
        ("calendar", "D5", datetime(2026, 12, 7, 8), "calendar-end-before-start"),  # noqa: DTZ001  (a sheet knows no zone)
        ("calendar", "C5", None, "row-without"),
        ("calendar", "A6", "b9", "row-name-unknown"),
    ],
)
def test_a_row_that_does_not_hold_is_a_fault_of_its_cell(
    path: Path, sheet: str, address: str, value: object, slug: str
) -> None:
    """In every table that people fill: the cell, what was found, what is wanted."""
    found = faults(edited(path, set_cell(sheet, address, value)))
    assert slug in found
    assert str(found[slug].place) == f"{sheet}!{address[1:] if slug.startswith('price') else address}"


def test_all_faults_come_at_once(path: Path) -> None:
    """One reading lists everything that is wrong, in every sheet."""

    def change(book: Workbook) -> None:
        book["protocol"]["B10"], book["protocol"]["B15"] = 95, "five"
        book["raw-results"]["K5"], book["calendar"]["C5"] = "12 s", "Monday"

    with pytest.raises(InvalidInputError) as error:
        read_workbook(edited(path, change), manifest())
    places = {one.place for one in error.value.faults}
    assert places == {"protocol!B10", "protocol!B15", "raw-results!K5", "calendar!C5"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_threshold_of_95_says_the_wanted_form_in_the_language(tmp_path: Path, language: str) -> None:
    """The message names the cell, 95, and 0.95 as the language writes it (C7)."""
    path = edited(write(tmp_path / "campaign.xlsx", language), set_cell("protocol", "B10", 95))
    said = messages(language).fault(faults(path, language)["protocol-not-a-ratio"])
    assert said.replace("\u202f:", ":").startswith("campaign.xlsx, protocol!B10: ")
    assert "95" in said
    assert ("0.95" if language == "en" else "0,95") in said


def test_a_threshold_shown_as_a_percentage_is_its_ratio(path: Path) -> None:
    """95 % in a cell of that format is stored as 0.95 and means it (C7)."""

    def change(book: Workbook) -> None:
        book["protocol"]["B10"].number_format = "0%"

    assert read_workbook(edited(path, change), manifest()).protocol.threshold == 0.95


def test_headers_twice_or_missing_name_the_cells(path: Path) -> None:
    """Two columns of one name, and none of another (W11)."""

    def change(book: Workbook) -> None:
        book["deliverables"]["E4"].value = "variant"

    found = faults(edited(path, change))
    assert found["column-twice"].place == "deliverables!B4, deliverables!E4"
    assert (found["column-missing"].place, found["column-missing"].values["column"]) == ("deliverables!A4:E4", "notes")


def test_merged_cells_in_the_data_are_named(path: Path) -> None:
    """A merged range hides values (W11)."""

    def change(book: Workbook) -> None:
        book["calendar"].merge_cells("A5:A6")

    assert faults(edited(path, change))["cells-merged"].place == "calendar!A5:A6"


def test_a_missing_sheet_is_named(path: Path) -> None:
    """A sheet that was taken out is missing, and those that are there are listed."""

    def change(book: Workbook) -> None:
        del book["calendar"]

    found = faults(edited(path, change))["sheet-missing"]
    assert found.place == "calendar"
    assert "raw-results" in str(found.values["found"])


def test_a_row_of_the_protocol_that_was_removed_or_misspelt_is_said(path: Path) -> None:
    """The field that is missing is a fault; the one that is not known has its nearest."""
    with pytest.raises(InvalidInputError) as error:
        read_workbook(edited(path, set_cell("protocol", "A10", "treshold")), manifest())
    assert [(one.slug, one.values["column"]) for one in error.value.faults] == [("protocol-row-missing", "threshold")]


def test_what_counts_for_nothing_is_noticed(path: Path) -> None:
    """A row of an unknown variant stays and is said; so is a field that the protocol does not have."""

    def change(book: Workbook) -> None:
        book["raw-results"]["C5"], book["protocol"]["A28"] = "b9", "treshold"

    read = read_workbook(edited(path, change), manifest())
    assert read.rows[0].variant == "b9"
    assert {one.slug: one.place for one in said(read.notices)} == {
        "row-name-unknown": "raw-results!C5",
        "protocol-row-unknown": "protocol!A28",
    }


def test_every_fault_that_has_a_text_is_one_that_can_be_found(repository: Path) -> None:
    """No text is left of a fault that nothing says any more."""
    code = "".join(one.read_text() for one in (repository / "lab" / "store" / "workbook").glob("*.py"))
    slugs = {key.split(".")[1] for key in texts("en", "workbook") if key.startswith("fault.")}
    assert not sorted(slug for slug in slugs if f'"{slug}"' not in code)


def test_a_local_time_without_a_time_zone_says_where_to_state_it(path: Path) -> None:
    """Deadline and calendar wait for the zone; its cell is named."""
    found = faults(edited(path, set_cell("protocol", "B19", None)))
    assert found["cell-needs-time-zone"].values["zone_cell"] == "protocol!B19"


def test_the_card_of_the_manifest_counts_and_another_one_is_noticed(path: Path) -> None:
    """A card typed over the manifest's is said with both."""
    read = read_workbook(edited(path, set_cell("forfaits", "C7", "b200")), manifest())
    assert read.choices[0].gpu == "rtx-4090"
    assert [(one.slug, one.place) for one in said(read.notices)] == [("choice-other-gpu", "forfaits!C7")]


def test_the_reader_agrees_with_openpyxl_on_every_value(path: Path) -> None:
    """Two readers, one content: the cells of raw-results as an independent library sees them."""
    sheet = load_workbook(path, data_only=True)["raw-results"]
    header = [cell.value for cell in sheet[HEADER]]
    rows = [dict(zip(header, [cell.value for cell in row], strict=True)) for row in sheet.iter_rows(min_row=HEADER + 1)]
    read = [{name: getattr(row, str(name)) for name in header} for row in read_workbook(path, manifest()).rows]
    assert read == rows
