"""The calculator as a person meets it: in Chromium, from the disk, offline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from lab.report.site import build_site

Open = Callable[..., Page]
THIN, FIXED = "\u202f", "\u00a0"
HEADER = (
    "gpu,name,cards_per_lot,device_names,memory_gib_per_card,model,days,increment_minutes,minimum_hours,region,spot,"
    "price,currency,catalogue_version,source\n"
)
MINE = HEADER + (
    "b200,B200,2,,,forfait,30,,,,false,6000,USD,mine-1,my own\n"
    "b200,B200,2,,,hourly,,60,1,,false,20.00,USD,mine-1,my own\n"
    "h100,H100,1,,,forfait,7,,,,true,300,EUR,example-1,made up\n"
)
HOSTILE = HEADER + (
    'x,"<img src=x onerror=""document.title=\'ran\'"">",1,,,forfait,7,,,<b>r</b>,false,1,USD,'
    '"<script>v</script>","{x}"\n'
)
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
"""
PARIS = "#gpu=4090&lots=2&start=2026-10-23T09:00&end=2026-10-27T09:00&tz=Europe/Paris"
FULL = PARIS + "&accepted-results=3&quality=1&hourly=0.69"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, in a folder whose name needs escaping."""
    folder = tmp_path_factory.mktemp("pages") / "é #1 %41"
    build_site(folder, "fr")
    return folder


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Open]:
    """Opens a page of the site at a fragment; after the test, nothing was asked for, refused or thrown."""
    opened: list[tuple[Page, list[str], list[str]]] = []

    def start(name: str = "calculator/en.html", fragment: str = "", **options: Any) -> Page:  # noqa: ANN401  (playwright's own)
        page = browser.new_page(**{"timezone_id": "Europe/Paris", **options})
        requests: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(WATCH)
        page.goto((site / name).as_uri() + fragment, wait_until="load")
        opened.append((page, requests, errors))
        return page

    yield start
    for page, requests, errors in opened:
        assert {url.split("#")[0] for url in requests} <= {one.as_uri() for one in site.rglob("*.html")}
        assert errors == []
        assert page.evaluate("window.refused") == []
        page.close()


def _package(page: Page, days: str) -> str:
    """The text of one column of the comparison."""
    return page.locator("#packages > li").filter(has=page.get_by_role("heading", name=days, exact=True)).inner_text()


def _drop(page: Page, name: str, text: str) -> None:
    page.locator("#files").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def test_packages_stand_side_by_side_with_what_they_cover(open_page: Open) -> None:
    """97 h through a clock change: 3 days do not cover, 7 and 30 do; only the known price is compared."""
    page = open_page(fragment=FULL)
    assert (
        page.locator("#answer").inner_text()
        == f"The package of 7{FIXED}days covers the 97{FIXED}h and commits 220.00{FIXED}USD."
    )
    assert f"does not cover: 25{FIXED}h missing" in _package(page, f"3{FIXED}days")
    assert "price unknown" in _package(page, f"3{FIXED}days")
    seven = _package(page, f"7{FIXED}days")
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
        ("en", f"220.00{FIXED}USD", f"2,071.00{FIXED}USD"),
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
    assert "not stated" in _package(page, f"7{FIXED}days")
    page.locator("#accepted").fill("3")
    assert "73.33" not in page.locator("#packages").inner_text()
    assert "once you confirm the quality" in _package(page, f"7{FIXED}days")
    page.locator("#quality").check()
    assert f"73.33{FIXED}USD" in _package(page, f"7{FIXED}days")
    page.locator("#accepted").fill("0")
    assert "undefined" in _package(page, f"7{FIXED}days")
    assert f"220.00{FIXED}USD" in _package(page, f"7{FIXED}days")


def test_nothing_is_extended_by_itself(open_page: Open) -> None:
    """Beyond a package: how many periods in a row and their price; they count once they are entered."""
    page = open_page(fragment="#gpu=4090&window=200")
    assert page.locator("#answer").inner_text() == f"No package with a known price covers the 200{FIXED}h."
    assert f"2 periods in a row (1 extra) would cover 336{FIXED}h and commit 220.00{FIXED}USD." in _package(
        page, f"7{FIXED}days"
    )
    page.locator("#periods").fill("2")
    assert "(periods: 2) covers the 200" in page.locator("#answer").inner_text()
    assert f"220.00{FIXED}USD" in _package(page, f"7{FIXED}days")


def test_72_hours_cover_72_hours_and_not_one_second_more(open_page: Open) -> None:
    """The edge of a package, typed in the language's own form."""
    page = open_page("calculator/fr.html", "#gpu=4090&window=72")
    assert "couvre la fenêtre, 0" in _package(page, f"3{FIXED}jours")
    page.locator("#hours").fill("72,000278")
    assert f"il manque 0,000278{FIXED}h" in _package(page, f"3{FIXED}jours")


@pytest.mark.parametrize("typed", ["1.5", "1,234.5", "-3", "0", "1e3", "abc", "1 000", "NaN"])
def test_what_could_mean_two_numbers_is_refused_in_words(open_page: Open, typed: str) -> None:
    """In French a point is no decimal mark: the field says which form it wants, and no answer is given."""
    page = open_page("calculator/fr.html", "#gpu=4090&window=96")
    page.locator("#hours").fill(typed)
    assert "par exemple 96,5" in page.locator("#hours-fault").inner_text()
    assert page.locator("#hours").get_attribute("aria-invalid") == "true"
    assert "à corriger" in page.locator("#answer").inner_text()
    for name in ("lots", "periods", "accepted"):
        page.locator(f"#{name}").fill("1,5")
        assert "nombre entier" in page.locator(f"#{name}-fault").inner_text()
    assert page.locator("#packages > li").count() == 0


def test_a_time_that_exists_twice_is_asked_about(open_page: Open) -> None:
    """Both readings are offered; the one that is taken holds, also in the link."""
    page = open_page(fragment="#gpu=4090&start=2026-10-25T02:30&end=2026-10-27T09:00&tz=Europe/Paris")
    fault = page.locator("#start-fault")
    assert "2026-10-25 02:30 exists twice in Europe/Paris" in fault.inner_text()
    names = fault.get_by_role("button").all_inner_texts()
    assert [name[-9:] for name in names] == ["UTC+02:00", "UTC+01:00"]
    fault.get_by_role("button").nth(1).click()
    assert fault.is_hidden()
    assert f"54.5{FIXED}h" in page.locator("#reading").inner_text()
    assert "start=2026-10-25T02:30%2B01:00" in page.url
    again = open_page(fragment=page.url[page.url.index("#") :])
    assert f"54.5{FIXED}h" in again.locator("#reading").inner_text()
    again.locator("#start").fill("2026-10-25T02:31")
    assert "exists twice" in again.locator("#start-fault").inner_text()


def test_a_time_that_does_not_exist_is_refused_with_both_readings(open_page: Open) -> None:
    """Clocks go over it: either reading can be taken, and the field then shows that time."""
    page = open_page(fragment="#gpu=4090&start=2027-03-26T09:00&end=2027-03-28T02:30&tz=Europe/Paris")
    fault = page.locator("#end-fault")
    assert "does not exist in Europe/Paris" in fault.inner_text()
    fault.get_by_role("button").nth(0).click()
    assert page.locator("#end").input_value() == "2027-03-28T03:30"
    assert f"41.5{FIXED}h" in page.locator("#reading").inner_text()


def test_a_window_has_two_ends_in_their_order(open_page: Open) -> None:
    """One end alone, an end before its start and a zone that nobody knows are said where they are."""
    page = open_page(fragment="#gpu=4090&start=2026-11-02T09:00&tz=Europe/Paris")
    assert page.locator("#end-fault").inner_text() == "State this moment too."
    page.locator("#end").fill("2026-11-02T09:00")
    assert page.locator("#end-fault").inner_text() == "The end must come after the start."
    page = open_page(fragment="#gpu=4090&start=2026-11-02T09:00&end=2026-11-06T09:00&tz=Europe/Pariss")
    assert "does not know the time zone Europe/Pariss" in page.locator("#zone-fault").inner_text()


def test_the_link_restores_every_entry(open_page: Open) -> None:
    """What is entered stands in the address; opened again, also in another language, it gives the same."""
    page = open_page()
    page.locator("#gpu").select_option("b200")
    page.locator("#lots").fill("3")
    page.get_by_label("In hours").check()
    page.locator("#hours").fill("96.5")
    page.locator("#accepted").fill("7")
    page.locator("#quality").check()
    page.locator("#hourly").fill("12.5")
    said = page.locator("#packages").inner_text()
    again = open_page(fragment=page.url[page.url.index("#") :])
    assert again.locator("#packages").inner_text() == said
    again.get_by_role("link", name="Français").click()
    assert again.locator("html").get_attribute("lang") == "fr"
    assert again.locator("#hours").input_value() == "96,5"
    assert f"887,57{FIXED}USD" in again.locator("#packages").inner_text()
    again.get_by_role("button", name="Recommencer").click()
    assert again.locator("#hours").input_value() == ""
    assert again.url.endswith("#gpu=rtx-4090&lots=1&periods=1")


def test_the_link_is_copied(open_page: Open) -> None:
    """The page says whether copying worked."""
    page = open_page(fragment=FULL)
    page.get_by_role("button", name="Copy the link").click()
    assert page.locator("#copied").inner_text() == "The link is copied. It restores these entries."


def test_a_catalogue_of_one_s_own_is_used_beside_the_other(open_page: Open) -> None:
    """Its offers, its hourly prices and their source are shown; unticked, they are gone; nothing is sent."""
    page = open_page(fragment="#gpu=b200&window=96")
    _drop(page, "mine.csv", MINE)
    page.get_by_text("mine.csv, from you (offers: 3, version: mine-1, example-1)").wait_for()
    assert f"6,000.00{FIXED}USD" in _package(page, f"30{FIXED}days")
    assert "Catalogue mine-1, source: my own" in _package(page, f"30{FIXED}days")
    hourly = page.locator("#by-the-hour").inner_text()
    assert f"1,920.00{FIXED}USD" in hourly
    assert f"7{FIXED}days for 2,071.00{FIXED}USD: by the hour the cost is the same at 103.55 billed hours" in hourly
    page.locator("#gpu").select_option("h100")
    assert "spot" in _package(page, f"7{FIXED}days")
    assert "Example price" in _package(page, f"7{FIXED}days")
    assert page.locator("#answer").inner_text().startswith("No package with a known price")
    page.get_by_label("mine.csv").uncheck()
    assert page.locator("#gpu option").all_inner_texts() == ["RTX 4090", "B200"]
    page.get_by_label("tarifs-forfaits.csv").uncheck()
    assert page.locator("#answer").inner_text() == "No catalogue is in use: tick one below."


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
    _drop(page, "bad.csv", text)
    page.get_by_text("bad.csv is not used.").wait_for()
    assert said in page.locator("#refusals").inner_text()
    assert page.locator("#packages").inner_text() == before


def test_what_a_catalogue_contains_is_text(open_page: Open) -> None:
    """H1: markup in a name, a region, a version or a source is shown, never run."""
    page = open_page()
    _drop(page, "hostile.csv", HOSTILE)
    page.get_by_text("hostile.csv, from you").wait_for()
    page.locator("#gpu").select_option("x")
    assert "<b>r</b>" in page.locator("#packages").inner_text()
    assert "source: {x}" in page.locator("#packages").inner_text()
    assert page.locator("main img, main b, main script").count() == 0
    assert page.title().startswith("Package calculator")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "fr", "it"])
@pytest.mark.parametrize(
    "fragment", ["", FULL, "#gpu=b200&lots=x&start=2026-10-25T02:30&end=2026-10-26T02:30&tz=Europe/Rome"]
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
def test_a_phone_scrolls_down_only(open_page: Open, language: str) -> None:
    """H4: at 360 pixels nothing is wider than the page."""
    page = open_page(f"calculator/{language}.html", FULL, viewport={"width": 360, "height": 740})
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
    """Every link of every page opens a page that exists."""
    for path in site.rglob("*.html"):
        page = open_page(str(path.relative_to(site)))
        links = page.evaluate("[...document.querySelectorAll('a[href]')].map((one) => one.href)")
        assert len(links) > 2
        for link in {one.split("#")[0] for one in links}:
            assert link in {one.as_uri() for one in site.rglob("*.html")}
