"""How the workbook looks and what it stops: units behind numbers, colours that say it in words, prompts, paper."""

from __future__ import annotations

import re
import subprocess
import zipfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from openpyxl import load_workbook
from openpyxl.formula.translate import Translator
from openpyxl.workbook import Workbook
from workbook_sample import attempts, content, converted, edited, manifest, parts, write

from lab.messages import LANGUAGES, messages
from lab.store.workbook.content import SHEETS
from lab.store.workbook.read import read_rows
from lab.store.workbook.sheets import marker

LOCALE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>{locale}</value></prop></item></oor:items>"""
ROWS = 12  # of each rule, from its first row on
NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_carry_their_units(tmp_path: Path, language: str) -> None:
    """Hours, days, seconds, gibibytes: behind the number, as the language abbreviates them.

    Only in `raw-results` they are in the name alone: saved as CSV, as it is shown, a number must read back.
    """
    book = load_workbook(write(tmp_path / "campaign.xlsx", language))
    words = messages(language)

    def format_of(sheet: str, header: int, name: str) -> str:
        cell = next(cell for cell in book[sheet][header] if cell.value == name)
        return str(book[sheet].cell(header + 1, cell.column).number_format)

    wanted = {
        ("raw-results", 4, "duration_s"): "0.000",
        ("raw-results", 4, "peak_device_bytes"): "0",
        ("raw-results", 4, "metric_value"): "0.0000",
        ("raw-results", 4, "attempt_id"): "@",
        ("forfaits", 6, "lots"): "#,##0",
        ("forfaits", 6, "days"): f'#,##0" {words.text("unit.short.days")}"',
        ("forfaits", 6, "covers_hours"): f'#,##0.00" {words.text("unit.short.h")}"',
        ("forfaits", 32, "memory_gib_per_card"): f'General" {words.text("unit.short.gib")}"',
        ("calendar", 4, "window_hours"): f'#,##0.00" {words.text("unit.short.h")}"',
        ("summary", 4, "median_s"): f'#,##0.000" {words.text("unit.short.s")}"',
    }
    assert {key: format_of(*key) for key in wanted} == wanted


@pytest.fixture(scope="module")
def coloured(tmp_path_factory: pytest.TempPathFactory, soffice: str) -> SimpleNamespace:
    """The sample in French with an excluded attempt: which cells LibreOffice finds each rule of colour to hold for."""
    folder = tmp_path_factory.mktemp("look")
    first, *rest = attempts()
    held = replace(content("fr"), rows=(replace(first, excluded=True), *rest))
    path = write(folder / "campaign.xlsx", "fr", held)
    asked: list[tuple[str, str]] = []

    def ask(book: Workbook) -> None:
        scratch = book.create_sheet("scratch")
        for sheet in book:
            for area in sheet.conditional_formatting:
                for part in area.cells.ranges:
                    for row in range(part.min_row, min(part.max_row, part.min_row + ROWS) + 1):
                        for rule in area.rules:
                            at = f"{part.coord.split(':')[0].rstrip('0123456789')}{row}"
                            origin = str(area.cells).split()[0].split(":")[0]
                            text = Translator(f"={rule.formula[0]}", origin=origin).translate_formula(at)
                            text = re.sub(r"(?<![A-Za-z!$'])(\$[A-Z]+\$?[0-9]+)", rf"'{sheet.title}'!\1", text)
                            asked.append((sheet.title, at))
                            scratch.cell(len(asked), 1, f"=IF({text[1:]},1,0)")

    edited(path, ask)
    (folder / "out").mkdir()
    again = load_workbook(converted(soffice, path, "xlsx", folder / "out"), data_only=True)
    told = [cell.value for cell in again["scratch"]["A"]]
    found = {where for where, value in zip(asked, told, strict=True) if value}
    return SimpleNamespace(found=found, book=again, asked=asked)


def test_what_is_coloured_says_it_in_words_too(coloured: SimpleNamespace) -> None:
    """A package that is too short, an unknown price, an undefined cost, a failure, a refusal, an exclusion."""
    words = messages("fr")
    said = {where: coloured.book[where[0]][where[1]].value for where in coloured.found}
    assert said[("forfaits", "H8")] == words.text("word.unknown_price")
    assert said[("summary", "L7")] == words.text("word.undefined")
    assert said[("summary", "E5")] == 1  # a failed attempt of b1
    assert said[("raw-results", "H8")] == "out_of_memory"
    assert said[("deliverables", "C7")] == words.text("word.no")
    assert ("raw-results", "A5") in said  # the whole row of the excluded attempt
    assert ("raw-results", "A6") not in said
    assert ("forfaits", "L7") not in said  # covers the window: yes
    assert not [where for where, value in said.items() if where[0] != "protocol" and value is None]
    assert len(coloured.asked) > 200


def test_the_fields_that_measuring_needs_are_marked_while_they_are_empty(tmp_path: Path, soffice: str) -> None:
    """Their text says so; a rule of colour stands on exactly those cells."""
    del soffice
    sheet = load_workbook(write(tmp_path / "campaign.xlsx"))["protocol"]
    needed = messages("en").text("protocol.required")
    marked = {cell for area in sheet.conditional_formatting for cell in str(area.cells).split()}
    said = {f"B{cell.row}" for cell in sheet["C"] if needed in str(cell.value)}
    assert marked == said != set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cell_that_people_fill_has_its_prompt(tmp_path: Path, language: str) -> None:
    """Label and help when the cell is chosen; what makes no sense is stopped, with an example of what does."""
    book = load_workbook(write(tmp_path / "campaign.xlsx", language))
    words = messages(language)
    for sheet, address, field in (
        ("deliverables", "E5", "notes"), ("deliverables", "D5", "attempt_id"), ("forfaits", "D7", "days"),
        ("forfaits", "F20", "justification"), ("calendar", "B5", "task"), ("calendar", "D5", "end"),
        ("raw-results", "AQ5", "notes"),
    ):  # fmt: skip
        rules = [one for one in book[sheet].data_validations.dataValidation if address in one.sqref]
        assert [one.promptTitle for one in rules] == [words.text(f"field.{field}.label")], (sheet, address)
        assert rules[0].prompt
    (end,) = [one for one in book["calendar"].data_validations.dataValidation if "D5" in one.sqref]
    assert (end.type, "D5>C5" in end.formula1) == ("custom", True)
    assert "list_attempts" in book.defined_names


def test_each_sheet_has_its_hidden_marker(tmp_path: Path) -> None:
    """By it a renamed sheet is found again."""
    main = parts(write(tmp_path / "campaign.xlsx"))["xl/workbook.xml"].decode()
    for sheet in SHEETS:
        name = re.search(rf'<definedName name="{marker(sheet)}" hidden="1">([^<]+)<', main)
        assert name is not None
        assert name[1] == f"'{sheet}'!$A$1"


def test_the_properties_say_title_language_and_schema(tmp_path: Path) -> None:
    """Who opens the file's properties learns what it is."""
    held = parts(write(tmp_path / "campaign.xlsx", "it"))
    assert messages("it").text("book.title") in held["docProps/core.xml"].decode()
    assert re.findall(r'name="(\w+)"><vt:\w+>([^<]+)<', held["docProps/custom.xml"].decode()) == [
        ("schema_version", "1"), ("language", "it"), ("campaign", "support-tickets"),
    ]  # fmt: skip


def test_wide_sheets_print_in_parts_that_can_be_read(tmp_path: Path, soffice: str) -> None:
    """No part of `forfaits` and `summary` needs a scale below two thirds: 7 points on paper at least."""
    path = write(tmp_path / "campaign.xlsx", "fr")
    book = load_workbook(path)
    for name in ("forfaits", "summary"):
        sheet = book[name]
        for part in str(sheet.print_area).split(","):
            first, last = (re.sub(r"[^A-Z]", "", one) for one in part.split("!")[-1].split(":"))
            columns = [
                column for column in sheet.iter_cols(min_row=1, max_row=1)
                if _number(first) <= column[0].column <= _number(last)
            ]  # fmt: skip
            width = sum(sheet.column_dimensions[one[0].column_letter].width for one in columns)
            assert width < 149 * 3 / 2, part  # characters of 11 points across A4 landscape, at two thirds
    command = [soffice, f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless", "--convert-to", "pdf"]
    subprocess.run([*command, "--outdir", str(tmp_path), str(path)], check=True, capture_output=True, timeout=120)
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "campaign.pdf"), "-"], check=True, capture_output=True, text=True
    ).stdout
    pages = [page for page in text.split("\f") if "catalogue_version" in page or "price_status" in page]
    assert any("catalogue_version" in page and "rtx-4090" in page for page in pages)  # cards stand beside the prices
    assert zipfile.is_zipfile(path)


def _number(letters: str) -> int:
    number = 0
    for one in letters:
        number = number * 26 + ord(one) - 64
    return number


@pytest.mark.parametrize("language", ["en", "fr"])
def test_raw_results_saved_as_csv_as_they_are_shown_read_back(tmp_path: Path, language: str, soffice: str) -> None:
    """As spreadsheet programs save one sheet: every number is that of the workbook, to what its format shows."""
    path = write(tmp_path / "campaign.xlsx", language)
    locale, third = {"en": "en-US", "fr": "fr-FR"}[language], 3
    options = f"csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true,false,false,false,{third}"
    profile = tmp_path / "profile" / "user"
    profile.mkdir(parents=True)
    (profile / "registrymodifications.xcu").write_text(LOCALE.format(locale=locale))
    command = [soffice, f"-env:UserInstallation={profile.parent.as_uri()}", "--headless", "--convert-to", options]
    subprocess.run([*command, "--outdir", str(tmp_path), str(path)], check=True, capture_output=True, timeout=120)
    rows = read_rows(tmp_path / "campaign-raw-results.csv", manifest(language)).rows
    assert [row.attempt_id for row in rows] == [row.attempt_id for row in attempts()]
    for row, meant in zip(rows, attempts(), strict=True):
        assert row.duration_s == (None if meant.duration_s is None else pytest.approx(meant.duration_s, abs=5e-4))
        assert (row.completed_inputs, row.ids_match) == (meant.completed_inputs, meant.ids_match)


def test_a_task_that_ends_before_it_starts_is_stopped(tmp_path: Path, soffice: str) -> None:
    """The rule of the cell, computed: a date after the start; text, with which no formula counts, is stopped too."""
    path = write(tmp_path / "campaign.xlsx")
    cases = (
        (datetime(2026, 12, 11, 9), 1), (datetime(2026, 12, 7, 9), 0), (datetime(2019, 1, 1), 0),  # noqa: DTZ001  (a sheet knows no zone)
        ("2026-12-11T09:00+01:00", 0), ("Friday", 0), (44_000, 0),
    )  # fmt: skip

    def ask(book: Workbook) -> None:
        sheet = book["calendar"]
        (rule,) = [one for one in sheet.data_validations.dataValidation if "D5" in one.sqref]
        for row, (typed, _) in enumerate(cases, start=5):
            sheet[f"C{row}"], sheet[f"D{row}"] = datetime(2026, 12, 7, 9), typed  # noqa: DTZ001
            text = Translator(f"={rule.formula1}", origin="D5").translate_formula(f"D{row}")
            sheet[f"Z{row}"] = f"=IF({text[1:]},1,0)"

    edited(path, ask)
    (tmp_path / "out").mkdir()
    sheet = load_workbook(converted(soffice, path, "xlsx", tmp_path / "out"), data_only=True)["calendar"]
    assert [sheet[f"Z{row}"].value for row in range(5, 5 + len(cases))] == [wanted for _, wanted in cases]
