"""Text of a csv as rows with their lines; a file that ends in the middle is told from one that is wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from lab.errors import InvalidInputError, fault

_LONGEST_CELL = 2**31 - 1  # the csv module's own limit of 131,072 characters would refuse a long note


def csv_rows(text: str, file: str, delimiter: str = ",") -> Iterator[tuple[str, list[str]]]:
    """The rows of a csv by RFC 4180, each with its line, the header first; an empty line is no row.

    A row with another number of cells than the header is the caller's to refuse, unless the file ends within it.

    Raises:
        InvalidInputError: the file is cut off in a row, or its quotation marks make no sense.
    """
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    wanted, place = 0, ""
    held: list[str] = []
    try:
        for cells in rows:
            if held:
                yield place, held
            place, held = f"line {rows.line_num}", cells
            wanted = wanted or len(cells)
    except csv.Error as error:
        slug = "import-cut-off" if "end of data" in str(error) else "import-bad-quotes"
        raise InvalidInputError(fault(slug, file=file, place=f"line {rows.line_num}")) from None
    if held and len(held) < wanted and not text.endswith(("\n", "\r")):
        raise InvalidInputError(fault("import-cut-off", file=file, place=place))
    if held:
        yield place, held
