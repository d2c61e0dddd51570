"""Killing the worker, the launcher and the runner at any moment: nothing lost, nothing twice, nobody left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import fast_campaign
import psutil
import pytest
from fast_campaign import variant

from lab.errors import CheckFoundError
from lab.measure.events import AttemptProgress, Event
from lab.measure.lock import is_running
from lab.measure.progress import Progress, current
from lab.measure.recovery import end_leftover
from lab.measure.runner import run_campaign
from lab.measure.schedule import plan, remaining
from lab.store.attempts import read_records

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


def test_killing_the_runner_loses_nothing_and_repeats_nothing(tmp_path: Path, repository: Path) -> None:
    """SIGKILL of the runner at random moments, run again each time: one row per start, each slot completed once."""
    fast_campaign.write(tmp_path, [variant("b1"), variant("b4"), variant("b8")], inputs=10)
    campaign = fast_campaign.read(tmp_path)
    slots = plan(campaign.manifest, campaign.protocol)
    moments = random.Random(20261130)  # noqa: S311  (moments of a test, no secret)
    for _ in range(4):
        before = len(read_records(tmp_path))
        runner = _start(tmp_path, repository)
        _wait(lambda seen=before: len(read_records(tmp_path)) > seen or None)
        time.sleep(moments.uniform(0, 0.3))
        cut = current(tmp_path)
        runner.kill()
        runner.wait()
        if cut and cut.progress:
            assert _wait(lambda pid=cut.progress.pid: _gone(pid))
    last = _start(tmp_path, repository)
    assert last.wait(60) == 0
    records = read_records(tmp_path)
    assert all(one.attempt.outcome in {"completed", "interrupted"} for one in records)
    assert remaining(slots, records) == ()
    done = Counter((one.attempt.variant, one.attempt.round) for one in records if one.attempt.outcome == "completed")
    assert done == Counter((slot.variant, slot.round) for slot in slots)
    cut_off = [one for one in records if one.attempt.outcome == "interrupted"]
    assert cut_off
    assert all(one.details.ended_because and one.details.ended_because.key == "ended.cut_off" for one in cut_off)


def test_ctrl_c_ends_the_worker_and_writes_the_row(tmp_path: Path, repository: Path) -> None:
    """SIGINT during a pass: the attempt is interrupted by a person, and the next run does that slot again."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=1, inputs=100)
    runner = _start(tmp_path, repository)
    progress = _wait(lambda: _measuring(tmp_path))
    runner.send_signal(signal.SIGINT)
    assert runner.wait(20) != 0
    assert _gone(progress.pid)
    (record,) = read_records(tmp_path)
    assert record.attempt.outcome == "interrupted"
    assert record.details.ended_because is not None
    assert record.details.ended_because.key == "ended.interrupted"
    assert record.attempt.completed_inputs
    assert record.attempt.predictions_sha256 is not None  # what it had done by then is kept
    assert _start(tmp_path, repository).wait(60) == 0
    assert [one.attempt.outcome for one in read_records(tmp_path)] == ["interrupted", "completed"]


def test_a_second_run_in_one_folder_says_so_and_leaves(tmp_path: Path, repository: Path) -> None:
    """The fault carries the first run's process id; the first run is not disturbed."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=1, inputs=100)
    runner = _start(tmp_path, repository)
    _wait(lambda: _measuring(tmp_path))
    assert is_running(tmp_path)
    with pytest.raises(CheckFoundError) as raised:
        run_campaign(tmp_path, fast_campaign.read(tmp_path), observe=lambda _: None, on_attempt=lambda _: None)
    assert raised.value.faults[0].slug == "run-already-running"
    assert raised.value.faults[0].values["pid"] == str(runner.pid)
    assert runner.wait(30) == 0
    assert not is_running(tmp_path)
    assert [one.attempt.outcome for one in read_records(tmp_path)] == ["completed"]


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
