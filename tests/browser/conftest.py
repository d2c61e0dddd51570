"""One Chromium for all browser tests, the calculator's pages, and the campaigns made by hand for the report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from calculator_pages import WATCH, Open
from playwright.sync_api import Browser, Page, sync_playwright

from lab.report.site import build_site

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """Chromium, started once."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


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
