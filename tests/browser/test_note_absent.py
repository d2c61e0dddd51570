"""H6: a variant with one attempt, with none, with failures only, without a metric: said in words, never as 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import report_campaigns as made
from playwright.sync_api import Browser

from lab.model.campaign import Campaign
from lab.report.versions import publish

LOST = ("NaN", "null", "Infinity", "[object")  # of a value that was lost on the way


def _without_metric() -> Campaign:
    """Predictions that nobody can judge: no reference answers in the corpus."""
    whole = made.campaign(protocol=made.protocol(metric=None, threshold=None, tolerance=None))
    return replace(whole, evidence={})


CASES: dict[str, tuple[Campaign, str]] = {
    "one attempt and none": (made.campaign({"b1": (24.1,), "b4": (), "b8": ()}), "too few passes (1; it takes 5)"),
    "none at all": (made.campaign({"b1": (), "b8": ()}), "No attempt has been made yet."),
    "all failed": (made.campaign({"b1": (None,) * 5, "b8": made.OVERLAPPING["b8"]}), "none accepted"),
    "no metric": (_without_metric(), "no pass could be assessed"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_absent_is_said(browser: Browser, tmp_path: Path, name: str) -> None:
    """The page holds the words for it, no broken chart, and no value that nobody measured."""
    campaign, words = CASES[name]
    publish(tmp_path, made.document(campaign), {})
    page = browser.new_page(viewport={"width": 360, "height": 740})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "report/v1/en.html").as_uri(), wait_until="load")
    page.wait_for_selector(".chart:not([data-drawn])", state="detached")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    shown = page.locator("main").inner_text()
    drawn = page.locator(".chart").evaluate_all("all => all.map(one => one.textContent).join(' ')")
    assert words in f"{shown} {drawn}".replace("\u00a0", " ")
    assert [one for one in LOST if one in f"{shown} {drawn}"] == []
    assert page.locator(".chart").count() == page.locator(".chart .main-svg").count() / 3
    cells = set(page.locator("td, th").evaluate_all("all => all.map(one => one.textContent)"))
    assert not cells & {"", "None", "undefined"}
    assert "0.00 s" not in drawn
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert errors == []
    page.close()
