"""The calendar: each task as a bar over real time, under them what each package covers, and the deadline across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from lab.report.blocks import Chart
from lab.report.charts import style
from lab.report.document_plain import Json
from lab.report.words import Words, sentence

_ROW, _AROUND = 40, 72  # height in pixels of one bar, and of the axis and the deadline's label
_TASKS = 30  # more tasks are not drawn one by one: the table below has them all
_TICKS = 6
_DAY = 24
_STEPS = (1, 2, 3, 6, 12, 24, 48, 72, 168, 336, 720, 2160, 8760)  # hours between two marks of the axis
_FAR = 3.0  # a deadline further away than so many times what is drawn is told and not drawn
_ALL = "#7d868f"  # tasks of all variants: no variant's own colour
_NAME = 22  # characters of a line beside a bar


@dataclass(frozen=True)
class _Bar:
    """One bar: hours from the first start, and what stands beside it."""

    label: str
    start: float
    end: float
    colour: str
    package: bool
    told: str


def build(document: Json, words: Words) -> tuple[Chart, ...]:
    """One chart; none without a calendar."""
    tasks, variants = document["calendar"], [one for one in document["variants"] if one["window"]]
    if not tasks or not variants:
        return ()
    begun = min(_moment(one["window"]["start"]) for one in variants)
    bars = [*_tasks(document, begun, words), *_packages(document, variants, begun, words)]
    title = _finding(document, variants, words)
    caption = [words.text("calendar.chart.caption")]
    if len(tasks) > _TASKS:
        caption.append(words.text("calendar.chart.many", n=len(tasks)))
    spoken = [words.text("calendar.chart.spoken", name=one.label, told=one.told) for one in bars]
    return (
        Chart(
            id="chart-calendar",
            title=title,
            caption=" ".join(caption),
            spoken=" ".join([f"{title}.", *spoken]),
            figure=style.figure_json(_figure(document, bars, begun, words)),
            file_name=f"{document['campaign']}-calendar",
            download=words.text("chart.download"),
            without_script=words.text("chart.without_script"),
        ),
    )


def _moment(value: str) -> datetime:
    return datetime.fromisoformat(value)


def _hours(value: datetime, begun: datetime) -> float:
    """Real hours between two moments, through clock changes (the product's method, section 7)."""
    # In UTC: two moments that carry the same zone object would be subtracted by their wall clocks.
    return (value.astimezone(UTC) - begun.astimezone(UTC)) / timedelta(hours=1)


def _tasks(document: Json, begun: datetime, words: Words) -> list[_Bar]:
    if len(document["calendar"]) > _TASKS:
        return []
    places = {one["id"]: place for place, one in enumerate(document["variants"])}
    bars = []
    for one in sorted(document["calendar"], key=lambda task: (_moment(task["start"]), _moment(task["end"]))):
        start, end = (_hours(_moment(one[name]), begun) for name in ("start", "end"))
        place = places.get(one["variant"])
        colour = _ALL if place is None else style.look(place)[0]
        label = one["task"] if one["variant"] is None else f"{one['task']} ({one['variant']})"
        bars.append(_Bar(label, start, end, colour, package=False, told=words.hours(round(end - start, 2))))
    return bars


def _packages(document: Json, variants: Sequence[Json], begun: datetime, words: Words) -> list[_Bar]:
    """One bar for all variants whose package covers the same span, from the start of their window."""
    names: dict[tuple[str, float], list[str]] = {}
    for one in variants:
        if one["covers_hours"] is not None:
            names.setdefault((one["window"]["start"], one["covers_hours"]), []).append(one["id"])
    bars = []
    for (start, covers), ids in names.items():
        whole = len(ids) == len(document["variants"])
        label = words.text("calendar.chart.package") if whole else words.text(
            "calendar.chart.package_of", names=words.all_of(ids))  # fmt: skip
        at = _hours(_moment(start), begun)
        bars.append(_Bar(label, at, at + covers, _ALL, package=True, told=words.hours(covers)))
    return bars


def _finding(document: Json, variants: Sequence[Json], words: Words) -> str:
    """Whether the windows end before the deadline and whether the packages cover them, in one sentence."""
    parts, deadline = [], document["protocol"]["deadline"]
    if deadline:
        left = {one["id"]: -_hours(_moment(one["window"]["end"]), _moment(deadline)) for one in variants}
        late = [name for name, hours in left.items() if hours < 0]
        least = words.hours(round(min(left.values()), 2))
        parts.append(
            words.text("calendar.finding.late", names=words.variants(late))
            if late
            else words.text("calendar.finding.before", hours=least)
        )
    else:
        parts.append(words.text("calendar.finding.no_deadline"))
    with_package = [one for one in variants if one["covers_hours"] is not None]
    short = [one["id"] for one in with_package if one["covers_hours"] < one["window"]["hours"]]
    if short:
        parts.append(words.text("calendar.finding.short", names=words.variants(short)))
    elif with_package and len(with_package) == len(document["variants"]):
        parts.append(words.text("calendar.finding.covered"))
    return sentence(words.text("semicolon").join(parts))


def _figure(document: Json, bars: Sequence[_Bar], begun: datetime, words: Words) -> Any:  # noqa: ANN401  (plotly is untyped)
    import plotly.graph_objects as go

    deadline = document["protocol"]["deadline"]
    at = _hours(_moment(deadline), begun) if deadline else None
    span = max(one.end for one in bars) if bars else 1.0
    drawn = at if at is not None and 0 <= at <= _FAR * span else None
    span = max(span, drawn or 0.0)
    figure = go.Figure(layout={"template": {}})
    for place, one in enumerate(reversed(bars)):
        for trace in _traces(go, one, place):
            figure.add_trace(trace)
    if drawn is not None:
        figure.add_trace(_deadline(go, drawn, len(bars), span, words))
    places, names = _ticks(begun, span, document["protocol"]["time_zone"], words)
    figure.update_layout(
        height=_ROW * len(bars) + _AROUND,
        margin={"l": 8, "r": 16, "t": 24, "b": 32},
        showlegend=False,
        hovermode=False,
        barmode="overlay",
        xaxis={
            "range": [0, span * 1.14],
            "tickvals": places,
            "ticktext": names,
            "tickangle": 0,
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis={
            "range": [-0.6, len(bars) - 0.2],
            "tickvals": list(range(len(bars))),
            "ticktext": [style.wrapped(one.label, _NAME) for one in reversed(bars)],
            "automargin": True,
            **style.GAP,
            "showgrid": False,
            "zeroline": False,
            "showline": False,
            "fixedrange": True,
        },
    )
    return figure


def _traces(go: Any, bar: _Bar, y: int) -> list[Any]:  # noqa: ANN401  (plotly is untyped)
    marker: dict[str, Any] = {"color": bar.colour, "line": {"width": 1, "color": bar.colour}}
    if bar.package:  # hatched and thin: told from a task in grey too
        marker["pattern"] = {"shape": "/", "fgcolor": bar.colour, "bgcolor": style.pale(bar.colour), "size": 6}
    return [
        go.Bar(
            x=[bar.end - bar.start], base=[bar.start], y=[y], orientation="h", width=0.34 if bar.package else 0.56,
            marker=marker, hoverinfo="skip",
        ),
        go.Scatter(
            x=[bar.end], y=[y], mode="text", text=[f" {bar.told}"], textposition="middle right", meta=style.INK,
            hoverinfo="skip", cliponaxis=False,
        ),
    ]  # fmt: skip


def _deadline(go: Any, at: float, rows: int, span: float, words: Words) -> Any:  # noqa: ANN401  (plotly is untyped)
    side = "top left" if at > span / 2 else "top right"
    return go.Scatter(
        x=[at, at], y=[-0.6, rows - 0.45], mode="lines+text", text=["", words.text("calendar.chart.deadline")],
        textposition=side, line={"dash": "dash", "width": 2}, meta=style.INK, hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip


def _ticks(begun: datetime, span: float, zone: str | None, words: Words) -> tuple[list[float], list[str]]:
    """Marks at whole hours or days of the campaign's own time zone, and how the language writes them."""
    step = next((one for one in _STEPS if span / one <= _TICKS), _STEPS[-1])
    local = begun.astimezone(ZoneInfo(zone)) if zone else begun
    day = local.replace(hour=0, minute=0, second=0, microsecond=0)
    places: list[float] = []
    names: list[str] = []
    hour = 0
    while True:
        # Wall-clock steps: a day stays a day where the clock changes, and so may be 23 or 25 hours wide.
        mark = day + timedelta(hours=hour)
        at = _hours(mark, local)
        if at > span:
            return places, names
        if at >= 0:
            places.append(at)
            names.append(words.day(mark) if step >= _DAY or mark.hour == 0 else f"{mark:%H:%M}")
        hour += step
