"""The calculator as a person meets it: in Chromium, from the disk, offline."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from calculator_pages import FIXED, FULL, TASKS, THIN, Open, package
from playwright.sync_api import Browser


def test_packages_stand_side_by_side_with_what_they_cover(open_page: Open) -> None:
    """97 h through a clock change: 3 days do not cover, 7 and 30 do; only the known price is compared."""
    page = open_page(fragment=FULL)
    assert (
        page.locator("#answer").inner_text()
        == f"The package of 7{FIXED}days covers the 97{FIXED}h and commits 220.00{FIXED}USD."
    )
    assert f"does not cover: 25{FIXED}h missing" in package(page, f"3{FIXED}days")
    assert "price unknown" in package(page, f"3{FIXED}days")
    seven = package(page, f"7{FIXED}days")
    assert f"covers the window, 71{FIXED}h to spare" in seven
    assert f"220.00{FIXED}USD" in seven
    assert "2 cards (lots: 2, periods: 1)" in seven
    assert f"73.33{FIXED}USD" in seven
    assert "Catalogue 2026-09-24, source: IteraGPU, catalogue" in seven
    assert f"30{FIXED}days" in page.locator("#remarks").inner_text()
    assert f"3{FIXED}days" not in page.locator("#remarks").inner_text()
    assert f"Clocks change in between: without that it would be 96{FIXED}h." in page.locator("#reading").inner_text()
    assert f"133.86{FIXED}USD" in page.locator("#by-the-hour").inner_text()
    assert f"the same at 159.420290{FIXED}" not in page.locator("#by-the-hour").inner_text()
    assert "the cost is the same at 159.42029 billed hours" in page.locator("#by-the-hour").inner_text().replace(
        FIXED, " "
    )


@pytest.mark.parametrize(
    ("language", "budget", "big"),
    [
        ("en", f"220.00{FIXED}USD", f"2071.00{FIXED}USD"),
        ("fr", f"220,00{FIXED}USD", f"2{THIN}071,00{FIXED}USD"),
        ("it", f"220,00{FIXED}USD", f"2.071,00{FIXED}USD"),
    ],
)
def test_amounts_are_written_as_python_writes_them(open_page: Open, language: str, budget: str, big: str) -> None:
    """The separators of each language; a lot of B200 holds two cards and is priced once."""
    page = open_page(f"calculator/{language}.html", "#gpu=rtx4090&lots=2")
    assert budget in page.locator("#packages").inner_text()
    page.locator("#gpu").select_option("b200")
    page.locator("#lots").fill("1")
    assert big in page.locator("#packages").inner_text()
    assert page.locator("html").get_attribute("lang") == language


def test_no_cost_per_result_without_the_confirmation(open_page: Open) -> None:
    """Empty: not stated. A number without the box: withheld. 0: undefined in words, the budget still there."""
    page = open_page(fragment="#gpu=4090&lots=2")
    assert page.locator("#accepted").input_value() == ""
    assert "not stated" in package(page, f"7{FIXED}days")
    page.locator("#accepted").fill("3")
    assert "73.33" not in page.locator("#packages").inner_text()
    assert "once you confirm the quality" in package(page, f"7{FIXED}days")
    page.locator("#quality").check()
    assert f"73.33{FIXED}USD" in package(page, f"7{FIXED}days")
    page.locator("#accepted").fill("0")
    assert "undefined" in package(page, f"7{FIXED}days")
    assert f"220.00{FIXED}USD" in package(page, f"7{FIXED}days")


def test_nothing_is_extended_by_itself(open_page: Open) -> None:
    """Beyond a package: how many periods in a row and their price; they count once they are entered."""
    page = open_page(fragment="#gpu=4090&window=200")
    assert page.locator("#answer").inner_text() == f"No package with a known price covers the 200{FIXED}h."
    assert f"2 periods in a row (1 extra) would cover 336{FIXED}h and commit 220.00{FIXED}USD." in package(
        page, f"7{FIXED}days"
    )
    page.locator("#periods").fill("2")
    assert "(periods: 2) covers the 200" in page.locator("#answer").inner_text()
    assert f"220.00{FIXED}USD" in package(page, f"7{FIXED}days")


def test_72_hours_cover_72_hours_and_not_one_second_more(open_page: Open) -> None:
    """The edge of a package, typed in the language's own form."""
    page = open_page("calculator/fr.html", "#gpu=4090&window=72")
    assert "couvre la fenêtre, 0" in package(page, f"3{FIXED}jours")
    page.locator("#hours").fill("72,000278")
    assert f"il manque 0,000278{FIXED}h" in package(page, f"3{FIXED}jours")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "fr", "it"])
@pytest.mark.parametrize(
    "fragment", ["", FULL, TASKS, "#gpu=b200&lots=x&start=2026-10-25T02:30&end=2026-10-26T02:30&tz=Europe/Rome"]
)
def test_axe_finds_nothing(open_page: Open, language: str, scheme: str, fragment: str) -> None:
    """H4: empty, filled and with something to correct, in light and dark."""
    page = open_page(f"calculator/{language}.html", fragment, color_scheme=scheme)
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pytest.mark.parametrize("name", ["index.html", "calculator/index.html"])
def test_axe_finds_nothing_on_the_way_in(open_page: Open, name: str) -> None:
    """The page before the calculator too, and the language it opens in."""
    page = open_page(name)
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate("axe.run()")["violations"] == []


@pytest.mark.parametrize("language", ["en", "fr", "it"])
@pytest.mark.parametrize("fragment", [FULL, TASKS])
def test_a_phone_scrolls_down_only(open_page: Open, language: str, fragment: str) -> None:
    """H4: at 360 pixels nothing is wider than the page."""
    page = open_page(f"calculator/{language}.html", fragment, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_keyboard_reaches_everything(open_page: Open) -> None:
    """H4: from the skip link through every entry to the files, in the order of the page, with a visible mark."""
    page = open_page()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.value || document.activeElement.tagName")
        )
        if reached[-1] == "files":
            break
    wanted = [
        "gpu",
        "lots",
        "periods",
        "dates",
        "start",
        "end",
        "zone",
        "accepted",
        "quality",
        "hourly",
        "copy",
        "print",
        "again",
    ]
    assert [one for one in dict.fromkeys(reached) if one in {*wanted, "files"}] == [*wanted, "files"]
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_paper_has_the_answer_first_and_nothing_to_press(open_page: Open) -> None:
    """H3: on A4 the answer, then what was asked; buttons and hints are for the screen."""
    page = open_page(fragment=FULL)
    page.emulate_media(media="print")
    assert page.locator("#copy").is_hidden()
    assert page.locator("#start").is_hidden()
    tops = [page.locator(one).bounding_box()["y"] for one in ("#answer", "#packages", "#gpu")]
    assert tops == sorted(tops)
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_without_scripts_the_page_says_so(browser: Browser, site: Path) -> None:
    """Nothing is computed, and the way out is named."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "calculator/fr.html").as_uri())
    assert page.locator("noscript .refusal").is_visible()
    context.close()


def test_links_lead_somewhere(open_page: Open, site: Path) -> None:
    """Every link of its pages opens a page that exists; those of the other pages are followed elsewhere."""
    for path in (site / "calculator").glob("*.html"):
        page = open_page(str(path.relative_to(site)))
        links = page.evaluate("[...document.querySelectorAll('a[href]')].map((one) => one.href)")
        assert len(links) > 2
        for link in {one.split("#")[0] for one in links}:
            assert link in {one.as_uri() for one in site.rglob("*.html")}
