"""`caches = "clear"`: what is cleared before each attempt, so that none finds what an earlier one left on the disk.

Two kinds. The operating system's copy in memory of the files that an attempt reads (corpus, model, tokenizer, the
user's code) is dropped. And the compilers' caches are in an empty folder of the attempt's own, which goes with it.
Neither the libraries' own files nor what a process kept for several passes holds in memory are touched.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.measure.orders import CACHES_FOLDER

# Inductor's and Triton's code, CUDA's and MIOpen's kernels: each reads its variable when it first compiles.
_VARIABLES: Final = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH", "MIOPEN_CUSTOM_CACHE_DIR")


@dataclass(frozen=True)
class Dropped:
    """What was asked to be dropped from the page cache, and what stayed: `left_bytes` None where it cannot be told.

    Pages that another process has mapped, or that the file system keeps nowhere else, stay.
    """

    files: int
    bytes: int
    left_bytes: int | None

    def facts(self) -> dict[str, str]:
        """For `attempt.json`."""
        left = {} if self.left_bytes is None else {"caches.bytes_left": str(self.left_bytes)}
        return {"caches.files_dropped": str(self.files), "caches.bytes_dropped": str(self.bytes), **left}


def own_folders(at: Path) -> dict[str, str]:
    """Variables that send every compiler's cache into a folder of the attempt at `at`; makes the folders."""
    found = {name: at / CACHES_FOLDER / name.lower() for name in _VARIABLES}
    for folder in found.values():
        folder.mkdir(parents=True, exist_ok=True)
    return {name: str(folder) for name, folder in found.items()}


def drop_pages(files: Iterable[Path]) -> Dropped:
    """Ask the system to forget its copies of these files in memory; one that cannot be opened is passed over."""
    count = size = left = 0
    known = True
    for path in sorted(set(files)):
        with suppress(OSError), path.open("rb") as file:
            os.fsync(file.fileno())  # a page that is not on the disk yet cannot be dropped
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            held = os.fstat(file.fileno()).st_size
            resident = resident_bytes(file.fileno(), held)
            count, size, left = count + 1, size + held, left + (resident or 0)
            known = known and resident is not None
    return Dropped(count, size, left if known else None)


def resident_bytes(descriptor: int, size: int) -> int | None:
    """How much of a file is in memory now, by the kernel's account of its pages; None where it gives none."""
    if size == 0:
        return 0
    if not sys.platform.startswith("linux"):
        return None
    # Private and writable only because ctypes takes an address from nothing else; no page is touched.
    with mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as view:
        first = ctypes.c_char.from_buffer(view)
        pages = -(-size // mmap.PAGESIZE)
        states = (ctypes.c_ubyte * pages)()
        answered = ctypes.CDLL(None).mincore(ctypes.byref(first), ctypes.c_size_t(size), states) == 0
        del first  # the view cannot be closed while its address is held
    return sum(one & 1 for one in states) * mmap.PAGESIZE if answered else None
