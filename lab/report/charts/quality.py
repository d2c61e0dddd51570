"""The quality of each pass against the threshold and around the reference variant: one chart per corpus and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lab.messages import DASH
from lab.report.blocks import Chart
from lab.report.charts import style
from lab.report.charts.ranges import crowded
from lab.report.document_plain import Json
from lab.report.words import Words

_ROW, _AROUND = 64, 88  # height in pixels of one variant, and of the axis and the words over the threshold
_SPREAD = 0.36  # of a row: passes of one variant often have the very same quality, and none may hide another
_MARGIN = 0.12  # of what is drawn, free on either side
_LEAST = 0.01  # the axis shows at least so much, so that a rounding is never drawn as a gap


@dataclass(frozen=True)
class _Row:
    """One variant: the metric of each pass that has one, and whether it meets the quality asked."""

    id: str
    place: int
    values: tuple[float, ...]
    enough: tuple[bool, ...]


def build(document: Json, words: Words) -> tuple[Chart, ...]:
    """One chart per corpus and seed with a metric; none where no pass could be assessed: the table says so."""
    groups = sorted({(one["corpus"], one["seed"]) for one in document["quality"] if one["assessed"]}, key=str)
    return tuple(_chart(document, words, corpus, seed, place) for place, (corpus, seed) in enumerate(groups))


def _chart(document: Json, words: Words, corpus: str, seed: int | None, place: int) -> Chart:
    rows = _rows(document, corpus, seed)
    title = _finding(document, rows, words)
    if len(document["corpora"]) > 1 or len(document["run"]["seeds"]) > 1:
        title = words.text("finding.on", finding=title, corpus=corpus, seed=DASH if seed is None else seed)
    band = _band(document, rows)
    total = sum(len(one.values) for one in rows)
    caption = [words.text("quality.chart.caption" if not _many(rows) else "quality.chart.caption_many")]
    if band:
        caption.append(words.text("quality.chart.band", reference=document["protocol"]["reference_variant"]))
    if _range(document, rows, band)[0] > 0:
        caption.append(words.text("quality.chart.start"))
    numbers = [
        words.text("quality.chart.spoken", variant=one.id, value=words.ratio(median(one.values)), n=len(one.values))
        for one in rows if one.values
    ]  # fmt: skip
    figure = _figure(document, rows, band, total, words)
    return Chart(
        id=f"chart-quality-{place}",
        title=title,
        caption=" ".join(caption),
        spoken=" ".join([title, *numbers]),
        figure=style.figure_json(figure),
        file_name=f"{document['campaign']}-quality-{place + 1}",
        download=words.text("chart.download"),
        without_script=words.text("chart.without_script"),
    )


def _rows(document: Json, corpus: str, seed: int | None) -> list[_Row]:
    found: dict[str, list[tuple[float, bool]]] = {}
    for one in document["attempts"]:
        if (one["corpus"], one["seed"]) == (corpus, seed) and one["metric_value"] is not None:
            found.setdefault(one["variant"], []).append((one["metric_value"], one["quality_ok"] is not False))
    return [
        _Row(one["id"], place, *(tuple(part) for part in zip(*found[one["id"]], strict=True)))
        if one["id"] in found
        else _Row(one["id"], place, (), ())
        for place, one in enumerate(document["variants"])
    ]


def _finding(document: Json, rows: Sequence[_Row], words: Words) -> str:
    if document["protocol"]["threshold"] is None:
        return words.text("quality.chart.no_threshold")
    missed = [one.id for one in rows if not all(one.enough)]
    return words.text("quality.chart.missed", names=words.all_of(missed)) if missed else words.text("quality.chart.met")


def _many(rows: Sequence[_Row]) -> bool:
    total = sum(len(one.values) for one in rows)
    return any(crowded(one.values, total) for one in rows)


def _band(document: Json, rows: Sequence[_Row]) -> tuple[float, float] | None:
    """Where the tolerance lets a metric lie: around the median of the reference variant, as acceptance takes it."""
    declared = document["protocol"]
    values = next((one.values for one in rows if one.id == declared["reference_variant"]), ())
    if declared["tolerance"] is None or not values:
        return None
    return median(values) - declared["tolerance"], median(values) + declared["tolerance"]


def _range(document: Json, rows: Sequence[_Row], band: tuple[float, float] | None) -> tuple[float, float]:
    threshold = document["protocol"]["threshold"]
    shown = [value for one in rows for value in one.values] + list(band or ())
    shown += [] if threshold is None else [threshold]
    wide = max(max(shown) - min(shown), _LEAST)
    return min(shown) - wide * _MARGIN, max(shown) + wide * _MARGIN


def _figure(  # what one figure is drawn of
    document: Json, rows: Sequence[_Row], band: tuple[float, float] | None, total: int, words: Words
) -> Any:  # noqa: ANN401  (plotly is untyped)
    import plotly.graph_objects as go

    threshold = document["protocol"]["threshold"]
    low, high = _range(document, rows, band)
    figure = go.Figure(layout={"template": {}})
    if band:
        figure.add_trace(_across(go, band, len(rows)))
    if threshold is not None:
        figure.add_trace(_line(go, threshold, len(rows), (low + high) / 2, words))
    for one in rows:
        for trace in _traces(go, one, len(rows) - 1 - one.place, total, words):
            figure.add_trace(trace)
    bare = {"zeroline": False, "fixedrange": True}
    figure.update_layout(
        height=_ROW * len(rows) + _AROUND,
        margin={"l": 8, "r": 16, "t": 28, "b": 48},
        showlegend=False,
        hovermode="closest",
        separators=style.SEPARATORS[words.language],
        xaxis={
            **bare,
            "title": {"text": style.shown(words.metric(document["protocol"]["metric"])[0])},
            "range": [low, high],
            "nticks": 6,
        },
        yaxis={
            **bare,
            "range": [-0.5, len(rows) - 0.4],
            "automargin": True,
            **style.GAP,
            "showgrid": False,
            "showline": False,
            "tickvals": list(range(len(rows))),
            "ticktext": [_label(one, words) for one in reversed(rows)],
        },
    )
    return figure


def _label(row: _Row, words: Words) -> str:
    name = style.wrapped(row.id)
    return name if row.values else f"{name}<br>{style.wrapped(words.text('no_metric'))}"


def _across(go: Any, band: tuple[float, float], rows: int) -> Any:  # noqa: ANN401  (plotly is untyped)
    low, high = band
    return go.Scatter(
        x=[low, high, high, low], y=[-0.5, -0.5, rows - 0.5, rows - 0.5], mode="lines", fill="toself",
        fillcolor="rgba(125,134,143,0.16)", line={"width": 0}, hoverinfo="skip",
    )  # fmt: skip


def _line(go: Any, threshold: float, rows: int, middle: float, words: Words) -> Any:  # noqa: ANN401  (plotly is untyped)
    said = words.text("quality.chart.threshold", value=words.ratio(threshold))
    return go.Scatter(
        x=[threshold, threshold], y=[-0.5, rows - 0.5], mode="lines+text", text=["", said],
        textposition="top left" if threshold > middle else "top right", line={"dash": "dash", "width": 2},
        meta=style.INK, hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip


def _traces(go: Any, row: _Row, y: int, total: int, words: Words) -> list[Any]:  # noqa: ANN401  (plotly is untyped)
    colour, shape = style.look(row.place)
    if not row.values:
        return []
    if crowded(row.values, total):  # from the lowest to the highest; the mark is the median
        return [
            go.Scatter(x=[min(row.values), max(row.values)], y=[y, y], mode="lines", hoverinfo="skip",
                       line={"color": colour, "width": 6}),
            go.Scatter(x=[median(row.values)], y=[y], mode="markers", meta=style.OUTLINED, hoverinfo="skip",
                       marker={"color": colour, "symbol": shape, "size": 11, "line": {"width": 1}}),
        ]  # fmt: skip
    steps = max(len(row.values) - 1, 1)
    points = [(value, y + _SPREAD * (0.5 - at / steps) if steps > 1 else y, enough)
              for at, (value, enough) in enumerate(zip(row.values, row.enough, strict=True))]  # fmt: skip
    found = []
    for enough in (True, False):
        of_them = [one for one in points if one[2] is enough]
        if of_them:
            look = {"color": colour, "symbol": shape, "size": 9} if enough else {"symbol": "x-thin", "size": 9}
            found.append(
                go.Scatter(
                    x=[value for value, _, _ in of_them], y=[height for _, height, _ in of_them], mode="markers",
                    meta=style.OUTLINED if enough else style.INK, text=[words.ratio(value) for value, _, _ in of_them],
                    hovertemplate=style.shown(row.id) + "<br>%{text}<extra></extra>",
                    marker={**look, "line": {"width": 1 if enough else 2}},
                )
            )  # fmt: skip
    return found
