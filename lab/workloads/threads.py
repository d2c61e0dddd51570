"""How many threads a user's own code gets: the variables that the common libraries read when they are loaded."""

from __future__ import annotations

import os
import sys
from typing import Final

# OpenMP (also torch's and ONNX Runtime's own default), the BLAS libraries, numexpr, and Rust's pool of the tokenizers.
_VARIABLES: Final = (
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def thread_variables(threads: int) -> dict[str, str]:
    """The environment variables that hold libraries to `threads`; code that sets its own number is free to."""
    return dict.fromkeys(_VARIABLES, str(threads))


def thread_facts(threads: int) -> dict[str, str]:
    """What was asked and by which means, as facts of the run: nobody can count the threads of another's code."""
    return {"threads_asked": str(threads), "threads_asked_by": ", ".join(_VARIABLES)}


def hold_libraries(threads: int) -> None:
    """Hold what this process loads from now on to `threads`, and torch too where it is loaded already."""
    os.environ.update(thread_variables(threads))
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)
