"""The manifest that `lab init` writes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.messages import LANGUAGES
from lab.store.manifest import read_manifest
from lab.store.starter import starter_manifest, starter_name


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_valid_as_it_stands(language: str, tmp_path: Path) -> None:
    """The engineer starts from a manifest that reads, in the language asked for, with the name filled in."""
    path = tmp_path / "manifest.toml"
    path.write_text(starter_manifest(language, "tickets"), encoding="utf-8")
    manifest = read_manifest(path)
    assert (manifest.name, manifest.language) == ("tickets", language)


def test_only_comments_differ_between_languages() -> None:
    """What is declared is the same whatever the language."""
    read = [tomllib.loads(starter_manifest(language, "x")) for language in LANGUAGES]
    assert [{**one, "language": None} for one in read] == [{**read[0], "language": None}] * len(LANGUAGES)


@given(st.text(min_size=1, max_size=80).filter(lambda name: "/" not in name and "\0" not in name))
def test_any_folder_gives_a_valid_name(name: str) -> None:
    """A folder named in any script gives a name that the manifest takes."""
    found = starter_name(Path("/") / "somewhere" / name)
    assert 0 < len(found) <= 64
    assert found[0].isalnum()
    assert all(one.isascii() and (one.isalnum() or one in "._-") for one in found)
