"""The command line: finds the reader's language, runs a command, prints its answer, maps errors to exit codes."""

import gettext
import json
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer

from lab import pipeline
from lab.commands import COMMANDS
from lab.commands.base import HERE, program
from lab.commands.usage import wrong_usage
from lab.errors import LabError, UsageProblemError, fault
from lab.messages import DASH, LANGUAGES, LOCALES, Messages, messages
from lab.screen.answers import Shown, fault_data

INTERRUPTED, WRONG_USAGE, OUTSIDE_FAILED = 130, 2, 4


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
            if (said := wrong_usage(error, words)) is not None:
                _to_stderr(said)
            return WRONG_USAGE
    _to_stderr(words.text("cli.unexpected", kind=type(error).__name__, detail=str(error) or DASH))
    return OUTSIDE_FAILED


def _words(argv: Sequence[str]) -> Messages:
    """The reader's language: `--lang`, else the campaign's, else the system's, else English."""
    if asked := _asked_language(argv):
        return messages(asked)
    # The value of an option, such as `--out FOLDER`, may stand before the campaign, or in its place.
    folders = [*(Path(word) for word in argv[1:] if not word.startswith("-")), HERE]
    stated = next(filter(None, map(pipeline.campaign_language, folders)), None)
    return messages(stated or _system_language())


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
    tree = typer.main.get_command(program(COMMANDS))
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
