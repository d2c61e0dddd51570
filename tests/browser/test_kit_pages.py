"""The pages of the kit as a reader meets them: in Chromium, from the unpacked folder, offline."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from calculator_pages import WATCH
from playwright.sync_api import Browser

from lab.messages import LANGUAGES
from lab.report.kit import PAGES, kit_files


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kits of all languages, in a folder whose name needs escaping."""
    folder = tmp_path_factory.mktemp("kit") / "é #1 %41"
    for language in LANGUAGES:
        (folder / language).mkdir(parents=True)
        for name, data in kit_files(language).items():
            (folder / language / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("fr", "dark"), ("it", "light")])
def test_the_pages_read_well_and_ask_for_nothing(browser: Browser, kit: Path, language: str, scheme: str) -> None:
    """H4: axe finds nothing, a phone scrolls down only, each page leads to the others, and no request leaves."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": 360, "height": 740})  # type: ignore[arg-type]  (a word)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script(WATCH)
    page.goto((kit / language / "README.html").as_uri())
    wanted = [(kit / language / "README.html").as_uri()]
    for name in PAGES[1:] + PAGES[:1]:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
        assert page.evaluate("window.refused") == []
        page.locator(f".parts a[href='{name}.html']").click()
        page.wait_for_url(f"**/{name}.html")
        wanted.append((kit / language / f"{name}.html").as_uri())
    assert requests == wanted
    page.close()
