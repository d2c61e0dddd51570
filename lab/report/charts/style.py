"""How every chart looks: one colour and one marker shape per variant through the whole report, neutral axes.

Colours that follow light, dark and paper are put in by the page's script, which knows the roles below.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

from lab.messages import DASH

# Okabe and Ito's set, told apart by colour-blind readers; a shape of its own says the same in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star", "pentagon", "hexagon")
INK = "ink"  # role of a trace whose marks and words take the page's text colour
GAP: Mapping[str, object] = {"ticks": "outside", "ticklen": 6, "tickcolor": "rgba(0,0,0,0)"}  # between names and bars
SEPARATORS: Mapping[str, str] = {"en": ".,", "fr": ",\u202f", "it": ",."}  # decimal, then thousands
OUTLINED = "outlined"  # role of a trace whose marks take an outline in the page's text colour


def look(place: int) -> tuple[str, str]:
    """Colour and marker shape of the variant at `place` (from 0) of the report."""
    return COLOURS[place % len(COLOURS)], SHAPES[place % len(SHAPES)]


def pale(colour: str) -> str:
    """A colour thin enough to lie behind points."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"


def shown(text: str) -> str:
    """A name as plotly shows it: its own small markup reads `&<>`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def wrapped(text: str, width: int = 16) -> str:
    """A name or a remark broken into lines of at most `width` characters, between words where it can be, escaped."""
    return "<br>".join(shown(line) for line in textwrap.wrap(text, width, break_on_hyphens=False)) or DASH


def figure_json(figure: Any) -> str:  # noqa: ANN401  (plotly is untyped)
    """A plotly figure as JSON that can stand inside a script element."""
    text = json.dumps(figure.to_plotly_json(), sort_keys=True, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
