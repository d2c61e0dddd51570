"""What the files of a variant hold: model, tokenizer and code, by fingerprint; a hub's model by its commit too."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.measure.user_code import code_files
from lab.model.manifest import Variant
from lab.store.files import inside, sha256_file


class Contents:
    """Fingerprints of files; a file is read again only when its size, time or place on the disk has changed."""

    def __init__(self, folder: Path) -> None:
        """Take the campaign folder."""
        self._folder = folder
        self._known: dict[tuple[object, ...], str] = {}

    def facts(self, variant: Variant) -> dict[str, str]:
        """`model.sha256`, `tokenizer.sha256`, a hub's commits, `function.sha256` and `command.sha256`."""
        facts: dict[str, str] = {}
        for what, name, revision in _named(variant):
            place = self._place(name, revision)
            if place is not None:
                facts[f"{what}.sha256"] = self._of(_files(place), place)
                if not _is_in(place, self._folder):
                    facts[f"{what}.hub_commit"] = place.name
        code = code_files(variant, self._folder)
        if code:
            facts["function.sha256" if variant.function else "command.sha256"] = self._of(code, self._folder)
        return facts

    def files(self, variant: Variant) -> tuple[Path, ...]:
        """Every file that an attempt of the variant reads beside the corpus, as far as the manifest tells."""
        places = (self._place(name, revision) for _, name, revision in _named(variant))
        found = [one for place in places if place is not None for one in _files(place)]
        return (*found, *code_files(variant, self._folder))

    def _place(self, name: str, revision: str | None) -> Path | None:
        """The folder of a model: in the campaign, else the hub's copy on this machine; None where it is not here."""
        try:
            path = inside(self._folder, name)
        except LabError:
            return None
        if path.exists():
            return path
        if name.count("/") > 1 or importlib.util.find_spec("huggingface_hub") is None:
            return None
        hub = importlib.import_module("huggingface_hub")
        try:
            return Path(hub.snapshot_download(name, revision=revision, local_files_only=True))
        except (OSError, ValueError):  # not fetched yet, or no name of the hub's
            return None

    def _of(self, files: Sequence[Path], base: Path) -> str:
        """One fingerprint of several files: their names below `base` (or alone) and what each holds."""
        states = [(one, one.stat()) for one in files]
        key = tuple((str(one), state.st_size, state.st_mtime_ns, state.st_ino) for one, state in states)
        if key not in self._known:
            digest = hashlib.sha256()
            for one in files:
                name = one.relative_to(base).as_posix() if _is_in(one, base) else one.name
                digest.update(f"{name}\0{sha256_file(one)}\n".encode())
            self._known[key] = digest.hexdigest()
        return self._known[key]


def _named(variant: Variant) -> list[tuple[str, str, str | None]]:
    if not variant.model:
        return []
    tokenizer = variant.tokenizer or variant.model
    tokenizer_revision = variant.tokenizer_revision if variant.tokenizer else variant.revision
    return [("model", variant.model, variant.revision), ("tokenizer", tokenizer, tokenizer_revision)]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(one for one in place.rglob("*") if one.is_file())


def _is_in(path: Path, base: Path) -> bool:
    return path.is_relative_to(base)
