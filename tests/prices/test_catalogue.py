"""Catalogues are read strictly: every refusal names its place, nothing is guessed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from price_rows import hourly, offers, row

from lab.calcul_forfaits import OFFER_COLUMNS, CatalogueError, Offer, Problem, offers_from_rows, read_offers
from lab.errors import InvalidInputError
from lab.messages import LANGUAGES, messages
from lab.model.reason import Reason
from lab.prices import read_catalogue, refusal, two_prices
from lab.store.catalogue import CatalogueFiles, read_catalogues


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    """A catalogue file with exactly this text."""
    path = folder / "prices.csv"
    path.write_bytes(text.encode(encoding))
    return path


def as_csv(*rows: dict[str, str], delimiter: str = ",", columns: tuple[str, ...] = OFFER_COLUMNS) -> str:
    """Rows as a CSV text with a header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, delimiter=delimiter, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def refused(path: Path) -> list[tuple[str, str | None]]:
    """The slugs and places of what `path` is refused for."""
    with pytest.raises(CatalogueError) as caught:
        read_offers(path)
    assert caught.value.file == str(path)
    return [(one.slug, one.place) for one in caught.value.problems]


def test_shipped_catalogue_holds_the_two_prices_the_seeds_state_and_no_other(shipped: Path) -> None:
    """The shipped snapshot has two rows, dated, in the columns' order."""
    found = read_offers(shipped)
    assert [(one.gpu, one.cards_per_lot, one.days, one.price, one.currency) for one in found] == [
        ("rtx-4090", 1, 7, Decimal("110.00"), "USD"),
        ("b200", 2, 7, Decimal("2071.00"), "USD"),
    ]
    assert {one.catalogue_version for one in found} == {"2026-09-24"}
    assert not any(one.example for one in found)
    assert shipped.read_text(encoding="utf-8").splitlines()[0].split(",") == list(OFFER_COLUMNS)


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"price": "0"}, "price"),
        ({"price": "-1"}, "price"),
        ({"price": "1,5"}, "price"),
        ({"price": "1e3"}, "price"),
        ({"price": "NaN"}, "price"),
        ({"price": "110 USD"}, "price"),
        ({"price": "٣"}, "price"),
        ({"price": "2.071"}, "price"),
        ({"price": ""}, "price"),
        ({"cards_per_lot": ""}, "cards_per_lot"),
        ({"cards_per_lot": "0"}, "cards_per_lot"),
        ({"cards_per_lot": "1.5"}, "cards_per_lot"),
        ({"days": ""}, "days"),
        ({"days": "7.0"}, "days"),
        ({"increment_minutes": "60"}, "increment_minutes"),
        ({"minimum_hours": "1"}, "minimum_hours"),
        ({"model": "monthly"}, "model"),
        ({"gpu": "RTX 4090"}, "gpu"),
        ({"gpu": ""}, "gpu"),
        ({"currency": "usd"}, "currency"),
        ({"currency": "$"}, "currency"),
        ({"spot": "maybe"}, "spot"),
        ({"memory_gib_per_card": "24 GiB"}, "memory_gib_per_card"),
        ({"catalogue_version": ""}, "catalogue_version"),
        ({"source": "\u00a0"}, "source"),
    ],
)
def test_a_bad_cell_is_named_with_its_line(tmp_path: Path, cells: dict[str, str], column: str) -> None:
    """A cell that cannot be read strictly is refused with its column and line."""
    with pytest.raises(CatalogueError) as caught:
        read_offers(written(tmp_path, as_csv(row(gpu="b200", name="B200"), row(**cells))))
    problems = [one for one in caught.value.problems if one.values["column"] == column]
    assert [one.slug for one in problems] == ["price-cell"]
    assert problems[0].place == "line 3"


def test_an_hourly_row_says_nothing_about_days() -> None:
    """`days` has to be empty in an hourly row, and the increment has to be there."""
    with pytest.raises(CatalogueError) as caught:
        offers(hourly(days="7", increment_minutes=""))
    assert {str(one.values["column"]) for one in caught.value.problems} == {"days", "increment_minutes"}


def test_all_problems_come_at_once() -> None:
    """Three bad rows give three problems, each with its place."""
    with pytest.raises(CatalogueError) as caught:
        offers(row(price="0"), row(gpu="x y"), row(spot="no"))
    assert [one.place for one in caught.value.problems] == ["line 2", "line 3", "line 4"]


@pytest.mark.parametrize("other", [{"price": "120.00"}, {"currency": "EUR"}, {"name": "Another name"}, {}])
def test_one_offer_has_one_price_in_one_currency(other: dict[str, str]) -> None:
    """A second row for the same gpu, model, days, region and spot is refused, naming the first."""
    with pytest.raises(CatalogueError) as caught:
        offers(row(), row(**other))
    problem = caught.value.problems[0]
    assert (problem.slug, problem.place, problem.values["first"]) == ("price-twice", "line 3", "line 2")
    assert problem.values["there"] == "110.00 USD"


@pytest.mark.parametrize("other", [{"days": "3"}, {"region": "eu"}, {"spot": "TRUE"}, {"gpu": "rtx-4090-d"}])
def test_different_offers_stand_side_by_side(other: dict[str, str]) -> None:
    """Rows that differ in what makes an offer are two offers."""
    assert len(offers(row(), row(**other))) == 2


@pytest.mark.parametrize("other", ["rtx4090", "rtx.4090", "rtx-40-90", "rtx-4090-d"])
def test_one_card_has_one_spelling(other: str) -> None:
    """The same letters and digits with other signs are the same card: refused with both names and places."""
    rows = (row(), row(gpu="b200", name="B200"), row(gpu=other, days="3"))
    if other in {"rtx-40-90", "rtx-4090-d"}:
        assert len(offers(*rows)) == 3
        return
    with pytest.raises(CatalogueError) as caught:
        offers(*rows)
    facts = {"gpu": other, "other": "rtx-4090", "first": "line 2"}
    assert caught.value.problems == (Problem("price-gpu-spellings", "line 4", facts),)


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_files_spell_a_card_differently(tmp_path: Path, language: str) -> None:
    """Read together: the file and line of each, in the reader's language."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(as_csv(row()), encoding="utf-8")
    two.write_text(as_csv(row(gpu="b200"), row(gpu="rtx4090", days="3")), encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        read_catalogues(CatalogueFiles((one, two)))
    words = messages(language)
    said = words.fault(caught.value.faults[0])
    assert said.startswith(f"{two}, {words.text('place.line', number='3')}")
    assert f"`rtx-4090` ({one}, {words.text('place.line', number='2')})" in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_place_of_the_first_price_is_translated(language: str) -> None:
    """`line 2` is data; the word in it is the reader's."""
    words = messages(language)
    with pytest.raises(CatalogueError) as caught:
        offers(row(), row(price="120.00"))
    assert f"110.00 USD ({words.text('place.line', number='2')})" in words.fault(refusal(caught.value).faults[0])


def test_two_catalogues_with_two_prices_are_named_with_file_and_line(tmp_path: Path) -> None:
    """Neither is chosen: a notice holds both prices, files and lines; equal offers are no two prices."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(as_csv(row(gpu="b200"), row()), encoding="utf-8")
    two.write_text(as_csv(row(price="99.00"), row(gpu="b200", catalogue_version="v2")), encoding="utf-8")
    found = two_prices(read_catalogues(CatalogueFiles((one, two))).offers)
    facts = {"gpu": "rtx-4090", "there": "110.00 USD", "first_file": str(one), "first_line": "3"}
    assert found == (Reason("price.two-prices", {**facts, "here": "99.00 USD", "file": str(two), "line": "2"}),)
    assert f"110.00 USD ({one}, ligne 3)" in messages("fr").text(found[0].key, **found[0].values)


def test_one_card_is_sold_by_the_hour_as_several_instances() -> None:
    """Hourly rows of one gpu with other names or cards are other offers; the same one twice is refused."""
    assert len(offers(hourly(), hourly(name="8x", cards_per_lot="8"))) == 2
    with pytest.raises(CatalogueError):
        offers(hourly(), hourly(price="0.70"))


def test_byte_order_mark_crlf_blank_lines_and_another_order_of_columns_are_read(tmp_path: Path) -> None:
    """What spreadsheets write is read the same."""
    text = as_csv(row(), columns=OFFER_COLUMNS[::-1]).replace("\n", "\r\n\r\n") + ",,,,,,,,,,,,,,\r\n"
    assert read_offers(written(tmp_path, "\ufeff" + text)) == offers(row())


def test_device_names_are_split_and_trimmed() -> None:
    """`;` separates exact driver names; none is an empty tuple."""
    assert offers(row(device_names=" NVIDIA A ; NVIDIA A 80GB;"))[0].device_names == ("NVIDIA A", "NVIDIA A 80GB")
    assert offers(row(device_names=""))[0].device_names == ()


def test_quoted_cells_may_hold_commas_and_newlines_keep_the_line_numbers(tmp_path: Path) -> None:
    """After a header cell over two lines, a bad row is still named by its own line."""
    text = as_csv(row(source='a, "b"'), row(days="x"))
    assert read_offers(written(tmp_path, as_csv(row(source='a, "b"'))))[0].source == 'a, "b"'
    assert refused(written(tmp_path, text)) == [("price-cell", "line 3")]


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ("", "utf-8", ("price-columns", "line 1")),
        (as_csv(row(), delimiter=";"), "utf-8", ("price-delimiter", "line 1")),
        (as_csv(row(), delimiter="\t"), "utf-8", ("price-delimiter", "line 1")),
        (as_csv(row(), columns=OFFER_COLUMNS[:-1]), "utf-8", ("price-columns", "line 1")),
        (as_csv(row(), columns=(*OFFER_COLUMNS, "prix")), "utf-8", ("price-columns", "line 1")),
        (as_csv(row(), columns=(*OFFER_COLUMNS, "price")), "utf-8", ("price-columns", "line 1")),
        (as_csv(row(), row(source="é")), "cp1252", ("price-encoding", "line 3")),
        (as_csv(row()), "utf-16", ("price-encoding", "line 1")),
        (as_csv(row()) + "b200,B200\n", "utf-8", ("price-row", "line 3")),
        (as_csv(row()) + 'b200,"B200,2\n\n', "utf-8", ("price-row", "line 3")),
    ],
)
def test_a_file_that_is_no_catalogue_is_refused_by_name(
    tmp_path: Path, text: str, encoding: str, expected: tuple[str, str]
) -> None:
    """Empty, other delimiter, other columns, other encoding, torn lines: each its own fault and line."""
    assert refused(written(tmp_path, text, encoding)) == [expected]


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """No traceback for what cannot be opened."""
    assert refused(tmp_path / "none.csv") == [("price-file", None)]
    assert refused(tmp_path) == [("price-file", None)]


def test_a_declared_delimiter_is_read(tmp_path: Path) -> None:
    """`;` is read when declared; numbers keep their point."""
    assert read_offers(written(tmp_path, as_csv(row(), delimiter=";")), delimiter=";") == offers(row())


def test_lab_says_file_line_what_and_what_to_do_in_each_language(tmp_path: Path) -> None:
    """`read_catalogue` raises the product's error, whose texts exist in every language."""
    path = written(tmp_path, as_csv(row(price="1,5")))
    with pytest.raises(InvalidInputError) as caught:
        read_catalogue(path)
    for language in LANGUAGES:
        words = messages(language)
        said = words.fault(caught.value.faults[0])
        assert said.startswith(f"{path}, {words.text('place.line', number='2')}")
        assert "`1,5`" in said
        assert len(said.splitlines()) == 2


def outcome(read: Callable[[], tuple[Offer, ...]]) -> tuple[Offer, ...] | tuple[Problem, ...]:
    """The offers that `read` gives, or the problems it is refused for."""
    try:
        return read()
    except CatalogueError as error:
        return error.problems or (Problem("no problem named", None, {}),)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever a file holds, the outcome is offers, or problems that have texts."""
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes((as_csv() + text).encode("utf-8", "surrogatepass"))
    found = outcome(lambda: read_offers(path))
    assert all(isinstance(one, Offer) or messages("en").has(f"fault.{one.slug}") for one in found)


@given(st.dictionaries(st.sampled_from(OFFER_COLUMNS), st.none() | st.text(max_size=20)))
def test_any_cells_are_read_or_refused(cells: dict[str, str | None]) -> None:
    """Whatever cells a row holds, the outcome is an offer that keeps the rules, or problems with its place."""
    for one in outcome(lambda: offers_from_rows([("forfaits!A12", {**row(), **cells})])):
        if isinstance(one, Problem):
            assert one.place == "forfaits!A12"
        else:
            assert one.price > 0
            assert one.cards_per_lot > 0
