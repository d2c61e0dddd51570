"""What every command shares: its options, its language, and how a function becomes a command."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

from lab.screen.answers import Shown

# Help texts are keys of the catalogues until `lab.cli` fills them in: the language is known only at run time.
Folder = Annotated[Path, typer.Argument(help="cli.dir", metavar="DIR", show_default=False)]
Language = Annotated[str | None, typer.Option("--lang", help="cli.lang", metavar="en|fr|it", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="cli.json")]
Debug = Annotated[bool, typer.Option("--debug", help="cli.debug")]

HERE = Path()
COMMON = {"lang": (Language, None), "as_json": (AsJson, False), "debug": (Debug, False)}


@dataclass(frozen=True)
class Command:
    """One command: its name, and the function that typer calls with the options every command has."""

    name: str
    call: Callable[..., Shown]


def command(name: str) -> Callable[[Callable[..., Shown]], Command]:
    """Make a command of a function that returns what to show; the options all commands share are declared here once.

    Its help texts are `cli.<name>.help` and `cli.<name>.short`. A parameter `words` receives the reader's language.
    """

    def made(function: Callable[..., Shown]) -> Command:
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
        return Command(name, call)

    return made


def common(*, lang: Language = None, as_json: AsJson = False, debug: Debug = False) -> None:
    """The shared options, also before the command: `lab.cli.main` reads them wherever they stand."""


def program(commands: tuple[Command, ...]) -> typer.Typer:
    """The typer program of these commands; every help text in it is still a key."""
    app = typer.Typer(add_completion=False, no_args_is_help=True, help="cli.help", rich_markup_mode="rich")
    app.callback()(common)
    for one in commands:
        app.command(one.name, help=f"cli.{one.name}.help", short_help=f"cli.{one.name}.short")(one.call)
    return app
