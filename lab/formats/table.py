"""Any table, csv or workbook, by a mapping file: one run a row.

A csv is text by RFC 4180 with the delimiter that the mapping states; a workbook (xlsx or ods) is read as its cells hold
it, formulas by the result that was saved. Nothing is read from a column that the mapping does not name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from lab.errors import InvalidInputError, fault
from lab.formats.base import Choices, Format, Found, Reading, Source, Unusable, Values
from lab.formats.csv_text import csv_rows
from lab.formats.mapping import TARGETS, UNIT_OF, ColumnMap, TableMap
from lab.model.attempt import OUTCOMES
from lab.model.reason import reason

_BOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # a zip, and the container of xls, which is named when it is refused
_GROUPS = str.maketrans("", "", "\N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}")
_ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!")  # what a formula without a result shows

Row = tuple[str, Mapping[str, object]]  # its place, and its cells by header


def _matches(source: Source) -> bool:
    if source.data.startswith(_BOOKS):
        return True
    return not source.looks_like_json and (b"\n" in source.data or b"\r" in source.data)


def _read(sources: Sequence[Source], choices: Choices) -> Reading:
    source, table = sources[0], choices.table
    if table is None or not (table.columns or table.constants):
        raise InvalidInputError(fault("import-no-map", file=source.name))
    values = Values(source.name, choices.units)
    found = []
    for place, cells in rows_of(source, table):
        stated = {name: cells.get(column.column) for name, column in table.columns.items()}
        if all(_blank(one) for one in stated.values()):
            continue
        found.append(_run(place, stated, table, values, choices))
    values.done()
    if not found:
        raise InvalidInputError(fault("import-no-rows", file=source.name))
    return Reading(tuple(found))


def rows_of(source: Source, table: TableMap) -> Iterator[Row]:
    """The rows under the header, with the columns that the mapping names.

    Raises:
        InvalidInputError: it is no table, a row has another number of cells than the header, or a mapped column is
            not there, or there twice.
    """
    rows: Iterator[tuple[str, Sequence[object]]] = _lines(source, table)
    if source.data.startswith(_BOOKS):
        if source.sheet is None:
            raise InvalidInputError(fault("import-not-a-workbook", file=source.name))
        rows = source.sheet(table.sheet)
    header: list[str] | None = None
    for place, cells in rows:
        if header is None:
            if any(not _blank(one) for one in cells):
                header = [str(one).strip() for one in cells]
                _check_header(source, header, table)
        elif len(cells) == len(header):
            yield place, dict(zip(header, cells, strict=True))
        elif any(not _blank(one) for one in cells):
            raise InvalidInputError(
                fault("import-row-width", file=source.name, place=place, found=len(cells), wanted=len(header))
            )


def _lines(source: Source, table: TableMap) -> Iterator[tuple[str, list[str]]]:
    try:
        text = source.data.decode("utf-8-sig" if table.encoding == "utf-8" else table.encoding)
    except (UnicodeError, LookupError):
        raise InvalidInputError(fault("import-not-text", file=source.name, encoding=table.encoding)) from None
    yield from csv_rows(text, source.name, table.delimiter)


def _check_header(source: Source, header: Sequence[str], table: TableMap) -> None:
    wanted = {one.column for one in table.columns.values()}
    faults = [
        fault("import-no-column", file=source.name, column=name, found=list(header)[:30])
        for name in sorted(wanted)
        if name not in header
    ]
    faults += [
        fault("import-column-twice", file=source.name, column=name) for name in sorted(wanted) if header.count(name) > 1
    ]
    if faults:
        raise InvalidInputError(*faults)


def _run(place: str, stated: Mapping[str, object], table: TableMap, values: Values, choices: Choices) -> Found:
    cells: dict[str, Any] = dict(table.constants)
    for name, value in stated.items():
        if not _blank(value):
            cells[name] = _cell(name, value, place, table, values)
    outcome = cells.get("outcome") or choices.ended
    if outcome is None:
        values.fault("import-end-unknown", place, option="--ended completed")
        outcome = "failed"
    seconds = cells.get("duration_s")
    because = None
    if outcome == "completed" and ("duration_s" in cells or "duration_s" in table.columns) and not seconds:
        outcome, because = "failed", reason("ended.imported.no_time")
    cells |= {"outcome": outcome, "elapsed_s": cells.get("elapsed_s") or seconds}
    if seconds and cells["elapsed_s"] < seconds:
        values.fault("import-elapsed-less", place, elapsed=str(cells["elapsed_s"]), duration=str(seconds))
    if outcome != "completed":
        cells["duration_s"] = None
        because = because or reason("ended.imported.stated", outcome=str(stated.get("outcome") or outcome))
    return Found(place, cells, because=because)


def _cell(name: str, value: object, place: str, table: TableMap, values: Values) -> Any:  # noqa: ANN401  (any column's kind)
    column, kind = table.columns[name], TARGETS[name]
    if isinstance(value, Unusable):
        values.fault("import-cell-error" if value.found else "import-not-calculated", place, found=value.found)
        return None
    if name == "outcome":
        return _outcome(str(value).strip(), column, place, values)
    if kind == "moment":
        return _moment(value, column, place, values)
    if kind == "text":
        return _text(column.values.get(str(value).strip(), value))
    number = plain_number(value, table.decimal)
    if number is None:
        values.fault("import-decimal-point", place, found=str(value)[:60])
    return _number(name, number, column, place, values)


def _number(name: str, value: object, column: ColumnMap, place: str, values: Values) -> float | None:
    unit = UNIT_OF.get(name)
    if unit == "s":
        return values.seconds(value, place, column.unit or "s")
    if unit == "bytes":
        return values.bytes(value, place, column.unit or "B")
    if unit == "J":
        return values.joules(value, place, column.unit or "J")
    return values.whole(value, place) if TARGETS[name] == "integer" else values.number(value, place)


def _outcome(word: str, column: ColumnMap, place: str, values: Values) -> str | None:
    found = column.values.get(word, word)
    if found in OUTCOMES:
        return found
    values.fault("import-unknown-outcome", place, found=word[:60], known=list(OUTCOMES))
    return None


def _moment(value: object, column: ColumnMap, place: str, values: Values) -> str | None:
    """A start with its offset: that of the cell, else the zone that the mapping states; without one it is no moment."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001  (the zone is the mapping's)
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        values.fault("import-not-a-moment", place, found=str(value)[:60])
        return None
    if found.tzinfo is None and column.zone is None:
        values.fault("import-no-zone", place, found=str(value)[:60])
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=column.zone)
        if found.utcoffset() != found.replace(fold=1).utcoffset():  # skipped or repeated when the clocks change
            values.fault("import-clock-change", place, found=str(value)[:60], zone=str(column.zone))
            return None
    start = values.moment(found, place)
    return None if start is None else start.isoformat()


def plain_number(value: object, decimal: str) -> object:
    """A number written with a point, from one with the mapping's decimal sign; what is none stays, to be refused.

    None: a point where decimal commas are declared. It may group thousands, so `1.234` is not to be guessed.
    """
    if not isinstance(value, str) or decimal != ",":
        return value
    return None if "." in value else value.translate(_GROUPS).replace(",", ".")


def _text(value: object) -> str:
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    return str(int(value)) if whole else str(value).strip()  # type: ignore[call-overload]  # a float, by the line before


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and (not value.strip() or value.strip() in _ERRORS))


TABLE = Format("table", "table", _matches, _read)
