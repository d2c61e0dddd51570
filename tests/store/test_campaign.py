"""A campaign folder is read whole: folders say what was measured, rows what is declared, faults come all at once."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from lab.errors import InvalidInputError
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign, Environment
from lab.model.protocol import Protocol
from lab.store.attempts import finish_attempt, start_attempt
from lab.store.campaign import read_campaign
from lab.store.environments import fingerprint, write_environment
from lab.store.files import sha256_file
from lab.store.join import join
from lab.store.manifest import read_manifest
from lab.store.predictions import write_predictions
from lab.store.seal import take_seal
from lab.store.workbook import WorkbookContent, read_workbook, write_workbook

MANIFEST = """schema = 1
name = "tickets"
language = "fr"
[[corpora]]
id = "c"
path = "corpus.jsonl"
reference_column = "label"
tuning = "tuning.jsonl"
[[variants]]
id = "b8"
model = "m"
"""
MOMENT = datetime(2026, 11, 30, tzinfo=UTC)
FIRST, SECOND, THIRD = (f"b8_c_r{n}_20261130T17204{n}Z_a1b2c{n}" for n in (1, 2, 3))


def attempt(name: str, **cells: object) -> Attempt:
    """A completed attempt of the one variant."""
    measured: dict[str, object] = {
        "started_at": f"2026-11-30T17:20:4{name[6]}+00:00",
        "variant": "b8",
        "corpus": "c",
        "parameters": '{"batch_size":8}',
        "round": int(name[6]),
        "outcome": "completed",
        "completed_inputs": 2,
        "elapsed_s": 1.000001,
        "duration_s": 0.1,
        **cells,
    }
    return Attempt(attempt_id=name, **measured)  # type: ignore[arg-type]  # (columns by name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign with one attempt whose predictions are right and whose row is in the workbook."""
    (tmp_path / "manifest.toml").write_text(MANIFEST)
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"id": one, "text": one, "label": label}) + "\n" for one, label in (("1", "a"), ("2", "b")))
    )
    (tmp_path / "tuning.jsonl").write_text('{"id": "t", "text": "t"}\n')
    record = measured(tmp_path, FIRST)
    workbook(tmp_path, record.attempt)
    return tmp_path


def measured(folder: Path, name: str) -> Record:
    """An attempt on record with its predictions."""
    record = Record(attempt(name))
    start_attempt(folder, record)
    rows = [{"id": one, "prediction": "a"} for one in ("1", "2")]
    recorded = write_predictions(folder / "attempts" / name / "predictions.jsonl", rows)
    record = replace(record, attempt=replace(record.attempt, predictions_sha256=recorded))
    finish_attempt(folder, record)
    return record


def workbook(folder: Path, *rows: Attempt, protocol: Protocol | None = None) -> None:
    """The workbook with these rows."""
    declared = protocol or Protocol(question="Which?", metric="accuracy", threshold=0.5, repetitions=5, time_zone="UTC")
    content = WorkbookContent(protocol=declared, rows=rows)
    write_workbook(folder / "campaign.xlsx", content, read_manifest(folder / "manifest.toml"))


def slugs(folder: Path) -> list[tuple[str, str | None]]:
    """Slug and file of each fault of a campaign."""
    with pytest.raises(InvalidInputError) as raised:
        read_campaign(folder)
    return [(one.slug, one.file) for one in raised.value.faults]


def notices(campaign: Campaign) -> list[str]:
    """What the readers noticed."""
    return [one.slug for one in campaign.notices]


def test_a_whole_campaign_is_read(folder: Path) -> None:
    """Manifest, protocol, corpus, record, evidence, environment, seal, and the fingerprint of every file."""
    facts = {"torch": "2.13.0"}
    write_environment(folder, Environment(fingerprint(facts, ()), (), facts))
    first = read_campaign(folder)
    take_seal(folder, first.manifest, first.protocol, first.corpora, MOMENT)
    campaign = read_campaign(folder)
    assert campaign.protocol.threshold == 0.5
    assert [(one.attempt.attempt_id, one.declared) for one in campaign.records] == [(FIRST, False)]
    assert campaign.evidence[FIRST].altered is False
    assert dict(campaign.evidence[FIRST].confusion) == {("a", "a"): 1, ("b", "a"): 1}
    assert campaign.seal is not None
    assert (campaign.seal.changes, campaign.notices) == ((), ())
    assert list(campaign.environments) == [fingerprint(facts, ())]
    files = {
        "manifest.toml",
        "seal.json",
        "corpus.jsonl",
        "tuning.jsonl",
        f"attempts/{FIRST}/attempt.json",
        f"attempts/{FIRST}/predictions.jsonl",
        f"environments/{fingerprint(facts, ())}.json",
    }
    assert {**campaign.inputs} == {
        **{name: sha256_file(folder / name) for name in files},
        "campaign.xlsx": campaign.inputs["campaign.xlsx"],
    }


def test_without_examining_there_is_no_evidence(folder: Path) -> None:
    """Predictions are neither read nor inputs."""
    campaign = read_campaign(folder, examine=False)
    assert (campaign.evidence, campaign.evidence_faults) == ({}, {})
    assert not [name for name in campaign.inputs if name.endswith("predictions.jsonl")]


def test_a_folder_that_is_none_is_said(folder: Path, tmp_path: Path) -> None:
    """Missing, a file, without manifest and workbook: each its own message."""
    assert slugs(tmp_path / "none") == [("campaign-missing", str(tmp_path / "none"))]
    assert slugs(folder / "manifest.toml") == [("campaign-is-a-file", str(folder / "manifest.toml"))]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert slugs(empty) == [("manifest-missing", "manifest.toml"), ("workbook-missing", "campaign.xlsx")]


def test_the_faults_of_workbook_corpus_attempts_and_environments_come_together(folder: Path) -> None:
    """A person corrects a campaign once."""
    (folder / "campaign.xlsx").write_bytes(b"")
    (folder / "corpus.jsonl").unlink()
    (folder / "attempts" / FIRST / "attempt.json").write_text("{")
    (folder / "environments").mkdir()
    (folder / "environments" / "0123456789abcdef.json").write_text("[]")
    found = slugs(folder)
    assert found[0][1] == "campaign.xlsx"
    assert found[1:] == [
        ("file-missing", "corpus.jsonl"),
        ("file-not-json", f"attempts/{FIRST}/attempt.json"),
        ("environment-not-one", "environments/0123456789abcdef.json"),
    ]


def test_a_changed_prediction_is_in_the_evidence_and_changes_the_inputs(folder: Path) -> None:
    """The recorded fingerprint tells."""
    before = read_campaign(folder)
    path = folder / "attempts" / FIRST / "predictions.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"b"', 1))
    campaign = read_campaign(folder)
    assert campaign.evidence[FIRST].altered is True
    changed = {name for name, value in campaign.inputs.items() if before.inputs[name] != value}
    assert changed == {f"attempts/{FIRST}/predictions.jsonl"}


def test_predictions_that_cannot_be_examined_are_said_and_the_attempt_stays(folder: Path) -> None:
    """Not there, of another corpus, out of the campaign: no evidence, never a verdict from nothing."""
    (folder / "attempts" / FIRST / "predictions.jsonl").unlink()
    for name, cells in ((SECOND, {"corpus": "other"}), (THIRD, {"predictions_path": "../x.jsonl"})):
        start_attempt(folder, Record(attempt(name, **cells)))
    campaign = read_campaign(folder)
    assert {name: one.slug for name, one in campaign.evidence_faults.items()} == {
        FIRST: "predictions-missing",
        SECOND: "attempt-other-corpus",
        THIRD: "path-leaves-campaign",
    }
    assert campaign.evidence == {}
    assert len(campaign.records) == 3


def test_an_attempt_that_did_not_complete_has_no_evidence(folder: Path) -> None:
    """Its partial predictions are kept and never judged."""
    start_attempt(folder, Record(attempt(SECOND, outcome="failed", duration_s=None)))
    (folder / "attempts" / SECOND / "predictions.jsonl").write_text("{")
    campaign = read_campaign(folder)
    assert list(campaign.evidence) == [FIRST]
    assert campaign.evidence_faults == {}


def test_a_measured_cell_changed_by_hand_is_noticed_with_both_values(folder: Path) -> None:
    """The folder's value counts; cell, recorded and found value are named."""
    recorded = read_campaign(folder).records[0].attempt
    workbook(folder, replace(recorded, duration_s=0.05, excluded=True, exclusion_reason="hot", notes="n"))
    campaign = read_campaign(folder)
    assert campaign.records[0].attempt.duration_s == 0.1
    assert campaign.records[0].attempt.notes == "n"
    assert campaign.records[0].attempt.excluded is True
    assert notices(campaign) == ["workbook-measured-cell-changed"]
    notice = campaign.notices[0]
    content = read_workbook(folder / "campaign.xlsx", campaign.manifest)
    assert notice.place == content.cells[FIRST, "duration_s"]
    assert (notice.values["recorded"], notice.values["found"]) == ("0.1", "0.05")


def test_a_row_without_a_folder_is_declared_and_a_folder_without_a_row_is_kept(folder: Path) -> None:
    """Measured elsewhere: declared, not verified. A row that someone deleted takes nothing away."""
    start_attempt(folder, Record(attempt(SECOND)))
    start_attempt(folder, Record(attempt(THIRD, outcome=None, elapsed_s=None, duration_s=None)))
    elsewhere = attempt(SECOND.replace("a1", "ff"), corpus_accepted="accepted")
    workbook(folder, read_campaign(folder).records[0].attempt, elsewhere)
    campaign = read_campaign(folder)
    assert {one.attempt.attempt_id: one.declared for one in campaign.records} == {
        FIRST: False,
        SECOND: False,
        THIRD: False,
        elsewhere.attempt_id: True,
    }
    assert [(one.slug, one.values["id"]) for one in campaign.notices] == [("attempt-without-row", SECOND)]
    assert elsewhere.attempt_id not in campaign.evidence


def test_the_workbooks_fingerprint_is_of_what_it_declares(folder: Path) -> None:
    """Not of its bytes, the order of its rows or recomputed verdicts; of what people declare, it is."""
    rows = [read_campaign(folder).records[0].attempt, measured(folder, SECOND).attempt]
    workbook(folder, *rows)
    before = read_campaign(folder).inputs["campaign.xlsx"]
    workbook(folder, *(replace(row, corpus_accepted="accepted", metric_value=0.5) for row in reversed(rows)))
    assert read_campaign(folder).inputs["campaign.xlsx"] == before
    workbook(folder, *rows, protocol=Protocol(question="Which?", threshold=0.6, budget_limit=Decimal(1)))
    assert read_campaign(folder).inputs["campaign.xlsx"] != before


# --- the join by itself -----------------------------------------------------------------------------------------------


def test_joining_does_not_depend_on_the_order_of_rows() -> None:
    """Records come in the order of their starts."""
    records = [Record(attempt(FIRST)), Record(attempt(SECOND))]
    rows = [attempt(FIRST), attempt(SECOND), attempt(THIRD)]
    wanted = join(records, rows, {}, "campaign.xlsx")
    for seed in range(5):
        random.Random(seed).shuffle(rows)  # noqa: S311  (an order, no secret)
        assert join(records, rows, {}, "campaign.xlsx") == wanted
    assert [one.attempt.attempt_id for one in wanted[0]] == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(
    ("cells", "slugs"),
    [
        ({}, []),
        ({"elapsed_s": 1.0000010000000001}, []),
        ({"started_at": "2026-11-30T18:20:41+01:00"}, []),
        ({"parameters": '{"batch_size": 8}'}, []),
        ({"missing_reason": "no device"}, []),
        ({"corpus_accepted": "accepted", "metric_value": 0.5, "notes": "x"}, []),
        ({"elapsed_s": 1.000002}, ["workbook-measured-cell-changed"]),
        ({"elapsed_s": None}, ["workbook-measured-cell-changed"]),
        ({"variant": "b1"}, ["workbook-measured-cell-changed"]),
        ({"peak_device_bytes": 0}, ["workbook-measured-cell-changed"]),
        ({"parameters": '{"batch_size": 4}', "outcome": "failed"}, ["workbook-measured-cell-changed"] * 2),
    ],
)
def test_only_a_measured_value_that_differs_is_noticed(cells: dict[str, object], slugs: list[str]) -> None:
    """Another way to write the same value, a declared or a judged cell is none; an emptied cell is one."""
    _, found = join([Record(attempt(FIRST))], [attempt(FIRST, **cells)], {}, "campaign.xlsx")
    assert [one.slug for one in found] == slugs
