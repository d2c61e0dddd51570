"""The zip that a workbook is: opened only after its size, entries and ratio are checked, XML without entities.

Nothing is expanded before its declared size is known to be sane, and every part is read through its checksum, so that
a file cut in half or with one flipped byte is a fault and never a wrong value.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.parsers import expat

from lxml import etree

from lab.errors import Fault, InvalidInputError
from lab.store.files import reading

LARGEST_FILE = 200 * 2**20  # bytes of the file itself
LARGEST_PART = 600 * 2**20  # bytes of one part, expanded
LARGEST_WHOLE = 1_000 * 2**20  # bytes of all parts, expanded
RATIO_FROM = 20 * 2**20  # a part smaller than this may be compressed as well as it likes
LARGEST_RATIO = 100  # honest sheets of numbers stay below 30
MOST_ENTRIES = 5_000
MOST_CELLS = 5_000_000  # cells with something in them: some formats state a repeated one once, with a count

Element = Any  # an lxml element: the library's classes are not annotated

_ENCODING = re.compile(rb"""\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.-]+)""")
_HEAD = 4_096  # bytes by which a format is told
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_PROLOGUE = 65_536  # bytes within which a document type would stand
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OverflowError)


@dataclass(frozen=True)
class Package:
    """An opened workbook file: its name as the user knows it, its bytes, its parts by name, in the file's order."""

    shown: str
    data: bytes
    archive: zipfile.ZipFile
    main: str

    def part(self, name: str) -> bytes:
        """The content of one part.

        Raises:
            InvalidInputError: `workbook-damaged` when it is missing or its checksum does not hold.
        """
        return part_of(self.archive, name, self.shown)

    def has(self, name: str) -> bool:
        """Whether there is a part of that name."""
        return name in self.archive.NameToInfo

    def xml(self, name: str) -> Element:
        """The root element of a part, read without entities, network or a document type.

        Raises:
            InvalidInputError: the part is missing, damaged, no XML, or declares entities.
        """
        return parsed(self.part(name), self.shown, name)

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """The relations of a part: id -> (kind, the last word of its type; target part, absolute in the zip)."""
        folder, base = posixpath.split(name)
        rels = posixpath.join(folder, "_rels", f"{base}.rels")
        if not self.has(rels):
            return {}
        found = {}
        for one in self.xml(rels):
            target, kind = one.get("Target") or "", (one.get("Type") or "").rsplit("/", 1)[-1]
            if one.get("TargetMode") != "External" and one.get("Id"):
                path = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
                found[one.get("Id")] = (kind, posixpath.normpath(path))
        return found


def file_bytes(path: Path, shown: str) -> bytes:
    """The bytes of a file that should be a workbook: one state of it.

    Raises:
        InvalidInputError: the file is missing, unreadable, too large, or the mark of an open file.
    """
    if path.name.startswith("~$"):
        raise refused(shown, "workbook-lock-file", workbook=path.name[2:])
    if path.name.startswith(".~lock.") and path.name.endswith("#"):
        raise refused(shown, "workbook-lock-file", workbook=path.name[len(".~lock.") : -1])
    with reading(path, shown):
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise refused(shown, "workbook-too-large", size=size, limit=LARGEST_FILE)
        return path.read_bytes()


def package_of(data: bytes, shown: str) -> Package:
    """The package of a file's bytes.

    Raises:
        InvalidInputError: the file is empty, cut, damaged, encrypted, of another format, or expands beyond the limits.
    """
    archive = archive_of(data, shown)
    package = Package(shown, data, archive, "")
    if is_open_document(archive):
        raise refused(shown, "workbook-other-format", found="OpenDocument (.ods)")
    if any(name.endswith(".iwa") for name in archive.namelist()):
        raise refused(shown, "workbook-other-format", found="Apple Numbers (.numbers)")
    main = next((target for kind, target in package.related("").values() if kind == "officeDocument"), None)
    if main is None or not package.has(main):
        raise refused(shown, "workbook-no-workbook")
    if main.endswith(".bin"):
        raise refused(shown, "workbook-other-format", found="Excel binary (.xlsb)")
    return Package(shown, data, archive, main)


def archive_of(data: bytes, shown: str) -> zipfile.ZipFile:
    """The zip that a workbook file is, its format, entries and sizes checked; raises as `package_of`."""
    _check_format(data, shown)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise refused(shown, "workbook-damaged", part="zip") from error
    _check_sizes(archive, shown)
    return archive


def part_of(archive: zipfile.ZipFile, name: str, shown: str) -> bytes:
    """The content of one entry; raises InvalidInputError when it is missing or its checksum does not hold."""
    try:
        return archive.read(name)
    except (*_BROKEN, KeyError, RuntimeError) as error:
        raise refused(shown, "workbook-damaged", part=name) from error


def is_open_document(archive: zipfile.ZipFile) -> bool:
    """Whether a zip says of itself that it is an OpenDocument file; one that cannot say is none."""
    try:
        return "mimetype" in archive.NameToInfo and archive.read("mimetype").startswith(b"application/vnd.oasis")
    except (*_BROKEN, RuntimeError):
        return False


def plain_xml(package: Package, part: str) -> bytes:
    """The bytes of an XML part in UTF-8, without a document type, so that they can be searched.

    Raises:
        InvalidInputError: the part is missing, damaged, or declares a document type.
    """
    data = package.part(part)
    declared = _ENCODING.match(data)
    if data.startswith((b"\xfe\xff", b"\xff\xfe")) or (declared and declared[1].lower() not in {b"utf-8", b"us-ascii"}):
        data = bytes(etree.tostring(parsed(data, package.shown, part), xml_declaration=True, encoding="UTF-8"))
    if b"<!DOCTYPE" in data[:_PROLOGUE]:
        raise refused(package.shown, "workbook-entities", part=part)
    return data


def parsed(data: bytes, shown: str, part: str) -> Element:
    """The root element of XML bytes, without entities, network or a document type; raises InvalidInputError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root: Element = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        slug = "workbook-entities" if "entit" in str(error).lower() else "workbook-damaged"
        raise refused(shown, slug, part=part) from error
    if root.getroottree().docinfo.doctype:
        raise refused(shown, "workbook-entities", part=part)
    return root


def is_whole(data: bytes) -> bool:
    """Whether bytes are well-formed XML without a document type: quick, since nothing is kept."""
    if b"<!DOCTYPE" in data[:_PROLOGUE]:
        return False
    try:
        expat.ParserCreate().Parse(data, True)  # noqa: FBT003  (the library's own "this is all")
    except expat.ExpatError:
        return False
    return True


def local(element: Element) -> str:
    """The name of an element without its namespace: Strict and Transitional files differ in nothing else here."""
    return _local_name(element.tag)


@lru_cache(512)
def _local_name(tag: object) -> str:
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def csv_text(data: bytes, shown: str) -> str | None:
    """The text of a CSV file (UTF-8, or UTF-16 with its mark); None when the bytes are no CSV.

    Raises:
        InvalidInputError: it is one, in another encoding; the fault names the first line that says so.
    """
    if not _is_csv(data):
        return None
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(Fault("file-not-utf8", shown, f"line {line}")) from None


def _is_csv(data: bytes) -> bool:
    head = data[:_HEAD]
    if data.startswith(_UTF_16):
        head = head[: len(head) // 2 * 2].decode("utf-16", "replace").encode()
    lines = head.lstrip(b"\xef\xbb\xbf \r\n\t").splitlines()
    special = data.startswith((b"PK\x03\x04", _OLE, b"%PDF")) or b"\0" in head or not lines or lines[0].startswith(b"<")
    return not special and any(mark in lines[0] for mark in (b",", b";", b"\t"))


def _check_format(data: bytes, shown: str) -> None:
    if not data:
        raise refused(shown, "workbook-empty")
    if data.startswith(b"PK\x03\x04"):
        return
    if data.startswith(_OLE):
        encrypted = "EncryptedPackage".encode("utf-16-le") in data
        slug = "workbook-encrypted" if encrypted else "workbook-other-format"
        raise refused(shown, slug, found="Excel 97-2003 (.xls)")
    start = data[:_HEAD].lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith((b"<!DOCTYPE html", b"<html", b"<!doctype html")):
        raise refused(shown, "workbook-other-format", found="HTML")
    if start.startswith(b"<?xml"):
        raise refused(shown, "workbook-other-format", found="XML")
    if start.startswith(b"%PDF"):
        raise refused(shown, "workbook-other-format", found="PDF")
    if _is_csv(data):
        raise refused(shown, "workbook-other-format", found="CSV")
    raise refused(shown, "workbook-damaged", part="zip")


def _check_sizes(archive: zipfile.ZipFile, shown: str) -> None:
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise refused(shown, "workbook-expands", size=len(entries), limit=MOST_ENTRIES)
    if len(archive.NameToInfo) < len(entries):
        raise refused(shown, "workbook-damaged", part="zip")
    for entry in entries:
        if entry.flag_bits & 0x1:
            raise refused(shown, "workbook-encrypted", found=entry.filename)
        dense = entry.file_size > RATIO_FROM and entry.file_size > LARGEST_RATIO * max(entry.compress_size, 1)
        if dense or entry.file_size > LARGEST_PART:
            raise refused(shown, "workbook-expands", size=entry.file_size, limit=LARGEST_PART)
    whole = sum(entry.file_size for entry in entries)
    if whole > LARGEST_WHOLE:
        raise refused(shown, "workbook-expands", size=whole, limit=LARGEST_WHOLE)


def refused(shown: str, slug: str, **values: object) -> InvalidInputError:
    """The error of a file that is no workbook that can be read."""
    return InvalidInputError(Fault(slug, shown, None, values))
