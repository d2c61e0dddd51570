"""Killing the worker, the launcher and the runner at any moment: nothing lost, nothing twice, nobody left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import fast_campaign
import psutil
from fast_campaign import variant

from lab.measure.events import AttemptProgress, Event
from lab.measure.progress import Progress, current
from lab.measure.recovery import end_leftover
from lab.measure.runner import run_campaign

T = TypeVar("T")


def _start(folder: Path, repository: Path) -> subprocess.Popen[bytes]:
    program = repository / "tests" / "measure" / "fast_campaign.py"
    variables = {**os.environ, "PYTHONPATH": str(repository)}
    return subprocess.Popen([sys.executable, str(program), str(folder)], env=variables, start_new_session=True)


def _wait(until: Callable[[], T | None], limit_s: float = 20) -> T:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        found = until()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError("waited in vain")


def _measuring(folder: Path) -> Progress | None:
    found = current(folder)
    progress = found.progress if found else None
    return progress if progress and progress.phase == "measuring" and progress.completed else None


def _gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_killing_the_worker_leaves_a_failed_row_with_the_inputs_it_had_done(tmp_path: Path) -> None:
    """SIGKILL in the middle of a pass: outcome failed, signal named, inputs counted; the next attempt is unaffected."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=2, inputs=60)
    killed: list[int] = []

    def observe(event: Event) -> None:
        if isinstance(event, AttemptProgress) and event.completed and not killed:
            found = current(tmp_path)
            assert found is not None
            assert found.progress is not None
            killed.append(found.progress.pid)
            os.kill(found.progress.pid, signal.SIGKILL)

    first, second = run_campaign(
        tmp_path, fast_campaign.read(tmp_path), observe=observe, on_attempt=lambda _: None
    ).records
    assert killed
    assert first.attempt.outcome == "failed"
    assert first.details.ended_because is not None
    assert dict(first.details.ended_because.values) == {"signal": "SIGKILL"}
    assert first.attempt.completed_inputs is not None
    assert 0 < first.attempt.completed_inputs < 60
    assert first.attempt.warm_up_s is not None  # measured before the kill, and kept
    assert second.attempt.outcome == "completed"


def test_losing_the_launcher_fails_one_attempt_and_the_run_goes_on(tmp_path: Path) -> None:
    """SIGKILL of the process that forks workers: its worker ends too, a new one is started for what is left."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=2, inputs=60)
    killed: list[int] = []

    def observe(event: Event) -> None:
        if isinstance(event, AttemptProgress) and event.completed and not killed:
            found = current(tmp_path)
            assert found is not None
            assert found.progress is not None
            killed.append(found.progress.pid)
            os.kill(psutil.Process(found.progress.pid).ppid(), signal.SIGKILL)

    first, second = run_campaign(
        tmp_path, fast_campaign.read(tmp_path), observe=observe, on_attempt=lambda _: None
    ).records
    assert first.details.ended_because is not None
    assert (first.attempt.outcome, first.details.ended_because.key) == ("failed", "ended.worker_lost")
    assert second.attempt.outcome == "completed"
    assert _wait(lambda: _gone(killed[0]))


def test_a_process_that_only_has_the_old_number_is_left_alone() -> None:
    """A pid whose process started at another time is somebody else's."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"], start_new_session=True)
    try:
        began = psutil.Process(other.pid).create_time()
        stale = Progress(other.pid, began - 3600, "measuring", 1, 2, None, began, {})
        assert not end_leftover(stale)
        assert other.poll() is None
        own = Progress(other.pid, began, "measuring", 1, 2, None, began, {})
        assert end_leftover(own)
        assert _wait(lambda: _gone(other.pid))
    finally:
        other.kill()
        other.wait()
