"""What a file can hold that would mislead: values that are none, runs of which nothing says that they were whole."""

from __future__ import annotations

import codecs
import io
import json
import zipfile
from datetime import timedelta

import pytest
from foreign import SUMMARY, cells, emissions, faults, guide, hyperfine, optimum, read, serving, slugs
from openpyxl import Workbook, load_workbook

from lab.errors import InvalidInputError
from lab.formats import Choices
from lab.formats.mapping import parse_mapping
from lab.formats.units import Units

_NO_COUNTS = {"num_prompts": ..., "failed": ..., "errors": ...}
_RUNS = (
    'decimal = "."\n[constants]\noutcome = "completed"\n[columns]\nvariant = "v"\n'
    'duration_s = { column = "t", unit = "s" }\n'
)


def _table(text: str | bytes, mapping: str = _RUNS) -> tuple[str, ...]:
    """What each row of a table gives: its outcome and its seconds."""
    found = read(text, Choices(table=parse_mapping(mapping, "map.toml")))[1]
    return tuple(f"{outcome} {seconds}" for outcome, seconds in cells(found, "outcome", "duration_s"))


def test_a_serving_run_that_counts_no_failures_is_asked_about() -> None:
    """996 requests completed; of how many nothing says. A stated end decides, and a failed one has no duration."""
    assert slugs(serving(**_NO_COUNTS)) == ["import-end-unknown"]
    assert cells(read(serving(**_NO_COUNTS), Choices(ended="completed"))[1], "outcome", "duration_s") == [
        ("completed", 4.5)
    ]
    assert cells(read(serving(**_NO_COUNTS), Choices(ended="failed"))[1], "outcome", "duration_s") == [("failed", None)]


def test_latencies_without_a_value_are_left_out_and_said() -> None:
    """How many of how many, for each list; end to end is no sum where a part is not there."""
    (one,) = read(serving(ttfts=[None, 0.4]))[1].found
    assert {held.name: len(held.values) for held in one.populations} == {"time_to_first_token": 1, "inter_token": 4}
    (note,) = (held for held in one.notes if held.key == "imported.note.left_out")
    assert note.values == {"place": "ttfts", "absent": 1, "all": 2}
    content = guide()
    content["benchmarks"][0]["requests"]["successful"][1]["time_to_first_token_ms"] = None
    assert "imported.note.left_out" in [note.key for note in read(content)[1].found[0].notes]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ({"avg_latency": 1.2, "latencies": [1.1, float("nan"), 1.3], "percentiles": {"50": 1.2}}, "latencies"),
        (optimum(report={"forward": {"latency": {"unit": "s", "values": [1.1, None, 1.3], "count": 3}}}), "forward"),
    ],
)
def test_a_pass_without_a_time_is_a_failed_one_at_its_place(content: object, target: str) -> None:
    """The value in the middle failed, and the third is the third: nothing moves up."""
    found = read(content, Choices(passes=target))[1].found
    assert [one.cells["duration_s"] for one in found] == [1.1, None, 1.3]
    assert [one.cells["outcome"] for one in found] == ["completed", "failed", "completed"]
    assert found[2].place.endswith("[2]")


def test_rows_of_one_codecarbon_run_are_not_several_runs() -> None:
    """A flushed tracker writes its run again; tasks of one run are told apart by their name."""
    twice = faults(emissions(("p", "r", 10, 0.1), ("p", "r", 20, 0.2)), Choices(ended="completed"))
    assert [(one.slug, one.place, one.values["first"]) for one in twice] == [("import-run-twice", "line 3", "line 2")]
    header, *rows = emissions(("p", "r", 10, 0.1), ("p", "r", 20, 0.2)).splitlines()
    tasks = [f"{name},{row}" for name, row in zip(("load", "infer"), rows, strict=True)]
    assert slugs("\n".join([f"task_name,{header}", *tasks]) + "\n", Choices(ended="completed")) == []


def test_an_energy_below_nothing_is_refused() -> None:
    """In a known format and in a table."""
    assert slugs(emissions(("p", "r", 10, -0.1)), Choices(ended="completed")) == ["import-negative"]
    mapping = parse_mapping(_RUNS + 'energy_j = { column = "e", unit = "kWh" }\n', "map.toml")
    assert slugs("v,t,e\nb1,10,-1\n", Choices(table=mapping)) == ["import-negative"]


def test_each_aggregate_of_a_summary_is_noted_in_its_own_unit() -> None:
    """Samples per second are no nanoseconds."""
    units = {note.values["unit"]: note.values["figures"] for note in read(SUMMARY)[1].found[0].notes}
    assert units["1/s"] == ["Samples per second = 4"]
    assert all("latency (ns)" in one for one in units["ns"])  # type: ignore[attr-defined]  # a list of texts


def test_counts_that_no_reader_holds_are_refused() -> None:
    """10^30 requests: neither a workbook nor a Parquet could say it again."""
    assert set(slugs(serving(num_prompts=10**30, completed=10**30))) == {"import-not-a-count"}


@pytest.mark.parametrize(("column", "unit"), [("duration_s", "s"), ("peak_device_bytes", "B"), ("energy_j", "J")])
@pytest.mark.parametrize("value", ["1e300", "1e17"])
def test_what_nothing_can_last_or_hold_is_refused_in_any_unit(column: str, unit: str, value: str) -> None:
    """Also where a person states the unit: no workbook, calendar or Parquet could hold it."""
    text = f'[constants]\noutcome = "completed"\n[columns]\n{column} = {{ column = "x", unit = "{unit}" }}\n'
    asked = Choices(Units(time="s", memory="B"), table=parse_mapping(text, "map.toml"))
    assert slugs(f"x\n{value}\n", asked) == ["import-beyond"]
    assert slugs(serving(ttfts=[1e300, 0.4]), Choices(Units(time="s"))) == ["import-beyond"]


@pytest.mark.parametrize("text", ["1_000", "\N{ARABIC-INDIC DIGIT ONE}", "0x1p3", "10 s", "10."])
def test_a_number_is_what_tools_write(text: str) -> None:
    """`float` of Python takes more than that."""
    wanted = [] if text == "10." else ["import-not-a-number"]
    assert slugs(serving(duration=text)) == wanted


def test_a_row_without_a_time_in_the_mapped_column_did_not_complete() -> None:
    """Blank is like 0: whatever the constant says of every row."""
    assert _table("v,t\nb1,\nb8,20\n") == ("failed None", "completed 20.0")


def test_a_wide_header_and_lines_of_an_old_mac_are_a_table() -> None:
    """The first line break may come late, and may be a carriage return."""
    wide = ",".join(f"column_with_a_long_name_{n}" for n in range(200))
    assert _table(f"v,t,{wide}\nb1,10,{','.join('x' * 200)}\n") == ("completed 10.0",)
    assert _table("v,t\rb1,10\rb8,20\r") == ("completed 10.0", "completed 20.0")


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "utf-8-sig", "utf-16", "cp1252"])
def test_an_encoding_has_many_names(name: str) -> None:
    """Each as Python knows it, with or without a byte-order mark."""
    data = "v,t,é\nb1,10,è\n".encode(name)
    assert _table(data, f'encoding = "{name}"\n{_RUNS}') == ("completed 10.0",)


def _book(*rows: tuple[object, ...]) -> bytes:
    """A workbook of one sheet, `runs`."""
    book = Workbook()
    sheet = book.active
    sheet.title = "runs"
    for row in rows:
        sheet.append(list(row))
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _refused(data: bytes) -> list[tuple[str, object]]:
    """What is wrong with a workbook, and what was found there."""
    return [
        (one.slug, one.values.get("found")) for one in faults(data, Choices(table=parse_mapping(_RUNS, "map.toml")))
    ]


def test_a_workbook_of_an_old_kind_or_another_zip_is_named() -> None:
    """What a spreadsheet can open and this product cannot is said by its name."""
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    assert _refused(old) == [("workbook-other-format", "Excel 97-2003 (.xls)")]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.pkl", "x")
    assert [slug for slug, _ in _refused(packed.getvalue())] == ["workbook-no-workbook"]


def test_a_cell_without_a_value_is_no_empty_one() -> None:
    """An error, a formula that was never calculated, a truth value, a clock time: none of them is a number."""
    header = ("v", "t")
    assert _refused(_book(header, ("b1", "#DIV/0!"))) == [("import-cell-error", "#DIV/0!")]
    assert _refused(_book(header, ("b1", "=5+5"))) == [("import-not-calculated", "")]
    assert _refused(_book(header, ("b1", True))) == [("import-not-a-number", "True")]
    assert _refused(_book(header, ("b1", timedelta(seconds=12)))) == [("import-not-a-number", "0:00:12")]


def test_a_stray_cell_far_away_costs_nothing() -> None:
    """A cell in the last corner of a sheet, and remarks beside the table: the table is read as it is."""
    book = load_workbook(io.BytesIO(_book(("v", "t"), ("b1", 10, "a remark"))))
    book["runs"]["XFD1048576"] = "stray"
    written = io.BytesIO()
    book.save(written)
    assert _table(written.getvalue(), _RUNS.replace('variant = "v"\n', "")) == ("completed 10.0",)


def test_a_workbook_that_expands_beyond_measure_is_not_opened() -> None:
    """Megabytes of one letter in a small file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_book(("v", "t"), ("b1", 10)))) as plain, zipfile.ZipFile(packed, "w") as dense:
        for name in plain.namelist():
            dense.writestr(name, plain.read(name))
        dense.writestr("xl/media/image1.bin", b"x" * (24 * 2**20), zipfile.ZIP_DEFLATED)
    assert [slug for slug, _ in _refused(packed.getvalue())] == ["workbook-expands"]


def test_a_csv_that_ends_in_a_row_is_told_from_one_with_another_width() -> None:
    """Also of a known format; a cell may be longer than the csv module's own limit, and a quotation mark may be odd."""
    whole = emissions(("p", "r", 10, 0.1))
    done = Choices(ended="completed")
    assert slugs(whole[:-30], done) == slugs(whole.replace(",p,", ',"p,'), done) == ["import-cut-off"]
    assert slugs(whole[:-30] + "\n", done) == ["import-row-width"]
    assert slugs(whole.replace("Italy", "x" * 200_000), done) == []
    assert slugs(whole.replace(",p,", ',"p"p,'), done) == ["import-bad-quotes"]


def test_a_constant_moment_is_one_with_its_offset() -> None:
    """As TOML writes it or as text; a word or a local time is refused where it stands."""
    for stated in ("2026-11-30T10:00:00+01:00", '"2026-11-30T10:00:00+01:00"'):
        found = parse_mapping(f"[constants]\nstarted_at = {stated}\n", "map.toml").constants
        assert found == {"started_at": "2026-11-30T10:00:00+01:00"}
    for stated in ('"yesterday"', "2026-11-30T10:00:00", "7", "0001-01-01T00:00:00Z"):
        with pytest.raises(InvalidInputError, match="import-not-a-moment"):
            parse_mapping(f"[constants]\nstarted_at = {stated}\n", "map.toml")


@pytest.mark.parametrize(
    "content",
    [
        guide(start_time=1e18, end_time=1e18 + 3),
        guide(start_time=1_796_000_000_000.0, end_time=1_796_000_003_500.0),
        serving(date="0001-01-01T00:00:00+14:00"),
        emissions(("p", "r", 1000, 0.1), zone="+00:00").replace("2026", "0001"),
    ],
    ids=["beyond", "milliseconds", "first year", "before it"],
)
def test_a_start_in_no_year_of_cards_is_refused(content: object) -> None:
    """No calendar could hold it, and every later command would stumble over it."""
    assert "import-moment-doubt" in slugs(content, Choices(Units(time="s"), ended="completed"))


def test_a_table_has_no_start_at_the_edge_of_the_calendar() -> None:
    """Year 1 and year 9999 with their offsets: neither can be told in UTC."""
    mapping = parse_mapping(_RUNS + 'started_at = "w"\n', "map.toml")
    for stated in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        assert slugs(f"v,t,w\nb1,10,{stated}\n", Choices(table=mapping)) == ["import-moment-doubt"]


def test_a_part_is_not_longer_than_the_whole() -> None:
    """An elapsed time below the duration: the columns are mixed up."""
    mapping = parse_mapping(_RUNS + 'elapsed_s = { column = "e", unit = "s" }\n', "map.toml")
    assert slugs("v,t,e\nb1,10,3\n", Choices(table=mapping)) == ["import-elapsed-less"]


def test_json_that_is_several_values_or_another_encoding_is_said_to_be_so() -> None:
    """A jsonl of runs is not damaged, and what a shell wrote as UTF-16 is not unknown."""
    line = json.dumps(hyperfine())
    assert slugs(f"{line}\n{line}\n") == ["import-several-json"]
    assert slugs(codecs.BOM_UTF16_LE + line.encode("utf-16-le")) == ["import-utf-16"]
