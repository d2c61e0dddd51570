"""What a run shows while it goes on, in a terminal and elsewhere."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.progress import Progress

from lab.errors import fault
from lab.measure.events import AttemptEnded, AttemptProgress, AttemptStarted, CoolingDown, Recovered, Standing
from lab.measure.progress import PHASES
from lab.messages import LANGUAGES, messages
from lab.model.attempt import Attempt, Details, Record, Slot
from lab.model.reason import reason
from lab.screen.progress import View, progress

STANDING = Standing(Slot("b8", "tickets", 0, 2, 1), "b8_tickets_r2", 4, 6, {"failed": 1})
FAILED = Record(
    Attempt("b8_tickets_r2", outcome="failed", completed_inputs=7, elapsed_s=0.5),
    Details(ended_because=reason("ended.killed", signal="SIGKILL")),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_lines_where_there_is_no_terminal(language: str) -> None:
    """One line per ended pass with its reason; nothing moves."""
    stream = io.StringIO()
    with progress(messages(language), stream) as view:
        assert view.live is None
        view.observe(AttemptStarted(STANDING))
        view.observe(AttemptProgress(STANDING, "measuring", 3, 10, 12.5, 0.2))
        view.observe(AttemptEnded(STANDING, FAILED))
        view.observe(Recovered(FAILED))
        view.observe(CoolingDown(3))
        view.notice(fault("campaign-missing", file="x"))
    lines = stream.getvalue().splitlines()
    assert "b8" in lines[0]
    assert "SIGKILL" in lines[1]
    assert "b8_tickets_r2" in lines[2]
    assert len(lines) == 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_pass_says_a_line_a_minute_where_there_is_no_terminal(language: str) -> None:
    """Inputs done, elapsed and remaining; a word while nobody knows; and what is left once the pass has ended."""
    stream = io.StringIO()
    with progress(messages(language), stream) as view:
        view.observe(AttemptStarted(STANDING))
        for second in range(0, 190, 10):
            left = None if second < 100 else 3725.0
            view.observe(AttemptProgress(STANDING, "measuring", second, 200, 1.0, float(second), left))
        view.observe(AttemptEnded(STANDING, FAILED, 61.0))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 5
    assert [part in line for part, line in zip(("0:01:00", "0:02:00", "0:03:00"), lines, strict=False)] == [True] * 3
    assert "60" in lines[0]
    assert messages(language).text("screen.run.left_unknown") in lines[0]
    assert "1:02:05" in lines[1]
    assert "0:01:01" in lines[3]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_moving_line_in_a_terminal(language: str) -> None:
    """One line for the run and one for the pass, which knows every phase and makes room for the line of its end."""
    stream = io.StringIO()
    with Progress(console=Console(file=stream, force_terminal=True, width=120)) as live:
        view = View(messages(language), stream, live)
        for phase in PHASES:
            view.observe(AttemptProgress(STANDING, phase, 3, 10, None, 0.2))
        run, one = live.tasks
        assert "1" in run.description
        assert (run.completed, run.total) == (3, 6)
        assert "b8" in one.description
        assert (one.completed, one.total) == (3, 10)
        view.observe(AttemptEnded(STANDING, FAILED))
        assert [task.id for task in live.tasks] == [run.id]
    assert "SIGKILL" in stream.getvalue()


def test_an_attempt_that_a_person_stopped_is_no_failure() -> None:
    """What was cut off says nothing of the variant, so it is not counted among the failures so far."""
    stream = io.StringIO()
    with progress(messages("en"), stream) as view:
        view.observe(AttemptEnded(replace(STANDING, failures={"interrupted": 3, "timed_out": 1}), FAILED, None))
    assert "failed so far: 1" in stream.getvalue()
