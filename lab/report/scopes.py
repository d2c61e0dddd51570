"""What each memory counter covers, for the page: attempts record it in English, a reader is told in their language."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from lab.report.blocks import Line
from lab.report.document_measured import COUNTERS
from lab.report.document_plain import Json
from lab.report.words import Words

SCOPED: Final = (*COUNTERS, "host_peak_bytes")
# How what an attempt recorded begins -> the text that says it. `lab.measure` writes these; a test holds both together.
KNOWN: Final = {
    "torch.accelerator.max_memory_allocated:": "memory.scope.allocated",
    "torch.accelerator.max_memory_reserved:": "memory.scope.reserved",
    "torch.accelerator.get_memory_info:": "memory.scope.device_by_torch",
    "VmHWM:": "memory.scope.host_of_pass",
    "peak resident set of the worker, from its start on:": "memory.scope.host_of_process",
}
_DRIVER: Final = ": what all processes have taken of the one whole device"
_OF_SEVERAL: Final = re.compile(r"; the largest of (\d+) processes, one for each device$")


def scopes(document: Json, words: Words) -> tuple[Line, ...]:
    """A line for each counter that was read and each scope it was read with, with the attempts that it holds for."""
    lines = []
    for counter in SCOPED:
        found = Counter(told for one in document["attempts"] if (told := one["facts"].get(f"scope.{counter}")))
        texts = Counter[str]()
        for told, number in found.items():
            texts[scope_text(told, words)] += number
        for text, number in texts.items():
            of = words.count("of_attempts", number)
            name = words.text(f"memory.{counter}")
            lines.append(Line(words.text("memory.scope", counter=name, scope=text, attempts=of)))
    return tuple(lines)


def scope_text(told: str, words: Words) -> str:
    """The scope that an attempt recorded, in the reader's language; an unknown one as it stands."""
    several = _OF_SEVERAL.search(told)
    if several:
        one = scope_text(told[: several.start()], words)
        return words.text("memory.scope.largest_of", scope=one, processes=int(several[1]))
    for beginning, key in KNOWN.items():
        if told.startswith(beginning):
            return words.text(key)
    kind, driver, _ = told.partition(_DRIVER)
    return words.text("memory.scope.device_by_driver", kind=kind) if driver else told
