"""The straight path, from an empty folder to a report, on a corpus and a model that the demo has never seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import small_campaign
from openpyxl import load_workbook

from lab.cli import main
from lab.store.attempts import read_records


@pytest.fixture(scope="session")
def tickets_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, trained once."""
    return small_campaign.train(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def measured(tickets_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign, measured."""
    folder = small_campaign.build(tmp_path_factory.mktemp("campaigns") / "é tickets #1", tickets_model)
    assert main(["check", str(folder)]) == 0
    assert main(["run", str(folder)]) == 0
    return folder


def rows_of(folder: Path) -> list[dict[str, object]]:
    """The rows of `raw-results`, as a spreadsheet holds them."""
    sheet = load_workbook(folder / "campaign.xlsx")["raw-results"]
    lines = [list(line) for line in sheet.iter_rows(values_only=True)]
    start = next(number for number, line in enumerate(lines) if line[0] == "attempt_id")
    return [dict(zip(map(str, lines[start]), line, strict=True)) for line in lines[start + 1 :] if line[0]]


def test_every_planned_pass_has_one_row(measured: Path) -> None:
    """Three variants and two rounds give six attempts, in balanced order, each with one row."""
    rows = rows_of(measured)
    assert [(row["variant"], row["round"]) for row in rows] == [
        ("b1", 1), ("b4", 1), ("absent", 1), ("absent", 2), ("b4", 2), ("b1", 2),
    ]  # fmt: skip
    assert len(list((measured / "attempts").iterdir())) == len(rows)


def test_ids_stay_what_they_are(measured: Path) -> None:
    """Leading zeros and accents survive from the corpus to the predictions."""
    attempt = next(row for row in rows_of(measured) if row["outcome"] == "completed")
    found = [one["id"] for one in small_campaign.predictions(measured, str(attempt["attempt_id"]))]
    assert found == [one for one, _, _ in small_campaign.rows()]


def test_a_variant_that_fails_is_a_row_like_the_others(measured: Path) -> None:
    """A missing model gives failed rows with a reason and no duration, and the others are accepted."""
    verdicts = {(row["variant"], row["outcome"], row["corpus_accepted"]) for row in rows_of(measured)}
    assert verdicts == {
        ("b1", "completed", "accepted"),
        ("b4", "completed", "accepted"),
        ("absent", "failed", "rejected"),
    }
    failed = [row for row in rows_of(measured) if row["variant"] == "absent"]
    assert all(row["duration_s"] is None and row["elapsed_s"] and row["missing_reason"] for row in failed)


def test_nothing_is_measured_twice(measured: Path) -> None:
    """A second run finds nothing to do."""
    before = [record.attempt.attempt_id for record in read_records(measured)]
    assert main(["run", str(measured)]) == 0
    assert [record.attempt.attempt_id for record in read_records(measured)] == before


def test_report_twice_is_one_version(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts give the same version and the same bytes."""
    capsys.readouterr()
    assert main(["report", str(measured), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 1
    before = {path: path.read_bytes() for path in (measured / "report").rglob("*") if path.is_file()}
    assert main(["report", str(measured), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["version"], again["created"]) == (1, False)
    assert {path: path.read_bytes() for path in (measured / "report").rglob("*") if path.is_file()} == before


def test_a_changed_prediction_is_named_and_makes_a_new_version(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One prediction changed by hand: judge names the attempt, the next report is v2 and says what changed."""
    assert main(["report", str(measured)]) == 0
    attempt = next(str(row["attempt_id"]) for row in rows_of(measured) if row["outcome"] == "completed")
    path = measured / "attempts" / attempt / "predictions.jsonl"
    original = path.read_bytes()
    lines = small_campaign.predictions(measured, attempt)
    lines[3]["prediction"] = next(label for label in small_campaign.LABELS if label != lines[3]["prediction"])
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    try:
        capsys.readouterr()
        assert main(["judge", str(measured)]) == 1
        assert attempt in capsys.readouterr().out
        row = next(row for row in rows_of(measured) if row["attempt_id"] == attempt)
        assert row["corpus_accepted"] == "unassessed"
        assert main(["report", str(measured), "--json"]) == 0
        published = json.loads(capsys.readouterr().out)
        assert (published["version"], published["created"]) == (2, True)
        assert attempt in json.dumps(published["changes"])
    finally:
        path.write_bytes(original)


def test_a_term_changed_after_the_seal_is_named(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A threshold lowered after the timings were seen stops the next run, old value and new value."""
    small_campaign.fill_protocol(measured / "campaign.xlsx", {"threshold": 0.25})
    try:
        capsys.readouterr()
        assert main(["run", str(measured)]) == 1
        printed = capsys.readouterr().err
        assert "protocol.threshold" in printed
        assert "0.5" in printed.replace(",", ".")
        assert "0.25" in printed.replace(",", ".")
    finally:
        small_campaign.fill_protocol(measured / "campaign.xlsx", {"threshold": 0.5})


def test_status_counts_what_is_done(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The failed variant's passes are done, and nothing runs."""
    capsys.readouterr()
    assert main(["status", str(measured), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["running"] is None
    assert {one["id"]: (one["planned"], one["left"], one["failed"]) for one in found["variants"]} == {
        "b1": (2, 0, 0),
        "b4": (2, 0, 0),
        "absent": (2, 0, 2),
    }
