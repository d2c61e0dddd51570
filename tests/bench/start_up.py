"""How fast the price commands start: `python tests/bench/start_up.py` prints ratios; no test asserts a time.

`calcul_forfaits.py` beside `python -c pass`; `lab --help` and `lab price` beside the help of a bare typer program with
as many commands: the smaller program is what cannot be avoided. Each pair is run in turn, and the smallest time of each
is kept, which a busy machine disturbs least. The product's limit for the last two is 1.5.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from comparisons import Row, compared, plain_table

from lab.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
RUNS, QUICK_RUNS = 20, 3
LIMIT = 1.5
PRICE = ("--gpu", "rtx-4090", "--days", "7", "--lots", "2")
BARE = f"""
import typer
app = typer.Typer()
for name in {[command.name for command in COMMANDS]!r}:
    app.command(name, help=name)(lambda text="": None)
app(["--help"])
"""


def seconds(command: list[str], folder: Path) -> float:
    """Wall time of one run."""
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begun


def smallest(first: list[str], second: list[str], folder: Path, runs: int = RUNS) -> tuple[float, float]:
    """The smallest time of each, run in turn."""
    times = [(seconds(first, folder), seconds(second, folder)) for _ in range(runs)]
    return min(one for one, _ in times), min(one for _, one in times)


def rows(*, quick: bool = False) -> list[Row]:
    """The ratios as rows of the suite's table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "lab" / "calcul_forfaits.py", folder)
        shutil.copy(ROOT / "workbook" / "tarifs-forfaits.csv", folder)
        help_of_typer = "a bare typer program's help"
        pairs = {
            ("calcul_forfaits.py", "python -c pass", None): (
                [sys.executable, "calcul_forfaits.py", *PRICE], [sys.executable, "-c", "pass"], folder,
            ),
            ("lab --help", help_of_typer, LIMIT): (
                [sys.executable, "-m", "lab", "--help"], [sys.executable, "-c", BARE], ROOT,
            ),
            ("lab price", help_of_typer, LIMIT): (
                [sys.executable, "-m", "lab", "price", *PRICE], [sys.executable, "-c", BARE], ROOT,
            ),
        }  # fmt: skip
        found = []
        for (title, baseline, limit), (ours, bare, where) in pairs.items():
            mine, least = smallest(ours, bare, where, QUICK_RUNS if quick else RUNS)
            found.append(compared(f"start-up: {title}", mine, baseline, least, limit))
        return found


def main() -> None:
    """Print the ratios."""
    sys.stdout.write(plain_table(rows()))


if __name__ == "__main__":
    main()
