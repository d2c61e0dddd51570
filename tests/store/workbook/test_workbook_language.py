"""A workbook is read in the language it was made in, whatever the manifest says; dates that are text are no dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.workbook import Workbook
from workbook_sample import (
    PARIS,
    attempts,
    content,
    converted,
    edited,
    faults,
    manifest,
    parts,
    rezipped,
    said,
    without_results,
    write,
)

from lab.messages import LANGUAGES, messages
from lab.model.catalogue import Deliverable
from lab.store.workbook import append_deliverables, read_rows, read_workbook
from lab.store.workbook.lines import Figures
from lab.store.workbook.refresh import refresh

PROPERTIES = "docProps/custom.xml"


def in_french(book: Workbook) -> None:
    """What a French colleague types: a number as text, a yes."""
    book["raw-results"]["K5"], book["raw-results"]["AI5"] = "12,5", "oui"


@pytest.mark.parametrize("saved", ["openpyxl", "xlsx", "ods"])
def test_its_words_and_numbers_are_read_in_its_own_language(tmp_path: Path, soffice: str, saved: str) -> None:
    """Made in French, `language = "en"` in the manifest: `non`, `oui` and `12,5` mean what they say, and it is told."""
    path = edited(write(tmp_path / "campaign.xlsx", "fr"), in_french)
    if saved != "openpyxl":
        (tmp_path / "out").mkdir()
        path = converted(soffice, path, saved, tmp_path / "out")
    for read in (read_workbook, read_rows):
        held = read(path, manifest("en"))
        assert (held.rows[0].duration_s, held.rows[0].excluded) == (12.5, True)
        told = [one for one in said(held.notices) if one.slug == "workbook-own-language"]
        assert [(one.values["own"], one.values["language"]) for one in told] == [("fr", "en")]
    assert [one.spot for one in read_workbook(path, manifest("en")).offers] == [False] * 3
    assert not said(read_workbook(path, manifest("fr")).notices)


def test_a_workbook_that_does_not_say_its_language_is_read_in_the_campaign_s(tmp_path: Path) -> None:
    """Some programs drop a document's own properties; a damaged one says nothing either, and a code that is none."""
    path = write(tmp_path / "campaign.xlsx", "fr")
    whole = parts(path)[PROPERTIES]
    for data in (
        whole.replace(b">fr<", b"><"),
        whole.replace(b">fr<", b">xx<"),
        whole[:40],
        b'<!DOCTYPE x [<!ENTITY a "b">]><x/>',
    ):
        rezipped(path, {PROPERTIES: data})
        assert read_workbook(path, manifest("fr")).rows == attempts()
        found = faults(path, "en")
        assert found["cell-not-yes-no"].place is not None


def test_what_the_tool_adds_is_in_the_workbook_s_language(tmp_path: Path) -> None:
    """`oui`, not `yes`, beside a drop-down that offers `oui`; figures that are refreshed keep the workbook's words."""
    path = write(tmp_path / "campaign.xlsx", "fr")
    assert append_deliverables(path, [Deliverable("archive", "b4", accepted=True)], "en").fault is None
    assert [row[2].value for row in load_workbook(path)["deliverables"].iter_rows(min_row=5, max_row=8)][3] == "oui"
    english = manifest("en")
    read = read_workbook(path, english)
    assert read.deliverables[-1].accepted is True
    found = refresh(path, read, english, Figures())
    assert found.faults == ()
    shown = load_workbook(path, data_only=True)["forfaits"]
    assert shown["H10"].value == messages("fr").text("word.no_package")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("typed", "slug"),
    [
        ("2026-12-07 09:00", "calendar-date-as-text"),
        ("2026-12-07T09:00+01:00", "calendar-date-as-text"),
        (datetime(2026, 10, 25, 2, 30), "calendar-time-twice"),  # noqa: DTZ001  (a sheet knows no zone)
        ("2026-10-25 02:30", "calendar-time-twice"),
        ("demain", "cell-not-a-date"),
    ],
)
def test_a_date_that_the_sheet_s_formulas_cannot_count_is_refused(
    tmp_path: Path, language: str, typed: object, slug: str
) -> None:
    """It would be in the tool's window and not in the sheet's; the cell is named, and what to type."""
    path = write(tmp_path / "campaign.xlsx", language)

    def change(book: Workbook) -> None:
        book["calendar"]["C5"] = typed

    edited(path, change)
    assert faults(path, language)[slug].place == "calendar!C5"


def test_the_sheet_says_unknown_of_a_window_with_half_a_task(tmp_path: Path, soffice: str) -> None:
    """One task of two with its end as text, or without: no shorter window is shown in silence. A blank text is none."""
    path = write(tmp_path / "campaign.xlsx", held=content())

    def change(book: Workbook) -> None:
        sheet = book["calendar"]
        for row, end in enumerate(("2026-12-08 09:00", None, " "), start=7):
            sheet[f"A{row}"], sheet[f"B{row}"] = ("b1", "b200", "h100")[row - 7], "more"
            if end != " ":
                sheet[f"C{row}"] = datetime(2026, 12, 7, 9)  # noqa: DTZ001  (a sheet knows no zone)
            sheet[f"D{row}"] = end

    edited(path, change)
    (tmp_path / "out").mkdir()
    sheet = load_workbook(converted(soffice, without_results(path), "xlsx", tmp_path / "out"), data_only=True)[
        "calendar"
    ]
    hours = {sheet[f"G{row}"].value: sheet[f"J{row}"].value for row in range(5, 9)}
    assert hours == {"b1": "unknown", "b4": 24 * 113 - 1, "b200": "unknown", "h100": 96}


@pytest.mark.parametrize("hour", [0, 1])
def test_a_deadline_in_the_hour_that_exists_twice_is_written_so_that_it_reads_back(tmp_path: Path, hour: int) -> None:
    """02:30 on the night that clocks go back, the first or the second: text with its offset, not a date of both."""
    deadline = datetime(2026, 10, 25, hour, 30, tzinfo=UTC).astimezone(PARIS)
    held = content()
    path = write(tmp_path / "campaign.xlsx", held=replace(held, protocol=replace(held.protocol, deadline=deadline)))
    assert read_workbook(path, manifest()).protocol.deadline == deadline
