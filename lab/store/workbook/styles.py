"""How the workbook looks: one place for fonts, colours, number formats (look-and-feel, "The workbook")."""

from __future__ import annotations

from typing import Any, Literal

from lab.store.workbook.tables import Filler, TableColumn

Format = Any  # xlsxwriter is not annotated
FONT = {"font_name": "Calibri", "font_size": 11}
LINE, QUIET, DARK, LINK = "#D9DDE2", "#565E67", "#1F2933", "#0B5CAD"
# person: pale yellow, blue text. formula: white, black text. tool: pale grey.
_FILLS: dict[Filler, dict[str, str]] = {
    "person": {"bg_color": "#FFF9DB", "font_color": "#0B3FA8"},
    "formula": {"bg_color": "#FFFFFF", "font_color": "#000000"},
    "tool": {"bg_color": "#EEF0F2", "font_color": "#1A1D21"},
    "manifest": {"bg_color": "#EEF0F2", "font_color": "#1A1D21"},
}
_NUMBERS = {"amount": "#,##0.00", "local": "yyyy-mm-dd hh:mm"}
_BY_UNIT = {"s": "#,##0.000", "bytes": "#,##0", "ratio": "0.0000", "J": "#,##0", "h": "#,##0.00", "count": "#,##0"}
_RIGHT = {"integer", "number", "amount"}


class Styles:
    """The formats of one workbook, each made once."""

    def __init__(self, book: Any, yes: str, no: str) -> None:  # noqa: ANN401  (an xlsxwriter workbook)
        """Make formats for `book`; `yes` and `no` are the workbook's words for true and false."""
        # Excel writes a boolean in its own language whatever the format; LibreOffice would write 1.
        self._boolean = f'"{yes}";"{yes}";"{no}"'
        self._book = book
        self._made: dict[tuple[tuple[str, object], ...], Format] = {}

    def get(self, **properties: object) -> Format:
        """The format with these xlsxwriter properties, in the workbook's font."""
        key = tuple(sorted(properties.items()))
        if key not in self._made:
            self._made[key] = self._book.add_format({**FONT, "valign": "top", **properties})
        return self._made[key]

    def header(self) -> Format:
        """A table's header cell."""
        look = {"bold": True, "font_color": "#FFFFFF", "bg_color": DARK, "border": 1, "border_color": DARK, "indent": 1}
        return self.get(**look, text_wrap=True, valign="vcenter")

    def title(self) -> Format:
        """The title of a sheet."""
        return self.get(bold=True, font_size=16, valign="vcenter")

    def section(self) -> Format:
        """The title of one of several tables on a sheet."""
        return self.get(bold=True, font_size=13, valign="vcenter")

    def quiet(self) -> Format:
        """The line of explanation below a title."""
        return self.get(font_color=QUIET)

    def plain(self, *, wrap: bool = True, bold: bool = False) -> Format:
        """Running text."""
        return self.get(text_wrap=wrap, bold=bold)

    def filled(
        self, filler: Filler, number: str = "General", align: Literal["left", "right"] = "left", *, wrap: bool = False
    ) -> Format:
        """A cell by who fills it."""
        look = {"border": 1, "border_color": LINE, "indent": 1}
        return self.get(**_FILLS[filler], **look, num_format=number, align=align, text_wrap=wrap)

    def cell(self, column: TableColumn, filler: Filler | None = None) -> Format:
        """A data cell of a table's column."""
        align: Literal["left", "right"] = "right" if column.kind in _RIGHT else "left"
        wrap = column.kind == "text" and column.filler in {"person", "tool"} and not column.one_line
        return self.filled(filler or column.filler, self._number(column), align, wrap=wrap)

    def below(self, column: TableColumn) -> Format:
        """The column's default, for rows typed below the table: text stays text there too."""
        return self.get(num_format=self._number(column))

    def _number(self, column: TableColumn) -> str:
        return self._boolean if column.kind == "boolean" else number_format(column)


def number_format(column: TableColumn) -> str:
    """The number format of a column that holds no booleans.

    `@` keeps what is typed as text, so that `0012` and `1-4` stay themselves.
    """
    if column.name == "price":
        return "#,##0.00##########"  # an hour of a lot may cost a fraction of a cent
    if column.kind in _NUMBERS:
        return _NUMBERS[column.kind]
    if column.kind == "integer" and column.unit == "h":
        return "#,##0"
    if column.kind in {"integer", "number"}:
        return _BY_UNIT.get(column.unit or "", "0" if column.kind == "integer" else "General")
    return "General" if column.filler == "formula" else "@"
