"""What a page of the site is before it is written: where it stands, what it says of itself, how it is linked to."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.report.site_prose import Section

# The navigation of every page: the part of the site, and the page that it begins with (`{}` is the language).
PARTS: Mapping[str, str] = {
    "method": "{}/method/index.html",
    "how-to": "{}/how-to/index.html",
    "fields": "{}/fields.html",
    "errors": "{}/errors.html",
    "calculator": "calculator/{}.html",
    "example": "{}/example.html",
    "downloads": "{}/downloads.html",
    "search": "{}/search.html",
}


@dataclass(frozen=True)
class SitePage:
    """A page of one language.

    Attributes:
        path: from the top of the site, such as `en/method/limits.html`.
        part: the part of the site it belongs to, one of `PARTS`; None for home and changelog.
        title: its heading.
        lead: the paragraph under the heading.
        template: in `templates/site/`.
        content: what that template shows besides.
        sections: its plain text, for the search; the first one is the page itself.
    """

    path: str
    part: str | None
    title: str
    lead: str
    template: str
    content: Mapping[str, object] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Link:
    """A link as a page shows it; `here` when it leads to the page itself."""

    title: str
    href: str
    lead: str = ""
    here: bool = False


def href(here: str, there: str) -> str:
    """The relative address of `there` (with or without `#…`) on the page `here`; both are paths from the top."""
    path, mark, anchor = there.partition("#")
    return posixpath.relpath(path, posixpath.dirname(here) or ".") + mark + anchor
