"""Programs that get away from a worker's group: found by who adopted them, or by the mark they carry."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import fast_campaign
import psutil
import pytest
from fast_campaign import variant

from lab.measure.runner import run_campaign
from lab.measure.strays import MARK, end_marked


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("function", "outcome", "process"),
    [
        ("leaves_one_behind", "completed", "per-attempt"),
        ("leaves_one_behind", "completed", "per-variant"),
        ("leaves_one_and_waits", "timed_out", "per-attempt"),
    ],
)
def test_a_daemon_of_a_pass_does_not_outlive_it(tmp_path: Path, function: str, outcome: str, process: str) -> None:
    """It forked twice and took a session of its own; it is gone when the run is over, however the pass ended."""
    fast_campaign.write(
        tmp_path,
        [variant("a", function)],
        repetitions=1,
        timeout_s=2,
        process=process,
        warm_up={"passes": 0, "inputs": 0},
    )
    (record,) = run_campaign(
        tmp_path, fast_campaign.read(tmp_path), observe=lambda _: None, on_attempt=lambda _: None
    ).records
    assert record.attempt.outcome == outcome
    assert not _runs(int((tmp_path / "away").read_text()))


def test_what_carries_the_mark_is_found_without_any_parent() -> None:
    """Only processes of that attempt are ended."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(30)"],
            env={**os.environ, MARK: name},
            start_new_session=True,
        )
        for name in ("a_c_r1_x", "b_c_r1_x")
    ]
    try:
        end = time.monotonic() + 10
        while end_marked("a_c_r1_x") == 0 and time.monotonic() < end:
            time.sleep(0.01)  # the mark is there once the program has been started
        assert programs[0].wait(10) == -9
        assert programs[1].poll() is None
    finally:
        for one in programs:
            one.kill()
            one.wait()
