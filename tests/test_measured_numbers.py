"""How a sentence writes what was measured, and when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lab.errors import fault
from lab.messages import messages


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("gap_s", 1.338746, "1.339"), ("gap_s", 12345.67, "12,346"), ("gap_s", 0.000123456, "0.000123"),
        ("gap_s", -0.270403, "-0.2704"), ("gap_s", 0.0, "0"), ("gap_s", 600.0, "600"), ("p", 0.690476, "=\xa00.6905"),
        ("p", 0.0, "<\xa00.000001"), ("ratio", 1.338746, "1.338746"),
    ],
)  # fmt: skip
def test_a_sentence_has_four_digits_of_measured_seconds(name: str, value: float, said: str) -> None:
    """And of a probability, with its sign and never said to be 0; whole seconds stay whole, other facts as they are."""
    assert messages("en")._shown({name: value})[name] == said


@pytest.mark.parametrize(
    ("language", "said"), [("en", "1 December 2026"), ("fr", "1er décembre 2026"), ("it", "1 dicembre 2026")]
)
def test_the_first_of_a_month_is_an_ordinal_in_french(language: str, said: str) -> None:
    """The other days, and the other languages, have plain numbers."""
    first = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
    assert messages(language).date(first) == said
    assert messages(language).date_time(first) == f"{said}, 09:30 UTC"
    assert messages("fr").date(first.replace(day=11)) == "11 décembre 2026"


def test_an_absent_fact_is_a_dash_in_a_sentence() -> None:
    """A measured cell that was emptied: no word of Python reaches a reader."""
    facts = {"id": "a1", "column": "duration_s", "recorded": "20.1", "found": None}
    said = messages("en").fault(fault("workbook-measured-cell-changed", file="campaign.xlsx", **facts))
    assert "`duration_s` of a1 is \N{EN DASH} in the workbook; 20.1 was measured." in said
