"""Whole runs with real worker processes: order, outcomes, what is on record, what is left behind."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import fast_campaign
import psutil
import pytest
from fast_campaign import variant

from lab.errors import InvalidInputError
from lab.measure.events import AttemptEnded, AttemptProgress, AttemptStarted, Event
from lab.measure.progress import current
from lab.measure.runner import RunResult, StartMethod, run_campaign
from lab.measure.supervisor import Supervisor
from lab.model.attempt import Record
from lab.store.attempts import attempt_folder, read_records
from lab.store.files import sha256_file


def _run(
    folder: Path, start_method: StartMethod = "forkserver", observe: Callable[[Event], None] = lambda _: None
) -> RunResult:
    campaign = fast_campaign.read(folder)
    return run_campaign(folder, campaign, observe=observe, on_attempt=lambda _: None, start_method=start_method)


def _one(folder: Path, function: str, **run: object) -> Record:
    fast_campaign.write(folder, [variant("a", function)], repetitions=1, **run)
    (record,) = _run(folder).records
    return record


def test_three_variants_run_three_rotated_rounds(tmp_path: Path) -> None:
    """Nine attempts on record in the plan's order, each completed, with its phases apart and a reason for each gap."""
    fast_campaign.write(tmp_path, [variant("b1"), variant("b4"), variant("b8")])
    result = _run(tmp_path)
    order = [(one.attempt.round, one.attempt.position, one.attempt.variant) for one in result.records]
    assert [name for _, _, name in order] == ["b1", "b4", "b8", "b4", "b8", "b1", "b8", "b1", "b4"]
    assert [place for _, place, _ in order] == [1, 2, 3] * 3
    assert read_records(tmp_path) == result.records
    for record in result.records:
        attempt = record.attempt
        assert (attempt.outcome, attempt.completed_inputs) == ("completed", 12)
        assert attempt.duration_s is not None
        assert attempt.elapsed_s is not None
        assert 0.12 <= attempt.duration_s <= attempt.elapsed_s  # twelve sleeps of 0.01 s
        assert all(getattr(attempt, name) is not None for name in ("load_s", "warm_up_s", "evaluate_s", "export_s"))
        assert (attempt.compile_s, attempt.peak_allocated_bytes) == (None, None)
        assert set(record.details.missing) >= {"compile_s", "peak_allocated_bytes", "energy_j"}
        assert attempt.predictions_path is not None
        rows = [json.loads(line) for line in (tmp_path / attempt.predictions_path).read_text().splitlines()]
        assert rows[0] == {"id": "000é", "prediction": "short"}
        assert len(rows) == 12
        assert sorted(one.name for one in (tmp_path / "attempts" / attempt.attempt_id).iterdir()) == [
            "attempt.json",
            "log.txt",
            "predictions.jsonl",
        ]


def test_a_second_run_repeats_nothing(tmp_path: Path) -> None:
    """What is done stays done, a failure included."""
    fast_campaign.write(tmp_path, [variant("a"), variant("bad", "raises_after_three")], repetitions=2)
    assert [one.attempt.outcome for one in _run(tmp_path).records].count("failed") == 2
    again = _run(tmp_path)
    assert again.records == ()
    assert again.planned == 4


def test_an_attempt_is_on_record_before_it_runs_and_events_tell_it(tmp_path: Path) -> None:
    """When the worker starts, `attempt.json` is there without an outcome; progress tells inputs and phase."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=1, inputs=60)
    events: list[Event] = []
    outcomes: list[object] = []

    def observe(event: Event) -> None:
        events.append(event)
        if isinstance(event, AttemptStarted):
            outcomes.extend(one.attempt.outcome for one in read_records(tmp_path))
        if isinstance(event, AttemptProgress):
            seen = current(tmp_path)
            assert seen is not None
            assert seen.record.attempt.attempt_id == event.standing.attempt_id

    _run(tmp_path, observe=observe)
    assert outcomes == [None]
    assert isinstance(events[0], AttemptStarted)
    assert isinstance(events[-1], AttemptEnded)
    measuring = [one for one in events if isinstance(one, AttemptProgress) and one.phase == "measuring"]
    assert measuring
    assert all(one.inputs == 60 and one.completed <= 60 for one in measuring)
    assert current(tmp_path) is None


def test_an_exception_is_a_row_with_its_reason_and_its_partial_predictions(tmp_path: Path) -> None:
    """Inputs done before it are counted and kept; the home folder's path is not in the reason."""
    record = _one(tmp_path, "raises_after_three", warm_up={"passes": 0, "inputs": 0})
    attempt, why = record.attempt, record.details.ended_because
    assert (attempt.outcome, attempt.completed_inputs, attempt.duration_s) == ("failed", 3, None)
    assert why is not None
    assert (why.key, why.values["error"]) == ("ended.exception", "ValueError")
    assert str(Path.home()) not in str(why.values["message"])
    assert attempt.predictions_path is not None
    assert len((tmp_path / attempt.predictions_path).read_text().splitlines()) == 3
    assert attempt.missing_reason is not None
    assert "ValueError" in attempt.missing_reason
    log = (attempt_folder(tmp_path, attempt.attempt_id) / "log.txt").read_text()
    assert "Traceback" in log


@pytest.mark.parametrize(
    ("function", "outcome", "key"),
    [
        ("runs_out_of_memory", "out_of_memory", "ended.host_memory"),
        ("kills_itself", "failed", "ended.killed"),
        ("leaves", "failed", "ended.exited"),
        ("not_text", "failed", "ended.prediction_malformed"),
        ("no_such_function", "failed", "ended.function_missing"),
    ],
)
def test_every_way_to_fail_is_told_apart(tmp_path: Path, function: str, outcome: str, key: str) -> None:
    """A row each, with outcome, reason and elapsed time."""
    record = _one(tmp_path, function, warm_up={"passes": 0, "inputs": 0})
    assert record.attempt.outcome == outcome
    assert record.details.ended_because is not None
    assert record.details.ended_because.key == key
    assert record.attempt.elapsed_s is not None
    if outcome != "failed" or key in {"ended.killed", "ended.exited"}:
        assert record.attempt.completed_inputs == 1


def test_a_timeout_ends_the_worker_and_its_children(tmp_path: Path) -> None:
    """The row says timed out with the inputs completed; neither worker nor child is left."""
    record = _one(tmp_path, "slow_after_five", timeout_s=1, warm_up={"passes": 0, "inputs": 0})
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("timed_out", 5)
    assert record.attempt.predictions_sha256 is not None
    pid = int((tmp_path / "five-are-done").read_text())
    assert not psutil.pid_exists(pid)
    assert not [one for one in psutil.process_iter() if _group(one.pid) == pid and _runs(one)]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_worker_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    """A deaf worker is ended by force after its grace; what its counters said is on record."""
    record = _one(tmp_path, "deaf", timeout_s=1, warm_up={"passes": 0, "inputs": 0})
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("timed_out", 1)
    assert record.attempt.predictions_path is None
    assert record.details.missing["predictions_path"] == "missing.no_predictions"


AWK = r"""BEGIN { FS = "\"" } { printf "{\"id\": \"%s\", \"prediction\": \"short\"}\n", $4; fflush(); system(WAIT) }"""


def _program(name: str, wait: str) -> dict[str, object]:
    command = ["sh", "-c", 'exec awk -v WAIT="$3" "$0" "$1" > "$2"', AWK, "{corpus}", "{predictions}", wait]
    return {"id": name, "workload": "command", "command": command}


def test_a_program_in_another_language_is_measured_like_any_other(tmp_path: Path) -> None:
    """An awk script and one that hangs: a whole row with its file's fingerprint, and a timed-out one with its lines."""
    fast_campaign.write(
        tmp_path, [_program("quick", "true"), _program("hangs", "sleep 60")], repetitions=1, timeout_s=1
    )
    quick, hangs = _run(tmp_path).records
    assert (quick.attempt.outcome, quick.attempt.completed_inputs) == ("completed", 12)
    assert quick.attempt.predictions_path is not None
    assert quick.attempt.predictions_sha256 == sha256_file(tmp_path / quick.attempt.predictions_path)
    assert (quick.attempt.warm_up_s, quick.attempt.export_s) == (None, None)
    assert quick.details.missing["export_s"] == "missing.exported_in_pass"
    assert quick.details.missing["warm_up_s"] == "missing.no_warm_up_possible"
    assert quick.details.facts["exit_code"] == "0"
    assert (hangs.attempt.outcome, hangs.attempt.completed_inputs) == ("timed_out", 1)


def test_spawn_gives_the_same_record(tmp_path: Path) -> None:
    """A fresh interpreter instead of a fork: the same row, and the record says which it was."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=1)
    (record,) = _run(tmp_path, start_method="spawn").records
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("completed", 12)
    assert record.details.facts["start_method"] == "spawn"


def test_settings_that_cannot_be_run_are_refused_before_the_first_pass(tmp_path: Path) -> None:
    """All of them at once, and nothing is on record."""
    odd = {"id": "odd", "model": "m", "compile": True, "quantization": "int4", "padding": "token-budget"}
    fast_campaign.write(tmp_path, [variant("a"), odd])
    with pytest.raises(InvalidInputError) as raised:
        _run(tmp_path)
    places = {one.place for one in raised.value.faults}
    assert places >= {"variants.odd.compile", "variants.odd.quantization", "variants.odd.token_budget"}
    assert read_records(tmp_path) == ()


def test_a_cool_down_passes_between_attempts(tmp_path: Path) -> None:
    """The second attempt starts no earlier than the declared seconds after the first has ended."""
    fast_campaign.write(tmp_path, [variant("a")], repetitions=2, cool_down_s=0.3, inputs=1)
    ends: list[float] = []
    starts: list[float] = []

    def observe(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            starts.append(time.monotonic())
        if isinstance(event, AttemptEnded):
            ends.append(time.monotonic())

    _run(tmp_path, observe=observe)
    assert starts[1] - ends[0] >= 0.3


def test_where_nothing_can_be_forked_workers_are_spawned_and_the_reason_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import that fails, or that takes hold of a device, leaves no process to fork from."""
    with Supervisor(("no_such_module_of_anybody",)) as supervisor:
        assert (supervisor.start_method, supervisor.why_spawn) == ("spawn", "import_failed")
    (tmp_path / "torch.py").write_text("class cuda:\n    is_initialized = staticmethod(lambda: True)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Supervisor(("torch",)) as supervisor:
        assert (supervisor.start_method, supervisor.why_spawn) == ("spawn", "device_held")
    with Supervisor(("json",)) as supervisor:
        assert (supervisor.start_method, supervisor.why_spawn) == ("forkserver", None)
