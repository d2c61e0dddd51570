"""`command`: any program, started without a shell, that reads the corpus file and writes the predictions file."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final

from lab.errors import Fault, LabError, fault
from lab.model.manifest import Variant
from lab.model.names import MANIFEST
from lab.store.files import inside
from lab.store.prediction_lines import lines
from lab.store.predictions import write_predictions
from lab.workloads.base import Input, Job, Sink, Told, WorkloadError, signal_name
from lab.workloads.program import BoundedOutput, Ended, run_program
from lab.workloads.threads import thread_facts, thread_variables

_PLACE = re.compile(r"\{([a-z_]+)\}")
_SHELL: Final = "/bin/sh"


class Command(Told):
    """Runs the variant's `command`, its named places filled; the predictions it writes are jsonl or csv with ids.

    Places: `{corpus}`, `{predictions}`, `{folder}` (absolute paths), `{seed}`, `{id_column}`, `{text_column}` and the
    variant's own settings, such as `{batch_size}` or `{model}`. Anything else in braces stays as written, so that an
    awk script can stand in an argument. A program divides its work over several `devices` itself: its command must name
    `{devices}`, or nothing would tell it. With `shell = true` the command is one text that `/bin/sh` reads, and what
    fills a place is quoted for it; otherwise no shell reads anything.

    The program runs in the campaign folder, with the variables that hold common libraries to the variant's `threads`
    (`lab.workloads.threads`); one that reads none of them can be given `{threads}`. Its output goes to the attempt's
    log: the beginning and the end, with the number of bytes in between that were left out. The main duration is the
    program's, its own start and loading included, unless it marks its phases (`lab.workloads.phase_marks`). With
    `predictions_format = "csv"` it writes a csv with the columns `id` and `prediction`, which is turned into jsonl
    afterwards, outside the main duration.
    """

    name: ClassVar[str] = "command"
    owns: ClassVar[tuple[str, ...]] = ("shell", "predictions_format")
    needs: ClassVar[str] = "command"
    preload: ClassVar[tuple[str, ...]] = ()
    warms_up: ClassVar[bool] = False
    exports: ClassVar[bool] = True

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """The program must exist: on the search path, or as a path inside the campaign folder or an absolute one."""
        place = f"variants.{variant.id}.command"
        if variant.shell and len(variant.command) > 1:
            return (fault("shell-needs-one-text", file=MANIFEST, place=place, parts=len(variant.command)),)
        if variant.devices > 1 and not any("{devices}" in part for part in variant.command):
            key = f"variants.{variant.id}.devices"
            return (fault("command-devices-untold", file=MANIFEST, place=key, devices=variant.devices),)
        program = _SHELL if variant.shell else variant.command[0]
        found = shutil.which(program) or ("/" in program and shutil.which(str(folder / program)))
        return () if found else (fault("program-missing", file=MANIFEST, place=place, program=program),)

    def prepare(self, job: Job) -> None:
        """Fill the places of the command's arguments."""
        self._job = job
        self.facts |= thread_facts(job.variant.threads)
        csv = job.variant.predictions_format == "csv"
        self._written = job.predictions.with_suffix(".csv") if csv else job.predictions
        values = _values(job, self._written)
        if job.variant.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            self._arguments = [_SHELL, "-c", *filled(job.variant.command, quoted)]
        else:
            self._arguments = filled(job.variant.command, values)

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Do nothing: each pass is a new program."""

    def run_pass(self, sink: Sink) -> None:
        """Run the program to its end; the lines it writes count as it writes them.

        Raises:
            WorkloadError: it failed, was killed, left no predictions, or marked its phases wrongly.
        """
        sys.stdout.flush()
        output = BoundedOutput(sys.stdout.fileno())
        header = self._written != self._job.predictions
        try:
            ended = run_program(
                self._arguments,
                self._job.folder,
                self._written,
                lambda done: sink.count(max(0, done - header)),
                output,
                variables=thread_variables(self._job.variant.threads),
            )
        except BaseException:
            with suppress(LabError, OSError):  # what is there is kept; how the program ended is what is told
                self._convert(sink)
            raise
        finally:
            self.counts = {"output_bytes": output.written, "output_bytes_left_out": output.left_out}
        self._tell(ended)
        code = ended.code
        if ended.marks.unknown:
            raise WorkloadError("phase_unknown", found=ended.marks.unknown[:40], known=list(ended.marks.known))
        if not self._written.exists() and not code:
            raise WorkloadError("no_predictions")
        self._convert(sink)
        if code < 0:
            raise WorkloadError("command_killed", signal=signal_name(-code))
        if code:
            raise WorkloadError("command_failed", code=code)
        self.durations |= ended.marks.durations(ended.began, ended.ended)

    def _tell(self, ended: Ended) -> None:
        self.facts["exit_code"] = str(ended.code)
        if marks := ended.marks.text(ended.began):
            self.facts["phase_marks"] = marks

    def _convert(self, sink: Sink) -> None:
        """Turn a csv into the predictions file; a row that cannot be read stays one that cannot."""
        if self._written == self._job.predictions or not self._written.exists():
            return
        write_predictions(self._job.predictions, _counted(_rows(self._written), sink))
        self._written.unlink()


def filled(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command's arguments with each known `{name}` replaced; one argument stays one argument."""
    return [_PLACE.sub(lambda found: values.get(found[1], found[0]), part) for part in command]


def _values(job: Job, written: Path) -> dict[str, str]:
    settings = {key: str(value) for key, value in job.variant.parameters().items() if not isinstance(value, list)}
    return {
        **settings,
        "corpus": str(inside(job.folder, job.corpus.path)),
        "predictions": str(written),
        "folder": str(job.folder),
        "seed": str(job.seed),
        "id_column": job.corpus.id_column,
        "text_column": job.corpus.text_column,
    }


def _rows(path: Path) -> Iterator[dict[str, object]]:
    """The rows of a csv as predictions; what a row lacks, its line lacks, so that acceptance finds it there too."""
    for line in lines(path):
        cells = {"id": line.id, "prediction": line.prediction}
        yield {name: cell for name, cell in cells.items() if cell is not None}


def _counted(rows: Iterable[dict[str, object]], sink: Sink) -> Iterator[dict[str, object]]:
    number = 0
    for number, row in enumerate(rows, start=1):  # noqa: B007  (the last number is what is told)
        yield row
    sink.count(number)
