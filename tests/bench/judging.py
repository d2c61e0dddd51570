"""How long judging a large predictions file takes beside a bare query, and how much memory it holds.

`python tests/bench/judging.py 1000000 10000000`. For each size, in a process of its own: the corpus is read into its
table, the predictions are judged against it, and `judging.sql` does the same joins and counts over the same file and
the same table. Times are the best of the rounds, in turn, with the processor's seconds beside the clock's, since other
programs may run; memory is the most that the whole process held until then. Reading the corpus into its table is a line
of its own and no part of judging; its fingerprint is held against the system's `sha256sum` on the same file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from comparisons import Row, compared

from lab.model.manifest import CorpusSpec
from lab.store.corpus import StoredCorpus, open_corpus
from lab.store.files import sha256_file
from lab.store.predictions import examine, stored

SIZES = (100_000, 1_000_000, 10_000_000)
RATIO_LIMIT, GROWTH_LIMIT = 1.5, 11.0  # of the bare query, from a million on; of a million to a hundred thousand
FINGERPRINT_LIMIT = 2.0  # times what sha256sum takes: half its speed
LABELS = ("billing", "bug", "login", "refund")
SQL = Path(__file__).with_suffix(".sql")
SPEC = CorpusSpec(id="c", path="corpus.jsonl", reference_column="label", labels=LABELS, groups=("length",))
Times = tuple[float, float]  # clock seconds, processor seconds


def make(folder: Path, size: int, *, scores: bool, shuffled: bool) -> None:
    """A corpus of `size` inputs and predictions of which 19 in 20 are right."""
    chance = random.Random(size)  # noqa: S311  (figures of a bench, no secret)
    order = list(range(size))
    if shuffled:
        chance.shuffle(order)
    answers = bytes(chance.randrange(len(LABELS)) for _ in range(size))
    with (folder / SPEC.path).open("w", encoding="ascii") as corpus:
        for one in range(size):
            row = {"id": f"ticket-{one:08}", "text": f"text {one}", "label": LABELS[answers[one]]}
            corpus.write(json.dumps({**row, "length": "long" if one % 3 else "short"}) + "\n")
    with (folder / "predictions.jsonl").open("w", encoding="ascii") as predictions:
        for one in order:
            right = chance.random() < 0.95
            row = {"id": f"ticket-{one:08}", "prediction": LABELS[answers[one]] if right else chance.choice(LABELS)}
            given = {"scores": {label: round(chance.random(), 6) for label in LABELS}} if scores else {}
            predictions.write(json.dumps({**row, **given}) + "\n")


def timed(act: Callable[[], object]) -> Times:
    """Clock and processor seconds of `act`, all of the process's threads together."""
    clock, processor = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - clock, time.process_time() - processor


def measure(folder: Path, size: int, rounds: int, answer: multiprocessing.SimpleQueue[dict[str, object]]) -> None:
    """Read the corpus, then judge and query in turn; runs in a process of its own."""
    found: dict[str, object] = {}
    kept: list[StoredCorpus] = []
    found["corpus"] = timed(lambda: kept.append(stored(open_corpus(folder, SPEC))))
    corpus, path = kept[0], folder / "predictions.jsonl"
    evidence = examine(path, corpus, LABELS, "0" * 64, large=0)
    if (evidence.observed, evidence.missing, sum(evidence.confusion.values())) != (size, 0, size):
        raise AssertionError(evidence)
    found["memory_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    query = SQL.read_text(encoding="utf-8").replace("{predictions}", "'" + str(path).replace("'", "''") + "'")

    def bare() -> None:
        with corpus.table.connected() as database:
            database.execute(query).fetchall()

    judging, queries = [], []
    for _ in range(rounds):
        judging.append(timed(lambda: examine(path, corpus, LABELS, "0" * 64, large=0)))
        queries.append(timed(bare))
    found["judging"], found["bare"] = (tuple(map(min, zip(*each, strict=True))) for each in (judging, queries))
    source = folder / SPEC.path
    fingerprints = [timed(lambda: sha256_file(source)) for _ in range(rounds)]
    system = [_clock(["sha256sum", str(source)]) for _ in range(rounds)]
    found["fingerprint"] = tuple(map(min, zip(*fingerprints, strict=True)))
    found["sha256sum"] = min(system)
    answer.put(found)


def _clock(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def measured(size: int, rounds: int, *, scores: bool, shuffled: bool) -> dict[str, object]:
    """What `measure` found, in a process of its own, so that its memory is of this size alone."""
    start = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), size, scores=scores, shuffled=shuffled)
        answer = start.SimpleQueue()
        process = start.Process(target=measure, args=(Path(name), size, rounds, answer))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(f"{size}: the measuring process ended with {process.exitcode}")
        return answer.get()


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table; the promises are for a million and for ten million."""
    sizes = (10_000, 100_000) if quick else SIZES
    given = []
    seconds: dict[int, float] = {}
    for size in sizes:
        found = measured(size, 3 if size < SIZES[-1] else 1, scores=False, shuffled=False)
        seconds[size] = found["judging"][0]
        name, limit = f"judging {size:,}", RATIO_LIMIT if size >= SIZES[1] else None
        given.append(compared(name, seconds[size], "a bare DuckDB query", found["bare"][0], limit))
        if size == sizes[-1]:
            memory = found["memory_gib"]
            shown = f"{memory:.2f} GiB"
            given.append(Row(f"{name}: most memory", shown, "2 GiB", memory / 2, 1.0 if size == SIZES[-1] else None))
            both = (found["fingerprint"][0], "sha256sum", found["sha256sum"])
            given.append(compared(f"fingerprint of {size:,} inputs", *both, FINGERPRINT_LIMIT))
    for small, large in pairwise(sizes):
        limit = GROWTH_LIMIT if (small, large) == SIZES[:2] else None
        beside = (f"judging {small:,}", seconds[small])
        given.append(compared(f"judging {large:,}: growth", seconds[large], *beside, limit))
    return given


def main() -> None:
    """Measure each size and print one block of lines for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scores", action="store_true", help="predictions carry scores")
    parser.add_argument("--shuffled", action="store_true", help="predictions in another order than the corpus")
    asked = parser.parse_args()
    for size in asked.sizes:
        found = measured(size, asked.rounds, scores=asked.scores, shuffled=asked.shuffled)
        said = {key: "{:.2f} s (processor {:.2f} s)".format(*found[key]) for key in ("corpus", "judging", "bare")}
        clock, processor = (found["judging"][place] / found["bare"][place] for place in (0, 1))
        print(f"{size:,} predictions, scores: {asked.scores}, shuffled: {asked.shuffled}")  # noqa: T201  (a bench prints)
        for key, text in said.items():
            print(f"  {key:8} {text}")  # noqa: T201  (as above)
        print(f"  judging / bare: {clock:.2f} by the clock, {processor:.2f} by the processor")  # noqa: T201  (as above)
        speed = found["sha256sum"] / found["fingerprint"][0]
        print(f"  fingerprint: {found['fingerprint'][0]:.3f} s, {speed:.2f} times the speed of sha256sum")  # noqa: T201  (as above)
        print(f"  most memory while reading and judging: {found['memory_gib']:.2f} GiB")  # noqa: T201  (as above)


if __name__ == "__main__":
    main()
