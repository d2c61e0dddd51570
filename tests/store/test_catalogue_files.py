"""Several catalogues at a time: used together, nothing chosen between them, every fault of every file at once."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lab.calcul_forfaits import OFFER_COLUMNS, as_text
from lab.errors import InvalidInputError
from lab.prices import answer
from lab.store.catalogue import CatalogueFiles, read_catalogues, shipped_offers

GOOD = {
    "gpu": "rtx-4090", "name": "RTX 4090", "cards_per_lot": "1", "model": "forfait", "days": "7", "price": "99.00",
    "currency": "USD", "catalogue_version": "mine-1", "source": "another seller",
}  # fmt: skip


def written(path: Path, *rows: dict[str, str]) -> Path:
    """A catalogue with these rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, OFFER_COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_shipped_catalogue_is_used_when_none_is_given() -> None:
    """And nothing is assumed then."""
    found = read_catalogues(CatalogueFiles())
    assert (found.offers, found.notices) == (shipped_offers(), ())


def test_a_catalogue_of_one_s_own_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    """Only what was given is priced."""
    path = written(tmp_path / "mine.csv", GOOD)
    assert [str(one.price) for one in read_catalogues(CatalogueFiles((path,))).offers] == ["99.00"]


def test_two_catalogues_that_price_one_package_both_show_with_version_and_source(
    tmp_path: Path, repository: Path
) -> None:
    """Listed, cheapest first; asked for by its days, the answer names both rather than choose."""
    files = CatalogueFiles((written(tmp_path / "mine.csv", GOOD), repository / "workbook" / "tarifs-forfaits.csv"))
    offers = read_catalogues(files).offers
    said = as_text(answer(offers, "4090"), "en")
    assert said.index("mine-1, source: another seller") < said.index("2026-09-24, source: IteraGPU")
    with pytest.raises(InvalidInputError) as caught:
        answer(offers, "4090", 7)
    assert caught.value.faults[0].slug == "price-offers-several"
    assert all(name in str(caught.value.faults[0].values["held"]) for name in ("mine-1", "2026-09-24"))


def test_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    """By its path, or as a copy that says the same."""
    path, copy = written(tmp_path / "mine.csv", GOOD), written(tmp_path / "copy.csv", GOOD)
    assert len(read_catalogues(CatalogueFiles((path, path, copy))).offers) == 1


@pytest.mark.parametrize(
    ("rows", "slug", "place"),
    [
        ([GOOD | {"gpu": "RTX 4090"}], "price-cell", "line 2"),
        ([GOOD | {"price": "-110"}], "price-cell", "line 2"),
        ([GOOD | {"price": "0"}], "price-cell", "line 2"),
        ([GOOD | {"cards_per_lot": ""}], "price-cell", "line 2"),
        ([GOOD, GOOD | {"price": "120"}], "price-twice", "line 3"),
        ([GOOD, GOOD | {"currency": "EUR"}], "price-twice", "line 3"),
    ],
)
def test_bad_input_is_refused_with_file_and_line(
    tmp_path: Path, rows: list[dict[str, str]], slug: str, place: str
) -> None:
    """Each kind, also when the file is one of two: the faults of both are said at once."""
    path = written(tmp_path / "bad.csv", *rows)
    other = tmp_path / "other.csv"
    other.write_text("gpu,price\nb200,1\n", encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        read_catalogues(CatalogueFiles((other, path)))
    assert [(one.slug, one.file, one.place) for one in caught.value.faults] == [
        ("price-columns", str(other), "line 1"), (slug, str(path), place),
    ]  # fmt: skip
