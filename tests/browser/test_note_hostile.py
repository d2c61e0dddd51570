"""Every text that a person or a file can supply is hostile at once: nothing runs, nothing is fetched, all is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import report_campaigns as made
from playwright.sync_api import Browser

from lab.report.versions import publish

PAGES = ("v1/en.html", "v1/fr.html", "v1/decision-note.it.html", "index.en.html")
NOTES = """# <script>document.title='ran'</script>

<img src=https://example.org/a.png onerror=document.title='ran'> ![x](https://example.org/b.png)
[one](javascript:document.title='ran') [two](data:text/html,x) <a href="x" onclick="document.title='ran'">three</a>
<iframe src="https://example.org/"></iframe><style>body{display:none}</style>
[four]: https://example.org/c "x"
<svg/onload=document.title='ran'>

| a | b |
|---|---|
| `</script>` | **bold** |
"""
WATCHED = """
window.ran = [];
window.alert = () => window.ran.push("alert");
"""


def _hostile() -> dict[str, Any]:
    """The document of `made.hostile()`, whose ids, which a manifest would refuse, are hostile too."""
    text = json.dumps(made.document(made.hostile()))
    for name in ("b1", "b4", "b8", "tickets", "accuracy", "torch", "batch_size"):
        text = text.replace(json.dumps(name), json.dumps(f"{name}{made.HOSTILE}"))
    document: dict[str, Any] = json.loads(text)
    for one in document["attempts"]:
        one["attempt_id"] += made.HOSTILE
        one["predictions_path"] = "../../" + made.HOSTILE
    document["settings"]["different"] = {"batch_size": {f"b1{made.HOSTILE}": made.HOSTILE}}
    return document


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published report of that document."""
    folder = tmp_path_factory.mktemp("hostile")
    publish(folder, _hostile(), {"en": NOTES, "fr": NOTES, "it": NOTES})
    return folder / "report"


@pytest.mark.parametrize("name", PAGES)
def test_nothing_runs_and_nothing_is_requested(browser: Browser, report: Path, name: str) -> None:
    """H1 and H2: after the load, with every fold open and every link of the page's own followed."""
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script(WATCHED)
    page.goto((report / name).as_uri(), wait_until="load")
    page.wait_for_selector(".chart:not([data-drawn])", state="detached")
    title = page.title()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate("document.querySelectorAll('#attempts tbody a').forEach((one) => one.click())")
    assert page.title() == title != "ran"
    assert page.evaluate("window.ran") == []
    assert [url for url in requests if not url.startswith(report.as_uri())] == []
    assert page.locator("img, iframe, object, main svg[onload]").count() == 0
    links = page.evaluate("[...document.querySelectorAll('a[href]')].map((one) => one.protocol)")
    assert set(links) <= {"file:", "https:"}
    page.close()


def test_what_was_written_is_there_to_read(browser: Browser, report: Path) -> None:
    """Shown as text, in the table and in the author's words."""
    page = browser.new_page()
    page.goto((report / "v1/en.html").as_uri(), wait_until="load")
    page.wait_for_selector(".chart:not([data-drawn])", state="detached")
    assert made.HOSTILE in (page.locator("#attempts tbody th a").first.text_content() or "")
    said = page.locator(".prose").first.inner_text()
    assert "<script>" in said
    assert "bold" in said
    page.close()
