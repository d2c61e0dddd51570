"""Appends attempts to a workbook until it is killed: the process that a test kills."""

from __future__ import annotations

import json
import os
from multiprocessing.connection import Connection
from pathlib import Path

from workbook_sample import attempt

from lab.store.workbook import append_attempts

MOST = 2  # attempts of one life: more would only make the workbook slow to look at


def journal(path: Path) -> list[int]:
    """The numbers of the attempts on record; a line that was cut off is none yet."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line)["number"])
        except ValueError:
            continue
    return found


def append_until_killed(workbook: Path, record: Path, said: Connection) -> None:
    """As `lab run` does: what an earlier life left without a row first, then each attempt on record before its row.

    `said` takes how many attempts are in the workbook for certain: 0 to begin with, then each time an append returned.
    """
    said.send(0)
    numbers = journal(record)
    _append(workbook, numbers)
    said.send(len(numbers))
    for number in range(len(numbers) + 1, len(numbers) + 1 + MOST):
        with record.open("a") as file:
            file.write(json.dumps({"number": number}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        numbers.append(number)
        _append(workbook, [number])
        said.send(number)


def _append(workbook: Path, numbers: list[int]) -> None:
    begun = "2026-11-30T18:00:00+00:00"
    rows = [attempt("b4", 100 + number, started_at=begun) for number in numbers]
    result = append_attempts(workbook, rows, "en")
    if result.fault is not None:
        raise RuntimeError(result.fault.slug)
