"""The memory exercise of the kit in one language: the script's twin with its explanations, and the notebook of it."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from lab import estimate_memory
from lab.messages import Messages
from lab.store.files import read_text, resource

NAME = "estimate_memory"
_CELL = re.compile(r"^# %% \[(\w+)\]\n", re.MULTILINE)
_MARK = re.compile(r"^# %%(.*)\n", re.MULTILINE)
_SECTION = re.compile(r"^(## .*?) \{#(\w+)\}$", re.MULTILINE)
_PROSE, _FOLDED = " [markdown]", ' jupyter={"source_hidden": true}'
_WIDTH = 96


def memory_script(texts: Messages) -> str:
    """`lab/estimate_memory.py` with what it prints in the language of `texts`, each cell after its explanation.

    Raises:
        OutsideFailureError: the explanations are not installed.
    """
    source = read_text(Path(estimate_memory.__file__))
    _, *cells = _CELL.split(source)
    said = _explanations(texts.language)
    return "".join(_cells(dict(zip(cells[::2], cells[1::2], strict=True)), said, texts))


def _cells(codes: dict[str, str], said: dict[str, str], texts: Messages) -> Iterator[str]:
    for name, code in codes.items():
        first = name == "start"
        lines = [f"# {line}".rstrip() for line in said[name].splitlines()]
        spoken = _in_language(code, texts) if first else code
        yield "\n".join([f"# %%{_PROSE}", *lines, "", f"# %%{_FOLDED if first else ''}", spoken.strip()])
        yield "\n" if name == [*codes][-1] else "\n\n\n"


def _explanations(language: str) -> dict[str, str]:
    """Name of a cell -> what stands before it, in Markdown, its lines folded."""
    head, *parts = _SECTION.split(read_text(resource("site", "kit", language, "memory.md")))
    found = {"start": head}
    for title, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        found[name] = f"{title}{body}"
    return {name: "\n".join(_folded(text.strip())) for name, text in found.items()}


def _folded(text: str) -> Iterator[str]:
    for line in text.splitlines():
        hanging = "  " if line.startswith("- ") else ""
        yield from textwrap.wrap(
            line, _WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
        ) or [""]


def _in_language(code: str, texts: Messages) -> str:
    """The cell with its `TEXTS` as the catalogues say them."""
    node = next(
        one for one in ast.parse(code).body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "TEXTS"
    )
    lines = code.splitlines()
    spoken = [f'    "{name}": {_quoted(texts.text(f"kit.script.{name}"))},' for name in estimate_memory.TEXTS]
    return "\n".join([*lines[: node.lineno], *spoken, *lines[(node.end_lineno or 0) - 1 :]])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def memory_notebook(script: str) -> bytes:
    """The notebook of a script whose cells begin with `# %%`, in the format nbformat 4.5, without any output.

    A block that runs only when the script is run stands there without its condition: in a notebook it always runs.
    """
    _, *parts = _MARK.split(script)
    cells = [_cell(number, kind, body) for number, (kind, body) in enumerate(zip(parts[::2], parts[1::2], strict=True))]
    made = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(made, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _cell(number: int, kind: str, body: str) -> dict[str, object]:
    shared = {"id": f"cell-{number}", "metadata": {"jupyter": {"source_hidden": True}} if kind == _FOLDED else {}}
    if kind == _PROSE:
        spoken = re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE)
        return {"cell_type": "markdown", **shared, "source": _lines(spoken)}
    code = _lines(_always_run(body.strip()))
    return {"cell_type": "code", "execution_count": None, **shared, "outputs": [], "source": code}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _always_run(code: str) -> str:
    """The code with each `if __name__ == "__main__":` of its top level replaced by what is in it."""
    lines, found = code.splitlines(), []
    at = 0
    for node in ast.parse(code).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            found += [*lines[at : node.lineno - 1], textwrap.dedent("\n".join(lines[node.lineno : node.end_lineno]))]
            at = node.end_lineno or 0
    return "\n".join([*found, *lines[at:]])
