"""A reader's own catalogues in the calculator: used, refused, and never run."""

from __future__ import annotations

import pytest
from calculator_pages import FIXED, HEADER, HOSTILE, MINE, Open, drop, package


def test_a_catalogue_of_one_s_own_is_used_beside_the_other(open_page: Open) -> None:
    """Its offers, its hourly prices and their source are shown; unticked, they are gone; nothing is sent."""
    page = open_page(fragment="#gpu=b200&window=96")
    drop(page, "mine.csv", MINE)
    page.get_by_text("mine.csv, from you (offers: 3, version: mine-1, example-1)").wait_for()
    assert f"6000.00{FIXED}USD" in package(page, f"30{FIXED}days")
    assert "Catalogue mine-1, source: my own" in package(page, f"30{FIXED}days")
    hourly = page.locator("#by-the-hour").inner_text()
    assert f"1920.00{FIXED}USD" in hourly
    assert f"7{FIXED}days for 2071.00{FIXED}USD: by the hour the cost is the same at 103.55 billed hours" in hourly
    page.locator("#gpu").select_option("h100")
    assert "spot" in package(page, f"7{FIXED}days")
    assert "Example price" in package(page, f"7{FIXED}days")
    assert page.locator("#answer").inner_text().startswith("No package with a known price")
    page.get_by_label("mine.csv").uncheck()
    assert page.locator("#gpu option").all_inner_texts() == ["RTX 4090", "B200"]
    page.get_by_label("tarifs-forfaits.csv").uncheck()
    assert page.locator("#answer").inner_text() == "No catalogue is in use: tick one below."


def test_two_prices_of_one_offer_name_both_files_and_lines(open_page: Open) -> None:
    """Both packages stand side by side with version and source; the page says where each price is, and takes none."""
    page = open_page(fragment="#gpu=b200")
    drop(page, "mine.csv", HEADER + "b200,B200,2,,,forfait,7,,,,false,1999.00,USD,mine-1,my own\n")
    page.get_by_text("mine.csv, from you").wait_for()
    told = "2071.00 USD (tarifs-forfaits.csv, line 3) and 1999.00 USD (mine.csv, line 2)"
    assert told in page.locator("#remarks").inner_text()
    packages = page.locator("#packages").inner_text()
    assert "Catalogue mine-1, source: my own" in packages
    assert "Catalogue 2026-09-24, source: IteraGPU, catalogue" in packages


def test_two_spellings_of_one_card_are_refused_with_both_places(open_page: Open) -> None:
    """`rtx4090` beside `rtx-4090`: in one file, or in two; nothing is taken."""
    page = open_page("calculator/fr.html", "#gpu=4090")
    row = "{gpu},RTX 4090,1,,,forfait,{days},,,,false,9,USD,v,s\n"
    drop(page, "one.csv", HEADER + row.format(gpu="a-1", days=3) + row.format(gpu="a1", days=7))
    page.get_by_text("one.csv").wait_for()
    assert "ligne 3\u202f: a1 et a-1 (ligne 2)" in page.locator("#refusals").inner_text()
    drop(page, "two.csv", HEADER + row.format(gpu="rtx4090", days=3))
    page.get_by_text("two.csv").wait_for()
    told = page.locator("#refusals").inner_text()
    assert "ligne 2\u202f: rtx4090 et rtx-4090 (tarifs-forfaits.csv, ligne 2)" in told
    assert page.locator("#gpu option").all_inner_texts() == ["RTX 4090", "B200"]


def test_a_catalogue_can_be_dropped_anywhere(open_page: Open) -> None:
    """A file that falls on the page is read as if it had been chosen."""
    page = open_page()
    page.evaluate(
        """(text) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], "dropped.csv", {type: "text/csv"}));
          document.body.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
        }""",
        MINE,
    )
    page.get_by_text("dropped.csv, from you").wait_for()
    assert "H100" in page.locator("#gpu option").all_inner_texts()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MINE.replace("6000", "-6"), "line 2: price holds -6;"),
        (MINE.replace("6000", "6.000"), "line 2: price holds 6.000;"),
        (
            MINE + "b200,B200,2,,,forfait,30,,,,false,7000,USD,mine-1,my own\n",
            "line 5: One offer of b200 has two prices",
        ),
        (MINE.replace(",", ";"), "line 1: Cells are separated by ;; , is wanted"),
        (MINE.replace("currency", "money"), "line 1: Columns missing: currency."),
        (MINE + "b200,B200\n", "line 5: The line cannot be read"),
        (MINE.replace("h100,H100,1", "h100,H100,"), "line 4: cards_per_lot holds ; a value like 2"),
    ],
)
def test_a_bad_catalogue_is_refused_in_words_with_its_line(open_page: Open, text: str, said: str) -> None:
    """File, line, what was found and what to do; the prices in use stay as they are."""
    page = open_page(fragment="#gpu=4090")
    before = page.locator("#packages").inner_text()
    drop(page, "bad.csv", text)
    page.get_by_text("bad.csv is not used.").wait_for()
    assert said in page.locator("#refusals").inner_text()
    assert page.locator("#packages").inner_text() == before


def test_what_a_catalogue_contains_is_text(open_page: Open) -> None:
    """H1: markup in a name, a region, a version or a source is shown, never run."""
    page = open_page()
    drop(page, "hostile.csv", HOSTILE)
    page.get_by_text("hostile.csv, from you").wait_for()
    page.locator("#gpu").select_option("x")
    assert "<b>r</b>" in page.locator("#packages").inner_text()
    assert "source: {x}" in page.locator("#packages").inner_text()
    assert page.locator("main img, main b, main script").count() == 0
    assert page.title().startswith("Package calculator")
