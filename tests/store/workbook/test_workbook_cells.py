"""What a person typed into a cell is read by the campaign's language, or refused with what is wanted (C1-C11)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.messages import LANGUAGES, messages
from lab.store.workbook import cells, moments
from lab.store.workbook.cell_text import escaped, fitted
from lab.store.workbook.cells import CellError
from lab.store.workbook.shared_texts import unescaped
from lab.store.workbook.sheet import Cell, Stored, letters, place

ZONE = ZoneInfo("Europe/Paris")


def cell(value: object, stored: Stored = "text", *, percent: bool = False) -> Cell:
    """A cell with this content."""
    return Cell(5, 2, stored, value, percent)  # type: ignore[arg-type]  (any value a test wants)


def outcome(typed: str, language: str) -> float | CellError:
    """The number that a text means, or why it is refused."""
    try:
        return cells.number_of_text(typed, wanted="1", language=language)
    except CellError as error:
        return error


def slug(read: Callable[[], object]) -> str:
    """The slug with which a cell is refused."""
    with pytest.raises(CellError) as error:
        read()
    return error.value.slug


@pytest.mark.parametrize(
    ("language", "typed", "meant"),
    [
        ("fr", "12,5", 12.5),
        ("fr", "1 234,5", 1234.5),
        ("fr", "1\u202f234,5", 1234.5),
        ("fr", "1\u00a0234", 1234),
        ("fr", "-3,25", -3.25),
        ("fr", "\u22123,25", -3.25),
        ("fr", "0.95", 0.95),
        ("fr", "0.950", 0.95),
        ("fr", "12.5", 12.5),
        ("it", "1.234,5", 1234.5),
        ("it", "1.234.567", 1234567),
        ("it", "12,5", 12.5),
        ("en", "1,234.5", 1234.5),
        ("en", "1,234,567", 1234567),
        ("en", "1.234", 1.234),
        ("en", "1e3", 1000.0),
        ("en", " 7 ", 7),
    ],
)
def test_a_number_typed_as_text_is_read_by_the_language(language: str, typed: str, meant: float) -> None:
    """Decimal commas and grouped thousands, in the language's own notation (C2)."""
    assert cells.number(cell(typed), wanted="1", language=language) == meant


@pytest.mark.parametrize(
    ("language", "typed", "readings"),
    [("fr", "1.234", ("1234", "1,234")), ("it", "12.345", ("12345", "12,345")), ("en", "1,234", ("1234", "1.234"))],
)
def test_what_could_mean_two_numbers_is_refused_with_both(language: str, typed: str, readings: tuple[str, str]) -> None:
    """Thousands or decimals: the person says which (C2)."""
    with pytest.raises(CellError) as error:
        cells.number(cell(typed), wanted="1", language=language)
    assert error.value.slug == "cell-two-readings"
    assert (error.value.values["first"], error.value.values["second"]) == readings


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "typed", ["12 s", "95 %", "95%", "12:30", "1,2,3", "1.2.3", "--1", "abc", "1 23", "٣", "1_000"]
)
def test_what_is_no_plain_number_is_refused(language: str, typed: str) -> None:
    """Units, percent signs, times and broken grouping are named, never stripped (C2, C4, C7)."""
    assert slug(lambda: cells.number(cell(typed), wanted="1", language=language)) == "cell-not-a-number"


@given(value=st.decimals(-(10**9), 10**9, places=4), language=st.sampled_from(LANGUAGES))
def test_a_number_shown_in_a_language_reads_back_or_is_refused_as_ambiguous(value: Decimal, language: str) -> None:
    """Never another number: what a program writes with separators means itself, or is asked about."""
    read = outcome(messages(language).number(value), language)
    if isinstance(read, CellError):
        assert read.slug == "cell-two-readings"
        assert str(abs(int(value))) in str(read.values["first"])
    else:
        assert Decimal(repr(read)) == value


@given(typed=st.text(alphabet="0123456789., \u202f-+e", max_size=12), language=st.sampled_from(LANGUAGES))
def test_any_text_is_a_number_or_a_clear_refusal(typed: str, language: str) -> None:
    """No text raises anything but `CellError`, and no number is NaN or infinite."""
    read = outcome(typed, language)
    if isinstance(read, CellError):
        assert read.slug in {"cell-two-readings", "cell-not-a-number", "cell-not-finite"}
    else:
        assert math.isfinite(read)


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [
        ("en", ["yes", "TRUE", "1"], ["no", "False"]),
        ("fr", ["oui", "VRAI", "Oui "], ["non", "FAUX"]),
        ("it", ["sì", "si", "VERO"], ["no", "FALSO"]),
    ],
)
def test_yes_and_no_are_a_closed_list_per_language(language: str, yes: list[str], no: list[str]) -> None:
    """Words of the language, TRUE and FALSE everywhere, 1 and 0; anything else is an error (C3)."""
    assert all(cells.boolean(cell(one), language=language) is True for one in yes)
    assert all(cells.boolean(cell(one), language=language) is False for one in no)
    assert cells.boolean(cell(1, "number"), language=language) is True
    for other in ("peut-être", "x", "2", "wahr"):
        assert slug(lambda other=other: cells.boolean(cell(other), language=language)) == "cell-not-yes-no"


def test_words_of_another_language_are_refused() -> None:
    """`oui` in an Italian campaign is no word of its list (C3)."""
    assert slug(lambda: cells.boolean(cell("oui"), language="it")) == "cell-not-yes-no"


def test_a_duration_typed_as_a_time_or_a_date_is_refused() -> None:
    """`00:12:30` and a date are not seconds (C4)."""
    time = cell(datetime(1899, 12, 30, 0, 12, 30), "date")  # noqa: DTZ001  (a sheet knows no zone)
    assert slug(lambda: cells.number(time, wanted="750", language="fr")) == "cell-is-date"


def test_error_cells_and_formulas_without_a_result_are_no_blanks() -> None:
    """`#DIV/0!` and a formula that was never calculated are named (C5, C6)."""
    assert slug(lambda: cells.number(cell("#DIV/0!", "error"), wanted="1", language="fr")) == "cell-error"
    assert slug(lambda: cells.number(cell(None, "uncalculated"), wanted="1", language="fr")) == "cell-not-calculated"


def test_an_id_that_became_a_date_or_a_number_is_refused() -> None:
    """`1-4` and `0012` cannot be guessed back (C8)."""
    date = cell(datetime(2026, 4, 1), "date")  # noqa: DTZ001  (a sheet knows no zone)
    assert slug(lambda: cells.text(date, strict=True, wanted="b8", language="en")) == "cell-became-date"
    assert slug(lambda: cells.text(cell(12, "number"), strict=True, wanted="b8", language="en")) == "cell-became-number"
    no = cell(value=False, stored="boolean")
    assert slug(lambda: cells.text(no, strict=True, wanted="b8", language="en")) == "cell-became-yes-no"


@pytest.mark.parametrize("typed", ["", " ", "\u00a0", "\u202f \t"])
def test_nothing_but_spaces_is_absent(typed: str) -> None:
    """An empty string, a space, a no-break space (C10)."""
    assert cells.is_blank(cell(typed))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "NaN", "-inf"])
def test_what_is_not_finite_is_refused(value: object) -> None:
    """NaN and infinity are no measures, as number or as text (C11)."""
    held = cell(value, "number" if isinstance(value, float) else "text")
    assert slug(lambda: cells.number(held, wanted="1", language="en")) == "cell-not-finite"


def _moment(typed: object, stored: Stored = "text", zone: ZoneInfo | None = ZONE) -> datetime:
    held = cell(typed, stored)
    return moments.local_moment(held, zone, wanted="2026-12-18 18:00", zone_cell="protocol!B19", language="fr")


def test_a_local_time_is_read_in_the_protocol_s_zone() -> None:
    """A date cell and ISO text mean the same moment; text with its own offset is converted."""
    local = datetime(2026, 12, 18, 18)  # noqa: DTZ001  (a sheet knows no zone)
    meant = local.replace(tzinfo=ZONE)
    assert _moment(local, "date") == _moment("2026-12-18 18:00") == _moment("2026-12-18T17:00+00:00") == meant


@pytest.mark.parametrize(
    ("typed", "why", "readings"),
    [
        ("2026-10-25 02:30", "cell-time-twice", ("2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00")),
        ("2026-03-29 02:30", "cell-time-never", ("2026-03-29T03:30+02:00", "2026-03-29T01:30+01:00")),
    ],
)
def test_a_local_time_that_is_not_one_moment_is_refused_with_both(
    typed: str, why: str, readings: tuple[str, str]
) -> None:
    """The hour that exists twice and the hour that is skipped."""
    with pytest.raises(CellError) as error:
        _moment(typed)
    assert error.value.slug == why
    assert (error.value.values["first"], error.value.values["second"]) == readings
    assert _moment(readings[0]).isoformat(timespec="minutes") == readings[0]


@pytest.mark.parametrize(
    ("typed", "stored", "why"),
    [
        ("2026-12-18", "text", "cell-no-time"),
        ("demain", "text", "cell-not-a-date"),
        (46_000, "number", "cell-not-a-date"),
        (datetime(1899, 12, 30, 9), "date", "cell-no-date"),  # noqa: DTZ001  (a sheet knows no zone)
    ],
)
def test_half_a_moment_is_refused(typed: object, stored: Stored, why: str) -> None:
    """A day without a time, a time without a day, a number, a word."""
    assert slug(lambda: _moment(typed, stored)) == why


def test_a_local_time_without_a_zone_names_the_cell_of_the_zone() -> None:
    """The way out is in the fault."""
    with pytest.raises(CellError) as error:
        _moment("2026-12-18 18:00", "text", None)
    assert (error.value.slug, error.value.values["zone_cell"]) == ("cell-needs-time-zone", "protocol!B19")


@given(text=st.text(max_size=40))
def test_text_survives_the_file_s_own_escapes(text: str) -> None:
    """Control characters and what looks like their escapes come back as they were; only line ends of XML are XML's."""
    whole, cut = fitted(text, "…")
    assert not cut
    assert unescaped(escaped(whole)) == whole


@given(piece=st.text(alphabet="a😀é", min_size=1, max_size=7), size=st.integers(32_000, 34_000))
def test_a_cell_never_holds_more_than_it_can(piece: str, size: int) -> None:
    """32,767 UTF-16 units, no half character, and the mark where something is left out."""
    text = (piece * size)[:size]
    held, cut = fitted(text, "[cut]")
    assert len(held.encode("utf-16-le")) <= 2 * 32_767
    assert held.endswith("[cut]") if cut else held == text


@given(row=st.integers(1, 1_048_576), column=st.integers(1, 16_384))
def test_addresses_and_numbers_are_each_other_s_inverse(row: int, column: int) -> None:
    """Every cell that a sheet can have."""
    assert place(f"{letters(column)}{row}") == (row, column)
