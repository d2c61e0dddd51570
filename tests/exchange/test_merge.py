"""`lab merge`: what several machines measured of one campaign, joined whole or not at all."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_folders import QUICK, SLOW, START, Plan, build, name, protocol, rounds
from openpyxl.workbook import Workbook
from workbook_sample import edited

from lab.errors import CheckFoundError, InvalidInputError, UsageProblemError
from lab.exchange.merge import merge
from lab.exchange.sync import sync
from lab.measure.lock import run_lock
from lab.model.attempt import Record
from lab.store.attempts import attempt_id, read_records, start_attempt
from lab.store.campaign import read_campaign
from lab.store.intake import INTAKE
from lab.store.manifest import read_manifest
from lab.store.workbook import read_workbook

Said = tuple[int, str]
PASSES = rounds({"b1": SLOW, "b8": QUICK})
IDS = sorted(name(one) for one in PASSES)
STEPS = (0, 16, 23, 30, 45)  # of the fifty or so that a merge of ten attempts takes on the disk


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign where it was sealed, and the same on two machines that measured one variant each."""
    base = tmp_path_factory.mktemp("merge")
    build(base / "home", Plan(()))
    for place, variant in (("one", "b1"), ("two", "b8")):
        passes = [replace(one, stack=f"2.13.0+{place}") for one in PASSES if one.variant == variant]
        build(base / place, Plan(passes))
    return base


@pytest.fixture
def base(built: Path, tmp_path: Path) -> Path:
    """A copy of them, to be changed."""
    return shutil.copytree(built, tmp_path / "merge")


def ids(folder: Path) -> list[str]:
    """The attempts that are on record in a folder."""
    return sorted(one.attempt.attempt_id for one in read_records(folder))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder that a merge may write, with its bytes."""
    found = (one for one in folder.rglob("*") if one.is_file() and one.name != ".run.lock")
    return {str(one.relative_to(folder)): one.read_bytes() for one in found}


def slugs(error: pytest.ExceptionInfo[CheckFoundError] | pytest.ExceptionInfo[InvalidInputError]) -> set[str]:
    """What was said."""
    return {one.slug for one in error.value.faults}


def test_attempts_environments_and_rows_of_two_machines_are_joined(base: Path, said: Callable[..., Said]) -> None:
    """Files as they were measured; the workbook has every row with its verdict; the campaign can be decided."""
    code, text = said("merge", base / "home", base / "one", base / "two", "--json")
    assert code == 0
    assert sorted(json.loads(text)["taken"]) == IDS
    assert ids(base / "home") == IDS
    for place in ("one", "two"):
        theirs = {key: data for key, data in tree(base / place).items() if key.startswith(("attempts", "environments"))}
        ours = tree(base / "home")
        assert {key: ours[key] for key in theirs} == theirs
    campaign = read_campaign(base / "home")
    assert campaign.notices == ()
    assert {one.attempt.corpus_accepted for one in campaign.records} == {"accepted"}
    assert len(campaign.environments) == 2
    code, text = said("status", base / "home", "--json")
    assert [one["left"] for one in json.loads(text)["variants"]] == [0, 0]


def test_the_same_attempt_twice_is_the_same_attempt(base: Path) -> None:
    """In one call, in the next one, and as the workbook of its folder; nothing changes."""
    shutil.copytree(base / "one", base / "again")
    found = merge(base / "home", [base / "one", base / "again", base / "two"])
    assert (len(found.taken), found.same) == (10, 5)
    before = tree(base / "home")
    found = merge(base / "home", [base / "two", base / "one" / "campaign.xlsx"])
    assert (found.taken, found.declared, found.same) == ({}, (), 10)
    assert tree(base / "home") == before


def test_the_order_of_the_sources_changes_nothing(base: Path) -> None:
    """Attempts, rows and verdicts are the same whichever comes first."""
    shutil.copytree(base / "home", base / "other")
    merge(base / "home", [base / "one", base / "two"])
    merge(base / "other", [base / "two"])
    merge(base / "other", [base / "one"])
    first, second = read_campaign(base / "home"), read_campaign(base / "other")
    assert first.records == second.records
    assert first.inputs == second.inputs


@pytest.mark.parametrize("changed", ["attempt.json", "predictions.jsonl"])
def test_one_attempt_with_two_contents_is_an_error_that_names_both(
    base: Path, changed: str, said: Callable[..., Said]
) -> None:
    """A duration or an answer that differs; nothing of either machine is taken in."""
    merge(base / "home", [base / "one"])
    at = base / "one" / "attempts" / IDS[0] / changed
    old = {"attempt.json": ('"duration_s": 20.1', '"duration_s": 19.9'), "predictions.jsonl": ('"a"', '"b"')}[changed]
    assert old[0] in at.read_text()
    at.write_text(at.read_text().replace(*old, 1))
    before = tree(base / "home")
    code, text = said("merge", base / "home", base / "one", base / "two")
    assert code == 1
    assert str(base / "one" / "attempts" / IDS[0]) in text
    assert str(base / "home" / "attempts" / IDS[0]) in text
    assert ("duration_s" if changed == "attempt.json" else changed) in text
    assert tree(base / "home") == before


def test_two_sources_that_contradict_each_other_are_both_named(base: Path) -> None:
    """The campaign itself has neither of them."""
    other = shutil.copytree(base / "one", base / "other")
    at = other / "attempts" / IDS[0] / "predictions.jsonl"
    at.write_text(at.read_text().replace('"a"', '"b"', 1))
    with pytest.raises(CheckFoundError) as error:
        merge(base / "home", [base / "one", other])
    (fault,) = error.value.faults
    assert (fault.slug, str(base / "one")) == ("merge-conflict", str(fault.values["other"])[: len(str(base / "one"))])
    assert ids(base / "home") == []


def test_what_was_sealed_otherwise_is_refused_and_both_seals_are_named(tmp_path: Path, base: Path) -> None:
    """A folder, its workbook, and a folder that was never sealed."""
    other = build(tmp_path / "other", Plan(PASSES, protocol=protocol(threshold=0.8)))
    sources = [other, other / "campaign.xlsx", base / "two"]
    (base / "two" / "seal.json").unlink()
    with pytest.raises(InvalidInputError) as error:
        merge(base / "home", sources)
    assert slugs(error) == {"merge-other-seal", "merge-attempt-other-seal", "merge-without-seal"}
    seals = [json.loads((one / "seal.json").read_text())["fingerprint"] for one in (other, base / "home")]
    first = error.value.faults[0]
    assert [first.values["found"], first.values["ours"]] == seals
    assert ids(base / "home") == []


def test_rows_of_a_workbook_sent_by_mail_are_declared_and_say_so(base: Path, said: Callable[..., Said]) -> None:
    """With their notes, without evidence; when the folder follows, they are verified."""

    def change(held: Workbook) -> None:
        held["raw-results"]["AQ5"] = "ran hot"

    sent = edited(Path(shutil.copy(base / "one" / "campaign.xlsx", base / "returned.xlsx")), change)
    code, text = said("merge", base / "home", sent)
    assert code == 0
    assert "5 rows without an attempt folder" in text
    records = read_campaign(base / "home").records
    assert [one.declared for one in records] == [True] * 5
    assert records[0].attempt.notes == "ran hot"
    found = merge(base / "home", [base / "one"])
    assert (len(found.taken), found.notices) == (5, ())
    records = read_campaign(base / "home").records
    assert [one.declared for one in records] == [False] * 5
    assert records[0].attempt.notes == "ran hot"


def test_a_row_that_contradicts_its_attempt_is_a_conflict(base: Path) -> None:
    """The cell of the workbook that was sent, and the folder here."""
    merge(base / "home", [base / "one"])

    def change(held: Workbook) -> None:
        held["raw-results"]["K5"] = 1.5

    sent = edited(Path(shutil.copy(base / "one" / "campaign.xlsx", base / "returned.xlsx")), change)
    with pytest.raises(CheckFoundError) as error:
        merge(base / "home", [sent])
    (fault,) = error.value.faults
    assert (fault.slug, fault.file) == ("merge-conflict", f"{sent}, raw-results!K5")
    assert str(fault.values["other"]).startswith(str(base / "home" / "attempts"))


def test_what_people_noted_on_both_sides_is_told_and_the_one_here_stays(base: Path) -> None:
    """A remark is no measurement: it does not stop a merge, and none is lost unseen."""
    merge(base / "home", [base / "one"])
    for place, text in (("home", "here"), ("one", "there")):

        def change(held: Workbook, text: str = text) -> None:
            sheet = held["raw-results"]
            row = next(cell.row for cell in sheet["A"] if cell.value == IDS[0])
            sheet[f"AQ{row}"] = text

        edited(base / place / "campaign.xlsx", change)
    (notice,) = merge(base / "home", [base / "one"]).notices
    assert (notice.slug, notice.values["found"], notice.values["kept"]) == ("merge-remark-left", "there", "here")


def test_a_measured_cell_changed_by_hand_in_a_source_is_told(base: Path) -> None:
    """Its folder is the truth; both values are named, and the row here says what was measured."""

    def change(held: Workbook) -> None:
        held["raw-results"]["K5"] = 1.5

    edited(base / "one" / "campaign.xlsx", change)
    (notice,) = merge(base / "home", [base / "one"]).notices
    assert (notice.slug, notice.file) == ("workbook-measured-cell-changed", str(base / "one" / "campaign.xlsx"))
    assert (notice.values["recorded"], notice.values["found"]) == ("20.1", "1.5")
    assert read_campaign(base / "home").notices == ()


def test_an_attempt_that_has_not_ended_stays_where_it_is(base: Path) -> None:
    """It would be another attempt when its machine ends it; it is named, and the others come."""
    record = read_records(base / "one")[0].attempt
    new = attempt_id("b1", "tickets", 9, START, "ffffff")
    start_attempt(base / "one", Record(replace(record, attempt_id=new, outcome=None, round=9)))
    found = merge(base / "home", [base / "one"])
    assert (found.unfinished, len(found.taken)) == ((new,), 5)
    with run_lock(base / "two"), pytest.raises(InvalidInputError) as error:
        merge(base / "home", [base / "two"])
    assert slugs(error) == {"merge-source-runs"}


def test_what_cannot_be_merged_is_refused_by_name(base: Path) -> None:
    """Itself, nothing, what is not there, a damaged attempt; every fault at once."""
    for paths in ([], [base / "home"], [base / "home" / "campaign.xlsx"]):
        with pytest.raises(UsageProblemError):
            merge(base / "home", paths)
    (base / "one" / "attempts" / IDS[0] / "attempt.json").write_text("{")
    with pytest.raises(InvalidInputError) as error:
        merge(base / "home", [base / "absent.xlsx", base / "one"])
    assert slugs(error) == {"file-missing", "file-not-json"}
    assert all(str(base) in str(one.file) for one in error.value.faults)
    (base / "home" / "seal.json").unlink()
    with pytest.raises(CheckFoundError) as found:
        merge(base / "home", [base / "two"])
    assert slugs(found) == {"merge-no-seal"}


def test_a_link_in_an_attempt_s_folder_is_not_followed(base: Path) -> None:
    """Nothing from outside a source comes along under the name of a file of it."""
    secret = base / "secret.txt"
    secret.write_text("not part of the campaign")
    (base / "one" / "attempts" / IDS[0] / "log.txt").symlink_to(secret)
    merge(base / "home", [base / "one"])
    assert not (base / "home" / "attempts" / IDS[0] / "log.txt").exists()


# A merge in a process of its own, which kills itself before its nth step on the disk.
CUT = """
import os, signal, sys
from pathlib import Path
from lab.exchange.merge import merge
left = int(sys.argv[1])
def counted(call):
    def step(*given, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **named)
    return step
os.rename, os.replace, os.mkdir, os.unlink, os.sync, os.rmdir = map(
    counted, (os.rename, os.replace, os.mkdir, os.unlink, os.sync, os.rmdir)
)
merge(Path(sys.argv[2]), [Path(one) for one in sys.argv[3:]])
"""


def test_a_merge_that_is_killed_at_any_step_is_finished_by_the_next(base: Path) -> None:
    """Until then either nothing happened, or the campaign refuses to be decided on by half."""
    shutil.copytree(base / "home", base / "fresh")
    states = set()
    for step in STEPS:
        shutil.rmtree(base / "home")
        shutil.copytree(base / "fresh", base / "home")
        sources = [str(base / "one"), str(base / "two")]
        ended = subprocess.run(
            [sys.executable, "-c", CUT, str(step), str(base / "home"), *sources], capture_output=True, check=False
        )
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        if (base / "home" / INTAKE).exists():
            states.add("half moved")
            with pytest.raises(InvalidInputError) as error:
                read_campaign(base / "home")
            assert slugs(error) == {"intake-unfinished"}
            sync(base / "home")
            assert ids(base / "home") == IDS
        else:
            states.add(f"{len(ids(base / 'home'))} here")
            assert ids(base / "home") in ([], IDS)
        merge(base / "home", [base / "one", base / "two"])
        assert ids(base / "home") == IDS
        manifest = read_manifest(base / "home" / "manifest.toml")
        rows = read_workbook(base / "home" / "campaign.xlsx", manifest).rows
        assert sorted(row.attempt_id for row in rows) == IDS
        assert not [one.name for one in (base / "home").iterdir() if one.name.startswith(INTAKE)]
    assert states == {"half moved", "0 here", "10 here"}


def test_a_merge_waits_for_no_run(base: Path) -> None:
    """While the campaign is measured here, nothing is taken in."""
    with run_lock(base / "home"), pytest.raises(CheckFoundError) as error:
        merge(base / "home", [base / "one"])
    assert slugs(error) == {"run-already-running"}
    assert ids(base / "home") == []
