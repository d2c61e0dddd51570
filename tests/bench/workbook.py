"""What appending and reading cost: `python tests/bench/workbook.py` prints ratios; no test asserts a time.

Appending one row to 5,000 beside openpyxl loading and saving the same file (the product promises a tenth at most), and
reading 20,000 rows whole, checked and as records, beside python-calamine reading the values of that sheet alone (twice
at most). Each pair is run in turn in one process, and the smallest time of each is kept, which a busy machine disturbs
least; the processor's time is printed too, since the reader works in two threads.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from openpyxl import load_workbook
from python_calamine import CalamineWorkbook

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "store" / "workbook")]

from comparisons import Row, compared  # noqa: E402  (found in the line above)
from workbook_sample import attempt, content, manifest, write  # noqa: E402  (as above)

from lab.store.workbook import append_attempts, read_workbook  # noqa: E402  (as above)

APPENDED_TO, READ = 5_000, 20_000
APPEND_LIMIT, READ_LIMIT = 0.1, 2.0
Timed = tuple[float, float]  # seconds on the clock, seconds of the processor


def made(path: Path, rows: int) -> Path:
    """A workbook of so many measured attempts: ids, moments, durations, paths and hashes differ from row to row."""
    measured = (
        attempt(
            "b1",
            number,
            started_at=f"2026-11-{1 + number // 1000:02d}T17:{number // 60 % 60:02d}:{number % 60:02d}+00:00",
            duration_s=98.123456 + number / 1000,
            load_s=3.25,
            peak_allocated_bytes=2**31 + number,
            environment=f"{number % 5:012x}",
            predictions_path=f"attempts/b1_tickets_r{number}/predictions.jsonl",
            predictions_sha256=f"{number:064x}",
            seal="a" * 64,
        )
        for number in range(1, rows + 1)
    )
    return write(path, "en", replace(content(), rows=tuple(measured)))


def timed(work: Callable[[], object]) -> Timed:
    """How long one piece of work takes."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def in_turn(first: Callable[[], object], second: Callable[[], object], times: int) -> tuple[Timed, Timed]:
    """The smallest times of two pieces of work, run in turn."""
    found = [(timed(first), timed(second)) for _ in range(times)]
    ours = min(one[0][0] for one in found), min(one[0][1] for one in found)
    theirs = min(one[1][0] for one in found), min(one[1][1] for one in found)
    return ours, theirs


def shown(title: str, ours: Timed, theirs: Timed) -> str:
    """One line: both times and their ratio, by the clock and by the processor."""
    clock = f"{ours[0]:.3f} s / {theirs[0]:.3f} s = {ours[0] / theirs[0]:.3f}"
    return f"{title}: {clock}; processor {ours[1]:.3f} s / {theirs[1]:.3f} s = {ours[1] / theirs[1]:.3f}\n"


Pair = tuple[str, str, Timed, Timed]  # what, the baseline's name, our times, its times


def measured(appended_to: int, read_rows: int, times: tuple[int, int]) -> list[Pair]:
    """Appending and reading beside their baselines, each pair so many times in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = made(folder / "campaign.xlsx", appended_to)
        copy = Path(shutil.copy(path, folder / "other.xlsx"))
        numbers = iter(range(appended_to + 1, appended_to + 100))

        def append() -> None:
            if append_attempts(path, [attempt("b1", next(numbers))], "en").fault:
                raise RuntimeError

        def load_and_save() -> None:
            load_workbook(copy).save(copy)

        append()  # what is imported once
        title = f"append one row to {appended_to:,}"
        appending: Pair = (title, "openpyxl load and save", *in_turn(append, load_and_save, times[0]))

        path = made(folder / "read.xlsx", read_rows)
        declared = manifest()

        def read() -> None:
            if len(read_workbook(path, declared).rows) != read_rows:
                raise RuntimeError

        def calamine() -> None:
            CalamineWorkbook.from_path(path).get_sheet_by_name("raw-results").to_python()

        title = f"read {read_rows:,} rows whole"
        return [appending, (title, "python-calamine alone", *in_turn(read, calamine, times[1]))]


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table; the promises are for the full sizes."""
    found = measured(500, 2_000, (2, 3)) if quick else measured(APPENDED_TO, READ, (3, 7))
    limits = (None, None) if quick else (APPEND_LIMIT, READ_LIMIT)
    return [
        compared(f"workbook: {title}", ours[0], baseline, theirs[0], limit)
        for (title, baseline, ours, theirs), limit in zip(found, limits, strict=True)
    ]


def main() -> None:
    """Print both ratios."""
    for title, baseline, ours, theirs in measured(APPENDED_TO, READ, (3, 7)):
        sys.stdout.write(shown(f"{title} / {baseline}", ours, theirs))


if __name__ == "__main__":
    main()
