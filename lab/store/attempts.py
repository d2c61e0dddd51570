"""Attempt folders: on record before a pass starts, rewritten whole when it ends, read back strictly."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import Fault, InvalidInputError, OutsideFailureError, fault
from lab.model.attempt import Record
from lab.store.attempt_json import from_json, to_json
from lab.store.canonical import readable_json
from lab.store.files import inside, read_json, sync_folder, write_atomically, writing

ATTEMPTS = "attempts"
ATTEMPT_JSON = "attempt.json"
PREDICTIONS = "predictions.jsonl"
LATENCIES = "latencies.csv"
LOG = "log.txt"

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TOKEN = re.compile(r"[0-9a-f]{6}")
_LONGEST = 200  # characters: a file system's names end at 255 bytes, and an id is ASCII


def attempt_id(variant: str, corpus: str, round: int, started_at: datetime, token: str) -> str:  # noqa: A002  (the column's own name)
    """A readable name, unique across machines: variant, corpus, round, start in UTC, six random hex digits.

    For example `b8_tickets_r3_20261130T172047Z_a1b2c3` (the product's method, section 4).

    Raises:
        ValueError: an id, the round or the token is not what the manifest allows, or the start has no zone.
    """
    parts_hold = _PART.fullmatch(variant) and _PART.fullmatch(corpus) and _TOKEN.fullmatch(token)
    if not parts_hold or round < 1 or started_at.tzinfo is None:
        raise ValueError(variant, corpus, round, started_at, token)
    return f"{variant}_{corpus}_r{round}_{started_at.astimezone(UTC):%Y%m%dT%H%M%SZ}_{token}"


def attempt_folder(folder: Path, attempt_id: str) -> Path:
    """The folder of one attempt, within `folder/attempts`; it need not exist.

    Raises:
        InvalidInputError: the id is no plain name, or a link there leads out of the campaign.
    """
    if len(attempt_id) > _LONGEST or not _PART.fullmatch(attempt_id) or attempt_id.endswith("."):
        raise InvalidInputError(fault("attempt-bad-id", file=ATTEMPTS, id=attempt_id[:_LONGEST]))
    return inside(folder, f"{ATTEMPTS}/{attempt_id}", ATTEMPTS)


def start_attempt(folder: Path, record: Record) -> None:
    """Put an attempt on record before its pass; file, folder and the list of folders are on the disk on return.

    The folder appears with its `attempt.json` in it or not at all, so that a power cut leaves no empty one.

    Raises:
        InvalidInputError: the id is no plain name, or that attempt is on record already.
        OutsideFailureError: the disk refused.
    """
    target = attempt_folder(folder, record.attempt.attempt_id)
    shown = f"{ATTEMPTS}/{target.name}"
    if target.exists():
        raise InvalidInputError(fault("attempt-exists", file=shown))
    new = target.with_name(f".{secrets.token_hex(4)}.new")
    with writing(target, shown):
        if not target.parent.is_dir():
            target.parent.mkdir()
            sync_folder(folder)
        new.mkdir()
        try:
            write_atomically(new / ATTEMPT_JSON, readable_json(to_json(record)))
            new.rename(target)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        sync_folder(target.parent)


def finish_attempt(folder: Path, record: Record) -> None:
    """Rewrite the record of an attempt that was started: whole or not at all, on the disk on return.

    Raises:
        InvalidInputError: the id is no plain name.
        OutsideFailureError: the attempt's folder is gone, or the disk refused.
    """
    target = attempt_folder(folder, record.attempt.attempt_id)
    if not target.is_dir():
        raise OutsideFailureError(fault("attempt-folder-gone", file=f"{ATTEMPTS}/{target.name}"))
    write_atomically(target / ATTEMPT_JSON, readable_json(to_json(record)))


def read_records(folder: Path, damaged: dict[str, Fault] | None = None) -> tuple[Record, ...]:
    """Every attempt on record, by start, then id; names that begin with a dot are no attempts.

    Args:
        folder: the campaign folder.
        damaged: takes attempt id -> what is wrong for each record that cannot be read, where the others are wanted all
            the same; None: they are refused.

    Raises:
        InvalidInputError: a record is missing, damaged or of another attempt; every one that is, at once.
    """
    base = folder / ATTEMPTS
    if not base.is_dir():
        return ()
    records: list[Record] = []
    faults: list[Fault] = []
    for path in sorted(base.iterdir()):
        if path.is_dir() and not path.name.startswith("."):
            try:
                records.append(_read(folder, path.name))
            except InvalidInputError as error:
                faults += error.faults
                if damaged is not None:
                    damaged[path.name] = error.faults[0]
    if faults and damaged is None:
        raise InvalidInputError(*faults)
    return in_order(records)


def in_order(records: Iterable[Record]) -> tuple[Record, ...]:
    """Records by the moment of their start, then id; those without a start last."""

    def key(record: Record) -> tuple[datetime, str]:
        return _moment(record.attempt.started_at), record.attempt.attempt_id

    return tuple(sorted(records, key=key))


def _moment(started_at: str | None) -> datetime:
    last = datetime.max.replace(tzinfo=UTC)
    try:
        moment = last if started_at is None else datetime.fromisoformat(started_at)
    except ValueError:
        return last
    return moment if moment.tzinfo else last


def _read(folder: Path, name: str) -> Record:
    path = attempt_folder(folder, name) / ATTEMPT_JSON
    shown = f"{ATTEMPTS}/{name}/{ATTEMPT_JSON}"
    record = from_json(read_json(path, shown), shown)
    if record.attempt.attempt_id != name:
        raise InvalidInputError(fault("attempt-other-id", file=shown, found=record.attempt.attempt_id))
    return record
