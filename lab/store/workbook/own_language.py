"""The language that a workbook was made in: it is the one that its words and numbers are read and written by.

The generator states it as a custom property of the document, which Excel and LibreOffice keep, also as OpenDocument. A
file that has lost it is read by the campaign's language.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lab.errors import Fault, InvalidInputError, fault
from lab.messages import LANGUAGES
from lab.model.manifest import Manifest
from lab.store.workbook.book import Book
from lab.store.workbook.formats import AnyBook
from lab.store.workbook.open_document import OpenDocument
from lab.store.workbook.package import Element, Package, file_bytes, local, package_of

_NAME = "language"
_KINDS = {"custom-properties", "customProperties"}  # of Transitional and of Strict files


def own_language(book: AnyBook) -> str | None:
    """One of `LANGUAGES`, or None where the file does not say it."""
    stated = None
    if isinstance(book, OpenDocument):
        stated = book.properties.get(_NAME)
    elif isinstance(book, Book):
        stated = _stated(book.package)
    return stated if stated in LANGUAGES else None


def language_of(path: Path, otherwise: str) -> str:
    """The language of a workbook file; `otherwise` where it says none, is not there or cannot be opened."""
    try:
        stated = _stated(package_of(file_bytes(path, path.name), path.name))
    except InvalidInputError:  # whoever changes the file says what is wrong with it
        return otherwise
    return stated if stated in LANGUAGES else otherwise


def spoken(manifest: Manifest, book: AnyBook, shown: str) -> tuple[Manifest, tuple[Fault, ...]]:
    """The manifest as this workbook is to be read by, and what must be said where its language is another one."""
    own = own_language(book)
    if own is None or own == manifest.language:
        return manifest, ()
    told = fault("workbook-own-language", file=shown, own=own, language=manifest.language)
    return manifest.model_copy(update={"language": own}), (told,)


def _stated(package: Package) -> str | None:
    try:
        part = next((part for kind, part in package.related("").values() if kind in _KINDS), None)
        return None if part is None or not package.has(part) else _of(package.xml(part))
    except InvalidInputError:  # a property that is damaged says nothing; the sheets are read all the same
        return None


def _of(properties: Iterable[Element]) -> str | None:
    own = (one for one in properties if local(one) == "property" and one.get("name") == _NAME)
    return next(("".join(one.itertext()).strip() for one in own), None)
