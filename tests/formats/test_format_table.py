"""Any table by its mapping file: which column is what, in which unit; nothing of it is guessed."""

from __future__ import annotations

import io
from datetime import datetime

import pytest
from foreign import cells, emissions, faults, read, slugs
from openpyxl import Workbook

from lab.errors import InvalidInputError
from lab.formats import Choices
from lab.formats.mapping import TableMap, parse_mapping
from lab.messages import DASH

MAP = """\
delimiter = ";"
decimal = ","
[constants]
seed = 0
[columns]
variant = "config"
outcome = { column = "status", values = { ok = "completed", OOM = "out_of_memory" } }
duration_s = { column = "time (ms)", unit = "ms" }
peak_device_bytes = { column = "mem", unit = "MiB" }
started_at = { column = "when", zone = "Europe/Rome" }
notes = "remark"
"""
CSV = """\
config;status;time (ms);mem;when;remark;unused
b1;ok;10100,5;1024;2026-07-01 12:00;fine;x

b8;OOM;900;;2026-12-01 12:00;;x
"""


def choices(text: str = MAP) -> Choices:
    """What a mapping file settles."""
    return Choices(table=parse_mapping(text, "map.toml"))


def test_columns_units_words_and_zones_are_as_the_mapping_says() -> None:
    """Milliseconds with a decimal comma, MiB, a word for an outcome, a local time and its zone; no row of nothing."""
    name, found = read(CSV, choices())
    assert name == "table"
    assert cells(found, "variant", "outcome", "duration_s", "elapsed_s", "peak_device_bytes", "started_at", "seed") == [
        ("b1", "completed", 10.1005, 10.1005, 2**30, "2026-07-01T12:00:00+02:00", 0),
        ("b8", "out_of_memory", None, 0.9, None, "2026-12-01T12:00:00+01:00", 0),
    ]
    assert [one.place for one in found.found] == ["line 2", "line 4"]


def test_a_workbook_is_read_cell_by_cell_with_its_sheet() -> None:
    """Real cells: numbers, dates, a formula without a result is an empty cell."""
    book = Workbook()
    sheet = book.active
    sheet.title = "runs"
    sheet.append(["config", "status", "time (ms)", "mem", "when", "remark"])
    sheet.append(["b1", "ok", 10100.5, 1024, datetime(2026, 7, 1, 12), 7])  # noqa: DTZ001  (a cell has no zone)
    book.create_sheet("other")
    written = io.BytesIO()
    book.save(written)
    found = read(written.getvalue(), choices('sheet = "runs"\n' + MAP))[1]
    assert cells(found, "duration_s", "started_at", "notes") == [(10.1005, "2026-07-01T12:00:00+02:00", "7")]
    assert found.found[0].place == "runs!2"
    assert [one.slug for one in faults(written.getvalue(), choices('sheet = "runns"\n' + MAP))] == ["import-no-sheet"]


def test_a_table_without_a_mapping_is_asked_about() -> None:
    """A header is no documentation."""
    assert slugs(CSV) == ["import-no-map"]


def test_a_mapping_wins_over_a_known_csv() -> None:
    """A person who maps `emissions.csv` has read it."""
    mapped = choices(
        '[columns]\nduration_s = { column = "duration", unit = "s" }\n[constants]\noutcome = "completed"\n'
    )
    assert read(emissions(("p", "r", 10, 0)), mapped)[0] == "table"


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        (("10100,5", "10.100,5"), "import-decimal-point"),
        (("10100,5", "10.100"), "import-decimal-point"),
        (("10100,5", "10_100"), "import-not-a-number"),
        (("2026-07-01 12:00", "2026-03-29 02:30"), "import-clock-change"),
        (("2026-07-01 12:00", "2026-10-25 02:30"), "import-clock-change"),
        (("10100,5", "-1"), "import-negative"),
        ((";ok;", ";fine;"), "import-unknown-outcome"),
        (("2026-07-01 12:00", "yesterday"), "import-not-a-moment"),
        ((";fine;x", ";fine"), "import-row-width"),
        (("time (ms)", "time"), "import-no-column"),
        (("unused", "status"), "import-column-twice"),
        (("fine", '"fine'), "import-cut-off"),
        (("10100,5", "9999999999999"), "import-unit-doubt"),
    ],
)
def test_what_cannot_be_taken_as_it_stands_is_refused(change: tuple[str, str], slug: str) -> None:
    """Each with its place; nothing is skipped."""
    assert slug in slugs(CSV.replace(*change), choices())


def test_a_time_without_a_zone_and_a_run_without_an_end_are_asked_about() -> None:
    """A local time is no moment; without an outcome a duration may be of a crash."""
    bare = MAP.replace(', zone = "Europe/Rome"', "").replace(
        'outcome = { column = "status"', 'round = { column = "status"'
    )
    assert "import-no-zone" in slugs(CSV, choices(MAP.replace(', zone = "Europe/Rome"', "")))
    assert "import-end-unknown" in slugs(
        CSV, choices(bare.replace(', values = { ok = "completed", OOM = "out_of_memory" }', ""))
    )


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("[columns", "map-not-toml"),
        ('[columns]\nduration = { column = "t", unit = "s" }', "map-unknown-key"),
        ('[columns]\nduration_s = "t"', "map-no-unit"),
        ('[columns]\nduration_s = { column = "t", unit = "sec" }', "map-unknown-unit"),
        ("[columns]\nvariant = 3", "map-no-column"),
        ('[columns]\noutcome = { column = "t", values = { ok = "fine" } }', "map-unknown-outcome"),
        ('[columns]\nstarted_at = { column = "t", zone = "Mars/North" }', "map-unknown-zone"),
        ('decimal = ";"', "map-bad-decimal"),
        ("delimiter = 3", "import-bad-delimiter"),
        ('delimiter = "\\""', "import-bad-delimiter"),
        ('encoding = "latin-99"', "map-unknown-encoding"),
        ("sheet = 1", "map-no-text"),
        ('[columns]\nvariant = { column = "t", unit = "ms" }', "map-useless-key"),
        ('[columns]\nround = { column = "t", values = { one = 1 } }', "map-useless-key"),
        ('[columns]\nduration_s = { column = "t", unit = "s", zone = "Europe/Rome" }', "map-useless-key"),
        ('[columns]\noutcome = { column = "t", values = 3 }', "map-not-a-table"),
        ("[predictions]\nscores = 3", "map-no-column"),
        ("[constants]\nround = 99999999999999999999", "map-bad-constant"),
        ("[constants]\nduration_s = nan", "map-bad-constant"),
        ('[constants]\nseed = "0"', "map-bad-constant"),
        ('[constants]\noutcome = "ok"', "map-unknown-outcome"),
        ('[constants]\nattempt_id = "x"', "map-unknown-key"),
        ("columns = 3", "map-not-a-table"),
        ('[predictions]\norder = "file"', "map-unknown-order"),
        ('[predictions]\norder = "corpus"\nid = "x"', "map-id-and-order"),
    ],
)
def test_a_mapping_that_means_nothing_is_refused(text: str, slug: str) -> None:
    """The key is named, with the nearest known one."""
    with pytest.raises(InvalidInputError) as refused:
        parse_mapping(text, "map.toml")
    assert slug in [one.slug for one in refused.value.faults]


def test_a_key_like_no_other_has_no_nearest_one() -> None:
    """A dash, not an empty name."""
    with pytest.raises(InvalidInputError) as refused:
        parse_mapping("zzzzzz = 1", "map.toml")
    assert refused.value.faults[0].values["near"] == DASH


def test_an_empty_mapping_maps_nothing() -> None:
    """It is sound, and a table needs more."""
    assert parse_mapping("", "map.toml") == TableMap()
    assert slugs(CSV, choices("")) == ["import-no-map"]
