"""One run at a time in a campaign folder; released by the system however the run ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import CheckFoundError, fault
from lab.store.files import writing

LOCK_FILE = ".run.lock"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the campaign's lock.

    Raises:
        CheckFoundError: `run-already-running`, with the process id of the run that holds it.
        OutsideFailureError: the file cannot be written.
    """
    path = folder / LOCK_FILE
    with writing(path, LOCK_FILE):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 32).decode("ascii", "replace").strip()
            raise CheckFoundError(fault("run-already-running", file=LOCK_FILE, pid=holder or "?")) from None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)  # the file stays: removing it would let two runs hold two files of one name


def is_running(folder: Path) -> bool:
    """Whether a run holds the campaign's lock now."""
    try:
        handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
