"""The error pages of the site: every slug of the error tree with what it means and what to do, from the catalogues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup, escape

from lab.errors import CheckFoundError, InvalidInputError, OutsideFailureError, UsageProblemError
from lab.messages import Messages
from lab.report.site_prose import Section, plain_text

_PREFIX, _DO = "fault.", ".do"
_FEWEST = 4  # slugs of one first word that make a group of their own
_PLACE, _CODE = re.compile(r"\{(\w+)\}"), re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class ErrorEntry:
    """One error: its slug (the anchor), what was found, and what to do; facts stand as their names."""

    slug: str
    found: Markup
    do: Markup


@dataclass(frozen=True)
class ErrorGroup:
    """Errors whose slugs begin alike; `word` is None for those that stand alone."""

    anchor: str
    word: str | None
    entries: tuple[ErrorEntry, ...]


def slugs(texts: Messages) -> tuple[str, ...]:
    """Every slug that the catalogues explain, in the order of the alphabet."""
    keys = (key.removeprefix(_PREFIX) for key in texts.keys(_PREFIX))
    return tuple(sorted(key for key in keys if not key.endswith(_DO)))


def error_groups(texts: Messages) -> tuple[ErrorGroup, ...]:
    """All errors, those of one first word together, the others at the end."""
    families = [(word, tuple(found)) for word, found in groupby(slugs(texts), key=lambda one: one.partition("-")[0])]
    large = [
        ErrorGroup(f"group.{word}", word, _entries(found, texts)) for word, found in families if len(found) >= _FEWEST
    ]
    alone = tuple(slug for _, found in families if len(found) < _FEWEST for slug in found)
    return (*large, ErrorGroup("group.others", None, _entries(alone, texts)))


def _entries(found: tuple[str, ...], texts: Messages) -> tuple[ErrorEntry, ...]:
    return tuple(
        ErrorEntry(slug, _shown(texts.text(f"{_PREFIX}{slug}")), _shown(texts.text(f"{_PREFIX}{slug}{_DO}")))
        for slug in found
    )


def _shown(text: str) -> Markup:
    """A text with its codes as code and its facts as the names of what stands there."""
    html = _CODE.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(_PLACE.sub(r"<var>\1</var>", html))  # noqa: S704  (escaped above)


def exit_codes(texts: Messages) -> tuple[tuple[str, str], ...]:
    """The exit codes of the commands and what each means, from the error tree."""
    tree = (CheckFoundError, UsageProblemError, InvalidInputError, OutsideFailureError)
    numbers = (0, *(one.exit_code for one in tree), 130)
    return tuple((str(number), texts.text(f"site.exit.{number}")) for number in numbers)


def sections(groups: tuple[ErrorGroup, ...]) -> Iterator[Section]:
    """The errors as the search finds them: by slug, and by the words they are told with."""
    for group in groups:
        for one in group.entries:
            yield Section(one.slug, one.slug, plain_text(f"{one.found} {one.do}"))
