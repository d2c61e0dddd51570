"""The log of work that prints without end: both ends are kept, the middle is counted and takes no room."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import fast_campaign
import pytest

from lab.measure.bounded_log import HEAD_BYTES, TAIL_BYTES, BoundedLog
from lab.measure.runner import run_campaign
from lab.store.attempts import attempt_folder

LINE = "a line of forty characters, end included"[:39] + "\n"
PRINTS = """
import sys

def prints_much(inputs):
    print("it begins")
    for one, text in inputs:
        yield one, "short"
    for _ in range(2_000):
        sys.stdout.write("x" * 9_999 + "\\n")
    raise ValueError("it ends")
"""


def _lines(path: Path, count: int) -> None:
    with path.open("ab") as file:
        file.write(LINE.encode() * count)


def test_what_is_small_is_left_as_it_is(tmp_path: Path) -> None:
    """Up to both ends together nothing is cut, and a log that is not there is no error."""
    log = BoundedLog(tmp_path / "log.txt")
    log.settle()
    _lines(log.path, 100)
    before = log.path.read_bytes()
    log.look()
    log.settle()
    assert log.path.read_bytes() == before


def test_every_byte_is_kept_or_counted(tmp_path: Path) -> None:
    """What is kept begins and ends as the work wrote it, and with the number in the middle it is the whole size."""
    log = BoundedLog(tmp_path / "log.txt")
    log.path.write_bytes(b"first\n")
    for _ in range(6):
        _lines(log.path, 60_000)
        log.look()
    log.path.open("ab").write(b"last\n")
    size = log.path.stat().st_size
    log.settle()
    said = re.search(rb"\n\[\.\.\. (\d+) bytes \.\.\.\]\n", log.path.read_bytes())
    assert said is not None
    text = log.path.read_bytes()
    assert text.startswith(b"first\n")
    assert text.endswith(LINE.encode() + b"last\n")
    assert b"\0" not in text
    assert len(text) - len(said[0]) + int(said[1]) == size
    assert len(text) <= HEAD_BYTES + TAIL_BYTES + 100
    assert [one.name for one in tmp_path.iterdir()] == ["log.txt"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux makes holes in a file")
def test_the_disk_gets_the_middle_back_while_it_grows(tmp_path: Path) -> None:
    """Sixty megabytes were written, a tenth of that is taken."""
    log = BoundedLog(tmp_path / "log.txt")
    for _ in range(60):
        log.path.open("ab").write(b"x" * (1 << 20))
        log.look()
    if log.given_back == HEAD_BYTES:
        pytest.skip("this disk makes no holes")
    seen = log.path.stat()
    assert seen.st_size == 60 << 20
    assert seen.st_blocks * 512 < 9 << 20


def test_a_function_that_prints_without_end_keeps_its_first_and_last_words(tmp_path: Path) -> None:
    """Twenty megabytes of output and a traceback behind them: the log is small, and says why the pass failed."""
    fast_campaign.write(tmp_path, [fast_campaign.variant("v", "prints_much")], repetitions=1)
    (tmp_path / "work.py").write_text(PRINTS)
    run_campaign(tmp_path, fast_campaign.read(tmp_path), observe=lambda _: None, on_attempt=lambda _: None)
    (record,) = fast_campaign.read(tmp_path).records
    log = attempt_folder(tmp_path, record.attempt.attempt_id) / "log.txt"
    text = log.read_text()
    assert record.attempt.outcome == "failed"
    assert text.startswith("it begins")
    assert text.rstrip().endswith("ValueError: it ends")
    assert len(text) < HEAD_BYTES + TAIL_BYTES + 100
