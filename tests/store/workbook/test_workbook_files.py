"""What the file is decides how it is read; damaged, dangerous and other files are named and never opened (W2-W7)."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from workbook_sample import content, faults, manifest, open_package, parts, rezipped, write

from lab.store.workbook import read_workbook


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The sample, in English."""
    return write(tmp_path / "campaign.xlsx")


@pytest.mark.parametrize(
    ("data", "slug", "found"),
    [
        (b"", "workbook-empty", None),
        (b"field,value\nquestion,why\n", "workbook-other-format", "CSV"),
        ("\ufefffield;value\n".encode(), "workbook-other-format", "CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "workbook-other-format", "Excel 97-2003 (.xls)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "workbook-encrypted", None),
        (b"<html><table></table></html>", "workbook-other-format", "HTML"),
        (b"PK\x03\x04" + bytes(100), "workbook-damaged", None),
        (bytes(range(256)), "workbook-damaged", None),
    ],
)
def test_a_file_of_another_kind_is_named_as_what_it_is(
    tmp_path: Path, data: bytes, slug: str, found: str | None
) -> None:
    """Empty, CSV, old Excel, encrypted, HTML, noise (W4, W5)."""
    path = tmp_path / "campaign.xlsx"
    path.write_bytes(data)
    assert faults(path)[slug].values.get("found") == found or found is None


def test_half_a_file_and_a_flipped_byte_are_damaged(path: Path) -> None:
    """At any place: a clear fault, or the same content where nothing that is read was hit (W4)."""
    data = path.read_bytes()
    held = read_workbook(path, manifest())
    for cut in range(0, len(data) - 1, len(data) // 12):
        path.write_bytes(data[:cut])
        assert set(faults(path)) & {"workbook-empty", "workbook-damaged"}, cut
    for at in range(7, len(data), len(data) // 60):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        found = faults(path)
        assert found or read_workbook(path, manifest()) == held, at


@pytest.mark.parametrize("name", ["~$campaign.xlsx", ".~lock.campaign.xlsx#"])
def test_the_mark_of_an_open_file_is_not_the_workbook(tmp_path: Path, name: str) -> None:
    """What Excel and LibreOffice put beside an open file names the file that is meant (W4)."""
    path = tmp_path / name
    path.write_bytes(bytes(165))
    assert faults(path)["workbook-lock-file"].values["workbook"] == "campaign.xlsx"


@pytest.mark.parametrize(
    ("part", "found"), [("Index/Document.iwa", "Apple Numbers (.numbers)"), ("xl/workbook.bin", "Excel binary (.xlsb)")]
)
def test_other_formats_in_a_zip_are_named(path: Path, part: str, found: str) -> None:
    """Numbers' own files and Excel's binary ones are zips too (W5)."""
    relations = parts(path)["_rels/.rels"].replace(b"xl/workbook.xml", part.encode())
    rezipped(path, {"_rels/.rels": relations, part: b"binary"})
    assert faults(path)["workbook-other-format"].values["found"] == found


def test_xml_entities_are_refused(path: Path) -> None:
    """A document type in any part that is read (W6)."""
    for name in ("xl/workbook.xml", "xl/worksheets/sheet3.xml", "xl/sharedStrings.xml"):
        original = parts(path)[name]
        bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        head, _, rest = original.partition(b"?>")
        rezipped(path, {name: head + b"?>" + bomb + rest})
        assert "workbook-entities" in faults(path), name
        rezipped(path, {name: original})


def test_a_small_file_that_expands_to_hundreds_of_megabytes_is_not_expanded(path: Path) -> None:
    """Refused by the sizes that the archive states, before anything is read (W6)."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/media/image1.png", "w") as entry:
        for _ in range(40):
            entry.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    assert "workbook-expands" in faults(path)


def test_a_style_in_the_last_cell_and_a_fill_on_many_rows_cost_nothing(path: Path) -> None:
    """Only what holds something is kept (W7)."""
    name = "xl/worksheets/sheet3.xml"
    rows = b"".join(b'<row r="%d"><c r="A%d" s="1"/><c r="B%d" s="1"/></row>' % (n, n, n) for n in range(100, 50_000))
    last = b'<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    rezipped(path, {name: parts(path)[name].replace(b"</sheetData>", rows + last + b"</sheetData>")})
    assert read_workbook(path, manifest()).rows == content().rows


def test_a_zip_without_a_workbook_is_no_workbook(tmp_path: Path, path: Path) -> None:
    """A zip is not yet a workbook (W5)."""
    other = tmp_path / "other.xlsx"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    assert "workbook-no-workbook" in faults(other)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    assert faults(other)["workbook-damaged"].values["part"] == "content.xml"
    assert open_package(path).main == "xl/workbook.xml"


def test_a_file_that_is_missing_or_a_folder_is_said(tmp_path: Path) -> None:
    """No traceback for a path that is no file."""
    assert "file-missing" in faults(tmp_path / "campaign.xlsx")
    assert "file-is-a-folder" in faults(tmp_path)
