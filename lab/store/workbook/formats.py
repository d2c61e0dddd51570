"""The file that people send back, opened by what it is: Office Open XML, OpenDocument, or rows as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.store.workbook import grid
from lab.store.workbook.book import Book, open_book
from lab.store.workbook.csv_rows import RowsOnly, rows_of
from lab.store.workbook.open_document import OpenDocument, open_document
from lab.store.workbook.package import archive_of, csv_text, file_bytes, is_open_document, package_of
from lab.store.workbook.sheet import Sheet

AnyBook = Book | OpenDocument | RowsOnly


def opened(path: Path, shown: str) -> AnyBook:
    """Open a file by its content; its name says nothing about it.

    Raises:
        InvalidInputError: the file is missing, damaged, encrypted, too large or of a format that is not read; the
            fault names the format.
    """
    data = file_bytes(path, shown)
    text = csv_text(data, shown)
    if text is not None:
        return rows_of(text, shown)
    archive = archive_of(data, shown)
    if is_open_document(archive):
        return open_document(archive, shown)
    return open_book(package_of(data, shown))


def begin(book: AnyBook, name: str) -> Callable[[], Sheet]:
    """Begin to read a sheet that may be large; the function given back waits for the rest."""
    return grid.begin(book, name) if isinstance(book, Book) else lambda: book.sheet(name)
