"""The inputs of a campaign: read whole or into a table for judging, as a stream for a timed pass; fingerprinted."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lab.errors import Fault, InvalidInputError, fault
from lab.model.campaign import CorpusFacts
from lab.model.manifest import CorpusSpec
from lab.model.names import MANIFEST
from lab.store.canonical import canonical_json
from lab.store.corpus_table import Declared, load_inputs
from lab.store.files import inside, sha256_file
from lab.store.stored_inputs import StoredInput, StoredInputs, store_inputs
from lab.store.tables import FORMATS, Table, is_utf8

LARGE = 32 << 20  # bytes of a file from which on its inputs are not held in memory
_MOST_FAULTS = 20  # of one file: more of them help nobody


@dataclass(frozen=True)
class Corpus:
    """One corpus, whole, in its order; the tuples have one item per input.

    Attributes:
        facts: size, fingerprint, labels and subgroup sizes.
        ids: unique, exactly as in the file.
        texts: may be empty, never absent.
        references: the reference answers; None where an input has none.
        groups: column of a declared subgroup -> its value per input; None where an input has none.
    """

    facts: CorpusFacts
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    references: tuple[str | None, ...]
    groups: Mapping[str, tuple[str | None, ...]]


@dataclass(frozen=True)
class StoredCorpus:
    """One corpus whose inputs lie in a table on the disk; the table goes with the object."""

    facts: CorpusFacts
    table: StoredInputs


@dataclass(frozen=True)
class _Input:
    line: int
    id: str
    text: str
    reference: str | None
    groups: Mapping[str, str | None]


def read_corpus(folder: Path, spec: CorpusSpec) -> Corpus:
    """Read and check one corpus and its tuning set.

    The fingerprint is the sha256 of the file, as `sha256sum` gives it: it covers content and order, and no second
    reading is to be trusted. Which of its columns mean what is declared, and sealed, in the manifest.

    Args:
        folder: the campaign folder.
        spec: the corpus as the manifest declares it.

    Raises:
        InvalidInputError: a file is missing or not what it is declared to be, has no inputs, a line without id or text,
            an id twice, a reference outside the declared labels, or a tuning set that shares an id or a text
            (compared in Unicode's composed form without outer spaces). All faults at once, 20 a file at most.
    """
    groups = tuple(spec.groups)
    faults = _Faults(spec.path)
    inputs = list(_inputs(_table(folder, spec, spec.path), spec, faults, groups, complete=True))
    if not inputs and not faults.found:
        faults.add("corpus-empty", None)
    _check_ids(inputs, faults)
    _check_labels(inputs, spec.labels, faults)
    tuning_sha256 = None
    if spec.tuning is not None and not faults.found:
        tuning_sha256 = _check_tuning(folder, spec, inputs, faults)
    faults.raise_any()
    return Corpus(
        facts=_facts(folder, spec, inputs, tuning_sha256),
        ids=tuple(one.id for one in inputs),
        texts=tuple(one.text for one in inputs),
        references=tuple(one.reference for one in inputs),
        groups={name: tuple(one.groups[name] for one in inputs) for name in groups},
    )


def open_corpus(folder: Path, spec: CorpusSpec, *, least: int = LARGE) -> Corpus | StoredCorpus:
    """The corpus for judging: in memory, or, from `least` bytes of its file on, in a table on the disk.

    A large one is read as a stream and gives the same facts and the same faults as `read_corpus`; of its inputs only
    ids, references and subgroups are kept.

    Raises:
        InvalidInputError: as `read_corpus`.
    """
    path = inside(folder, spec.path, MANIFEST)
    if not path.is_file() or path.stat().st_size < least:
        return read_corpus(folder, spec)
    faults = _Faults(spec.path)
    if sound := _in_one_go(folder, spec):
        return sound
    counts = _Counts(spec)
    tuning = _Tuning.of(folder, spec) if spec.tuning is not None else None

    def rows() -> Iterator[StoredInput]:
        for one in _inputs(_table(folder, spec, spec.path), spec, faults, tuple(spec.groups), complete=True):
            _check_labels((one,), spec.labels, faults)
            counts.take(one)
            if tuning is not None:
                tuning.compare(one)
            yield StoredInput(one.line, one.id, one.reference, tuple(one.groups.values()))

    table = store_inputs(rows(), tuple(spec.groups))
    if not counts.size and not faults.found:
        faults.add("corpus-empty", None)
    for line, found, first in table.repeated(_MOST_FAULTS + 1):
        faults.add("corpus-duplicate-id", line, id=found, first=str(first))
    if tuning is not None and not faults.found:
        tuning.report(spec.path, faults)
    faults.raise_any()
    return StoredCorpus(counts.facts(sha256_file(path), tuning.sha256 if tuning else None), table)


def _in_one_go(folder: Path, spec: CorpusSpec) -> StoredCorpus | None:
    """The corpus as the database reads it, where nothing may be wrong with it; None: to be read line by line.

    Its tuning set passes by as a stream: neither of them is held in memory.
    """
    source = _table(folder, spec, spec.path)
    kind = source.format or FORMATS.get(PurePosixPath(spec.path).suffix.lower())
    if kind not in FORMATS.values() or not is_utf8(spec.encoding):
        return None
    columns = (spec.id_column, spec.text_column, spec.reference_column, tuple(spec.groups), tuple(spec.labels))
    tuning = _Passing(folder, spec)
    found = load_inputs(Declared(source.path, str(kind), *columns, spec.delimiter), tuning.shared())
    if found is None or not tuning.sound:
        return None
    counts = _Counts(spec, found.size)
    counts.labels.update(found.labels)
    for name, values in found.groups.items():
        counts.groups[name].update(values)
    return StoredCorpus(counts.facts(sha256_file(source.path), tuning.sha256()), found.table)


@dataclass
class _Passing:
    """A tuning set, if one is declared, read once and not held; `sound`: it was there, and nothing is wrong with it."""

    folder: Path
    spec: CorpusSpec
    sound: bool = True

    def shared(self) -> Iterator[tuple[str, str]]:
        """Ids, and texts as they are compared; ends at once where the file is at fault."""
        if self.spec.tuning is None:
            return
        self.sound = False
        faults = _Faults(self.spec.tuning)
        with suppress(InvalidInputError):  # the strict reader says what is wrong
            for one in _inputs(_table(self.folder, self.spec, self.spec.tuning), self.spec, faults, (), complete=False):
                self.sound = True
                yield one.id, _normal(one.text)
            faults.raise_any()
            return
        self.sound = False

    def sha256(self) -> str | None:
        """Its fingerprint, once it passed."""
        return None if self.spec.tuning is None else sha256_file(inside(self.folder, self.spec.tuning, MANIFEST))


def iter_inputs(folder: Path, spec: CorpusSpec) -> Iterator[tuple[str, str]]:
    """Every input as (id, text), in order and without holding them: the reading that a timed pass measures.

    Raises:
        InvalidInputError: the file cannot be read, or at the first line without a text id and text.
    """
    faults = _Faults(spec.path)
    for line, cells in _readable(_table(folder, spec, spec.path), (spec.id_column, spec.text_column), faults):
        found, text = cells.get(spec.id_column), cells.get(spec.text_column)
        if not (isinstance(found, str) and isinstance(text, str)):
            faults.add("corpus-input-unreadable", line)
        faults.raise_any()
        yield str(found), str(text)
    faults.raise_any()


class _Faults:
    """The first faults of one file; the reading stops when there are too many to be of use."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.found: list[Fault] = []

    def add(self, slug: str, line: int | None, **values: object) -> None:
        place = None if line is None else f"line {line}"
        self.append(fault(slug, file=self.shown, place=place, **values))

    def append(self, one: Fault) -> None:
        self.found.append(one)
        if len(self.found) == _MOST_FAULTS:
            self.found.append(fault("corpus-more-faults", file=self.shown))
            self.raise_any()

    def raise_any(self) -> None:
        if self.found:
            raise InvalidInputError(*self.found)


def _table(folder: Path, spec: CorpusSpec, path: str) -> Table:
    by_name = FORMATS.get(PurePosixPath(path).suffix.lower())
    kind = spec.format if path == spec.path else by_name or spec.format
    return Table(inside(folder, path, MANIFEST), path, kind, spec.delimiter, spec.encoding)


def _readable(
    table: Table, columns: Sequence[str], faults: _Faults, optional: Sequence[str] = ()
) -> Iterator[tuple[int, Mapping[str, object]]]:
    for line, row in table.rows(columns, optional):
        if isinstance(row, Fault):
            faults.append(row)
        else:
            yield line, row


def _inputs(
    table: Table, spec: CorpusSpec, faults: _Faults, groups: Sequence[str], *, complete: bool
) -> Iterator[_Input]:
    """The inputs of a file; a line at fault is reported and left out.

    A `complete` file has every declared column in one line at least; a tuning set may do without references.
    """
    reference = spec.reference_column
    optional = (*((reference,) if reference else ()), *groups)
    needed = (spec.id_column, spec.text_column)
    unseen: set[str] = set()
    line_before: int | None = None
    for line, cells in _readable(table, needed, faults, optional):
        unseen = (set(optional) if line_before is None else unseen) - cells.keys()
        line_before = line
        before = len(faults.found)
        for name in needed:
            if cells.get(name) is None:
                faults.add("corpus-cell-missing", line, column=name)
        for name, value in cells.items():
            _check_text(name, value, line, faults)
        if cells.get(spec.id_column) == "":
            faults.add("corpus-id-empty", line, column=spec.id_column)
        if len(faults.found) == before:
            given = {name: str(cells[name]) if cells.get(name) not in (None, "") else None for name in optional}
            yield _Input(
                line,
                str(cells[spec.id_column]),
                str(cells[spec.text_column]),
                given[reference] if reference else None,
                {name: given[name] for name in groups},
            )
    for name in sorted(unseen) if complete else ():
        faults.add("corpus-column-absent", None, column=name)


def _check_text(name: str, value: object, line: int, faults: _Faults) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:  # half a character: JSON can write it, no file can hold it
            faults.add("corpus-half-character", line, column=name)
    elif value is not None:
        faults.add("corpus-cell-not-text", line, column=name, found=canonical_json(value)[:60])


def _check_ids(inputs: Sequence[_Input], faults: _Faults) -> None:
    first: dict[str, int] = {}
    for one in inputs:
        if one.id in first:
            faults.add("corpus-duplicate-id", one.line, id=one.id, first=str(first[one.id]))
        first.setdefault(one.id, one.line)


def _check_labels(inputs: Sequence[_Input], labels: Sequence[str], faults: _Faults) -> None:
    allowed = set(labels)
    for one in inputs:
        if labels and one.reference is not None and one.reference not in allowed:
            nearest = difflib.get_close_matches(one.reference, labels, 1, 0.0)[0]
            faults.add("corpus-unknown-label", one.line, id=one.id, label=one.reference, nearest=nearest)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _check_tuning(folder: Path, spec: CorpusSpec, inputs: Sequence[_Input], into: _Faults) -> str:
    """Hold the tuning set against the corpus; its fingerprint. The product's method, section 4 (`tuning`)."""
    tuning = _Tuning.of(folder, spec)
    for one in inputs:
        tuning.compare(one)
    tuning.report(spec.path, into)
    return tuning.sha256


@dataclass
class _Tuning:
    """A tuning set, whole, and where the inputs that passed by share an id or a text with it."""

    faults: _Faults
    sha256: str
    lines: list[_Input]

    def __post_init__(self) -> None:
        self._ids: dict[str, int | None] = {one.id: None for one in self.lines}
        self._texts: dict[str, int | None] = {_normal(one.text): None for one in self.lines}

    @classmethod
    def of(cls, folder: Path, spec: CorpusSpec) -> _Tuning:
        path = str(spec.tuning)
        faults = _Faults(path)
        source = _table(folder, spec, path)
        lines = list(_inputs(source, spec, faults, (), complete=False))
        if not lines and not faults.found:
            faults.add("corpus-empty", None)
        return cls(faults, sha256_file(source.path), lines)

    def compare(self, one: _Input) -> None:
        """Note the first line of the corpus that shares an id, and that shares a text."""
        if self._ids.get(one.id, 0) is None:
            self._ids[one.id] = one.line
        if self._texts.get(normal := _normal(one.text), 0) is None:
            self._texts[normal] = one.line

    def report(self, corpus: str, into: _Faults) -> None:
        """A fault for each line of the tuning set that shares something."""
        for one in self.lines:
            if (other := self._ids[one.id]) is not None:
                self.faults.add("tuning-shares-id", one.line, id=one.id, corpus=corpus, other=str(other))
            if (other := self._texts[_normal(one.text)]) is not None:
                self.faults.add("tuning-shares-text", one.line, id=one.id, corpus=corpus, other=str(other))
        into.found += self.faults.found


@dataclass
class _Counts:
    """What the inputs so far add to the facts of their corpus."""

    spec: CorpusSpec
    size: int = 0

    def __post_init__(self) -> None:
        self.labels: Counter[str] = Counter()
        self.groups: dict[str, Counter[str]] = {name: Counter() for name in self.spec.groups}

    def take(self, one: _Input) -> None:
        self.size += 1
        if one.reference is not None:
            self.labels[one.reference] += 1
        for name, value in one.groups.items():
            if value is not None:
                self.groups[name][value] += 1

    def facts(self, sha256: str, tuning_sha256: str | None) -> CorpusFacts:
        labels = tuple(self.spec.labels) or tuple(sorted(self.labels))
        return CorpusFacts(
            id=self.spec.id,
            size=self.size,
            sha256=sha256,
            labels=labels,
            label_counts={label: self.labels[label] for label in labels},
            groups={name: {value: found[value] for value in sorted(found)} for name, found in self.groups.items()},
            tuning_sha256=tuning_sha256,
        )


def _facts(folder: Path, spec: CorpusSpec, inputs: Sequence[_Input], tuning_sha256: str | None) -> CorpusFacts:
    counts = _Counts(spec)
    for one in inputs:
        counts.take(one)
    return counts.facts(sha256_file(inside(folder, spec.path, MANIFEST)), tuning_sha256)
