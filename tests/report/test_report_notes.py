"""The author's Markdown: shown, and nothing in it runs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.report.notes import to_html


def test_markdown_is_rendered() -> None:
    """Emphasis, lists, tables and links are what a note needs."""
    html = to_html("# Why\n\nA **method**.\n\n- one\n\n|a|b|\n|-|-|\n|1|2|\n\n[site](https://example.org)")
    assert "<h3>Why</h3>" in html
    assert "<strong>method</strong>" in html
    assert "<li>one</li>" in html
    assert "<td>1</td>" in html
    assert 'href="https://example.org"' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>document.title='ran'</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "![x](https://example.org/pixel.png)",
        '<a href="x" style="position:fixed" onclick="alert(1)">x</a>',
        "```\n</pre><script>alert(1)</script>\n```",
        "<svg/onload=alert(1)>",
        "<style>body{display:none}</style>",
    ],
)
def test_what_could_run_or_be_fetched_is_shown_as_text_or_left_out(text: str) -> None:
    """H1: script, handlers, foreign schemes and remote images never reach the page as markup."""
    html = to_html(text)
    assert not re.search(r"<\s*(script|img|svg|style|iframe|object)", html, re.IGNORECASE)
    assert not re.search(r"<[^>]*\son\w+\s*=", html)
    assert not re.search(r'<a [^>]*href="(?!https?:|mailto:)', html)


def test_raw_html_stays_readable() -> None:
    """The author sees what was written, also within code."""
    assert "&lt;b&gt;bold&lt;/b&gt;" in to_html("<b>bold</b>")
    assert "&lt;b&gt; &amp; c" in to_html("`<b> & c`")


def test_headings_never_skip_a_level() -> None:
    """A note cannot break the outline of the page."""
    assert re.findall(r"<h(\d)>", to_html("### deep\n\n# top\n\n#### deeper")) == ["3", "3", "4"]


@given(st.text(alphabet=st.sampled_from("<>/\"'&=![]()`#*-_ \n\tabjscript:ononerror"), max_size=80))
def test_no_text_produces_an_unknown_tag(text: str) -> None:
    """Whatever is written, the tags that come out are the allowed ones."""
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z][a-zA-Z0-9]*)", to_html(text)))
    assert tags <= {
        "p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "h3", "h4", "h5", "h6", "a",
        "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
