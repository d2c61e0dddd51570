"""One sheet being generated: titles, tables with their notes and drop-downs, and how it prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from lab.messages import Messages
from lab.store.workbook.cell_text import fitted
from lab.store.workbook.content import SheetName
from lab.store.workbook.sheet import letters
from lab.store.workbook.sheets import marker
from lab.store.workbook.styles import Styles
from lab.store.workbook.tables import Table, TableColumn

GROWS_TO = 20_000  # rows for which drop-downs and formulas are ready
HEADER_HEIGHT = 33
_NOTE_WIDTH, _NOTE_LINE, _NOTE_CHARACTERS = 300, 17, 44
_GROW_ELSEWHERE = {"gpus", "days", "variants", "corpora", "attempts"}  # lists that only warn; the others stop
_YEAR_2020 = 43_831  # the first day that a task may have, as sheets count days
_LINE, _MOST_LINES = 15, 12
_LONGEST_PROMPT, _LONGEST_PROMPT_TITLE = 250, 31  # what spreadsheets show of a prompt

Values = Mapping[str, object]


@dataclass(frozen=True)
class Formula:
    """A cell's formula with the value it has now; braces make it an array formula."""

    text: str
    value: object


@dataclass(frozen=True)
class Mark:
    """A condition on the cells of a row, and the look of what it holds for."""

    holds: str
    look: Any


@dataclass(frozen=True)
class Frame:
    """What the sheets are made for: language, campaign, and the names that lists and rows offer."""

    language: str
    name: str | None
    variants: tuple[tuple[str, str | None], ...]
    corpora: tuple[str, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    own_metrics: bool


class Page:
    """A worksheet and the words and styles it is made with; rows and columns count from 1, as people count."""

    def __init__(self, book: Any, name: SheetName, words: Messages, styles: Styles, *, lists: bool = True) -> None:  # noqa: ANN401  (xlsxwriter)
        """Add the sheet `name` to `book`; `lists`: the lists that drop-downs take are in it too."""
        self.book, self.name, self.styles, self.words, self.lists = book, name, styles, words, lists
        self.sheet = book.add_worksheet(name)
        self._widths: dict[int, int] = {}  # column -> characters
        # By this name the sheet is found again when it is renamed; it is hidden from people.
        self.book.defined_names.append([marker(name), -1, f"'{name}'!$A$1", True])
        self.sheet.hide_gridlines(2)
        self.sheet.set_comments_author("GPU Decision Lab")

    def title(self, key: str, *, about_in: int = 1) -> None:
        """Title and the sentence below it, in column `about_in`: texts `sheet.<key>.title` and `sheet.<key>.about`."""
        self.sheet.set_row(0, 26)
        self.sheet.write_string(0, 0, self.words.text(f"sheet.{key}.title"), self.styles.title())
        self.sheet.write_string(1, about_in - 1, self.words.text(f"sheet.{key}.about"), self.styles.quiet())

    def section(self, row: int, key: str) -> None:
        """The title of one table among several, in the margin column, and the sentence below it."""
        self.sheet.set_row(row - 1, 21)
        self.sheet.write_string(row - 1, 0, self.words.text(f"sheet.{key}.title"), self.styles.section())
        self.sheet.write_string(row, 0, self.words.text(f"sheet.{key}.about"), self.styles.quiet())

    def table(self, table: Table, row: int, column: int, rows: Sequence[Values], *, spare: int | None = None) -> int:
        """A table with its header in `row`; its values, then empty rows; gives the last row."""
        empty = table.spare if spare is None else spare
        last = row + max(1, len(rows) + empty)
        self.sheet.set_row(row - 1, HEADER_HEIGHT)
        header = self.styles.header()
        columns = [{"header": name, "header_format": header} for name in table.names]
        self.sheet.add_table(
            row - 1,
            column - 1,
            last - 1,
            column + len(table.columns) - 2,
            {"name": table.name, "style": None, "columns": columns},
        )
        for number, one in enumerate(table.columns):
            at = column + number
            self.note(row, at, one.name)
            for index in range(last - row):
                value = rows[index].get(one.name) if index < len(rows) else None
                self.value(row + 1 + index, at, one, value)
        for index, values in enumerate(rows):
            widths = {one.name: self._widths.get(at, one.width) for at, one in enumerate(table.columns, start=column)}
            height = row_height(table, values, widths)
            if height is not None:
                self.sheet.set_row(row + index, height)
        return last

    def value(self, row: int, column: int, spec: TableColumn, value: object, look: Any = None) -> None:  # noqa: ANN401  (xlsxwriter)
        """One data cell; None is an empty one."""
        self.put(row, column, value, self.styles.cell(spec) if look is None else look)

    def put(self, row: int, column: int, value: object, look: Any) -> None:  # noqa: ANN401  (xlsxwriter)
        """One cell of whatever type; text is never read as a formula, a link or a number."""
        at, sheet = (row - 1, column - 1), self.sheet
        if isinstance(value, Formula):
            cached = float(value.value) if isinstance(value.value, Decimal) else serial(value.value)
            if value.text.startswith("{"):
                sheet.write_array_formula(*at, *at, value.text, look, cached)
            else:
                sheet.write_formula(*at, value.text, look, cached)
        elif value is None or (isinstance(value, float) and not math.isfinite(value)):
            sheet.write_blank(*at, None, look)
        elif isinstance(value, bool):
            sheet.write_boolean(*at, value, look)
        elif isinstance(value, int | float | Decimal):
            sheet.write_number(*at, float(value) if isinstance(value, Decimal) else value, look)
        elif isinstance(value, datetime):
            sheet.write_datetime(*at, value.replace(tzinfo=None), look)
        else:
            sheet.write_string(*at, fitted(str(value), self.words.text("cell.cut"))[0], look)

    def note(self, row: int, column: int, name: str) -> None:
        """The note of a header cell: label and help of its field. Notes show on hover and do not print."""
        text = f"{self.words.text(f'field.{name}.label')}\n{self.words.text(f'field.{name}.help')}"
        lines = sum(math.ceil(len(part) / _NOTE_CHARACTERS) for part in text.split("\n")) + 1
        size = {"width": _NOTE_WIDTH, "height": _NOTE_LINE * lines}
        self.sheet.write_comment(row - 1, column - 1, text, {**size, "font_name": "Calibri", "font_size": 10})

    def widths(self, table: Table, column: int, *, typed_below: bool = False) -> None:
        """Column widths; `typed_below`: rows typed below the table keep text as text."""
        for number, one in enumerate(table.columns, start=column - 1):
            self.sheet.set_column(number, number, one.width, self.styles.below(one) if typed_below else None)
            self._widths[number + 1] = one.width

    def columns_named(self, table: Table, row: int, column: int, names: Mapping[str, str], last: int) -> None:
        """Define workbook names over columns of a table, from its first data row on: name -> field."""
        for name, wanted in names.items():
            at = letters(column + table.names.index(wanted))
            self.book.define_name(name, f"='{self.name}'!${at}${row + 1}:${at}${last}")

    def checks(self, table: Table, row: int, column: int, last: int) -> None:
        """Drop-downs, ranges and prompts of a table's columns, for rows down to `last`."""
        if not self.lists:
            return
        for number, one in enumerate(table.columns):
            rule = self.rule(one, row + 1, column + number)
            if rule is not None:
                at = column + number - 1
                self.sheet.data_validation(row, at, last - 1, at, rule)

    def highlight(self, table: Table, row: int, column: int, last: int, marks: Mapping[str, Sequence[Mark]]) -> None:
        """Colour cells that already say it in words: field -> conditions on its own cell, the first that holds.

        A field written `*` means the whole row. In a condition `{name}` is the cell of the field `name` in the row.
        """
        cells = {name: f"${letters(column + place)}{row}" for place, name in enumerate(table.names)}
        for name, conditions in marks.items():
            first = column if name == "*" else column + table.names.index(name)
            end = column + len(table.columns) - 1 if name == "*" else first
            for one in conditions:
                rule = {"type": "formula", "criteria": "=" + one.holds.format(**cells), "format": one.look}
                self.sheet.conditional_format(row - 1, first - 1, last - 1, end - 1, {**rule, "stop_if_true": True})

    def rule(self, column: TableColumn, row: int, at: int) -> dict[str, object] | None:
        """The validation of a column: its list, its range, or that it is a date; a prompt where anything may stand.

        `row` and `at` are the first cell that it holds for. None: nobody types there.
        """
        if column.filler == "formula":
            return None
        rule: dict[str, object]
        if column.values is not None:
            rule = {"validate": "list", "source": f"=list_{column.values}"}
        elif column.kind in {"integer", "number", "amount"} and column.least is not None:
            whole = column.kind == "integer"
            rule = {"validate": "integer" if whole else "decimal", "criteria": ">=", "value": column.least}
        elif column.kind == "local":
            rule = {"validate": "custom", "value": self._local_rule(column, row, at)}
        elif column.name == "currency":
            rule = {"validate": "length", "criteria": "==", "value": 3}
        elif column.filler == "person":
            rule = {"validate": "any"}
        else:
            return None
        rule["error_type"] = "warning" if column.values in _GROW_ELSEWHERE else "stop"
        return {**rule, **self.prompt(column.name)}

    def _local_rule(self, column: TableColumn, row: int, at: int) -> str:
        """A date and time, never text, with which no formula counts; an end after the start beside it."""
        cell, before = f"{letters(at)}{row}", f"{letters(at - 1)}{row}"
        after = f"IF(ISNUMBER({before}),{cell}>{before},TRUE)" if column.name == "end" else "TRUE"
        return f"=AND(ISNUMBER({cell}),{cell}>={_YEAR_2020},{after})"

    def prompt(self, name: str) -> dict[str, object]:
        """Prompt and error message of a field, in the workbook's language, no longer than spreadsheets show."""
        words = self.words
        label = words.text(f"field.{name}.label")
        wanted = words.text("cell.wanted", example=words.text(f"field.{name}.example"))
        return {
            "input_title": _cut(label, _LONGEST_PROMPT_TITLE),
            "input_message": _cut(f"{words.text(f'field.{name}.help')}", _LONGEST_PROMPT),
            "error_title": _cut(label, _LONGEST_PROMPT_TITLE),
            "error_message": _cut(wanted, _LONGEST_PROMPT),
        }

    def prints_parts(self, parts: Sequence[tuple[int, int, int, int]]) -> None:
        """Print several ranges (first row, first column, last row, last column), each from a page of its own.

        A sheet that is too wide for one page stays readable so: all ranges share the scale of the widest.
        """
        named = ",".join(
            f"'{self.name}'!${letters(left)}${top}:${letters(right)}${bottom}" for top, left, bottom, right in parts
        )
        self.book.define_name(f"'{self.name}'!_xlnm.Print_Area", f"={named}")

    def prints(self, header: int | None, last: tuple[int, int] | None) -> None:
        """A4 landscape, fitted to the width, the header row repeated, page numbers in the footer.

        `last` is the last row and column that print. None: all there is, for a table that grows by appended rows and
        takes several pages side by side; each of them names the sheet then.
        """
        sheet = self.sheet
        sheet.set_paper(9)
        sheet.set_landscape()
        sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        sheet.fit_to_pages(1, 0)
        if last is not None:
            sheet.print_area(0, 0, last[0] - 1, last[1] - 1)
        if header is not None:
            sheet.repeat_rows(header - 1)
        if last is None:
            sheet.set_header(f"&R&8{self.words.text(f'sheet.{self.name}.title')}")
        sheet.set_footer("&L&8&A&R&8&P / &N")

    def protect(self) -> None:
        """Protect against slips, without a password; filters, widths and selection stay free."""
        self.sheet.protect("", {"autofilter": True, "format_columns": True, "format_rows": True})


def row_height(table: Table, values: Values, widths: Mapping[str, int]) -> int | None:
    """Room in points for the longest wrapped text of a row, since not every program fits heights; None: one line."""
    lines = 1
    for one in table.columns:
        if one.kind == "text" and one.filler != "formula" and not one.one_line:
            lines = max(lines, math.ceil(len(str(values.get(one.name) or "")) / (widths[one.name] - 3)))
    return _LINE * min(lines, _MOST_LINES) if lines > 1 else None


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def serial(value: object) -> object:
    """A moment as the number a sheet stores for it; anything else as it is."""
    if not isinstance(value, datetime):
        return value
    start = datetime(1899, 12, 30)  # noqa: DTZ001  (a sheet knows no zone)
    return (value.replace(tzinfo=None) - start).total_seconds() / 86_400
