"""Killed at any moment while rows are appended: the workbook opens and holds every attempt recorded before (W2)."""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import time
from pathlib import Path

import pytest
from openpyxl import load_workbook
from workbook_appender import MOST, append_until_killed, journal
from workbook_sample import attempt, content, converted, manifest

from lab.store.workbook import append_attempts, read_rows
from lab.store.workbook.generate import frame_of, workbook_bytes

KILLS = 200
OPENED_BY_LIBREOFFICE = (99, 199)  # after which of them


def _time_of_one(path: Path) -> float:
    """Seconds that one append takes here: lives end before, within and after the appends that they make."""
    begun = time.perf_counter()
    append_attempts(path, [attempt("b1", 59)], "en")
    return time.perf_counter() - begun


def _rows_in(path: Path) -> set[str]:
    """The attempt ids of the workbook, as an independent library sees them."""
    book = load_workbook(path, read_only=True)
    try:
        return {str(row[0]) for row in book["raw-results"].iter_rows(min_row=5, max_col=1, values_only=True) if row[0]}
    finally:
        book.close()


@pytest.mark.timeout(300)
def test_200_kills_lose_no_attempt(tmp_path: Path, soffice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL 200 times at random moments: each time openpyxl opens the file, and every row that was told is there."""
    path, record = tmp_path / "campaign.xlsx", tmp_path / "record.jsonl"
    path.write_bytes(workbook_bytes(content(), frame_of(manifest()), only=("raw-results",)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # what is imported once, in the server of the forks
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["workbook_appender"])
    chance = random.Random(20261130)  # noqa: S311  (moments to kill at, no secret)
    longest = (1 + MOST) * _time_of_one(path)
    before = _rows_in(path)
    told = cut_off = 0
    for number in range(KILLS):
        ours, theirs = processes.Pipe(duplex=False)
        life = processes.Process(target=append_until_killed, args=(path, record, theirs))
        life.start()
        theirs.close()
        assert ours.poll(120), life.exitcode
        told = max(told, ours.recv())  # its first word: it lives
        life.join(chance.uniform(0, longest))
        cut_off += life.is_alive()
        life.kill()
        life.join()
        while ours.poll():
            try:
                told = max(told, ours.recv())
            except EOFError:
                break
        held = _rows_in(path)
        certain = {f"b4_tickets_r{100 + one}" for one in range(1, told + 1)}
        on_record = {f"b4_tickets_r{100 + one}" for one in journal(record)}
        assert before | certain <= held <= before | on_record
        if number in OPENED_BY_LIBREOFFICE:
            folder = tmp_path / f"opened-{number}"
            folder.mkdir()
            assert _rows_in(converted(soffice, path, "xlsx", folder)) == held
    assert cut_off > KILLS // 10
    assert len(read_rows(path, manifest()).rows) == len(_rows_in(path))
