"""Durations of the accepted passes: every point over a pale box, the median as a tick, what is lost in a gutter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from lab.messages import DASH
from lab.report.blocks import Chart
from lab.report.charts import style
from lab.report.charts.ranges import crowded, five, ranges
from lab.report.document_plain import Json
from lab.report.findings import finding
from lab.report.words import Words

_BOX_FROM = 5  # below that many points a quartile is a name without a thing
_ROW, _AROUND = 84, 64  # height in pixels of one variant, and of the axis
_SPREAD = 0.2  # of a row: how far points stand apart so that none hides another
_FROM_ZERO = 0.4  # an axis starts at 0 unless the points fill less than this part of it
_AREA = 0.34  # of a row: how far the area of many passes reaches to either side
_CROSSES_HIGH, _CROSSES_WIDE = 3, 4  # crosses stand in columns; more than fit are counted in the words beside them


def build(document: Json, words: Words) -> tuple[Chart, ...]:
    """One chart per corpus and seed that has attempts: different populations never share one."""
    summaries = [summary for variant in document["variants"] for summary in variant["summaries"] if summary["attempts"]]
    groups = sorted({(one["corpus"], one["seed"]) for one in summaries}, key=str)
    return tuple(_chart(document, words, corpus, seed, place) for place, (corpus, seed) in enumerate(groups))


def _chart(document: Json, words: Words, corpus: str, seed: int | None, place: int) -> Chart:
    rows = _rows(document, words, corpus, seed)
    values = [value for row in rows for value in row.values]
    starts = _start(values)
    crowd = any(row.crowded for row in rows)
    caption = [words.text("durations.chart.caption_many" if crowd else "durations.chart.caption")]
    if starts and values:
        caption.append(words.text("durations.chart.start", start=words.seconds([starts])(starts)))
    title = finding(document, words, corpus, seed)
    numbers = [
        words.text("durations.chart.spoken", variant=row.id, median=row.median_text or DASH, n=len(row.values))
        for row in rows
    ]
    return Chart(
        id=f"chart-durations-{place}",
        title=title,
        caption=" ".join(caption),
        spoken=" ".join([title, *numbers]),
        figure=style.figure_json(_figure(rows, starts, words)),
        file_name=f"{document['campaign']}-durations-{place + 1}",
        download=words.text("chart.download"),
        without_script=words.text("chart.without_script"),
    )


class _Row:
    """One variant of the chart."""

    def __init__(  # noqa: PLR0913, PLR0917  (what one row of the chart is made of)
        self, variant: Json, place: int, summary: Json, lost: Sequence[str], total: int, words: Words
    ) -> None:
        self.id: str = variant["id"]
        self.colour, self.shape = style.look(place)
        self.values: list[float] = [value for value in summary["durations_s"] if value is not None]
        self.median: float | None = summary["median_s"]
        self.lost = list(lost)
        self.crowded = crowded(self.values, total)
        write = words.seconds(self.values)
        self.hover = [] if self.crowded else [f"{write(value)} s" for value in self.values]
        self.median_text = f"{write(self.median)} s" if self.median is not None else None
        counted = Counter(lost)
        lines = [style.wrapped(self.id), *(style.wrapped(_times(word, number)) for word, number in counted.items())]
        if not self.values:
            lines.append(style.wrapped(words.text("durations.chart.none")))
        self.label = "<br>".join(lines)


def _rows(document: Json, words: Words, corpus: str, seed: int | None) -> list[_Row]:
    found = [
        (variant, place, summary)
        for place, variant in enumerate(document["variants"])
        for summary in variant["summaries"]
        if (summary["corpus"], summary["seed"]) == (corpus, seed)
    ]
    lost: dict[str, list[str]] = {}
    for one in document["attempts"]:
        if (one["corpus"], one["seed"]) == (corpus, seed) and not counts(one):
            lost.setdefault(one["variant"], []).append(lost_word(one, words))
    total = sum(value is not None for _, _, summary in found for value in summary["durations_s"])
    return [
        _Row(variant, place, summary, lost.get(variant["id"], ()), total, words) for variant, place, summary in found
    ]


def counts(attempt: Json) -> bool:
    """Whether an attempt's duration is among the figures: accepted and not excluded."""
    return attempt["corpus_accepted"] == "accepted" and not attempt["excluded"] and attempt["duration_s"] is not None


def lost_word(attempt: Json, words: Words) -> str:
    """Why an attempt is not among the figures, in one word or two."""
    if attempt["outcome"] != "completed":
        return words.shared(f"outcome.{attempt['outcome']}") if attempt["outcome"] else words.text("running")
    if attempt["excluded"]:
        return words.text("excluded")
    return words.shared(f"verdictword.{attempt['corpus_accepted'] or 'unassessed'}")


def _times(word: str, number: int) -> str:
    """How often, after the word: French and Italian would otherwise have to agree with the number."""
    return f"✗ {word}" if number == 1 else f"✗ {word} ({number})"


def _start(values: Sequence[float]) -> float:
    """Where the axis begins: 0, or just below the shortest when all points would crowd at its end."""
    if not values or max(values) - min(values) >= (1 - _FROM_ZERO) * max(values) * _FROM_ZERO:
        return 0
    margin = max(max(values) - min(values), max(values) * 0.01)
    start = max(0.0, min(values) - margin)
    return float(f"{start:.2g}") if float(f"{start:.2g}") <= min(values) else 0.0


def _figure(rows: Sequence[_Row], starts: float, words: Words) -> Any:  # noqa: ANN401  (plotly is untyped)
    import plotly.graph_objects as go

    figure = go.Figure(layout={"template": {}})
    columns = min(max((math.ceil(len(row.lost) / _CROSSES_HIGH) for row in rows), default=0), _CROSSES_WIDE)
    gutter = 0.03 * columns + 0.02 if columns else 0.0
    for place, row in enumerate(rows):
        for trace in _traces(go, row, len(rows) - 1 - place, columns, words):
            figure.add_trace(trace)
    values = [value for row in rows for value in row.values]
    top = max(values, default=1.0)
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    places = list(range(len(rows)))
    figure.update_layout(
        height=_ROW * len(rows) + _AROUND,
        margin={"l": 8, "r": 16, "t": 8, "b": 48},
        showlegend=False,
        hovermode="closest",
        separators=style.SEPARATORS[words.language],
        boxmode="overlay",
        xaxis={
            "title": {"text": words.text("durations.chart.axis")},
            "range": [starts, top + (top - starts) * 0.06],
            "domain": [gutter, 1.0],
            "zeroline": False,
            "fixedrange": True,
            "nticks": 6,
        },
        xaxis2={
            **bare,
            "range": [0, columns + 1],
            "domain": [0.0, max(gutter - 0.02, 0.01)],
            "showticklabels": False,
            "showline": False,
        },
        yaxis={
            **bare,
            "range": [-0.5, len(rows) - 0.4],
            "automargin": True,
            **style.GAP,
            "showline": False,
            "anchor": "x2" if gutter else "x",
            "tickvals": places[::-1],
            "ticktext": [row.label for row in rows],
        },
    )
    return figure


def _shape(go: Any, row: _Row, y: int, words: Words) -> list[Any]:  # noqa: ANN401  (plotly is untyped)
    """How many of a great number of passes lie in each range, as an area around the row; its mark keeps its shape."""
    found = ranges(row.values)
    most = max(number for _, _, number in found)
    edges = [edge for low, high, number in found for edge in ((low, number), (high, number))]
    around = [(at, y + side * _AREA * number / most) for side, half in ((1, edges), (-1, edges[::-1]))
              for at, number in half]  # fmt: skip
    said = words.count("durations.chart.passes", len(row.values))
    return [
        go.Scatter(
            x=[at for at, _ in around], y=[height for _, height in around], mode="lines", fill="toself",
            fillcolor=style.pale(row.colour), line={"color": row.colour, "width": 1}, hoverinfo="skip",
        ),
        go.Scatter(
            x=[row.median], y=[y], mode="markers", meta=style.OUTLINED, text=[said],
            hovertemplate=style.shown(row.id) + "<br>%{text}<extra></extra>",
            marker={"color": row.colour, "symbol": row.shape, "size": 11, "line": {"width": 1}},
        ),
    ]  # fmt: skip


def _box_of_many(go: Any, row: _Row, y: int) -> Any:  # noqa: ANN401  (plotly is untyped)
    low, first, middle, third, high = five(row.values)
    return go.Box(
        lowerfence=[low], q1=[first], median=[middle], q3=[third], upperfence=[high], y=[y], orientation="h", width=0.2,
        hoverinfo="skip", fillcolor=style.pale(row.colour), line={"color": row.colour, "width": 1}, whiskerwidth=0.4,
    )  # fmt: skip


def _traces(go: Any, row: _Row, y: int, columns: int, words: Words) -> list[Any]:  # noqa: ANN401  (plotly is untyped)
    found = []
    if row.crowded:
        found += [*_shape(go, row, y, words), _box_of_many(go, row, y)]
    elif len(row.values) >= _BOX_FROM:
        found.append(
            go.Box(
                x=row.values, y=[y] * len(row.values), orientation="h", width=0.42, boxpoints=False, hoverinfo="skip",
                fillcolor=style.pale(row.colour), line={"color": row.colour, "width": 1}, whiskerwidth=0.4,
                opacity=0.75,
            )
        )  # fmt: skip
    if row.values and not row.crowded:
        steps = max(len(row.values) - 1, 1)
        spread = [y + _SPREAD * (0.5 - place / steps) for place in range(len(row.values))]
        found.append(
            go.Scatter(
                x=row.values, y=spread, mode="markers", meta=style.OUTLINED, text=row.hover,
                hovertemplate=style.shown(row.id) + "<br>%{text}<extra></extra>",
                marker={"color": row.colour, "symbol": row.shape, "size": 9, "line": {"width": 1}},
            )
        )  # fmt: skip
    if row.median is not None:
        found.append(
            go.Scatter(
                x=[row.median], y=[y], mode="markers", meta=style.INK, hoverinfo="skip",
                marker={"symbol": "line-ns", "size": 32, "line": {"width": 2.5}},
            )
        )  # fmt: skip
        found.append(
            go.Scatter(
                x=[row.median], y=[y + 0.42], mode="text", text=[row.median_text], meta=style.INK, hoverinfo="skip",
                cliponaxis=False,
            )
        )  # fmt: skip
    marked = row.lost[: _CROSSES_HIGH * _CROSSES_WIDE]
    if marked:
        found.append(
            go.Scatter(
                x=[columns - place // _CROSSES_HIGH for place in range(len(marked))],
                y=[y + 0.2 * _centred(place, len(marked)) for place in range(len(marked))],
                mode="markers", xaxis="x2", meta=style.INK, text=[style.shown(one) for one in marked],
                hovertemplate=style.shown(row.id) + "<br>%{text}<extra></extra>",
                marker={"symbol": "x-thin", "size": 8, "line": {"width": 2}},
            )
        )  # fmt: skip
    return found


def _centred(place: int, count: int) -> float:
    """How many steps above the middle of its column the cross at `place` stands."""
    in_column = min(count - place // _CROSSES_HIGH * _CROSSES_HIGH, _CROSSES_HIGH)
    return (in_column - 1) / 2 - place % _CROSSES_HIGH
