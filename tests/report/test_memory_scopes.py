"""What each memory counter covers: recorded in English with the attempt, said in the reader's language on the page."""

from __future__ import annotations

from dataclasses import replace

import pytest
import report_campaigns as made

from lab.measure import memory, sampler
from lab.messages import LANGUAGES
from lab.report import view_measures
from lab.report.document_plain import Json
from lab.report.scopes import KNOWN, scope_text, scopes
from lab.report.words import Words

DRIVER = sampler.SCOPE.format(kind="nvml", samples=41)
RECORDED = (
    *memory.SCOPES.values(),
    memory.HOST_WHILE_MEASURED,
    memory.HOST_OF_PROCESS,
    sampler.BY_TORCH,
    DRIVER,
    f"{memory.HOST_WHILE_MEASURED}; the largest of 4 processes, one for each device",
)


def _document(facts: tuple[dict[str, str], ...]) -> Json:
    base = made.campaign()
    told = (*facts, *({} for _ in base.records[len(facts) :]))
    records = tuple(
        replace(one, details=replace(one.details, facts=said)) for one, said in zip(base.records, told, strict=True)
    )
    return made.document(replace(base, records=records))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_scope_that_measuring_records_has_a_text_of_its_own(language: str) -> None:
    """None stays as recorded, no two say the same, and the number of devices' processes is kept."""
    words = Words(_document(()), language)
    texts = [scope_text(one, words) for one in RECORDED]
    assert len(set(texts)) == len(RECORDED)
    assert not set(texts) & set(RECORDED)
    assert "4" in texts[-1]
    assert "nvml" in scope_text(DRIVER, words)
    assert all(any(one.startswith(beginning) for one in RECORDED) for beginning in KNOWN)


def test_a_line_for_each_counter_and_scope_with_its_attempts() -> None:
    """Two scopes of one counter are two lines; runs that differ in their samples alone share one."""
    host = "scope.host_peak_bytes"
    device = "scope.peak_device_bytes"
    facts = (
        {host: memory.HOST_WHILE_MEASURED, device: DRIVER},
        {host: memory.HOST_WHILE_MEASURED, device: sampler.SCOPE.format(kind="nvml", samples=7)},
        {host: memory.HOST_OF_PROCESS},
    )
    lines = [one.text for one in scopes(_document(facts), Words(_document(()), "en"))]
    assert [one.partition(":")[0] for one in lines] == [
        "whole device, other programs included (2 attempts)",
        "host process (2 attempts)",
        "host process (1 attempt)",
    ]


def test_a_scope_of_another_release_stands_as_it_was_recorded() -> None:
    """Nothing is guessed."""
    words = Words(_document(()), "fr")
    assert scope_text("VmSomething: new", words) == "VmSomething: new"


def test_the_page_says_it_in_its_language() -> None:
    """In the memory section, in French as in Italian."""
    document = _document(({"scope.host_peak_bytes": memory.HOST_WHILE_MEASURED},))
    assert "mémoire vive du processus" in str(view_measures.memory(document, Words(document, "fr")))
    assert "memoria RAM del processo" in str(view_measures.memory(document, Words(document, "it")))
