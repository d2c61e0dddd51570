"""One reader for whatever program saved the file: Strict, LibreOffice, Google Sheets, WPS, Numbers; xlsm, ods, csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from foreign_workbooks import PROGRAMS, Parts, renamed, reordered, rewritten
from openpyxl.workbook import Workbook
from workbook_sample import attempts, content, converted, edited, faults, manifest, parts, rezipped, said, write

from lab.errors import InvalidInputError
from lab.messages import LANGUAGES
from lab.model.names import WORKBOOK
from lab.store.campaign import read_declared
from lab.store.starter import start_campaign
from lab.store.workbook import WorkbookContent, append_attempts, campaign_workbook, read_rows, read_workbook
from lab.store.workbook.formats import opened
from lab.store.workbook.sheets import marker
from lab.store.workbook.tables import RESULTS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The sample, in English."""
    return write(tmp_path / WORKBOOK)


def values(held: WorkbookContent) -> WorkbookContent:
    """A content without addresses: what was declared and measured."""
    return replace(held, cells={}, fields={}, notices=())


# --- other programs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_what_another_program_writes_is_read_and_added_to(path: Path, program: Callable[[Parts], Parts]) -> None:
    """The structures of Strict, Google Sheets, WPS and Numbers, reproduced: read the same, then one more row."""
    rewritten(path, program)
    assert values(read_workbook(path, manifest())) == values(content())
    new = replace(attempts()[0], attempt_id="b1_tickets_r9", notes="=1+1")
    assert append_attempts(path, [new], "en").fault is None
    assert read_workbook(path, manifest()).rows == (*attempts(), new)


@pytest.mark.parametrize("to", ["xlsx", "ods"])
def test_libreoffice_keeps_the_markers_of_renamed_sheets(tmp_path: Path, path: Path, soffice: str, to: str) -> None:
    """Renamed, reordered, then saved by LibreOffice in both formats: every sheet is found and reads the same (W9)."""
    rewritten(
        path, lambda held: reordered(renamed(renamed(held, "raw-results", "Résultats d'essai"), "calendar", "Dates"))
    )
    expected = read_workbook(path, manifest())
    assert values(expected) == values(content())
    (tmp_path / "out").mkdir()
    saved = converted(soffice, path, to, tmp_path / "out")
    book = opened(saved, saved.name)
    assert book.names[0] == "dictionary"
    assert book.pointers[marker("raw-results")] == "Résultats d'essai"
    again = read_workbook(saved, manifest())
    assert again == expected
    assert again.cells["b1_tickets_r1", "duration_s"] == "Résultats d'essai!K5"


def test_a_sheet_without_name_and_marker_is_found_by_its_headers(path: Path) -> None:
    """A program that drops defined names, and a person who renames: the columns say which sheet it is."""

    def change(held: Parts) -> Parts:
        made = renamed(held, "deliverables", "Livrables")
        book = made["xl/workbook.xml"]
        return {**made, "xl/workbook.xml": book.replace(b'name="_lab_sheet_', b'name="other_')}

    assert values(read_workbook(rewritten(path, change), manifest())) == values(content())


def test_a_copied_sheet_is_not_taken_for_the_first(path: Path) -> None:
    """The marker says which of two sheets with the same headers is meant; without it, none is guessed."""

    def copied(book: Workbook) -> None:
        book.copy_worksheet(book["deliverables"]).title = "deliverables (2)"

    edited(path, copied)
    assert read_workbook(path, manifest()).deliverables == content().deliverables
    main = parts(path)["xl/workbook.xml"].replace(b'name="_lab_sheet_', b'name="other_')
    rezipped(path, {"xl/workbook.xml": main.replace(b'name="deliverables"', b'name="Livrables"', 1)})
    assert faults(path)["sheet-missing"].place == "deliverables"


# --- OpenDocument -----------------------------------------------------------------------------------------------------


def test_an_open_document_tells_what_its_cells_are(tmp_path: Path, path: Path, soffice: str) -> None:
    """Errors, dates and merged cells of an .ods: the same faults at the same cells as in .xlsx (C4, C5, C8)."""

    def change(book: Workbook) -> None:
        results = book["raw-results"]
        results["K5"], results["K6"], results["J7"] = "=1/0", "12 s", "=TIME(0,12,30)"
        results["J7"].number_format = "hh:mm:ss"
        results["A8"].value, results["A8"].number_format = "=DATE(2026,4,1)", "yyyy-mm-dd"
        results.row_dimensions[9].hidden = True
        book["calendar"].merge_cells("A5:A6")

    edited(path, change)
    (tmp_path / "out").mkdir()
    saved = converted(soffice, path, "ods", tmp_path / "out")
    with pytest.raises(InvalidInputError) as error:
        read_workbook(saved, manifest())
    assert {(one.slug, one.place) for one in said(error.value.faults)} == {
        ("cell-error", "raw-results!K5"),
        ("cell-not-a-number", "raw-results!K6"),
        ("cell-is-date", "raw-results!J7"),
        ("cell-became-date", "raw-results!A8"),
        ("cells-merged", "calendar!A5:A6"),
    }


def _document(rows: str) -> bytes:
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    return (
        f'<?xml version="1.0"?><office:document-content{spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="raw-results">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    ).encode()


_BOMB = (
    '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" '
    'office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>'
)
_NO_NUMBER = '<table:table-row><table:table-cell office:value-type="float" office:value="x"/></table:table-row>'


@pytest.mark.parametrize(
    ("rows", "slug"),
    [(_BOMB, "workbook-expands"), (_NO_NUMBER, "workbook-damaged"), ("<table:table-row>", "workbook-damaged")],
)
def test_an_open_document_is_bounded_and_checked(tmp_path: Path, path: Path, rows: str, slug: str) -> None:
    """Cells repeated seventeen billion times are counted before they are made; a value that is none is damage (W6)."""
    mimetype = b"application/vnd.oasis.opendocument.spreadsheet"
    rewritten(path, lambda _: {"mimetype": mimetype, "content.xml": _document(rows)})
    assert set(faults(path.rename(tmp_path / "campaign.ods"))) == {slug}


# --- CSV --------------------------------------------------------------------------------------------------------------


def _csv(delimiter: str, language: str, encoding: str) -> bytes:
    """The sample's rows as a spreadsheet exports them: numbers and yes and no as people see them."""
    words = {"en": ("TRUE", "FALSE"), "fr": ("VRAI", "FAUX"), "it": ("VERO", "FALSO")}[language]
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(RESULTS.names)
    for row in attempts():
        shown = []
        for value in astuple(row):
            text = "" if value is None else words[not value] if isinstance(value, bool) else str(value)
            shown.append(text.replace(".", ",") if language != "en" and isinstance(value, float) else text)
        writer.writerow(shown)
    return file.getvalue().encode(encoding)


@pytest.mark.parametrize(
    ("delimiter", "language", "encoding"),
    [(",", "en", "utf-8"), (";", "fr", "utf-8-sig"), ("\t", "it", "utf-16"), (";", "it", "utf-8")],
)
def test_rows_come_back_as_csv(tmp_path: Path, delimiter: str, language: str, encoding: str) -> None:
    """`raw-results.csv` in the delimiters and encodings of spreadsheets, read by the campaign's language (C2, C3)."""
    path = tmp_path / "raw-results.csv"
    path.write_bytes(_csv(delimiter, language, encoding))
    read = read_rows(path, manifest(language))
    assert read.rows == attempts()
    assert read.cells["b1_tickets_r1", "duration_s"] == "raw-results!K2"
    assert read.protocol == WorkbookContent().protocol


@pytest.mark.parametrize(
    ("harm", "slug", "place"),
    [
        (lambda data: data + b'x,"open\n', "rows-csv-broken", "line 7"),
        (lambda data: data.replace(b"b1_tickets_r2", b"b1_tickets_r1"), "row-twice", "raw-results!A3"),
        (lambda data: data.replace(b"100.123456", b"100 s"), "cell-not-a-number", "raw-results!K3"),
        (lambda data: data.replace(b"b1_tickets_r3", b"\xe9"), "file-not-utf8", "line 4"),
        (lambda data: data.replace(b"duration_s,", b"duration,"), "column-missing", "raw-results!A1:AQ1"),
    ],
)
def test_a_csv_that_does_not_hold_says_where(
    tmp_path: Path, harm: Callable[[bytes], bytes], slug: str, place: str
) -> None:
    """An open quote, a second row of one id, a unit, another encoding, a column that is missing: line or cell."""
    path = tmp_path / "raw-results.csv"
    path.write_bytes(harm(_csv(",", "en", "utf-8")))
    with pytest.raises(InvalidInputError) as error:
        read_rows(path, manifest())
    assert [(one.slug, one.place) for one in said(error.value.faults)] == [(slug, place)]


def test_the_rows_of_a_file_beside_the_workbook_are_read(path: Path) -> None:
    """What could not be appended lies in a workbook of one sheet; its rows read like any others."""
    path.with_name(f"~${path.name}").touch()
    beside = append_attempts(path, attempts()[:2], "en").written_to
    assert read_rows(beside, manifest()).rows == attempts()[:2]
    assert set(faults(beside)) == {"sheet-missing"}


# --- which file -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["campaign.xlsm", "campaign.ods", "campaign.xlsx"])
def test_the_campaign_s_workbook_may_have_another_format(tmp_path: Path, name: str) -> None:
    """`campaign.ods` or `campaign.xlsm` in place of `campaign.xlsx` (W10)."""
    assert campaign_workbook(tmp_path) == tmp_path / WORKBOOK
    (tmp_path / name).touch()
    assert campaign_workbook(tmp_path) == tmp_path / name


def test_a_campaign_reads_from_an_open_document(tmp_path: Path, soffice: str) -> None:
    """A colleague sends `campaign.ods` back: it takes the workbook's place, and two of them are an error."""
    folder = tmp_path / "campaign"
    start_campaign(folder, "it", "prova")
    declared = read_declared(folder)
    (tmp_path / "out").mkdir()
    saved = converted(soffice, folder / WORKBOOK, "ods", tmp_path / "out")
    saved.rename(folder / saved.name)
    with pytest.raises(InvalidInputError) as error:
        read_declared(folder)
    assert [one.slug for one in error.value.faults] == ["workbook-several"]
    (folder / WORKBOOK).unlink()
    assert read_declared(folder) == declared


def test_two_workbooks_are_one_too_many(tmp_path: Path) -> None:
    """Which of them people filled in is not guessed: both are named."""
    for name in ("campaign.xlsx", "campaign.ods"):
        (tmp_path / name).touch()
    with pytest.raises(InvalidInputError) as error:
        campaign_workbook(tmp_path)
    assert [(one.slug, one.values["found"]) for one in said(error.value.faults)] == [
        ("workbook-several", "campaign.xlsx, campaign.ods")
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_macro_workbook_is_read(tmp_path: Path, language: str) -> None:
    """.xlsm is read as what it holds, never by its name (W10)."""
    path = write(tmp_path / "campaign.xlsx", language).rename(tmp_path / "campaign.xlsm")
    assert read_workbook(path, manifest(language)).rows == content(language).rows
