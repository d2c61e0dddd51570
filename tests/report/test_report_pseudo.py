"""No untranslated string: in a made-up language whose every text is bracketed, nothing stands outside the brackets.

What may stand there is data: texts of the document, codes of the contracts, numbers, and the dates that Babel writes.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import report_campaigns as made
from babel.dates import get_day_names, get_month_names
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import lab.messages
from lab.report import render, view
from lab.report.document_plain import Json
from lab.report.languages import LANGUAGE_NAMES, switches

OPEN, CLOSE = "⟦", "⟧"
ACCENTS = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")
# Names of units, files and fingerprints are the same in every language; so are languages, named in themselves.
CODES = {"s", "h", "GiB", "MiB", "sha256", "USD", "index", "decision", "json", *LANGUAGE_NAMES.values()}
SPOKEN = {"title", "aria-label", "data-label", "placeholder", "alt", "data-sort", "data-shown", "data-empty"}
_NAMES = "|".join(
    name
    for names in (get_month_names, get_day_names)
    for width in ("wide", "abbreviated")
    for name in names(width, "format", "en").values()
)
DATES = re.compile(rf"\b(?:{_NAMES})\b|UTC[+-]?[\d:]*")


def _pseudo(text: str) -> str:
    parts = re.split(r"(\{\w+\})", text)
    return OPEN + "".join(part if part.startswith("{") else part.translate(ACCENTS) for part in parts) + CLOSE


@pytest.fixture
def pseudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The English catalogues with every text bracketed and accented, in place of the English ones."""
    shutil.copytree(lab.messages.LOCALES, tmp_path / "locales")
    for path in (tmp_path / "locales" / "en" / "LC_MESSAGES").glob("*.po"):
        with path.open("rb") as file:
            catalogue = read_po(file, locale="en")
        for one in catalogue:
            if one.id:
                one.string = _pseudo(one.string) if isinstance(one.string, str) else tuple(map(_pseudo, one.string))
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, catalogue)
    monkeypatch.setattr(lab.messages, "LOCALES", tmp_path / "locales")
    lab.messages.messages.cache_clear()
    yield
    lab.messages.messages.cache_clear()


class _Texts(HTMLParser):
    """The texts of each element that a reader sees or hears, inline markup joined."""

    _INLINE = ("a", "em", "strong", "code", "button", "label")  # a span of this page is a line or a part of its own

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in SPOKEN and value and name != "data-sort"]
        if tag in ("script", "style"):
            self._hidden += 1
        if tag not in self._INLINE:
            self._open.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._hidden -= 1
        if tag not in self._INLINE:
            self.found.append(self._open.pop() if self._open else "")

    def handle_data(self, data: str) -> None:
        if self._open and not self._hidden:
            self._open[-1] += data


def _outside(text: str) -> str:
    """What stands outside all brackets."""
    depth, kept = 0, []
    for sign in text:
        depth += (sign == OPEN) - (sign == CLOSE)
        kept.append(sign if depth == 0 and sign != CLOSE else " ")
    return "".join(kept)


def _data(value: Any) -> Iterator[str]:  # noqa: ANN401  (any JSON value)
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _data(one)
    elif isinstance(value, list):
        for one in value:
            yield from _data(one)
    elif isinstance(value, str):
        yield value


def _untranslated(texts: list[str], document: Json) -> list[str]:
    known = {word for text in _data(document) for word in re.findall(r"\w+", text)} | CODES
    left = []
    for text in texts:
        words = re.findall(r"\w+", DATES.sub(" ", _outside(text)))
        unknown = [word for word in words if not re.fullmatch(r"[\d_]+", word) and word not in known]
        left += [f"{unknown} in {text}"] if unknown else []
    return left


def _chart_texts(page: str) -> list[str]:
    found = []
    for figure in re.findall(r'<script type="application/json" id="[^"]+-data">(.*?)</script>', page):
        drawn = json.loads(figure)
        axes = [one for name, one in drawn["layout"].items() if name.startswith(("xaxis", "yaxis"))]
        found += [text for axis in axes for text in axis.get("ticktext", [])]
        found += [axis["title"]["text"] for axis in axes if axis.get("title")]
        found += [text for trace in drawn["data"] for text in trace.get("text") or [] if isinstance(text, str)]
    return [re.sub(r"<br>", " ", text) for text in found]


@pytest.mark.parametrize(
    "campaign",
    [
        made.campaign(made.MIXED, outcome="out_of_memory", language="fr"),
        made.campaign({"b1": (24.1,), "b8": ()}, language="fr", seal=None, calendar=(), deliverables=()),
        made.campaign({"b1": [41.0 + n / 100 for n in range(310)], "b8": [24.0 + n / 100 for n in range(310)]},
                      language="fr", example=True, protocol=made.protocol(repetitions=310)),
    ],
    ids=["failures", "almost nothing", "long"],
)  # fmt: skip
@pytest.mark.usefixtures("pseudo")
def test_every_text_of_the_note_comes_from_the_catalogue(campaign: Any) -> None:  # noqa: ANN401  (a campaign)
    """A word that is in no catalogue and in no input would be an English one in the French note."""
    document = {**made.document(campaign), "report_version": 1}
    note = view.note(document, "en")
    page = render.note_page(note, switches("en", "{}.html"), render.read_assets(), "../assets/", "../index.en.html")
    parser = _Texts()
    parser.feed(page)
    texts = [*parser.found, *_chart_texts(page)]
    assert sum(OPEN in text for text in texts) > 100
    # The reasons in the document are French: a page that showed them would be caught by their words being known, so
    # they are taken out of what is known.
    assert _untranslated(texts, _without_reasons(document)) == []


def _without_reasons(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    if isinstance(value, dict):
        return {key: _without_reasons(one) for key, one in value.items() if key != "reason"}
    return [_without_reasons(one) for one in value] if isinstance(value, list) else value


@pytest.mark.usefixtures("pseudo")
def test_a_text_outside_the_catalogue_is_found() -> None:
    """The test can fail: a word of English between two translated ones is named."""
    assert _untranslated(["⟦Dúrátíóns⟧ rejected ⟦s⟧"], {}) == ["['rejected'] in ⟦Dúrátíóns⟧ rejected ⟦s⟧"]
