"""How the workbook looks: one place for fonts, colours, number formats."""

from __future__ import annotations

from typing import Any, Literal

from lab.messages import Messages
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
# What needs a look at once; the cell says it in words too.
_ALARM, _DOUBT, _ASIDE = "#B3261E", "#8A5A00", "#7A828B"
_ALARM_FILL, _DOUBT_FILL = "#FDECEA", "#FFF1D6"
_NUMBERS = {"amount": "#,##0.00", "local": "yyyy-mm-dd hh:mm"}
_BY_UNIT = {"s": "#,##0.000", "ratio": "0.0000", "h": "#,##0.00"}
_BARE = {"s": "0.000", "ratio": "0.0000"}
# Units that stand behind the number, as the language abbreviates them; a count and a ratio have none.
_SHOWN_UNITS = ("s", "h", "gib", "minutes", "days")
_RIGHT = {"integer", "number", "amount"}


class Styles:
    """The formats of one workbook, each made once."""

    def __init__(self, book: Any, words: Messages) -> None:  # noqa: ANN401  (an xlsxwriter workbook)
        """Make formats for `book`; `words` say yes, no and the units behind numbers."""
        # Excel writes a boolean in its own language whatever the format; LibreOffice would write 1.
        yes, no = words.text("word.yes"), words.text("word.no")
        self._boolean = f'"{yes}";"{yes}";"{no}"'
        self._units = {name: words.text(f"unit.short.{name}") for name in _SHOWN_UNITS}
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
        self,
        filler: Filler,
        number: str = "General",
        align: Literal["left", "right"] = "left",
        *,
        wrap: bool = False,
        valign: Literal["top", "vcenter"] = "top",
    ) -> Format:
        """A cell by who fills it; in the middle of its row where rows have one line, so that no text touches a line."""
        # On the right LibreOffice indents some cells and not their neighbours, depending on what it drew before.
        look = {"border": 1, "border_color": LINE, "indent": int(align == "left"), "valign": valign}
        return self.get(**_FILLS[filler], **look, num_format=number, align=align, text_wrap=wrap)

    def cell(self, column: TableColumn, filler: Filler | None = None) -> Format:
        """A data cell of a table's column."""
        align: Literal["left", "right"] = "right" if column.kind in _RIGHT else "left"
        wrap = column.kind == "text" and column.filler in {"person", "tool"} and not column.one_line
        return self.filled(filler or column.filler, self._number(column), align, wrap=wrap, valign="vcenter")

    def below(self, column: TableColumn) -> Format:
        """The column's default, for rows typed below the table: text stays text there too."""
        return self.get(num_format=self._number(column))

    def alarm(self) -> Format:
        """What speaks against a variant or a row: a package that is too short, a rejected attempt."""
        return self._book.add_format({"font_color": _ALARM, "bg_color": _ALARM_FILL, "bold": True})

    def doubt(self) -> Format:
        """What is not known or not told apart."""
        return self._book.add_format({"font_color": _DOUBT, "bg_color": _DOUBT_FILL})

    def aside(self) -> Format:
        """A row that stays and does not count."""
        return self._book.add_format({"font_color": _ASIDE, "italic": True})

    def _number(self, column: TableColumn) -> str:
        return self._boolean if column.kind == "boolean" else self.number_format(column)

    def number_format(self, column: TableColumn) -> str:
        """The number format of a column that holds no booleans, with its unit.

        `@` keeps what is typed as text, so that `0012` and `1-4` stay themselves.
        """
        if column.name == "price":
            return "#,##0.00##########"  # an hour of a lot may cost a fraction of a cent
        if column.kind in _NUMBERS:
            return _NUMBERS[column.kind]
        if column.kind in {"integer", "number"}:
            if column.bare:
                return _BARE.get(column.unit or "", "0" if column.kind == "integer" else "General")
            unit = self._units.get(column.unit or "")
            whole = "#,##0" if column.unit else "0"
            digits = whole if column.kind == "integer" else _BY_UNIT.get(column.unit or "", "General")
            return f'{digits}" {unit}"' if unit else digits
        return "General" if column.filler == "formula" else "@"
