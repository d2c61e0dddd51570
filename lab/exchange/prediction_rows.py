"""The rows of a predictions file of any column names: csv, jsonl or parquet, told by its first bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.errors import Fault, InvalidInputError, fault
from lab.formats.mapping import PredictionMap, TableMap
from lab.formats.table import plain_number
from lab.store.files import reading
from lab.store.stored_inputs import as_pattern
from lab.store.tables import Table

Row = Mapping[str, object]
_PARQUET = b"PAR1"
_BATCH = 10_000
# Faults of the reader that corpora have too, whose way out is the manifest; here it is the mapping file.
_OF_CORPORA = {
    "corpus-no-column": "import-no-column",
    "corpus-column-twice": "import-column-twice",
    "corpus-other-delimiter": "predictions-other-delimiter",
    "corpus-other-encoding": "predictions-other-encoding",
}


def kind_of(path: Path) -> str:
    """`parquet`, `jsonl` or `csv`, by the first bytes.

    Raises:
        InvalidInputError: the file cannot be read, is empty, or holds a list of JSON, which is no jsonl.
    """
    with reading(path), path.open("rb") as file:
        head = file.read(4096)
    if not head.strip():
        raise InvalidInputError(fault("import-empty", file=path.name))
    if head.startswith(_PARQUET):
        return "parquet"
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if first.startswith(b"[") and first[1:].lstrip()[:1] in (b"{", b"]", b""):
        raise InvalidInputError(fault("predictions-json-list", file=path.name))
    return "jsonl" if first.startswith(b"{") else "csv"


def rows_of(path: Path, columns: PredictionMap, table: TableMap) -> Iterator[Row]:
    """`{"id"?, "prediction"?, "scores"?}` of every row, in order; ids and predictions are text.

    Raises:
        InvalidInputError: a line cannot be read, a mapped column is not there, or an id is a fraction.
    """
    kind = kind_of(path)
    scores = _listed(columns.scores)
    # The plain names are what a file may have and need not; a mapped one must be there.
    needed = [columns.prediction, *([columns.id] if columns.id else []), *scores]
    optional = ["scores"] if columns.scores is None else []
    rows = _parquet(path, needed, optional) if kind == "parquet" else _text_rows(path, kind, needed, optional, table)
    for place, row in rows:
        yield dict(_cells(row, columns, place, path.name, table.decimal))


def _listed(scores: str | tuple[str, ...] | None) -> list[str]:
    return [] if scores is None else [scores] if isinstance(scores, str) else list(scores)


def _cells(
    row: Mapping[str, object], columns: PredictionMap, place: str, file: str, decimal: str
) -> Iterator[tuple[str, object]]:
    if columns.id and row.get(columns.id) not in (None, ""):
        yield "id", _id(row[columns.id], place, file)
    given = _text(row.get(columns.prediction))
    if given is not None:
        yield "prediction", given
    if isinstance(columns.scores, tuple):
        yield "scores", {name: _number(row.get(name), place, file, decimal) for name in columns.scores}
    elif (held := row.get(columns.scores or "scores")) not in (None, ""):
        yield "scores", _scores(held, place, file)


def _id(value: object, place: str, file: str) -> str:
    """An id as text; a number with a point is refused: `1.0` is what a program made of `1`."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InvalidInputError(fault("predictions-id-number", file=file, place=place, found=str(value)[:60]))


def _text(value: object) -> str | None:
    """A prediction as text: a list as JSON, a whole number without a point; None where there is none, as NaN says."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _number(value: object, place: str, file: str, decimal: str) -> float | None:
    """A score, None where there is none, as NaN says."""
    if value in (None, ""):
        return None
    try:
        found = float(str(plain_number(value, decimal)))
    except ValueError:
        raise InvalidInputError(fault("import-not-a-number", file=file, place=place, found=str(value)[:60])) from None
    return found if math.isfinite(found) else None


def _scores(value: object, place: str, file: str) -> object:
    """Scores as an object or list: as the file has them, or as JSON in a cell."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise InvalidInputError(fault("predictions-bad-scores", file=file, place=place, found=value[:60])) from None


def _text_rows(
    path: Path, kind: str, needed: list[str], optional: list[str], table: TableMap
) -> Iterator[tuple[str, Mapping[str, object]]]:
    missing, rows = dict.fromkeys(needed), 0
    for number, row in _told(Table(path, path.name, kind, table.delimiter, table.encoding), needed, optional):
        if isinstance(row, Fault):
            raise InvalidInputError(row)
        rows += 1
        for name in [name for name in missing if name in row]:
            del missing[name]
        yield f"line {number}", row
    if missing and rows:  # a jsonl names its columns line by line
        raise InvalidInputError(*(fault("predictions-column-absent", file=path.name, column=name) for name in missing))


def _told(table: Table, needed: list[str], optional: list[str]) -> Iterator[tuple[int, Row | Fault]]:
    """The rows of the table; what is wrong with the file is told as of predictions."""
    try:
        yield from table.rows(needed, optional)
    except InvalidInputError as error:
        told = [replace(one, slug=_OF_CORPORA.get(one.slug, one.slug)) for one in error.faults]
        raise InvalidInputError(*told) from None


def _no_column(path: Path, name: str, found: list[str]) -> Fault:
    return fault("import-no-column", file=path.name, column=name, found=found[:30])


def _parquet(path: Path, needed: list[str], optional: list[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    import duckdb

    with duckdb.connect() as database:
        try:
            header: dict[str, str] = {
                name: kind
                for name, kind, *_ in database.execute(
                    "DESCRIBE SELECT * FROM read_parquet(?)", [as_pattern(path)]
                ).fetchall()
            }
            absent = [_no_column(path, name, list(header)) for name in needed if name not in header]
            if absent:
                raise InvalidInputError(*absent)
            names = [name for name in (*needed, *optional) if name in header]
            yield from _batches(database, path, names)
        except duckdb.Error:
            raise InvalidInputError(fault("corpus-not-parquet", file=path.name)) from None


def _batches(database: Any, path: Path, names: list[str]) -> Iterator[tuple[str, Mapping[str, object]]]:  # noqa: ANN401  (a duckdb connection)
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    result = database.execute(f"SELECT {quoted} FROM read_parquet(?)", [as_pattern(path)])  # noqa: S608  (names are quoted)
    number = 0
    while batch := result.fetchmany(_BATCH):
        for cells in batch:
            number += 1
            yield f"row {number}", dict(zip(names, cells, strict=True))
