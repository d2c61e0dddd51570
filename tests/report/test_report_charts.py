"""The durations chart: every point, the median, the lost passes, and nothing made up."""

from __future__ import annotations

import json
from typing import Any

import report_campaigns as made
from hypothesis import given
from hypothesis import strategies as st

from lab.report.charts import charts_of, durations, style
from lab.report.words import Words


def _figure(document: dict[str, Any], language: str = "en") -> dict[str, Any]:
    (chart,) = charts_of("durations", document, Words(document, language))
    return json.loads(chart.figure)


def _points(figure: dict[str, Any]) -> list[list[float]]:
    return [trace["x"] for trace in figure["data"] if trace.get("meta") == style.OUTLINED]


def test_every_accepted_duration_is_a_point() -> None:
    """Five raw points a variant, in schedule order, over a box."""
    figure = _figure(made.document(made.campaign()))
    assert _points(figure) == [list(one) for one in made.OVERLAPPING.values()]
    assert sum(trace["type"] == "box" for trace in figure["data"]) == 3


def test_lost_passes_are_crosses_beside_the_axis_with_their_outcome() -> None:
    """A failure is marked and named, never placed at 0 seconds."""
    figure = _figure(made.document(made.campaign(made.MIXED, outcome="out_of_memory")))
    crosses = [trace for trace in figure["data"] if trace.get("xaxis") == "x2"]
    assert [len(trace["x"]) for trace in crosses] == [3, 1]
    assert crosses[0]["text"] == ["out of memory"] * 3
    assert "✗ out of memory<br>(3)" in figure["layout"]["yaxis"]["ticktext"][0]


def test_few_points_get_no_box_and_one_no_spread() -> None:
    """Quartiles of two points would be a name without a thing (H6)."""
    figure = _figure(made.document(made.campaign({"b1": (24.1,), "b8": (None,)})))
    assert [trace["type"] for trace in figure["data"]].count("box") == 0
    assert _points(figure) == [[24.1]]
    assert "none accepted" in figure["layout"]["yaxis"]["ticktext"][1]


def test_without_attempts_there_is_no_chart() -> None:
    """An empty axis would suggest a measurement."""
    document = made.document(made.campaign({"b1": (), "b8": ()}))
    assert charts_of("durations", document, Words(document, "en")) == ()


def test_the_title_is_the_finding() -> None:
    """What the chart shows, said in words."""
    document = made.document(made.campaign())
    (chart,) = durations.build(document, Words(document, "en"))
    expected = (
        "Batch\u00a04 is faster than batch\u00a01; batch\u00a08 is faster than batch\u00a01; "
        "batch\u00a04 and batch\u00a08 are not told apart"
    )
    assert chart.title == expected
    assert "median 24.40 s, 5 accepted" in chart.spoken


def test_an_axis_that_does_not_begin_at_zero_is_announced() -> None:
    """Close durations are drawn close up, and the caption says it."""
    near = {"b1": (100.0, 100.1, 100.2, 100.3, 100.4), "b8": (100.5, 100.6, 100.7, 100.8, 100.9)}
    document = made.document(made.campaign(near))
    (chart,) = durations.build(document, Words(document, "en"))
    start = json.loads(chart.figure)["layout"]["xaxis"]["range"][0]
    assert 0 < start < 100
    assert "not at 0" in chart.caption


def test_a_variant_keeps_its_colour_and_shape() -> None:
    """The third variant looks the same whatever the first two did."""
    whole = _figure(made.document(made.campaign()))
    mixed = _figure(made.document(made.campaign({**made.OVERLAPPING, "b4": (None,) * 5})))
    looks = [
        [(t["marker"]["color"], t["marker"]["symbol"]) for t in one["data"] if t.get("meta") == style.OUTLINED][-1]
        for one in (whole, mixed)
    ]
    assert looks[0] == looks[1] == style.look(2)


def test_the_figure_cannot_leave_its_script_element() -> None:
    """H1: a name that closes a script element is only a name."""
    document = made.document(made.hostile())
    document["variants"][0]["id"] = made.HOSTILE
    (chart,) = durations.build(document, Words(document, "en"))
    assert "<" not in chart.figure
    assert "</script>" not in json.loads(chart.figure)["layout"]["yaxis"]["ticktext"][0]


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=1, max_size=12))
def test_the_axis_begins_at_or_below_every_point(values: list[float]) -> None:
    """No point is cut off, whatever the durations are."""
    assert 0 <= durations._start(values) <= min(values)
