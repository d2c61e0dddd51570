"""The sheets that explain: `read-me`, one screen; `dictionary`, every field; and the lists behind the drop-downs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.messages import Messages
from lab.model.attempt import OUTCOMES, VERDICTS
from lab.model.protocol import PROTOCOL_FIELDS, REPRODUCIBILITY_TARGETS
from lab.prices import MODEL_CELLS
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.generate_forfaits import zone_table
from lab.store.workbook.page import Frame, Page
from lab.store.workbook.sheet import letters
from lab.store.workbook.styles import LINE, LINK
from lab.store.workbook.tables import TABLES, Filler, TableColumn

_STEPS: tuple[tuple[str, Filler], ...] = (
    ("protocol", "person"), ("forfaits", "person"), ("calendar", "person"), ("raw-results", "tool"),
    ("deliverables", "person"), ("summary", "formula"), ("dictionary", "manifest"),
)  # fmt: skip
_WIDTHS = (5, 18, 30, 88)
_HEADER = 4
_DICTIONARY_WIDTHS = (15, 27, 62, 11, 34, 22)
_LISTS_FIRST = len(_DICTIONARY_WIDTHS) + 2
_DAYS = (3, 7, 30)  # the packages that the product's method names; others come from the catalogue
_CHARACTERS, _LINE = 66, 15
_UNITS = {"threshold": "ratio", "tolerance": "ratio", "repetitions": "count", "required_accepted_passes": "count"}
_CHOSEN = {"metric", "reference_variant"}  # protocol fields with a drop-down of names


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
        look = styles.filled("formula", wrap=True)
        job = words.text(f"readme.job.{name}")
        sheet.set_row(row, 19 if len(job) <= _WIDTHS[3] else 34)
        sheet.write_number(row, 0, number, look)
        link = styles.get(font_color=LINK, underline=1, align="left", indent=1, border=1, border_color=LINE)
        sheet.write_url(row, 1, f"internal:'{name}'!A1", link, name)
        sheet.write_string(row, 2, words.text(f"readme.who.{filler}"), look)
        sheet.write_string(row, 3, job, look)
    row += 2
    sheet.write_string(row, 0, words.text("readme.cells"), styles.section())
    fillers: Sequence[Filler] = ("person", "formula", "tool")
    for filler in fillers:
        row += 1
        sheet.write_blank(row, 0, None, styles.get(border=0))
        sheet.write_string(row, 1, words.text(f"readme.cell.{filler}"), styles.filled(filler))
        sheet.write_string(row, 2, words.text(f"readme.cell.{filler}.meaning"), styles.get(align="left", indent=1))
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
    for place, name, unit, allowed, who in _fields(words):
        label, about = words.text(f"field.{name}.label"), words.text(f"field.{name}.help")
        lines = max(1 + -(-len(about) // _CHARACTERS), -(-len(allowed) // (_DICTIONARY_WIDTHS[4] - 2)))
        sheet.set_row(row, _LINE * lines + 4)
        sheet.write_string(row, 0, place, look)
        sheet.write_string(row, 1, name, look)
        sheet.write_rich_string(row, 2, styles.get(bold=True), label, styles.get(), f"\n{about}", look)
        for number, text in enumerate((unit, allowed, who), start=3):
            sheet.write_string(row, number, text, look)
        row += 1
    sheet.autofilter(_HEADER - 1, 0, row - 1, len(_DICTIONARY_WIDTHS) - 1)
    _lists(page, content, frame)
    sheet.freeze_panes(_HEADER, 2)
    page.prints(_HEADER, (row, len(_DICTIONARY_WIDTHS)))
    page.protect()


def _fields(words: Messages) -> Iterator[tuple[str, str, str, str, str]]:
    """Sheet, field, unit, allowed values and who fills it, for every field of every sheet."""
    for spec in PROTOCOL_FIELDS:
        kind = "choice" if spec.name in _CHOSEN else spec.kind
        unit = words.text(f"unit.{_UNITS[spec.name]}") if spec.name in _UNITS else ""
        allowed = " | ".join(spec.choices) or words.text(f"kind.{kind}")
        yield "protocol", spec.name, unit, allowed, words.text("filler.person")
    for table in TABLES:
        for column in table.columns:
            unit = words.text(f"unit.{column.unit}") if column.unit else ""
            yield table.sheet, column.name, unit, _allowed(column, words), words.text(f"filler.{column.filler}")


def _allowed(column: TableColumn, words: Messages) -> str:
    if column.choices:
        return " | ".join(column.choices)
    if column.kind == "boolean":
        return f"{words.text('word.yes')} | {words.text('word.no')}"
    return words.text(f"kind.{column.kind}")


def _lists(page: Page, content: WorkbookContent, frame: Frame) -> None:
    """The lists that drop-downs take, each a named range; beside them the clock changes of the zone."""
    sheet, words, styles = page.sheet, page.words, page.styles
    gpus = [gpu for _, gpu in frame.variants] + [offer.gpu for offer in content.offers]
    days = {*_DAYS, *(offer.days for offer in content.offers if offer.days)}
    lists: dict[str, Sequence[object]] = {
        "variants": [name for name, _ in frame.variants],
        "corpora": frame.corpora,
        "outcomes": OUTCOMES,
        "verdicts": VERDICTS,
        "yes_no": [words.text("word.yes"), words.text("word.no")],
        "gpus": sorted({gpu for gpu in gpus if gpu}),
        "days": sorted(days),
        "models": tuple(MODEL_CELLS),
        "metrics": frame.metrics,
        "targets": REPRODUCIBILITY_TARGETS,
    }
    sheet.write_string(_HEADER - 3, _LISTS_FIRST - 1, words.text("dictionary.lists"), styles.section())
    for number, (name, values) in enumerate(lists.items()):
        column = _LISTS_FIRST + number
        sheet.set_column(column - 1, column - 1, 18)
        sheet.write_string(_HEADER - 1, column - 1, name, styles.header())
        for index, value in enumerate(values or [None]):
            number_format = "0" if isinstance(value, int) else "@"
            page.put(_HEADER + 1 + index, column, value, styles.filled("tool", number_format))
        last = _HEADER + max(1, len(values))
        page.book.define_name(
            f"list_{name}", f"='{page.name}'!${letters(column)}${_HEADER + 1}:${letters(column)}${last}"
        )
    column = _LISTS_FIRST + len(lists)
    for index, name in enumerate(("zone_from", "zone_ahead")):
        sheet.set_column(column + index - 1, column + index - 1, 18)
        sheet.write_string(_HEADER - 1, column + index - 1, name, styles.header())
    zone_table(page, content, _HEADER + 1, column)
