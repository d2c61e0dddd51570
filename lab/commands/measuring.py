"""The commands that make, seal, measure and judge a campaign."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lab import checks, pipeline
from lab.commands.base import HERE, Folder, command
from lab.errors import UsageProblemError, fault
from lab.messages import Messages
from lab.screen import answers
from lab.screen.answers import Shown
from lab.screen.progress import progress


@command("demo")
def demo(folder: Folder = Path("demo"), *, words: Messages) -> Shown:
    """Build, measure, judge and report the demo campaign."""
    from lab.demo.campaign import run_demo

    with progress(words) as view:
        return answers.demo_done(run_demo(folder, words.language, view.observe, view.notice, view.say))


@command("init")
def init(
    folder: Annotated[Path, typer.Argument(help="cli.init.dir", metavar="DIR", show_default=False)],
    *,
    name: Annotated[str | None, typer.Option(help="cli.init.name", show_default=False)] = None,
    words: Messages,
) -> Shown:
    """Make an empty campaign to fill."""
    return answers.initialised(pipeline.initialise(folder, words.language, name))


@command("check")
def check(folder: Folder = HERE, *, words: Messages) -> Shown:
    """Say what stands in the way of measuring or judging."""
    return answers.checked(folder, checks.check(folder), words)


@command("seal")
def seal(folder: Folder = HERE) -> Shown:
    """Fix what was decided, before the first timing."""
    return answers.sealed(pipeline.seal(folder, only=()))  # what a machine cannot run, its own `lab run` refuses


@command("amend")
def amend(
    folder: Folder = HERE, *, reason: Annotated[str, typer.Option(help="cli.amend.reason", show_default=False)]
) -> Shown:
    """Put a new seal over what has changed."""
    from lab.screen.integrity import amended

    return amended(pipeline.amend(folder, reason))


@command("run")
def run(
    folder: Folder = HERE,
    *,
    only: Annotated[list[str] | None, typer.Option(help="cli.run.only", show_default=False)] = None,
    plan: Annotated[bool, typer.Option("--plan", help="cli.run.plan")] = False,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="cli.run.engine")] = "local",
    address: Annotated[str | None, typer.Option(help="cli.run.address", show_default=False)] = None,
    place_within: Annotated[float, typer.Option(help="cli.run.place_within", min=1)] = 120,
    words: Messages,
) -> Shown:
    """Measure what is still to be measured."""
    if plan:
        return answers.planned(*pipeline.plan(pipeline.load(folder, examine=False), only))
    if address is not None and engine != "ray":
        raise UsageProblemError(fault("address-without-ray", place="--address"))
    from lab.measure.engines import EngineChoice

    chosen = EngineChoice(engine, address, place_within)
    with progress(words) as view:
        done = pipeline.run(folder, only=only, observe=view.observe, notice=view.notice, engine=chosen)
        return answers.judged(done)


@command("status")
def status(folder: Folder = HERE) -> Shown:
    """Say how far a campaign is, also while it runs in another terminal."""
    return answers.status(pipeline.status(folder))


@command("judge")
def judge(
    folder: Folder = HERE,
    *,
    predictions: Annotated[Path | None, typer.Option(help="cli.judge.predictions", show_default=False)] = None,
    attempt: Annotated[str | None, typer.Option(help="cli.judge.attempt", show_default=False)] = None,
    map_file: Annotated[Path | None, typer.Option("--map", help="cli.judge.map", show_default=False)] = None,
) -> Shown:
    """Recompute every verdict from the predictions, and take in those of an imported attempt."""
    if predictions is None and attempt is None and map_file is None:
        return answers.judged(pipeline.judge(folder))
    if predictions is None or attempt is None:
        raise UsageProblemError(fault("judge-both-options", place="--attempt" if attempt is None else "--predictions"))
    from lab.exchange.importing import read_map
    from lab.exchange.predicting import attach
    from lab.screen.importing import attached

    found = attach(folder, predictions, attempt, None if map_file is None else read_map(map_file))
    return attached(found, pipeline.judge(folder))
