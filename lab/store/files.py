"""Files and paths: what every reader and writer of the store stands on."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PureWindowsPath
from typing import Any, BinaryIO

import lab
from lab.errors import Fault, InvalidInputError, OutsideFailureError, fault

_CHUNK = 1 << 20
_DEAD_AFTER_S = 600  # a workbook takes seconds to write
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM)


def sha256_file(path: Path) -> str:
    """The sha256 of a file's bytes, 64 hex digits.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable.
    """
    digest = hashlib.sha256()
    with reading(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def reading(path: Path, shown: str | None = None) -> Iterator[None]:
    """Turn what the system says while `path` is read into an `InvalidInputError` that names it (or `shown`)."""
    name = str(path) if shown is None else shown
    try:
        yield
    except FileNotFoundError:
        raise InvalidInputError(fault("file-missing", file=name)) from None
    except (IsADirectoryError, NotADirectoryError):
        raise InvalidInputError(fault("file-is-a-folder", file=name)) from None
    except PermissionError:
        raise InvalidInputError(fault("file-not-readable", file=name)) from None
    except OSError as error:
        raise InvalidInputError(_system_fault(error, name)) from None


@contextmanager
def writing(path: Path, shown: str | None = None) -> Iterator[None]:
    """Turn what the system says while `path` is written into an `OutsideFailureError` that names it."""
    name = str(path) if shown is None else shown
    try:
        yield
    except OSError as error:
        raise OutsideFailureError(_system_fault(error, name)) from None


def _system_fault(error: OSError, name: str) -> Fault:
    if error.errno in _NO_SPACE:
        return fault("disk-full", file=name)
    if error.errno in _NOT_ALLOWED:
        return fault("no-permission", file=name)
    if error.errno == errno.EROFS:
        return fault("disk-read-only", file=name)
    return fault("system-refused", file=name, code=errno.errorcode.get(error.errno or 0, "OSError"))


def read_bytes(path: Path, shown: str | None = None) -> bytes:
    """A whole file.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable.
    """
    with reading(path, shown):
        return path.read_bytes()


def read_text(path: Path, shown: str | None = None) -> str:
    """A whole text file in UTF-8, with or without a byte-order mark, line ends as a newline.

    Raises:
        InvalidInputError: the file is missing, a folder, unreadable or not UTF-8 (the fault names the line).
    """
    name = str(path) if shown is None else shown
    data = read_bytes(path, name)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(fault("file-not-utf8", file=name, place=f"line {line}")) from None


def read_json(path: Path, shown: str | None = None) -> Any:  # noqa: ANN401  (whatever the file holds)
    """The value that a JSON file holds.

    Raises:
        InvalidInputError: the file cannot be read, or is not JSON (the fault names the line).
    """
    name = str(path) if shown is None else shown
    text = read_text(path, name)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InvalidInputError(fault("file-not-json", file=name, place=f"line {error.lineno}")) from None
    except (ValueError, RecursionError):
        raise InvalidInputError(fault("file-not-json", file=name)) from None


def _no_constant(_name: str) -> None:
    raise ValueError("NaN and infinity are no JSON")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file whole or not at all: a new file beside it takes its name once everything is on the disk.

    A link of that name is replaced, never followed. The permissions of a file that exists are kept.

    Raises:
        OutsideFailureError: disk full, no permission, or another refusal of the system; the old file is whole.
    """
    new = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.new")
    with writing(path):
        try:
            with new.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if path.is_file() and not path.is_symlink():
                new.chmod(path.stat().st_mode)
            new.replace(path)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):
                new.unlink(missing_ok=True)


def sweep(path: Path) -> None:
    """Remove what a writer of `path` that was killed left beside it: unfinished files, by their exact form of name.

    Only those that nobody has written to for ten minutes before `path` itself was written: a file that another process
    is still writing stays. Both times are the file system's, so that no clock of another machine counts.
    """
    left = re.compile(rf"\.{re.escape(path.name[:100])}\.[0-9a-f]{{8}}\.new")
    with suppress(OSError):
        written = path.stat().st_mtime
        for one in path.parent.iterdir():
            if left.fullmatch(one.name) and not one.is_symlink() and written - one.stat().st_mtime > _DEAD_AFTER_S:
                one.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` as `path`, whole or not at all, and on the disk when this returns.

    Raises:
        OutsideFailureError: disk full, no permission, or another refusal of the system; the old file is whole.
    """
    with replacing(path) as file:
        file.write(data)


def sync_folder(folder: Path) -> None:
    """Bring a folder's list of names to the disk, where the system can; raises OSError when the disk refuses."""
    if os.name == "nt":  # Windows has no handle for it; its file system journals the names itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def resource(*parts: str) -> Path:
    """A file or folder that ships with the product, such as `resource("workbook", "tarifs-forfaits.csv")`.

    An installed package holds them under `lab/_data/`, a checkout at its top level.

    Raises:
        OutsideFailureError: it is in neither place.
    """
    package = Path(lab.__file__).resolve().parent
    for base in (package / "_data", package.parent):
        found = base.joinpath(*parts)
        if found.exists():
            return found
    raise OutsideFailureError(fault("resource-missing", file="/".join(parts)))


def inside(folder: Path, relative: str | Path, shown: str | None = None) -> Path:
    """The path of `relative` in `folder`; links are followed for the check, not in the answer.

    Args:
        folder: the folder that must not be left.
        relative: a path as a manifest or a record names it.
        shown: the file that names the path, for the fault.

    Raises:
        InvalidInputError: the path is empty, absolute, has `..` in it, or a link on it leads out of the folder.
    """
    text = str(relative)
    windows = PureWindowsPath(text)
    leaves = not text.strip() or "\0" in text or ".." in windows.parts or bool(windows.anchor) or text.startswith("/")
    if leaves:
        raise InvalidInputError(fault("path-leaves-campaign", file=shown, path=text))
    found = folder / text
    try:
        # As texts: a publication of thousands of attempts asks this for each of their files.
        root, target = os.path.realpath(folder), os.path.realpath(found)
        within = target == root or target.startswith(root.rstrip(os.sep) + os.sep)
    except (OSError, ValueError, RuntimeError):  # a loop of links, or a name that the system cannot hold
        within = False
    if not within:
        raise InvalidInputError(fault("path-leaves-campaign", file=shown, path=text))
    return found
