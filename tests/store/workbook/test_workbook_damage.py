"""Whatever is inside the file: a fault that a person can act on, never a traceback, never a harmed workbook."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workbook_sample import attempt, faults, manifest, parts, rezipped, write

from lab.errors import LabError
from lab.store.workbook import append_attempts, read_workbook

PARTS = (
    "[Content_Types].xml", "_rels/.rels", "xl/_rels/workbook.xml.rels", "xl/workbook.xml", "xl/styles.xml",
    "xl/sharedStrings.xml", "xl/worksheets/sheet2.xml", "xl/worksheets/sheet3.xml", "xl/tables/table1.xml",
    "xl/worksheets/_rels/sheet3.xml.rels",
)  # fmt: skip
PIECES = st.sampled_from(
    [b"", b"<", b"9" * 400, b'"', b"</row>", b'r=""', b"\xff", b"&", b"-1", b"A1:", b"nan", b' t="d"']
)


@settings(max_examples=40)
@given(part=st.sampled_from(PARTS), where=st.floats(0, 1), length=st.integers(0, 12), piece=PIECES)
def test_a_part_changed_anywhere_is_read_or_refused_and_added_to_or_left_alone(
    part: str, where: float, length: int, piece: bytes
) -> None:
    """Bytes replaced at any place of a part, in a zip that is whole: no other error than the product's own."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "campaign.xlsx")
        data = parts(path)[part]
        at = int(where * len(data))
        rezipped(path, {part: data[:at] + piece + data[at + length :]})
        before = path.read_bytes()
        with suppress(LabError):
            read_workbook(path, manifest())
        result = append_attempts(path, [attempt("b4", 9)], "en")
        assert result.fault is None or path.read_bytes() == before
        assert result.written_to.exists()


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/worksheets/sheet3.xml", b't="s"><v>', b't="s"><v>99999'),
        ("xl/worksheets/sheet3.xml", b'<row r="5"', b'<row r="five"'),
        ("xl/worksheets/sheet3.xml", b'<c r="A5"', b'<c r="5A"'),
        ("xl/worksheets/sheet3.xml", b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="A"/></mergeCells>'),
        ("xl/styles.xml", b'numFmtId="', b'numFmtId="x'),
    ],
)
def test_what_is_no_sheet_inside_is_a_damaged_file(tmp_path: Path, part: str, old: bytes, new: bytes) -> None:
    """An index, an address, a range, a format that is none (W4)."""
    path = write(tmp_path / "campaign.xlsx")
    rezipped(path, {part: parts(path)[part].replace(old, new, 1)})
    assert set(faults(path)) == {"workbook-damaged"}
