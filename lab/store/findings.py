"""What the predictions of a campaign show: evidence of each completed attempt, its agreement with the reference run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from lab.errors import Fault, InvalidInputError, fault
from lab.metrics import metric
from lab.metrics.own import OwnFunction, OwnMetric, OwnMetricError, call, load, module_file
from lab.model.attempt import Attempt, Record
from lab.model.evidence import Confusion, Evidence, Subgroup
from lab.model.manifest import Manifest
from lab.model.names import MANIFEST
from lab.model.protocol import Protocol
from lab.store.agreement import compare
from lab.store.attempts import ATTEMPTS, LATENCIES, PREDICTIONS
from lab.store.corpus import Corpus, StoredCorpus
from lab.store.files import inside, sha256_file
from lab.store.predictions import examine

_Done = TypeVar("_Done")


@dataclass
class Findings:
    """Evidence of the completed attempts whose predictions are in the campaign.

    Attributes:
        evidence: by attempt id.
        faults: by attempt id, why its predictions could not be examined.
        examined: the files that were looked at, as paths in the campaign; the module of the user's own metric is one.
    """

    folder: Path
    manifest: Manifest
    protocol: Protocol
    corpora: Mapping[str, Corpus | StoredCorpus]
    evidence: dict[str, Evidence] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    examined: list[str] = field(default_factory=list)
    _paths: dict[str, Path] = field(default_factory=dict)

    def take_all(self, records: Iterable[Record]) -> None:
        """Examine every completed attempt, then hold each against the reference run of its corpus and seed."""
        examined: list[Attempt] = []
        for record in records:
            examined += self._attempted(record.attempt.attempt_id, partial(self._take, record), [])
        for attempt in examined:
            run = self._reference_run(attempt, examined)
            if run is not None and sound(self.evidence[attempt.attempt_id]):
                self._attempted(attempt.attempt_id, partial(self._agree, attempt, run), None)
        self._own_metric()

    def _attempted(self, attempt_id: str, act: Callable[[], _Done], otherwise: _Done) -> _Done:
        """What `act` gives; why it could not be done is kept instead."""
        try:
            return act()
        except InvalidInputError as error:
            self.faults[attempt_id] = error.faults[0]
            self.evidence.pop(attempt_id, None)
            return otherwise

    def _take(self, record: Record) -> list[Attempt]:
        attempt = record.attempt
        relative = attempt.predictions_path
        if relative is None and not record.declared:
            relative = f"{ATTEMPTS}/{attempt.attempt_id}/{PREDICTIONS}"
        if attempt.outcome != "completed" or relative is None:
            return []
        path = inside(self.folder, relative, f"{ATTEMPTS}/{attempt.attempt_id}")
        corpus = self.corpora.get(attempt.corpus or "")
        if corpus is None:
            raise InvalidInputError(fault("attempt-other-corpus", file=attempt.attempt_id, corpus=attempt.corpus))
        own = (self.folder / ATTEMPTS / attempt.attempt_id).resolve()
        if not record.declared and not path.resolve().is_relative_to(own):
            raise InvalidInputError(fault("predictions-elsewhere", file=relative, id=attempt.attempt_id))
        if not path.is_file():
            raise InvalidInputError(fault("predictions-missing", file=relative))
        # Only a declared label set refuses an answer: the references' own labels are not all that may be said.
        spec = next(spec for spec in self.manifest.corpora if spec.id == corpus.facts.id)
        labels, vectors = spec.labels or None, spec.answers == "vector"
        used = metric(self.protocol.metric, self.manifest)
        distances = used is not None and used.needs == "distances"
        recorded = attempt.predictions_sha256
        self.evidence[attempt.attempt_id] = examine(
            path, corpus, labels, recorded, distances=distances, vectors=vectors
        )
        self.examined.append(relative)
        self._paths[attempt.attempt_id] = path
        return [attempt]

    def _reference_run(self, attempt: Attempt, examined: Iterable[Attempt]) -> Attempt | None:
        """The first sound attempt of the reference variant on the same corpus and seed; `examined` is by start."""
        if self.protocol.reference_variant is None:
            return None
        wanted = (self.protocol.reference_variant, attempt.corpus, attempt.seed)
        of_reference = (one for one in examined if (one.variant, one.corpus, one.seed) == wanted)
        usable = (one for one in of_reference if one.attempt_id in self.evidence)
        return next((one for one in usable if sound(self.evidence[one.attempt_id])), None)

    def _agree(self, attempt: Attempt, run: Attempt) -> None:
        found = compare(
            run.attempt_id,
            self._paths[attempt.attempt_id],
            self._paths[run.attempt_id],
            self.corpora[attempt.corpus or ""],
            distance=self.protocol.reproducibility_target == "bounded_distance",
        )
        self.evidence[attempt.attempt_id] = replace(self.evidence[attempt.attempt_id], agreement=found)

    def _own_metric(self) -> None:
        """Call the user's own metric, when the protocol names it, on what was counted; its errors are kept as text."""
        used = metric(self.protocol.metric, self.manifest)
        if not isinstance(used, OwnMetric) or not self.evidence:
            return
        relative = module_file(used.spec)
        function, failed = None, f"{relative} is not in the campaign"
        try:
            path = inside(self.folder, relative, MANIFEST)
            if path.is_file():
                function = load(used.spec, path)
                self.examined.append(relative)
        except InvalidInputError:  # a link leads out of the campaign: nothing is loaded from there
            pass
        except OwnMetricError as error:
            failed = str(error)
        for attempt_id, found in self.evidence.items():
            own: dict[Subgroup | None, float | str] = {None: failed}
            self.evidence[attempt_id] = replace(found, own=dict(_called(function, found)) if function else own)


def _called(function: OwnFunction, found: Evidence) -> Iterator[tuple[Subgroup | None, float | str]]:
    counted: list[tuple[Subgroup | None, Confusion]] = [(None, found.confusion), *found.subgroups.items()]
    for key, confusion in counted:
        if confusion:
            try:
                yield key, call(function, confusion)
            except OwnMetricError as error:
                yield key, str(error)


def sound(found: Evidence) -> bool:
    """Whether predictions are the measured ones, of every id once, and can be read: what a reference run has to be."""
    ids = found.duplicates or found.missing or found.unexpected
    form = found.bad_line_count or found.bad_label_count or found.bad_vector_count
    return not ids and not form and found.altered is False


def changed_predictions(folder: Path, records: Iterable[Record]) -> tuple[Fault, ...]:
    """A fault for each completed attempt whose predictions are gone or are not the measured ones; nothing is judged."""
    found: list[Fault] = []
    for record in records:
        attempt = record.attempt
        relative = attempt.predictions_path or f"{ATTEMPTS}/{attempt.attempt_id}/{PREDICTIONS}"
        if record.declared or attempt.outcome != "completed":
            continue
        try:
            digest = sha256_file(inside(folder, relative, f"{ATTEMPTS}/{attempt.attempt_id}"))
        except InvalidInputError as error:
            found += [fault("predictions-missing", file=relative)] if not (folder / relative).exists() else error.faults
            continue
        if attempt.predictions_sha256 is not None and digest != attempt.predictions_sha256:
            found.append(fault("predictions-altered", file=relative, id=attempt.attempt_id))
    return tuple(found)


def changed_latencies(folder: Path, records: Iterable[Record]) -> Iterator[Fault]:
    """A fault for every `latencies.csv` that is not there any more as it was imported."""
    for record in records:
        attempt_id, held = record.attempt.attempt_id, record.details.populations
        relative = f"{ATTEMPTS}/{attempt_id}/{LATENCIES}"
        if held and (not (folder / relative).is_file() or sha256_file(folder / relative) != held[0].sha256):
            yield fault("latencies-altered", file=relative, id=attempt_id)
