"""A campaign's files on another node: taken from the same path where they are the same there, else sent; checked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import lab
from lab.errors import OutsideFailureError, fault
from lab.model.names import WORKBOOK
from lab.store.attempts import ATTEMPTS
from lab.store.canonical import sha256_text
from lab.store.environments import ENVIRONMENTS
from lab.store.files import inside, sha256_file, write_atomically

Listing = Mapping[str, str]  # path below the campaign folder -> sha256

_NOT_READ: Final = (ATTEMPTS, ENVIRONMENTS, "report", "seal.json", "__pycache__")  # by no pass


@dataclass(frozen=True)
class Sent:
    """One file of an attempt as a node gives it back."""

    data: bytes
    sha256: str


def listing(folder: Path) -> dict[str, str]:
    """Every file of the campaign that a pass may read: manifest, corpora, models, the user's own code."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        workbook = len(parts) == 1 and path.suffix == Path(WORKBOOK).suffix
        if path.is_file() and not hidden and parts[0] not in _NOT_READ and not workbook:
            found["/".join(parts)] = sha256_file(path)
    return found


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
            os.link(folder / name, target)
        except OSError:  # another file system, or one without links
            shutil.copyfile(folder / name, target)
    return True


def receive(root: Path, names: Sequence[str], wanted: Listing, blobs: Sequence[bytes]) -> None:
    """Write files that were sent, each checked against its fingerprint.

    Raises:
        OutsideFailureError: a file came back another one, or the disk refused.
    """
    for name, data in zip(names, blobs, strict=True):
        target = inside(root, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, data)
        if sha256_file(target) != wanted[name]:
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
    from hashlib import sha256

    if last not in files or any(sha256(one.data).hexdigest() != one.sha256 for one in files.values()):
        return False
    for name, one in files.items():
        if name != last:
            path = inside(target, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, one.data)
    return True
