"""How long the note of a large campaign takes beside reading its workbook, and how soon its page can be used.

`PYTHONPATH=.:tests/report python tests/bench/report.py 100 1000 5000`. For each size: a workbook of so many attempts is
written and read; the note is made from the document (view, charts and one self-contained page, in one language), then
everything is published (three languages, both forms, `decision.json`). Times are the best of the rounds, in turn, with
the processor's seconds beside the clock's, since other programs may run. The page is opened in Chromium, when there is
one: until its load event, by which the table can be sorted; the charts are drawn after it, when the page is idle. No
test asserts a time.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import report_campaigns as made
from comparisons import Row, compared

from lab.model.campaign import Campaign
from lab.report.document_plain import Json
from lab.report.render import read_assets, standalone_note
from lab.report.versions import publish
from lab.report.view import note
from lab.store.workbook import write_workbook
from lab.store.workbook.content import empty_content
from lab.store.workbook.read import read_workbook

Times = tuple[float, float]  # clock seconds, processor seconds
VARIANTS = {"b1": 41.0, "b4": 24.6, "b8": 24.2}
SIZES = (100, 1000, 5000)
NOTE_LIMIT, PAGE_LIMIT = 3.0, 2.0  # at the largest size: times the workbook's reading; seconds
LOST = 0.02  # of the attempts do not complete
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"


def campaign(size: int) -> Campaign:
    """A campaign of `size` attempts of three variants."""
    chance = random.Random(size)  # noqa: S311  (figures of a bench, no secret)

    def passes(seconds: float) -> tuple[float | None, ...]:
        count = size // len(VARIANTS)
        return tuple(None if chance.random() < LOST else chance.gauss(seconds, seconds / 50) for _ in range(count))

    durations = {name: passes(seconds) for name, seconds in VARIANTS.items()}
    return made.campaign(durations, outcome="timed_out", protocol=made.protocol(repetitions=size // len(VARIANTS)))


def timed(act: Callable[[], object]) -> Times:
    """Clock and processor seconds of `act`."""
    clock, processor = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - clock, time.process_time() - processor


def measure(size: int, rounds: int, folder: Path) -> dict[str, Times]:
    """The best time of each, taken in turn."""
    whole = campaign(size)
    workbook = folder / "campaign.xlsx"
    rows = tuple(one.attempt for one in whole.records)
    write_workbook(workbook, replace(empty_content(whole.manifest), protocol=whole.protocol, rows=rows), whole.manifest)
    document: Json = {**made.document(whole), "report_version": 1}
    assets = read_assets()

    def published() -> None:
        shutil.rmtree(folder / "report", ignore_errors=True)
        publish(folder, document, {})

    acts: dict[str, Callable[[], object]] = {
        "workbook": lambda: read_workbook(workbook, whole.manifest),
        "note": lambda: standalone_note(note(document, "en"), (), assets),
        "publish": published,
    }
    found = {name: [timed(act)] for name, act in acts.items()}
    for _ in range(rounds - 1):
        for name, act in acts.items():
            found[name].append(timed(act))
    return {name: (min(one for one, _ in times), min(one for _, one in times)) for name, times in found.items()}


def opened(page_file: Path, rounds: int) -> Times | None:
    """Until the page's load event, and the processor's seconds of its main thread, the best; None without Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    times: list[Times] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(rounds):
            page = browser.new_page()
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(page_file.as_uri(), wait_until="load")
            page.wait_for_timeout(50)
            metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            times.append((float(page.evaluate(LOADED)), float(metrics["TaskDuration"])))
            page.close()
        browser.close()
    return min(one for one, _ in times), min(one for _, one in times)


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table; the promise is for 5,000 attempts (issue "The decision note")."""
    given = []
    for size in (100,) if quick else SIZES:
        with tempfile.TemporaryDirectory() as name:
            found = measure(size, 1 if quick else 2, Path(name))
            page = opened(Path(name) / "report" / "v1" / "decision-note.en.html", 2)
        limits = (NOTE_LIMIT, PAGE_LIMIT) if size == SIZES[-1] else (None, None)
        read = found["workbook"][0]
        beside = ("reading its workbook", read)
        given.append(compared(f"report: the note of {size:,} attempts", found["note"][0], *beside, limits[0]))
        given.append(compared(f"report: all of {size:,} published", found["publish"][0], *beside))
        if page:
            given.append(compared(f"report: its page of {size:,}, until usable", page[0], "one second", 1.0, limits[1]))
    return given


def main() -> None:
    """Measure each size and print one block of lines for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for size in asked.sizes:
        with tempfile.TemporaryDirectory() as name:
            found = measure(size, asked.rounds, Path(name))
            version = Path(name) / "report" / "v1"
            page = opened(version / "decision-note.en.html", asked.rounds)
            sizes = {one: (version / one).stat().st_size / 1e6 for one in ("en.html", "decision.json")}
        print(f"{size:,} attempts")  # noqa: T201  (a bench prints)
        for key, (clock, processor) in found.items():
            print(f"  {key:8} {clock:.3f} s (processor {processor:.3f} s)")  # noqa: T201  (as above)
        for key in ("note", "publish"):
            ratios = [found[key][place] / found["workbook"][place] for place in (0, 1)]
            print(f"  {key} / workbook: {ratios[0]:.2f} by the clock, {ratios[1]:.2f} by the processor")  # noqa: T201  (as above)
        told = "{:.2f} s until it can be used (processor {:.2f} s)".format(*page) if page else "no Chromium"
        print(f"  page     {told}")  # noqa: T201  (as above)
        print(f"  {', '.join(f'{one} {size:.1f} MB' for one, size in sizes.items())}")  # noqa: T201  (as above)


if __name__ == "__main__":
    main()
