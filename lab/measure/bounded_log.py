"""An attempt's log held within bounds, whatever the work prints: its two ends are kept, what lies between is counted.

The work writes to the file itself, so that nothing it said before a crash is lost; this looks from outside. While the
attempt runs, the file's middle gives its blocks back to the disk where the system can do that (Linux); once it is over,
the file is written anew without its middle.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HEAD_BYTES: Final = 1 << 21  # twice what a command's own output may take (`lab.workloads.program`)
TAIL_BYTES: Final = 1 << 21

_BLOCK: Final = 1 << 16
_PUNCH_HOLE: Final = 0x01 | 0x02  # linux/falloc.h: FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE


@dataclass
class BoundedLog:
    """The log of one attempt, and how far its middle has been given back."""

    path: Path
    given_back: int = HEAD_BYTES

    def look(self) -> None:
        """Give back what is neither beginning nor end by now, if that is worth it; never fails."""
        with suppress(OSError):
            upto = (self.path.stat().st_size - TAIL_BYTES) // _BLOCK * _BLOCK
            if upto - self.given_back >= TAIL_BYTES and _give_back(self.path, self.given_back, upto):
                self.given_back = upto

    def settle(self) -> None:
        """Leave the beginning, the number of bytes left out, and the end from a line's beginning; never fails."""
        with suppress(OSError):
            size = self.path.stat().st_size
            if size <= HEAD_BYTES + TAIL_BYTES:
                return
            with self.path.open("rb") as file:
                head = file.read(HEAD_BYTES)
                file.seek(size - TAIL_BYTES)
                tail = file.read(TAIL_BYTES)
            tail = tail[tail.find(b"\n") + 1 :]
            said = f"\n[... {size - len(head) - len(tail)} bytes ...]\n".encode()
            short = self.path.with_name(f".{self.path.name}")
            short.write_bytes(head + said + tail)
            short.replace(self.path)


def _give_back(path: Path, start: int, end: int) -> bool:
    """Make a hole of these bytes of the file; false where the system or its disk cannot."""
    if not sys.platform.startswith("linux"):
        return False
    handle = os.open(path, os.O_WRONLY)
    try:
        punch = ctypes.CDLL(None, use_errno=True).fallocate64
        punch.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        return int(punch(handle, _PUNCH_HOLE, start, end - start)) == 0
    except AttributeError:  # a C library without that call
        return False
    finally:
        os.close(handle)
