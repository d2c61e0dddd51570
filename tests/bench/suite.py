"""All benches, one after the other, each in a process of its own; `tests/bench/run` starts it and says how."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "bench"
FOLDERS = ("", "tests/bench", "tests/report", "tests/campaigns", "tests/store/workbook", "tests/formats")
sys.path[:0] = [str(ROOT / one) for one in FOLDERS]

from comparisons import Row, markdown_table, plain_table  # noqa: E402  (found in the line above)

PROCESSORS = 2
LAST = "itself"  # the campaign of the tool itself: it carries the table of what was measured before it
BENCHES = {
    "start_up": "how fast commands start",
    "overhead": "what the harness adds to a pass",
    "throughput": "how fast ragged texts are classified",
    "workbook": "appending to the workbook and reading it",
    "report": "making the note of 100, 1,000 and 5,000 attempts, and opening its page",
    "large_campaign": "merge, check, judge and report at 500 and 5,000 attempts",
    "importing": "taking in results of other tools",
    "devices": "one pass in two processes beside one",
    "judging": "judging 100,000 to 10,000,000 predictions, and fingerprinting",
    LAST: "the compared implementations as variants of a campaign, measured by the tool, with this table in its report",
}
START = "import json, sys; from dataclasses import asdict; from {name} import rows; "
GIVE = "json.dump([asdict(row) for row in rows(quick={quick})], open(sys.argv[1], 'w'))"


def measured(name: str, *, quick: bool) -> list[Row]:
    """The rows of one bench, run in a process of its own; its failure is a row too."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "rows.json"
        code = START.format(name=name) + GIVE.format(quick=quick)
        command = [sys.executable, "-c", code, str(answer)]
        ended = subprocess.run(command, env=_environment(), stdout=subprocess.DEVNULL, check=False)
        if ended.returncode:
            return [Row(name, f"ended with exit code {ended.returncode}", "", None)]
        return [Row(**row) for row in json.loads(answer.read_text(encoding="utf-8"))]


def _environment() -> dict[str, str]:
    """No GPU, no hub, and the product of this checkout."""
    path = os.pathsep.join(str(ROOT / one) for one in FOLDERS)
    fixed = {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    return {**os.environ, **fixed, "PYTHONPATH": path}


def fewer_processors() -> int:
    """Keep this process and all it starts to two processors, where the system can; how many there are then."""
    if not hasattr(os, "sched_setaffinity"):
        return os.cpu_count() or 1
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:PROCESSORS])
    return len(os.sched_getaffinity(0))


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for, print one table, say where its report is; 1: a limit is not kept, or a bench failed."""
    parser = argparse.ArgumentParser(prog="tests/bench/run", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a bench; none: all of them")
    parser.add_argument("--quick", action="store_true", help="small sizes, in minutes")
    parser.add_argument("--list", action="store_true", help="name the benches and measure nothing")
    parser.add_argument("--out", type=Path, help="where the campaign with the table goes")
    asked = parser.parse_args(argv)
    if unknown := [name for name in asked.names if name not in BENCHES]:
        parser.error(f"no such bench: {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    if asked.list:
        sys.stdout.write("".join(f"{name:16}{what}\n" for name, what in BENCHES.items()))
        return 0
    names = [name for name in BENCHES if name in (asked.names or BENCHES)]
    processors = fewer_processors()
    found: list[Row] = []
    for name in names:
        sys.stderr.write(f"tests/bench/run: {name}: {BENCHES[name]}\n")
        if name != LAST:
            rows = measured(name, quick=asked.quick)
            sys.stderr.write("".join(f"    {' | '.join(row.cells())}\n" for row in rows))
            found += rows
    ending = f"no report: it comes with the bench `{LAST}`"
    if LAST in names:
        folder = asked.out or ROOT / ".bench" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        rows, ending = _itself(folder, found, quick=asked.quick)
        found += rows
    sizes = "small sizes" if asked.quick else "full sizes"
    sys.stdout.write(f"{sizes}, {processors} processors, no GPU, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n\n")
    sys.stdout.write(plain_table(found) + f"\n{ending}\n")
    return int(any(row.holds is False or row.ratio is None for row in found))


def _itself(folder: Path, found: Sequence[Row], *, quick: bool) -> tuple[list[Row], str]:
    """The campaign of the tool itself in `folder`, with the table so far in its report; its rows, and where it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "table.md"
        table.write_text(markdown_table(found) if found else "", encoding="utf-8")
        command = [sys.executable, str(HERE / f"{LAST}.py"), str(folder), str(table), *(["--quick"] if quick else [])]
        ended = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if ended.returncode:
        return [Row(LAST, f"ended with exit code {ended.returncode}", "", None)], f"no report: see {folder}"
    answer = json.loads(ended.stdout.splitlines()[-1])
    return [Row(**row) for row in answer["rows"]], f"report: {answer['report']}"


if __name__ == "__main__":
    sys.exit(main())
