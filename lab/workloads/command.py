"""`command`: any program, started without a shell, that reads the corpus file and writes the predictions file."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from lab.errors import Fault, fault
from lab.model.manifest import Variant
from lab.store.files import inside
from lab.workloads.base import Input, Job, Sink, Told, WorkloadError, signal_name

_PLACE = re.compile(r"\{([a-z_]+)\}")


class Command(Told):
    """Runs the variant's `command`, its named places filled; the predictions it writes are jsonl with ids.

    Places: `{corpus}`, `{predictions}`, `{folder}` (absolute paths), `{seed}`, `{id_column}`, `{text_column}` and the
    variant's own settings, such as `{batch_size}` or `{model}`. Anything else in braces stays as written, so that an
    awk script can stand in an argument. The program runs in the campaign folder; its output goes to the attempt's
    log. The main duration is the program's, its own start and loading included.
    """

    name: ClassVar[str] = "command"
    needs: ClassVar[str] = "command"
    preload: ClassVar[tuple[str, ...]] = ()
    warms_up: ClassVar[bool] = False
    exports: ClassVar[bool] = True

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """The program must exist: on the search path, or as a path inside the campaign folder or an absolute one."""
        program = variant.command[0]
        found = shutil.which(program) or ("/" in program and shutil.which(str(folder / program)))
        place = f"variants.{variant.id}.command"
        return () if found else (fault("program-missing", file="manifest.toml", place=place, program=program),)

    def prepare(self, job: Job) -> None:
        """Fill the places of the command's arguments."""
        self._job = job
        self._arguments = filled(job.variant.command, _values(job))

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Do nothing: each pass is a new program."""

    def run_pass(self, sink: Sink) -> None:
        """Run the program to its end, then count the lines it wrote; raises `WorkloadError` when it fails."""
        try:
            code = subprocess.run(  # noqa: S603  (the manifest is the engineer's own, and no shell reads it)
                self._arguments, cwd=self._job.folder, stdin=subprocess.DEVNULL, check=False
            ).returncode
        finally:
            sink.count(_lines(self._job.predictions))
        self.facts["exit_code"] = str(code)
        if code < 0:
            raise WorkloadError("command_killed", signal=signal_name(-code))
        if code:
            raise WorkloadError("command_failed", code=code)
        if not self._job.predictions.exists():
            raise WorkloadError("no_predictions")


def filled(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command's arguments with each known `{name}` replaced; one argument stays one argument."""
    return [_PLACE.sub(lambda found: values.get(found[1], found[0]), part) for part in command]


def _values(job: Job) -> dict[str, str]:
    settings = {key: str(value) for key, value in job.variant.parameters().items() if not isinstance(value, list)}
    return {
        **settings,
        "corpus": str(inside(job.folder, job.corpus.path)),
        "predictions": str(job.predictions),
        "folder": str(job.folder),
        "seed": str(job.seed),
        "id_column": job.corpus.id_column,
        "text_column": job.corpus.text_column,
    }


def _lines(path: Path) -> int:
    """Number of whole lines of the file, 0 without a file."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(1 for line in file if line.endswith(b"\n") and line.strip())
