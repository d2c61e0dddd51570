"""The table of every attempt in Chromium: by keyboard only, from the first row to the evidence, long or short."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import report_campaigns as made
from playwright.sync_api import Browser, Page

from lab.report.versions import publish

LONG = 240  # passes of each of three variants
ROWS = "#attempts-table-table tbody tr"
# Every row as what a reader and a style sheet make of it.
SHAPE = """
[...document.querySelectorAll("#attempts-table-table tbody tr")].map((row) =>
  [...row.querySelectorAll("th, td, span, a")].map((one) =>
  [one.tagName, [...one.classList].sort().join(" "), one.getAttribute("role"), one.getAttribute("scope"),
   one.dataset.label, one.getAttribute("href"), one.textContent].join("|")))
"""


def _published(folder: Path, *, passes: int, **changed: Any) -> Path:  # noqa: ANN401  (any field of the campaign)
    durations = {
        name: [None if n % 10 == 3 else seconds + n / 100 for n in range(passes)]
        for name, seconds in (("b1", 41.0), ("b4", 24.5), ("b8", 23.9))
    }
    campaign = made.campaign(durations, outcome="timed_out", protocol=made.protocol(repetitions=passes), **changed)
    publish(folder, made.document(campaign), {})
    return folder / "report"


@pytest.fixture(scope="module")
def long_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 720 attempts."""
    return _published(tmp_path_factory.mktemp("long"), passes=LONG)


@pytest.fixture
def page(browser: Browser, long_report: Path) -> Iterator[Page]:
    """The self-contained note of that report; nothing was thrown when it is closed."""
    found = browser.new_page()
    errors: list[str] = []
    found.on("pageerror", lambda error: errors.append(str(error)))
    found.goto((long_report / "v1/decision-note.en.html").as_uri(), wait_until="load")
    yield found
    found.close()
    assert errors == []


def _output(page: Page) -> str | None:
    return page.locator("#attempts .tools output").text_content()


def test_a_long_table_is_paged_by_keyboard(page: Page) -> None:
    """H5: fifty rows at a time, forward, to the end of a filter, and back."""
    assert page.locator(ROWS).count() == 50
    assert _output(page) == "Rows 1 to 50 of 720; 720 in all"
    page.get_by_role("button", name="Later rows").focus()
    page.keyboard.press("Enter")
    assert _output(page) == "Rows 51 to 100 of 720; 720 in all"
    page.get_by_role("button", name="Earlier rows").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # there is nothing before the first page
    assert _output(page) == "Rows 1 to 50 of 720; 720 in all"


def test_filters_search_and_sorting_work_together(page: Page) -> None:
    """The failures of one variant, the last round first: three controls, no mouse."""
    choices = page.locator("#attempts .tools select")
    choices.nth(0).focus()
    page.keyboard.type("b8")
    choices.nth(1).focus()
    page.keyboard.type("stopped")
    assert _output(page) == "Rows 1 to 24 of 24; 720 in all"
    sort = page.get_by_role("button", name="Sort by round")
    sort.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator(f"{ROWS} td").nth(1).text_content() == "234"
    assert page.locator("#attempts th[aria-sort=descending]").count() == 1
    page.get_by_label("Search the rows").focus()
    page.keyboard.type("no such text")
    assert _output(page) == "No row matches."


def test_the_evidence_of_the_last_attempt_is_one_key_away(page: Page) -> None:
    """A link of a row that was built by the script opens what was built for it, and the fold around it."""
    page.get_by_role("button", name="Sort by attempt").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    link = page.locator(f"{ROWS} th a").first
    name = link.text_content()
    assert name is not None
    link.focus()
    page.keyboard.press("Enter")
    entry = page.locator(".entry:target")
    assert entry.is_visible()
    assert entry.locator("dd").first.text_content() == f"attempts/{name}/"


def test_built_rows_look_like_written_ones(browser: Browser, long_report: Path, page: Page) -> None:
    """The first rows without a script are those that the script builds."""
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto((long_report / "v1/en.html").as_uri())
    written = still.evaluate(SHAPE)
    assert still.get_by_text("50 of the 720 rows stand here").is_visible()
    context.close()
    assert len(written) == 50
    assert page.evaluate(SHAPE) == written


def test_a_word_of_the_glossary_is_a_link_that_also_shows_its_meaning(page: Page) -> None:
    """Pointed at, it explains itself; followed, it leads to its entry."""
    term = page.locator("#durations .term", has_text="median").first
    assert term.get_attribute("title") == "The value in the middle when all are put in order."
    term.focus()
    page.keyboard.press("Enter")
    assert page.locator("#term-median:target").is_visible()
    targets = page.locator(".term").evaluate_all("all => all.filter(one => !document.querySelector(one.hash)).length")
    assert targets == 0
    assert page.locator(".term").count() > 20
