"""The main job: `lab demo` on the real docstrings, with the real model, as a user runs it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from openpyxl import load_workbook

from lab.cli import main
from lab.measure.progress import current
from lab.measure.schedule import plan
from lab.model.attempt import ended_by_itself, slot_key
from lab.model.protocol import Protocol
from lab.pipeline import status
from lab.store.attempts import read_records
from lab.store.manifest import read_manifest

MEASURED = ("attempts", "environments", "report", "seal.json", "campaign*.xlsx", ".*")


def lab(*argv: str) -> subprocess.CompletedProcess[str]:
    """One `lab` command in a process of its own."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, "-m", "lab", *argv], capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The demo's folder and what the command answered."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    done = lab("demo", str(folder), "--lang", "fr", "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def decision(folder: Path) -> dict[str, Any]:
    """The decision of the first version."""
    found: dict[str, Any] = json.loads((folder / "report" / "v1" / "decision.json").read_text(encoding="utf-8"))
    return found


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of `raw-results`."""
    sheet = load_workbook(folder / "campaign.xlsx", read_only=True)["raw-results"]
    lines = [line for line in sheet.iter_rows(values_only=True) if line[0]]
    start = next(number for number, line in enumerate(lines) if line[0] == "attempt_id")
    return [dict(zip(map(str, lines[start]), line, strict=True)) for line in lines[start + 1 :]]


def test_fifteen_passes_in_rotated_order(demo: tuple[Path, dict[str, Any]]) -> None:
    """Batches 1, 4 and 8, five passes each; every one is a row."""
    found = rows(demo[0])
    order = [row["variant"] for row in found]
    assert [order[start : start + 3] for start in range(0, 15, 3)] == [
        ["b1", "b4", "b8"], ["b4", "b8", "b1"], ["b8", "b1", "b4"], ["b1", "b4", "b8"], ["b4", "b8", "b1"],
    ]  # fmt: skip
    assert {row["expected_ids"] for row in found} == {1000}


def test_the_decision_rests_on_its_facts(demo: tuple[Path, dict[str, Any]]) -> None:
    """Equal packages: chosen by durations or undecided, never by the price; the budget is the package's."""
    found = decision(demo[0])
    assert found["decision"]["status"] in {"chosen", "undecided"}
    assert {one["committed"] for one in found["variants"]} == {"12.00"}
    assert {one["accepted_deliverables"] for one in found["variants"]} <= {0, 1}
    for variant in found["variants"]:
        (summary,) = variant["summaries"]
        measured = [value for value in summary["durations_s"] if value is not None]
        assert summary["min_s"] == min(measured)
        assert summary["max_s"] == max(measured)


def test_its_prices_are_marked_wherever_they_show(demo: tuple[Path, dict[str, Any]]) -> None:
    """*Example price* in sheet, page and JSON."""
    found = decision(demo[0])
    assert all(one["example_price"] for one in found["variants"])
    assert "example price" in (demo[0] / "report" / "v1" / "en.html").read_text(encoding="utf-8")
    assert "prix d\u2019exemple" in (demo[0] / "report" / "v1" / "fr.html").read_text(encoding="utf-8")
    sheet = load_workbook(demo[0] / "campaign.xlsx")["forfaits"]
    shown = [str(cell.value) for line in sheet.iter_rows() for cell in line if cell.value]
    assert any("prix d\u2019exemple" in text for text in shown)


def test_it_says_what_the_model_is(demo: tuple[Path, dict[str, Any]]) -> None:
    """The page says that counting words does about as well."""
    page = (demo[0] / "report" / "v1" / "en.html").read_text(encoding="utf-8")
    assert "naive Bayes" in page
    assert "deserves no praise" in page


def test_a_second_demo_continues(demo: tuple[Path, dict[str, Any]]) -> None:
    """Nothing is trained or measured again, and the report stays the first."""
    weights = demo[0] / "models" / "demo" / "model.safetensors"
    before = weights.stat().st_mtime_ns, sorted(one.name for one in (demo[0] / "attempts").iterdir())
    again = lab("demo", str(demo[0]), "--json")
    assert again.returncode == 0, again.stderr
    assert before == (weights.stat().st_mtime_ns, sorted(one.name for one in (demo[0] / "attempts").iterdir()))
    assert json.loads(again.stdout)["report"]["created"] is False


def test_the_demo_is_an_ordinary_campaign(demo: tuple[Path, dict[str, Any]]) -> None:
    """Every other command works on it."""
    assert read_manifest(demo[0] / "manifest.toml").language == "fr"
    for command in ("check", "run", "judge", "report", "status"):
        assert main([command, str(demo[0])]) == 0


def test_two_kills_lose_nothing_and_repeat_nothing(demo: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    """Worker and runner killed on the way: a row for each attempt that was started, and the plan's own schedule."""
    folder = tmp_path / "demo"
    shutil.copytree(demo[0], folder, ignore=shutil.ignore_patterns(*MEASURED))
    moments = random.Random(20261130)  # noqa: S311  (moments of a test, no secret)
    with subprocess.Popen(
        [sys.executable, "-m", "lab", "demo", str(folder), "--lang", "fr"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as runner:
        worker = in_pass(folder, 4, runner)
        time.sleep(moments.uniform(0, 0.5))
        os.kill(worker, signal.SIGKILL)
        worker = in_pass(folder, 9, runner)
        time.sleep(moments.uniform(0, 0.5))
        runner.kill()
    gone = time.monotonic() + 20
    while psutil.pid_exists(worker):
        assert time.monotonic() < gone, "the worker outlived its runner"
        time.sleep(0.01)
    assert sum(one.interrupted for one in status(folder).variants) == 1  # told before the next run puts it on record
    again = lab("demo", str(folder), "--json")
    assert again.returncode == 0, again.stderr

    records = read_records(folder)
    outcomes = [one.attempt.outcome for one in records]
    assert (outcomes.count("completed"), outcomes.count("failed"), outcomes.count("interrupted")) == (14, 1, 1)
    assert (outcomes[3], outcomes[8]) == ("failed", "interrupted")
    slots = plan(read_manifest(folder / "manifest.toml"), Protocol(repetitions=5))
    assert [slot_key(one.attempt) for one in records if ended_by_itself(one.attempt)] == [
        slot_key(one) for one in slots
    ]
    assert [row["attempt_id"] for row in rows(folder)] == [one.attempt.attempt_id for one in records]


def in_pass(folder: Path, number: int, runner: subprocess.Popen[bytes]) -> int:
    """Wait for the attempt of that number to have a worker; the worker's process id."""
    while runner.poll() is None:
        found = current(folder)
        if found and found.progress and len(read_records(folder)) == number:
            return found.progress.pid
        time.sleep(0.01)
    raise AssertionError("the run ended before that pass")


def test_another_campaign_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab demo` in a folder with a campaign of somebody's own says so and touches nothing."""
    assert main(["init", str(tmp_path / "mine"), "--lang", "en"]) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}
    capsys.readouterr()
    assert main(["demo", str(tmp_path / "mine")]) == 2
    assert "another campaign" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == before
