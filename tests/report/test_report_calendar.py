"""The calendar's chart: real hours, what a package covers, and the deadline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import report_campaigns as made

from lab.messages import LANGUAGES
from lab.model.campaign import Campaign
from lab.model.catalogue import CalendarTask
from lab.report.blocks import Chart
from lab.report.charts import calendar, style
from lab.report.words import Words


def _chart(campaign: Campaign, language: str = "en") -> tuple[Chart, dict[str, Any]]:
    document = made.document(campaign)
    (chart,) = calendar.build(document, Words(document, language))
    return chart, json.loads(chart.figure)


def _bars(figure: dict[str, Any]) -> list[tuple[float, float]]:
    return [(one["base"][0], one["x"][0]) for one in figure["data"] if one["type"] == "bar"]


def _lines(figure: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in figure["data"] if one.get("mode") == "lines+text"]


def test_each_task_is_a_bar_of_its_hours_with_the_package_under_them() -> None:
    """From the bottom: what the package covers, the last task, the first."""
    chart, figure = _chart(made.campaign())
    assert _bars(figure) == [(0.0, 168.0), (3.0, 93.0), (0.0, 3.0)]
    assert figure["layout"]["yaxis"]["ticktext"][0] == "package"
    assert chart.title == "The window ends 177\u00a0h before the deadline; every package covers its window"
    assert "passes and retrieval: 93\u00a0h." in chart.spoken


def test_a_deadline_that_is_missed_and_a_package_that_is_too_short_are_the_title() -> None:
    """The finding is said before anyone reads a bar."""
    late = CalendarTask("all of it", made.START, made.START + timedelta(days=20))
    chart, figure = _chart(replace(made.campaign(), calendar=(late,)))
    assert chart.title == (
        "The window of batches\u00a01, 4 and 8 ends after the deadline; "
        "the package does not cover the window of batches\u00a01, 4 and 8"
    )
    assert len(_lines(figure)) == 1


def test_a_deadline_far_away_is_not_drawn_and_none_is_said() -> None:
    """An axis of months would leave no room for the tasks."""
    far = made.protocol(deadline=datetime(2028, 1, 1, tzinfo=made.ROME))
    assert _lines(_chart(made.campaign(protocol=far))[1]) == []
    chart, figure = _chart(made.campaign(protocol=made.protocol(deadline=None)))
    assert _lines(figure) == []
    assert chart.title.startswith("No deadline is stated")


def test_a_clock_change_makes_a_day_of_25_hours() -> None:
    """The marks of the axis stand at local midnights, the bars are as long as the hours that pass."""
    zone = ZoneInfo("Europe/Rome")
    begun = datetime(2026, 10, 24, 0, tzinfo=zone)
    task = CalendarTask("over the change", begun, datetime(2026, 10, 27, 0, tzinfo=zone))
    _, figure = _chart(replace(made.campaign(choices=()), calendar=(task,)))
    assert _bars(figure) == [(0.0, 73.0)]
    axis = figure["layout"]["xaxis"]
    days = [place for place, name in zip(axis["tickvals"], axis["ticktext"], strict=True) if ":" not in name]
    assert days[:3] == [0.0, 24.0, 49.0]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("tasks", [1, 31])
def test_any_number_of_tasks_makes_a_chart(language: str, tasks: int) -> None:
    """Too many to draw are counted in the caption and stay in the table."""
    listed = tuple(CalendarTask(f"t{n}", made.START, made.START + timedelta(hours=n + 1)) for n in range(tasks))
    chart, figure = _chart(replace(made.campaign(), calendar=listed), language)
    assert len(_bars(figure)) == (tasks + 1 if tasks <= 30 else 1)
    assert (str(tasks) in chart.caption) == (tasks > 30)


def test_a_task_of_one_variant_has_its_colour_and_name() -> None:
    """One colour per variant through the whole report."""
    own = CalendarTask("loading", made.START, made.START + timedelta(hours=2), variant="b8")
    _, figure = _chart(replace(made.campaign(), calendar=(*made.campaign().calendar, own)))
    assert _colours(figure["data"]).count(style.look(2)[0]) == 1
    assert "loading (b8)" in " ".join(figure["layout"]["yaxis"]["ticktext"])


def _colours(traces: Sequence[dict[str, Any]]) -> list[str]:
    return [one["marker"]["color"] for one in traces if one["type"] == "bar"]


def test_without_a_calendar_there_is_no_chart() -> None:
    """An empty axis would suggest a plan."""
    document = made.document(made.campaign(calendar=()))
    assert calendar.build(document, Words(document, "en")) == ()
