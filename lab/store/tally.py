"""Predictions counted in memory, line by line: for files whose ids fit there, and for any form of file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import localcontext
from typing import Any

from lab.model.evidence import Distances, Evidence
from lab.store.corpus import Corpus
from lab.store.near_ids import near_matches
from lab.store.prediction_lines import EXACT, Line, cosine_distance, number_of, vector_of

FIRST = 10  # how many examples an `Evidence` keeps of a kind
FIRST_NEAR = 5  # unexpected ids for which a near match is looked for

Pair = tuple[str, str]  # reference, prediction


@dataclass
class Vectors:
    """Predictions that have to be vectors, all of one size: the first one's."""

    size: int | None = None
    bad: int = 0
    first: list[str] = field(default_factory=list)

    def take(self, one: str, prediction: str) -> None:
        """Count the prediction of the id `one`."""
        vector = vector_of(prediction)
        if vector is not None and self.size in {None, len(vector)}:
            self.size = len(vector)
            return
        self.bad += 1
        if len(self.first) < FIRST:
            self.first.append(one)

    def found(self) -> dict[str, Any]:
        """The counts as `Evidence` names them."""
        return {"bad_vector_count": self.bad, "first_bad_vectors": tuple(self.first)}


@dataclass
class Tally:
    """Counts over the lines so far. `kinds` holds, per input, 0: none yet, 1: several, else 2 + place in `known`."""

    corpus: Corpus
    labels: frozenset[str] | None
    observed: int = 0
    duplicates: int = 0
    bad_line_count: int = 0
    bad_label_count: int = 0
    unexpected: dict[str, None] = field(default_factory=dict)
    first_duplicates: dict[str, None] = field(default_factory=dict)
    bad_lines: list[tuple[int, str]] = field(default_factory=list)
    bad_labels: dict[str, None] = field(default_factory=dict)
    known: dict[str | None, int] = field(default_factory=dict)
    vectors: Vectors | None = None

    def __post_init__(self) -> None:
        """Start with every input unseen."""
        self.places = {one: place for place, one in enumerate(self.corpus.ids)}
        self.kinds = [0] * len(self.corpus.ids)

    def take(self, line: Line) -> None:
        """Count one line."""
        if line.slug is not None:
            self.bad_line_count += 1
            if len(self.bad_lines) < FIRST:
                self.bad_lines.append((line.number, line.slug))
        if line.id is None:
            return
        if self.labels is not None and line.prediction is not None and line.prediction not in self.labels:
            self.bad_label_count += 1
            if len(self.bad_labels) < FIRST:
                self.bad_labels.setdefault(line.prediction)
        if self.vectors is not None and line.prediction is not None:
            self.vectors.take(line.id, line.prediction)
        self._count(line.id, line.prediction)

    def _count(self, one: str, prediction: str | None) -> None:
        self.observed += 1
        place = self.places.get(one)
        seen = one in self.unexpected if place is None else bool(self.kinds[place])
        if seen:
            self.duplicates += 1
            if len(self.first_duplicates) < FIRST:
                self.first_duplicates.setdefault(one)
        if place is None:
            self.unexpected.setdefault(one)
        else:
            self.kinds[place] = 1 if seen else 2 + self.known.setdefault(prediction, len(self.known))

    def predicted(self) -> list[str | None]:
        """The one prediction of each input, in corpus order; None where there is none or there are several."""
        names = list(self.known)
        return [names[kind - 2] if kind > 1 else None for kind in self.kinds]

    def evidence(self, *, distances: bool = False) -> Evidence:
        """The counts so far, as the model names them; `distances` instead of the confusion where that is wanted."""
        corpus = self.corpus
        missing = [one for one, kind in zip(corpus.ids, self.kinds, strict=True) if kind == 0]
        pairs = [
            (reference, prediction) if reference is not None and prediction is not None else None
            for reference, prediction in zip(corpus.references, self.predicted(), strict=True)
        ]
        confusion = Counter(pair for pair in pairs if pair is not None)
        subgroups: dict[tuple[str, str], Counter[Pair]] = {
            (group, value): Counter() for group in corpus.groups for value in corpus.facts.groups[group]
        }
        for group, values in corpus.groups.items():
            for pair, value in zip(pairs, values, strict=True):
                if pair is not None and value is not None:
                    subgroups[group, value][pair] += 1
        unexpected = list(self.unexpected)
        return Evidence(
            expected=len(corpus.ids),
            observed=self.observed,
            duplicates=self.duplicates,
            missing=len(missing),
            unexpected=len(unexpected),
            first_duplicates=tuple(self.first_duplicates),
            first_missing=tuple(missing[:FIRST]),
            first_unexpected=tuple(unexpected[:FIRST]),
            near_matches=near_matches(unexpected[:FIRST_NEAR], (missing, corpus.ids)),
            bad_lines=tuple(self.bad_lines),
            bad_line_count=self.bad_line_count,
            bad_labels=tuple(self.bad_labels),
            bad_label_count=self.bad_label_count,
            **(self.vectors.found() if self.vectors else {}),
            confusion={} if distances else dict(confusion),
            subgroups={key: {} if distances else dict(counted) for key, counted in subgroups.items()},
            without_reference=sum(reference is None for reference in corpus.references),
            distances=distances_of(confusion.items()) if distances else Distances(),
            subgroup_distances={key: distances_of(one.items()) for key, one in subgroups.items()} if distances else {},
        )


def distances_of(pairs: Iterable[tuple[Pair, int]], start: Distances | None = None) -> Distances:
    """The distances of pairs with how often each occurs, added to those of `start`."""
    found = start or Distances()
    inputs, not_numbers, total, largest = found.inputs, found.not_numbers, found.total, found.largest
    vectors = found.vectors
    with localcontext(prec=EXACT):
        for (reference, prediction), count in pairs:
            wanted, given = number_of(reference), number_of(prediction)
            if wanted is not None and given is not None:
                distance = abs(wanted - given)
            elif (apart := cosine_distance(reference, prediction)) is not None:
                distance = apart
                vectors += count
            else:
                not_numbers += count
                continue
            inputs += count
            total += distance * count
            largest = distance if largest is None else max(largest, distance)
    return Distances(inputs, not_numbers, total, largest, vectors)
