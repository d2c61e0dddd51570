"""What people put into the workbook is there after an append, byte for byte, whatever it is (W1, W7)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.drawing.image import Image
from openpyxl.workbook import Workbook
from PIL import Image as Picture
from workbook_sample import attempt, attempts, content, edited, manifest, open_package, parts, rezipped, write

from lab.model.catalogue import Deliverable
from lab.store.workbook import append_attempts, append_deliverables, read_workbook
from lab.store.workbook.zip_copy import NotPlainError, replaced

NEW = attempt("b4", 2, notes="+1+1")
SHEET = "xl/worksheets/sheet3.xml"
_X14 = b'xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"'
_XM = b'xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"'
EXTENSIONS = b"".join(
    (
        b'<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}" ' + _X14 + b" " + _XM + b">",
        b'<x14:dataValidations count="1"><x14:dataValidation type="list" allowBlank="1"><x14:formula1>',
        b"<xm:f>dictionary!$A$5:$A$9</xm:f></x14:formula1><xm:sqref>AR5:AR99</xm:sqref></x14:dataValidation>",
        b'</x14:dataValidations></ext><ext uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}" ' + _X14 + b" " + _XM + b">",
        b"<x14:sparklineGroups><x14:sparklineGroup><x14:sparklines><x14:sparkline><xm:f>K5:K9</xm:f>",
        b"<xm:sqref>AS5</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext>",
        b'<ext uri="{3A4CF648-6AED-40f4-86FF-DC5316D8AED3}" ' + _X14 + b"><x14:slicerList>",
        b'<x14:slicer xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId901"/>',
        b"</x14:slicerList></ext></extLst>",
    )
)
# A slicer, a pivot table with its cache, a thread of comments with the people in it: parts that no library here writes.
PARTS = {
    "xl/slicers/slicer1.xml": b'<slicers xmlns="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"/>',
    "xl/slicerCaches/slicerCache1.xml": b'<slicerCacheDefinition name="Slicer_variant" sourceName="variant"/>',
    "xl/pivotTables/pivotTable1.xml": b'<pivotTableDefinition name="PivotTable1" cacheId="1"/>',
    "xl/pivotCache/pivotCacheDefinition1.xml": b'<pivotCacheDefinition refreshedBy="Anna"/>',
    "xl/pivotCache/pivotCacheRecords1.xml": b'<pivotCacheRecords count="0"/>',
    "xl/threadedComments/threadedComment1.xml": b'<ThreadedComments><threadedComment ref="K5"/></ThreadedComments>',
    "xl/persons/person.xml": b'<personList><person displayName="Anna"/></personList>',
    "customXml/item1.xml": b"<mine>kept</mine>",
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The sample, in English."""
    return write(tmp_path / "campaign.xlsx")


def _with_pictures(book: Workbook) -> None:
    own = book.create_sheet("my own")
    own["A1"] = "mine"
    sheet = book["raw-results"]
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=11, min_row=4, max_row=9))
    sheet.add_chart(chart, "C30")
    picture = io.BytesIO()
    Picture.new("RGB", (8, 8), "navy").save(picture, "png")
    sheet.add_image(Image(picture), "E30")


def raw_entries(path: Path) -> dict[str, bytes]:
    """Each entry as it lies in the file, local header and compressed data."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entries = sorted(archive.infolist(), key=lambda one: one.header_offset)
        ends = [*(one.header_offset for one in entries[1:]), archive.start_dir]
    return {one.filename: data[one.header_offset : end] for one, end in zip(entries, ends, strict=True)}


def test_whatever_a_workbook_holds_is_there_after_an_append(path: Path) -> None:
    """Chart, image, slicer, sparkline, pivot table, comments, x14 drop-down: every other part as it lay (W1)."""
    edited(path, _with_pictures)
    sheet = parts(path)[SHEET]
    relations = parts(path)["xl/worksheets/_rels/sheet3.xml.rels"].replace(
        b"</Relationships>",
        b'<Relationship Id="rId901" Type="http://schemas.microsoft.com/office/2007/relationships/slicer" '
        b'Target="../slicers/slicer1.xml"/><Relationship Id="rId902" Target="../pivotTables/pivotTable1.xml" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/pivotTable"/></Relationships>',
    )
    extended = sheet.replace(b"</worksheet>", EXTENSIONS + b"</worksheet>")
    rezipped(path, {SHEET: extended, "xl/worksheets/_rels/sheet3.xml.rels": relations, **PARTS})
    before, raw, old = parts(path), raw_entries(path), path.read_bytes()
    assert append_attempts(path, [NEW], "en").fault is None
    after, lying = parts(path), raw_entries(path)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {SHEET, "xl/tables/table1.xml"}
    assert {name for name in raw if raw[name] != lying[name]} == changed
    assert {"xl/charts/chart1.xml", "xl/media/image1.png", *PARTS} <= set(after)
    # The sheet's own part: the new row stands between bytes that are the old ones.
    start, end = after[SHEET].index(b'<row r="10"'), after[SHEET].index(b"</sheetData>")
    without = (after[SHEET][:start] + after[SHEET][end:]).replace(b"A1:AQ10", b"A1:AQ9", 1)
    assert without == before[SHEET]
    assert path.with_name("campaign.backup.xlsx").read_bytes() == old
    assert read_workbook(path, manifest()).rows == (*attempts(), NEW)
    assert "my own" in load_workbook(path, read_only=True).sheetnames


@pytest.mark.parametrize("typed", ['=HYPERLINK("http://x")', "+1+1", "-1", "@SUM(A1)", "\t=1+1", "=cmd|' /C calc'!A0"])
def test_what_looks_like_a_formula_stays_text(path: Path, typed: str) -> None:
    """In the file as text, whatever it begins with (C1)."""
    append_attempts(path, [attempt("b4", 2, notes=typed)], "en")
    cell = load_workbook(path)["raw-results"]["AQ10"]
    assert (cell.value, cell.data_type) == (typed, "s")
    assert read_workbook(path, manifest()).rows[-1].notes == typed.strip()


def _streamed(path: Path) -> None:
    """As programs write that cannot go back: sizes after the data, and a comment at the end."""

    class OneWay(io.RawIOBase):
        """A file that cannot seek."""

        def __init__(self) -> None:
            self.held = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.held += bytes(data)  # type: ignore[call-overload]  (a buffer)
            return len(bytes(data))  # type: ignore[call-overload]  (a buffer)

    held, file = parts(path), OneWay()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"kept"
        for name, data in held.items():
            archive.writestr(name, data)
    path.write_bytes(bytes(file.held))


def _large_form(path: Path) -> None:
    """Local headers in the form for files beyond 4 GB, as some programs write them always."""
    held = parts(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            with archive.open(name, "w", force_zip64=True) as entry:
                entry.write(data)


def _stored(path: Path) -> None:
    """Nothing compressed."""
    held = parts(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in held.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("form", [_streamed, _large_form, _stored])
def test_every_form_of_zip_is_copied_as_it_lies(path: Path, form: Callable[[Path], None]) -> None:
    """Sizes after the data, 64-bit local headers, entries that are not compressed."""
    form(path)
    raw = raw_entries(path)
    assert append_attempts(path, [NEW], "en").fault is None
    lying = raw_entries(path)
    assert {name for name in raw if raw[name] != lying[name]} == {SHEET, "xl/tables/table1.xml"}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.comment == (b"kept" if form is _streamed else b"")
    assert read_workbook(path, manifest()).rows == (*attempts(), NEW)


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"#!/bin/sh\n" + data,
        lambda data: data + b"more",
        lambda data: data.replace(b"PK\x01\x02", b"PK\x01\x03", 1),
        lambda data: data[: data.rfind(b"PK\x05\x06")],
    ],
)
def test_a_zip_of_another_form_is_not_copied(path: Path, harm: Callable[[bytes], bytes]) -> None:
    """Bytes in front or behind, a broken directory, none: nothing is made of it."""
    package = open_package(path)
    other = type(package)(package.shown, harm(package.data), package.archive, package.main)
    with pytest.raises(NotPlainError):
        replaced(other, {})


def test_a_million_styled_empty_rows_are_no_rows(path: Path) -> None:
    """They are read past, and the next attempt takes the first of them (W7)."""
    rows = b"".join(b'<row r="%d"><c r="A%d" s="1"/></row>' % (n, n) for n in range(10, 1_000_010))
    rezipped(path, {SHEET: parts(path)[SHEET].replace(b"</sheetData>", rows + b"</sheetData>")})
    assert append_attempts(path, [NEW], "en").fault is None
    assert read_workbook(path, manifest()).rows == (*attempts(), NEW)
    assert b'<row r="10"><c r="A10" s="1" t="inlineStr">' in parts(path)[SHEET]


def test_a_formula_that_other_cells_share_is_not_written_over(path: Path) -> None:
    """The one that holds it for all of them must stay: the file is left alone."""

    def shared(held: dict[str, bytes]) -> bytes:
        row = b'<c r="A8" t="str"><f t="shared" ref="A8:A9" si="0">B8</f><v></v></c>'
        sheet = held["xl/worksheets/sheet4.xml"]
        return sheet.replace(sheet[sheet.index(b'<c r="A8"') : sheet.index(b'<c r="B8"')], row)

    rezipped(path, {"xl/worksheets/sheet4.xml": shared(parts(path))})
    before = path.read_bytes()
    result = append_deliverables(path, [Deliverable("archive", "b4")], "en")
    assert result.fault is not None
    assert (result.fault.slug, path.read_bytes()) == ("append-formula-in-cell", before)
    assert read_workbook(path, manifest()).rows == content().rows
