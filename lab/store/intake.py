"""Attempts and environments taken in from elsewhere: all of them or none, whatever kills the process on the way.

They are copied into a folder of their own first. Once all is on the disk that folder gets its final name in one step,
and from then on the only way is forward: what is moved out of it into its place is finished by whoever comes next.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from lab.store.attempts import ATTEMPTS
from lab.store.environments import ENVIRONMENTS
from lab.store.files import reading, sync_folder, writing

INTAKE = ".intake"
_NEW = f"{INTAKE}.*.new"
_BOTH = (ENVIRONMENTS, ATTEMPTS)  # an attempt names its environment, never the other way round


def take_in(folder: Path, attempts: Mapping[str, Path], environments: Mapping[str, Path]) -> None:
    """Copy attempt folders and environment files into the campaign; the caller holds the campaign's lock.

    Args:
        folder: the campaign folder.
        attempts: attempt id -> its folder elsewhere; none of them is in the campaign yet.
        environments: fingerprint -> its file elsewhere; none of them is in the campaign yet.

    Raises:
        InvalidInputError: a file there cannot be read; nothing was taken in.
        OutsideFailureError: the disk refused; nothing was taken in, or all of it is when the campaign is next merged.
    """
    if not attempts and not environments:
        return
    new = folder / _NEW.replace("*", secrets.token_hex(4))
    with writing(folder, str(folder)):
        for name in _BOTH:
            (new / name).mkdir(parents=True)
        try:
            for name, source in environments.items():
                _copy(source, new / ENVIRONMENTS / f"{name}.json")
            for name, source in attempts.items():
                (new / ATTEMPTS / name).mkdir()
                for file in sorted(source.iterdir()):
                    if file.is_file() and not file.is_symlink() and not file.name.startswith("."):
                        _copy(file, new / ATTEMPTS / name / file.name)
            os.sync()  # one for all: thousands of files, each brought to the disk by itself, would take minutes
            new.rename(folder / INTAKE)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        sync_folder(folder)
    finish_intake(folder)


def finish_intake(folder: Path) -> bool:
    """Move into place what a complete intake still holds, and remove what an incomplete one left; was there any?

    Raises:
        OutsideFailureError: the disk refused; the next call goes on.
    """
    at = folder / INTAKE
    with writing(folder, str(folder)):
        for left in folder.glob(_NEW):
            shutil.rmtree(left)
        if not at.is_dir():
            return False
        for kind in _BOTH:
            if not (at / kind).is_dir():
                continue
            (folder / kind).mkdir(exist_ok=True)
            for one in sorted((at / kind).iterdir()):
                one.rename(folder / kind / one.name)
            sync_folder(folder / kind)
        shutil.rmtree(at)
    return True


def _copy(source: Path, target: Path) -> None:
    with reading(source, str(source)):
        data = source.open("rb")
    with data, target.open("xb") as file:
        shutil.copyfileobj(data, file, 1 << 20)
