"""Batch 1, 4 and 8, five rotated rounds of a real model through `lab run`, a worker and a runner killed on the way."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import small_campaign
from openpyxl import load_workbook

from lab.cli import main
from lab.measure.progress import current
from lab.measure.schedule import plan
from lab.model.attempt import ended_by_itself, slot_key
from lab.model.protocol import Protocol
from lab.pipeline import status
from lab.store.attempts import read_records
from lab.store.manifest import read_manifest

THIRD = """
[[variants]]
id = "b8"
model = "models/tickets"
batch_size = 8
"""


def _run(folder: Path, repository: Path) -> subprocess.Popen[bytes]:
    variables = {**os.environ, "PYTHONPATH": str(repository)}
    command = [sys.executable, "-m", "lab", "run", str(folder)]
    return subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _in_pass(folder: Path, number: int, runner: subprocess.Popen[bytes]) -> int:
    """Wait for the attempt of that number to have a worker; the worker's process id."""
    while runner.poll() is None:
        found = current(folder)
        if found and found.progress and len(read_records(folder)) == number:
            return found.progress.pid
        time.sleep(0.01)
    raise AssertionError("the run ended before that pass")


def test_fifteen_rows_and_what_two_kills_add(tmp_path: Path, repository: Path) -> None:
    """One row for each attempt that was started, nothing repeated, and the final schedule is the plan's."""
    (tmp_path / "trained").mkdir()
    model = small_campaign.train(tmp_path / "trained")
    folder = small_campaign.build(tmp_path / "campaign", model, {**small_campaign.PROTOCOL, "repetitions": 5})
    manifest = (folder / "manifest.toml").read_text(encoding="utf-8")
    (folder / "manifest.toml").write_text(manifest[: manifest.index('[[variants]]\nid = "absent"')] + THIRD, "utf-8")
    moments = random.Random(20261130)  # noqa: S311  (moments of a test, no secret)

    runner = _run(folder, repository)
    worker = _in_pass(folder, 4, runner)
    time.sleep(moments.uniform(0, 0.2))
    os.kill(worker, signal.SIGKILL)
    worker = _in_pass(folder, 9, runner)
    time.sleep(moments.uniform(0, 0.2))
    runner.kill()
    runner.wait()
    _wait(lambda: not psutil.pid_exists(worker))
    assert sum(one.interrupted for one in status(folder).variants) == 1  # told before the next run puts it on record
    assert main(["run", str(folder)]) == 0

    records = read_records(folder)
    outcomes = [one.attempt.outcome for one in records]
    assert (outcomes.count("completed"), outcomes.count("failed"), outcomes.count("interrupted")) == (14, 1, 1)
    assert (outcomes[3], outcomes[8]) == ("failed", "interrupted")
    slots = plan(read_manifest(folder / "manifest.toml"), Protocol(repetitions=5))
    assert [slot_key(one.attempt) for one in records if ended_by_itself(one.attempt)] == [
        slot_key(one) for one in slots
    ]
    assert [one.variant for one in slots[:9]] == ["b1", "b4", "b8", "b4", "b8", "b1", "b8", "b1", "b4"]
    sheet = load_workbook(folder / "campaign.xlsx", read_only=True)["raw-results"]
    names = [str(line[0]) for line in sheet.iter_rows(values_only=True) if line[0]]
    assert names[names.index("attempt_id") + 1 :] == [one.attempt.attempt_id for one in records]


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not until():
        if time.monotonic() > end:
            pytest.fail("waited in vain")
        time.sleep(0.01)
