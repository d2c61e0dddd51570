"""The language switch of every page."""

from __future__ import annotations

from lab.messages import LANGUAGES
from lab.report.blocks import Switch

# Each language is named in itself, whatever the page's: that is how a reader finds it.
LANGUAGE_NAMES = {"en": "English", "fr": "Français", "it": "Italiano"}


def switches(here: str, pattern: str) -> tuple[Switch, ...]:
    """The language links of a page, `pattern` with the language at `{}`."""
    return tuple(Switch(one, LANGUAGE_NAMES[one], pattern.format(one), one == here) for one in LANGUAGES)
