"""The command line: parses, calls the pipeline, prints, and maps errors to exit codes."""

import gettext
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab import checks, pipeline, rentals
from lab.errors import Fault, LabError, UsageProblemError, fault
from lab.messages import DASH, LANGUAGES, LOCALES, Messages, messages
from lab.screen import answers
from lab.screen.answers import Shown, fault_data
from lab.screen.progress import progress

if TYPE_CHECKING:
    from lab.store.catalogue import CatalogueFiles

INTERRUPTED, WRONG_USAGE, OUTSIDE_FAILED = 130, 2, 4

# Help texts are keys of the catalogues until `_translated` fills them in: the language is known only at run time.
Folder = Annotated[Path, typer.Argument(help="cli.dir", metavar="DIR", show_default=False)]
Language = Annotated[str | None, typer.Option("--lang", help="cli.lang", metavar="en|fr|it", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="cli.json")]
Debug = Annotated[bool, typer.Option("--debug", help="cli.debug")]
CatalogueOption = Annotated[
    list[Path] | None, typer.Option(help="cli.price.catalogue", metavar="CSV", show_default=False)
]
SpotOption = Annotated[bool, typer.Option("--spot", help="cli.price.spot")]
IncrementOption = Annotated[int, typer.Option(help="cli.price.increment", min=1, max=999999)]

HERE = Path()
COMMON = {"lang": (Language, None), "as_json": (AsJson, False), "debug": (Debug, False)}

app = typer.Typer(add_completion=False, no_args_is_help=True, help="cli.help", rich_markup_mode="rich")


@app.callback()
def common(*, lang: Language = None, as_json: AsJson = False, debug: Debug = False) -> None:
    """The shared options, also before the command: `main` reads them wherever they stand."""


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
    from lab.demo.campaign import run_demo

    with progress(words) as view:
        return answers.demo_done(run_demo(folder, words.language, view.observe, view.notice, view.say))


@_command("init")
def init(
    folder: Annotated[Path, typer.Argument(help="cli.init.dir", metavar="DIR", show_default=False)],
    *,
    name: Annotated[str | None, typer.Option(help="cli.init.name", show_default=False)] = None,
    words: Messages,
) -> Shown:
    """Make an empty campaign to fill."""
    return answers.initialised(pipeline.initialise(folder, words.language, name))


@_command("check")
def check(folder: Folder = HERE, *, words: Messages) -> Shown:
    """Say what stands in the way of measuring or judging."""
    return answers.checked(folder, checks.check(folder), words)


@_command("seal")
def seal(folder: Folder = HERE) -> Shown:
    """Fix what was decided, before the first timing."""
    return answers.sealed(pipeline.seal(folder))


@_command("amend")
def amend(
    folder: Folder = HERE, *, reason: Annotated[str, typer.Option(help="cli.amend.reason", show_default=False)]
) -> Shown:
    """Put a new seal over what has changed."""
    from lab.screen.integrity import amended

    return amended(pipeline.amend(folder, reason))


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
        return answers.planned(*pipeline.plan(pipeline.load(folder, examine=False), only))
    with progress(words) as view:
        return answers.judged(pipeline.run(folder, only=only, observe=view.observe, notice=view.notice))


@_command("status")
def status(folder: Folder = HERE) -> Shown:
    """Say how far a campaign is, also while it runs in another terminal."""
    return answers.status(pipeline.status(folder))


@_command("judge")
def judge(folder: Folder = HERE) -> Shown:
    """Recompute every verdict from the predictions."""
    return answers.judged(pipeline.judge(folder))


@_command("report")
def report(folder: Folder = HERE) -> Shown:
    """Write the decision report."""
    notices: list[Fault] = []
    return answers.reported(pipeline.report(folder, notice=notices.append), notices)


@_command("verify")
def verify(
    folder: Folder = HERE,
    *,
    version: Annotated[int | None, typer.Option(help="cli.verify.version", show_default=False, min=1)] = None,
) -> Shown:
    """Hold a version of the report against the folder."""
    from lab.screen.integrity import verified

    return verified(pipeline.verify(folder, version))


@_command("bundle")
def bundle(
    folder: Folder = HERE,
    *,
    out: Annotated[Path | None, typer.Option(help="cli.bundle.out", show_default=False)] = None,
    with_corpus: Annotated[bool, typer.Option("--with-corpus", help="cli.bundle.with_corpus")] = False,
) -> Shown:
    """Pack the campaign as a BagIt bag."""
    from lab.screen.integrity import bundled

    changed: list[Fault] = []
    return bundled(pipeline.bundle(folder, out, with_corpus=with_corpus, notice=changed.append), changed)


@_command("price")
def price(
    gpu: Annotated[str, typer.Option(help="cli.price.gpu", show_default=False)],
    *,
    days: Annotated[int | None, typer.Option(help="cli.price.days", show_default=False)] = None,
    lots: Annotated[int, typer.Option(help="cli.price.lots")] = 1,
    periods: Annotated[int, typer.Option(help="cli.price.periods")] = 1,
    window: Annotated[str | None, typer.Option(help="cli.price.window", show_default=False)] = None,
    accepted_results: Annotated[int | None, typer.Option(help="cli.price.accepted", show_default=False)] = None,
    catalogue: CatalogueOption = None,
    spot: SpotOption = False,
    increment_minutes: IncrementOption = 60,
) -> Shown:
    """Say what a package commits."""
    files = _catalogues(catalogue, spot, increment_minutes)
    return answers.priced(
        *rentals.price(gpu, days, lots, periods=periods, window=window, accepted=accepted_results, files=files)
    )


@_command("window")
def window(
    *,
    start: Annotated[str | None, typer.Option(help="cli.window.start", show_default=False)] = None,
    end: Annotated[str | None, typer.Option(help="cli.window.end", show_default=False)] = None,
    tz: Annotated[str | None, typer.Option(help="cli.window.tz", show_default=False)] = None,
    campaign: Annotated[
        Path | None, typer.Option(help="cli.window.campaign", metavar="DIR", show_default=False)
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="cli.window.tasks", metavar="CSV", show_default=False)] = None,
    deadline: Annotated[str | None, typer.Option(help="cli.window.deadline", show_default=False)] = None,
    gpu: Annotated[str | None, typer.Option(help="cli.window.gpu", show_default=False)] = None,
    lots: Annotated[int | None, typer.Option(help="cli.window.lots", show_default=False)] = None,
    catalogue: CatalogueOption = None,
    spot: SpotOption = False,
    increment_minutes: IncrementOption = 60,
) -> Shown:
    """Say how long an access window is and which packages cover it."""
    from lab.screen.windows import covered

    files = _catalogues(catalogue, spot, increment_minutes)
    return covered(
        *rentals.windows(rentals.WindowQuestion(start, end, tz, campaign, tasks, deadline, gpu, lots, files))
    )


def _catalogues(paths: list[Path] | None, spot: bool, increment_minutes: int) -> "CatalogueFiles":
    from lab.store.catalogue import CatalogueFiles

    return CatalogueFiles(tuple(paths or ()), spot, increment_minutes)


@_command("site")
def site(
    out: Annotated[Path, typer.Argument(help="cli.site.out", metavar="OUT", show_default=False)], *, words: Messages
) -> Shown:
    """Write the static site."""
    return answers.site_built(pipeline.site(out, words.language))


def entry() -> None:
    """The command `lab`."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code: 0, 1, 2, 3, 4 or 130, as the product's method says (section 10)."""
    words = _words(argv)
    try:
        _check_language(argv)
        shown = _translated(words).main(list(argv), prog_name="lab", standalone_mode=False, obj=words)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (no traceback reaches a user who did not ask for it)
        if "--debug" in argv:
            traceback.print_exception(error)
        return _explained(error, words, as_json="--json" in argv)
    if not isinstance(shown, Shown):  # --help
        return int(shown or 0)
    _print(shown.as_json() if "--json" in argv else shown.text(words))
    return shown.code


def _explained(error: BaseException, words: Messages, *, as_json: bool) -> int:
    """Say on standard error what went wrong and what to do; the exit code it stands for."""
    match error:
        case LabError():
            for one in error.faults:
                _to_stderr(words.fault(one))
            if as_json:
                _print(json.dumps({"faults": [fault_data(one, words) for one in error.faults]}, ensure_ascii=False))
            return error.exit_code
        case KeyboardInterrupt():
            _to_stderr(words.text("cli.interrupted"))
            return INTERRUPTED
        case typer.TyperException():
            return _wrong_usage(error, words)
    _to_stderr(words.text("cli.unexpected", kind=type(error).__name__, detail=str(error) or DASH))
    return OUTSIDE_FAILED


def _words(argv: Sequence[str]) -> Messages:
    """The reader's language: `--lang`, else the campaign's, else the system's, else English."""
    if asked := _asked_language(argv):
        return messages(asked)
    folders = [Path(word) for word in argv[1:] if not word.startswith("-")] or [HERE]
    return messages(pipeline.campaign_language(folders[0]) or _system_language())


def _check_language(argv: Sequence[str]) -> None:
    asked = _asked_language(argv)
    if asked is not None and asked not in LANGUAGES:
        raise UsageProblemError(fault("language-unknown", asked=asked, known=LANGUAGES))


def _asked_language(argv: Sequence[str]) -> str | None:
    given = [word.removeprefix("--lang=") for word in argv if word.startswith("--lang=")]
    given += [after for word, after in pairwise(argv) if word == "--lang"]
    return given[-1] if given else None


def _system_language() -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value[:2].lower()
    return "en"


def _translated(words: Messages) -> Any:  # noqa: ANN401  (typer's click classes are its own and unexported)
    """The command tree with every help text in the reader's language."""
    # The library's own words ("Options", "[required]") go through gettext; it asks for them when help is shown.
    os.environ["LANGUAGE"] = words.language
    gettext.bindtextdomain("typer", str(LOCALES))
    gettext.textdomain("typer")
    tree = typer.main.get_command(app)
    pending: list[Any] = [tree]
    for command in pending:
        pending.extend(getattr(command, "commands", {}).values())
        command.help, command.short_help = _filled(command.help, words), _filled(command.short_help, words)
        own_help = command.get_help_option(typer.Context(command))  # the library keeps it once made
        for parameter in filter(None, [*command.params, own_help]):
            if hasattr(parameter, "help"):
                parameter.help = _filled("cli.own_help" if parameter is own_help else parameter.help, words)
    return tree


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _to_stderr(text: str) -> None:
    sys.stderr.write(text + "\n")


def _filled(key: str | None, words: Messages) -> str | None:
    return words.text(key) if key and words.has(key) else key


def _wrong_usage(error: typer.TyperException, words: Messages) -> int:
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":  # the help has been shown already
        return WRONG_USAGE
    parameter = getattr(error, "param", None)
    name = parameter.opts[0] if parameter is not None else getattr(error, "option_name", None)
    key = {"NoSuchOption": "no_such_option", "MissingParameter": "missing", "BadParameter": "bad_value"}.get(
        kind, "other"
    )
    _to_stderr(words.text(f"cli.usage.{key if name else 'other'}", name=name or DASH, detail=str(error)))
    return WRONG_USAGE
