"""What reading a predictions file against its corpus shows: counts and aggregates, never the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

Confusion = Mapping[tuple[str, str], int]  # (reference, prediction) -> number of inputs
Subgroup = tuple[str, str]  # (group, value)


@dataclass(frozen=True)
class Distances:
    """How far predicted numbers lie from reference numbers, or vectors from vectors, summed exactly.

    The distance of two numbers is the absolute difference, in their unit; of two vectors of one size it is 1 - cosine.

    Attributes:
        inputs: pairs that have a distance.
        not_numbers: pairs that have none.
        total: sum of the distances.
        largest: the largest of them; None of no pair.
        vectors: how many of `inputs` are pairs of vectors.
    """

    inputs: int = 0
    not_numbers: int = 0
    total: Decimal = Decimal(0)
    largest: Decimal | None = None
    vectors: int = 0


@dataclass(frozen=True)
class Agreement:
    """Predictions held against those of the reference run, input by input.

    Attributes:
        run: id of the attempt of the reference variant that they are compared with.
        confusion: inputs by (prediction of the reference run, prediction), over ids that have one of each.
        subgroups: (group, value) -> the same counts within that subgroup.
        differing: inputs whose prediction is another text than that of the reference run.
        first_differing: the first ids of them, in corpus order.
        largest_distance: the largest absolute difference of two scores of one input and label, or, where neither file
            holds scores, of two predictions that are numbers or of two places of vectors; None where that is not known.
        distances: of predictions that are vectors; then there is no confusion. None where they are none.
        subgroup_distances: the same within each subgroup.
    """

    run: str
    confusion: Confusion = field(default_factory=dict)
    subgroups: Mapping[Subgroup, Confusion] = field(default_factory=dict)
    differing: int = 0
    first_differing: tuple[str, ...] = ()
    largest_distance: Decimal | None = None
    distances: Distances | None = None
    subgroup_distances: Mapping[Subgroup, Distances] = field(default_factory=dict)


@dataclass(frozen=True)
class Aggregates:
    """All that a metric may look at, of a corpus or of one of its subgroups.

    `agreement` is None where there is no reference run; `own` is the value of the user's own metric, `own_error` why
    there is none. `agreement_distances` is None also where the run's predictions are no vectors.
    """

    confusion: Confusion = field(default_factory=dict)
    distances: Distances = Distances()
    agreement: Confusion | None = None
    agreement_distances: Distances | None = None
    own: float | None = None
    own_error: str | None = None


@dataclass(frozen=True)
class Evidence:
    """Counts of one predictions file against the expected ids, and the aggregates that metrics take.

    Ids are compared exactly as text. Lists hold the first few, in file or corpus order.

    Attributes:
        expected: number of ids in the corpus.
        observed: number of lines that carry an id, duplicates included.
        duplicates: how many lines repeat an id already seen.
        missing: how many expected ids have no prediction.
        unexpected: how many distinct observed ids are not in the corpus.
        near_matches: (observed, expected) pairs that differ only in a normal form, leading zeros, case or spaces.
        bad_lines: (line number, slug `predictions-…`) of lines that cannot be read; an incomplete last line is one.
        bad_line_count: how many such lines there are.
        bad_labels: the first predictions outside the declared label set.
        bad_label_count: how many predictions are outside it.
        bad_vector_count: where predictions have to be vectors, how many are none, or of another size than the first.
        first_bad_vectors: the first ids of them.
        confusion: inputs by reference and prediction, over expected ids that have a reference and one prediction.
        subgroups: (group, value) -> the same counts within that subgroup; a declared one that is empty is present.
        without_reference: expected ids that have no reference answer.
        altered: the file's sha256 differs from the one recorded when the attempt ended (None: none was recorded).
        distances: of predictions and references that are numbers.
        subgroup_distances: the same within each subgroup.
        agreement: with the reference run; None without a reference variant or without a usable attempt of it.
        own: subgroup (None: the whole corpus) -> value of the user's own metric, or its error as text.
    """

    expected: int
    observed: int
    duplicates: int
    missing: int
    unexpected: int
    first_duplicates: tuple[str, ...] = ()
    first_missing: tuple[str, ...] = ()
    first_unexpected: tuple[str, ...] = ()
    near_matches: tuple[tuple[str, str], ...] = ()
    bad_lines: tuple[tuple[int, str], ...] = ()
    bad_line_count: int = 0
    bad_labels: tuple[str, ...] = ()
    bad_label_count: int = 0
    bad_vector_count: int = 0
    first_bad_vectors: tuple[str, ...] = ()
    confusion: Confusion = field(default_factory=dict)
    subgroups: Mapping[tuple[str, str], Confusion] = field(default_factory=dict)
    without_reference: int = 0
    altered: bool | None = None
    distances: Distances = Distances()
    subgroup_distances: Mapping[Subgroup, Distances] = field(default_factory=dict)
    agreement: Agreement | None = None
    own: Mapping[Subgroup | None, float | str] = field(default_factory=dict)

    def aggregates(self, subgroup: Subgroup | None = None) -> Aggregates:
        """What a metric takes: of the whole corpus, or of one subgroup; empty counts where there is no such one."""
        own = self.own.get(subgroup)
        value, error = (None, own) if isinstance(own, str) else (own, None)
        agreement = self.agreement
        if subgroup is None:
            agreed = agreement.confusion if agreement else None
            apart = agreement.distances if agreement else None
            return Aggregates(self.confusion, self.distances, agreed, apart, value, error)
        return Aggregates(
            self.subgroups.get(subgroup, {}),
            self.subgroup_distances.get(subgroup, Distances()),
            agreement.subgroups.get(subgroup, {}) if agreement else None,
            agreement.subgroup_distances.get(subgroup) if agreement else None,
            value,
            error,
        )
