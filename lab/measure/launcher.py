"""The process that workers are forked from, with the slow imports already done, and which sees each of them end.

`python -m lab.measure.launcher MODULE…` imports the modules, then takes one line of JSON at a time on its standard
input and answers on its standard output:

    {"run": ORDER, "log": FILE, "keep": BOOL}
                       -> {"pid": N}, then {"status": CODE, "peak_bytes": N} when that worker has ended, or
                          {"done": true} when it has done its order and, being kept, waits for the next
    {"signal": N}      -> the signal goes to the worker's process group
    {"release": true}  -> {"released": true}, once the worker that waits is gone

CODE is an exit code, negative for a signal. When its standard input ends, the launcher kills what it started and
leaves. With `--spawn` first, where the modules cannot be imported here, or where importing them took hold of a device
(which does not survive a fork), each worker is a fresh interpreter instead; its first answer says which and why.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from lab.measure import strays, worker

_CRASHED: Final = 70  # the worker's own code failed before it could say anything
_KIB: Final = 1024
_SPAWN: Final = "--spawn"
_RELEASE_S: Final = 5.0  # for a kept worker to leave by itself once its orders end


@dataclass
class _Worker:
    """A worker's process: where its next order goes to, and where it says that it has done one (None: not kept)."""

    pid: int
    orders: int | None = None
    said: int | None = None

    def close(self) -> None:
        """Close this side of its pipes."""
        for end in (self.orders, self.said):
            if end is not None:
                os.close(end)
        self.orders = self.said = None


class Launcher:
    """One launcher: its channel to the supervisor, and at most one worker at a time."""

    def __init__(self, commands: int, answers: BinaryIO, *, forks: bool) -> None:
        """Take the descriptor that commands come from, the stream that answers go to, and how workers are started."""
        self._commands = commands
        self._answers = answers
        self._forks = forks
        self._lines = _Lines(commands)
        self._kept: _Worker | None = None
        self._own = strays.children()  # what an import has started
        self._child_ended, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)

    def serve(self) -> None:
        """Take commands until the supervisor is gone."""
        while not self._lines.ended:
            for command in self._lines.wait():
                if "run" in command:
                    self._run(Path(command["run"]), Path(command["log"]), keep=bool(command.get("keep")))
                elif "release" in command:
                    self._release()
                    self._answer(released=True)
        self._release()

    def _run(self, order: Path, log: Path, *, keep: bool) -> None:
        if self._kept is not None and (not keep or self._has_ended(self._kept.pid)):
            self._release()
        if self._kept is None:
            one = self._start(order, log, keep=keep)
        else:
            one, self._kept = self._kept, None
            with suppress(OSError):  # it died just now: its end is seen below
                os.write(one.orders or 0, json.dumps([str(order), str(log)]).encode() + b"\n")
        self._answer(pid=one.pid)
        while not self._has_ended(one.pid):
            sources = [self._commands, self._child_ended, *([one.said] if one.said is not None else [])]
            ready, _, _ = select.select(sources, [], [])
            if self._child_ended in ready:
                os.read(self._child_ended, 4096)
            for command in self._lines.wait() if self._commands in ready else ():
                if "signal" in command:
                    _signal_group(one.pid, int(command["signal"]))
            if self._lines.ended:
                _signal_group(one.pid, signal.SIGKILL)
            elif one.said in ready and os.read(one.said or 0, 1):
                self._kept = one
                strays.end_adopted({*self._own, one.pid})
                self._answer(done=True)
                return
        self._ended(one)

    def _ended(self, one: _Worker) -> None:
        """End what the worker left running, its own group and what got out of it, and say how it ended."""
        _signal_group(one.pid, signal.SIGKILL)  # its own id is still taken, so this is no other's group
        one.close()
        _, status, usage = os.wait4(one.pid, 0)
        strays.end_adopted(self._own)
        peak = usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * _KIB
        self._answer(status=os.waitstatus_to_exitcode(status), peak_bytes=peak)

    def _release(self) -> None:
        """Let the worker that waits for an order go; by force if it does not leave."""
        if self._kept is None:
            return
        one, self._kept = self._kept, None
        one.close()
        until = time.monotonic() + _RELEASE_S
        while not self._has_ended(one.pid) and time.monotonic() < until:
            select.select([self._child_ended], [], [], 0.1)
        _signal_group(one.pid, signal.SIGKILL)
        os.waitpid(one.pid, 0)
        strays.end_adopted(self._own)

    def _start(self, order: Path, log: Path, *, keep: bool) -> _Worker:
        orders, orders_in = os.pipe() if keep else (None, None)
        said_out, said = os.pipe() if keep else (None, None)
        pid = os.fork()
        if pid == 0:
            for end in (orders_in, said_out, self._answers.fileno(), self._child_ended):
                if end is not None:
                    os.close(end)  # each end closes with its owner, or the other side never sees it
            self._become_worker(order, log, [end for end in (orders, said) if end is not None])
        for end in (orders, said):
            if end is not None:
                os.close(end)
        return _Worker(pid, orders_in, said_out)

    def _has_ended(self, pid: int) -> bool:
        """Whether the worker has ended, without taking its id away yet."""
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def _become_worker(self, order: Path, log: Path, kept: list[int]) -> None:
        """In the child: a session of its own, the log as its output, no way back to the supervisor."""
        code = _CRASHED
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nowhere = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nowhere, 0)
            os.close(nowhere)
            worker.write_to(log)
            if self._forks:
                sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
                code = worker.main([str(order), *map(str, kept)])
                sys.stdout.flush()
                sys.stderr.flush()
            else:
                for end in kept:
                    os.set_inheritable(end, True)  # noqa: FBT003  (the function takes nothing else)
                arguments = [sys.executable, "-P", "-m", "lab.measure.worker", str(order), *map(str, kept)]
                os.execv(sys.executable, arguments)  # noqa: S606  (no shell: the same interpreter, its own arguments)
        except BaseException:  # noqa: BLE001  (nothing of the launcher may run in the child)
            traceback.print_exc()
        finally:
            os._exit(code)

    def _answer(self, **facts: object) -> None:
        with suppress(BrokenPipeError):  # the supervisor is gone: `serve` ends
            self._answers.write(json.dumps(facts).encode() + b"\n")


class _Lines:
    """Whole lines of JSON from a descriptor."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._rest = b""
        self.ended = False

    def wait(self) -> Iterator[dict[str, Any]]:
        """Read once and give every line that is whole now; `ended` once the other side has closed."""
        data = os.read(self._source, 65536)
        self.ended = not data
        *whole, self._rest = (self._rest + data).split(b"\n")
        return (json.loads(line) for line in whole)


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:  # between the fork and setsid there is no such group yet
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _why_not_fork(modules: list[str]) -> str | None:
    """Why workers cannot be forked from this process; None when they can. Imports the modules."""
    if _SPAWN in modules:
        return "asked"
    try:
        for name in modules:
            importlib.import_module(name)
    except Exception:  # noqa: BLE001  (a worker will meet the same and put it in its log)
        traceback.print_exc()
        return "import_failed"
    torch = sys.modules.get("torch")
    held = [
        name
        for name in ("cuda", "xpu")
        if torch is not None and getattr(getattr(torch, name, None), "is_initialized", bool)()
    ]
    return "device_held" if held else None


def main(modules: list[str]) -> int:
    """Import, say so, serve."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever an import prints must not look like an answer
    strays.adopt()
    why = _why_not_fork(modules)
    gc.collect()
    gc.freeze()  # a worker's own collections need not walk the imports, nor copy their pages
    said = {"start_method": "spawn" if why else "forkserver", "why": why}
    answers.write(json.dumps(said).encode() + b"\n")
    Launcher(0, answers, forks=why is None).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
