"""The zip that a workbook is: opened only after its size, entries and ratio are checked, XML without entities.

Nothing is expanded before its declared size is known to be sane, and every part is read through its checksum, so that
a file cut in half or with one flipped byte is a fault and never a wrong value (cases W4-W6).
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lxml import etree

from lab.errors import Fault, InvalidInputError
from lab.store.files import reading

LARGEST_FILE = 200 * 2**20  # bytes of the file itself
LARGEST_PART = 600 * 2**20  # bytes of one part, expanded
LARGEST_WHOLE = 1_000 * 2**20  # bytes of all parts, expanded
RATIO_FROM = 20 * 2**20  # a part smaller than this may be compressed as well as it likes
LARGEST_RATIO = 100  # honest sheets of numbers stay below 30
MOST_ENTRIES = 5_000

Element = Any  # an lxml element: the library's classes are not annotated

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OverflowError)


@dataclass(frozen=True)
class Package:
    """An opened workbook file: its name as the user knows it, its parts by name, in the file's order."""

    shown: str
    archive: zipfile.ZipFile
    main: str

    def part(self, name: str) -> bytes:
        """The content of one part.

        Raises:
            InvalidInputError: `workbook-damaged` when it is missing or its checksum does not hold.
        """
        try:
            return self.archive.read(name)
        except (*_BROKEN, KeyError, RuntimeError) as error:
            raise _refused(self.shown, "workbook-damaged", part=name) from error

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


def open_package(path: Path, shown: str | None = None) -> Package:
    """Open a workbook file, held in memory so that what is read is one state of it.

    Args:
        path: the file.
        shown: its name for faults; default: the file's name.

    Raises:
        InvalidInputError: the file is missing, empty, too large, cut, damaged, encrypted, a lock file, of another
            format, or expands beyond the limits; slugs `workbook-…`.
    """
    name = path.name if shown is None else shown
    if path.name.startswith("~$"):
        raise _refused(name, "workbook-lock-file", workbook=path.name[2:])
    with reading(path, name):
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise _refused(name, "workbook-too-large", size=size, limit=LARGEST_FILE)
        data = path.read_bytes()
    return package_of(data, name)


def package_of(data: bytes, shown: str) -> Package:
    """The package of a file's bytes; raises as `open_package`."""
    _check_format(data, shown)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise _refused(shown, "workbook-damaged", part="zip") from error
    _check_sizes(archive, shown)
    package = Package(shown, archive, "")
    if "mimetype" in archive.NameToInfo and package.part("mimetype").startswith(b"application/vnd.oasis"):
        raise _refused(shown, "workbook-other-format", found="OpenDocument (.ods)")
    main = next((target for kind, target in package.related("").values() if kind == "officeDocument"), None)
    if main is None or not package.has(main):
        raise _refused(shown, "workbook-no-workbook")
    return Package(shown, archive, main)


def parsed(data: bytes, shown: str, part: str) -> Element:
    """The root element of XML bytes, without entities, network or a document type; raises InvalidInputError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root: Element = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        slug = "workbook-entities" if "entit" in str(error).lower() else "workbook-damaged"
        raise _refused(shown, slug, part=part) from error
    if root.getroottree().docinfo.doctype:
        raise _refused(shown, "workbook-entities", part=part)
    return root


def local(element: Element) -> str:
    """The name of an element without its namespace: Strict and Transitional files differ in nothing else here."""
    return _local_name(element.tag)


@lru_cache(512)
def _local_name(tag: object) -> str:
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def _check_format(data: bytes, shown: str) -> None:
    if not data:
        raise _refused(shown, "workbook-empty")
    if data.startswith(b"PK\x03\x04"):
        return
    if data.startswith(_OLE):
        encrypted = "EncryptedPackage".encode("utf-16-le") in data
        slug = "workbook-encrypted" if encrypted else "workbook-other-format"
        raise _refused(shown, slug, found="Excel 97-2003 (.xls)")
    start = data[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith((b"<!DOCTYPE html", b"<html", b"<!doctype html")):
        raise _refused(shown, "workbook-other-format", found="HTML")
    if start.startswith(b"<?xml"):
        raise _refused(shown, "workbook-other-format", found="XML")
    if start.startswith(b"%PDF"):
        raise _refused(shown, "workbook-other-format", found="PDF")
    if start and b"\0" not in data[:4096] and any(mark in start.splitlines()[0] for mark in (b",", b";", b"\t")):
        raise _refused(shown, "workbook-other-format", found="CSV")
    raise _refused(shown, "workbook-damaged", part="zip")


def _check_sizes(archive: zipfile.ZipFile, shown: str) -> None:
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise _refused(shown, "workbook-expands", size=len(entries), limit=MOST_ENTRIES)
    if len(archive.NameToInfo) < len(entries):
        raise _refused(shown, "workbook-damaged", part="zip")
    for entry in entries:
        if entry.flag_bits & 0x1:
            raise _refused(shown, "workbook-encrypted", found=entry.filename)
        dense = entry.file_size > RATIO_FROM and entry.file_size > LARGEST_RATIO * max(entry.compress_size, 1)
        if dense or entry.file_size > LARGEST_PART:
            raise _refused(shown, "workbook-expands", size=entry.file_size, limit=LARGEST_PART)
    whole = sum(entry.file_size for entry in entries)
    if whole > LARGEST_WHOLE:
        raise _refused(shown, "workbook-expands", size=whole, limit=LARGEST_WHOLE)


def _refused(shown: str, slug: str, **values: object) -> InvalidInputError:
    return InvalidInputError(Fault(slug, shown, None, values))
