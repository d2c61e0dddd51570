"""Views as HTML: Jinja2 with everything escaped, a policy that lets nothing in, assets named by their hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Environment
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from lab.report.blocks import Note, Switch, Versions
from lab.report.notes import to_html
from lab.report.page import digest, environment, look, policy, source_hash
from lab.report.term_links import linker
from lab.store.files import resource

_HASH_DIGITS = 12


@dataclass(frozen=True)
class Assets:
    """The shared texts of the pages: style, the page's own script and plotly.js, as shipped."""

    style: str
    script: str
    plotly: str

    def files(self) -> dict[str, bytes]:
        """File name, with the hash of its content in it, to content: what `report/assets/` holds."""
        return {name: text.encode() for name, text in self._named()}

    def names(self) -> tuple[str, str, str]:
        """The file names of style, script and plotly.js."""
        style, script, plotly = (name for name, _ in self._named())
        return style, script, plotly

    def _named(self) -> tuple[tuple[str, str], ...]:
        texts = (("note", self.style, "css"), ("note", self.script, "js"), ("plotly", self.plotly, "js"))
        return tuple((f"{stem}-{digest(text).hex()[:_HASH_DIGITS]}.{end}", text) for stem, text, end in texts)


def read_assets() -> Assets:
    """Style and script from the templates, plotly.js from the installed package: no request is ever made for it.

    Raises:
        OutsideFailureError: the templates are not installed.
    """
    folder = resource("templates", "report")
    style = look() + (folder / "note.css").read_text(encoding="utf-8")
    script = "".join((folder / name).read_text(encoding="utf-8") for name in ("note.js", "rows.js"))
    return Assets(style, script, get_plotlyjs())


def note_page(note: Note, switches: Sequence[Switch], assets: Assets, prefix: str, versions_href: str) -> str:
    """The note as a page that shares its assets, found at `prefix` ("../assets/")."""
    header = _running_header(note.running_header)
    style, script, plotly = assets.names()
    return _environment().get_template("note.html.j2").render(
        note=note, links=linker(note.terms), switches=switches, language=note.language, title=note.title,
        skip=note.words["skip"],
        policy=_shared_policy(header), style_href=prefix + style, styles=[Markup(header)],  # noqa: S704  (our own CSS)
        script_hrefs=[prefix + script], scripts=[], plotly_href=prefix + plotly, plotly=None,
        versions_href=versions_href,
    )  # fmt: skip


def standalone_note(note: Note, switches: Sequence[Switch], assets: Assets) -> str:
    """The note as one file that holds everything, to send by mail."""
    header = _running_header(note.running_header)
    styles, scripts = [assets.style, header], [assets.plotly, assets.script]  # plotly.js runs later, under its own hash
    return _environment().get_template("note.html.j2").render(
        note=note, links=linker(note.terms), switches=switches, language=note.language, title=note.title,
        skip=note.words["skip"],
        policy=_policy([source_hash(one) for one in scripts], [source_hash(one) for one in styles]), style_href=None,
        styles=[Markup(one) for one in styles], script_hrefs=[],  # noqa: S704  (our own CSS)
        scripts=[Markup(assets.script)], plotly_href=None, plotly=Markup(assets.plotly),  # noqa: S704  (our own scripts)
        versions_href=None,
    )  # fmt: skip


def versions_page(page: Versions, switches: Sequence[Switch], assets: Assets, prefix: str) -> str:
    """The list of versions."""
    header = _running_header(page.title)
    return _environment().get_template("versions.html.j2").render(
        page=page, linked=escape, switches=switches, language=page.language, title=page.title, skip=page.words["skip"],
        policy=_shared_policy(header), style_href=prefix + assets.names()[0],
        styles=[Markup(header)], script_hrefs=[], scripts=[],  # noqa: S704  (our own CSS)
    )  # fmt: skip


@lru_cache
def _environment() -> Environment:
    templates = environment("report")
    templates.filters["sanitised"] = lambda text: Markup(to_html(text))  # noqa: S704  (sanitised by nh3)
    templates.filters["island"] = Markup  # JSON, in which < > & are written as escapes
    return templates


def _shared_policy(header: str) -> str:
    # A page opened from the disk has no origin of its own: 'self' is what Chromium takes for its neighbours, file: what
    # others may ask for. Integrity hashes cannot be used there, since files are not CORS-readable.
    own = ["'self'", "file:"]
    return _policy(own, [*own, source_hash(header)])


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """The Content-Security-Policy of a page.

    plotly.js creates one empty style element and fills it rule by rule through the object model; the hash of the empty
    text lets it, so that no other inline style has to be allowed. Images are made in the page when a chart is saved.
    """
    return policy(scripts, (*styles, source_hash("")), ("data:", "blob:"))


def _running_header(text: str) -> str:
    """The print header as CSS; every character but letters and digits is written by its code."""
    safe = "".join(one if one.isascii() and one.isalnum() else f"\\{ord(one):x} " for one in text)
    font = "font: 8pt system-ui, sans-serif; color: #565e67"
    return (
        f'@page {{ @top-left {{ content: "{safe}"; {font} }} '
        f'@bottom-right {{ content: counter(page) " / " counter(pages); {font} }} }}'
    )
