"""Starting a worker, watching it, ending it for sure: the runner's side of a launcher."""

from __future__ import annotations

import json
import os
import select
import signal
import site
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import psutil

import lab
from lab.errors import OutsideFailureError, fault
from lab.measure.strays import end_marked, kill

EndedBy = Literal["timeout", "interrupt"]

_TICK_S: Final = 0.1
_GRACE_S: Final = 2.0  # for a worker to keep its partial predictions
_READY_S: Final = 300.0  # the first import of a large library from a slow disk
_GONE_S: Final = 15.0
_RELEASE_S: Final = 15.0


@dataclass(frozen=True)
class WorkerEnd:
    """How the worker's process ended.

    Attributes:
        status: exit code, negative for a signal; 0 for one that waits for its next order; None when its launcher was
            lost with it.
        ended_by: why this supervisor ended it; None when it ended by itself or by somebody else.
        peak_bytes: peak resident set by the system's account; None when unknown.
        elapsed_s: seconds from the start of the worker to its end.
    """

    status: int | None
    ended_by: EndedBy | None
    peak_bytes: int | None
    elapsed_s: float


class Supervisor:
    """One launcher process with `modules` imported, and the workers forked from it, one at a time.

    Raises:
        OutsideFailureError: the launcher cannot be started or does not get ready.
    """

    def __init__(self, modules: Sequence[str], *, start_method: Literal["forkserver", "spawn"] = "forkserver") -> None:
        """Remember what to preload; the process starts on entering the `with` block."""
        self._modules = tuple(modules) if start_method == "forkserver" else ("--spawn",)
        self.start_method = start_method
        self.why_spawn: str | None = None

    def __enter__(self) -> Self:
        """Start the launcher and wait until its imports are done."""
        self._process = subprocess.Popen(  # noqa: S603  (our own module in our own interpreter)
            [sys.executable, "-P", "-m", "lab.measure.launcher", *self._modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C at the terminal is the runner's to handle
            env=_environment(),
            bufsize=0,
        )
        self._rest = b""
        answer = self._answer(time.monotonic() + _READY_S)
        if answer is None:
            self.close()
            raise OutsideFailureError(fault("launcher-failed"))
        self.start_method = "forkserver" if answer["start_method"] == "forkserver" else "spawn"
        self.why_spawn = answer["why"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the launcher, and with it whatever it still runs."""
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the launcher can take another order."""
        return self._process.poll() is None

    def run(  # noqa: PLR0913  (an order, its limits, and the two listeners, all but two by name)
        self,
        order: Path,
        log: Path,
        *,
        timeout_s: float,
        keep: bool = False,
        asked_to_stop: Callable[[], bool] = lambda: False,
        tick: Callable[[], None] = lambda: None,
    ) -> WorkerEnd:
        """Run one order to its end, whatever end that is.

        Args:
            order: the worker's order file.
            log: the file its output goes to.
            timeout_s: seconds after which it is ended.
            keep: the worker is to serve further orders of the same variant, until `release`; it does not wait for one
                after an order that did not complete.
            asked_to_stop: asked ten times a second; once true, the worker is ended.
            tick: called ten times a second.
        """
        began = time.perf_counter()
        self._tell(run=str(order), log=str(log), keep=keep)
        started = self._answer(time.monotonic() + _READY_S)
        pid = None if started is None else int(started["pid"])
        ended_by: EndedBy | None = None
        answer: dict[str, Any] | None = None
        while started is not None and self.alive and ended_by is None:
            answer = self._answer(time.monotonic() + _TICK_S)
            if answer is not None:
                break
            tick()
            if asked_to_stop():
                ended_by = "interrupt"
            elif time.perf_counter() - began > timeout_s:
                ended_by = "timeout"
        if answer is None and pid is not None:
            answer = self._end(pid) if self.alive else None
            if answer is None:  # lost, or stuck: its next answer would be taken for another order's
                self._process.kill()
                self._process.wait()
                _kill_orphan(pid, order.parent.name)
        elapsed = round(time.perf_counter() - began, 6)
        if answer is None:
            return WorkerEnd(None, ended_by, None, elapsed)
        if "done" in answer:
            return WorkerEnd(0, ended_by, None, elapsed)
        return WorkerEnd(int(answer["status"]), ended_by, int(answer["peak_bytes"]), elapsed)

    def release(self) -> None:
        """Let a worker that was kept go, so that it holds no device while others are measured."""
        if self.alive:
            self._tell(release=True)
            self._answer(time.monotonic() + _RELEASE_S)

    def close(self) -> None:
        """End the launcher: its input closes, and it kills what it started. By force if it does not leave."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            self._process.wait(_GONE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _end(self, pid: int) -> dict[str, Any] | None:
        """End the worker's whole group: asked first, then killed; also children that left the group."""
        strays = _descendants(pid)
        self._tell(signal=int(signal.SIGTERM))
        answer = self._answer(time.monotonic() + _GRACE_S)
        if answer is None:
            strays = {*strays, *_descendants(pid)}
            self._tell(signal=int(signal.SIGKILL))
            answer = self._answer(time.monotonic() + _GONE_S)
        kill(strays)
        return answer

    def _tell(self, **command: object) -> None:
        with suppress(OSError):  # the launcher is gone: the next answer will be None
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(command).encode() + b"\n")

    def _answer(self, until: float) -> dict[str, Any] | None:
        """The next answer; None when there is none by `until` (monotonic seconds) or the launcher is gone."""
        stream = self._process.stdout
        if stream is None:
            return None
        while b"\n" not in self._rest:
            ready, _, _ = select.select([stream], [], [], max(0.0, until - time.monotonic()))
            data = os.read(stream.fileno(), 65536) if ready else b""
            if not data:
                if ready:  # closed: wait for the process itself, so that `alive` is right at once
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_GONE_S)
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _descendants(pid: int) -> set[psutil.Process]:
    try:
        return set(psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return set()


def _kill_orphan(pid: int, attempt_id: str) -> None:
    """Kill a worker whose launcher is gone: nobody else can end it, its group with it, and what it had started."""
    below = _descendants(pid)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    kill(below)
    end_marked(attempt_id)


def _environment() -> dict[str, str]:
    """This process's environment, with this very package importable in the child."""
    here = str(Path(lab.__file__).resolve().parent.parent)
    variables = dict(os.environ)
    if here not in site.getsitepackages():
        variables["PYTHONPATH"] = os.pathsep.join(part for part in (here, variables.get("PYTHONPATH")) if part)
    return variables
