"""The pages of the site in one language: what each says, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.messages import Messages
from lab.report import site_dictionary as dictionary
from lab.report import site_errors as errors
from lab.report.document_plain import Json
from lab.report.site_downloads import FOLDER, Download, listed
from lab.report.site_example import shown_example
from lab.report.site_facts import site_facts
from lab.report.site_map import PARTS, Link, SitePage, href
from lab.report.site_prose import Prose, Section, inline, plain_text, read_prose

# One page a subject, in the order in which a campaign meets them.
METHOD = (
    "accepted-result", "preparing", "phases", "repeating", "durations", "precision", "memory", "window",
    "committed-cost", "deliverables", "limits",
)  # fmt: skip
HOW_TO = ("engineer", "several-hosts", "colleague", "calculator", "undecided", "reviewer")
PEOPLE = ("engineer", "colleague", "reviewer")  # how-to pages that the home page names first
_CHECK_FILE = "sha256sum FILE                  # Linux, macOS\ncertutil -hashfile FILE SHA256  # Windows"
_MAKE_EXAMPLE = "lab demo demo\nlab site public --example demo"


@dataclass(frozen=True)
class CardGroup:
    """Links of the home page under one heading."""

    anchor: str
    title: str
    links: tuple[Link, ...]


def site_pages(texts: Messages, downloads: Sequence[Download], example: Json | None) -> tuple[SitePage, ...]:
    """Every page of the language of `texts` but the calculator; first the home page, last the search.

    Args:
        texts: of the language.
        downloads: what the folder `downloads/` holds.
        example: the document of the report that `example/` holds; None: there is none.

    Raises:
        InvalidInputError: the catalogue that ships does not hold.
        OutsideFailureError: a source of the site is not installed.
    """
    facts = site_facts(texts)
    chapters = tuple(_chapters("method", METHOD, texts, facts)) + tuple(_chapters("how-to", HOW_TO, texts, facts))
    tools = (
        _fields(texts),
        _errors(texts),
        _example(texts, example),
        _downloads(texts, downloads),
        _changelog(texts, facts),
    )
    search = SitePage(
        f"{texts.language}/search.html", "search", texts.text("site.search.title"), texts.text("site.search.lead"),
        "site_search.html.j2",
        {"label": texts.text("site.search.label"), "noscript": texts.text("site.search.noscript")},
    )  # fmt: skip
    home = _home(texts, facts, {page.path: page for page in (*chapters, *tools, search)})
    return (home, *chapters, *tools, search)


def _home(texts: Messages, facts: Mapping[str, str], pages: Mapping[str, SitePage]) -> SitePage:
    language = texts.language
    path, prose = f"{language}/index.html", read_prose(f"home.{language}.md", facts)

    def links(paths: Sequence[str]) -> tuple[Link, ...]:
        return tuple(Link(pages[one].title, href(path, one), pages[one].lead) for one in paths)

    calculator = PARTS["calculator"].format(language)
    tools = [part for part in PARTS if part not in {"method", "how-to", "calculator"}]
    people = tuple(f"{language}/how-to/{one}.html" for one in PEOPLE)
    groups = (
        CardGroup("people", texts.text("site.home.people"), links(people)),
        CardGroup("method", texts.text("site.home.method"), links([f"{language}/method/{one}.html" for one in METHOD])),
        CardGroup(
            "tools",
            texts.text("site.home.tools"),
            (
                Link(texts.text("site.name"), href(path, calculator), texts.text("site.intro")),
                *links([PARTS[part].format(language) for part in tools]),
            ),
        ),
    )
    return SitePage(
        path, None, prose.title, prose.lead, "site_home.html.j2", {"body": prose.body, "groups": groups}, prose.sections
    )


def _chapters(part: str, names: Sequence[str], texts: Messages, facts: Mapping[str, str]) -> Iterator[SitePage]:
    """The list of a part, then its pages, each of which knows the others and the one that follows."""
    language = texts.language
    prose = {name: read_prose(f"{part}/{language}/{name}.md", facts) for name in ("index", *names)}
    paths = {name: f"{language}/{part}/{name}.html" for name in prose}

    def link(here: str, name: str) -> Link:
        page = prose[name]
        return Link(page.title, href(paths[here], paths[name]), page.lead, here == name)

    index = _prose_page(paths["index"], part, prose["index"])
    yield replace(
        index,
        template="site_list.html.j2",
        content={**index.content, "links": tuple(link("index", name) for name in names)},
    )
    for name, after in zip(names, (*names[1:], None), strict=True):
        page = _prose_page(paths[name], part, prose[name])
        beside = {
            "siblings": tuple(link(name, one) for one in names),
            "siblings_title": prose["index"].title,
            "following": None if after is None else link(name, after),
        }
        yield replace(page, content={**page.content, **beside})


def _prose_page(path: str, part: str | None, prose: Prose) -> SitePage:
    alone = {"body": prose.body, "siblings": (), "siblings_title": "", "following": None}
    return SitePage(path, part, prose.title, prose.lead, "site_prose.html.j2", alone, prose.sections)


def _changelog(texts: Messages, facts: Mapping[str, str]) -> SitePage:
    prose = read_prose(f"changelog.{texts.language}.md", facts)
    return _prose_page(f"{texts.language}/changelog.html", None, prose)


def _made(texts: Messages, part: str, template: str, content: Mapping[str, object], *found: Section) -> SitePage:
    """A page that the code makes: title and lead are texts of the catalogues."""
    title, lead = texts.text(f"site.{part}.title"), texts.text(f"site.{part}.lead")
    path = PARTS[part].format(texts.language)
    return SitePage(path, part, title, lead, template, content, (Section(None, title, lead), *found))


def _fields(texts: Messages) -> SitePage:
    sheets, keys = dictionary.sheet_groups(texts), dictionary.manifest_groups(texts)
    shown = [*(_table(one, ("unit", "allowed", "who"), texts) for one in sheets)]
    shown += [_table(one, ("unit", "allowed", "default", "who"), texts) for one in keys]
    return _made(
        texts, "fields", "site_fields.html.j2", {"groups": shown}, *dictionary.sections((*sheets, *keys))
    )  # fmt: skip


def _table(group: dictionary.Group, columns: Sequence[str], texts: Messages) -> Mapping[str, object]:
    """A group as rows of cells; a column that is empty in every row is left out."""
    kept = [name for name in columns if any(getattr(row, name) for row in group.rows)]
    heads = {name: texts.text(f"dictionary.{name}") for name in ("field", "meaning", "unit", "allowed", "who")}
    heads["default"] = texts.text("site.fields.default")
    rows = [
        {
            "anchor": row.anchor,
            "name": row.name,
            "cells": [
                {"head": heads["meaning"], "label": row.label, "text": row.meaning},
                *({"head": heads[name], "label": "", "text": getattr(row, name) or "\N{EN DASH}"} for name in kept),
            ],
        }
        for row in group.rows
    ]
    shown = [heads[name] for name in ("field", "meaning", *kept)]
    return {"anchor": group.anchor, "code": group.code, "title": group.title, "heads": shown, "rows": rows}


def _errors(texts: Messages) -> SitePage:
    groups = errors.error_groups(texts)
    others = texts.text("site.errors.others")
    here, there = (PARTS[part].format(texts.language) for part in ("errors", "search"))
    content = {
        "groups": [
            {"anchor": one.anchor, "title": others if one.word is None else f"{one.word}-…", "entries": one.entries}
            for one in groups
        ],
        "about": inline(texts.text("site.errors.about")),
        "search_href": href(here, there),
        "search_title": texts.text("site.search.title"),
        "do_label": texts.text("site.errors.do"),
        "exit_title": texts.text("site.exit.title"),
        "exit_codes": errors.exit_codes(texts),
    }
    return _made(texts, "errors", "site_errors.html.j2", content, *errors.sections(groups))


def _example(texts: Messages, example: Json | None) -> SitePage:
    made_up = bool(example and example["decision"]["example_price"])
    said = ["absent"] if example is None else ["prices", "present"] if made_up else ["present"]
    content = {
        "example": None if example is None else shown_example(PARTS["example"].format(texts.language), example, texts),
        "paragraphs": [texts.text(f"site.example.{one}") for one in said],
        "commands": _MAKE_EXAMPLE,
        "needs": texts.text("site.example.needs"),
    }
    return _made(texts, "example", "site_example.html.j2", content)


def _downloads(texts: Messages, downloads: Sequence[Download]) -> SitePage:
    here = PARTS["downloads"].format(texts.language)
    files = listed(downloads, href(here, FOLDER) + "/", texts)
    content = {
        "files": files,
        "checking": texts.text("site.downloads.checking"),
        "command": _CHECK_FILE,
    }
    words = Section(None, "", plain_text(" ".join(f"{one.name} {one.title}" for one in files)))
    made = _made(texts, "downloads", "site_downloads.html.j2", content)
    first = made.sections[0]
    return replace(made, sections=(replace(first, text=f"{first.text} {words.text}"),))
