"""Predictions of one attempt: written whole, and held against the ids that were expected."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lab.model.evidence import Evidence
from lab.store.corpus import LARGE, Corpus, StoredCorpus
from lab.store.files import reading, replacing, sha256_file
from lab.store.prediction_lines import lines
from lab.store.stored_inputs import StoredInput, store_inputs
from lab.store.tally import Tally, Vectors

if TYPE_CHECKING:
    from lab.store.judging_sql import Question  # duckdb is imported when a file is large


def write_predictions(path: Path, rows: Iterable[Mapping[str, object]]) -> str:
    """Write `{"id", "prediction", "scores"?}` as one JSON line a row, in their order, whole or not at all.

    A score that is not finite becomes null: JSON has no such number, and absent is absent.

    Returns:
        The sha256 of the file, 64 hex digits.

    Raises:
        OutsideFailureError: the disk refused; no file of that name was made or changed.
    """
    digest = hashlib.sha256()
    with replacing(path) as file:
        for row in rows:
            kept = {name: _finite(row[name]) for name in ("id", "prediction", "scores") if name in row}
            # Half a character cannot stand in UTF-8; its backslash escape is JSON's own way to write it.
            line = (json.dumps(kept, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
            digest.update(line)
            file.write(line)
    return digest.hexdigest()


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


def examine(  # noqa: PLR0913  (what is judged, against what, and how)
    path: Path,
    corpus: Corpus | StoredCorpus,
    labels: Collection[str] | None,
    recorded_sha256: str | None,
    *,
    distances: bool = False,
    vectors: bool = False,
    large: int = LARGE,
) -> Evidence:
    """Hold a predictions file against its corpus (the product's method, section 5, controls 2 to 4).

    The rows are not held: a small file is counted line by line, a large one in a database on the disk; both give the
    same. Ids are compared exactly as text. A line with an id counts as observed even when its prediction cannot be
    read: the ids are one control, the format another.

    Args:
        path: the predictions, one JSON object a line; or a csv or parquet, by its ending, with columns id, prediction.
        corpus: what was to be predicted.
        labels: the allowed predictions; None: any text.
        recorded_sha256: the file's fingerprint when the attempt ended; None when none was recorded.
        distances: count distances of numbers or vectors, and leave the confusion empty.
        vectors: predictions have to be vectors of one size.
        large: bytes of the file from which on it is large.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable. What is wrong within it is in the evidence.
    """
    with reading(path):
        size = path.stat().st_size
    if isinstance(corpus, Corpus) and size < large:
        tally = Tally(corpus, None if labels is None else frozenset(labels), vectors=Vectors() if vectors else None)
        for line in lines(path):
            tally.take(line)
        return _sealed(tally.evidence(distances=distances), sha256_file(path), recorded_sha256)
    from lab.store.judging_sql import Question

    kept = stored(corpus)
    return _examine_large(path, kept, Question(kept.table, kept.facts, labels, distances, vectors), recorded_sha256)


def _examine_large(path: Path, corpus: StoredCorpus, asked: Question, recorded_sha256: str | None) -> Evidence:
    from lab.store.judging_sql import evidence
    from lab.store.predictions_table import load

    with corpus.table.connected() as database:
        loaded = load(database, path, Path(corpus.table.folder.name), "seen")
        found = evidence(database, "seen", loaded, asked)
    return _sealed(found, loaded.sha256, recorded_sha256)


def _sealed(found: Evidence, sha256: str, recorded: str | None) -> Evidence:
    return replace(found, altered=None if recorded is None else sha256 != recorded)


def stored(corpus: Corpus | StoredCorpus) -> StoredCorpus:
    """The corpus with its inputs in a table."""
    if isinstance(corpus, StoredCorpus):
        return corpus
    names = tuple(corpus.groups)
    rows = (
        StoredInput(place, one, reference, tuple(corpus.groups[name][place] for name in names))
        for place, (one, reference) in enumerate(zip(corpus.ids, corpus.references, strict=True))
    )
    return StoredCorpus(corpus.facts, store_inputs(rows, names))
