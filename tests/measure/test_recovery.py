"""What an earlier run left unfinished becomes a row, with what its counters say."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.measure.orders import WORKING_FILES
from lab.measure.progress import PROGRESS_FILE, ProgressFile, current, read_progress
from lab.measure.recovery import recover
from lab.measure.result import RESULT_FILE, Result, read_result
from lab.model.attempt import Attempt, Record
from lab.model.reason import reason
from lab.store.attempts import attempt_folder, finish_attempt, read_records, start_attempt

STARTED = "2026-11-30T18:00:00.000+01:00"


def _unfinished(folder: Path, name: str = "a_c_r1_20261130T170000Z_a1b2c3") -> Path:
    """An attempt that was started and whose runner is gone; returns its folder."""
    start_attempt(folder, Record(Attempt(name, started_at=STARTED, variant="a", corpus="c", round=1, seed=0)))
    return attempt_folder(folder, name)


def _counters(at: Path, completed: int) -> None:
    with ProgressFile(at / PROGRESS_FILE, pid=2**22 + 1, process_start=0.0, total=10) as progress:
        progress.phase("loading")
        progress.duration("load_s", 1.5)
        progress.phase("measuring")
        progress.count(completed)


def test_an_unfinished_attempt_becomes_interrupted_with_its_completed_inputs(tmp_path: Path) -> None:
    """Inputs and the phases that were over are kept; elapsed time reaches to the last sign of life."""
    at = _unfinished(tmp_path)
    _counters(at, 7)
    (record,) = recover(tmp_path, "en")
    attempt = record.attempt
    assert (attempt.outcome, attempt.completed_inputs, attempt.load_s) == ("interrupted", 7, 1.5)
    assert attempt.elapsed_s is not None
    assert attempt.duration_s is None
    assert record.details.ended_because is not None
    assert record.details.ended_because.key == "ended.cut_off"
    assert read_records(tmp_path) == (record,)
    assert not [name for name in WORKING_FILES if (at / name).exists()]


def test_without_counters_the_end_is_unknown_and_said_to_be(tmp_path: Path) -> None:
    """A power cut may take the counters: no number is made up."""
    _unfinished(tmp_path)
    (record,) = recover(tmp_path, "fr")
    assert (record.attempt.outcome, record.attempt.elapsed_s, record.attempt.completed_inputs) == (
        "interrupted",
        None,
        None,
    )
    assert record.details.missing["elapsed_s"] == "missing.end_unknown"
    assert record.details.missing["completed_inputs"] == "missing.no_progress"
    assert record.attempt.missing_reason is not None
    assert "elapsed_s" in record.attempt.missing_reason


def test_a_result_that_was_already_said_stands(tmp_path: Path) -> None:
    """The worker had finished and only its record was missing: completed, and not run again."""
    at = _unfinished(tmp_path)
    _counters(at, 10)
    Result("completed", durations={"duration_s": 2.25}, completed_inputs=10, predictions_sha256="f" * 64).write(
        at / RESULT_FILE
    )
    (record,) = recover(tmp_path, "it")
    assert (record.attempt.outcome, record.attempt.duration_s) == ("completed", 2.25)
    assert record.attempt.predictions_path == f"attempts/{at.name}/predictions.jsonl"


def test_half_a_result_is_no_result(tmp_path: Path) -> None:
    """A result file that is not whole is not believed."""
    at = _unfinished(tmp_path)
    (at / RESULT_FILE).write_text('{"outcome": "completed", ')
    (record,) = recover(tmp_path, "en")
    assert record.attempt.outcome == "interrupted"


def test_finished_attempts_are_left_as_they_are(tmp_path: Path) -> None:
    """Recovery touches no record that has an outcome."""
    at = _unfinished(tmp_path)
    (record,) = recover(tmp_path, "en")
    before = (at / "attempt.json").read_bytes()
    assert list(recover(tmp_path, "en")) == []
    assert (at / "attempt.json").read_bytes() == before
    finish_attempt(tmp_path, record)
    assert (at / "attempt.json").read_bytes() == before


@pytest.mark.parametrize("outcome", ["failed", None])
def test_a_result_survives_its_file(tmp_path: Path, outcome: str | None) -> None:
    """What is written is what is read, reasons and absent values included."""
    written = Result(
        outcome,  # type: ignore[arg-type]  # parametrized
        reason=reason("ended.exited", code=3) if outcome else None,
        durations={"load_s": 0.25},
        readings={"start.load_1m": None},
        counts={"truncated_inputs": 1},
        completed_inputs=4,
    )
    written.write(tmp_path / RESULT_FILE)
    assert vars(read := _read(tmp_path)) == vars(written)
    assert read.devices == ()


def _read(folder: Path) -> Result:
    found = read_result(folder / RESULT_FILE)
    assert found is not None
    return found


def test_counters_survive_their_writer_and_foreign_files_are_none(tmp_path: Path) -> None:
    """Absent numbers are absent, the rate is of the measured pass, anything else at that place is no progress."""
    path = tmp_path / PROGRESS_FILE
    assert read_progress(path) is None
    _counters(tmp_path, 3)
    found = read_progress(path)
    assert found is not None
    assert (found.phase, found.completed, found.total, dict(found.durations)) == ("measuring", 3, 10, {"load_s": 1.5})
    assert found.pass_start is not None
    assert found.rate is None or found.rate > 0
    for data in (b"", b"LABPRG01", path.read_bytes()[:-1], b"x" * path.stat().st_size):
        path.write_bytes(data)
        assert read_progress(path) is None


def test_another_terminal_sees_the_attempt_under_way(tmp_path: Path) -> None:
    """The unfinished attempt with its counters; nothing once it has ended."""
    assert current(tmp_path) is None
    at = _unfinished(tmp_path)
    seen = current(tmp_path)
    assert seen is not None
    assert seen.progress is None
    _counters(at, 2)
    seen = current(tmp_path)
    assert seen is not None
    assert seen.progress is not None
    assert seen.progress.completed == 2
    list(recover(tmp_path, "en"))
    assert current(tmp_path) is None
