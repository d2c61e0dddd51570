"""How merge, check, judge and report grow with a campaign: 20 variants x 25 passes from 2 folders, 200 x 25 from 20.

`python tests/bench/large_campaign.py` builds both campaigns as machines would leave them (one folder a machine, each
with ten variants, its own workbook and predictions), merges each into the folder of the campaign, then checks, judges
and reports it, both in one run, in turn. Told is the time at 5,000 attempts over that at 500: ten times the rows
and about 10 when linear; the limit is 11. By the processor's seconds, since other programs may run. Then how soon
the page of the large one can be used.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "campaigns")]

from campaign_folders import Plan, build, changed, protocol, right, rounds  # noqa: E402  (as above)
from comparisons import Row, compared, plain_table  # noqa: E402  (found in the line above)
from report import PAGE_LIMIT, opened  # noqa: E402  (as above)

from lab import pipeline  # noqa: E402  (as above)
from lab.checks import check  # noqa: E402
from lab.exchange.merge import merge  # noqa: E402

PASSES, VARIANTS_OF_A_MACHINE, CARDS = 25, 10, ("rtx-4090", "b200")
SMALL, LARGE = 500, 5_000
LIMIT = 11.0
OPENED = 2  # times the page is opened: the best is told
LANGUAGE = "en"
Times = tuple[float, float]  # clock seconds, processor seconds


def machines(folder: Path, attempts: int) -> tuple[Path, list[Path]]:
    """A campaign with nothing measured, and the folders of the machines that measured it: `attempts` in all.

    Durations differ from variant to variant and from pass to pass; one variant in ten answers a quarter wrongly, one
    pass in fifty runs out of time.
    """
    names = [f"v{number:03}" for number in range(attempts // PASSES)]
    variants = {
        name: {"gpu": CARDS[place // VARIANTS_OF_A_MACHINE % 2], "batch_size": 1 + place}
        for place, name in enumerate(names)
    }
    terms = protocol(repetitions=PASSES)
    home = build(folder / "campaign", Plan((), variants=variants, protocol=terms))
    sources = []
    for first in range(0, len(names), VARIANTS_OF_A_MACHINE):
        own = names[first : first + VARIANTS_OF_A_MACHINE]
        passes = rounds({name: _durations(first + place) for place, name in enumerate(own)})
        passes = changed(passes, own[-1], answers=_a_quarter_wrong)
        source = folder / f"machine-{first // VARIANTS_OF_A_MACHINE:02}"
        sources.append(build(source, Plan(passes, variants=variants, protocol=terms)))
    return home, sources


def _durations(variant: int) -> Sequence[float | str]:
    usual = 10 + variant % 37
    return [
        "timed_out" if (variant * PASSES + number) % 50 == 0 else usual + (number * 7 + variant) % 25 / 100
        for number in range(PASSES)
    ]


def _a_quarter_wrong() -> list[dict[str, object]]:
    return right(range(0, 40, 4))


def timed(act: Callable[[], object]) -> Times:
    """Clock and processor seconds of `act`."""
    clock, processor = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - clock, time.process_time() - processor


def measure(folder: Path, attempts: int) -> tuple[dict[str, Times], Times | None]:
    """What each step takes for a campaign of so many attempts, in the order in which they are run, and its page.

    The page in seconds until it can be used; None without Chromium.
    """
    with mock.patch("os.fsync"):  # what is built for a bench need not survive a power cut
        home, sources = machines(folder, attempts)
    acts: Mapping[str, Callable[[], object]] = {
        "merge": lambda: merge(home, sources),
        "check": lambda: check(home),
        "judge": lambda: pipeline.judge(home),
        "report": lambda: pipeline.report(home),
    }
    took = {name: timed(act) for name, act in acts.items()}
    return took, opened(home / "report" / "v1" / f"decision-note.{LANGUAGE}.html", OPENED)


def rows(*, quick: bool = False) -> list[Row]:
    """The growth of each step as rows of the suite's table, by the processor's seconds."""
    small, large = (100, 500) if quick else (SMALL, LARGE)
    found = []
    for size in (small, large):
        with tempfile.TemporaryDirectory() as name:
            found.append(measure(Path(name), size))
    limit = None if quick else LIMIT
    (before, _), (after, page) = found
    told = [
        compared(f"{step}: {large:,} attempts, processor", after[step][1], f"{small:,} attempts", took[1], limit)
        for step, took in before.items()
    ]
    if page:
        variants = large // PASSES
        told.append(compared(f"page of {variants} variants, until usable", page[0], "one second", 1.0, PAGE_LIMIT))
    return told


def main() -> None:
    """Print how each step grows."""
    sys.stdout.write(plain_table(rows()))


if __name__ == "__main__":
    main()
