"""Ctrl-C and the like as a question that is asked between steps, so that nothing is left half written."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Final, Self

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupts:
    """While its `with` block runs, the signals that end a program are only remembered.

    Outside the main thread, where Python gives no signals, nothing is changed and nothing is ever asked.
    """

    def __init__(self) -> None:
        """Nothing has been asked yet."""
        self.asked: int | None = None

    def __enter__(self) -> Self:
        """Take the signals."""
        self._before = (
            {number: signal.signal(number, self._remember) for number in _SIGNALS}
            if threading.current_thread() is threading.main_thread()
            else {}
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def raise_if_asked(self) -> None:
        """Raise KeyboardInterrupt when a signal has come."""
        if self.asked is not None:
            raise KeyboardInterrupt

    def _remember(self, number: int, _frame: FrameType | None) -> None:
        self.asked = number
