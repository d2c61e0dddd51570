"""The work of the tool and of its baselines as functions that the tool can measure: `lab` and `baseline`.

An input's text is a piece of work, `name argument…`; the prediction is what the work gave, so that exact match says
whether both did the same. What a piece needs once (a model, a corpus in its table) is built in the warm-up and kept.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import judging
import start_up
from openpyxl import load_workbook
from python_calamine import CalamineWorkbook
from workbook_sample import attempt, manifest

from lab.store.corpus import StoredCorpus, open_corpus
from lab.store.files import sha256_file
from lab.store.predictions import examine, stored
from lab.store.workbook import append_attempts, read_workbook

Done = Iterator[tuple[str, str]]


def lab(inputs: Iterable[tuple[str, str]]) -> Done:
    """Each piece of work as the tool does it: (id, what it gave)."""
    return _each(inputs, LAB)


def baseline(inputs: Iterable[tuple[str, str]]) -> Done:
    """Each piece of work as its baseline does it: (id, what it gave)."""
    return _each(inputs, BASELINE)


def _each(inputs: Iterable[tuple[str, str]], ways: dict[str, Callable[..., str]]) -> Done:
    for one, text in inputs:
        name, *arguments = text.split()
        yield one, ways[name](*arguments)


def answer_of(labels: Iterable[object]) -> str:
    """Many labels as one answer."""
    return hashlib.sha256("\n".join(map(str, labels)).encode()).hexdigest()


def _sha256sum(path: str) -> str:
    said = subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True)
    return said.stdout.split()[0]


def _started(*command: str) -> str:
    return str(subprocess.run([sys.executable, *command], capture_output=True, check=False).returncode)


def _rows_read(path: str) -> str:
    return str(len(read_workbook(Path(path), manifest()).rows))


def _rows_by_calamine(path: str) -> str:
    sheet = CalamineWorkbook.from_path(path).get_sheet_by_name("raw-results").to_python()
    return str(sum(str(row[0]).startswith("b1_") for row in sheet))


def _copied(path: str) -> str:
    """A fresh copy each time, so that every append is to the same number of rows."""
    folder = tempfile.mkdtemp(dir=Path(path).parent)
    return str(shutil.copy(path, folder))


def _appended(path: str, row: str) -> str:
    copy = _copied(path)
    if append_attempts(Path(copy), [attempt("b1", int(row))], "en").fault:
        raise RuntimeError(copy)
    return _kept(copy, row)


def _appended_by_openpyxl(path: str, row: str) -> str:
    copy = _copied(path)
    book = load_workbook(copy)
    book["raw-results"].append([attempt("b1", int(row)).attempt_id])
    book.save(copy)
    return _kept(copy, row)


def _kept(copy: str, row: str) -> str:
    """Whether the row is in the file, which is removed."""
    wanted = f"b1_tickets_r{row}<".encode()
    with zipfile.ZipFile(copy) as parts:
        found = any(wanted in parts.read(name) for name in parts.namelist())
    shutil.rmtree(Path(copy).parent)
    return str(found)


@cache
def _corpus(folder: str) -> StoredCorpus:
    return stored(open_corpus(Path(folder), judging.SPEC))


def _judged(folder: str) -> str:
    evidence = examine(Path(folder) / "predictions.jsonl", _corpus(folder), judging.LABELS, "0" * 64, large=0)
    return str(sum(count for pair, count in evidence.confusion.items() if pair[0] == pair[1]))


def _queried(folder: str) -> str:
    quoted = "'" + str(Path(folder) / "predictions.jsonl").replace("'", "''") + "'"
    query = judging.SQL.read_text(encoding="utf-8").replace("{predictions}", quoted)
    with _corpus(folder).table.connected() as database:
        return str(sum(row[-1] for row in database.execute(query).fetchall() if row[0] == row[1]))


@cache
def _passes(folder: str) -> tuple[Callable[[], list[str]], Callable[[], list[str]]]:
    import overhead  # with torch, which the other pieces need not wait for

    run, *shared = overhead.ours(Path(folder))
    return run, overhead.bare(Path(folder), *shared)


@cache
def _ragged(folder: str, way: str) -> Callable[[], dict[str, str | None]]:
    import throughput

    if way == "lab":
        return throughput.by_lab(Path(folder), "fp32", throughput.VARIANTS[throughput.OURS])
    return throughput.by_pipeline(Path(folder), "fp32", 8)


def _labels(way: str, folder: str) -> str:
    return answer_of(label for _, label in sorted(_ragged(folder, way)().items()))


LAB: dict[str, Callable[..., str]] = {
    "fingerprint": lambda path: sha256_file(Path(path)),
    "help": lambda: _started("-m", "lab", "--help"),
    "read": _rows_read,
    "append": _appended,
    "judge": _judged,
    "pass": lambda folder: answer_of(_passes(folder)[0]()),
    "ragged": lambda folder: _labels("lab", folder),
}
BASELINE: dict[str, Callable[..., str]] = {
    "fingerprint": _sha256sum,
    "help": lambda: _started("-c", start_up.BARE),
    "read": _rows_by_calamine,
    "append": _appended_by_openpyxl,
    "judge": _queried,
    "pass": lambda folder: answer_of(_passes(folder)[1]()),
    "ragged": lambda folder: _labels("pipeline", folder),
}
