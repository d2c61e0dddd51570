"""The author's Markdown as HTML in which nothing can run or be fetched."""

from __future__ import annotations

import re

import markdown
import nh3

# Headings start below the page's own; no image, no raw HTML, no attribute that carries style or script.
_TAGS = {
    "p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "h3", "h4", "h5", "h6", "a",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_DROPPED = {"script", "style"}  # with their content; any other tag leaves its text


def to_html(text: str) -> str:
    """Markdown as sanitised HTML: links of http, https and mailto only, raw HTML shown as text.

    Args:
        text: the author's Markdown, from a notes file or a cell; never trusted.
    """
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    html = _levels(markdown.markdown(shown, extensions=["tables"], output_format="html"))
    return nh3.clean(
        html.replace("&amp;lt;", "&lt;").replace("&amp;amp;", "&amp;"),
        tags=_TAGS,
        clean_content_tags=_DROPPED,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _levels(html: str) -> str:
    """Headings from the third level down, none skipped, so that a note cannot break the page's outline."""
    last = 2

    def one(found: re.Match[str]) -> str:
        nonlocal last
        if not found[1]:
            last = min(int(found[2]) + 2, last + 1, 6)
        return f"<{found[1]}h{last}>"

    return re.sub(r"<(/?)h([1-6])>", one, html)
