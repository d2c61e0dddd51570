"""`lab export`: attempts, summaries and latencies for other programs, alike in three forms, with their dictionary."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from campaign_folders import QUICK, SLOW, Plan, build, changed, rounds

sys.path.insert(0, str(Path(__file__).parent.parent / "formats"))

from foreign import serving

from lab.errors import UsageProblemError
from lab.exchange.export_fields import all_fields
from lab.exchange.exporting import export
from lab.exchange.importing import Asked, bring_in
from lab.messages import LANGUAGES, messages
from lab.model.attempt import COLUMNS
from lab.pipeline import judge

Said = Callable[..., tuple[int, str]]
FORMULA = '=HYPERLINK("http://example.org")'


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A campaign with measured, excluded and imported attempts, and what was exported of it."""
    at = tmp_path_factory.mktemp("export")
    passes = changed(rounds({"b1": SLOW, "b8": QUICK}), "b1", [2], changes={"notes": FORMULA})
    folder = build(at / "campaign", Plan(passes))
    (at / "v.json").write_text(json.dumps(serving(num_prompts=40, completed=40)), encoding="utf-8")
    bring_in(folder, [at / "v.json"], Asked(("b8",)))
    judge(folder)
    export(folder, at / "out")
    return folder, at / "out"


def _json(out: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _csv(out: Path, name: str) -> list[dict[str, str]]:
    with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _parquet(out: Path, name: str) -> list[dict[str, Any]]:
    table = duckdb.read_parquet(str(out / f"{name}.parquet"))
    return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


@pytest.mark.parametrize("name", ["attempts", "summaries", "latencies"])
def test_the_three_forms_hold_the_same(exported: tuple[Path, Path], name: str) -> None:
    """JSON and Parquet value by value, typed; the CSV has the same rows and columns, absent is empty."""
    out = exported[1]
    as_json, as_csv = _json(out, name), _csv(out, name)
    assert as_json
    assert _parquet(out, name) == as_json
    assert [list(row) for row in as_csv] == [list(row) for row in as_json]
    for text, row in zip(as_csv, as_json, strict=True):
        for field, value in row.items():
            if value is None:
                assert text[field] == ""
            elif isinstance(value, float):
                assert float(text[field]) == value


def test_attempts_say_what_they_rest_on(exported: tuple[Path, Path]) -> None:
    """Every column of `raw-results`, the recomputed verdict, and of an imported one where it came from."""
    rows = _json(exported[1], "attempts")
    assert [name for name in rows[0] if name in {one.name for one in COLUMNS}] == [one.name for one in COLUMNS]
    assert [row["evidence"] for row in rows].count("measured") == 10
    (one,) = [row for row in rows if row["evidence"] == "declared"]
    assert (one["source_tool"], one["source_file"], one["duration_s"]) == ("vLLM", "v.json", 4.5)
    assert (one["corpus_accepted"], one["verdict_control"]) == ("unassessed", "predictions")


def test_summaries_are_those_of_the_decision(exported: tuple[Path, Path]) -> None:
    """Medians, counts, and amounts as text with two decimals."""
    folder, out = exported
    (quick,) = [row for row in _json(out, "summaries") if row["variant"] == "b8"]
    decided = next(one for one in judge(folder).decision.variants if one.id == "b8")
    assert (quick["median_s"], quick["accepted"]) == (decided.summaries[0].median_s, 5)
    assert (quick["committed"], quick["currency"]) == ("110.00", "USD")
    assert len(json.loads(quick["durations_s"])) == decided.summaries[0].attempts


def test_latencies_are_a_table_of_their_own(exported: tuple[Path, Path]) -> None:
    """Each value with its population; none of them is in the attempts' durations."""
    rows = _json(exported[1], "latencies")
    assert [row["seconds"] for row in rows if row["population"] == "time_to_first_token"] == [0.2, 0.4]
    assert {row["variant"] for row in rows} == {"b8"}


def test_no_text_of_a_csv_can_run_in_a_spreadsheet(exported: tuple[Path, Path]) -> None:
    """The note is exact in JSON and Parquet; in the CSV an apostrophe stands before it."""
    out = exported[1]
    assert [row["notes"] for row in _json(out, "attempts")].count(FORMULA) == 1
    assert [row["notes"] for row in _csv(out, "attempts")].count(f"'{FORMULA}") == 1


def test_the_dictionary_explains_every_field(exported: tuple[Path, Path]) -> None:
    """Table, kind, unit and meaning of each column that is there, as CSV and JSON, in the campaign's language."""
    out = exported[1]
    entries = json.loads((out / "fields.json").read_text(encoding="utf-8"))
    assert _csv(out, "fields") == [{key: str(value) for key, value in one.items()} for one in entries]
    for name in ("attempts", "summaries", "latencies"):
        assert [one["field"] for one in entries if one["table"] == name] == list(_json(out, name)[0])
    assert next(one for one in entries if one["field"] == "duration_s")["unit"] == "s"
    for language in LANGUAGES:
        assert all(one.meaning for one in all_fields(messages(language)))


def test_an_empty_campaign_gives_empty_tables(tmp_path: Path, said: Said) -> None:
    """Headers and types are there before the first attempt."""
    folder = build(tmp_path / "campaign", Plan(()))
    code, text = said("export", folder, "--out", tmp_path / "out's", "--json")
    assert (code, len(json.loads(text)["files"])) == (0, 11)
    assert _parquet(tmp_path / "out's", "attempts") == _json(tmp_path / "out's", "attempts") == []
    assert len(duckdb.read_parquet(str(tmp_path / "out's" / "latencies.parquet")).columns) == 6


def test_it_is_not_written_over_the_campaign(tmp_path: Path) -> None:
    """A file, or the campaign folder itself, is no place for it."""
    folder = build(tmp_path / "campaign", Plan(()))
    for out in (folder, folder / "manifest.toml"):
        with pytest.raises(UsageProblemError):
            export(folder, out)
