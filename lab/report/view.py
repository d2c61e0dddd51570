"""A document and a language in, a page's texts out: everything formatted and translated, no HTML."""

from __future__ import annotations

from lab.report import (
    glossary,
    view_attempts,
    view_costs,
    view_decision,
    view_first,
    view_measures,
    view_planning,
    view_record,
)
from lab.report.blocks import Note
from lab.report.document_plain import Json
from lab.report.words import Words

_PAGE_WORDS = ("skip", "contents", "languages", "figures", "versions")


def note(document: Json, language: str) -> Note:
    """The decision note of a published document (with its `report_version`) in one language.

    Raises:
        MissingTextError: a key of the document has no text in `language`.
    """
    words = Words(document, language)
    version = words.text("version", n=document["report_version"])
    sections = (
        view_decision.gates(document, words),
        view_measures.durations(document, words),
        view_measures.quality(document, words),
        view_measures.memory(document, words),
        view_measures.phases(document, words),
        view_costs.costs(document, words),
        view_decision.calendar(document, words),
        view_planning.planning(document, words),
        view_attempts.attempts(document, words),
        view_record.exclusions(document, words),
        view_record.protocol(document, words),
        view_record.author(document, words),
        view_record.environment(document, words),
        view_record.integrity(document, words),
        view_record.limits(document, words),
        glossary.section(words),
    )
    date = view_record.latest(document)
    quiet = (
        document["campaign"],
        version,
        *((words.text("measured_on", date=words.messages.date(date)),) if date else ()),
    )
    return Note(
        language=language,
        title=words.text("page.title", campaign=document["campaign"], version=version),
        running_header=f"{document['campaign']} · {version}",
        quiet_line=quiet,
        question=document["question"] or words.text("no_question"),
        question_label=words.text("question"),
        question_language=document["language"] if document["question"] else language,
        answer=view_first.answer(document, words),
        figures=view_first.figures(document, words),
        configuration=view_first.configuration(document, words),
        reading=view_first.reading(document, words),
        sections=tuple(one for one in sections if one is not None),
        terms=glossary.terms(words),
        words={name: words.text(f"page.{name}") for name in _PAGE_WORDS},
    )
