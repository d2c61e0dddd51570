"""The price formulas against the shared vectors: one workbook, a line of choices a vector, recalculated once."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from openpyxl import load_workbook
from workbook_sample import converted, manifest, without_results

from lab.calcul_forfaits import Offer, find_gpu, offers_from_rows
from lab.messages import DASH, messages
from lab.model.catalogue import CalendarTask, Deliverable, PackageChoice
from lab.model.protocol import Protocol
from lab.model.reason import Reason
from lab.prices import quote
from lab.store.workbook import WorkbookContent, write_workbook

START = datetime(2026, 12, 7, 9, tzinfo=UTC)
DRAWN = 30  # lines whose figures are drawn at random and compared with the Python library
HOUR = 3600


@dataclass(frozen=True)
class Line:
    """What one line of the workbook asks, and the vector's answer, or None where the library says it."""

    choice: PackageChoice
    seconds: int | None
    accepted: int | None
    expected: dict[str, Any] | None


def offers(vectors: dict[str, Any]) -> tuple[Offer, ...]:
    """The vectors' catalogue; a second price in another region, and spot offers that stand in for nothing."""
    held = offers_from_rows((f"line {line}", cells) for line, cells in enumerate(vectors["catalogue"]))
    package, hour = held[0], next(one for one in held if one.model == "hourly")
    spot = (replace(package, spot=True, price=Decimal(1)), replace(hour, spot=True, price=Decimal("0.01")))
    named = replace(package, gpu="twice", name="Twice", device_names=())
    twice = (replace(named, region="eu"), replace(named, region="us"))
    thirds = replace(
        hour, gpu="thirds", name="Thirds", increment_minutes=20, minimum_hours=Decimal("0.5"), price=Decimal("1.015")
    )
    return (*held, *spot, *twice, thirds)


def lines(vectors: dict[str, Any], held: Sequence[Offer]) -> list[Line]:
    """A line a vector: packages, each row of a listing, what is refused for want of a price; then drawn ones."""
    found = []
    for kind in ("package", "listing", "refused"):
        for one in vectors[kind]:
            asked = one["asked"]
            if kind == "refused" and one["slug"] != "price-days-unknown":
                continue  # an option that cannot be, or a card that no catalogue holds: no cell says it
            answers = one["expected"] if kind == "listing" else [one.get("expected", {"committed": "unknown"})]
            for expected in answers:
                choice = PackageChoice(
                    "", find_gpu(held, asked["gpu"]), expected.get("days", asked.get("days")), asked.get("lots", 1),
                    asked.get("periods", 1),
                )  # fmt: skip
                window = asked.get("window")
                seconds = None if window is None else round(Fraction(window) * HOUR)
                found.append(Line(choice, seconds, asked.get("accepted_results"), expected))
    for days, seconds in ((3, 96 * HOUR), (7, 96 * HOUR), (3, 72 * HOUR), (3, 72 * HOUR + 1)):
        found.append(Line(PackageChoice("", "test-3-7-30", days, 1), seconds, 0, None))
    draw = random.Random(5)  # noqa: S311  (the same lines at every run)
    gpus = [*sorted({one.gpu for one in held}), "none"]
    for _ in range(DRAWN):
        choice = PackageChoice(
            "", draw.choice(gpus), draw.choice((3, 7, 30, None, None)), draw.randint(1, 9), draw.randint(1, 4)
        )
        seconds = draw.choice(
            (None, draw.randint(1, 40 * 24 * HOUR), draw.randint(1, 200) * 600, draw.randint(1, 72) * HOUR)
        )
        found.append(Line(choice, seconds, draw.choice((None, 0, 1, 2, 3)), None))
    return [replace(line, choice=replace(line.choice, variant=f"v{place}")) for place, line in enumerate(found)]


def content(asked: Sequence[Line], held: Sequence[Offer]) -> WorkbookContent:
    """The lines as people declare them in `forfaits`, `calendar` and `deliverables`."""
    tasks, delivered = [], []
    for line in asked:
        name = line.choice.variant
        if line.seconds is not None:
            tasks.append(CalendarTask("campaign", START, START + timedelta(seconds=line.seconds), name))
        if line.accepted is not None:
            delivered.append(Deliverable("refused", name, accepted=False))
            delivered += [Deliverable(f"d{number}", name, accepted=True) for number in range(line.accepted)]
    return WorkbookContent(
        Protocol(time_zone="UTC"), choices=tuple(line.choice for line in asked), offers=tuple(held),
        calendar=tuple(tasks), deliverables=tuple(delivered),
    )  # fmt: skip


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory, soffice: str, repository: Path) -> SimpleNamespace:
    """The lines, and what LibreOffice computes for them in a copy whose stored results were made wrong."""
    vectors = json.loads((repository / "tests" / "vectors" / "prices.json").read_text(encoding="utf-8"))
    held = offers(vectors)
    asked = lines(vectors, held)
    folder = tmp_path_factory.mktemp("prices")
    cards = {line.choice.variant: line.choice.gpu or "" for line in asked}
    made, wrong = folder / "made.xlsx", folder / "wrong.xlsx"
    for path in (made, wrong):
        write_workbook(path, content(asked, held), manifest("en", cards))
    (folder / "out").mkdir()
    again = converted(soffice, without_results(wrong), "xlsx", folder / "out")
    return SimpleNamespace(asked=asked, offers=held, made=tables(made), again=tables(again))


def tables(path: Path) -> dict[str, dict[str, Any]]:
    """Variant -> column -> value, of the choices and the summary."""
    book = load_workbook(path, data_only=True)
    found: dict[str, dict[str, Any]] = {}
    for name, header, first in (("forfaits", 6, 1), ("summary", 4, 0)):
        rows = list(book[name].iter_rows(min_row=header, values_only=True))
        titles = rows[0][first:]
        for row in rows[1:]:
            values = dict(zip(titles, row[first:], strict=True))
            if values.get("variant") is None:
                break
            found.setdefault(str(values["variant"]), {}).update(values)
    return found


def test_the_formulas_say_what_the_vectors_say(sheets: SimpleNamespace) -> None:
    """220.00 for two cards, 2071.00 and never 4142, 73.33, undefined with the budget shown, by the hour, unknown."""
    words = messages("en")
    compared = 0
    for line in sheets.asked:
        if line.expected is None:
            continue
        row = sheets.again[line.choice.variant]
        wanted = dict(line.expected)
        if wanted.get("committed") == "unknown":
            assert row["committed"] == words.text("word.unknown_price"), line
        elif "committed" in wanted:
            told = words.text("word.window_unknown") if wanted["committed"] is None else float(wanted["committed"])
            assert row["committed"] == told, line
        for name in ("cards", "currency"):
            assert name not in wanted or row[name] == wanted[name], line
        if wanted.get("covers_hours") is not None:
            assert row["covers_hours"] == pytest.approx(float(wanted["covers_hours"]), abs=1e-9), line
        if wanted.get("covers_window") is not None:
            assert row["covers_window"] == words.text("word.yes" if wanted["covers_window"] else "word.no"), line
        if wanted.get("cost_status") == "value" or "cost_per_result" in wanted:
            cost = wanted["cost_per_result"]
            status = words.text("word.undefined" if wanted.get("cost_status") == "undefined" else "word.not_stated")
            assert row["cost_per_validated_corpus"] == (status if cost is None else float(cost)), line
        compared += 1
    assert compared > 20


def test_the_formulas_say_what_the_library_says(sheets: SimpleNamespace) -> None:
    """Drawn cards, packages, hours and windows: the same cent, the same words, whatever the increment."""
    words = messages("en")
    why = {
        "gate.price.unknown.no_offer": "word.unknown_price", "gate.price.unknown.several": "word.several_prices",
        "gate.price.unknown.no_window": "word.window_unknown", "gate.price.unknown.no_card": "word.unknown_price",
    }  # fmt: skip
    said = set()
    for line in sheets.asked:
        hours = None if line.seconds is None else Fraction(line.seconds, HOUR)
        told, row = quote(line.choice, sheets.offers, hours), sheets.again[line.choice.variant]
        if isinstance(told, Reason):
            said.add(told.key)
            assert (row["committed"], row["covers_window"]) == (words.text(why[told.key]), DASH), line
            continue
        said.add(told.offer.model)
        assert (row["committed"], row["cards"], row["currency"]) == (float(told.committed), told.cards, told.currency)
        assert row["covers_hours"] == pytest.approx(float(told.covers_hours), abs=1e-9), line
        covers = "window_unknown" if hours is None else "yes" if hours <= told.covers_hours else "no"
        assert row["covers_window"] == words.text(f"word.{covers}"), line
    assert said == {"forfait", "hourly", *why}


def test_what_the_file_carries_is_what_libreoffice_computes(sheets: SimpleNamespace) -> None:
    """A viewer that does not calculate shows the same."""
    for name, row in sheets.made.items():
        for column, value in row.items():
            again = sheets.again[name][column]
            assert again == (pytest.approx(value, abs=1e-9) if isinstance(value, int | float) else value), (
                name,
                column,
            )
