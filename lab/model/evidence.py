"""What reading a predictions file against its corpus shows: counts and aggregates, never the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Confusion = Mapping[tuple[str, str], int]  # (reference, prediction) -> number of inputs


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
        confusion: inputs by reference and prediction, over expected ids that have a reference and one prediction.
        subgroups: (group, value) -> the same counts within that subgroup; a declared one that is empty is present.
        without_reference: expected ids that have no reference answer.
        altered: the file's sha256 differs from the one recorded when the attempt ended (None: none was recorded).
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
    confusion: Confusion = field(default_factory=dict)
    subgroups: Mapping[tuple[str, str], Confusion] = field(default_factory=dict)
    without_reference: int = 0
    altered: bool | None = None
