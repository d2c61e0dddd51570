"""The chart of quality: each pass against the threshold, the tolerance around the reference, and what misses it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import report_campaigns as made

from lab.messages import LANGUAGES
from lab.model.campaign import Campaign
from lab.report.blocks import Chart
from lab.report.charts import quality, style
from lab.report.view import note
from lab.report.words import Words


def _chart(campaign: Campaign, language: str = "en") -> tuple[Chart, dict[str, Any]]:
    document = made.document(campaign)
    (chart,) = quality.build(document, Words(document, language))
    return chart, json.loads(chart.figure)


def _worse(campaign: Campaign, variant: str, right: int) -> Campaign:
    """The same campaign, with fewer right answers in every pass of one variant."""
    of_it = {one.attempt.attempt_id for one in campaign.records if one.attempt.variant == variant}
    evidence = {key: made.evidence(right) if key in of_it else one for key, one in campaign.evidence.items()}
    return replace(campaign, evidence=evidence)


def test_each_assessed_pass_is_a_point_beside_the_line_of_the_threshold() -> None:
    """Five points a variant, the threshold once, and the band of the tolerance around the reference."""
    chart, figure = _chart(made.campaign())
    points = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    assert [trace["x"] for trace in points] == [[0.812] * 5] * 3
    assert all(len(set(trace["y"])) == 5 for trace in points)
    (line,) = (trace for trace in figure["data"] if trace["mode"] == "lines+text")
    assert line["x"] == [0.7, 0.7]
    assert line["text"][1] == "threshold 0.7000"
    (band,) = (trace for trace in figure["data"] if trace.get("fill"))
    assert sorted(set(band["x"])) == pytest.approx([0.792, 0.832])
    assert chart.title == "Every assessed pass meets the quality asked"
    assert chart.spoken.endswith("b8: median 0.8120, 5 assessed.")
    assert "The axis does not begin at 0." in chart.caption


def test_a_pass_that_misses_is_a_cross_and_its_variant_is_the_title() -> None:
    """Told by its shape and by words, in grey too."""
    chart, figure = _chart(_worse(made.campaign(), "b8", 650))
    assert chart.title == "Passes below the quality asked: b8"
    (crosses,) = (trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "x-thin")
    assert crosses["x"] == [0.65] * 5
    assert crosses["meta"] == style.INK


def test_a_variant_without_a_metric_is_named_and_has_no_point() -> None:
    """H6: a metric that is missing is said in words, never drawn at 0."""
    chart, figure = _chart(made.campaign({**made.OVERLAPPING, "b8": (None, None)}))
    assert figure["layout"]["yaxis"]["ticktext"][0] == "b8<br>no pass could be<br>assessed"
    assert all(value > 0.6 for trace in figure["data"] for value in trace["x"])
    assert "b8" not in chart.spoken


def test_no_metric_at_all_is_no_chart_and_a_table_that_says_so() -> None:
    """H6: nothing is drawn of nothing."""
    document = made.document(made.campaign({"b1": (None,), "b4": (None,)}))
    assert quality.build(document, Words(document, "en")) == ()
    assert any(one.id == "quality" for one in note({**document, "report_version": 1}, "en").sections)


def test_thousands_of_passes_are_one_line_a_variant() -> None:
    """H5: from the lowest to the highest, with the median on it."""
    chart, figure = _chart(made.campaign({name: [24.0] * 240 for name in ("b1", "b4", "b8")}))
    assert max(len(trace["x"]) for trace in figure["data"]) <= 4
    assert chart.caption.startswith("Too many passes to draw one by one.")


def test_without_threshold_and_tolerance_nothing_is_drawn_of_them() -> None:
    """No line is made up, and the title says that none is stated."""
    chart, figure = _chart(made.campaign(protocol=made.protocol(threshold=None, tolerance=None)))
    assert {trace["mode"] for trace in figure["data"]} == {"markers"}
    assert chart.title == "No threshold is stated for this quality"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_chart_speaks_each_language(language: str) -> None:
    """Numbers by locale, the metric in words."""
    chart, figure = _chart(made.campaign(), language)
    decimal = "0.8120" if language == "en" else "0,8120"
    assert decimal in chart.spoken
    assert figure["layout"]["xaxis"]["title"]["text"] != "accuracy"
