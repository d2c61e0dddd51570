"""What the search of the site looks through: every section, field and error, as data within its own page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.messages import Messages
from lab.report.site_map import PARTS, SitePage, href

_WORDS = ("none", "found", "found.one", "more", "empty")


def search_data(here: str, pages: Sequence[SitePage], texts: Messages) -> Mapping[str, object]:
    """For the script of the page at `here`: its words, and `[part, page, title, address, text]` of all there is."""
    rows = [
        [
            texts.text(f"site.nav.{page.part or 'home'}"),
            "" if section.anchor is None else page.title,
            section.title,
            href(here, page.path if section.anchor is None else f"{page.path}#{section.anchor}"),
            section.text,
        ]
        for page in pages
        for section in page.sections
    ]
    calculator = PARTS["calculator"].format(texts.language)  # no page of prose, and what many a reader looks for
    about = " ".join(texts.text(f"site.{name}") for name in ("question", "intro"))
    rows.append([texts.text("site.nav.calculator"), "", texts.text("site.name"), href(here, calculator), about])
    return {"words": {name: texts.text(f"site.search.{name}") for name in _WORDS}, "rows": rows}
