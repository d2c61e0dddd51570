"""The pages of the site as HTML: one frame, one style, a policy that lets nothing in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from lab.messages import Messages
from lab.report.languages import switches
from lab.report.page import environment, island, look, policy, source_hash
from lab.report.site_map import PARTS, Link, SitePage, href
from lab.report.site_prose import inline
from lab.report.site_search import search_data
from lab.store.files import read_text, resource

_WORDS = ("product", "nav", "footer", "next", "contents")


def render_pages(pages: Sequence[SitePage], texts: Messages) -> Mapping[str, str]:
    """Path from the top of the site -> HTML, for all pages of one language; the search finds what is in any of them.

    Raises:
        OutsideFailureError: templates or scripts are not installed.
    """
    # The note's style comes with them for its tables: one look on every page.
    style = look() + read_text(resource("templates", "report", "note.css"))
    style += read_text(resource("templates", "site", "site.css"))
    script = read_text(resource("site", "assets", "search.js"))
    templates = environment("site", "report")
    made = {}
    for page in pages:
        searches = page.part == "search"
        data = {"data": island(search_data(page.path, pages, texts))} if searches else {}
        shown = _frame(page, texts, style, (script,) if searches else ())
        made[page.path] = templates.get_template(page.template).render(**shown, **page.content, **data)
    return made


def _frame(page: SitePage, texts: Messages, style: str, scripts: Sequence[str]) -> Mapping[str, object]:
    """What the frame of every page shows: title, policy, navigation, language switch."""
    language = texts.language
    home = f"{language}/index.html"
    own = page.path.partition("/")[2]
    product = texts.text("site.product")
    words = {name: texts.text(f"site.{name}") for name in _WORDS}
    words["languages"] = texts.text("report.page.languages")
    words["changelog"] = texts.text("site.nav.changelog")
    return {
        "language": language,
        "title": page.title if product in page.title else f"{page.title} · {product}",
        "skip": texts.text("site.skip"),
        "policy": policy([source_hash(one) for one in scripts], [source_hash(style)]),
        "style_href": None,
        "styles": [Markup(style)],  # noqa: S704  (our own CSS)
        "script_hrefs": [],
        "scripts": [Markup(one) for one in scripts],  # noqa: S704  (our own script)
        "page": page,
        "lead": inline(page.lead),
        "words": words,
        "nav": navigation(page.path, page.part, texts),
        "switches": switches(language, href(page.path, f"{{}}/{own}")),
        "home_href": href(page.path, home),
        "at_home": page.path == home,
        "changelog_href": href(page.path, f"{language}/changelog.html"),
    }


def navigation(here: str, own: str | None, texts: Messages) -> tuple[Link, ...]:
    """The links to the parts of the site on the page at `here`, which belongs to the part `own`."""
    paths = {part: pattern.format(texts.language) for part, pattern in PARTS.items()}
    return tuple(
        Link(texts.text(f"site.nav.{part}"), href(here, path), here=part == own) for part, path in paths.items()
    )
