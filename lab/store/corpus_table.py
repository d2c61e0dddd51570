"""A large corpus put into its table by the database, where nothing is wrong with it: the same answer, sooner.

Nothing is judged here on doubt. A file in which one line, cell or id may be at fault gives None, and the strict reader
(`lab.store.corpus`) goes through it line by line and says what is wrong, and where.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.store.corpus_csv import Bytes, csv_source
from lab.store.files import reading
from lab.store.stored_inputs import StoredInputs, as_pattern, load_json_lines, new_store

_NAME = re.compile(r"[^\\\"'\x00-\x1f]+")  # of a column, as it can stand in a path of the database
_CHUNK = 1 << 20
_SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())  # what `str.strip` takes away
# With the line ends within the cells before a row: it is named by the line that it begins on. In the order of the rows.
_LINE_OF_CSV = "rowid + 2 + (sum(ends) OVER (ROWS UNBOUNDED PRECEDING))::BIGINT - ends"
_MOST_DIGITS = 4300  # of an integer, that Python converts


@dataclass(frozen=True)
class Declared:
    """What a corpus declares of its file: its kind (`jsonl`, `csv` or `parquet`), columns, and allowed references.

    `delimiter` is that of a csv.
    """

    path: Path
    kind: str
    id: str
    text: str
    reference: str | None
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    delimiter: str = ","

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, id and text first."""
        return (self.id, self.text, *((self.reference,) if self.reference else ()), *self.groups)


@dataclass(frozen=True)
class Counted:
    """A table of inputs with what the facts of its corpus need; `labels` and `groups` count inputs by value."""

    table: StoredInputs
    size: int
    labels: dict[str, int]
    groups: dict[str, dict[str, int]]


def load_inputs(declared: Declared, tuning: Iterable[tuple[str, str]]) -> Counted | None:
    """The inputs of a file in which nothing is wrong; None when something may be.

    Args:
        declared: the file and its columns.
        tuning: ids and texts (in composed form, without outer spaces) that no input may share.
    """
    import duckdb

    if len(set(declared.columns)) < len(declared.columns) or not all(map(_NAME.fullmatch, declared.columns)):
        return None
    stored = new_store(declared.groups)
    with stored.connected(write=True) as database:
        _keep_tuning(database, Path(stored.folder.name), tuning)
        try:
            sound = _LOADERS[declared.kind](database, declared)
        except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.IOException, duckdb.BinderException):
            return None
        if not sound or not _sound(database, declared):
            return None
        columns = ", ".join(("id", "reference", *stored.columns))
        # A table of its own: beside a view, two tables are not read side by side as fast.
        line = _LINE_OF_CSV if declared.kind == "csv" else "rowid + 1"
        database.execute(f"CREATE TABLE inputs AS SELECT rowid AS place, {line} AS line, {columns} FROM kept")  # noqa: S608  (names of this program)
        size = database.execute("SELECT count(*) FROM kept").fetchone()[0]
        labels = _counts(database, "reference")
        groups = {name: _counts(database, column) for name, column in zip(declared.groups, stored.columns, strict=True)}
    return Counted(stored, size, labels, groups)


def _keep_tuning(database: Any, folder: Path, tuning: Iterable[tuple[str, str]]) -> None:  # noqa: ANN401  (a duckdb connection)
    path = folder / "tuning.jsonl"
    with path.open("w", encoding="ascii") as file:
        for one, text in tuning:
            file.write(json.dumps({"id": one, "text": text}) + "\n")
    load_json_lines(database, path, "tuning", {"id": "VARCHAR", "text": "VARCHAR"})
    path.unlink()


def _kept(declared: Declared, cell: Sequence[str], source: str, also: str) -> str:
    """The query for the table `kept(id, reference, g0 ..., text)`, in the order of the file; `text` is a hash.

    Nothing is joined here: a join may give the rows in another order.
    """
    others = iter(cell[2:])
    reference = f"nullif({next(others)}, '')" if declared.reference else "NULL::VARCHAR"
    groups = "".join(f", nullif({one}, '') AS g{number}" for number, one in enumerate(others))
    text = f"hash(trim(nfc_normalize({cell[1]}), ?)) AS text"
    return f"""
        CREATE TABLE kept AS
        SELECT {cell[0]} AS id, {reference} AS reference{groups}, {text}, {also} FROM {source}
    """  # noqa: S608  (names of this program)


def _from_lines(database: Any, declared: Declared) -> bool:  # noqa: ANN401  (a duckdb connection)
    """Every line is an object of the first line's columns, none twice; whether no byte of the file was lost on the way.

    The database's own check of JSON lets pass NaN and infinity in any case, a comma before a closing bracket and an
    integer of any length: what may hold one is left to the strict reader.
    """
    with reading(declared.path), declared.path.open("rb") as file:
        first = file.readline(_CHUNK)
        mark = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0
    try:
        keys = [*json.loads(first.decode("utf-8-sig"))]
    except (ValueError, RecursionError):
        return False
    if not all(map(_NAME.fullmatch, keys)) or not {*declared.columns} <= {*keys}:
        return False
    keys = [*declared.columns, *(one for one in keys if one not in declared.columns)]
    cells = [f"cells[{place}]" for place in range(1, len(declared.columns) + 1)]
    optional = "".join(
        f" AND coalesce(types[{place}], 'NULL') IN ('VARCHAR', 'NULL')" for place in range(3, len(cells) + 1)
    )
    sound = f"""
        types[1] = 'VARCHAR' AND types[2] = 'VARCHAR'{optional} AND list_count(types) = len(keys)
        AND NOT list_has_any(types, ['ARRAY', 'OBJECT'])
        AND NOT (list_contains(types, 'DOUBLE') AND strlen(line) > {_MOST_DIGITS})
        AND NOT regexp_matches(line, '"[ ]*:[ ]*-?(?:[iI]|[nN][aA])')
        AND NOT ends_with(line, ',}}') AND NOT ends_with(line, ' }}')
    """
    lines = f"""(
        SELECT line, TRY(json_extract_string(line, {_paths(declared.columns)})) AS cells,
               TRY(json_type(line, {_paths(keys)})) AS types, TRY(json_keys(line)) AS keys
        FROM read_csv(?, auto_detect = false, delim = '\x1f', quote = '', escape = '', comment = '', header = false,
                      columns = {{'line': 'VARCHAR'}})
    )"""  # noqa: S608  (names of this program, and of columns that hold no quote)
    also = f"coalesce({sound}, false) AS sound, strlen(line)::INTEGER AS bytes"
    database.execute(_kept(declared, cells, lines, also), [_SPACES, as_pattern(declared.path)])
    rows, bytes_of = database.execute("SELECT count(*), sum(bytes) FROM kept").fetchone()
    # One byte ends each row, the last one perhaps not: then no row was left out, joined or cut.
    size, ends, changing = _bytes(declared.path)
    return not changing and int(bytes_of or 0) + rows - (not ends) + mark == size


def _paths(columns: Sequence[str]) -> str:
    return "[" + ", ".join(f"'$.\"{one}\"'" for one in columns) + "]"


def _bytes(path: Path) -> tuple[int, bool, bool]:
    """Bytes of a file, whether its last line ends, and whether it has what another reader ends a line at."""
    size, last, changing = 0, b"\n", False
    with reading(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            changing = changing or any(one in chunk for one in (b"\r", b"\t", b"\0"))
            last = chunk[-1:]
    return size, last == b"\n", changing


def _from_parquet(database: Any, declared: Declared) -> bool:  # noqa: ANN401  (a duckdb connection)
    """Every declared column is there once, as text."""
    where = as_pattern(declared.path)
    with reading(declared.path):
        header = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [where]).fetchall()
    kinds = {name: kind for name, kind, *_ in header}
    if any(not kinds.get(one, "").startswith(("VARCHAR", "ENUM")) for one in declared.columns):
        return False
    cells = [f'"{one}"::VARCHAR' for one in declared.columns]
    also = f"{cells[0]} IS NOT NULL AND {cells[1]} IS NOT NULL AS sound"
    database.execute(_kept(declared, cells, "read_parquet(?)", also), [_SPACES, where])
    return True


def _from_csv(database: Any, declared: Declared) -> bool:  # noqa: ANN401  (a duckdb connection)
    """Every byte of the file is in a cell, between cells or around one: whatever its rows, none is at fault."""
    source = csv_source(declared.path, declared.columns, declared.delimiter)
    if source is None:
        return False
    also = f"true AS sound, {source.also}"
    database.execute(_kept(declared, source.cells, source.rows, also), [_SPACES, source.parameter])
    sums = "SELECT count(*), sum(bytes), sum(delimiters), sum(ends), sum(returns) FROM kept"
    rows, size, marks, feeds, returns = (int(one or 0) for one in database.execute(sums).fetchone())
    return source.whole(rows, Bytes(size, marks, feeds, returns))


_LOADERS: Mapping[str, Callable[[Any, Declared], bool]] = MappingProxyType(
    {"jsonl": _from_lines, "csv": _from_csv, "parquet": _from_parquet}
)


def _sound(database: Any, declared: Declared) -> bool:  # noqa: ANN401  (a duckdb connection)
    """No row is at fault, no id is empty or comes twice, nothing is shared with the tuning set."""
    found = database.execute("SELECT count(*), coalesce(bool_and(sound AND id <> ''), false) FROM kept")
    if not all(found.fetchone()):
        return False
    # Two texts can have one hash: a doubt, which the strict reader settles.
    shared = "id IN (SELECT id FROM tuning) OR text IN (SELECT hash(text) FROM tuning)"
    if database.execute(f"SELECT 1 FROM kept WHERE {shared} LIMIT 1").fetchone():  # noqa: S608  (names of this program)
        return False
    if database.execute("SELECT 1 FROM kept GROUP BY id HAVING count(*) > 1 LIMIT 1").fetchone():
        return False
    unknown = "SELECT 1 FROM kept WHERE reference IS NOT NULL AND NOT list_contains(?::VARCHAR[], reference) LIMIT 1"
    return not declared.labels or not database.execute(unknown, [[*declared.labels]]).fetchone()


def _counts(database: Any, column: str) -> dict[str, int]:  # noqa: ANN401  (a duckdb connection)
    """Inputs by the value that a column has, in order of value; those without one left out."""
    query = f"SELECT {column}, count(*) FROM kept WHERE {column} IS NOT NULL GROUP BY ALL"  # noqa: S608  (names of this program)
    return dict(sorted(database.execute(query).fetchall()))
