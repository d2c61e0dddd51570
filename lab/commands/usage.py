"""What is said of a command that was typed wrongly: in the reader's language, what was meant and how to type it."""

import re
from difflib import get_close_matches
from typing import Any

import typer

from lab.messages import DASH, Messages

_TYPED = re.compile(r"'([^']*)'|\(([^)]*)\)$")  # what was typed, in the library's English sentence


def wrong_usage(error: typer.TyperException, words: Messages) -> str | None:
    """The text for the person who typed it; None where the library has shown the help instead."""
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        return None
    parameter = getattr(error, "param", None)
    name = parameter.opts[0] if parameter is not None else getattr(error, "option_name", None)
    quoted = _TYPED.search(str(error))
    found = (quoted[1] or quoted[2] or "") if quoted else str(error)
    key, facts = _said(error, kind, found)
    return words.text(f"cli.usage.{key}", **{"name": name or DASH, "found": found, **facts})


def _said(error: Any, kind: str, found: str) -> tuple[str, dict[str, object]]:  # noqa: ANN401  (the library's own classes)
    """The last part of the text's key, and what it names beside the option and what was typed."""
    context: Any = getattr(error, "ctx", None)
    parameter: Any = getattr(error, "param", None)
    if kind in {"NoSuchOption", "BadOptionUsage"}:
        wants = "no_value" if "not take" in str(error) else "needs_value"
        return "no_such_option" if kind == "NoSuchOption" else wants, {}
    if kind == "MissingParameter":
        if context is None or parameter.param_type_name != "argument":
            return "missing", {}
        return "missing_argument", {"name": _shown(parameter).rstrip("…"), "line": _line(context)}
    if kind == "BadParameter":
        choices = list(getattr(getattr(parameter, "type", None), "choices", ()))
        return ("bad_choice", {"choices": choices}) if choices else ("bad_value", {})
    commands = list(getattr(getattr(context, "command", None), "commands", ()))
    if not commands:
        return "too_much", {}
    near = get_close_matches(found, commands, 1)
    return ("no_such_command.near", {"near": near}) if near else ("no_such_command", {})


def _shown(argument: Any) -> str:  # noqa: ANN401  (the library's own class)
    """An argument as the help shows it: `DIR`, not the name that it has in the program."""
    return str(argument.metavar or argument.human_readable_name)


def _line(context: Any) -> str:  # noqa: ANN401  (the library's own class)
    """The command with all that has to be typed after it."""
    needed = [_shown(one) for one in context.command.params if one.param_type_name == "argument" and one.required]
    return " ".join(["lab", str(context.command.name), *needed])
