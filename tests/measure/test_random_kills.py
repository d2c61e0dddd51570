"""SIGKILL of worker, launcher or runner at random moments, again and again: nothing lost, nothing repeated.

A hundred moments, or as many as `LAB_KILL_POINTS` says.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import fast_campaign
import psutil
from fast_campaign import variant

from lab.measure.progress import current
from lab.measure.runner import run_campaign
from lab.measure.schedule import plan, remaining
from lab.model.attempt import ended_by_itself, slot_key
from lab.store.attempts import read_records

POINTS = int(os.environ.get("LAB_KILL_POINTS", "100"))
VICTIMS = ("worker", "worker", "runner", "runner", "launcher")


def _run_in_a_fork(folder: Path) -> int:
    """Start the runner as a copy of this process, whose imports are done; its process id."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setsid()
            run_campaign(folder, fast_campaign.read(folder), observe=lambda _: None, on_attempt=lambda _: None)
            code = 0
        finally:
            os._exit(code)
    return pid


def _ended(pid: int) -> int | None:
    """The runner's exit code once it has ended; None while it runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _kill(folder: Path, runner: int, victim: str) -> str | None:
    """Kill the victim if it is there at this moment; what was killed."""
    if victim == "runner":
        os.kill(runner, signal.SIGKILL)
        return victim
    found = current(folder)
    if found is None or found.progress is None:
        return None
    with suppress(psutil.Error, ProcessLookupError):
        worker = psutil.Process(found.progress.pid)
        target = worker.pid if victim == "worker" else worker.ppid()
        if target > 1:
            os.kill(target, signal.SIGKILL)
            return victim
    return None


def test_random_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    """Every attempt that was started has its row, every slot ended by itself once, in the order of the plan."""
    names = [f"v{number}" for number in range(5)]
    rounds = 2 + POINTS // 2  # more than the kills can end
    fast_campaign.write(
        tmp_path,
        [variant(name) for name in names],
        inputs=8,
        repetitions=rounds,
        warm_up={"passes": 0, "inputs": 0},
    )
    campaign = fast_campaign.read(tmp_path)
    slots = plan(campaign.manifest, campaign.protocol)
    draw = random.Random(20261130)  # noqa: S311  (moments of a test, no secret)
    killed: Counter[str] = Counter()
    seen: set[str] = set()
    runner = _run_in_a_fork(tmp_path)
    while sum(killed.values()) < POINTS:
        time.sleep(draw.uniform(0, 0.6))
        one = _kill(tmp_path, runner, draw.choice(VICTIMS))
        killed.update([one] if one else [])
        seen |= {path.name for path in (tmp_path / "attempts").glob("[!.]*")}
        if one == "runner":
            os.waitpid(runner, 0)
            runner = _run_in_a_fork(tmp_path)
        elif (code := _ended(runner)) is not None:
            assert code == 0
            break
    else:
        assert os.waitstatus_to_exitcode(os.waitpid(runner, 0)[1]) == 0
    assert sum(killed.values()) >= POINTS, killed

    records = read_records(tmp_path)
    assert {one.attempt.attempt_id for one in records} >= seen  # whatever was once started is on record
    assert all(one.attempt.outcome in {"completed", "failed", "interrupted"} for one in records)
    assert all(one.details.ended_because for one in records if one.attempt.outcome != "completed")
    assert remaining(slots, records) == ()
    by_itself = [slot_key(one.attempt) for one in records if ended_by_itself(one.attempt)]
    assert by_itself == [slot_key(slot) for slot in slots]  # each once, in the plan's own order
    for record in records:
        if record.attempt.outcome == "completed":
            assert record.attempt.predictions_path is not None
            assert len((tmp_path / record.attempt.predictions_path).read_text().splitlines()) == 8
    assert not [path for path in tmp_path.rglob(".*") if path.name != ".run.lock"]
