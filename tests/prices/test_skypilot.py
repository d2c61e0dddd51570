"""SkyPilot's catalogue as hourly offers: instance = lot, its price is the lot's, and nothing is guessed."""

from __future__ import annotations

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.calcul_forfaits import Offer, price_hourly
from lab.errors import InvalidInputError
from lab.messages import LANGUAGES, messages
from lab.prices.skypilot import COLUMNS, Source, import_offers
from lab.store.catalogue import CatalogueFiles, read_catalogues
from lab.store.files import sha256_file

GPU_INFO = "{'Gpus': [{'Name': 'B200', 'Manufacturer': 'NVIDIA', 'Count': 8.0}], 'TotalGpuMemoryInMiB': 1}"


def row(**cells: str) -> dict[str, str]:
    """One good row, with the given cells instead."""
    good = {
        "InstanceType": "8xA100", "AcceleratorName": "A100-80GB", "AcceleratorCount": "8.0", "vCPUs": "96.0",
        "MemoryGiB": "1152.0", "GpuInfo": GPU_INFO, "Region": "us-east-1", "SpotPrice": "", "Price": "32.7726",
    }  # fmt: skip
    return {**good, **cells}


def written(folder: Path, *rows: dict[str, str], name: str = "skypilot.csv", more: tuple[str, ...] = ()) -> Path:
    """A SkyPilot catalogue of these rows; `more`: columns that newer ones have too."""
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, (*COLUMNS, *more), restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def offers(path: Path, *, spot: bool = False, increment_minutes: int = 60) -> tuple[Offer, ...]:
    """The offers of one SkyPilot catalogue."""
    return read_catalogues(CatalogueFiles((path,), spot, increment_minutes)).offers


def test_an_instance_is_a_lot_and_its_price_is_never_multiplied_by_its_cards(tmp_path: Path) -> None:
    """Eight cards in one instance: ten hours of it cost ten times its price."""
    path = written(tmp_path, row())
    (offer,) = offers(path)
    assert (offer.gpu, offer.name, offer.cards_per_lot, offer.region) == ("a100-80gb", "8xA100", 8, "us-east-1")
    assert (offer.model, offer.price, offer.currency, offer.spot) == ("hourly", Decimal("32.7726"), "USD", False)
    quote = price_hourly(offer, Fraction(10), 1)
    assert (quote.cards, quote.committed) == (8, Decimal("327.73"))


def test_version_and_source_say_which_file_it_was(tmp_path: Path) -> None:
    """The first digits of its sha256, and its name."""
    path = written(tmp_path, row())
    (offer,) = offers(path)
    assert offer.catalogue_version == sha256_file(path)[:12]
    assert offer.source == "skypilot.csv, SkyPilot catalogue"


def test_the_increment_is_the_one_handed_in_and_is_said(tmp_path: Path) -> None:
    """The catalogue states none: whole hours unless told otherwise, under a notice."""
    path = written(tmp_path, row())
    assert offers(path)[0].increment_minutes == 60
    assert offers(path, increment_minutes=1)[0].increment_minutes == 1
    notices = read_catalogues(CatalogueFiles((path,))).notices
    for language in LANGUAGES:
        assert "60" in messages(language).text(notices[0].key, **notices[0].values)


def test_an_empty_price_beside_a_spot_price_is_not_the_spot_price(tmp_path: Path) -> None:
    """Unknown, and said to be; the spot price is an offer only when it is asked for, marked as spot."""
    path = written(tmp_path, row(Price="", SpotPrice="12.3"))
    found = read_catalogues(CatalogueFiles((path,)))
    assert found.offers == ()
    with pytest.raises(InvalidInputError) as caught:
        found.check_priced("A100 80GB")
    assert [one.slug for one in caught.value.faults] == ["price-unstated"]
    (spot,) = offers(path, spot=True)
    assert (spot.price, spot.spot) == (Decimal("12.3"), True)


def test_spot_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    """Both prices are there: one offer, or two of which one is spot; a spot price of 0.00 says that there is none."""
    path = written(tmp_path, row(SpotPrice="12.3"), row(Region="eu", SpotPrice="0.00"))
    assert [one.spot for one in offers(path)] == [False, False]
    assert [(one.region, one.spot) for one in offers(path, spot=True)] == [
        ("us-east-1", False), ("eu", False), ("us-east-1", True),
    ]  # fmt: skip


def test_rows_without_accelerator_are_left_out_and_counted(tmp_path: Path) -> None:
    """So are parts of a card, and accelerators that are sold without an instance."""
    path = written(
        tmp_path,
        row(),
        row(AcceleratorName="", AcceleratorCount=""),
        row(AcceleratorCount="0.125", Region="b"),
        row(InstanceType="", Region="c"),
        row(Price="", Region="d"),
    )
    found = read_catalogues(CatalogueFiles((path,)))
    assert len(found.offers) == 1
    counts = {key: value for key, value in found.notices[1].values.items() if key != "file"}
    assert counts == {"accelerator": 1, "part": 1, "instance": 1, "price": 1}
    assert found.unpriced == {}


def test_zones_of_a_region_are_one_offer_and_spot_prices_differ_by_zone(tmp_path: Path) -> None:
    """The same price in two zones is one offer; another price for the same instance and region is a contradiction."""
    zones = [row(AvailabilityZone=zone, SpotPrice=spot) for zone, spot in (("a", "12.3"), ("b", "11.3"))]
    path = written(tmp_path, *zones, more=("AvailabilityZone",))
    assert len(offers(path)) == 1
    assert [(one.region, one.price) for one in offers(path, spot=True) if one.spot] == [
        ("a", Decimal("12.3")), ("b", Decimal("11.3")),
    ]  # fmt: skip
    with pytest.raises(InvalidInputError) as caught:
        offers(written(tmp_path, row(), row(Price="30")))
    (fault,) = caught.value.faults
    assert (fault.slug, fault.place, fault.values["first"]) == ("price-twice", "line 3", "line 2")


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"Price": "-1"}, "Price"),
        ({"Price": "0"}, "Price"),
        ({"Price": "0.0"}, "Price"),
        ({"Price": "nan"}, "Price"),
        ({"Price": "$3"}, "Price"),
        ({"Price": "1e99"}, "Price"),
        ({"AcceleratorCount": ""}, "AcceleratorCount"),
        ({"AcceleratorCount": "0"}, "AcceleratorCount"),
        ({"AcceleratorCount": "eight"}, "AcceleratorCount"),
        ({"AcceleratorName": "é"}, "AcceleratorName"),
    ],
)
def test_a_bad_cell_is_refused_with_file_line_and_column(tmp_path: Path, cells: dict[str, str], column: str) -> None:
    """The column is the one of this file, not of our own catalogues."""
    path = written(tmp_path, row(), row(**cells))
    with pytest.raises(InvalidInputError) as caught:
        offers(path)
    found = [(one.file, one.place, one.values["column"]) for one in caught.value.faults]
    assert found == [(str(path), "line 3", column)]


@pytest.mark.parametrize(
    ("name", "gpu"),
    [("A100-80GB", "a100-80gb"), ("RTX4090", "rtx4090"), ("Gaudi HL-205", "gaudi-hl-205"), ("H100_SXM", "h100-sxm")],
)
def test_names_become_ids(tmp_path: Path, name: str, gpu: str) -> None:
    """Lower case, what is neither letter nor digit a hyphen."""
    assert [one.gpu for one in offers(written(tmp_path, row(AcceleratorName=name)))] == [gpu]


def test_the_same_card_of_another_catalogue_keeps_its_id(tmp_path: Path, shipped: Path) -> None:
    """`RTX4090` beside a catalogue with `rtx-4090`: one card, whose package and hours can be compared."""
    path = written(tmp_path, row(AcceleratorName="RTX4090", AcceleratorCount="1"))
    found = read_catalogues(CatalogueFiles((path, shipped)))
    assert {(one.gpu, one.model) for one in found.offers} >= {("rtx-4090", "forfait"), ("rtx-4090", "hourly")}


PRICES = st.integers(1, 10**9).map(lambda n: Decimal(n).scaleb(-4))


@given(st.lists(st.tuples(PRICES, st.integers(1, 16)), min_size=1, max_size=5, unique_by=lambda one: one[1]))
def test_any_price_is_taken_over_exactly(drawn: list[tuple[Decimal, int]]) -> None:
    """Compared as fractions, whatever the program that wrote the file made of the number (`8.0`, `1E-4`)."""
    rows = [
        (f"line {line}", row(Price=str(price), AcceleratorCount=f"{cards}.0"))
        for line, (price, cards) in enumerate(drawn, 2)
    ]
    found = import_offers(rows, Source("f", "v", "s"), increment_minutes=60).offers
    assert [(Fraction(one.price), one.cards_per_lot) for one in found] == [
        (Fraction(price), cards) for price, cards in drawn
    ]


def test_a_card_that_skypilot_s_catalogues_write_in_two_ways_is_one(tmp_path: Path) -> None:
    """Nobody can correct a file that is downloaded: the first way of writing it holds, in one file and in the next."""
    one = written(tmp_path, row(AcceleratorName="RTX 4090"), row(AcceleratorName="RTX4090", InstanceType="2x"))
    two = written(tmp_path, row(AcceleratorName="rtx4090", InstanceType="4x"), name="other.csv")
    found = read_catalogues(CatalogueFiles((one, two))).offers
    assert [(offer.gpu, offer.name, offer.at) for offer in found] == [
        ("rtx-4090", "8xA100", (str(one), "line 2")),
        ("rtx-4090", "2x", (str(one), "line 3")),
        ("rtx-4090", "4x", (str(two), "line 2")),
    ]
