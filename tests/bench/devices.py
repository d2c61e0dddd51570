"""How a pass divided over two processes compares with the same pass in one: the harness of `devices = n` itself.

`python tests/bench/devices.py` takes the model and the ragged texts of `throughput.py` (600 short, 300 middling, 100
long), loads and warms up one process, then two, each on one thread, and lets them process the corpus in turn, in the
same run. The labels must be the same for every text. On a machine without accelerators each process stands for a
device, so that wall time can only halve where two cores are free; what does not depend on that is the processor's time:

- *all*: processor seconds of all processes together; a ratio above 1 is what dividing the work costs.
- *slowest*: processor seconds of the busiest process: what the wall would be with a core for each. Its best is 0.50.

What is wanted: *slowest* at most 0.58 of one process, *all* at most 1.10 of it; the exit code is 1 above that.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from comparisons import Row, compared
from throughput import LONGEST, SHARES, make

from lab.measure.sharded import Sharded
from lab.model.manifest import CorpusSpec, Variant
from lab.workloads.base import Job, Sink, warm_up_inputs
from lab.workloads.text_classification import TextClassification

WANTED = {"slowest": 0.58, "all": 1.10}


def prepared(folder: Path, devices: int) -> Sharded:
    """The work over so many processes, loaded and warmed up."""
    data = {"id": "v", "model": "model", "max_length": LONGEST, "devices": devices}
    data |= {"padding": "token-budget", "token_budget": 2048}
    variant = Variant.model_validate_json(json.dumps(data))
    size = sum(count for count, _, _ in SHARES)
    job = Job(folder, variant, CorpusSpec(id="c", path="corpus.jsonl"), size, 0, 1, 32, folder / "p.jsonl")
    work = Sharded(TextClassification.name, {})
    work.prepare(job)
    work.warm_up(warm_up_inputs(list(job.inputs()), 32))
    return work


def measured(work: Sharded) -> tuple[dict[str, float], dict[str, object]]:
    """Seconds of one pass: by the wall, of all processes, of the busiest, of dividing; and the labels."""
    work.ready()
    sink = Sink(lambda _: None)
    began = time.perf_counter()
    work.run_pass(sink)
    wall = time.perf_counter() - began
    work.collect(sink)
    parts = [one.cpu_s for one in work.parts.values()]
    seconds = {"wall": wall, "all": sum(parts), "slowest": max(parts), "dividing": work.sharing_s}
    return seconds, dict(zip(sink.ids, sink.predictions, strict=True))


def run(wanted: int) -> tuple[list[dict[int, dict[str, float]]], list[dict[str, object]], list[int]]:
    """So many rounds of one process and of two in turn: their seconds, their labels, the tokens of the two shares."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        works = {devices: prepared(folder, devices) for devices in (1, 2)}
        rounds, labels = [], []
        for _ in range(wanted):
            found = {devices: measured(work) for devices, work in works.items()}
            rounds.append({devices: seconds for devices, (seconds, _) in found.items()})
            labels += [one for _, one in found.values()]
        weights = [one.size for one in works[2].parts.values()]
        for work in works.values():
            work.close()
    return rounds, labels, weights


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table."""
    rounds, labels, _ = run(1 if quick else 3)
    if any(one != labels[0] for one in labels):
        raise AssertionError("not the same labels")
    given = []
    for what, limit in WANTED.items():
        one, two = (statistics.median(each[devices][what] for each in rounds) for devices in (1, 2))
        row = compared(f"two processes: {what}, processor", two, "one process", one, limit)
        given.append(replace(row, ratio=statistics.median(each[2][what] / each[1][what] for each in rounds)))
    return given


def main(argv: Sequence[str] | None = None) -> int:
    """Run the rounds, print the table, say whether it is good enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args(argv)
    rounds, labels, weights = run(asked.rounds)
    print(f"{len(labels[0])} texts, token budget 2048, 1 thread a process, {asked.rounds} rounds")  # noqa: T201  (a bench prints)
    print(f"tokens of the two shares: {weights[0]} and {weights[1]}")  # noqa: T201  (as above)
    print(f"{'median seconds':16}{'1 process':>11}{'2 processes':>13}{'2 / 1':>8}")  # noqa: T201  (as above)
    reached = {}
    for what in ("wall", "all", "slowest", "dividing"):
        one, two = (statistics.median(each[devices][what] for each in rounds) for devices in (1, 2))
        reached[what] = statistics.median(each[2][what] / each[1][what] for each in rounds)
        print(f"{what:16}{one:11.2f}{two:13.2f}{reached[what]:8.2f}")  # noqa: T201  (as above)
    same = all(one == labels[0] for one in labels)
    print(f"labels: {'the same everywhere' if same else 'NOT the same'}")  # noqa: T201  (as above)
    return int(not same or any(reached[what] > limit for what, limit in WANTED.items()))


if __name__ == "__main__":
    sys.exit(main())
