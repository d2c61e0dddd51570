"""Formats of results measured with other tools: a new one is a file of this folder and one line in this tuple."""

from __future__ import annotations

import codecs

from lab.errors import InvalidInputError, fault
from lab.formats.base import Choices, Format, Found, Latencies, Reading, Source
from lab.formats.codecarbon import CODECARBON
from lab.formats.guidellm import GUIDELLM
from lab.formats.hyperfine import HYPERFINE
from lab.formats.mlperf import MLPERF
from lab.formats.optimum_benchmark import OPTIMUM_BENCHMARK
from lab.formats.strangers import is_empty, looks_like
from lab.formats.table import TABLE
from lab.formats.vllm_bench import VLLM_BENCH

FORMATS: tuple[Format, ...] = (
    HYPERFINE, OPTIMUM_BENCHMARK, VLLM_BENCH, GUIDELLM, MLPERF, CODECARBON,
    TABLE,  # last: any text with lines may be a table
)  # fmt: skip

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

__all__ = ["FORMATS", "Choices", "Format", "Found", "Latencies", "Reading", "Source", "recognise"]


def recognise(source: Source, choices: Choices) -> Format:
    """The format of a file, by its content; its name says nothing.

    A table needs a mapping file; with one, a csv of a known tool is read as that mapping says.

    Raises:
        InvalidInputError: it is empty, cut off, or nothing that is known; the fault names what it looks like.
    """
    if not source.data.strip():
        raise InvalidInputError(fault("import-empty", file=source.name))
    if choices.table is None and source.data.startswith(_UTF_16):
        raise InvalidInputError(fault("import-utf-16", file=source.name))
    if choices.table is not None and not source.looks_like_json and TABLE.matches(source):
        return TABLE
    found = next((one for one in FORMATS if one.matches(source)), None)
    if found is not None:
        return found
    if not source.looks_like_json:
        raise InvalidInputError(fault("import-unknown-text", file=source.name, found=source.head[:60].strip()))
    if is_empty(source):
        raise InvalidInputError(fault("import-empty", file=source.name))
    looks, keys = looks_like(source)
    if looks:
        raise InvalidInputError(fault("import-other-json", file=source.name, looks=looks, keys=keys))
    raise InvalidInputError(fault("import-unknown-json", file=source.name, keys=keys))
