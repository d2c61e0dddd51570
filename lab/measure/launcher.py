"""The process that workers are forked from, with the slow imports already done, and which sees each of them end.

`python -m lab.measure.launcher MODULE…` imports the modules, then takes one line of JSON at a time on its standard
input and answers on its standard output:

    {"run": ORDER, "log": FILE}   -> {"pid": N}, and when that worker has ended {"status": CODE, "peak_bytes": N}
    {"signal": N}                 -> the signal goes to the worker's process group

CODE is an exit code, negative for a signal. When its standard input ends, the launcher kills what it started and
leaves. With `--spawn` first, or where the modules cannot be imported here, each worker is a fresh interpreter instead.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from lab.measure import worker

_CRASHED: Final = 70  # the worker's own code failed before it could say anything
_KIB: Final = 1024
_SPAWN: Final = "--spawn"


class Launcher:
    """One launcher: its channel to the supervisor, and at most one worker at a time."""

    def __init__(self, commands: int, answers: BinaryIO, *, forks: bool) -> None:
        """Take the descriptor that commands come from, the stream that answers go to, and how workers are started."""
        self._commands = commands
        self._answers = answers
        self._forks = forks
        self._lines = _Lines(commands)
        self._child_ended, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)

    def serve(self) -> None:
        """Take commands until the supervisor is gone."""
        while True:
            for command in self._lines.wait():
                if "run" in command:
                    self._run(Path(command["run"]), Path(command["log"]))
            if self._lines.ended:
                return

    def _run(self, order: Path, log: Path) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_worker(order, log)
        self._answer(pid=pid)
        while not self._has_ended(pid):
            ready, _, _ = select.select([self._commands, self._child_ended], [], [])
            if self._child_ended in ready:
                os.read(self._child_ended, 4096)
            for command in self._lines.wait() if self._commands in ready else ():
                _signal_group(pid, int(command["signal"]))
            if self._lines.ended:
                _signal_group(pid, signal.SIGKILL)
        _signal_group(pid, signal.SIGKILL)  # what the worker left running; its own id is still taken, so no other's
        _, status, usage = os.wait4(pid, 0)
        peak = usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * _KIB
        with suppress(BrokenPipeError):
            self._answer(status=os.waitstatus_to_exitcode(status), peak_bytes=peak)

    def _has_ended(self, pid: int) -> bool:
        """Whether the worker has ended, without taking its id away yet."""
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def _become_worker(self, order: Path, log: Path) -> None:
        """In the child: a session of its own, the log as its output, no way back to the supervisor."""
        code = _CRASHED
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nowhere = os.open(os.devnull, os.O_RDONLY)
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            for source, target in ((nowhere, 0), (output, 1), (output, 2)):
                os.dup2(source, target)
            os.close(self._answers.fileno())
            if self._forks:
                sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
                code = worker.main([str(order)])
                sys.stdout.flush()
                sys.stderr.flush()
            else:
                os.execv(sys.executable, [sys.executable, "-P", "-m", "lab.measure.worker", str(order)])  # noqa: S606  (no shell: the same interpreter, its own arguments)
        except BaseException:  # noqa: BLE001  (nothing of the launcher may run in the child)
            traceback.print_exc()
        finally:
            os._exit(code)

    def _answer(self, **facts: object) -> None:
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


def main(modules: list[str]) -> int:
    """Import, say so, serve."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever an import prints must not look like an answer
    forks = _SPAWN not in modules
    try:
        for name in modules if forks else ():
            importlib.import_module(name)
    except Exception:  # noqa: BLE001  (a worker will meet the same and put it in its log)
        traceback.print_exc()
        forks = False
    gc.collect()
    gc.freeze()  # a worker's own collections need not walk the imports, nor copy their pages
    answers.write(json.dumps({"start_method": "forkserver" if forks else "spawn"}).encode() + b"\n")
    Launcher(0, answers, forks=forks).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
