"""A predictions file as a table of a DuckDB connection, whatever its size.

Lines of the plain form that `write_predictions` gives are taken apart by the database; any other line is read by the
strict reader, one by one. A file that does not come through whole, byte for byte, is read by the strict reader whole.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
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
_CHANGING = (b"\r", b"\t", b"\0")  # what another reader of lines ends a line at, drops or takes for a space
_PLAIN = re.compile(rb'[{]"id":( ?)"[^"]*",( ?)"prediction":\1"[^"]*"(,\2"scores":\1[{])?')
# The database's own check of JSON lets pass what the strict reader refuses: NaN and infinity in any case, a comma
# before a closing bracket, an integer of more digits than Python converts. A line that may hold one is read strictly,
# and so is one with a list or an object within its scores, or with anything after them.
_MOST_DIGITS = 4300
_PLAIN_SCORES = rf"""
    ends_with(line, '}}}}') AND NOT regexp_matches(line, '[}}](?:[, ]|[}}][}}])')
    AND NOT ends_with(line, ',}}}}') AND NOT ends_with(line, ' }}}}') AND strlen(line) < {_MOST_DIGITS}
    AND NOT regexp_matches(line, ':[ ]*-?(?:[iIN]|n[aA]|\[)')
"""


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
    mark: int
    changing: bool
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
    if as_lines and not found.changing:
        whole = database.execute(f"SELECT count(*), sum(bytes) FROM {name}_lines").fetchone()  # noqa: S608  (names of this program)
        rows, size = whole[0], int(whole[1] or 0)
        # One byte ends each row, the last one perhaps not: then no row was left out, joined or cut.
        if size + rows - (not found.ends) + found.mark == found.size:
            return _with_odd_lines(database, scratch, name, found, rows)
    loaded = Loaded(found.sha256)
    _keep(database, scratch, f"{name}_all", (_taken(line, loaded) for line in lines(path)))
    database.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {name}_all WHERE id IS NOT NULL")  # noqa: S608  (as above)
    return loaded


def _bytes(path: Path) -> _Bytes:
    digest = hashlib.sha256()
    size = 0
    changing = False
    head = last = b""
    with reading(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            head = head or chunk[:4]
            size += len(chunk)
            changing = changing or any(one in chunk for one in _CHANGING)
            last = chunk[-1:]
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    return _Bytes(digest.hexdigest(), size, mark, changing, last in (b"\n", b""))


def _load_lines(database: Any, path: Path, name: str) -> bool:  # noqa: ANN401  (a duckdb connection)
    """Make the table `<name>_lines(id, prediction, odd, bytes)`, a row a line; False when the file is not of lines.

    `odd` is a line of another form than the plain one, whole; such a line has no id here.
    """
    import duckdb

    # A line is plain when its two texts, put between the marks of the first line, are the line again: nothing is left
    # out, comes twice or has an escape. The form of the first line is looked for; another one is read line by line.
    with reading(path), path.open("rb") as file:
        first = _PLAIN.match(file.readline(_CHUNK))
    colon, comma, scores = (one.decode() if one else "" for one in first.groups()) if first else ("", "", "")
    start, between = f'{{"id":{colon}"', f'",{comma}"prediction":{colon}"'
    again = f"concat('{start}', texts[1], '{between}', texts[2], '\"{scores or '}'}')"
    alike = f"starts_with(line, {again}) AND {_PLAIN_SCORES}" if scores else f"line = {again}"
    query = f"""
        CREATE TEMP TABLE {name}_lines AS
        SELECT CASE WHEN plain THEN texts[1] END AS id, CASE WHEN plain THEN texts[2] END AS prediction,
               CASE WHEN NOT plain THEN line END AS odd, strlen(line)::INTEGER AS bytes
        FROM (
            SELECT line, texts, texts[1] IS NOT NULL AND texts[2] IS NOT NULL AND {alike} AS plain
            FROM (
                SELECT line, TRY(json_extract_string(line, ['$.id', '$.prediction'])) AS texts
                FROM read_csv(?, auto_detect = false, delim = '\x1f', quote = '', escape = '', comment = '',
                              header = false, columns = {{'line': 'VARCHAR'}})
            )
        )
    """  # noqa: S608  (names and patterns of this program)
    try:
        database.execute(query, [as_pattern(path)])
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.IOException):
        return False
    return True


def _with_odd_lines(database: Any, scratch: Path, name: str, found: _Bytes, last: int) -> Loaded:  # noqa: ANN401  (a duckdb connection)
    """The view of the plain lines and of those read one by one; `last` is the number of the last line."""
    loaded = Loaded(found.sha256)
    odd = fetched(database, f"SELECT rowid, odd FROM {name}_lines WHERE odd IS NOT NULL ORDER BY rowid")  # noqa: S608  (as above)

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
