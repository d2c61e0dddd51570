"""The author's Markdown as HTML in which nothing can run or be fetched."""

from __future__ import annotations

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
    html = markdown.markdown(_lower_headings(shown), extensions=["tables"], output_format="html")
    return nh3.clean(
        html.replace("&amp;lt;", "&lt;").replace("&amp;amp;", "&amp;"),
        tags=_TAGS,
        clean_content_tags=_DROPPED,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _lower_headings(text: str) -> str:
    """A note's own top heading becomes the third level, below the page's and the section's."""
    return "\n".join(f"##{line}" if line.startswith("#") else line for line in text.split("\n"))
