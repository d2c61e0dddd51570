"""The sheets that explain: `read-me`, one screen; `dictionary`, every field; and the lists behind the drop-downs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.field_entries import field_entries
from lab.store.workbook.lists import list_header, named_lists
from lab.store.workbook.page import Frame, Page
from lab.store.workbook.sheet import letters
from lab.store.workbook.styles import LINE, LINK, QUIET
from lab.store.workbook.tables import Filler

_STEPS: tuple[tuple[str, Filler], ...] = (
    ("protocol", "person"), ("forfaits", "person"), ("calendar", "person"), ("raw-results", "tool"),
    ("deliverables", "person"), ("summary", "formula"), ("dictionary", "manifest"),
)  # fmt: skip
_WIDTHS = (5, 18, 30, 88)
_HEADER = 4
_DICTIONARY_WIDTHS = (15, 27, 62, 11, 34, 22)
_LISTS_FIRST = len(_DICTIONARY_WIDTHS) + 2
_LIST_NUMBERS = {int: "0", float: "0.00", datetime: "yyyy-mm-dd hh:mm"}
_CHARACTERS, _LINE = 66, 15


def read_me_sheet(page: Page, frame: Frame) -> None:
    """What this is, who fills which sheet in which order, the three kinds of cells, whom to send it to."""
    sheet, words, styles = page.sheet, page.words, page.styles
    for number, width in enumerate(_WIDTHS):
        sheet.set_column(number, number, width)
    sheet.set_row(0, 26)
    title = words.text("book.title") if frame.name is None else words.text("readme.title", name=frame.name)
    sheet.write_string(0, 0, title, styles.title())
    row = 1
    for key in ("readme.what", "readme.how"):
        sheet.merge_range(row, 0, row, len(_WIDTHS) - 1, words.text(key), styles.plain())
        sheet.set_row(row, 20 if len(words.text(key)) <= sum(_WIDTHS) else 34)
        row += 1
    row += 1
    headers = ("", words.text("readme.sheet"), words.text("readme.who"), words.text("readme.job"))
    for number, text in enumerate(headers):
        sheet.write_string(row, number, text, styles.header())
    for number, (name, filler) in enumerate(_STEPS, start=1):
        row += 1
        look = styles.filled("formula", wrap=True, valign="vcenter")
        job = words.text(f"readme.job.{name}")
        sheet.set_row(row, 19 if len(job) <= _WIDTHS[3] else 34)
        sheet.write_number(row, 0, number, look)
        link = styles.get(
            font_color=LINK, underline=1, align="left", valign="vcenter", indent=1, border=1, border_color=LINE
        )
        sheet.write_url(row, 1, f"internal:'{name}'!A1", link, name)
        sheet.write_string(row, 2, words.text(f"readme.who.{filler}"), look)
        sheet.write_string(row, 3, job, look)
    row += 2
    sheet.write_string(row, 0, words.text("readme.cells"), styles.section())
    fillers: Sequence[Filler] = ("person", "formula", "tool")
    for filler in fillers:
        row += 1
        sheet.write_blank(row, 0, None, styles.get(border=0))
        sheet.write_string(row, 1, words.text(f"readme.cell.{filler}"), styles.filled(filler, valign="vcenter"))
        sheet.write_string(
            row, 2, words.text(f"readme.cell.{filler}.meaning"), styles.get(align="left", valign="vcenter", indent=1)
        )
    row += 1
    sheet.write_string(row, 2, words.text("readme.colours"), styles.get(align="left", indent=1, font_color=QUIET))
    row += 2
    sheet.write_string(row, 0, words.text("readme.send"), styles.section())
    sheet.merge_range(row + 1, 0, row + 1, len(_WIDTHS) - 1, words.text("readme.send.text"), styles.plain())
    sheet.set_row(row + 1, 33)
    page.prints(None, (row + 2, len(_WIDTHS)))
    page.protect()


def dictionary_sheet(page: Page, content: WorkbookContent, frame: Frame) -> None:
    """Every field: where it stands, what it means, unit, allowed values, who fills it; then the lists."""
    page.title("dictionary")
    sheet, styles, words = page.sheet, page.styles, page.words
    for number, width in enumerate(_DICTIONARY_WIDTHS):
        sheet.set_column(number, number, width)
    for number, key in enumerate(("sheet", "field", "meaning", "unit", "allowed", "who")):
        sheet.write_string(_HEADER - 1, number, words.text(f"dictionary.{key}"), styles.header())
    sheet.set_row(_HEADER - 1, 24)
    row = _HEADER
    look = styles.filled("formula", wrap=True)
    for one in field_entries(words):
        lines = max(1 + -(-len(one.meaning) // _CHARACTERS), -(-len(one.allowed) // (_DICTIONARY_WIDTHS[4] - 2)))
        sheet.set_row(row, _LINE * lines + 4)
        sheet.write_string(row, 0, one.sheet, look)
        sheet.write_string(row, 1, one.name, look)
        sheet.write_rich_string(row, 2, styles.get(bold=True), one.label, styles.get(), f"\n{one.meaning}", look)
        for number, text in enumerate((one.unit, one.allowed, one.who), start=3):
            sheet.write_string(row, number, text, look)
        row += 1
    sheet.autofilter(_HEADER - 1, 0, row - 1, len(_DICTIONARY_WIDTHS) - 1)
    _lists(page, content, frame)
    sheet.freeze_panes(_HEADER, 2)
    page.prints(_HEADER, (row, len(_DICTIONARY_WIDTHS)))
    page.protect()


def _lists(page: Page, content: WorkbookContent, frame: Frame) -> None:
    sheet, styles = page.sheet, page.styles
    sheet.write_string(_HEADER - 3, _LISTS_FIRST - 1, page.words.text("dictionary.lists"), styles.section())
    for column, (name, values) in enumerate(named_lists(content, frame, page.words).items(), start=_LISTS_FIRST):
        sheet.set_column(column - 1, column - 1, 18)
        sheet.write_string(_HEADER - 1, column - 1, list_header(name), styles.header())
        for index, value in enumerate(values or [None]):
            page.put(_HEADER + 1 + index, column, value, styles.filled("tool", _LIST_NUMBERS.get(type(value), "@")))
        last = _HEADER + max(1, len(values))
        page.book.define_name(name, f"='{page.name}'!${letters(column)}${_HEADER + 1}:${letters(column)}${last}")
