"""A campaign's files on another node: taken from the same path where they are the same there, else sent; checked."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import lab
from lab.errors import InvalidInputError, OutsideFailureError, fault
from lab.model.names import WORKBOOK
from lab.store.attempts import ATTEMPTS
from lab.store.canonical import sha256_text
from lab.store.environments import ENVIRONMENTS
from lab.store.files import inside, reading, sha256_file, write_atomically, writing

Listing = Mapping[str, str]  # path below the campaign folder -> sha256

_PIECE: Final = 64 << 20  # bytes: a model or a corpus need not fit into memory, here or there
_NOT_READ: Final = (ATTEMPTS, ENVIRONMENTS, "report", "seal.json", "__pycache__")  # by no pass


@dataclass(frozen=True)
class Sent:
    """One file of an attempt as a node gives it back."""

    data: bytes
    sha256: str


@dataclass(frozen=True)
class Piece:
    """A part of a file on its way to a node, and where in the file it belongs."""

    name: str
    offset: int
    data: bytes


def listing(folder: Path) -> dict[str, str]:
    """Every file of the campaign that a pass may read: manifest, corpora, models, the user's own code.

    Links within the campaign are followed, as a pass follows them; one that leads out of it is none of its files.
    """
    return {name: sha256_file(folder / name) for name in sorted(_names(folder, "", ()))}


def _names(folder: Path, below: str, above: tuple[str, ...]) -> Iterator[str]:
    """The names below `below`; `above` are the real folders on the way there, so that a loop of links ends."""
    real = os.path.realpath(folder / below)
    if real in above:
        return
    for one in os.scandir(folder / below):
        name = f"{below}{one.name}"
        at_top = not below and (one.name in _NOT_READ or Path(one.name).suffix == Path(WORKBOOK).suffix)
        if one.name.startswith(".") or one.name == "__pycache__" or at_top or not _is_within(folder, name):
            continue
        if one.is_dir():
            yield from _names(folder, f"{name}/", (*above, real))
        elif one.is_file():
            yield name


def _is_within(folder: Path, name: str) -> bool:
    try:
        inside(folder, name)
    except InvalidInputError:
        return False
    return True


def pieces(folder: Path, names: Iterable[str]) -> Iterator[tuple[Piece, ...]]:
    """The files cut into loads of at most 64 MiB: several small files in one, a large one in several."""
    load: list[Piece] = []
    left = _PIECE
    for name in names:
        with reading(folder / name, name), (folder / name).open("rb") as file:
            offset = 0
            while True:
                data = file.read(left)
                if data or not offset:  # an empty file is a file too
                    load.append(Piece(name, offset, data))
                offset, left = offset + len(data), left - len(data)
                if left:
                    break
                yield tuple(load)
                load, left = [], _PIECE
    if load:
        yield tuple(load)


def code_fingerprint() -> str:
    """Of this product's own code, so that a node which has another release is known before it measures."""
    base = Path(lab.__file__).parent
    files = sorted(base.rglob("*.py"))
    return sha256_text("\n".join(f"{one.relative_to(base).as_posix()} {sha256_file(one)}" for one in files))


def take_shared(folder: Path, wanted: Listing, root: Path) -> bool:
    """Fill `root` from `folder` where every file is there with its fingerprint; False, and nothing kept, where not."""
    if not all((folder / name).is_file() and sha256_file(folder / name) == digest for name, digest in wanted.items()):
        return False
    for name in wanted:
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(os.path.realpath(folder / name), target)  # the file itself: a link would lead elsewhere from there
        except OSError:  # another file system, or one without links
            shutil.copyfile(folder / name, target)
    return True


def receive(root: Path, load: Iterable[Piece]) -> None:
    """Write parts of files that were sent; `checked` tells whether all are whole.

    Raises:
        InvalidInputError: a name leads out of `root`.
        OutsideFailureError: the disk refused.
    """
    for one in load:
        target = inside(root, one.name)
        with writing(target, one.name):
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("r+b" if one.offset else "wb") as file:
                file.seek(one.offset)
                file.write(one.data)


def checked(root: Path, wanted: Listing) -> None:
    """Hold every file that was sent against its fingerprint.

    Raises:
        OutsideFailureError: one is another file than the one that was sent.
    """
    for name, digest in wanted.items():
        path = root / name
        if not path.is_file() or sha256_file(path) != digest:
            raise OutsideFailureError(fault("ray-file-altered", file=name))


def packed(folder: Path) -> dict[str, Sent]:
    """Every file of a finished attempt's folder, or of one environment's, with its fingerprint."""
    return {
        path.relative_to(folder).as_posix(): Sent(path.read_bytes(), sha256_file(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def unpack(files: Mapping[str, Sent], target: Path, last: str) -> bool:
    """Write what came back into `target`, all but the file `last`; False, and nothing written, where one is altered."""
    if last not in files or any(hashlib.sha256(one.data).hexdigest() != one.sha256 for one in files.values()):
        return False
    for name, one in files.items():
        if name != last:
            path = inside(target, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, one.data)
    return True
