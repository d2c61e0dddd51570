"""Money is exact: compared with fractions, with the vectors, and through clock changes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from price_rows import hourly, offers, row

from lab import calcul_forfaits
from lab.calcul_forfaits import (
    Answer,
    CatalogueError,
    Offer,
    as_json,
    as_text,
    break_even,
    cents,
    cost_per_result,
    find_gpu,
    offers_from_rows,
    price_hourly,
    price_package,
    read_offers,
)
from lab.cli import main
from lab.errors import InvalidInputError, UsageProblemError
from lab.model.catalogue import PackageChoice, window_hours
from lab.model.reason import Reason
from lab.prices import PRICE_MODELS, answer, quote

PRICES = st.integers(1, 10**11 - 1).map(lambda n: f"{n // 100}.{n % 100:02d}")
COUNTS = st.integers(1, 10**6)
PARIS = ZoneInfo("Europe/Paris")


def asked(found: tuple[Offer, ...], options: dict[str, Any]) -> Answer:
    """The answer to the options of a vector."""
    given_ = dict(options)
    window = given_.pop("window", None)
    accepted = given_.pop("accepted_results", None)
    return answer(found, **given_, window=None if window is None else Decimal(window), accepted=accepted)


def test_vectors_of_packages(vectors: dict[str, Any]) -> None:
    """Each package vector gives its JSON; without a window its keys are exactly those of the contract."""
    found = offers(*vectors["catalogue"])
    keys = list(vectors["package"][0]["expected"])
    for vector in vectors["package"]:
        told = as_json(asked(found, vector["asked"]))
        assert {key: told[key] for key in vector["expected"]} == vector["expected"]
        assert list(told) == keys + (["covers_window", "hours_missing"] if "window" in vector["asked"] else [])


def test_vectors_of_listings(vectors: dict[str, Any]) -> None:
    """Without days, every offer: covering ones first, cheapest first, unpriced ones last."""
    found = offers(*vectors["catalogue"])
    for vector in vectors["listing"]:
        told = as_json(asked(found, vector["asked"]))
        assert len(told["offers"]) == len(vector["expected"])
        for one, expected in zip(told["offers"], vector["expected"], strict=True):
            assert {key: one[key] for key in expected} == expected


def test_vectors_of_refusals(vectors: dict[str, Any]) -> None:
    """What cannot be answered raises the product's error, with the exit code of the vector."""
    found = offers(*vectors["catalogue"])
    for vector in vectors["refused"]:
        with pytest.raises((InvalidInputError, UsageProblemError)) as caught:
            asked(found, vector["asked"])
        assert [one.slug for one in caught.value.faults] == [vector["slug"]]
        assert caught.value.exit_code == vector["exit"]


def test_a_lot_of_two_cards_is_never_multiplied_by_its_cards(shipped: Path) -> None:
    """One lot of B200: 2071.00 USD, two cards."""
    b200 = next(one for one in read_offers(shipped) if one.gpu == "b200")
    found = price_package(b200, 1)
    assert (found.committed, found.cards, found.covers_hours) == (Decimal("2071.00"), 2, 168)


@given(PRICES, COUNTS, COUNTS)
def test_a_package_commits_price_x_lots_x_periods_exactly(price: str, lots: int, periods: int) -> None:
    """No digit is lost, whatever the size."""
    found = price_package(offers(row(price=price))[0], lots, periods)
    assert Fraction(found.committed) == Fraction(price) * lots * periods
    assert found.covers_hours == 168 * periods


@given(PRICES, COUNTS, st.integers(0, 10**6))
def test_cost_per_result_is_the_whole_budget_over_the_results(price: str, lots: int, accepted: int) -> None:
    """Half a cent goes up; nothing accepted is undefined, not a number."""
    committed = price_package(offers(row(price=price))[0], lots).committed
    status, cost = cost_per_result(committed, accepted)
    if accepted == 0:
        assert (status, cost) == ("undefined", None)
    else:
        assert status == "value"
        assert cost is not None
        off = Fraction(cost) - Fraction(committed) / accepted
        assert Fraction(-1, 200) < off <= Fraction(1, 200)
        assert cost.as_tuple().exponent == -2


def test_cost_per_result_is_not_stated_without_results_or_budget() -> None:
    """Left out is neither 0 nor undefined."""
    assert cost_per_result(Decimal(1), None) == ("not_stated", None)
    assert cost_per_result(None, 3) == ("not_stated", None)


@given(st.fractions(0, 10**9))
def test_cents_round_half_up(amount: Fraction) -> None:
    """Two decimals, at most half a cent away, upwards at the half."""
    off = Fraction(cents(amount)) - amount
    assert Fraction(-1, 200) < off <= Fraction(1, 200)


@given(st.fractions(Fraction(1, 10**6), 10**4), st.integers(1, 10**4), st.none() | st.integers(1, 100), COUNTS)
def test_hours_are_billed_by_whole_increments_and_at_least_the_minimum(
    window: Fraction, step: int, minimum: int | None, lots: int
) -> None:
    """Billed hours cover the window, by less than one increment more unless the minimum asks for it."""
    offer = offers(hourly(increment_minutes=str(step), minimum_hours="" if minimum is None else str(minimum)))[0]
    found = price_hourly(offer, window, lots)
    billed = Fraction(found.covers_hours)
    assert billed >= max(window, minimum or 0)
    assert billed - window < Fraction(step, 60) or billed == minimum
    assert found.committed == cents(Fraction("0.69") * billed * lots)


@given(PRICES, PRICES, st.integers(1, 8), st.integers(1, 8), st.integers(1, 50))
def test_break_even_is_where_both_ways_cost_the_same(
    package: str, hour: str, cards: int, times: int, periods: int
) -> None:
    """Exact as a fraction: at these hours as many cards by the hour cost the package, beyond them more."""
    whole = offers(row(price=package, cards_per_lot=str(cards * times)))[0]
    by_hour = offers(hourly(price=hour, cards_per_lot=str(cards)))[0]
    assert break_even(whole, by_hour, periods) * Fraction(hour) * times == Fraction(package) * periods


def test_break_even_is_shown_in_a_listing_beside_the_package() -> None:
    """7 days for 110 against 0.69 per hour: 159.42 hours; a single package asked for keeps the contract's keys."""
    found = offers(row(), hourly(), hourly(name="dearer", price="0.70"), hourly(name="spot", spot="true", price="0.1"))
    listed = {one["days"]: one for one in as_json(answer(found, "4090"))["offers"]}
    assert listed[7]["break_even_hours"] == "159.42029"
    assert listed[None]["break_even_hours"] is None
    assert "(0.69 USD) cost more beyond 159.42029 billed hours." in as_text(answer(found, "4090"), "en")
    assert "break_even_hours" not in as_json(answer(found, "4090", 7))


@pytest.mark.parametrize(
    ("option", "typed", "code"),
    [
        *(("--window", one, 0) for one in ("96", "0.000001", "999999999.5", "007")),
        *(
            ("--window", one, 2)
            for one in ("1e400", "1e3", " 96", "+96", "1_0", "٣", "nan", "0", "1000000000", "1.0000001")
        ),
        *(("--lots", one, 0) for one in ("2", "999999")),
        *(("--lots", one, 2) for one in ("0", "-1", "1000000", "1.5")),
        *(("--accepted-results", one, 0) for one in ("0", "999999")),
        *(("--accepted-results", one, 2) for one in ("-1", "1000000")),
    ],
)
def test_the_command_and_the_script_read_the_same_numbers(
    option: str, typed: str, code: int, shipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A number that no rental has is refused by both, as wrong usage; what one takes, so does the other, alike."""
    asked_for = ["--gpu", "rtx-4090", *(() if option == "--window" else ("--days", "7")), option, typed]
    assert calcul_forfaits.main([*asked_for, "--catalogue", str(shipped), "--lang", "en"]) == code
    script = capsys.readouterr()
    assert main(["price", *asked_for, "--lang", "en"]) == code
    command = capsys.readouterr()
    assert command.out == script.out
    assert (not command.err, not script.err) == (code == 0, code == 0)


@pytest.mark.parametrize("bad", [(0, 1), (1, 0), (-1, 1)])
def test_counts_below_one_are_no_package(bad: tuple[int, int]) -> None:
    """Nothing is priced for no lot or no period."""
    with pytest.raises(ValueError, match="forfait"):
        price_package(offers(row())[0], *bad)


@pytest.mark.parametrize(
    ("typed", "gpu"),
    [
        ("rtx-4090", "rtx-4090"),
        ("RTX 4090", "rtx-4090"),
        ("rtx4090", "rtx-4090"),
        ("4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("a100-80gb", "a100-80gb"),
        ("A100 80GB", "a100-80gb"),
    ],
)
def test_names_are_found_as_people_type_them(typed: str, gpu: str) -> None:
    """Case, spaces and a left out brand do not matter."""
    found = offers(
        row(), row(gpu="a100-80gb", name="A100 80GB", device_names=""), row(gpu="h100", name="H100", device_names="")
    )
    assert find_gpu(found, typed) == gpu


@pytest.mark.parametrize("typed", ["a100", "A1000", "", "été", "rtx", "409"])
def test_another_card_is_never_taken_for_the_one_typed(typed: str) -> None:
    """What does not match whole, or to its end, is refused, and names are listed."""
    found = offers(row(), row(gpu="a100-80gb", name="A100 80GB", device_names=""))
    with pytest.raises(CatalogueError) as caught:
        find_gpu(found, typed)
    assert caught.value.problems[0].slug == "price-gpu-unknown"
    assert caught.value.problems[0].values["near"]


def test_a_name_that_fits_two_cards_lists_both() -> None:
    """Two ends that match are no answer."""
    with pytest.raises(CatalogueError) as caught:
        find_gpu(offers(row(), row(gpu="gtx-4090", name="GTX 4090", device_names="")), "4090")
    assert caught.value.problems[0].values["near"] == "gtx-4090, rtx-4090"


def test_two_packages_of_one_length_are_listed_not_chosen() -> None:
    """Two regions with the same days: the answer says which there are."""
    with pytest.raises(InvalidInputError) as caught:
        answer(offers(row(region="eu"), row(region="us")), "4090", 7)
    assert caught.value.faults[0].slug == "price-offers-several"
    assert "eu" in str(caught.value.faults[0].values["held"])


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        (datetime(2026, 10, 23, 9, tzinfo=PARIS), datetime(2026, 10, 27, 9, tzinfo=PARIS), 97),
        (datetime(2027, 3, 26, 9, tzinfo=PARIS), datetime(2027, 3, 30, 9, tzinfo=PARIS), 95),
        (datetime(2026, 11, 2, 9, tzinfo=PARIS), datetime(2026, 11, 6, 9, tzinfo=PARIS), 96),
        (
            datetime(2026, 10, 25, 2, 30, tzinfo=PARIS),
            datetime(2026, 10, 25, 2, 30, tzinfo=PARIS, fold=1),
            1,
        ),
    ],
)
def test_windows_are_exact_through_clock_changes(start: datetime, end: datetime, hours: int) -> None:
    """Monday to Friday at nine is 96 h, 97 or 95 across a clock change; the doubled hour counts."""
    assert window_hours(start, end) == hours


def test_a_second_beyond_the_package_is_not_covered() -> None:
    """72 h covers 72 h and not one second more."""
    offer = offers(row(days="3"))[0]
    start = datetime(2026, 11, 2, 9, tzinfo=PARIS)
    for extra, covers in ((0, True), (1, False)):
        window = window_hours(start, start + timedelta(hours=72, seconds=extra))
        told = as_json(answer([offer], "4090", 3, window=window))
        assert told["covers_window"] is covers
        assert (told["hours_missing"] == 0) is covers


def test_naive_moments_have_no_window() -> None:
    """Without an offset there is no length to tell."""
    with pytest.raises(TypeError):
        window_hours(datetime(2026, 1, 1), datetime(2026, 1, 2))  # noqa: DTZ001  (the naive case is what is tested)


@pytest.mark.parametrize(
    ("choice", "key"),
    [
        (PackageChoice("v", None, 7, 1), "gate.price.unknown.no_gpu"),
        (PackageChoice("v", "rtx-4090", 3, 1), "gate.price.unknown.no_offer"),
        (PackageChoice("v", "rtx-4080", 7, 1), "gate.price.unknown.no_card"),
        (PackageChoice("v", "rtx-4090", 7, None), "gate.price.unknown.no_offer"),
        (PackageChoice("v", "b200", 7, 1), "gate.price.unknown.several"),
        (PackageChoice("v", "rtx-4090", None, 1), "gate.price.unknown.no_window"),
    ],
)
def test_a_choice_without_a_price_says_why(choice: PackageChoice, key: str) -> None:
    """A price is unknown with its reason, never guessed."""
    found = offers(
        row(), hourly(), row(gpu="b200", region="eu"), row(gpu="b200", region="us"), row(days="3", spot="true")
    )
    told = quote(choice, found, None)
    assert isinstance(told, Reason)
    assert told.key == key


def test_a_card_that_no_row_holds_names_the_near_ones() -> None:
    """As people mistype it; nothing is taken for it. Without any near one, all; with an empty catalogue, no price."""
    found = offers(row(), row(gpu="b200", name="B200", device_names=""), row(gpu="rtx-5090", name="RTX 5090"))
    near = {"RTX 4090": "rtx-4090", "rtx-4080": "rtx-4090, rtx-5090", "abacus": "b200, rtx-4090, rtx-5090"}
    for gpu, named in near.items():
        told = quote(PackageChoice("v", gpu, 7, 1), found, None)
        assert told == Reason("gate.price.unknown.no_card", {"gpu": gpu, "near": named})
    told = quote(PackageChoice("v", "rtx-4090", 7, 1), (), None)
    assert isinstance(told, Reason)
    assert told.key == "gate.price.unknown.no_offer"


def test_a_choice_is_quoted_by_its_price_model() -> None:
    """Packages by days, x lots x periods; hourly offers by the window."""
    found = offers(row(), hourly())
    package = quote(PackageChoice("v", "rtx-4090", 7, 2, 3), found, None)
    assert not isinstance(package, Reason)
    assert (package.committed, package.covers_hours) == (Decimal("660.00"), 504)
    by_hour = quote(PackageChoice("v", "rtx-4090", None, 2), found, Fraction(21, 2))
    assert not isinstance(by_hour, Reason)
    assert (by_hour.committed, by_hour.covers_hours) == (Decimal("15.18"), 11)


def test_each_price_model_has_its_own_name_and_cells() -> None:
    """A model is found by the word of the column `model`; the reader's rules are the models' own."""
    assert {model.name: model.cells for model in PRICE_MODELS} == calcul_forfaits.MODELS


def test_example_prices_are_marked() -> None:
    """A version that starts with `example` marks the offer, the JSON and the words."""
    found = offers_from_rows([("line 2", row(catalogue_version="example-1"))])
    assert found[0].example
    assert "Example price" in calcul_forfaits.as_text(answer(found, "4090", 7), "en")
    assert as_json(answer(found, "4090"))["offers"][0]["example"] is True


def test_money_is_nowhere_binary(repository: Path) -> None:
    """The word `float` does not occur in the code that prices, reads prices, sums or shows them."""
    named = ("calcul_forfaits", "analysis/costs", "analysis/by_the_hour", "analysis/coverage", "screen/windows")
    sources = [repository / f"lab/{name}.py" for name in (*named, "store/catalogue", "model/catalogue")]
    sources += (repository / "lab/prices").glob("*.py")
    assert len(sources) >= 12
    for source in sources:
        assert not re.search("float", source.read_text(encoding="utf-8"))
