"""A predictions file as a table of a DuckDB connection, whatever its size.

Lines of the plain form that `write_predictions` gives are taken apart by the database; any other line is read by the
strict reader, one by one. A file that does not come through whole, byte for byte, is read by the strict reader whole.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.store.files import reading
from lab.store.prediction_lines import Line, lines, read_line, table_format
from lab.store.stored_inputs import as_pattern, load_json_lines
from lab.store.tally import FIRST

_CHUNK = 1 << 20
_BATCH = 10_000
_TEXT = r'[^"\\\x00-\x1f]*'
_NUMBER = "-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_ONE_SCORE = f'"{_TEXT}": ?(?:{_NUMBER}|null)'
_NO_CONTROLS = bytes(sorted({*range(256)} - {*range(32)} | {ord("\n")}))
# The scores as `write_predictions` writes them, to the end of the line.
_SCORES = f"(?:null|[{{](?:{_ONE_SCORE}(?:, ?{_ONE_SCORE})*)?[}}])[}}]"


@dataclass
class Loaded:
    """A predictions file as the view `<name>(line, id, prediction)`, lines without an id left out."""

    sha256: str
    bad_line_count: int = 0
    bad_lines: list[tuple[int, str]] = field(default_factory=list)
    rows: str | None = None  # the table behind the view, where every line of it is plain

    def take(self, line: Line) -> None:
        """Count a line that the strict reader read."""
        if line.slug is not None:
            self.bad_line_count += 1
            if len(self.bad_lines) < FIRST:
                self.bad_lines.append((line.number, line.slug))


@dataclass(frozen=True)
class _Bytes:
    """What a file is made of, beside its lines."""

    sha256: str
    size: int
    lines: int
    mark: int
    controls: bool
    ends: bool


def load(database: Any, path: Path, scratch: Path, name: str) -> Loaded:  # noqa: ANN401  (a duckdb connection)
    """Make the view `name` of a predictions file.

    Raises:
        InvalidInputError: as `prediction_lines.lines`.
    """
    with ThreadPoolExecutor(1) as aside:  # hashing and the database both leave the interpreter free
        counted = aside.submit(_bytes, path)
        as_lines = table_format(path) is None and _load_lines(database, path, name)
        found = counted.result()
    if as_lines and not found.controls:
        whole = database.execute(f"SELECT count(*), sum(bytes) FROM {name}_lines").fetchone()  # noqa: S608  (names of this program)
        rows, size = whole[0], int(whole[1] or 0)
        full_lines = found.lines + (not found.ends)
        if rows == full_lines and size + found.lines + found.mark == found.size:
            return _with_odd_lines(database, scratch, name, found)
    loaded = Loaded(found.sha256)
    _keep(database, scratch, f"{name}_all", (_taken(line, loaded) for line in lines(path)))
    database.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {name}_all WHERE id IS NOT NULL")  # noqa: S608  (as above)
    return loaded


def _bytes(path: Path) -> _Bytes:
    digest = hashlib.sha256()
    size = newlines = 0
    controls = False
    head = last = b""
    with reading(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            head = head or chunk[:4]
            size += len(chunk)
            newlines += chunk.count(b"\n")
            controls = controls or bool(chunk.translate(None, _NO_CONTROLS))
            last = chunk[-1:]
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    return _Bytes(digest.hexdigest(), size, newlines, mark, controls, last in (b"\n", b""))


def _load_lines(database: Any, path: Path, name: str) -> bool:  # noqa: ANN401  (a duckdb connection)
    """Make the table `<name>_lines(id, prediction, odd, bytes)`, a row a line; False when the file is not of lines.

    `odd` is a line of another form than the plain one, whole; such a line has no id here.
    """
    import duckdb

    with reading(path), path.open("rb") as file:
        with_scores = b'"scores"' in file.readline(_CHUNK)
    # Each form costs time, so that only the one of the first line is looked for; the other is read line by line.
    end = f"len(parts) = 2 AND s[9] = '' AND regexp_full_match(parts[2], '{_SCORES}')" if with_scores else "s[9] = '}'"
    plain = f"""
        len(s) = 9 AND s[1] = '{{' AND s[2] = 'id' AND s[3] IN (': ', ':') AND s[5] IN (', ', ',')
        AND s[6] = 'prediction' AND s[7] IN (': ', ':') AND NOT contains(line, '\\') AND {end}
    """
    source = """
        read_csv(?, auto_detect = false, delim = '\x1f', quote = '', escape = '', comment = '', header = false,
                 columns = {'line': 'VARCHAR'})
    """
    taken_apart = f"SELECT line, string_split(line, '\"') AS s FROM {source}"  # noqa: S608  (patterns of this program)
    if with_scores:
        in_parts = f"SELECT line, string_split(line, ', \"scores\": ') AS parts FROM {source}"  # noqa: S608  (as above)
        taken_apart = f"SELECT line, parts, string_split(parts[1], '\"') AS s FROM ({in_parts})"  # noqa: S608  (as above)
    query = f"""
        CREATE TEMP TABLE {name}_lines AS
        SELECT CASE WHEN plain THEN s[4] END AS id, CASE WHEN plain THEN s[8] END AS prediction,
               CASE WHEN NOT plain THEN line END AS odd, strlen(line)::INTEGER AS bytes
        FROM (SELECT line, s, {plain} AS plain FROM ({taken_apart}))
    """  # noqa: S608  (names and patterns of this program)
    try:
        database.execute(query, [as_pattern(path)])
    except duckdb.Error:
        return False
    return True


def _with_odd_lines(database: Any, scratch: Path, name: str, found: _Bytes) -> Loaded:  # noqa: ANN401  (a duckdb connection)
    loaded = Loaded(found.sha256)
    odd = fetched(database, f"SELECT rowid, odd FROM {name}_lines WHERE odd IS NOT NULL ORDER BY rowid")  # noqa: S608  (as above)
    last = found.lines + (not found.ends)

    def read() -> Iterator[Line]:
        for row, text in odd:
            end = b"" if row + 1 == last and not found.ends else b"\n"
            line = read_line(row + 1, text.encode() + end)
            if line is not None:
                yield _taken(line, loaded)

    select = f"SELECT rowid + 1 AS line, id, prediction FROM {name}_lines WHERE id IS NOT NULL"  # noqa: S608  (as above)
    if not _keep(database, scratch, f"{name}_odd", read()):
        loaded.rows = f"{name}_lines"
    else:
        select += f" UNION ALL SELECT line, id, prediction FROM {name}_odd WHERE id IS NOT NULL"  # noqa: S608  (as above)
    database.execute(f"CREATE TEMP VIEW {name} AS {select}")
    return loaded


def _taken(line: Line, loaded: Loaded) -> Line:
    loaded.take(line)
    return line


def fetched(database: Any, query: str) -> Iterator[Any]:  # noqa: ANN401  (a duckdb connection and its rows)
    """The rows of a query in turn; the next query on the connection ends them."""
    result = database.execute(query)
    while batch := result.fetchmany(_BATCH):
        yield from batch


def _keep(database: Any, scratch: Path, table: str, found: Iterable[Line]) -> int:  # noqa: ANN401  (a duckdb connection)
    """Make a table (line, id, prediction) of lines that were read here; their number."""
    path = scratch / f"{table}.jsonl"
    number = 0
    with path.open("w", encoding="ascii") as file:
        for number, line in enumerate(found, 1):  # noqa: B007  (the count of them)
            file.write(json.dumps({"line": line.number, "id": line.id, "prediction": line.prediction}) + "\n")
    load_json_lines(database, path, table, {"line": "BIGINT", "id": "VARCHAR", "prediction": "VARCHAR"})
    path.unlink()
    return number
