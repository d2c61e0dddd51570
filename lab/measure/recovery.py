"""What an earlier run left unfinished: ended for sure, and put on record as cut off."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import psutil

from lab.measure.bounded_log import BoundedLog
from lab.measure.journal import End, finished
from lab.measure.orders import LOG_FILE, WORKING_FILES
from lab.measure.progress import PROGRESS_FILE, Progress, read_progress
from lab.measure.result import RESULT_FILE, read_result
from lab.measure.strays import end_marked
from lab.model.attempt import DURATION_DIGITS, Outcome, Record
from lab.model.reason import Reason, reason
from lab.store.attempts import ATTEMPTS, attempt_folder, finish_attempt, read_records
from lab.store.environments import ENVIRONMENTS

_SAME_START_S: Final = 1.0  # the kernel counts a process's start in hundredths of a second
_WAIT_S: Final = 5.0


def recover(folder: Path, language: str) -> Iterator[Record]:
    """End on record every attempt that has no outcome, oldest first; the caller holds the campaign's lock.

    A worker that had already said its result was cut off before its record could be written: its result stands.
    Every other one is `interrupted`, with the inputs it had completed by its counters. `elapsed_s` reaches to the
    worker's last sign of life; without counters the end is not known and the cell stays empty, with its reason.

    Raises:
        InvalidInputError: an `attempt.json` is damaged.
        OutsideFailureError: the disk refused.
    """
    for record in read_records(folder):
        if record.attempt.outcome is not None:
            continue
        at = attempt_folder(folder, record.attempt.attempt_id)
        progress = read_progress(at / PROGRESS_FILE)
        if progress is not None:
            end_leftover(progress)
        end_marked(record.attempt.attempt_id)
        result = read_result(at / RESULT_FILE)
        outcome: Outcome = "interrupted"
        why: Reason | None = reason("ended.cut_off")
        if result is not None and result.outcome is not None:
            outcome, why = result.outcome, result.reason
        ended = finished(record, End(outcome, why, _elapsed(record, progress), result, progress), language)
        BoundedLog(at / LOG_FILE).settle()
        finish_attempt(folder, ended)
        yield ended
    for at in (folder / ATTEMPTS).glob("[!.]*"):
        clear_working_files(at)
    for cut_off in (*(folder / ATTEMPTS).glob(".*"), *(folder / ENVIRONMENTS).glob(".*")):
        _remove(cut_off)  # begun and never there: nothing else writes while the lock is held


def clear_working_files(at: Path) -> None:
    """Remove from an attempt's folder what only its running needed, and files that were cut off while written."""
    for name in {*WORKING_FILES, *(one.name for one in at.glob(".*"))}:
        _remove(at / name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink(missing_ok=True)


def end_leftover(progress: Progress) -> bool:
    """Kill a worker that outlived its runner, with its group; tell whether there was one.

    A process is that worker only if pid and start time are its own; a zombie runs nothing any more.
    """
    try:
        process = psutil.Process(progress.pid)
        same = abs(process.create_time() - progress.process_start) < _SAME_START_S
        if not same or process.status() == psutil.STATUS_ZOMBIE:
            return False
        children = process.children(recursive=True)
    except psutil.Error:
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(progress.pid, signal.SIGKILL)
    for one in children:
        with suppress(psutil.Error):
            one.kill()
    with suppress(psutil.Error):
        process.wait(_WAIT_S)
    return True


def _elapsed(record: Record, progress: Progress | None) -> float | None:
    if progress is None or record.attempt.started_at is None:
        return None
    seconds = progress.last_sign - datetime.fromisoformat(record.attempt.started_at).timestamp()
    return max(0.0, round(seconds, DURATION_DIGITS))
