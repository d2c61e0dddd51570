"""The benchmark suite: one bench prints its table, and every bench is in the list."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "tests" / "bench"


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable}
    return subprocess.run(
        [BENCH / "run", *arguments], env=environment, capture_output=True, encoding="utf-8", check=False
    )


def test_a_quick_bench_prints_its_table() -> None:
    """`tests/bench/run --quick start_up` prints each command beside its baseline, with ratio, limit and verdict."""
    ended = _run("--quick", "start_up")
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("small sizes, ")
    assert lines[2].split() == ["what", "ours", "beside", "ratio", "limit", "holds"]
    rows = {line.partition("  ")[0]: line for line in lines[4:] if line.startswith("start-up: ")}
    assert list(rows) == ["start-up: calcul_forfaits.py", "start-up: lab --help", "start-up: lab price"]
    assert "a bare typer program's help: " in rows["start-up: lab price"]
    assert "≤ 1.5" in rows["start-up: lab price"]
    assert ended.returncode == int(any(line.endswith("NO") for line in lines)), ended.stderr
    assert lines[-1] == "no report: it comes with the bench `itself`"


def test_every_bench_is_listed() -> None:
    """Each file of `tests/bench` that gives rows is named by `--list`; beside them, the campaign of the tool itself."""
    giving = {path.stem for path in BENCH.glob("*.py") if "\ndef rows(" in path.read_text(encoding="utf-8")}
    listed = [line.split()[0] for line in _run("--list").stdout.splitlines()]
    assert sorted(listed) == sorted({*giving, "itself"})


def test_an_unknown_bench_is_refused() -> None:
    """A name that is no bench ends with exit code 2 and the names that there are."""
    ended = _run("--quick", "nothing")
    assert ended.returncode == 2
    assert "start_up" in ended.stderr
