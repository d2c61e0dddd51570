"""The calculator's own code, in Chromium, against the vectors and against `lab.calcul_forfaits`."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page

from lab.calcul_forfaits import (
    OFFER_COLUMNS,
    CatalogueError,
    answer,
    offers_from_rows,
    plain_hours,
    read_offers,
)
from lab.model.catalogue import window_hours
from lab.report.site import build_site

CASES = 10_000
ZONES = (
    "Europe/Paris", "Europe/Rome", "Europe/London", "America/New_York", "America/St_Johns", "America/Santiago",
    "Australia/Lord_Howe", "Australia/Sydney", "Asia/Kathmandu", "Asia/Tokyo", "Africa/Cairo", "Pacific/Chatham", "UTC",
)  # fmt: skip
KEYS = (
    "gpu", "days", "lots", "cards", "committed", "currency", "accepted_results", "cost_status", "cost_per_result",
    "periods", "catalogue_version", "covers_hours", "covers_window", "hours_missing", "name", "model", "region", "spot",
    "source", "example", "break_even_hours",
)  # fmt: skip

PRICE = """
({catalogue, cases}) => {
  const {prices, words} = calculator, offers = prices.readCatalogue(catalogue, words.data.rules);
  return cases.map((asked) => {
    try { return prices.answer(offers, asked).map(prices.asJson); } catch (refused) { return refused.problems; }
  });
}
"""
WINDOW = """
(cases) => cases.map(({start, end, time_zone}) => {
  try {
    const found = calculator.windows.between(start, end, time_zone);
    return {...found, hours: calculator.exact.plain(found.hours)};
  } catch (fault) { return {slug: fault.slug, readings: fault.values && fault.values.readings}; }
})
"""
FIT = """
(cases) => cases.map(({hours, days = [3, 7, 30]}) => {
  const {windows, exact} = calculator, window = exact.decimal(hours), extra = windows.extra(window, days);
  const packages = windows.packages(window, days).map(({days, covers, hours_left}) => ({days, covers, hours_left}));
  const counts = extra && {periods: Number(extra.periods), extra_periods: Number(extra.extra_periods)};
  return {packages, extra: extra && {days: extra.days, ...counts}};
})
"""
TASKS = """
(cases) => cases.map(({tasks, time_zone}) => {
  const list = tasks.map(([start, end]) => ({start, end})), {plain} = calculator.exact;
  const {hours, task_hours, waiting_hours} = calculator.windows.tasks(list, time_zone);
  return {hours: plain(hours), task_hours: plain(task_hours), waiting_hours: plain(waiting_hours)};
})
"""
AGREE = """
(text) => JSON.stringify(JSON.parse(text).map(({start, end, time_zone, csv, asked}) => {
  const {prices, windows, exact, words} = calculator, told = {};
  try {
    const found = windows.between(start, end, time_zone);
    told.hours = `${found.hours.n}/${found.hours.d}`;
    asked = {...asked, window: exact.plain(found.hours)};
  } catch (fault) { told.slug = fault.slug; told.readings = fault.values.readings ?? null; }
  try {
    told.offers = prices.answer(prices.readCatalogue(csv, words.data.rules), asked).map(prices.asJson);
  } catch (refused) { told.problems = refused.problems; }
  return told;
}))
"""


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The calculator, as `lab site` writes it."""
    folder = tmp_path_factory.mktemp("site")
    build_site(folder, "en")
    opened = browser.new_page()
    opened.goto((folder / "calculator" / "en.html").as_uri())
    yield opened
    opened.close()


def _vectors(repository: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repository / "tests" / "vectors" / name).read_text(encoding="utf-8"))
    return found


def _csv(rows: list[dict[str, str]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, OFFER_COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _same(told: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Hours are texts in the page and may be numbers in a vector."""
    return all(_hours(key, told[key]) == _hours(key, wanted[key]) for key in wanted)


def _hours(key: str, value: object) -> object:
    return str(value) if "hours" in key and value is not None else value


def test_vectors_of_prices(page: Page, repository: Path) -> None:
    """Packages and listings give their JSON, and what cannot be is refused by its slug."""
    vectors = _vectors(repository, "prices.json")
    cases = [*vectors["package"], *vectors["listing"], *vectors["refused"]]
    told = page.evaluate(PRICE, {"catalogue": _csv(vectors["catalogue"]), "cases": [one["asked"] for one in cases]})
    for vector, found in zip(cases, told, strict=True):
        if "slug" in vector:
            assert [one["slug"] for one in found] == [vector["slug"]]
            said = " ".join([found[0]["place"] or "", *found[0]["values"].values()])
            assert all(word in said for word in vector["said"])
            continue
        wanted = vector["expected"] if isinstance(vector["expected"], list) else [vector["expected"]]
        assert all(_same(one, two) for one, two in zip(found, wanted, strict=True)), vector


def test_vectors_of_windows(page: Page, repository: Path) -> None:
    """Hours through clock changes, moments with their offset, refusals with both readings."""
    vectors = _vectors(repository, "windows.json")
    cases = [*vectors["window"], *vectors["refused"]]
    told = page.evaluate(WINDOW, [one["asked"] for one in cases])
    for vector, found in zip(cases, told, strict=True):
        if "slug" in vector:
            assert found == {"slug": vector["slug"], "readings": vector.get("readings")}, vector
            continue
        assert found["hours"] == str(vector["expected"]["hours"]), vector
        for name in {"start", "end"} & set(vector["expected"]):
            assert datetime.fromisoformat(found[name]).isoformat() == vector["expected"][name]


def test_vectors_of_packages_against_a_window(page: Page, repository: Path) -> None:
    """Covers or not and by how many hours; beyond the longest package, how many periods."""
    vectors = _vectors(repository, "windows.json")
    told = page.evaluate(FIT, [one["asked"] for one in vectors["packages"]])
    for vector, found in zip(vectors["packages"], told, strict=True):
        wanted = [{**one, "hours_left": str(one["hours_left"])} for one in vector["expected"]]
        assert found["packages"] == wanted
    told = page.evaluate(FIT, [one["asked"] for one in vectors["extra"]])
    assert [one["extra"] for one in told] == [one["expected"] for one in vectors["extra"]]


def test_vectors_of_tasks(page: Page, repository: Path) -> None:
    """Overlaps counted once, waiting as what is left of the span, through clock changes."""
    vectors = _vectors(repository, "windows.json")["tasks"]
    told = page.evaluate(TASKS, [one["asked"] for one in vectors])
    assert told == [{key: str(value) for key, value in one["expected"].items()} for one in vectors]


# --- 10,000 random windows and catalogues ---------------------------------------------------------------------------


def _amount(draw: random.Random, decimals: int) -> str:
    whole, rest = draw.choice([0, 0, 7, 110, 2071, 999_999_999]), draw.randrange(10**decimals)
    return f"{whole}.{rest:0{decimals}d}" if rest else str(whole or 1)


def _row(draw: random.Random) -> dict[str, str]:
    """One catalogue row, sound or with one bad cell."""
    by_the_hour = draw.random() < 0.4
    row = {
        "gpu": draw.choice(["rtx-4090", "b200"] * 40 + ["rtx4090"]),
        "name": draw.choice(["RTX 4090", "Ünï 8 \u00d7", "a,b", 'q"q']),
        "cards_per_lot": draw.choice(["1", "2", "8"]), "device_names": draw.choice(["", "NVIDIA B200", "A; B ;C"]),
        "memory_gib_per_card": draw.choice(["", "24", "79.6"]), "model": "hourly" if by_the_hour else "forfait",
        "days": "" if by_the_hour else draw.choice(["1", "3", "7", "30"]),
        "increment_minutes": draw.choice(["1", "7", "30", "60"]) if by_the_hour else "",
        "minimum_hours": draw.choice(["", "0.5", "24"]) if by_the_hour else "",
        "region": draw.choice(["", "eu-west", " fr "]), "spot": draw.choice(["", "false", "TRUE"]),
        "price": _amount(draw, 12 if by_the_hour else 2), "currency": draw.choice(["USD", "EUR"]),
        "catalogue_version": draw.choice(["v1", "example-2"]), "source": "s",
    }  # fmt: skip
    if draw.random() < 0.04:
        bad = [
            "",
            "x",
            "0",
            "-1",
            "1,5",
            "1e3",
            "2.071",
            "0.00",
            "1000000",
            "\u0661",
            "usd",
            "yes",
            "a b",
            "NaN",
            "\u00a0",
        ]
        row[draw.choice(OFFER_COLUMNS)] = draw.choice(bad)
    return row


def _moment(draw: random.Random) -> datetime:
    """Any minute of fifteen years, half of them near the hours in which clocks change."""
    if draw.random() < 0.5:
        day = datetime(draw.randrange(2022, 2037), draw.choice([3, 4, 9, 10, 11]), draw.randrange(1, 29))  # noqa: DTZ001  (local)
        return day + timedelta(days=draw.randrange(4), minutes=draw.randrange(5 * 60))
    return datetime(2022, 1, 1) + timedelta(seconds=draw.randrange(15 * 365 * 86400))  # noqa: DTZ001  (local)


def _case(draw: random.Random) -> dict[str, Any]:
    zone, start = draw.choice(ZONES), _moment(draw)
    end = start + timedelta(seconds=draw.choice([1, 3600, 72 * 3600, draw.randrange(1, 90 * 86400)]))
    if draw.random() < 0.05:
        start, end = end, start
    asked: dict[str, Any] = {"gpu": draw.choice(["rtx-4090", "4090", "B200"]), "lots": draw.randrange(1, 40)}
    asked |= {"periods": draw.choice([1, 1, 2, 5]), "accepted_results": draw.choice([None, 0, 1, 3, 7, 999_999])}
    rows = [_row(draw) for _ in range(draw.randrange(1, 5))]
    return {"start": start.isoformat(), "end": end.isoformat(), "time_zone": zone, "rows": rows, "asked": asked}


def _placed(text: str, zone: ZoneInfo) -> tuple[datetime | None, str | None, list[str]]:
    """A local time in its zone by zoneinfo, or why it is none and both readings."""
    typed = datetime.fromisoformat(text)
    early, late = typed.replace(tzinfo=zone), typed.replace(tzinfo=zone, fold=1)
    if early.utcoffset() == late.utcoffset():
        return early, None, []
    back = [one.astimezone(ZoneInfo("UTC")).astimezone(zone) for one in (early, late)]
    slug = "time-twice" if back[0].replace(tzinfo=None) == typed else "time-never"
    spec = "seconds" if typed.second else "minutes"
    return None, slug, [one.isoformat(timespec=spec) for one in back]


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    """What `lab.calcul_forfaits` and zoneinfo say."""
    told: dict[str, Any] = {}
    zone = ZoneInfo(case["time_zone"])
    window = None
    (start, slug, readings), (end, *late) = _placed(case["start"], zone), _placed(case["end"], zone)
    if start and end:
        hours = window_hours(start, end)
        if hours > 0:
            told["hours"], window = f"{hours.numerator}/{hours.denominator}", Decimal(str(plain_hours(hours)))
        else:
            told |= {"slug": "window-reversed", "readings": None}
    else:
        slug, readings = (slug, readings) if slug else (late[0], late[1])
        told |= {"slug": slug, "readings": readings}
    try:
        offers = offers_from_rows((f"line {line}", row) for line, row in enumerate(case["rows"], start=2))
        asked = case["asked"]
        found = answer(offers, asked["gpu"], None, asked["lots"], asked["periods"], window, asked["accepted_results"])
        told["offers"] = [{key: _hours(key, row[key]) for key in KEYS} for row in found.rows]
    except CatalogueError as error:
        told["problems"] = [
            {"slug": one.slug, "place": one.place, "values": dict(one.values)} for one in error.problems
        ]
    return told


def test_the_page_and_python_agree_on_random_windows_and_catalogues(page: Page) -> None:
    """10,000 windows and catalogues, sound and not, by both: exactly the same hours, prices, order and refusals."""
    draw = random.Random(20260924)  # noqa: S311  (the same cases on every machine)
    cases = [_case(draw) for _ in range(CASES)]
    told = json.loads(page.evaluate(AGREE, json.dumps([{**one, "csv": _csv(one["rows"])} for one in cases])))
    kinds = {"hours": 0, "slug": 0, "offers": 0, "problems": 0}
    for case, found in zip(cases, told, strict=True):
        if "offers" in found:
            found["offers"] = [{key: one[key] for key in KEYS} for one in found["offers"]]
        assert found == _expected(case), case
        for kind in kinds:
            kinds[kind] += kind in found
    assert min(kinds.values()) > CASES // 50, kinds


# --- files that people have -------------------------------------------------------------------------------------------

SOUND = _csv([{
    "gpu": "rtx-4090", "name": "RTX 4090", "cards_per_lot": "1", "model": "forfait", "days": "7", "price": "110.00",
    "currency": "USD", "catalogue_version": "v1", "source": "s",
}])  # fmt: skip
FILES = {
    "as it is": SOUND.encode(),
    "byte-order mark": b"\xef\xbb\xbf" + SOUND.encode(),
    "line feeds": SOUND.replace("\r\n", "\n").encode(),
    "carriage returns": SOUND.replace("\r\n", "\r").encode(),
    "no last line end": SOUND.rstrip().encode(),
    "blank lines": SOUND.replace("\r\n", "\r\n\r\n").encode(),
    "quoted lines": SOUND.replace("RTX 4090", '"RTX\r\n4090"').encode(),
    "empty": b"",
    "header only": SOUND.splitlines()[0].encode(),
    "blank first line": b"\r\n" + SOUND.encode(),
    "latin-1": SOUND.replace("RTX", "caf\u00e9").encode("latin-1"),
    "utf-16": SOUND.encode("utf-16"),
    "half a letter": SOUND.encode() + b"\xc3",
    "semicolons": SOUND.replace(",", ";").encode(),
    "tabs": SOUND.replace(",", "\t").encode(),
    "open quote": SOUND.replace("RTX 4090", '"RTX 4090').encode(),
    "text after a quote": SOUND.replace("RTX 4090", '"RTX" 4090').encode(),
    "quote inside": SOUND.replace("RTX 4090", 'RTX "4090"').encode(),
    "a cell too many": SOUND.rstrip().encode() + b",x\r\n",
    "a cell too few": SOUND.encode() + b"rtx-4090,RTX\r\n",
    "column missing": SOUND.replace("currency", "money").encode(),
    "column twice": SOUND.replace("region", "spot").encode(),
    "spaces": SOUND.replace("gpu,name", " gpu , name ").replace("110.00", "\u2003110.00 ").encode(),
    "twice": (SOUND + SOUND.splitlines()[1]).encode(),
    "bad cells": SOUND.replace("110.00", "-1").replace("USD", "$").encode(),
    "no card": SOUND.replace("rtx-4090", "").encode(),
    "NUL": SOUND.replace("RTX", "R\0X").encode(),
}
READ = """
(bytes) => {
  const {prices, words} = calculator;
  try {
    return {gpus: prices.readCatalogue(new Uint8Array(bytes), words.data.rules).map((one) => [one.gpu, one.name])};
  } catch (refused) { return {problems: refused.problems}; }
}
"""


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_read_or_refused_as_python_does(page: Page, tmp_path: Path, kind: str) -> None:
    """Encodings, line ends, quotation marks, columns: the same offers, or the same problems on the same lines."""
    path = tmp_path / "catalogue.csv"
    path.write_bytes(FILES[kind])
    try:
        wanted: dict[str, Any] = {"gpus": [[one.gpu, one.name] for one in read_offers(path)]}
    except CatalogueError as error:
        wanted = {"problems": [{"slug": o.slug, "place": o.place, "values": dict(o.values)} for o in error.problems]}
    assert page.evaluate(READ, list(FILES[kind])) == wanted


AMOUNTS = """
(cases) => cases.map(([amount, parts]) => {
  const {exact} = calculator;
  return exact.cents(exact.divide(exact.decimal(amount), exact.decimal(parts)));
})
"""


def test_a_cost_is_rounded_half_up_whatever_its_size(page: Page) -> None:
    """Divided exactly, shown to the cent: no size at which a floating-point number would begin to drift."""
    draw = random.Random(7)  # noqa: S311  (the same cases on every machine)
    cases = [(f"{draw.randrange(10**16)}.{draw.randrange(100):02d}", draw.randrange(1, 10**6)) for _ in range(2000)]
    cases += [("0.01", 2), ("0.03", 2), ("1", 3), ("2", 3), ("0.01", 3), ("220.00", 3), ("110.00", 16)]
    told = page.evaluate(AMOUNTS, cases)
    for (amount, parts), found in zip(cases, told, strict=True):
        assert abs(Fraction(found) - Fraction(amount) / parts) <= Fraction(1, 200)
        assert Fraction(found) - Fraction(amount) / parts != Fraction(-1, 200)
