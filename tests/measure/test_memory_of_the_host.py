"""The host's memory: whose peak is written down, and the kernel's own kill told from any other."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import fast_campaign
import pytest
from fast_campaign import variant

from lab.measure.memory import HOST_OF_PROCESS, HOST_WHILE_MEASURED, reset_host_peak
from lab.measure.runner import run_campaign
from lab.model.attempt import Record

MIB = 2**20
WORK = """
import os
taken, calls = None, 0
def early(inputs):
    global calls
    calls += 1
    if calls == 1:
        taken = bytearray(200 * 2**20)
        del taken
    for one, text in inputs:
        yield one, "short"
def late(inputs):
    global calls
    calls += 1
    for one, text in inputs:
        yield one, "short"
    if calls == 2:
        taken = bytearray(200 * 2**20)
def swallows(inputs):
    yield next(inputs)[0], "short"
    with open(os.environ["LAB_TEST_GROUP"] + "/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))
    taken = bytearray(400 * 2**20)
    yield next(inputs)[0], "short"
"""


def _run(folder: Path, *functions: str, **run: object) -> tuple[Record, ...]:
    fast_campaign.write(folder, [variant(one, one) for one in functions], repetitions=1, **run)
    (folder / "work.py").write_text(WORK)
    return run_campaign(folder, fast_campaign.read(folder), observe=lambda _: None, on_attempt=lambda _: None).records


def test_the_hosts_peak_is_of_the_pass_alone(tmp_path: Path) -> None:
    """What the warm-up took and gave back is not in it; what the pass takes is; the scope stands beside it."""
    assert reset_host_peak()
    early, late = _run(tmp_path, "early", "late")
    assert early.details.host_peak_bytes is not None
    assert late.details.host_peak_bytes is not None
    assert late.details.host_peak_bytes - early.details.host_peak_bytes > 150 * MIB
    assert early.details.facts["scope.host_peak_bytes"] == HOST_WHILE_MEASURED


@pytest.fixture
def small_group(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A control group with 250 MiB of memory, for a process to move into; needs the right to make one."""
    number, path, limit = "0", "/", "memory.max"
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        found, kinds, place = line.split(":", 2)
        if "memory" in kinds.split(","):
            number, path, limit = found, place, "memory.limit_in_bytes"
        elif not kinds and number == "0":
            path = place
    base = Path("/sys/fs/cgroup") if number == "0" else Path("/sys/fs/cgroup/memory")
    group = base / path.lstrip("/") / f"lab-{secrets.token_hex(4)}"
    try:
        group.mkdir()
        (group / limit).write_text(str(250 * MIB))
    except OSError:
        with suppress(OSError):
            group.rmdir()
        pytest.skip("making a control group needs root and a memory controller")
    monkeypatch.setenv("LAB_TEST_GROUP", str(group))
    yield group
    for _ in range(50):
        with suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.1)


@pytest.mark.usefixtures("small_group")
def test_a_worker_that_the_kernel_killed_for_memory_is_out_of_memory(tmp_path: Path) -> None:
    """A real kill by the kernel: the outcome, the reason in words, the inputs it had done, the system's own peak."""
    (record,) = _run(tmp_path, "swallows", warm_up={"passes": 0, "inputs": 0})
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("out_of_memory", 1)
    assert record.details.ended_because is not None
    assert record.details.ended_because.key == "ended.kernel_memory"
    assert record.attempt.missing_reason is not None
    assert "mémoire de la machine" in record.attempt.missing_reason
    assert record.details.facts["scope.host_peak_bytes"] == HOST_OF_PROCESS
    assert record.details.host_peak_bytes is not None
