"""Words of the glossary in the page's texts: each is explained where it stands, and nothing else becomes a link."""

from __future__ import annotations

import re

import pytest
import report_campaigns as made
from hypothesis import given
from hypothesis import strategies as st

from lab.messages import LANGUAGES
from lab.report import glossary, render, view
from lab.report.blocks import Term
from lab.report.term_links import linker
from lab.report.words import Words

TERMS = (
    Term("term-window", ("access window", "window"), "From first to last."),
    Term("term-pass", ("pass", "passes"), 'One "whole" corpus.'),
)


def test_the_longest_form_wins_and_case_does_not_matter() -> None:
    """Two words that are one term are one link."""
    said = str(linker(TERMS)()("Access window and passes"))
    assert said == (
        '<a class="term" href="#term-window" title="From first to last.">Access window</a> and '
        '<a class="term" href="#term-pass" title="One &#34;whole&#34; corpus.">passes</a>'
    )


def test_a_term_is_marked_once_a_section_and_only_as_a_whole_word() -> None:
    """A page of underlined words reads badly; "bypass" is no pass."""
    links = linker(TERMS)
    first = links()
    assert str(first("a pass")).count("<a ") == 1
    assert str(first("a pass, a bypass, a window_x")) == "a pass, a bypass, a window_x"
    assert str(links()("a pass")).count("<a ") == 1


@given(st.text(alphabet=st.sampled_from("<>&\"' pasw/indo|."), max_size=60))
def test_whatever_the_text_is_all_but_the_links_is_escaped(text: str) -> None:
    """H1: a text of the page can hold data, and data stays text."""
    said = str(linker(TERMS)()(text))
    bare = re.sub(r'<a class="term" href="#[\w-]+" title="[^"<>]*">([^<>]*)</a>', r"\1", said)
    assert "<" not in bare
    assert ">" not in bare


@pytest.mark.parametrize("language", LANGUAGES)
def test_nearly_every_word_of_the_glossary_is_met_in_the_note(language: str) -> None:
    """A word that no text of the page uses would need no explanation; only what this campaign lacks is missing."""
    document = made.document(made.campaign(made.MIXED))
    note = view.note({**document, "report_version": 1}, language)
    page = render.note_page(note, (), render.read_assets(), "../assets/", "../index.en.html")
    met = set(re.findall(r'class="term" href="#([\w-]+)"', page))
    unmet = {one.id for one in glossary.terms(Words(document, language))} - met
    assert unmet <= {f"term-{one}" for one in ("amendment", "lot", "planning", "protocol", "subgroup")}
    assert met <= set(re.findall(r'<div id="([\w-]+)"', page))
