"""A large csv of inputs as the database reads it, and whether that is what the strict reader would have read.

The database is lenient where the strict reader is not: it drops spaces beside quotes, blank lines, and a last row whose
quote never closes. Each of these loses bytes, so the bytes of the cells and of what stands between them are added up,
each kind of delimiter and line end for itself, and held against the file: one byte less, and the file is left to the
strict reader. Quotes are left out on both sides, since those around a cell are not told from those within: that each
opens and closes a cell, or is one of two within it, is looked at beforehand.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lab.store.files import reading
from lab.store.stored_inputs import as_pattern

_CHUNK = 1 << 20
_LONGEST_CELL = 8 << 20  # bytes; a longer one is gone over many times
_NO_DELIMITERS = '"\r\n\0\x1f'
_MARK = "\ufeff"


@dataclass(frozen=True)
class Bytes:
    """Bytes of a text in UTF-8 without its quotes; how many of them are delimiters, line feeds and carriage returns.

    `ends` is whether the text ends with a line feed; `quoted`, whether it has quotes.
    """

    size: int
    delimiters: int
    feeds: int
    returns: int
    ends: bool = False
    quoted: bool = False


@dataclass(frozen=True)
class CsvSource:
    """A csv whose header is as declared.

    Attributes:
        rows: what a FROM takes, with the path as its one parameter.
        parameter: that path.
        cells: the expression of each declared column, never null.
        also: the columns `bytes`, `delimiters`, `ends` and `returns`: what `Bytes` counts, of a row's cells.
        width: cells of a row.
        crlf: whether rows end with two bytes.
        file: what is there after the header.
    """

    rows: str
    parameter: str
    cells: tuple[str, ...]
    also: str
    width: int
    crlf: bool
    file: Bytes

    def whole(self, rows: int, cells: Bytes) -> bool:
        """Whether `rows` rows whose cells have these bytes are all that the file holds after its header."""
        ended = rows - (not self.file.ends)
        apart = rows * (self.width - 1)
        returns = ended * self.crlf
        return (self.file.size, self.file.delimiters, self.file.feeds, self.file.returns) == (
            cells.size + apart + ended + returns,
            cells.delimiters + apart,
            cells.feeds + ended,
            cells.returns + returns,
        )


def csv_source(path: Path, columns: Sequence[str], delimiter: str) -> CsvSource | None:
    """The csv as the database is to read it; None when its header or its bytes leave a doubt.

    Args:
        path: a file in UTF-8, with or without its mark.
        columns: what its header must hold, each once; other columns may stand beside them.
        delimiter: between the cells: one ASCII character.
    """
    if len(delimiter) != 1 or delimiter in _NO_DELIMITERS or not delimiter.isascii():
        return None
    with reading(path), path.open("rb") as file:
        first = file.readline(_CHUNK)
        crlf = first.endswith(b"\r\n")
        counted = _counted(file, delimiter.encode(), crlf=crlf)
    header = _header(first, delimiter)
    if counted is None or len(header) == 1 or any(header.count(one) != 1 for one in columns):
        return None
    names = [f"c{place}" for place in range(len(header))]
    kinds = ", ".join(f"'{one}': 'VARCHAR'" for one in names)
    mark = delimiter.replace("'", "''")
    # Stated, its own default `strict_mode` (and `new_line` with it) makes this database read other rows: left unsaid.
    rows = f"""read_csv(?, auto_detect = false, delim = '{mark}', quote = '"', escape = '"', comment = '',
        header = true, parallel = {"false" if counted.quoted else "true"}, columns = {{{kinds}}})"""
    text = f"replace(concat({', '.join(names)}), '\"', '')"
    signs = {"delimiters": f"'{mark}'", "ends": "chr(10)", "returns": "chr(13)"}
    counts = [
        f"(strlen({text}) - strlen(replace({text}, {sign}, '')))::BIGINT AS {name}" for name, sign in signs.items()
    ]
    return CsvSource(
        rows,
        as_pattern(path),
        tuple(f"coalesce(c{header.index(one)}, '')" for one in columns),
        ", ".join([f"strlen({text})::BIGINT AS bytes", *counts]),
        len(header),
        crlf,
        counted,
    )


def _counted(file: BinaryIO, delimiter: bytes, *, crlf: bool) -> Bytes | None:
    """What is left of a file; None where it has a null byte, or a quote that does not open or close a cell."""
    size, quotes, delimiters, feeds, returns, last = 0, 0, 0, 0, 0, b"\n"
    cells = _Cells(delimiter, b"\r\n" if crlf else b"\n")
    while chunk := file.read(_CHUNK):
        if b"\0" in chunk or not cells.take(chunk):
            return None
        size += len(chunk)
        quotes += chunk.count(b'"')
        delimiters += chunk.count(delimiter)
        feeds += chunk.count(b"\n")
        returns += chunk.count(b"\r")
        last = chunk[-1:]
    return Bytes(size - quotes, delimiters, feeds, returns, last == b"\n", quotes > 0) if cells.over() else None


class _Cells:
    """Passes over a csv and tells whether every quote stands where one may."""

    def __init__(self, delimiter: bytes, end: bytes) -> None:
        mark = re.escape(delimiter)
        cell = rb'(?:"(?:[^"]++|"")*+"|[^"\r\n%s]*+)' % mark
        self._whole = re.compile(rb"(?:%s(?:%s|%s))*+" % (cell, mark, end))
        self._last = re.compile(cell)
        self._rest = b""

    def take(self, chunk: bytes) -> bool:
        """Go over the next bytes; False where a quote does not fit, or a cell never ends."""
        text = self._rest + chunk
        found = self._whole.match(text)
        self._rest = text[found.end() :] if found else text
        return len(self._rest) <= _LONGEST_CELL

    def over(self) -> bool:
        """Whether what is left is one cell."""
        return self._last.fullmatch(self._rest) is not None


def _header(first: bytes, delimiter: str) -> list[str]:
    """The cells of a header that is one whole line; none where it is not."""
    try:
        text = first.decode()
        found = list(csv.reader([text.removeprefix(_MARK)], delimiter=delimiter, strict=True))
    except (UnicodeDecodeError, csv.Error):
        return []
    return found[0] if len(found) == 1 and text.endswith("\n") else []
