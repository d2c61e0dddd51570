"""The command line: parses, calls the pipeline, prints, and maps errors to exit codes."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from lab import pipeline, screen
from lab.errors import LabError
from lab.messages import DASH, LANGUAGES, Messages, messages
from lab.screen import Shown

INTERRUPTED, WRONG_USAGE, OUTSIDE_FAILED = 130, 2, 4

# Help texts are keys of the catalogues until `_translated` fills them in: the language is known only at run time.
Folder = Annotated[Path, typer.Argument(help="cli.dir", show_default=False)]
Language = Annotated[str | None, typer.Option("--lang", help="cli.lang", metavar="en|fr|it", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="cli.json")]
Debug = Annotated[bool, typer.Option("--debug", help="cli.debug")]

HERE = Path()
COMMON = {"lang": (Language, None), "as_json": (AsJson, False), "debug": (Debug, False)}

app = typer.Typer(add_completion=False, no_args_is_help=True, help="cli.help", rich_markup_mode="rich")


def _command(name: str) -> Callable[[Callable[..., Shown]], Callable[..., Shown]]:
    """Register a command under `name` with the options that all commands share, declared once."""

    def register(function: Callable[..., Shown]) -> Callable[..., Shown]:
        own = inspect.signature(function)

        @wraps(function)
        def call(ctx: typer.Context, **given: object) -> Shown:
            mine = {"words": ctx.obj, **given}
            return function(**{key: value for key, value in mine.items() if key in own.parameters})

        context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for key, (annotation, default) in COMMON.items()
        ]
        mine = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.parameters.values() if one.name != "words"
        ]
        parameters = [context, *mine, *shared]
        call.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        app.command(name, help=f"cli.{name}.help", short_help=f"cli.{name}.short")(call)
        return function

    return register


@_command("demo")
def demo(folder: Folder = Path("demo"), *, words: Messages) -> Shown:
    """Build, measure, judge and report the demo campaign."""
    from lab.demo.campaign import run_demo  # noqa: PLC0415  (each command imports what it needs)

    with screen.progress(words) as view:
        return screen.demo_done(run_demo(folder, words.language, view.observe, view.notice, view.say))


@_command("init")
def init(
    folder: Folder,
    *,
    name: Annotated[str | None, typer.Option(help="cli.init.name", show_default=False)] = None,
    words: Messages,
) -> Shown:
    """Make an empty campaign to fill."""
    return screen.initialised(pipeline.initialise(folder, words.language, name))


@_command("check")
def check(folder: Folder = HERE) -> Shown:
    """Say what stands in the way of measuring or judging."""
    return screen.checked(folder, *pipeline.check(folder))


@_command("seal")
def seal(folder: Folder = HERE) -> Shown:
    """Fix what was decided, before the first timing."""
    return screen.sealed(pipeline.seal(folder))


@_command("run")
def run(
    folder: Folder = HERE,
    *,
    only: Annotated[list[str] | None, typer.Option(help="cli.run.only", show_default=False)] = None,
    plan: Annotated[bool, typer.Option("--plan", help="cli.run.plan")] = False,
    words: Messages,
) -> Shown:
    """Measure what is still to be measured."""
    if plan:
        return screen.planned(*pipeline.plan(pipeline.load(folder, examine=False)))
    with screen.progress(words) as view:
        return screen.judged(pipeline.run(folder, only=only, observe=view.observe, notice=view.notice))


@_command("status")
def status(folder: Folder = HERE) -> Shown:
    """Say how far a campaign is, also while it runs in another terminal."""
    return screen.status(pipeline.status(folder))


@_command("judge")
def judge(folder: Folder = HERE) -> Shown:
    """Recompute every verdict from the predictions."""
    return screen.judged(pipeline.judge(folder))


@_command("report")
def report(folder: Folder = HERE) -> Shown:
    """Write the decision report."""
    return screen.reported(pipeline.report(folder))


@_command("price")
def price(
    gpu: Annotated[str, typer.Option(help="cli.price.gpu", show_default=False)],
    *,
    days: Annotated[int | None, typer.Option(help="cli.price.days", show_default=False)] = None,
    lots: Annotated[int, typer.Option(help="cli.price.lots")] = 1,
    periods: Annotated[int, typer.Option(help="cli.price.periods")] = 1,
    window: Annotated[str | None, typer.Option(help="cli.price.window", show_default=False)] = None,
    accepted_results: Annotated[int | None, typer.Option(help="cli.price.accepted", show_default=False)] = None,
    catalogue: Annotated[Path | None, typer.Option(help="cli.price.catalogue", show_default=False)] = None,
) -> Shown:
    """Say what a package commits."""
    return screen.priced(
        pipeline.price(gpu, days, lots, periods=periods, window=window, accepted=accepted_results, catalogue=catalogue)
    )


def entry() -> None:
    """The command `lab`."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Run one command; returns its exit code (0, 1, 2, 3, 4 or 130) and never raises unless `--debug` is given."""
    words = _words(argv)
    try:
        shown = _translated(words).main(list(argv), prog_name="lab", standalone_mode=False, obj=words)
    except LabError as error:
        for one in error.faults:
            _to_stderr(words.fault(one))
        if "--json" in argv:
            _print(json.dumps({"faults": [screen.fault_data(one, words) for one in error.faults]}, ensure_ascii=False))
        if "--debug" in argv:
            raise
        return error.exit_code
    except KeyboardInterrupt:
        _to_stderr(words.text("cli.interrupted"))
        return INTERRUPTED
    except typer.TyperException as error:
        return _wrong_usage(error, words)
    except Exception as error:
        if "--debug" in argv:
            raise
        _to_stderr(words.text("cli.unexpected", kind=type(error).__name__, detail=str(error) or DASH))
        return OUTSIDE_FAILED
    if not isinstance(shown, Shown):  # --help
        return int(shown or 0)
    _print(shown.as_json() if "--json" in argv else shown.text(words))
    return shown.code


def _words(argv: Sequence[str]) -> Messages:
    """The reader's language: `--lang`, else the campaign's, else the system's, else English."""
    for place, word in enumerate(argv):
        asked = word.removeprefix("--lang=") if word.startswith("--lang=") else None
        if word == "--lang" and place + 1 < len(argv):
            asked = argv[place + 1]
        if asked in LANGUAGES:
            return messages(asked)
    folders = [Path(word) for word in argv[1:] if not word.startswith("-")] or [HERE]
    return messages(pipeline.campaign_language(folders[0]) or _system_language())


def _system_language() -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value[:2].lower()
    return "en"


def _translated(words: Messages) -> Any:  # noqa: ANN401  (typer's click classes are its own and unexported)
    """The command tree with every help text in the reader's language."""
    tree = typer.main.get_command(app)
    pending: list[Any] = [tree]
    for command in pending:
        pending.extend(getattr(command, "commands", {}).values())
        command.help, command.short_help = _filled(command.help, words), _filled(command.short_help, words)
        for parameter in command.params:
            if hasattr(parameter, "help"):
                parameter.help = _filled(parameter.help, words)
    return tree


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _to_stderr(text: str) -> None:
    sys.stderr.write(text + "\n")


def _filled(key: str | None, words: Messages) -> str | None:
    return words.text(key) if key and words.has(key) else key


def _wrong_usage(error: typer.TyperException, words: Messages) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        _translated(words).main(["--help"], prog_name="lab", standalone_mode=False)
        return WRONG_USAGE
    parameter = getattr(error, "param", None)
    named = parameter.opts[0] if parameter is not None else getattr(error, "option_name", None)
    _to_stderr(words.text("cli.wrong_usage", name=named or DASH, detail=str(error)))
    return WRONG_USAGE
