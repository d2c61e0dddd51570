"""The live formulas say what the code says: stored when the file is made, and recalculated by LibreOffice."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from openpyxl import load_workbook
from workbook_sample import PARIS, attempt, content, converted, manifest, without_results, write

from lab.calcul_forfaits import Offer
from lab.messages import DASH, LANGUAGES, messages
from lab.model.catalogue import CalendarTask, PackageChoice
from lab.model.decision import Gate, Summary, VariantDecision
from lab.model.reason import Reason
from lab.store.workbook import WorkbookContent, write_workbook
from lab.store.workbook.lines import Figures

CELLS = ("cards", "committed", "currency", "covers_hours", "covers_window", "price_status")


def computed(path: Path) -> dict[tuple[str, str], object]:
    """Value of every formula cell as the file stores it."""
    formulas, values = load_workbook(path), load_workbook(path, data_only=True)
    return {
        (sheet.title, cell.coordinate): values[sheet.title][cell.coordinate].value
        for sheet in formulas
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


@pytest.fixture(scope="module")
def recalculated(tmp_path_factory: pytest.TempPathFactory, soffice: str) -> SimpleNamespace:
    """The sample in French, as made, and after LibreOffice has recalculated a copy whose stored results were wrong."""
    folder = tmp_path_factory.mktemp("formulas")
    made = write(folder / "campaign.xlsx", "fr")
    wrong = without_results(write(folder / "wrong.xlsx", "fr"))
    (folder / "out").mkdir()
    return SimpleNamespace(made=computed(made), again=converted(soffice, wrong, "xlsx", folder / "out"))


def test_libreoffice_computes_every_formula_to_the_value_it_carries(recalculated: SimpleNamespace) -> None:
    """Choices, windows across a clock change, counts, medians, costs: all formulas of the workbook."""
    values = load_workbook(recalculated.again, data_only=True)
    assert len(recalculated.made) > 70
    wrong = {}
    for (sheet, address), value in recalculated.made.items():
        found = values[sheet][address].value
        same = found == pytest.approx(value) if isinstance(value, int | float) else (found or "") == (value or "")
        if not same:
            wrong[sheet, address] = (value, found)
    assert not wrong


def test_the_prices_that_the_method_states(recalculated: SimpleNamespace) -> None:
    """Two lots of RTX 4090 for 7 days: 220.00 and 2 cards; one lot of B200: 2071.00 and 2 cards; else unknown."""
    sheet = load_workbook(recalculated.again, data_only=True)["forfaits"]
    rows = {sheet[f"B{row}"].value: [sheet[f"{column}{row}"].value for column in "GHIJLM"] for row in range(7, 11)}
    words = messages("fr")
    yes, no_price = words.text("word.yes"), words.text("word.unknown_price")
    assert rows == {
        "b1": [2, 220.0, "USD", 168, yes, words.text("word.catalogue_price")],
        "b4": [DASH, no_price, DASH, DASH, DASH, DASH],
        "b200": [2, 2071.0, "USD", 168, yes, words.text("word.catalogue_price")],
        "h100": [DASH, words.text("word.no_package"), DASH, DASH, DASH, DASH],
    }


def test_the_window_counts_the_hours_that_pass(recalculated: SimpleNamespace) -> None:
    """Monday 9:00 to Friday 9:00 is 96 h; a span over the change to summer time is an hour shorter than it looks."""
    sheet = load_workbook(recalculated.again, data_only=True)["calendar"]
    hours = {sheet[f"G{row}"].value: sheet[f"J{row}"].value for row in range(5, 9)}
    assert hours == {"b1": 96, "b4": 24 * 113 - 1, "b200": 96, "h100": 96}


def test_the_summary_says_in_words_what_has_no_number(recalculated: SimpleNamespace) -> None:
    """Failures count and have no duration; none accepted is undefined with its budget shown; none stated is not."""
    sheet = load_workbook(recalculated.again, data_only=True)["summary"]
    words = messages("fr")
    rows = {sheet[f"A{row}"].value: [cell.value for cell in sheet[row][2:12]] for row in range(5, 9)}
    assert rows["b1"] == [4, 3, 1, 100.123456, 99.123456, 101.123456, 220, "USD", 2, 110]
    assert rows["b4"][:6] == [1, 1, 0, 99.123456, 99.123456, 99.123456]
    assert rows["b200"][6:] == [2071, "USD", 0, words.text("word.undefined")]
    assert rows["h100"] == [
        0, 0, 0, DASH, DASH, DASH, words.text("word.no_package"), DASH, words.text("word.not_stated"), DASH,
    ]  # fmt: skip


def test_names_that_a_spreadsheet_takes_for_each_other_are_told_apart(tmp_path: Path, soffice: str) -> None:
    """`01` is not `1`, `B1` is not `b1`: counted one by one, as exactly as ids are compared everywhere."""
    names = dict.fromkeys(("1", "01", "b1", "B1"), "rtx-4090")
    rows = tuple(
        replace(attempt(name, 1), attempt_id=f"{name}-{number}") for number, name in enumerate(["01", "B1", "B1"])
    )
    made = tmp_path / "campaign.xlsx"
    choices = tuple(PackageChoice(name, "rtx-4090", 7, lots) for lots, name in enumerate(names, start=1))
    held = WorkbookContent(rows=rows, choices=choices, offers=content().offers)
    write_workbook(made, held, manifest("en", names))
    sheet = load_workbook(converted(soffice, without_results(made), "xlsx", tmp_path / "out"), data_only=True)[
        "summary"
    ]
    found = {sheet[f"A{row}"].value: (sheet[f"C{row}"].value, sheet[f"I{row}"].value) for row in range(5, 9)}
    assert found == {"1": (0, 110), "01": (1, 220), "b1": (0, 330), "B1": (2, 440)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_price_is_marked_in_its_row_and_in_the_choice(tmp_path: Path, language: str) -> None:
    """A version that begins with `example` is named so, in the language, beside price and choice."""
    held = content(language)
    choices = (replace(held.choices[0], days=30), *held.choices[1:])
    values = computed(write(tmp_path / "campaign.xlsx", language, replace(held, choices=choices)))
    marked = [
        address for (_, address), value in values.items() if value == messages(language).text("word.example_price")
    ]
    assert marked == ["M7", "Q35"]


def _covers(tmp_path: Path, end: datetime, days: int, offers: tuple[Offer, ...]) -> object:
    start = datetime(2026, 12, 7, 9, tzinfo=PARIS)
    held = content()
    choice = replace(held.choices[0], days=days)
    calendar = (CalendarTask("All", start, end),)
    path = write(
        tmp_path / "campaign.xlsx",
        "en",
        WorkbookContent(held.protocol, choices=(choice,), offers=offers, calendar=calendar),
    )
    return computed(path)["forfaits", "L7"]


def test_a_package_covers_its_hours_and_not_a_second_more(tmp_path: Path) -> None:
    """96 h do not fit 3 days and fit 7; 72 h fit 3 days, and 72 h and one second do not."""
    seven = content().offers[0]
    offers = (seven, replace(seven, days=3))
    friday, thursday = datetime(2026, 12, 11, 9, tzinfo=PARIS), datetime(2026, 12, 10, 9, tzinfo=PARIS)
    assert [_covers(tmp_path, friday, days, offers) for days in (3, 7)] == ["no", "yes"]
    assert [_covers(tmp_path, thursday.replace(second=second), 3, offers) for second in (0, 1)] == ["yes", "no"]


def test_a_figure_that_a_formula_cannot_know_is_written_as_the_tool_s_own(tmp_path: Path) -> None:
    """An attempt that a rule excludes leaves the median; the sheet shows that median, and no formula that differs."""
    rows = (attempt("b1", 1), attempt("b1", 2), attempt("b1", 3))
    own = Summary(
        variant="b1", corpus="tickets", seed=0, attempts=3, accepted=3, rejected=0, unassessed=0, failed=0, excluded=1,
        durations_s=(99.123456, None, 101.123456), median_s=100.5, min_s=99.123456, max_s=101.123456,
    )  # fmt: skip
    path = tmp_path / "campaign.xlsx"
    write_workbook(path, replace(content(), rows=rows), manifest(), figures=Figures(summaries=(own,)))
    sheet = load_workbook(path)["summary"]
    assert sheet["F5"].value == 100.5
    assert sheet["C5"].data_type == "f"


def test_the_answer_of_a_variant_is_said_in_the_sheet(tmp_path: Path) -> None:
    """The reason of the first gate that did not pass, in the language; the tool's own budget where it differs."""
    gate = Gate("price", "unknown", Reason("gate.price.unknown.no_choice"))
    own = VariantDecision(
        id="b1", eligible=False, gates=(gate,), summaries=(), committed=Decimal("123.45"), currency="USD", cards=2,
        covers_hours=168, offer=None, window=None, accepted_deliverables=None, cost_status="not_stated",
        cost_per_validated_corpus=None,
    )  # fmt: skip
    path = tmp_path / "campaign.xlsx"
    write_workbook(path, content("fr"), manifest("fr"), figures=Figures(variants=(own,)))
    sheet = load_workbook(path)["summary"]
    assert sheet["N4"].value == "answer"
    assert sheet["N5"].value == messages("fr").text(gate.reason.key).replace("`", "")
    assert (sheet["I5"].value, sheet["I6"].data_type) == (123.45, "f")
