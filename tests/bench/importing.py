"""Time and memory of importing large files: `python tests/bench/importing.py [MB ...]` prints a line a size.

Files are written as vLLM (`serve --save-detailed`, one list of gaps a request) and codecarbon (a row a run) write them.
Each is imported in a process of its own, whose peak is read afterwards. Linear is: seconds and bytes per megabyte stay
the same as the file doubles. The last column is the same against the first size of its kind.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_HERE = Path(__file__).resolve()
sys.path[:0] = [str(_HERE.parents[2]), str(_HERE.parents[1] / "campaigns"), str(_HERE.parents[1] / "formats")]

from comparisons import Row, compared  # noqa: E402  (found in the line above)

_SIZES = (12.5, 25.0, 50.0)
_MEGA = 10**6
_PER_REQUEST = 200


def main() -> None:
    """Import each kind in each size, and print what it took."""
    sizes = [float(one) for one in sys.argv[1:]] or _SIZES
    # A row of codecarbon is an attempt, with a folder and a row of the workbook: a file of them is never so large.
    for kind, part in (("vllm", 1), ("codecarbon", 25)):
        first: tuple[float, float] | None = None
        for size in (one / part for one in sizes):
            seconds, peak, attempts = _measured(kind, size)
            now = (seconds / size, peak / size)
            first = first or now
            took = f"{seconds:7.2f} s of the processor, {peak / _MEGA:5.0f} MB more than an empty import"
            against = (
                f"a megabyte against the first: time x{now[0] / first[0]:.2f}, memory x{now[1] / max(first[1], 1):.2f}"
            )
            print(f"{kind:10} {size:5.1f} MB, {attempts} attempts: {took}; {against}", flush=True)  # noqa: T201  (a bench prints)


def rows(*, quick: bool = False) -> list[Row]:
    """Time and memory of each kind at the largest size beside the smallest, for the suite's table."""
    small, large = (2.5, 5.0) if quick else (_SIZES[0], _SIZES[-1])
    found = []
    for kind, part in (("vllm", 1), ("codecarbon", 25)):
        first, last = (_measured(kind, size / part) for size in (small, large))
        name, beside = f"import: {large / part:g} MB of {kind}", f"{small / part:g} MB"
        found.append(compared(f"{name}, processor", last[0], beside, first[0]))
        memory = [f"{one[1] / _MEGA:.0f} MB" for one in (last, first)]
        growth = last[1] / first[1] if first[1] > 0 else None
        found.append(Row(f"{name}, memory", memory[0], f"{beside}: {memory[1]}", growth))
    return found


def _measured(kind: str, size: float) -> tuple[float, float, int]:
    with tempfile.TemporaryDirectory() as name:
        at = Path(name)
        small, large = _file(at / "small", kind, 0.01), _file(at / "large", kind, size)
        empty, full = _imported(at / "a", small), _imported(at / "b", large)
        return full[0], full[1] - empty[1], int(full[2])


def _imported(at: Path, path: Path) -> tuple[float, float, float]:
    """Seconds, peak bytes and attempts of one import, in a process of its own."""
    command = [sys.executable, str(_HERE), "--one", str(at), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak, attempts = json.loads(ended.stdout)
    return seconds, peak, attempts


def _one(at: Path, path: Path) -> None:
    from campaign_folders import Plan, build

    from lab.exchange.importing import Asked, bring_in

    folder = build(at, Plan(()))
    begin = time.process_time()
    found = bring_in(folder, [path], Asked(("b1",), ended="completed"), plan=path.suffix == ".csv")
    seconds = time.process_time() - begin
    # Not `ru_maxrss`, which a new program inherits from the one that started it.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    sys.stdout.write(json.dumps([seconds, peak, len(found.records)]))


def _file(path: Path, kind: str, size: float) -> Path:
    """A file of about `size` megabytes; the same numbers each time."""
    from foreign import emissions, serving

    draw = random.Random(0)  # noqa: S311  (numbers to fill a file)
    if kind == "codecarbon":
        found = path.with_suffix(".csv")
        row = len(emissions(("p", "r000000000", 10.123456, 0.001))) - len(emissions())
        rows = [("p", f"r{n:09}", round(draw.uniform(9, 11), 6), 0.001) for n in range(int(size * _MEGA / row) + 1)]
        found.write_text(emissions(*rows), encoding="utf-8")
        return found
    found = path.with_suffix(".json")
    gaps = int(size * _MEGA / 21) + _PER_REQUEST
    requests = gaps // _PER_REQUEST
    between = [[draw.uniform(0.01, 0.05) for _ in range(_PER_REQUEST)] for _ in range(requests)]
    content = serving(
        num_prompts=requests, completed=requests, duration=3600.0, ttfts=[0.3] * requests, itls=between,
        errors=[""] * requests, generated_texts=[""] * requests,
    )  # fmt: skip
    found.write_text(json.dumps(content), encoding="utf-8")
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        _one(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
