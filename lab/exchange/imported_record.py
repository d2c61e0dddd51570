"""One raw value of a foreign file as a record: every empty cell with its reason, where it came from, its latencies."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from lab.analysis.statistics import percentile
from lab.formats import Format, Found, Latencies, Source
from lab.measure.journal import reasons_text
from lab.messages import messages
from lab.model.attempt import COLUMNS, Attempt, Details, Population, Provenance, Record
from lab.model.reason import reason
from lab.store.attempt_json import from_json, to_json
from lab.store.attempts import ATTEMPT_JSON, LATENCIES
from lab.store.canonical import plain, readable_json
from lab.store.files import write_atomically, writing

_NOT_SAID, _ELSEWHERE, _NO_PREDICTIONS = "missing.not_in_file", "missing.elsewhere", "missing.no_predictions_yet"
_REASONS = {
    **dict.fromkeys(("position", "environment", "seal", "parameters"), _ELSEWHERE),
    **dict.fromkeys(("predictions_path", "predictions_sha256"), _NO_PREDICTIONS),
}
_LONGEST_NOTE = 2000
_SHA_DIGITS = 12
_PATH = re.compile(r"(?<![\w.~])(?:~[\w.-]*|[A-Za-z]:|\.{1,2})?[/\\](?:[^\s\"'`,;:=]*[/\\])?([^\s\"'`,;:=/\\]*)")


@dataclass(frozen=True)
class Made:
    """A record as it is taken in, and its latencies as `latencies.csv` holds them; None where it has none."""

    record: Record
    latencies: bytes | None

    @property
    def place(self) -> str:
        """Where the value stands in its file."""
        source = self.record.details.provenance
        return source.place or "" if source else ""


@dataclass(frozen=True)
class Origin:
    """Where a raw value stands: its format, file, version of the tool, and its number among the values, from 1."""

    kind: Format
    source: Source
    version: str | None
    number: int


@dataclass(frozen=True)
class Target:
    """What a raw value is declared to be a pass of."""

    variant: str
    corpus: str
    seed: int | None
    round: int | None = None

    @property
    def of(self) -> tuple[str, str, int | None]:
        """Variant, corpus and seed."""
        return self.variant, self.corpus, self.seed


def against_corpus(found: Found, size: int) -> Found:
    """The value as one of a corpus of `size` inputs: a run that counts other inputs is no pass over it.

    With fewer it is a partial run, which failed; with more it is longer than a pass, and its time is elapsed time only.
    """
    counted = found.cells.get("completed_inputs")
    if counted is None or found.cells.get("outcome") != "completed" or counted == size:
        return found
    cells = {**found.cells, "duration_s": None}
    if counted > size:
        return replace(found, cells=cells, missing={**found.missing, "duration_s": "missing.more_inputs"})
    because = reason("ended.imported.partial", completed=counted, size=size)
    return replace(found, cells={**cells, "outcome": "failed"}, because=because)


def imported_record(found: Found, origin: Origin, target: Target, language: str) -> Made:
    """The record of one raw value.

    Args:
        found: the value.
        origin: where it stands; the file's name and sha256 are kept.
        target: what it is a pass of.
        language: of the cells `missing_reason` and `notes`.

    Raises:
        InvalidInputError: what the file states is no value of its column.
    """
    source, kind = origin.source, origin.kind
    latencies = _csv(found.populations)
    texts = messages(language)
    own = {"variant": target.variant, "corpus": target.corpus, "seed": target.seed, "round": target.round}
    notes = " ".join(texts.text(one.key, **one.values) for one in found.notes)
    stated = str(found.cells.get("notes") or "")
    cells: dict[str, Any] = {**found.cells, **own}
    cells["notes"] = " ".join(part for part in (stated, notes) if part)[:_LONGEST_NOTE] or None
    attempt = Attempt(_name(origin, target), **cells)
    missing = _missing(attempt, found)
    reasons = reasons_text(missing, found.because, language) or None
    details = Details(
        ended_because=found.because,
        missing=missing,
        devices=found.devices,
        host_peak_bytes=found.host_peak_bytes,
        counts=found.counts,
        facts={name: _without_paths(value) for name, value in found.facts.items()},
        provenance=Provenance(source.name, source.sha256, kind.name, found.place, kind.tool, origin.version),
        populations=_populations(found.populations, latencies),
    )
    record = Record(Attempt(_name(origin, target), **{**cells, "missing_reason": reasons}), details)
    # Nothing is written that would not be read.
    return Made(from_json(plain(to_json(record)), source.name), latencies)


def _name(origin: Origin, target: Target) -> str:
    """Variant, corpus, the file's first digits and the value's number in it: one value always has one name."""
    return f"{target.variant}_{target.corpus}_imported_{origin.source.sha256[:_SHA_DIGITS]}_{origin.number:04}"


def _missing(attempt: Attempt, found: Found) -> Mapping[str, str]:
    """Column to reason for every measured cell that is empty, in the order of the columns."""
    empty = [
        one.name
        for one in COLUMNS
        if one.owner == "measured" and one.name != "missing_reason" and getattr(attempt, one.name) is None
    ]
    ended = {"duration_s": "missing.not_completed"} if attempt.outcome != "completed" else {}
    return {name: found.missing.get(name) or ended.get(name) or _REASONS.get(name, _NOT_SAID) for name in empty}


def _without_paths(value: str) -> str:
    """A fact with each path in it cut to its last part: folders hold names of people; `org/model` is no path."""
    return _PATH.sub(lambda found: found[1], value)


def _populations(found: Sequence[Latencies], latencies: bytes | None) -> tuple[Population, ...]:
    digest = hashlib.sha256(latencies or b"").hexdigest()
    return tuple(
        Population(
            one.name, len(one.values), median(one.values), min(one.values), max(one.values), digest,
            *(percentile(one.values, q) for q in (0.9, 0.95, 0.99)),  # as the fields of `Population` stand
        )
        for one in found
        if one.values
    )  # fmt: skip


def _csv(found: Sequence[Latencies]) -> bytes | None:
    if not any(one.values for one in found):
        return None
    written = io.StringIO(newline="")
    written.write("population,number,seconds\n")
    for one in found:
        name = _quoted(one.name)  # a name may be the file's own; numbers need no quotes
        written.writelines(f"{name},{number},{value!r}\n" for number, value in enumerate(one.values))
    return written.getvalue().encode()


def _quoted(name: str) -> str:
    cell = io.StringIO(newline="")
    csv.writer(cell, lineterminator="").writerow([name])
    return cell.getvalue()


def write_folder(scratch: Path, made: Made) -> Path:
    """The attempt's folder, complete, in `scratch`; raises OutsideFailureError when the disk refuses."""
    home = scratch / made.record.attempt.attempt_id
    with writing(home):
        home.mkdir()
    write_atomically(home / ATTEMPT_JSON, readable_json(to_json(made.record)))
    if made.latencies is not None:
        write_atomically(home / LATENCIES, made.latencies)
    return home
