"""The charts of the note come after what is read first, and never later than paper needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import report_campaigns as made
from playwright.sync_api import Browser, Page

from lab.report.versions import publish

# A browser that is never idle: what waits for that is kept, and runs when the test says so.
BUSY = "window.kept = []; window.requestIdleCallback = (act) => { window.kept.push(act); };"
IDLE = "while (window.kept.length) { window.kept.shift()(); }"
DRAWN = "document.querySelectorAll('.chart[data-drawn] .main-svg:first-of-type').length"
HEIGHTS = "all => all.map(one => one.clientHeight)"
SIZES = "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
CHARTS = 3  # durations, quality, calendar


@pytest.fixture(scope="module")
def version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A version of a report with failures."""
    folder = tmp_path_factory.mktemp("charts")
    publish(folder, made.document(made.campaign(made.MIXED, outcome="out_of_memory")), {})
    return folder / "report" / "v1"


@pytest.fixture
def busy(browser: Browser, version: Path) -> Iterator[Page]:
    """The self-contained note in a browser that has not been idle yet; nothing was thrown when it is closed."""
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(BUSY)
    page.goto((version / "decision-note.en.html").as_uri(), wait_until="load")
    yield page
    page.close()
    assert errors == []


def test_the_page_is_used_before_its_charts_are_there(busy: Page) -> None:
    """H5: rows are sorted and searched while plotly.js, most of the page, has not been run; room is kept for charts."""
    assert busy.evaluate("window.Plotly === undefined")
    busy.get_by_role("button", name="Sort by duration").click()
    assert "23.99" in busy.locator("#attempts-table-table tbody tr").first.inner_text()
    heights = busy.locator(".chart").evaluate_all(HEIGHTS)
    assert len(heights) == CHARTS
    assert min(heights) > 100
    busy.evaluate(IDLE)
    assert busy.evaluate(DRAWN) == CHARTS
    assert busy.locator(".chart").evaluate_all(HEIGHTS) == pytest.approx(heights, abs=2)


def test_paper_has_every_chart_at_once(busy: Page) -> None:
    """H3: who prints before the page was idle gets the charts too, at the paper's width."""
    busy.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert busy.evaluate(DRAWN) == CHARTS
    assert busy.evaluate("document.querySelector('.chart').layout.width") == 655
    assert busy.locator(".without-script:visible").count() == 0
    busy.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert busy.evaluate("document.querySelector('.chart').layout.width") != 655


def test_the_page_that_shares_its_files_draws_every_chart(browser: Browser, version: Path) -> None:
    """One request for plotly.js, after the page's own script; the words for a reader without scripts go."""
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2].partition("-")[0]))
    page.goto((version / "fr.html").as_uri(), wait_until="load")
    page.wait_for_selector(".chart:not([data-drawn])", state="detached")
    assert page.evaluate(DRAWN) == CHARTS
    assert asked == ["fr.html", "note", "note", "plotly"]
    assert page.locator(".without-script:visible").count() == 0
    page.close()


def test_phases_can_be_read_on_paper(busy: Page) -> None:
    """H3: each figure stands under its own name, in letters no smaller than eight points."""
    busy.set_viewport_size({"width": 655, "height": 970})
    busy.emulate_media(media="print")
    cell = busy.locator("#phases-table tbody td").first
    assert cell.evaluate("one => getComputedStyle(one, '::before').content") == '"download (s)"'
    sizes = busy.locator("#phases-table td").evaluate_all(SIZES)
    assert min(sizes) >= 8 * 4 / 3
