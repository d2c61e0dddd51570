"""An attempt is on record before its pass, comes back exactly, and never leaves its folder."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.errors import Fault, InvalidInputError, OutsideFailureError
from lab.model.attempt import COLUMNS, Attempt, Column, Details, DeviceMemory, Record
from lab.model.reason import reason
from lab.store.attempts import attempt_folder, attempt_id, finish_attempt, read_records, start_attempt

NUMBERS = st.integers(0, 10**12).map(lambda micro: micro / 10**6)  # seconds, to the microsecond
BYTES = st.integers(0, 2**60)
NAME = st.none() | st.text()
TEXTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)


def cell(column: Column) -> st.SearchStrategy[object]:
    """Any value of a column, or none."""
    kinds: dict[str, st.SearchStrategy[object]] = {
        "text": st.text(max_size=20),
        "json": st.just('{"batch_size": 8}'),
        "integer": st.integers(-(10**15), 10**15),
        "number": NUMBERS | st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "choice": st.sampled_from(column.choices or ("",)),
        "moment": st.datetimes(timezones=st.just(timezone(timedelta(hours=2)))).map(datetime.isoformat),
    }
    return st.none() | kinds[column.kind]


ATTEMPTS = st.fixed_dictionaries({column.name: cell(column) for column in COLUMNS if column.name != "attempt_id"}).map(
    lambda cells: Attempt(attempt_id="b8_c_r1_20261130T172047Z_a1b2c3", **cells)
)
DETAILS = st.builds(
    Details,
    ended_because=st.none()
    | st.builds(reason, st.just("ended.killed"), signal=st.integers(0, 9), names=st.lists(st.text(), max_size=2)),
    missing=TEXTS,
    devices=st.lists(st.builds(DeviceMemory, st.text(), st.none() | st.text(), st.none(), BYTES, st.none(), BYTES)).map(
        tuple
    ),
    host_peak_bytes=st.none() | BYTES,
    counts=st.dictionaries(st.text(max_size=5), BYTES, max_size=3),
    readings=st.dictionaries(st.text(max_size=5), st.none() | NUMBERS, max_size=3),
    facts=TEXTS,
)


def record(name: str = "b8_c_r1_20261130T172047Z_a1b2c3", **cells: object) -> Record:
    """A record of an attempt that has just started."""
    started: dict[str, object] = {"started_at": "2026-11-30T17:20:47+00:00", "variant": "b8", "corpus": "c", **cells}
    return Record(Attempt(attempt_id=name, **started))  # type: ignore[arg-type]  # (columns by name)


def faults(folder: Path) -> list[Fault]:
    """The faults of the attempts of a campaign."""
    with pytest.raises(InvalidInputError) as raised:
        read_records(folder)
    return list(raised.value.faults)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(ATTEMPTS, DETAILS)
def test_any_record_comes_back_exactly(tmp_path: Path, attempt: Attempt, details: Details) -> None:
    """Every column and detail: durations to the microsecond, bytes to the byte, absent as absent."""
    shutil.rmtree(tmp_path / "attempts", ignore_errors=True)
    written = Record(attempt, details)
    start_attempt(tmp_path, written)
    assert read_records(tmp_path) == (written,)


def test_an_attempt_is_on_record_before_it_ends(tmp_path: Path) -> None:
    """Started without an outcome, rewritten with one."""
    started = record()
    start_attempt(tmp_path, started)
    assert read_records(tmp_path) == (started,)
    ended = replace(started, attempt=replace(started.attempt, outcome="completed", elapsed_s=12.000001))
    finish_attempt(tmp_path, ended)
    assert read_records(tmp_path) == (ended,)
    assert [one.name for one in (tmp_path / "attempts").iterdir()] == [started.attempt.attempt_id]


def test_the_record_and_the_lists_of_names_are_on_the_disk_before_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is synced before its folder has its name, and the folder above after it: a power cut loses nothing."""
    synced: list[str] = []
    real = os.fsync

    def note(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        real(handle)

    monkeypatch.setattr(os, "fsync", note)
    start_attempt(tmp_path, record())
    assert synced[0] == tmp_path.name
    assert synced[1].startswith(".attempt.json")
    assert synced[-1] == "attempts"


def test_a_start_that_fails_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt is on record whole or not at all."""
    (tmp_path / "attempts").mkdir()

    def refuse(_handle: int) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OutsideFailureError) as raised:
        start_attempt(tmp_path, record())
    assert raised.value.faults[0].slug == "disk-full"
    assert list((tmp_path / "attempts").iterdir()) == []


def test_an_attempt_is_never_started_twice(tmp_path: Path) -> None:
    """What is on record is not written over."""
    start_attempt(tmp_path, record())
    with pytest.raises(InvalidInputError) as raised:
        start_attempt(tmp_path, record(variant="b1"))
    assert raised.value.faults[0].slug == "attempt-exists"
    assert read_records(tmp_path) == (record(),)


def test_an_attempt_whose_folder_is_gone_cannot_be_finished(tmp_path: Path) -> None:
    """Somebody removed it while it ran: said, not made up again."""
    with pytest.raises(OutsideFailureError) as raised:
        finish_attempt(tmp_path, record())
    assert raised.value.faults[0].slug == "attempt-folder-gone"


def test_records_are_in_the_order_of_their_starts(tmp_path: Path) -> None:
    """By moment, not by text: 18:00 in Rome is before 17:30 in London; equal ones by id."""
    for name, started in (
        ("c", "2026-11-30T17:30:00+00:00"),
        ("b", "2026-11-30T18:00:00+01:00"),
        ("a", "2026-11-30T17:30:00+00:00"),
    ):
        start_attempt(tmp_path, record(name, started_at=started))
    assert [one.attempt.attempt_id for one in read_records(tmp_path)] == ["b", "a", "c"]


def test_what_begins_with_a_dot_or_is_a_file_is_no_attempt(tmp_path: Path) -> None:
    """Leftovers of a power cut and of file managers."""
    start_attempt(tmp_path, record())
    (tmp_path / "attempts" / ".1234.new").mkdir()
    (tmp_path / "attempts" / "Thumbs.db").write_text("x")
    assert len(read_records(tmp_path)) == 1
    assert read_records(tmp_path / "none") == ()


def test_every_broken_record_is_named_at_once(tmp_path: Path) -> None:
    """Cut off, of another attempt, missing: each by its file."""
    for name in ("a", "b", "c", "d"):
        start_attempt(tmp_path, record(name))
    base = tmp_path / "attempts"
    whole = (base / "a" / "attempt.json").read_bytes()
    (base / "a" / "attempt.json").write_bytes(whole[: len(whole) // 2])
    (base / "b" / "attempt.json").write_bytes(whole)
    (base / "c" / "attempt.json").unlink()
    assert [(one.slug, one.file) for one in faults(tmp_path)] == [
        ("file-not-json", "attempts/a/attempt.json"),
        ("attempt-other-id", "attempts/b/attempt.json"),
        ("file-missing", "attempts/c/attempt.json"),
    ]


@pytest.mark.parametrize(
    ("change", "slug", "place"),
    [
        ({"schema": 2}, "attempt-not-a-record", None),
        ({"more": 1}, "attempt-unknown-key", "more"),
        ({"attempt": {"attempt_id": "a", "speed": 1}}, "attempt-unknown-key", "attempt.speed"),
        ({"attempt": {"attempt_id": "a", "round": "1"}}, "attempt-bad-value", "attempt.round"),
        ({"attempt": {"attempt_id": "a", "round": True}}, "attempt-bad-value", "attempt.round"),
        ({"attempt": {"attempt_id": "a", "elapsed_s": 10**400}}, "attempt-bad-value", "attempt.elapsed_s"),
        ({"attempt": {"attempt_id": "a", "outcome": "done"}}, "attempt-bad-value", "attempt.outcome"),
        ({"attempt": {"attempt_id": "a", "started_at": "2026-11-30T17:00"}}, "attempt-bad-value", "attempt.started_at"),
        ({"attempt": {}}, "attempt-bad-value", "attempt.attempt_id"),
        ({"details": {"speed": 1}}, "attempt-unknown-key", "details.speed"),
        ({"details": {"counts": {"a": "b"}}}, "attempt-bad-value", "details.counts"),
        ({"details": {"ended_because": "x"}}, "attempt-bad-value", "details.ended_because"),
        ({"details": {"devices": [{"device": "cuda:0", "peak": 1}]}}, "attempt-unknown-key", "details.devices.peak"),
        ({"details": {"devices": [{"name": "x"}]}}, "attempt-bad-value", "details.devices.device"),
        ({"details": []}, "attempt-bad-value", "details"),
    ],
)
def test_what_is_no_record_names_its_key(
    tmp_path: Path, change: dict[str, object], slug: str, place: str | None
) -> None:
    """Unknown columns and values of another kind are errors, never dropped."""
    folder = tmp_path / "attempts" / "a"
    folder.mkdir(parents=True)
    value = {"schema": 1, "attempt": {"attempt_id": "a"}, "details": {}, **change}
    (folder / "attempt.json").write_text(json.dumps(value))
    assert (slug, place) in [(one.slug, one.place) for one in faults(tmp_path)]


def test_an_id_says_variant_corpus_round_start_and_token() -> None:
    """In UTC, whatever zone the start is given in."""
    started = datetime(2026, 11, 30, 18, 20, 47, tzinfo=timezone(timedelta(hours=1)))
    assert attempt_id("b8", "tickets", 3, started, "a1b2c3") == "b8_tickets_r3_20261130T172047Z_a1b2c3"


@pytest.mark.parametrize(
    "parts",
    [
        ("../b8", "c", 1, datetime(2026, 1, 1, tzinfo=UTC), "a1b2c3"),
        ("b8", "c/d", 1, datetime(2026, 1, 1, tzinfo=UTC), "a1b2c3"),
        ("b8", "c", 0, datetime(2026, 1, 1, tzinfo=UTC), "a1b2c3"),
        ("b8", "c", 1, datetime(2026, 1, 1), "a1b2c3"),  # noqa: DTZ001  (a start without a zone is the point)
        ("b8", "c", 1, datetime(2026, 1, 1, tzinfo=UTC), "A1B2C3"),
    ],
)
def test_an_id_is_made_of_sound_parts_only(parts: tuple[str, str, int, datetime, str]) -> None:
    """A part that is no name, no round, no zone, no token is an error of ours."""
    with pytest.raises(ValueError, match=r"."):
        attempt_id(*parts)


@given(st.text(max_size=30) | st.text(alphabet="./\\~:ab\0 ", max_size=8))
def test_an_id_never_leads_out_of_the_attempts(name: str) -> None:
    """For any id: refused, or a folder directly below `attempts`."""
    campaign = Path("/tmp/campaign-that-need-not-exist")  # noqa: S108  (nothing is written)
    try:
        found = attempt_folder(campaign, name)
    except InvalidInputError:
        return
    assert Path(os.path.normpath(found)).parent == campaign / "attempts"
    assert Path(os.path.normpath(found)).name == name


def test_a_link_among_the_attempts_is_refused(tmp_path: Path) -> None:
    """A campaign that came by mail cannot make the tool read or write elsewhere."""
    campaign = tmp_path / "campaign"
    (campaign / "attempts").mkdir(parents=True)
    start_attempt(tmp_path, record("a"))
    (campaign / "attempts" / "a").symlink_to(tmp_path / "attempts" / "a")
    assert [one.slug for one in faults(campaign)] == ["path-leaves-campaign"]
    with pytest.raises(InvalidInputError):
        finish_attempt(campaign, record("a"))
