"""Workbooks as other programs write them: real LibreOffice elsewhere; here what could not be run, by its structure.

Each function says whose structure it reproduces and what of it; the files are made from the sample's own parts.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

from workbook_sample import parts

SHEET, BOOK, RELATIONS, TEXTS = (
    "xl/worksheets/sheet3.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml",
)  # fmt: skip
Parts = dict[str, bytes]


def rewritten(path: Path, change: Callable[[Parts], Parts]) -> Path:
    """The file with its parts changed by `change`; parts that it leaves out are gone."""
    held = change(parts(path))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return path


def renamed(held: Parts, old: str, new: str) -> Parts:
    """As Excel renames a sheet: its name, and every reference that the main part makes to it."""
    quoted = new.replace("'", "''").encode()
    book = held[BOOK].replace(f'<sheet name="{old}"'.encode(), f'<sheet name="{new}"'.encode())
    return {**held, BOOK: book.replace(f"'{old}'!".encode(), b"'" + quoted + b"'!")}


def reordered(held: Parts) -> Parts:
    """The sheets in the opposite order, which renumbers what names refer to by number."""
    sheets = re.findall(rb"<sheet [^>]*/>", held[BOOK])
    last = len(sheets) - 1
    book = held[BOOK].replace(b"".join(sheets), b"".join(reversed(sheets)))
    number = re.compile(rb'localSheetId="(\d+)"')
    return {**held, BOOK: number.sub(lambda one: b'localSheetId="%d"' % (last - int(one[1])), book)}


def strict(held: Parts) -> Parts:
    """Excel's "Strict Open XML Spreadsheet": the ISO namespaces, for relations too."""
    pairs = (
        (b"schemas.openxmlformats.org/spreadsheetml/2006/main", b"purl.oclc.org/ooxml/spreadsheetml/main"),
        (b"schemas.openxmlformats.org/officeDocument/2006/rel", b"purl.oclc.org/ooxml/officeDocument/rel"),
    )  # fmt: skip
    made = dict(held)
    for old, new in pairs:
        made = {name: data.replace(old, new) for name, data in made.items()}
    return made


def google_sheets(held: Parts) -> Parts:
    """Google Sheets: no tables, no properties, no calculation mark; heights on rows; a thousand styled empty rows."""
    made = {
        name: re.sub(rb"<tableParts.*</tableParts>", b"", data) if name.startswith("xl/worksheets/sheet") else data
        for name, data in held.items()
        if not name.startswith(("docProps/", "xl/tables/"))
    }
    for name in [one for one in made if one.startswith("xl/worksheets/_rels/")]:
        made[name] = re.sub(rb'<Relationship [^>]*/table"[^>]*/>', b"", made[name])
    made["_rels/.rels"] = re.sub(rb"<Relationship [^>]*docProps[^>]*/>", b"", made["_rels/.rels"])
    types = re.sub(rb'<Override PartName="/(?:docProps|xl/tables)/[^>]*/>', b"", made["[Content_Types].xml"])
    made["[Content_Types].xml"] = types
    made[BOOK] = re.sub(rb"<calcPr[^>]*/>", b"", made[BOOK])
    sheet = re.sub(rb'(<row r="\d+")[^>]*?(/?>)', rb'\1 ht="15.75" customHeight="1"\2', made[SHEET])
    last = max(int(one) for one in re.findall(rb'<row r="(\d+)"', sheet))
    empty = b"".join(
        b'<row r="%d" ht="15.75" customHeight="1"><c r="A%d" s="1"/></row>' % (n, n) for n in range(last + 1, 1000)
    )
    made[SHEET] = sheet.replace(b"</sheetData>", empty + b"</sheetData>")
    return made


def wps(held: Parts) -> Parts:
    """WPS Spreadsheets: its mark in the properties, spans on rows, texts as rich runs with reading aids."""
    made = dict(held)
    made["docProps/custom.xml"] = made["docProps/custom.xml"].replace(
        b"</Properties>",
        b'<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="9" name="KSOProductBuildVer">'
        b"<vt:lpwstr>2052-12.1.0.17827</vt:lpwstr></property></Properties>",
    )
    made[SHEET] = re.sub(rb'(<row r="\d+")', rb'\1 spans="1:43"', re.sub(rb' spans="[^"]*"', b"", made[SHEET]))
    made[TEXTS] = re.sub(
        rb"<si><t>([^<]{2})([^<]*)</t></si>",
        rb'<si><r><t>\1</t></r><r><rPr><sz val="11"/></rPr><t xml:space="preserve">\2</t></r>'
        rb'<rPh sb="0" eb="1"><t>read</t></rPh></si>',
        made[TEXTS],
    )
    return made


def numbers(held: Parts) -> Parts:
    """Apple Numbers: a summary of the export first, sheets named after sheet and table, no names, other attributes."""
    made = dict(held)
    names = re.findall(r'<sheet name="([^"]*)"', made[BOOK].decode())
    for name in names:
        made = renamed(made, name, f"{name} - Table 1")
    book = re.sub(rb"<definedNames>.*</definedNames>", b"", made[BOOK], flags=re.DOTALL)
    made[BOOK] = book.replace(b"<sheets>", b'<sheets><sheet name="Export Summary" sheetId="99" r:id="rId99"/>')
    made[RELATIONS] = made[RELATIONS].replace(
        b"</Relationships>",
        b'<Relationship Id="rId99" Target="worksheets/sheet99.xml" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>',
    )
    made["xl/worksheets/sheet99.xml"] = (
        b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b'<sheetData><row r="3"><c r="B3" t="inlineStr"><is><t>This document was exported.</t></is></c></row>'
        b"</sheetData></worksheet>"
    )
    made["[Content_Types].xml"] = made["[Content_Types].xml"].replace(
        b"</Types>",
        b'<Override PartName="/xl/worksheets/sheet99.xml" '
        b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    )
    made[SHEET] = re.sub(rb'(<c r="[A-Z]+\d+") (s="\d+") (t="\w+")', rb"\1 \3 \2", made[SHEET])
    return made


PROGRAMS: tuple[Callable[[Parts], Parts], ...] = (strict, google_sheets, wps, numbers)
