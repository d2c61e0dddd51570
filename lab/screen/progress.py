"""A run's progress on standard error: a live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from lab.errors import Fault
from lab.messages import DASH, Messages
from lab.model.attempt import FAILURES

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from lab.measure.events import AttemptEnded, AttemptProgress, CoolingDown, Event, Recovered, Standing


_MINUTE_S = 60


@dataclass
class View:
    """Takes what happens during a run and shows it; `live` are the moving lines, None where there is no terminal."""

    words: Messages
    stream: TextIO
    live: Progress | None = None
    _run: TaskID | None = field(default=None, init=False)
    _task: TaskID | None = field(default=None, init=False)
    _minutes: int = field(default=0, init=False)

    def say(self, key: str, values: Mapping[str, object]) -> None:
        """Print one line of the catalogues."""
        self._line(self.words.text(key, **values))

    def notice(self, fault: Fault) -> None:
        """Print what went another way than planned, and what to do."""
        self._line(self.words.fault(fault))

    def observe(self, event: Event) -> None:
        """Show one event of a run."""
        from lab.measure import events

        match event:
            case events.AttemptProgress():
                self._moved(event)
            case events.AttemptEnded():
                self._ended(event)
            case events.Recovered():
                self._recovered(event)
            case events.CoolingDown():
                self._cooling(event)
            case events.AttemptStarted():
                self._minutes = 0  # the first progress follows at once

    def _moved(self, event: AttemptProgress) -> None:
        if self.live is None:
            self._told(event)
            return
        standing = event.standing
        whole = self.words.text("screen.run.whole", remaining=self._left(event.remaining_s), failed=_failed(standing))
        text = self.words.text(
            "screen.run.moving",
            round=standing.slot.round,
            variant=standing.slot.variant,
            phase=self.words.text(f"phase.{event.phase}"),
            rate=DASH if event.rate is None else self.words.number(event.rate, 0),
        )
        if self._run is None:
            self._run = self.live.add_task(whole, total=standing.total)
        if self._task is None:
            self._task = self.live.add_task(text, total=event.inputs)
        self.live.update(self._run, description=whole, completed=standing.index - 1, total=standing.total)
        self.live.update(self._task, description=text, completed=event.completed, total=event.inputs)

    def _ended(self, event: AttemptEnded) -> None:
        if self.live is not None and self._task is not None:
            self.live.remove_task(self._task)
            self._task = None
        attempt, standing = event.record.attempt, event.standing
        duration = attempt.duration_s if attempt.duration_s is not None else attempt.elapsed_s
        line = self.words.text(
            "screen.run.ended",
            index=standing.index,
            total=standing.total,
            round=standing.slot.round,
            variant=standing.slot.variant,
            outcome=self.words.text(f"outcome.{attempt.outcome}"),
            inputs=attempt.completed_inputs if attempt.completed_inputs is not None else DASH,
            seconds=self.words.number(duration, 3),
        )
        if standing.index < standing.total:
            remaining = self._left(event.remaining_s)
            line = self.words.text("screen.run.so_far", line=line, remaining=remaining, failed=_failed(standing))
        because = event.record.details.ended_because
        self._line(line if because is None else f"{line}\n    {self.words.text(because.key, **because.values)}")

    def _told(self, event: AttemptProgress) -> None:
        """Where nothing moves: a line a minute of a pass that takes longer."""
        minutes = int(event.elapsed_s // _MINUTE_S)
        if minutes > self._minutes:
            self._minutes = minutes
            standing = event.standing
            self._line(
                self.words.text(
                    "screen.run.still",
                    index=standing.index,
                    total=standing.total,
                    round=standing.slot.round,
                    variant=standing.slot.variant,
                    phase=self.words.text(f"phase.{event.phase}"),
                    done=event.completed,
                    inputs=event.inputs,
                    elapsed=self._time(event.elapsed_s),
                    remaining=self._left(event.remaining_s),
                )
            )

    def _left(self, seconds: float | None) -> str:
        """How much longer the run takes, as far as that is known."""
        if seconds is None:
            return self.words.text("screen.run.left_unknown")
        return self.words.text("screen.run.left", time=self._time(seconds))

    @staticmethod
    def _time(seconds: float) -> str:
        """`1:02:03`, as clocks show it in each of the languages."""
        minutes, rest = divmod(round(seconds), _MINUTE_S)
        hours, minutes = divmod(minutes, _MINUTE_S)
        return f"{hours}:{minutes:02}:{rest:02}"

    def _recovered(self, event: Recovered) -> None:
        self._line(self.words.text("screen.run.recovered", attempt=event.record.attempt.attempt_id))

    def _cooling(self, event: CoolingDown) -> None:
        self._line(self.words.text("screen.run.cooling", seconds=self.words.number(event.seconds, 0)))

    def _line(self, text: str) -> None:
        if self.live is None:
            self.stream.write(text + "\n")
            self.stream.flush()
        else:
            self.live.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _failed(standing: Standing) -> int:
    """Attempts of this run that failed by themselves; one that a person cut off is none of them."""
    return sum(standing.failures.get(outcome, 0) for outcome in FAILURES)


@contextmanager
def progress(words: Messages, stream: TextIO | None = None) -> Iterator[View]:
    """Show a run on `stream` (default: standard error) for as long as the block lasts."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield View(words, stream)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        BarColumn(bar_width=8),  # so that a line fits into 80 characters
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as live:
        yield View(words, stream, live)
