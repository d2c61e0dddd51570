"""The pages of the site that are written in Markdown, with the figures that the code gives them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

import markdown
from markupsafe import Markup

from lab.store.files import read_text, resource

_FACT = re.compile(r"\{\{ (\w+) \}\}")
_HEADING = re.compile(r"<h2(?: id=\"([^\"]*)\")?>(.*?)</h2>", re.DOTALL)
_INLINE = re.compile(r"</?(?:a|b|code|em|strong|var)\b[^>]*>")
_ITEM, _TAGS = re.compile(r"</li>\s*<li>"), re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Section:
    """A part of a page that can be linked to and found: its anchor (None: the page's top), title and plain text."""

    anchor: str | None
    title: str
    text: str


@dataclass(frozen=True)
class Prose:
    """A page of Markdown: `lead` is the paragraph after the title, `body` the rest, `sections` its plain text."""

    title: str
    lead: str
    body: Markup
    sections: tuple[Section, ...]


def read_prose(path: str, facts: Mapping[str, str]) -> Prose:
    """The page at `site/<path>`, with each `{{ fact }}` in its place.

    Raises:
        KeyError: the page names a fact that is not there: a defect of ours, found by the tests.
        OutsideFailureError: the page is not installed.
    """
    return parse(read_text(resource("site", *path.split("/"))), facts)


def parse(text: str, facts: Mapping[str, str]) -> Prose:
    """Markdown that begins with `# title` and a paragraph; a heading `## Title {#anchor}` can be linked to.

    The text is our own and trusted: unlike an author's note it may hold anchors and links between pages.
    """
    head, lead, body = filled(text, facts).split("\n\n", 2)
    title = head.removeprefix("# ").strip()
    made = _reachable(_rendered(body))
    return Prose(title, lead.replace("\n", " ").strip(), Markup(made), _sections(title, lead, made))  # noqa: S704  (our own text)


def filled(text: str, facts: Mapping[str, str]) -> str:
    """Markdown with each `{{ fact }}` in its place; raises KeyError for one that is not there."""
    return _FACT.sub(lambda found: facts[found[1]], text)


def _rendered(text: str) -> str:
    extensions = ["fenced_code", "attr_list", "sane_lists"]
    return markdown.markdown(text, extensions=extensions, output_format="html")


def _reachable(page: str) -> str:
    """A long command scrolls in a box of its own, which the keyboard reaches."""
    return page.replace("<pre>", '<pre tabindex="0">')


def _sections(title: str, lead: str, page: str) -> tuple[Section, ...]:
    parts = _HEADING.split(page)
    found = [Section(None, title, f"{plain_text(lead)} {plain_text(parts[0])}".strip())]
    for anchor, heading, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        found.append(Section(anchor or None, plain_text(heading), plain_text(body)))
    return tuple(found)


def inline(text: str) -> Markup:
    """One paragraph of Markdown without the paragraph around it: codes and emphasis of a lead."""
    return Markup(_rendered(text).removeprefix("<p>").removesuffix("</p>"))  # noqa: S704  (our own text)


def plain_text(page: str) -> str:
    """HTML or Markdown as words: no tags, no marks, single spaces."""
    bare = _TAGS.sub(" ", _ITEM.sub(" · ", _INLINE.sub("", page)))
    # Spaces that do not break stay: a figure and its unit, a word and its French colon.
    return re.sub(r"[ \t\n]+", " ", html.unescape(bare).replace("`", "").replace("**", "")).strip()
