"""The pages of the site as a reader meets them: in Chromium, from the disk, offline."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import Path

import pytest
from calculator_pages import Open
from playwright.sync_api import Browser, Page

from lab.messages import LANGUAGES

KINDS = (
    "index", "method/index", "method/durations", "how-to/several-hosts", "fields", "errors", "example", "downloads",
    "changelog", "search",
)  # fmt: skip


def _search(page: Page, words: str) -> list[str]:
    """Type `words`; the titles found, in their order."""
    page.locator("#query").fill(words)
    return page.locator("#results a").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(open_page: Open, kind: str, scheme: str) -> None:
    """H4: every kind of page, in light and dark, the languages by turns; the search with results in it.

    Of rows and errors, which are alike, three a table or a group stay: axe takes ten seconds for all of them.
    """
    language = LANGUAGES[(KINDS.index(kind) + len(scheme)) % len(LANGUAGES)]
    page = open_page(f"{language}/{kind}.html", "#q=batch" if kind == "search" else "", color_scheme=scheme)
    page.evaluate(
        "document.querySelectorAll('tbody tr:nth-child(n+4), .error:nth-of-type(n+4)').forEach((one) => one.remove())"
    )
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pytest.mark.parametrize("language", ["en", "fr", "it"])
def test_a_phone_scrolls_down_only(open_page: Open, site: Path, language: str) -> None:
    """H4: at 360 pixels no page is wider than the screen; long commands scroll in a box of their own."""
    page = open_page(f"{language}/index.html", viewport={"width": 360, "height": 740})
    for path in sorted((site / language).rglob("*.html")):
        page.goto(path.as_uri() + ("#q=batch" if path.name == "search.html" else ""))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path.name


def test_the_search_finds_pages_fields_and_errors(open_page: Open) -> None:
    """Every word must begin a word of what is found; a title weighs more than a text."""
    page = open_page("en/search.html")
    assert page.locator("#count").inner_text() == "Type a word."
    assert _search(page, "committed cost")[0] == "The committed cost"
    assert _search(page, "duration_s")[0].startswith("duration_s · ")
    assert "seal-changed" in _search(page, "seal-changed")
    assert _search(page, "turns cold")[0] == "Rounds"
    assert _search(page, "rotat xyzzy") == []
    assert page.locator("#count").inner_text() == "Nothing found. Try fewer words, or the beginning of one."
    assert len(_search(page, "the")) == 40
    assert page.locator("#count").inner_text().endswith("The first 40 are listed.")
    assert page.locator("mark").first.inner_text().lower() == "the"


@pytest.mark.parametrize(
    ("asked", "title"), [("memoire", "La mémoire dit ce qui est faisable"), ("DURÉES", "Lire les durées")]
)
def test_accents_and_capitals_make_no_difference(open_page: Open, asked: str, title: str) -> None:
    """What a person types on any keyboard is found; what is marked is the text's own spelling."""
    page = open_page("fr/search.html")
    assert title in _search(page, asked)
    assert page.locator("mark").first.inner_text() in {"mémoire", "Mémoire", "durées", "Durées"}


def test_a_search_can_be_linked_to_and_leads_on(open_page: Open, site: Path) -> None:
    """The words stand in the address; a result opens its page at the very place."""
    page = open_page("it/search.html", "#q=sigillo")
    assert page.locator("#query").input_value() == "sigillo"
    links = page.evaluate("[...document.querySelectorAll('#results a')].map((one) => one.href)")
    assert len(links) > 3
    assert {one.split("#")[0] for one in links} <= {path.as_uri() for path in site.rglob("*.html")}
    page.locator("#query").fill("cool_down")
    page.wait_for_url("**/search.html#q=cool_down")
    page.locator("#results a").first.click()
    assert page.url.endswith("it/fields.html#manifest.run.cool_down_s")
    assert page.evaluate("document.querySelector(':target').id") == "manifest.run.cool_down_s"


def test_what_is_searched_for_is_text(open_page: Open) -> None:
    """H1: markup in the address or in the field is looked for, never run."""
    page = open_page("en/search.html", "#q=%3Cimg%20src=x%20onerror=%22document.title='ran'%22%3E")
    assert page.locator("#query").input_value().startswith("<img")
    _search(page, "</script><b>batch</b>")
    assert page.title().startswith("Search these pages")
    assert page.locator("main img, main b").count() == 0


def test_the_keyboard_reaches_the_text_and_the_parts(open_page: Open) -> None:
    """H4: the first stop leads past the navigation, the next ones through it, each with a visible mark."""
    page = open_page("en/method/durations.html")
    reached = []
    for _ in range(13):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached[0] == "Skip to the text"
    assert reached[1:5] == ["GPU Decision Lab", "English", "Français", "Italiano"]
    assert reached[5:] == ["Method", "How to", "Fields", "Errors", "Calculator", "Example", "Downloads", "Search"]
    page.locator(".skip").press("Enter")
    assert page.url.endswith("#main")


def test_the_language_switch_keeps_the_subject(open_page: Open) -> None:
    """From a page to the same page, and back into the calculator of that language."""
    page = open_page("en/method/window.html")
    page.get_by_role("link", name="Italiano").click()
    assert page.locator("h1").inner_text() == "Scegliere la finestra"
    page.get_by_role("navigation", name="Parti del sito").get_by_role("link", name="Calcolatore").click()
    assert page.locator("html").get_attribute("lang") == "it"
    page.locator(".top a").first.click()
    assert page.url.endswith("/it/index.html")


def test_paper_has_the_text_and_nothing_to_press(open_page: Open, tmp_path: Path) -> None:
    """H3: on A4 the navigation is gone, and every field of the dictionary is there, none cut."""
    page = open_page("fr/fields.html")
    page.emulate_media(media="print")
    assert page.locator(".parts").is_hidden()
    names = page.locator("tbody th").all_inner_texts()
    page.pdf(path=str(tmp_path / "fields.pdf"), prefer_css_page_size=True)
    read = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "fields.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    bare = "".join(read.split())
    assert len(names) > 140
    assert [one for one in names if one[:9] not in bare] == []
    assert read.count("\f") < 30


def test_without_scripts_the_search_says_so(browser: Browser, site: Path) -> None:
    """Every other page is whole without scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "it/search.html").as_uri())
    assert page.locator("noscript .refusal").is_visible()
    page.goto((site / "it/errors.html").as_uri())
    assert page.locator(".error").count() > 150
    context.close()
