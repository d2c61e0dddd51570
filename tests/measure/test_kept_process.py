"""`process = "per-variant"`: one worker for all passes of a variant, and what becomes of it when a pass goes wrong."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import fast_campaign
import psutil
from fast_campaign import variant

from lab.measure.events import AttemptProgress, Event
from lab.measure.progress import current
from lab.measure.runner import RunResult, StartMethod, run_campaign
from lab.model.attempt import Record
from lab.store.attempts import read_records


def _run(folder: Path, start_method: StartMethod = "forkserver") -> RunResult:
    campaign = fast_campaign.read(folder)
    return run_campaign(folder, campaign, observe=lambda _: None, on_attempt=lambda _: None, start_method=start_method)


def _calls(folder: Path) -> list[tuple[int, int]]:
    """(process id, how many calls that process had then) of every call, in order."""
    lines = (folder / "calls").read_text().split("\n")[:-1]
    return [(int(line.split()[0]), int(line.split()[1])) for line in lines]


def _keep(folder: Path, *functions: str, start_method: StartMethod = "forkserver", **run: object) -> list[Record]:
    variants = [variant(f"v{number}", function) for number, function in enumerate(functions, start=1)]
    fast_campaign.write(folder, variants, process="per-variant", **{"warm_up": {"passes": 0, "inputs": 0}, **run})
    return list(_run(folder, start_method).records)


def test_all_passes_of_a_variant_run_in_one_process_and_variants_follow_each_other(tmp_path: Path) -> None:
    """Three rows each, variant by variant; loaded once, the later passes say why `load_s` is empty; nobody is left."""
    records = _keep(tmp_path, "remembers", "remembers")
    assert [(one.attempt.variant, one.attempt.round) for one in records] == [
        (name, number) for name in ("v1", "v2") for number in (1, 2, 3)
    ]
    assert [one.attempt.outcome for one in records] == ["completed"] * 6
    calls = _calls(tmp_path)
    assert [number for _, number in calls] == [1, 2, 3, 1, 2, 3]
    assert len({pid for pid, _ in calls[:3]}) == len({pid for pid, _ in calls[3:]}) == 1
    assert not any(psutil.pid_exists(pid) for pid, _ in calls)
    for record in records:
        nth = record.details.facts["process_pass"]
        assert record.details.facts["process"] == "per-variant"
        assert record.details.facts["plan.order"] == "by_variant"
        assert (record.attempt.load_s is None) == (nth != "1")
        assert record.details.missing.get("load_s") == (None if nth == "1" else "missing.loaded_before")
        assert record.attempt.predictions_path is not None
        assert len((tmp_path / record.attempt.predictions_path).read_text().splitlines()) == 12
    assert read_records(tmp_path) == tuple(records)


def test_each_pass_writes_into_its_own_log(tmp_path: Path) -> None:
    """What a kept process prints goes to the attempt that it prints in."""
    fast_campaign.write(tmp_path, [variant("v", "speaks")], process="per-variant", warm_up={"passes": 0, "inputs": 0})
    (tmp_path / "work.py").write_text(
        "import os\nn = 0\ndef speaks(inputs):\n    global n\n    n += 1\n    print('call', n)\n"
        "    os.system('echo child ' + str(n))\n    for one, text in inputs:\n        yield one, 'short'\n"
    )
    for number, record in enumerate(_run(tmp_path).records, start=1):
        log = (tmp_path / "attempts" / record.attempt.attempt_id / "log.txt").read_text()
        assert log == f"call {number}\nchild {number}\n"


def test_a_dead_worker_ends_its_attempt_only(tmp_path: Path) -> None:
    """Killed in the third pass: one failed row with its count, and a fresh process for the fourth."""
    records = _keep(tmp_path, "dies_in_its_third_call")
    more = fast_campaign.read(tmp_path)
    assert [one.attempt.outcome for one in records] == ["completed", "completed", "failed"]
    assert records[2].attempt.completed_inputs == 1
    assert records[2].details.ended_because is not None
    assert records[2].details.ended_because.key == "ended.killed"
    declared = (tmp_path / "declared.json").read_text()
    (tmp_path / "declared.json").write_text(declared.replace('"repetitions": 3', '"repetitions": 5'))
    assert more.protocol.repetitions == 3
    fourth, fifth = _run(tmp_path).records
    assert (fourth.details.facts["process_pass"], fifth.details.facts["process_pass"]) == ("1", "2")
    assert [number for _, number in _calls(tmp_path)] == [1, 2, 3, 1, 2]


def test_after_a_failure_the_next_pass_has_a_fresh_process(tmp_path: Path) -> None:
    """An exception may leave anything behind: nothing of that process serves another pass."""
    records = _keep(tmp_path, "raises_after_three")
    assert [one.attempt.outcome for one in records] == ["failed"] * 3
    assert [one.details.facts["process_pass"] for one in records] == ["1"] * 3
    assert all(one.attempt.completed_inputs == 3 and one.attempt.predictions_sha256 for one in records)


def test_a_timeout_in_a_kept_process_ends_it_and_its_children(tmp_path: Path) -> None:
    """The first pass runs out of time; its process is gone before the next begins."""
    records = _keep(tmp_path, "slow_after_five", timeout_s=0.6)
    assert [one.attempt.outcome for one in records] == ["timed_out"] * 3
    assert not psutil.pid_exists(int((tmp_path / "five-are-done").read_text()))


def test_a_kept_worker_that_is_killed_from_outside_while_it_waits_costs_nothing(tmp_path: Path) -> None:
    """Killed between two passes: the next one has a new process and completes."""
    fast_campaign.write(tmp_path, [variant("v")], process="per-variant", inputs=40)
    killed: list[int] = []

    def observe(event: Event) -> None:
        if isinstance(event, AttemptProgress):
            found = current(tmp_path)
            if found and found.progress:
                killed.append(found.progress.pid)

    def on_attempt(_record: Record) -> None:
        os.kill(killed[-1], signal.SIGKILL)

    records = run_campaign(tmp_path, fast_campaign.read(tmp_path), observe=observe, on_attempt=on_attempt).records
    assert [one.attempt.outcome for one in records] == ["completed"] * 3
    assert len(set(killed)) == 3


def test_spawned_processes_are_kept_too(tmp_path: Path) -> None:
    """A fresh interpreter takes further orders like a forked one, and says that it was asked for."""
    records = _keep(tmp_path, "remembers", start_method="spawn")
    assert [number for _, number in _calls(tmp_path)] == [1, 2, 3]
    assert {one.details.facts["start_method"] for one in records} == {"spawn"}
    assert {one.details.facts["start_method_because"] for one in records} == {"asked"}
