"""The charts of the report: a new chart is one file here and one line in `CHARTS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.report.blocks import Chart
from lab.report.charts import calendar, durations, quality
from lab.report.document_plain import Json
from lab.report.words import Words


@dataclass(frozen=True)
class ChartKind:
    """A chart: the id of the section it stands in, and what makes it of a document (one per corpus and seed)."""

    section: str
    build: Callable[[Json, Words], tuple[Chart, ...]]


CHARTS: tuple[ChartKind, ...] = (
    ChartKind("durations", durations.build),
    ChartKind("quality", quality.build),
    ChartKind("calendar", calendar.build),
)


def charts_of(section: str, document: Json, words: Words) -> tuple[Chart, ...]:
    """The charts of one section, in order."""
    return tuple(chart for kind in CHARTS if kind.section == section for chart in kind.build(document, words))
