"""What the tests of the calculator share: catalogues, links and ways to read its page."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

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
TASKS = (
    "#gpu=4090&lots=2&task=2026-10-23T09:00~2026-10-23T18:00~Prepare&task=2026-10-23T14:00~2026-10-25T09:00~Run"
    "&task=2026-10-27T08:00~2026-10-27T09:00~Collect&tz=Europe/Paris"
)
FULL = PARIS + "&accepted-results=3&quality=1&hourly=0.69"


def package(page: Page, days: str) -> str:
    """The text of one column of the comparison."""
    return page.locator("#packages > li").filter(has=page.get_by_role("heading", name=days, exact=True)).inner_text()


def drop(page: Page, name: str, text: str) -> None:
    """Hand a file to the page."""
    page.locator("#files").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})
