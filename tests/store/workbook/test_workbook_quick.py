"""The quick reader of a large sheet says what the exact one says, cell by cell and fault by fault."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from workbook_sample import manifest, open_package, parts, rezipped, write

from lab.errors import InvalidInputError
from lab.store.workbook import grid
from lab.store.workbook.book import open_book
from lab.store.workbook.read_tables import TableReader
from lab.store.workbook.read_values import Setting
from lab.store.workbook.sheet import Sheet

SHEET = "xl/worksheets/sheet3.xml"
COLUMNS = ("A", "B", "C", "E", "F", "H", "I", "K", "N", "S", "AB", "AE", "AH", "AI", "AK", "AP", "AQ")
# Attributes and content of a cell: what spreadsheets store for errors, formulas, dates, texts and numbers of any kind.
BODIES = (
    ("", ""), ('t="e"', "<v>#N/A</v>"), ('t="e"', "<f>1/0</f><v>#DIV/0!</v>"), ("", "<f>1+1</f>"),
    ("", "<f>1+1</f><v></v>"), ("", "<f>1+1</f><v>2</v>"), ('t="b"', "<f>TRUE()</f><v>1</v>"), ('t="b"', "<v>0</v>"),
    ('t="str"', "<f>A1</f><v></v>"),
    ('t="str"', "<f>A1&amp;1</f><v> 12.5 </v>"), ("", '<f t="shared" si="0"/><v>3</v>'), ("", '<f t="shared" si="0"/>'),
    ('t="inlineStr"', "<is><t>12 s</t></is>"), ('t="inlineStr"', '<is><t xml:space="preserve"> yes </t></is>'),
    ('t="inlineStr"', '<is><r><t>1,2</t></r><r><t xml:space="preserve">34 </t></r></is>'),
    ('t="inlineStr"', "<is><t>_x0041_&#13;\r\nb</t></is>"), ('t="inlineStr"', "<is><t>&#160;</t></is>"),
    ('t="inlineStr"', "<is><t>2026-11-30T09:00:00</t></is>"), ('t="inlineStr"', "<is><t>[1]</t></is>"),
    ('t="inlineStr"', "<is><t>b1_tickets_r2</t></is>"), ("", "<v>12345678901234567</v>"), ("", "<v>NaN</v>"),
    ("", "<v>1e400</v>"), ("", "<v>-1</v>"), ("", "<v>2.5</v>"), ("", "<v>1E3</v>"), ("", "<v>0</v>"), ("", "<v>1</v>"),
    ('s="DATE"', "<v>46000.5</v>"), ('s="DATE"', "<v>0.25</v>"), ('s="PERCENT"', "<v>0.95</v>"),
    ('t="d"', "<v>2026-01-01T00:00:00</v>"), ('t="s"', "<v>0</v>"), ('t="s"', "<v>3</v>"),
)  # fmt: skip
EMPTY_ROW = b'<row r="10" hidden="1">' + b"".join(b'<c r="%s10"/>' % one.encode() for one in COLUMNS) + b"</row>"
CHANGES = st.lists(st.tuples(st.sampled_from(COLUMNS), st.integers(5, 10), st.sampled_from(BODIES)), max_size=5)


def _changed(sheet: bytes, column: str, row: int, body: tuple[str, str], styles: dict[str, int]) -> bytes:
    attributes = re.sub(r"[A-Z]{4,}", lambda one: str(styles[one[0]]), body[0])
    cell = f'<c r="{column}{row}" {attributes}>{body[1]}</c>'.replace(" >", ">").encode()
    found = re.search(rb'<c r="%s%d"[^>]*?(?:/>|>.*?</c>)' % (column.encode(), row), sheet, re.DOTALL)
    assert found
    return sheet[: found.start()] + cell + sheet[found.end() :]


def _read(sheet: Sheet) -> tuple[object, ...]:
    reader = TableReader(manifest(), Setting("en"), "campaign.xlsx", [], [])
    try:
        rows, cells = reader.attempts(sheet)
    except InvalidInputError as error:
        return error.faults
    return rows, dict(cells), reader.faults, reader.notices


@settings(max_examples=80)
@example([("K", 5, ('t="e"', "<v>#N/A</v>")), ("K", 6, ("", "<f>1+1</f>")), ("A", 7, ('s="DATE"', "<v>46000</v>"))])
@example([("AI", 10, ('t="inlineStr"', "<is><t>yes</t></is>"))])
@given(CHANGES)
def test_both_readers_say_the_same(changes: list[tuple[str, int, tuple[str, str]]]) -> None:
    """Errors, formulas without results, dates, hidden rows ...: values, addresses, faults and notices (C2-C8, W12)."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "campaign.xlsx")
        book = open_book(open_package(path))
        sheet = parts(path)[SHEET].replace(b"</sheetData>", EMPTY_ROW + b"</sheetData>")
        styles = {"DATE": min(book.look.dates), "PERCENT": min(book.look.percents or {0})}
        for change in changes:
            sheet = _changed(sheet, *change, styles)
        book = open_book(open_package(rezipped(path, {SHEET: sheet})))
        quick = grid.begin(book, "raw-results")()
        assert quick.grid is not None
        assert _read(quick) == _read(book.sheet("raw-results"))


def test_a_cell_far_out_is_left_to_the_exact_reader(tmp_path: Path) -> None:
    """A text in the last cell of the sheet would make the quick one hold seventeen billion cells."""
    path = write(tmp_path / "campaign.xlsx")
    cell = b'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row>'
    rezipped(path, {SHEET: parts(path)[SHEET].replace(b"</sheetData>", cell + b"</sheetData>")})
    sheet = grid.begin(open_book(open_package(path)), "raw-results")()
    assert sheet.grid is None
    assert len(sheet.rows) == 9
