"""`lab judge --predictions`: predictions made elsewhere, put beside the imported attempt that they are of.

They are written as the product writes its own, with the sha256 of the file they came from in the record; from then on
the attempt is judged like any other. Its timing stays declared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from lab.errors import Fault, InvalidInputError, fault
from lab.exchange.prediction_rows import kind_of, rows_of
from lab.formats.mapping import PredictionMap, TableMap
from lab.measure.journal import reasons_text
from lab.measure.lock import run_lock
from lab.messages import DASH
from lab.model.attempt import Provenance, Record
from lab.model.names import MANIFEST
from lab.store.attempts import ATTEMPTS, PREDICTIONS, finish_attempt, read_records
from lab.store.corpus import Corpus, StoredCorpus, open_corpus
from lab.store.files import inside, sha256_file
from lab.store.intake import finish_intake
from lab.store.manifest import read_manifest
from lab.store.predictions import write_predictions
from lab.store.predictions_table import fetched
from lab.store.workbook import campaign_workbook, update_judged

_COLUMNS = ("predictions_path", "predictions_sha256")
_MOST = 5  # lines without an id, and ids, that are named
_BATCH = 10_000  # ids looked up at once


@dataclass(frozen=True)
class Attached:
    """What was put beside an attempt: how many predictions, and why the workbook could not be told; `same`: nothing."""

    attempt_id: str
    rows: int
    same: bool = False
    fault: Fault | None = None


def attach(folder: Path, path: Path, attempt_id: str, mapping: TableMap | None = None) -> Attached:
    """Put the predictions in `path` beside an imported attempt.

    Args:
        folder: the campaign folder.
        path: a csv, jsonl or parquet, recognised by its content.
        attempt_id: the attempt.
        mapping: which column is what; None: `id`, `prediction` and, where it is there, `scores`.

    Raises:
        InvalidInputError: the attempt or the file is not what it must be, or the file has no ids and the mapping does
            not declare the corpus's order.
        CheckFoundError: a run is under way.
        OutsideFailureError: the disk refused.
    """
    columns = (mapping.predictions if mapping else None) or PredictionMap()
    manifest = read_manifest(folder / MANIFEST)
    with run_lock(folder):
        finish_intake(folder)
        record = _attempt(read_records(folder), attempt_id)
        digest = sha256_file(path)
        source = Provenance(path.name, digest, kind_of(path), in_order=columns.in_order)
        corpus = open_corpus(folder, next(one for one in manifest.corpora if one.id == record.attempt.corpus))
        rows = rows_of(path, columns, mapping or TableMap())
        named = _in_order(rows, corpus, path.name) if columns.in_order else _of_corpus(rows, corpus, path.name)
        counted = _Counted(named)
        if (held := record.details.predictions_from) is not None:
            # The same file by another mapping is other predictions.
            if held.sha256 == digest and _would_be(counted) == record.attempt.predictions_sha256:
                return Attached(attempt_id, 0, same=True)
            raise InvalidInputError(fault("predictions-there", file=path.name, id=attempt_id, held=held.file))
        relative = f"{ATTEMPTS}/{attempt_id}/{PREDICTIONS}"
        sha256 = write_predictions(inside(folder, relative), counted)
        record = _with_predictions(record, relative, sha256, source, manifest.language)
        finish_attempt(folder, record)
        cells = {name: getattr(record.attempt, name) for name in (*_COLUMNS, "missing_reason")}
        written = update_judged(campaign_workbook(folder), {attempt_id: cells}, manifest.language)
    return Attached(attempt_id, counted.number, fault=written.fault)


def _attempt(records: Sequence[Record], attempt_id: str) -> Record:
    """The imported attempt that completed; raises InvalidInputError for any other."""
    record = next((one for one in records if one.attempt.attempt_id == attempt_id), None)
    if record is None:
        found = get_close_matches(attempt_id, [one.attempt.attempt_id for one in records], 1)
        near = found[0] if found else DASH
        raise InvalidInputError(fault("predictions-no-attempt", place="--attempt", id=attempt_id, near=near))
    if not record.imported:
        raise InvalidInputError(fault("predictions-of-measured", place="--attempt", id=attempt_id))
    if record.attempt.outcome != "completed":
        facts = {"id": attempt_id, "outcome": record.attempt.outcome}
        raise InvalidInputError(fault("predictions-of-failed", place="--attempt", **facts))
    return record


def _with_predictions(record: Record, path: str, sha256: str, source: Provenance, language: str) -> Record:
    missing = {name: key for name, key in record.details.missing.items() if name not in _COLUMNS}
    details = replace(record.details, missing=missing, predictions_from=source)
    reasons = reasons_text(missing, details.ended_because, language) or None
    attempt = replace(record.attempt, predictions_path=path, predictions_sha256=sha256, missing_reason=reasons)
    return Record(attempt, details)


def _would_be(rows: Iterable[Mapping[str, object]]) -> str:
    """The sha256 that the predictions would have, without keeping them."""
    with tempfile.TemporaryDirectory(prefix="lab-predictions-") as scratch:
        return write_predictions(Path(scratch, PREDICTIONS), rows)


def _of_corpus(
    rows: Iterator[Mapping[str, object]], corpus: Corpus | StoredCorpus, file: str
) -> Iterator[Mapping[str, object]]:
    """Rows with the ids that the file gives; a file of which no id is in the corpus is another corpus's, or damaged."""
    first: list[str] = []
    waiting: list[str] = []
    known = False
    for row in _with_ids(rows, file):
        yield row
        if not known:
            waiting.append(str(row["id"]))
            first = first or waiting
            if len(waiting) == _BATCH:
                known, waiting = _any_known(waiting, corpus), []
    if not first:
        raise InvalidInputError(fault("import-no-rows", file=file))
    if not known and not _any_known(waiting, corpus):
        expected = list(islice(_ids(corpus), _MOST))
        raise InvalidInputError(fault("predictions-other-ids", file=file, found=first[:_MOST], known=expected))


def _any_known(ids: Sequence[str], corpus: Corpus | StoredCorpus) -> bool:
    if isinstance(corpus, Corpus):
        return not set(ids).isdisjoint(corpus.ids)
    query = "SELECT id FROM inputs WHERE id IN (SELECT unnest(?::VARCHAR[])) LIMIT 1"
    with corpus.table.connected() as database:
        return database.execute(query, [list(ids)]).fetchone() is not None


def _with_ids(rows: Iterator[Mapping[str, object]], file: str) -> Iterator[Mapping[str, object]]:
    """Rows with the ids that the file gives; one without an id belongs to no input."""
    without = []
    for number, row in enumerate(rows, 1):
        if row.get("id"):
            yield row
        else:
            without.append(number)
            if len(without) == _MOST:
                break
    if without:
        raise InvalidInputError(fault("predictions-rows-without-id", file=file, rows=without))


def _in_order(
    rows: Iterator[Mapping[str, object]], corpus: Corpus | StoredCorpus, file: str
) -> Iterator[Mapping[str, object]]:
    """Rows with the ids of the corpus in its order, as the mapping declares; there must be as many."""
    ids = _ids(corpus)
    number = 0
    for row in rows:
        number += 1
        one = next(ids, None)
        if one is not None:  # the rest is only counted
            yield {**row, "id": one}
    if number != corpus.facts.size:
        raise InvalidInputError(fault("predictions-order-count", file=file, found=number, wanted=corpus.facts.size))


def _ids(corpus: Corpus | StoredCorpus) -> Iterator[str]:
    if isinstance(corpus, Corpus):
        yield from corpus.ids
        return
    with corpus.table.connected() as database:
        yield from (one for (one,) in fetched(database, "SELECT id FROM inputs ORDER BY place"))


class _Counted:
    """Rows as they go by, counted."""

    def __init__(self, rows: Iterator[Mapping[str, object]]) -> None:
        self.rows = rows
        self.number = 0

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        for row in self.rows:
            self.number += 1
            yield row
