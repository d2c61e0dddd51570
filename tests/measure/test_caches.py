"""`caches = "clear"`: no attempt finds what an earlier one left, and its row says what was cleared."""

from __future__ import annotations

import os
from pathlib import Path

import fast_campaign
from fast_campaign import variant

from lab.measure.caches import drop_pages, own_folders, resident_bytes
from lab.measure.runner import run_campaign

WRITES = """
import os, pathlib
def writes(inputs):
    place = pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    with open("found", "a") as file:
        file.write(f"{place.parent.parent.name} {len(list(place.iterdir()))}\\n")
    (place / "kernel.so").write_text("x")
    for one, text in inputs:
        yield one, "short"
"""


def test_pages_of_a_file_are_dropped_and_what_stayed_is_counted(tmp_path: Path) -> None:
    """A file that was just written is in memory, and afterwards no more of it than before."""
    path = tmp_path / "corpus.bin"
    path.write_bytes(os.urandom(2**20))
    with path.open("rb") as file:
        assert resident_bytes(file.fileno(), 2**20) == 2**20
    found = drop_pages([path, path, tmp_path / "absent"])
    assert (found.files, found.bytes) == (1, 2**20)
    assert found.left_bytes is not None
    assert found.left_bytes < 2**20
    assert found.facts()["caches.bytes_left"] == str(found.left_bytes)


def test_an_empty_file_has_nothing_to_drop(tmp_path: Path) -> None:
    """No page, no error."""
    (tmp_path / "empty").touch()
    assert drop_pages([tmp_path / "empty"]).facts() == {
        "caches.files_dropped": "1",
        "caches.bytes_dropped": "0",
        "caches.bytes_left": "0",
    }


def test_each_attempt_has_compile_caches_of_its_own_and_takes_them_with_it(tmp_path: Path) -> None:
    """Two passes, each in an empty folder within its attempt; nothing is left, and the record says what was dropped."""
    fast_campaign.write(tmp_path, [variant("a", "writes")], repetitions=2, caches="clear", warm_up={"passes": 0})
    (tmp_path / "work.py").write_text(WRITES)
    records = run_campaign(
        tmp_path, fast_campaign.read(tmp_path), observe=lambda _: None, on_attempt=lambda _: None
    ).records
    lines = (tmp_path / "found").read_text().splitlines()
    assert lines == [f"{one.attempt.attempt_id} 0" for one in records]
    for record in records:
        assert record.attempt.outcome == "completed"
        assert record.details.facts["caches"] == "clear"
        assert record.details.facts["caches.files_dropped"] == "2"  # the corpus and the function's module
        assert not (tmp_path / "attempts" / record.attempt.attempt_id / ".caches").exists()


def test_folders_of_its_own_are_within_the_attempt(tmp_path: Path) -> None:
    """Every compiler's variable has a folder, all of them beneath the attempt's."""
    found = own_folders(tmp_path)
    assert set(found) >= {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH"}
    assert all(Path(one).is_dir() and Path(one).is_relative_to(tmp_path) for one in found.values())
