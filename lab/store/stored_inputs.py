"""Ids, references and subgroups of a large corpus in a database file of its own, which is gone when nobody holds it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

# What DuckDB may take; a judgement has to stay below 2 GiB with what Python and its allocator need beside it.
_MEMORY = "900MiB"


class StoredInput(NamedTuple):
    """One input: its line in the corpus, and what predictions are held against."""

    line: int
    id: str
    reference: str | None
    groups: tuple[str | None, ...]


@dataclass(frozen=True)
class StoredInputs:
    """The table `inputs(place, line, id, reference, g0, g1 ...)` in a database file; `place` counts from 0.

    Attributes:
        groups: the subgroup columns that g0, g1 ... stand for.
        folder: where the file is, and where what does not fit in memory goes.
    """

    groups: tuple[str, ...]
    folder: tempfile.TemporaryDirectory[str] = field(repr=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the subgroup columns in the table."""
        return tuple(f"g{number}" for number in range(len(self.groups)))

    @contextmanager
    def connected(self, *, write: bool = False) -> Iterator[Any]:
        """A DuckDB connection to the file, with a bound on its memory; tables made in it are temporary."""
        import duckdb

        config: dict[str, str | bool | int | float | list[str]]
        config = {"memory_limit": _MEMORY, "temp_directory": str(Path(self.folder.name, "spill"))}
        path = str(Path(self.folder.name, "inputs.duckdb"))
        with duckdb.connect(path, read_only=not write, config=config) as database:
            yield database

    def repeated(self, most: int) -> list[tuple[int, str, int]]:
        """Inputs whose id came before: (line, id, line of the first one), in order, at most `most`."""
        query = """
            WITH twice AS (SELECT id, min(line) AS first FROM inputs GROUP BY id HAVING count(*) > 1)
            SELECT line, id, first FROM inputs JOIN twice USING (id) WHERE line > first ORDER BY place LIMIT ?
        """
        with self.connected() as database:
            found: list[tuple[int, str, int]] = database.execute(query, [most]).fetchall()
        return found


def new_store(groups: tuple[str, ...]) -> StoredInputs:
    """A database file without tables yet."""
    return StoredInputs(groups, tempfile.TemporaryDirectory(prefix="lab-"))


def store_inputs(rows: Iterable[StoredInput], groups: tuple[str, ...]) -> StoredInputs:
    """Write inputs into a table, in their order; they are read once and not held."""
    stored = new_store(groups)
    path = Path(stored.folder.name, "inputs.jsonl")
    names = ("place", "line", "id", "reference", *stored.columns)
    with path.open("w", encoding="ascii") as file:
        for place, one in enumerate(rows):
            values = (place, one.line, one.id, one.reference, *one.groups)
            file.write(json.dumps(dict(zip(names, values, strict=True))) + "\n")
    kinds = {name: "BIGINT" if name in ("place", "line") else "VARCHAR" for name in names}
    with stored.connected(write=True) as database:
        load_json_lines(database, path, "inputs", kinds, temporary=False)
    path.unlink()
    return stored


def load_json_lines(
    database: Any,  # noqa: ANN401  (a duckdb connection)
    path: Path,
    table: str,
    kinds: dict[str, str],
    *,
    temporary: bool = True,
) -> None:
    """Make a table of a file of JSON lines that this program wrote; `kinds` is column -> type."""
    columns = "{" + ", ".join(f"{name}: '{kind}'" for name, kind in kinds.items()) + "}"
    made = f"CREATE {'TEMP ' if temporary else ''}TABLE {table} AS"
    database.execute(
        f"{made} SELECT * FROM read_json(?, format = 'newline_delimited', columns = {columns})",  # noqa: S608  (names of this program)
        [as_pattern(path)],
    )


def as_pattern(path: Path) -> str:
    """A path as DuckDB takes it: in its patterns, a character that stands for others is put in brackets."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in str(path))
