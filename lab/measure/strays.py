"""Processes that got away from a worker: left its group, or outlived it. Found and ended."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Final

import psutil

MARK: Final = "LAB_ATTEMPT"
"""The variable that every program started by a worker carries, with the attempt's id."""

_SET_CHILD_SUBREAPER: Final = 36  # prctl(2)
_LIMIT_S: Final = 5.0
_STEP_S: Final = 0.005


def adopt() -> bool:
    """Make this process the parent of each descendant whose own parent ends; False where the system cannot (not Linux).

    A program that forks twice and takes a session of its own would else belong to init, and nobody could find it.
    """
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def children() -> frozenset[int]:
    """The process ids of this process's own children now."""
    return frozenset(one.pid for one in psutil.Process().children())


def end_adopted(spare: Collection[int]) -> None:
    """End and reap every child of this process and what is below it, those with the ids in `spare` left alone."""
    until = time.monotonic() + _LIMIT_S
    while time.monotonic() < until:
        found = [one for one in psutil.Process().children() if one.pid not in spare]
        if not found:
            return
        for child in found:
            with suppress(psutil.Error):
                kill([*child.children(recursive=True), child])
            with suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)
        time.sleep(_STEP_S)


def end_marked(attempt_id: str) -> int:
    """End every process that carries the attempt's mark, wherever it went; tell how many there were.

    For when no parent is left to ask: the launcher is gone too. Other users' processes cannot be looked at.
    """
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if one.environ().get(MARK) == attempt_id:
                found.append(one)
    kill(found)
    return len(found)


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill each; one that is gone or not ours is passed over."""
    for one in processes:
        with suppress(psutil.Error):
            one.kill()
