"""A program run to its end: its output kept within bounds, its phase marks stamped, the lines it writes counted."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lab.workloads.phase_marks import PHASES_VARIABLE, PhaseMarks

HEAD_BYTES: Final = 1 << 20
TAIL_BYTES: Final = 1 << 20

_CHUNK: Final = 1 << 16
_LOOK_EVERY_S: Final = 0.25  # for the lines written so far, and for the end where the system cannot tell it by itself
_LAST_READINGS: Final = 64  # of what is left in a pipe that a child of the program's own may go on filling


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code (negative for a signal), when it began and ended by `time.perf_counter`."""

    code: int
    began: float
    ended: float
    marks: PhaseMarks


class BoundedOutput:
    """What a program prints, on its way to a file: the beginning at once, the end when it is over, the rest counted.

    Attributes:
        written: bytes printed so far.
        left_out: bytes that went nowhere; known after `close`.
    """

    def __init__(self, target: int, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        """Take the descriptor that the output goes to, and how many bytes of its two ends are kept."""
        self._target = target
        self._head = head
        self._tail = tail
        self._end: deque[bytes] = deque()
        self._held = 0
        self.written = 0
        self.left_out = 0

    def take(self, data: bytes) -> None:
        """Pass on what belongs to the beginning, hold what may be the end."""
        room = max(0, self._head - self.written)
        self.written += len(data)
        if room:
            _write(self._target, data[:room])
        if rest := data[room:]:
            self._end.append(rest)
            self._held += len(rest)
            while self._held - len(self._end[0]) >= self._tail:
                dropped = len(self._end.popleft())
                self._held -= dropped
                self.left_out += dropped

    def close(self) -> None:
        """Say how many bytes are left out, if any, and write the end; from a line's beginning where there is one."""
        end = b"".join(self._end)
        self._end.clear()
        if surplus := max(0, len(end) - self._tail):
            self.left_out += surplus
            end = end[surplus:]
        if self.left_out:
            rest = end[end.find(b"\n") + 1 :]
            self.left_out += len(end) - len(rest)
            end = f"\n[... {self.left_out} bytes ...]\n".encode() + rest
        _write(self._target, end)


class _Lines:
    """Counts the lines of a file that another program is writing; a last one without its end does not count."""

    def __init__(self, path: Path, told: Callable[[int], None]) -> None:
        self._path = path
        self._told = told
        self._at = 0
        self._next = 0.0
        self._blank = True
        self._count = 0
        self._said = -1

    def look(self, *, now: bool = False) -> None:
        if not now and time.perf_counter() < self._next:
            return
        self._next = time.perf_counter() + _LOOK_EVERY_S
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(self._at)
            while data := file.read(_CHUNK):
                self._at += len(data)
                *whole, rest = data.split(b"\n")
                for line in whole:
                    self._count += not (self._blank and not line.strip())
                    self._blank = True
                self._blank = self._blank and not rest.strip()
        if self._count != self._said and (now or self._count):
            self._said = self._count
            self._told(self._count)


def run_program(  # noqa: PLR0913  (what runs, where and with what, and the two that listen)
    arguments: Sequence[str],
    folder: Path,
    predictions: Path,
    told: Callable[[int], None],
    output: BoundedOutput,
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Ended:
    """Start the program in `folder`, without standard input, and stay with it until it has ended.

    Args:
        arguments: the program and what it is given.
        folder: where it runs.
        predictions: the file whose lines are counted while it is written.
        told: called with their number, about four times a second and at the end.
        output: takes standard output and standard error, in the order they come.
        variables: of its environment, in place of this process's own.

    Returns:
        How it ended. It is ended at once when it marks a phase that does not exist (`marks.unknown`).

    Raises:
        OSError: it cannot be started.
    """
    lines = _Lines(predictions, told)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lab-phases-", ignore_cleanup_errors=True)))
        channel = _channel(place / "marks", stack)
        marks = PhaseMarks()
        stack.callback(lines.look, now=True)
        stack.callback(output.close)
        began = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603  (the manifest is the engineer's own; a shell only where it says so)
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            env={**os.environ, **variables, PHASES_VARIABLE: str(place / "marks")},
        )
        takers: dict[int, Callable[[bytes], None]] = {channel: marks.take}
        if process.stdout is not None:
            stack.callback(process.stdout.close)
            os.set_blocking(process.stdout.fileno(), False)
            takers[process.stdout.fileno()] = output.take
        stack.callback(_drain, takers)
        stack.callback(_end, process)
        ended = _watch(process, takers, marks, lines)
        return Ended(-signal.SIGKILL if process.poll() is None else process.returncode, began, ended, marks)


def _channel(path: Path, stack: ExitStack) -> int:
    """A pipe with a name: each line is read, and so stamped, when it is written."""
    os.mkfifo(path, 0o600)
    channel = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # also for writing: so it never ends while a program reopens it
    stack.callback(os.close, channel)
    return channel


def _watch(
    process: subprocess.Popen[bytes], takers: Mapping[int, Callable[[bytes], None]], marks: PhaseMarks, lines: _Lines
) -> float:
    """Take what comes until the process has ended; returns when that was."""
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        for source in takers:
            selector.register(source, selectors.EVENT_READ)
        if hasattr(os, "pidfd_open"):
            own_end = os.pidfd_open(process.pid)
            stack.callback(os.close, own_end)
            selector.register(own_end, selectors.EVENT_READ)
        while process.poll() is None:
            for key, _ in selector.select(_LOOK_EVERY_S):
                take = takers.get(key.fd)
                if take is not None and not _take(key.fd, take):
                    selector.unregister(key.fd)
            if marks.unknown:
                break
            lines.look()
        return time.perf_counter()


def _take(source: int, take: Callable[[bytes], None]) -> bool:
    """Pass one reading on; false once the other side has closed."""
    try:
        data = os.read(source, _CHUNK)
    except BlockingIOError:
        return True
    if data:
        take(data)
    return bool(data)


def _drain(takers: Mapping[int, Callable[[bytes], None]]) -> None:
    """Take what the program said last; what children of its own still say is not waited for."""
    for source, take in takers.items():
        with suppress(BlockingIOError):
            for _ in range(_LAST_READINGS):
                data = os.read(source, _CHUNK)
                if not data:
                    break
                take(data)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
