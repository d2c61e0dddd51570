"""The report's catalogue: every text in three languages, with the same places to fill."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

import lab

LOCALES = Path(lab.__file__).parent / "locales"
SAME_IN_ALL = re.compile(r"^[\W\d]*(\{\w+\}[\W\d]*)*$")  # nothing but places and marks
# Words that are the same in two of the languages, as people of the trade write them.
BORROWED = {
    "attention", "batch", "padding", "corpus", "download", "export", "file", "median", "version", "no:", "p{percent}",
}  # fmt: skip


def _texts(language: str) -> dict[str, tuple[str, ...]]:
    with (LOCALES / language / "LC_MESSAGES" / "report.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    found = {}
    for one in catalogue:
        if one.id:
            key = one.id if isinstance(one.id, str) else one.id[0]
            found[key] = (one.string,) if isinstance(one.string, str) else tuple(one.string)
    return found


def _places(texts: tuple[str, ...]) -> set[str]:
    return {place for text in texts for place in re.findall(r"\{(\w+)\}", text)}


@pytest.mark.parametrize("language", ["fr", "it"])
def test_every_text_has_its_translation_with_the_same_places(language: str) -> None:
    """A key without a text, or a text that drops a fact, is found here and not by a reader."""
    english, other = _texts("en"), _texts(language)
    assert english.keys() == other.keys()
    wrong = [key for key in english if _places(english[key]) - {"n"} != _places(other[key]) - {"n"}]
    assert wrong == []
    assert [key for key, texts in other.items() if not all(texts)] == []


@pytest.mark.parametrize("language", ["fr", "it"])
def test_no_sentence_is_left_in_english(language: str) -> None:
    """A sentence of several words is never the same in two languages."""
    english, other = _texts("en"), _texts(language)
    same = {key: texts[0] for key, texts in other.items() if texts == english[key] and " " in texts[0]}
    own = [key for key, text in same.items() if not SAME_IN_ALL.match(text) and not BORROWED & set(text.split())]
    assert own == []


def test_french_has_its_thin_spaces() -> None:
    """A narrow no-break space stands before : ; ? and inside « »."""
    for key, texts in _texts("fr").items():
        for text in texts:
            assert not re.search(r"[^\u202f\s](?:[;?!»]|:(?=\s|$))", text), key
            assert not re.search(r"«(?!\u202f)", text), key


def test_nothing_is_shouted() -> None:
    """No exclamation mark, and nothing is done "successfully"."""
    for language in ("en", "fr", "it"):
        for key, texts in _texts(language).items():
            assert not any("!" in text or "successfully" in text for text in texts), key
