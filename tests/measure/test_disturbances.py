"""What a day can bring while a campaign is measured, through the command line: refused or on record, nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import small_campaign
from openpyxl import load_workbook

from lab import pipeline
from lab.cli import main
from lab.measure.events import AttemptEnded, Event
from lab.measure.lock import is_running
from lab.measure.progress import current
from lab.store.attempts import read_records

MANIFEST = (
    small_campaign.CORPUS
    + """
[run]
warm_up = { passes = 0, inputs = 0 }
timeout_s = 60

[defaults]
workload = "python"
function = "work:go"
model = "models/tickets"

[[variants]]
id = "b1"
batch_size = 1

[[variants]]
id = "b4"
batch_size = 4
"""
)
WORK = """\
import os, time
def go(inputs):
    for one, text in inputs:
        time.sleep(float(os.environ.get("LAB_TEST_SLEEP", "0")))
        yield one, "panne" if "panne" in text or int(one[-3:]) % 2 else "facturation"
"""


def _build(folder: Path, model: Path) -> Path:
    small_campaign.build(folder, model)
    (folder / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "work.py").write_text(WORK)
    return folder


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Two variants of two passes of a user's own function, with a folder that stands for its model."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").write_bytes(b"first")
    return _build(tmp_path / "campaign", tmp_path / "model")


def _printed(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(argv))
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def _rows(folder: Path) -> list[str]:
    """The attempt ids that the workbook holds, in its order."""
    sheet = load_workbook(folder / "campaign.xlsx", read_only=True)["raw-results"]
    lines = [list(line) for line in sheet.iter_rows(values_only=True)]
    start = next(number for number, line in enumerate(lines) if line[0] == "attempt_id")
    return [str(line[0]) for line in lines[start + 1 :] if line[0]]


def test_lab_run_twice_at_once(campaign: Path, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second names the first's process and leaves with code 1; the first is not disturbed."""
    variables = {**os.environ, "PYTHONPATH": str(repository), "LAB_TEST_SLEEP": "0.05"}
    first = subprocess.Popen(
        [sys.executable, "-m", "lab", "run", str(campaign)], env=variables, stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + 30
    while current(campaign) is None and time.monotonic() < end:
        time.sleep(0.02)
    assert is_running(campaign)
    code, _, err = _printed(capsys, "run", str(campaign))
    assert code == 1
    assert str(first.pid) in err
    assert first.wait(60) == 0
    assert not is_running(campaign)
    records = read_records(campaign)
    assert [one.attempt.outcome for one in records] == ["completed"] * 4
    assert _rows(campaign) == [one.attempt.attempt_id for one in records]


def test_only_the_variants_of_this_host_run_here(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--only` measures its own and leaves the others to their host; the plan shows the same."""
    assert _printed(capsys, "run", str(campaign), "--only", "b4", "--plan")[1].count("b4") == 2
    assert _printed(capsys, "run", str(campaign), "--only", "b4")[0] == 0
    assert [one.attempt.variant for one in read_records(campaign)] == ["b4", "b4"]
    assert _printed(capsys, "run", str(campaign))[0] == 0
    assert [one.attempt.variant for one in read_records(campaign)] == ["b4", "b4", "b1", "b1"]


def test_a_corpus_changed_after_the_seal_stops_the_run(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named with both fingerprints, nothing measured, nothing of what was measured is lost."""
    assert _printed(capsys, "run", str(campaign), "--only", "b1")[0] == 0
    before = read_records(campaign)
    text = (campaign / "tickets.csv").read_text(encoding="utf-8-sig")
    (campaign / "tickets.csv").write_text("\ufeff" + text.replace("ticket 3.", "ticket trois."), encoding="utf-8")
    code, _, err = _printed(capsys, "run", str(campaign))
    assert code == 1
    assert "corpora.tickets-2026" in err
    assert read_records(campaign) == before
    assert _rows(campaign) == [one.attempt.attempt_id for one in before]


def test_a_model_changed_after_the_seal_is_on_record(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every pass says which content it ran with; the gate of the seal and a warning say what was not the same."""

    def change(event: Event) -> None:
        if isinstance(event, AttemptEnded) and event.standing.index == 1:
            (campaign / "models" / "tickets" / "weights.bin").write_bytes(b"other")

    pipeline.run(campaign, observe=change)
    first, *others = (one.attempt.environment for one in read_records(campaign))
    assert first not in others
    assert len(set(others)) == 1
    assert _printed(capsys, "report", str(campaign))[0] == 0
    decision = json.loads((campaign / "report" / "v1" / "decision.json").read_text(encoding="utf-8"))
    gates = [next(one for one in variant["gates"] if one["gate"] == "sealed") for variant in decision["variants"]]
    assert gates[0]["result"] == "failed"
    assert gates[0]["message"]["key"] == "gate.sealed.failed.contents"
    assert gates[1]["result"] == "passed"
    said = [one["reason"] for one in decision["decision"]["warnings"]]
    assert any("b1" in one and "model.sha256" in one for one in said)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own of 3 MB, taken away afterwards; needs the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small tmpfs needs root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("free_kib", [0, 12, 40])
def test_a_full_disk_loses_nothing(
    small_disk: Path, tmp_path: Path, free_kib: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Full before the first file, or in the middle of a pass: said in words; with space again, the run goes on."""
    (tmp_path / "model").mkdir()
    campaign = _build(small_disk / "campaign", tmp_path / "model")
    assert _printed(capsys, "seal", str(campaign))[0] == 0
    sheets = _rows(campaign)
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - free_kib * 1024))
    code, _, err = _printed(capsys, "run", str(campaign))
    assert code in {0, 4}
    assert code == 0 or "Traceback" not in err
    assert (code, free_kib) != (0, 0)
    first = read_records(campaign)  # every record that is there is whole
    assert [name for name in _rows(campaign) if name in sheets] == sheets  # the workbook opens
    assert all(one.attempt.outcome in {None, "completed", "interrupted"} for one in first)
    filler.unlink()
    assert _printed(capsys, "run", str(campaign))[0] == 0
    records = read_records(campaign)
    assert {one.attempt.attempt_id for one in records} >= {one.attempt.attempt_id for one in first}
    assert [one.attempt.outcome for one in records].count("completed") == 4
    assert {one.attempt.outcome for one in records} <= {"completed", "interrupted"}
    assert sorted(_rows(campaign)) == sorted(one.attempt.attempt_id for one in records)


def test_ctrl_c_writes_the_row_into_the_workbook(campaign: Path, repository: Path) -> None:
    """SIGINT during `lab run`: code 130, no worker left, a row that says interrupted; the slot is run again."""
    variables = {**os.environ, "PYTHONPATH": str(repository), "LAB_TEST_SLEEP": "0.2"}
    run = subprocess.Popen(
        [sys.executable, "-m", "lab", "run", str(campaign)], env=variables, stderr=subprocess.PIPE, text=True
    )
    end, worker = time.monotonic() + 30, None
    while time.monotonic() < end and worker is None:
        found = current(campaign)
        worker = found.progress.pid if found and found.progress and found.progress.completed else None
        time.sleep(0.02)
    assert worker is not None
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "Traceback" not in err
    assert not psutil.pid_exists(worker)
    (record,) = read_records(campaign)
    assert record.attempt.outcome == "interrupted"
    assert record.details.ended_because is not None
    assert record.details.ended_because.key == "ended.interrupted"
    assert record.attempt.completed_inputs
    assert record.attempt.predictions_sha256 is not None  # what it had done by then is kept
    assert _rows(campaign) == [record.attempt.attempt_id]
    assert main(["run", str(campaign)]) == 0
    again = [one.attempt for one in read_records(campaign)]
    assert [(one.variant, one.round) for one in again[:2]] == [(record.attempt.variant, record.attempt.round)] * 2
    assert [one.outcome for one in again] == ["interrupted", *["completed"] * 4]
