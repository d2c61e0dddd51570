"""The published pages as a reader meets them: in Chromium, from the disk, offline."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import report_campaigns as made
from playwright.sync_api import Browser, Page

from lab.messages import LANGUAGES
from lab.report.versions import publish

PAGES = ("v1/en.html", "v1/decision-note.en.html", "index.en.html")
# plotly.js brings the style of its maps, which no page uses: the policy refuses that one element, and nothing else.
MAPS = "maplibregl"
A4 = 655  # CSS pixels between the margins of a page
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => {
  const what = event.target && event.target.outerHTML ? event.target.outerHTML : event.violatedDirective;
  window.refused.push(what.slice(0, 300));
});
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a campaign with failures, in a folder whose name needs escaping."""
    folder = tmp_path_factory.mktemp("pages") / "é #1 %41"
    folder.mkdir()
    notes = {"en": "# A heading\n\nSome **words** and [a link](https://example.org)."}
    publish(folder, made.document(made.campaign(made.MIXED, outcome="out_of_memory")), notes)
    return folder / "report"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every text tries to run."""
    folder = tmp_path_factory.mktemp("hostile")
    publish(folder, made.document(made.hostile()), {"en": made.HOSTILE + "\n\n<script>document.title='ran'</script>"})
    return folder / "report"


def _open(browser: Browser, path: Path, **options: Any) -> tuple[Page, list[str]]:  # noqa: ANN401  (playwright's own)
    page = browser.new_page(**options)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script(WATCH)
    page.goto(path.as_uri(), wait_until="load")
    page.wait_for_selector(".chart:not([data-drawn])", state="detached")
    return page, requests


def _wait(page: Page, condition: str) -> None:
    """Ask until `condition` holds; playwright's own waiting evaluates text in the page, which the policy refuses."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(condition)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_only_for_its_own_files(browser: Browser, report: Path, name: str) -> None:
    """H2: no request leaves, and the policy refuses nothing that the page needs."""
    page, requests = _open(browser, report / name)
    own = (report / "assets").as_uri()
    assert [url for url in requests[1:] if not url.startswith(own)] == []
    assert [one for one in page.evaluate("window.refused") if MAPS not in one] == []
    if "note" in name:
        assert len(requests) == 1
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES[1:])  # the two forms of the note are one document
def test_axe_finds_nothing(browser: Browser, report: Path, name: str, scheme: Any) -> None:  # noqa: ANN401  (playwright's literal)
    """H4: accessible in light and dark, with everything unfolded."""
    page, _ = _open(browser, report / name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_down_only(browser: Browser, report: Path, name: str) -> None:
    """H4: at 360 pixels nothing is wider than the page, the chart included."""
    page, _ = _open(browser, report / name, viewport={"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_hostile_texts_do_not_run(browser: Browser, hostile: Path, name: str) -> None:
    """H1: the title is still the page's own, and nothing was fetched."""
    page, requests = _open(browser, hostile / name)
    assert page.title() != "ran"
    assert all(url.startswith("file:") for url in requests)
    assert page.locator("img").count() == 0
    page.close()


def test_the_chart_follows_dark_mode_and_comes_back_for_paper(browser: Browser, report: Path) -> None:
    """The figure's background is the page's own, in either mode."""
    page, _ = _open(browser, report / "v1/en.html", color_scheme="dark")
    background = "document.querySelector('.chart').layout.paper_bgcolor"
    assert page.evaluate(background) == "#14171a"
    page.emulate_media(color_scheme="light")
    _wait(page, f"{background} === '#ffffff'")
    page.emulate_media(color_scheme="dark")
    _wait(page, f"{background} === '#14171a'")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(background) == "#ffffff"
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    page.close()


def test_the_attempts_table_sorts_and_filters_by_keyboard(browser: Browser, report: Path) -> None:
    """H4: buttons in the header, a search field, and a count that is spoken."""
    page, _ = _open(browser, report / "v1/en.html")
    first = "document.querySelector('#attempts-table-table tbody tr').textContent"
    page.get_by_role("button", name="Sort by duration").focus()
    page.keyboard.press("Enter")
    assert "23.99" in page.evaluate(first)
    page.keyboard.press("Enter")
    assert "41.20" in page.evaluate(first)
    page.locator(".tools input").fill("out of memory")
    assert page.locator("#attempts-table-table tbody tr:visible").count() == 4
    assert page.locator(".tools output").text_content() == "Rows 1 to 4 of 4; 15 in all"
    page.close()


def test_the_chart_can_be_saved(browser: Browser, report: Path) -> None:
    """The one tool of the chart works under the policy."""
    page, _ = _open(browser, report / "v1/decision-note.en.html")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as image").first.click()
    assert download.value.suggested_filename == "support-tickets-durations-1.png"
    page.close()


def test_the_page_is_whole_without_scripts(browser: Browser, report: Path) -> None:
    """Answer, figures and numbers stand there; the chart says where its numbers are."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((report / "v1/en.html").as_uri())
    assert page.locator("h1").inner_text().startswith("Batch\u00a04 on one RTX 4090 card")
    assert page.get_by_text("The chart needs scripts").first.is_visible()
    assert page.locator("#attempts-table-table tbody tr:visible").count() == 15
    context.close()


def test_languages_and_versions_are_links_that_lead_somewhere(browser: Browser, report: Path) -> None:
    """Every link within the report leads to a file that exists, and to a place in the page where it names one."""
    for name in ("index.html", "index.fr.html", "v1/index.html", "v1/it.html", "v1/decision-note.fr.html"):
        page, _ = _open(browser, report / name)
        links = page.evaluate("[...document.querySelectorAll('a[href]')].map((one) => one.href)")
        lost = page.evaluate(
            "[...document.querySelectorAll('a[href^=\"#\"]')].filter((one) => !document.querySelector(one.hash)).length"
        )
        page.close()
        paths = {Path(unquote(urlsplit(one).path)) for one in links if one.startswith("file:")}
        assert paths
        assert [path for path in paths if not path.is_file()] == []
        assert lost == 0


def test_the_answer_is_the_first_heading_that_is_read_aloud(browser: Browser, report: Path) -> None:
    """A screen reader meets the answer as the page's one top heading."""
    page, _ = _open(browser, report / "v1/fr.html")
    tree = page.locator("main").aria_snapshot()
    heading = next(line for line in tree.splitlines() if "heading" in line)
    assert "[level=1]" in heading
    assert "fait le travail pour 110,00" in json.dumps(heading, ensure_ascii=False)
    page.close()


def test_paper_loses_nothing(browser: Browser, report: Path) -> None:
    """H3: a printed note has pages, and the chart fits between its margins."""
    page, _ = _open(browser, report / "v1/decision-note.en.html")
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.querySelector('.chart .main-svg').getBoundingClientRect().width") <= 660
    hidden = page.evaluate("[...document.querySelectorAll('details')].filter((one) => !one.open).length")
    assert hidden == 0
    page.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_wider_than_the_paper(browser: Browser, report: Path, language: str) -> None:
    """H3: between the margins of A4 every table, chart and line ends where the paper does, in each language."""
    page, _ = _open(browser, report / f"v1/decision-note.{language}.html", viewport={"width": A4, "height": 970})
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter((one) => !one.closest('svg'))"
        f".filter((one) => one.getBoundingClientRect().right > {A4} + 1).map((one) => one.outerHTML.slice(0, 200))"
    )
    assert wide == []
    page.close()
