"""Short fingerprints of the lines of a file, so that a line changed later can be named without keeping a copy of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lab.store.files import reading

DIGITS = 6  # hex digits of a fingerprint: the file's own sha256 finds a change, these only tell where it is

_MOST_FINGERPRINTS = 4096  # of a file with more lines, several lines share one
_LARGEST = 64 << 20  # bytes; of a larger file only the sha256 is kept
_MOST_NAMED = 5
_SHOWN = 120  # characters of a changed line
_READ_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Lines:
    """Fingerprints of a file's lines.

    Attributes:
        per: how many lines share one fingerprint.
        prints: the fingerprints, `DIGITS` hex digits each, in order.
    """

    per: int
    prints: str

    def each(self) -> list[str]:
        """The fingerprints one by one."""
        return [self.prints[at : at + DIGITS] for at in range(0, len(self.prints), DIGITS)]


@dataclass(frozen=True)
class ChangedLines:
    """Where a file differs: lines `first` to `last` (from 1) as recorded, `now_last` as it is, and the first of them.

    `was` and `now` are the fingerprints of the first difference, "" where there is no such line; `text` is its line as
    it is now, shortened.
    """

    first: int
    last: int
    now_last: int
    was: str
    now: str
    text: str


def read_lines(path: Path, per: int | None = None) -> Lines | None:
    """The fingerprints of a file's lines; None for a file larger than 64 MiB.

    Args:
        path: any file; lines end with a newline byte.
        per: lines that share a fingerprint; None: as few as keeps their number below 4096.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable.
    """
    with reading(path):
        if path.stat().st_size > _LARGEST:
            return None
        with path.open("rb") as file:
            count = sum(block.count(b"\n") for block in iter(lambda: file.read(_READ_AT_ONCE), b"")) + 1
            file.seek(0)
            together = per or -(-count // _MOST_FINGERPRINTS)
            return Lines(together, "".join(_prints(file, together)))


def _prints(lines: Iterator[bytes], per: int) -> Iterator[str]:
    while block := list(islice(lines, per)):
        yield hashlib.sha256(b"".join(block)).hexdigest()[:DIGITS]


def changed_lines(path: Path, recorded: Lines) -> tuple[ChangedLines, ...]:
    """The first differences between a file and the fingerprints recorded of it, at most five; empty when there is none.

    Where lines were added or taken away, all from the first to the last difference are one.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable.
    """
    found = read_lines(path, recorded.per)
    if found is None:
        return ()
    was, now = recorded.each(), found.each()
    if len(was) == len(now):
        places = [place for place, (a, b) in enumerate(zip(was, now, strict=True)) if a != b]
        spans = [(place, place + 1, place + 1) for place in places[:_MOST_NAMED]]
    else:
        start = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
        pairs = zip(reversed(was[start:]), reversed(now[start:]), strict=False)
        same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(was), len(now)) - start)
        spans = [(start, len(was) - same, len(now) - same)]
    return tuple(_change(path, recorded.per, span, was, now) for span in spans)


def _change(path: Path, per: int, span: tuple[int, int, int], was: Sequence[str], now: Sequence[str]) -> ChangedLines:
    start, end, now_end = span
    with reading(path), path.open("rb") as file:
        text = next(islice(file, start * per, None), b"").decode("utf-8", "replace").strip()
    return ChangedLines(
        first=start * per + 1,
        last=end * per,
        now_last=now_end * per,
        was=was[start] if start < end else "",
        now=now[start] if start < now_end else "",
        text=text[:_SHOWN] + ("…" if len(text) > _SHOWN else ""),
    )
