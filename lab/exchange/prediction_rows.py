"""The rows of a predictions file of any column names: csv, jsonl or parquet, told by its first bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.errors import Fault, InvalidInputError, fault
from lab.formats.mapping import PredictionMap, TableMap
from lab.store.files import reading
from lab.store.stored_inputs import as_pattern
from lab.store.tables import Table

Row = Mapping[str, object]
_PARQUET = b"PAR1"
_BATCH = 10_000


def kind_of(path: Path) -> str:
    """`parquet`, `jsonl` or `csv`, by the first bytes; raises InvalidInputError for a file that cannot be read."""
    with reading(path), path.open("rb") as file:
        head = file.read(4096)
    if not head.strip():
        raise InvalidInputError(fault("import-empty", file=path.name))
    if head.startswith(_PARQUET):
        return "parquet"
    return "jsonl" if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" else "csv"


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
        yield dict(_cells(row, columns, place, path.name))


def _listed(scores: str | tuple[str, ...] | None) -> list[str]:
    return [] if scores is None else [scores] if isinstance(scores, str) else list(scores)


def _cells(row: Mapping[str, object], columns: PredictionMap, place: str, file: str) -> Iterator[tuple[str, object]]:
    if columns.id and row.get(columns.id) not in (None, ""):
        yield "id", _id(row[columns.id], place, file)
    given = _text(row.get(columns.prediction))
    if given is not None:
        yield "prediction", given
    if isinstance(columns.scores, tuple):
        yield "scores", {name: _number(row.get(name), place, file) for name in columns.scores}
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
    """A prediction as text: a list as JSON, a whole number without a point; None where there is none."""
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _number(value: object, place: str, file: str) -> float | None:
    if value in (None, ""):
        return None
    try:
        return float(str(value))
    except ValueError:
        raise InvalidInputError(fault("import-not-a-number", file=file, place=place, found=str(value)[:60])) from None


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
    missing = dict.fromkeys(needed)
    for number, row in Table(path, path.name, kind, table.delimiter, table.encoding).rows(needed, optional):
        if isinstance(row, Fault):
            raise InvalidInputError(row)
        for name in [name for name in missing if name in row]:
            del missing[name]
        yield f"line {number}", row
    if missing:  # a jsonl names its columns line by line: one that no line has is a column that is not there
        raise InvalidInputError(*(_no_column(path, name, []) for name in missing))


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
