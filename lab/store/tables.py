"""A file of inputs as rows of cells with their line numbers: jsonl and csv as streams, parquet through duckdb."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lab.errors import Fault, InvalidInputError, fault
from lab.store.files import reading
from lab.store.stored_inputs import as_pattern

FORMATS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"
}  # fmt: skip
# The longest cell that the csv module reads; its own limit of 131,072 characters would refuse a long text.
_LONGEST_CELL = 2**31 - 1
_BATCH = 10_000
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Row = tuple[int, Mapping[str, object] | Fault]  # line number, and the wanted cells or what is wrong with the line


def is_utf8(encoding: str) -> bool:
    """Whether a name of an encoding, perhaps of none, is one of UTF-8."""
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except (LookupError, ValueError):
        return False


@dataclass(frozen=True)
class Table:
    """A file to be read as rows.

    Attributes:
        path: where it is.
        shown: its name for faults.
        format: `jsonl`, `csv` or `parquet`; None: by the ending of its name.
        delimiter: between the cells of a csv.
        encoding: of a jsonl or csv, as Python names it; a byte-order mark of UTF-8 is read past.
    """

    path: Path
    shown: str
    format: str | None = None
    delimiter: str = ","
    encoding: str = "utf-8"

    def rows(self, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Row]:
        """Every row in order: its line (from 1) and the wanted cells, or what is wrong with that line.

        A column that a jsonl line lacks is left out of its row; a csv or parquet file must have all of `columns`, and
        those of `optional` that it lacks are left out of every row.

        Raises:
            InvalidInputError: the file as a whole cannot be read as what it is declared to be.
        """
        kind = self.format or FORMATS.get(PurePosixPath(self.shown).suffix.lower())
        if kind is None:
            raise self._refused("corpus-unknown-format", known=sorted(FORMATS))
        with reading(self.path, self.shown), self.path.open("rb") as file:
            head = file.read(4)
        if kind == "parquet":
            return self._parquet(columns, optional)
        self._check_encoding(head)
        return self._jsonl((*columns, *optional)) if kind == "jsonl" else self._csv(columns, optional)

    def _refused(self, slug: str, place: str | None = None, **values: object) -> InvalidInputError:
        return InvalidInputError(fault(slug, file=self.shown, place=place, **values))

    def _check_encoding(self, head: bytes) -> None:
        try:
            "".encode(self.encoding)
        except (LookupError, ValueError):
            raise self._refused("corpus-unknown-encoding", found=self.encoding) from None
        found = next((name for mark, name in _MARKS if head.startswith(mark)), None)
        if found and is_utf8(self.encoding):
            raise self._refused("corpus-other-encoding", declared=self.encoding, found=found)

    def _lines(self, newline: str) -> Iterator[str]:
        encoding = "utf-8-sig" if is_utf8(self.encoding) else self.encoding
        try:
            with reading(self.path, self.shown), self.path.open(encoding=encoding, newline=newline) as file:
                yield from file
        except UnicodeError:
            raise InvalidInputError(self._undecodable(encoding)) from None

    def _undecodable(self, encoding: str) -> Fault:
        """The first line that is not text in `encoding`, or a last one that ends within a character."""
        decoder = codecs.getincrementaldecoder(encoding)()
        number = 0
        with reading(self.path, self.shown), self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                try:
                    decoder.decode(raw)
                except UnicodeError:
                    return self._line_fault("corpus-not-encoding", number, declared=self.encoding)
        return self._line_fault("corpus-incomplete-line", number)

    def _jsonl(self, columns: Sequence[str]) -> Iterator[Row]:
        written = [json.dumps(name, ensure_ascii=False) for name in columns]
        for number, line in enumerate(self._lines("\n"), 1):
            if not line.strip(" \t\r\n"):
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                slug = "corpus-bad-json" if line.endswith("\n") else "corpus-incomplete-line"
                yield number, self._line_fault(slug, number)
                continue
            if not isinstance(found, dict):
                yield number, self._line_fault("corpus-not-object", number)
            elif any(line.count(key) > 1 for key in written) and (twice := _twice(line, columns)):
                yield number, self._line_fault("corpus-key-twice", number, name=twice)
            else:
                yield number, {name: found[name] for name in columns if name in found}

    def _line_fault(self, slug: str, number: int, **values: object) -> Fault:
        return fault(slug, file=self.shown, place=f"line {number}", **values)

    def _csv(self, columns: Sequence[str], optional: Sequence[str]) -> Iterator[Row]:
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise self._refused("corpus-bad-delimiter", found=self.delimiter)
        csv.field_size_limit(_LONGEST_CELL)
        rows = csv.reader(self._lines(""), delimiter=self.delimiter, strict=True)
        number = 1
        try:
            header = next((cells for cells in rows if cells), [])
            places = self._places(header, columns, optional) if header else {}
            number = rows.line_num + 1
            for cells in rows:
                yield from self._csv_row(number, cells, len(header), places)
                number = rows.line_num + 1
        except csv.Error as error:
            slug = "corpus-open-quote" if "end of data" in str(error) else "corpus-bad-csv"
            raise self._refused(slug, f"line {number}", last=str(rows.line_num)) from None

    def _csv_row(self, number: int, cells: list[str], width: int, places: Mapping[str, int]) -> Iterator[Row]:
        if len(cells) == width:
            yield number, {name: cells[place] for name, place in places.items()}
        elif cells:  # an empty line is no row
            yield number, self._line_fault("corpus-row-width", number, found=len(cells), wanted=width)

    def _places(self, header: list[str], columns: Sequence[str], optional: Sequence[str]) -> dict[str, int]:
        other = next((one for one in ";\t,|" if len(header) == 1 and one in header[0]), None)
        if other:
            shown = "\\t" if other == "\t" else other
            raise self._refused("corpus-other-delimiter", "line 1", declared=self.delimiter, found=shown)
        return {name: header.index(name) for name in self._present(header, columns, optional)}

    def _present(self, header: Sequence[str], columns: Sequence[str], optional: Sequence[str]) -> list[str]:
        """The wanted columns that a header has; a fault for each that it must have, or has twice."""
        wanted = dict.fromkeys((*columns, *optional))
        absent = [name for name in wanted if name not in header]
        faults = [
            fault("corpus-no-column", file=self.shown, column=name, found=list(header))
            for name in absent
            if name in columns
        ]
        faults += [
            fault("corpus-column-twice", file=self.shown, column=name) for name in wanted if header.count(name) > 1
        ]
        if faults:
            raise InvalidInputError(*faults)
        return [name for name in wanted if name in header]

    def _parquet(self, columns: Sequence[str], optional: Sequence[str]) -> Iterator[Row]:
        import duckdb

        with duckdb.connect() as database:
            try:
                yield from self._fetched(database, columns, optional)
            except duckdb.Error:
                raise self._refused("corpus-not-parquet") from None

    def _fetched(
        self,
        database: Any,  # noqa: ANN401  (a duckdb connection)
        columns: Sequence[str],
        optional: Sequence[str],
    ) -> Iterator[Row]:
        where = [as_pattern(self.path)]
        header = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", where).fetchall()
        wanted = self._present([name for name, *_ in header], columns, optional)
        faults = [
            fault("corpus-column-not-text", file=self.shown, column=name, found=kind)
            for name, kind, *_ in header
            if name in wanted and not kind.startswith(("VARCHAR", "ENUM"))
        ]
        if faults:
            raise InvalidInputError(*faults)
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in wanted)
        result = database.execute(f"SELECT {names} FROM read_parquet(?)", where)  # noqa: S608  (names are quoted)
        number = 0
        while batch := result.fetchmany(_BATCH):
            for cells in batch:
                number += 1
                yield number, dict(zip(wanted, cells, strict=True))


def _twice(line: str, columns: Sequence[str]) -> str | None:
    """A wanted key that the object of `line` has more than once: which value is meant, the line does not say."""
    keys: list[str] = []

    def taken(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys[:] = (key for key, _value in pairs)  # the outermost object is the last one to be complete
        return dict(pairs)

    json.loads(line, object_pairs_hook=taken)
    return next((name for name in columns if keys.count(name) > 1), None)
