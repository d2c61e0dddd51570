"""The cost side of a whole campaign, from its folder to `decision.json` and the page: pinned figures."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import costs_campaign as made
import pytest

from lab.messages import LANGUAGES, messages
from lab.pipeline import report
from lab.store.catalogue import shipped_offers


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first version of the report."""
    folder = made.build(tmp_path_factory.mktemp("costs") / "campaign")
    assert report(folder).version == 1
    return folder / "report" / "v1"


@pytest.fixture(scope="module")
def document(published: Path) -> dict[str, Any]:
    """`decision.json`."""
    found: dict[str, Any] = json.loads((published / "decision.json").read_text(encoding="utf-8"))
    return found


def test_budgets_and_costs_are_pinned(document: dict[str, Any]) -> None:
    """Two lots for 7 days: 220.00; three accepted: 73.33; by the hour 132.48, none accepted: undefined, shown."""
    figures = {
        one["id"]: (
            one["committed"], one["currency"], one["cards"], one["covers_hours"], one["accepted_deliverables"],
            one["cost_status"], one["cost_per_validated_corpus"],
        )
        for one in document["variants"]
    }  # fmt: skip
    assert figures == {
        "package": ("220.00", "USD", 2, 168, 3, "value", "73.33"),
        "hourly": ("132.48", "USD", 2, 96, 0, "undefined", None),
    }
    decided = document["decision"]
    assert (decided["status"], decided["variant"]) == ("chosen", "package")
    assert (decided["committed"], decided["cost_per_validated_corpus"]) == ("220.00", "73.33")


def test_other_expenses_stay_beside_the_budget_and_gaps_are_named(document: dict[str, Any]) -> None:
    """35.50 and 60.00 are in no budget; `Storage` is missing for the other variant; what holds for all is not."""
    assert [(one["item"], one["amount"], one["justification"]) for one in document["expenses"]] == [
        ("Storage", "35.50", "200 GB for one week, invoice 88"),
        ("Set-up", "60.00", "two hours of an engineer"),
    ]
    warned = {one["id"]: [w["message"] for w in one["warnings"]] for one in document["variants"]}
    facts = {"item": "Storage", "variants": ["package"]}
    assert warned == {"package": [], "hourly": [{"key": "warning.expense_missing", "values": facts}]}


def test_the_rental_reference_is_in_the_document(document: dict[str, Any]) -> None:
    """So that the note can be matched with the invoice."""
    assert [one["rental_reference"] for one in document["variants"]] == ["LAB-2026-117", None]


def test_the_hypothesis_is_labelled_and_apart(document: dict[str, Any]) -> None:
    """Three deliverables of the slowest pass and its other phases: 3 x (62 + 4) s; no figure of it is in the answer."""
    planning = document["planning"]
    assert planning["label"] == "planning_hypothesis"
    first = planning["variants"][0]
    assert (first["deliverables"], first["corpus"], first["slowest_s"], first["overhead_s"]) == (3, "mails", 62.0, 4.0)
    assert (first["window_hours"], first["left_out"]) == (0.055, ["export_s"])
    assert [(one["part"], one["times"], one["each_s"], one["seconds"]) for one in first["addends"]] == [
        ("passes", 3, 62.0, 186.0), ("phases", 3, 4.0, 12.0), ("once", 1, 0.0, 0.0), ("cool_downs", 2, 0.0, 0.0),
    ]  # fmt: skip
    assert (first["package"]["days"], first["package"]["periods"], first["package"]["committed"]) == (7, 1, "220.00")
    assert "planning" not in json.dumps([document["decision"], document["variants"]])


def test_an_hourly_offer_stands_beside_the_package(document: dict[str, Any]) -> None:
    """96 h at 0.69 for two cards against 220.00: equal at 11000/69 billed hours."""
    for one in document["hourly"]:
        assert (one["by_the_hour"]["committed"], one["package"]["committed"]) == ("132.48", "220.00")
        assert (one["break_even_exact"], round(one["break_even_hours"], 2)) == ("11000/69", 159.42)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_shows_each_of_them(published: Path, language: str) -> None:
    """Expenses with their justification, the gap, the reference, the hourly offer; the hypothesis under its words."""
    page = html.unescape((published / f"{language}.html").read_text(encoding="utf-8"))
    words = messages(language)
    costs = re.sub("<[^>]+>", "", page.split('id="costs"')[1].split('id="calendar"')[0])  # terms are links
    gap = words.text("warning.expense_missing", item="Storage", variants=["package"])
    shown = ["invoice 88", "LAB-2026-117", words.number(Decimal("159.42"), 2), gap]
    shown += [words.text("report.hourly.caption"), words.number(Decimal("73.33"), 2)]
    assert [one for one in shown if one not in costs] == []
    planned = re.sub("<[^>]+>", "", page.split('<section id="planning"')[1].split("</section>")[0])
    assert words.text("report.planning.title") in planned
    assert words.number(Decimal("220.00"), 2) in planned
    shown = [words.text(f"report.column.{name}") for name in ("slowest", "beside", "cool_downs")]
    shown += [f"3\u00a0\N{MULTIPLICATION SIGN}\u00a0{seconds}" for seconds in (62, 4)]
    assert [one for one in shown if one not in planned] == []
    assert words.text("report.planning.title") not in page.split('<nav class="contents"')[0]


def test_a_hypothesis_without_accepted_passes_says_why_and_nothing_else(tmp_path: Path) -> None:
    """A failed pass has no duration to project."""
    folder = made.build(tmp_path / "campaign")
    for attempt in (folder / "attempts").glob("hourly*"):
        (attempt / "predictions.jsonl").unlink()
    report(folder)
    document = json.loads((folder / "report/v1/decision.json").read_text(encoding="utf-8"))
    found = document["planning"]["variants"][1]
    assert found["message"]["key"] == "planning.no_pass"
    assert [found[name] for name in ("slowest_s", "overhead_s", "window_hours", "package")] == [None] * 4


def test_without_hourly_offers_nothing_is_compared_and_the_price_is_unknown(tmp_path: Path) -> None:
    """The catalogue that ships holds no hourly price, so none is made up."""
    folder = made.build(tmp_path / "campaign", "fr", shipped_offers())
    report(folder)
    document = json.loads((folder / "report/v1/decision.json").read_text(encoding="utf-8"))
    assert document["hourly"] == []
    assert document["variants"][1]["committed"] is None
    assert document["variants"][1]["cost_status"] == "not_stated"


def test_an_example_price_is_marked_in_what_stands_beside_the_decision(tmp_path: Path) -> None:
    """Hourly offers and hypotheses made from it say so, like every other figure."""
    offers = tuple(replace(one, catalogue_version="example-1") for one in (*shipped_offers(), made.by_the_hour()))
    folder = made.build(tmp_path / "campaign", "en", offers)
    report(folder)
    document = json.loads((folder / "report/v1/decision.json").read_text(encoding="utf-8"))
    assert all(one["example_price"] for one in document["hourly"])
    assert all(one["package"]["example_price"] for one in document["planning"]["variants"])
    planned = (folder / "report/v1/en.html").read_text(encoding="utf-8").split('<section id="planning"')[1]
    assert messages("en").text("report.price.mark") in planned.split("</section>")[0]
