"""The phases that a program marks while it runs, and the columns that they are the seconds of.

The program appends a line to the path in the environment variable `LAB_PHASES` whenever a phase begins: the name of the
phase, nothing else, written out at once. `echo measure >> "$LAB_PHASES"` does it in a shell. The line is stamped when
it arrives, by the same clock as everything else. A phase lasts until the next mark or the program's end; one that comes
again adds up. What comes before the first mark is the program's own start and counts as `load`; `end` begins no phase.

A program that marks anything marks `measure`: that is the main duration, from reading the corpus to the last prediction
(seeds: separating start, warm-up and measured pass), and nothing else is. Without marks it is the whole run.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Final

from lab.workloads.base import WorkloadError

PHASES_VARIABLE: Final = "LAB_PHASES"
MAIN: Final = "measure"
END: Final = "end"
COLUMNS: Final = {
    "download": "download_s",
    "install": "install_s",
    "load": "load_s",
    "compile": "compile_s",
    "warm_up": "warm_up_s",
    MAIN: "duration_s",
    "evaluate": "evaluate_s",
    "export": "export_s",
}
_STARTING: Final = "load"
_SHOWN: Final = 20
_LONGEST: Final = 4096  # bytes of a line: a longer one is no name


class PhaseMarks:
    """The marks of one run, in the order they came.

    Attributes:
        unknown: the first line that names no phase; empty while there is none.
        known: the names there are.
    """

    known: Final = (*COLUMNS, END)

    def __init__(self) -> None:
        """Start without a mark."""
        self._rest = b""
        self._marks: list[tuple[float, str]] = []
        self.unknown = ""

    def take(self, data: bytes) -> None:
        """Stamp the lines that are whole now; blank ones are none."""
        now = time.perf_counter()
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in (*whole, self._rest) if len(self._rest) > _LONGEST else whole:
            name = line.decode("utf-8", "replace").strip()
            if name in self.known:
                self._marks.append((now, name))
            elif name:
                self.unknown = self.unknown or name

    def durations(self, began: float, ended: float) -> dict[str, float]:
        """Seconds by column of a program that ran from `began` to `ended`; without marks the whole of it is the main.

        Raises:
            WorkloadError: there are marks, and none of them begins the main duration.
        """
        names = {name for _, name in self._marks}
        if names and MAIN not in names:
            raise WorkloadError("phase_main_missing", name=MAIN, found=sorted(names))
        begins = [(began, _STARTING if names else MAIN), *self._marks, (ended, END)]
        seconds: dict[str, float] = {}
        for (start, name), (stop, _) in pairwise(begins):
            if name != END:
                seconds[name] = seconds.get(name, 0.0) + max(0.0, stop - start)
        return {COLUMNS[name]: round(value, 6) for name, value in seconds.items()}

    def text(self, began: float) -> str:
        """The first marks and how many seconds after `began` each came; empty without any."""
        return ", ".join(f"{name} {moment - began:.6f}" for moment, name in self._marks[:_SHOWN])
