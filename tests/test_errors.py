"""The error tree: exit codes are contracts, errors carry facts and no words."""

from __future__ import annotations

import pytest

from lab.errors import (
    CheckFoundError,
    Fault,
    InvalidInputError,
    LabError,
    OutsideFailureError,
    UsageProblemError,
    fault,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [(CheckFoundError, 1), (UsageProblemError, 2), (InvalidInputError, 3), (OutsideFailureError, 4), (LabError, 4)],
)
def test_each_error_has_the_exit_code_of_the_contract(error: type[LabError], code: int) -> None:
    """1 a check found something, 2 wrong usage, 3 an input is invalid, 4 something outside failed."""
    assert error.exit_code == code
    assert issubclass(error, LabError)


def test_one_error_carries_every_fault_that_was_found() -> None:
    """All faults are raised at once, in the order they were found."""
    first, second = fault("manifest-unknown-key", place="line 3"), fault("corpus-duplicate-id", file="corpus.jsonl")
    with pytest.raises(LabError) as raised:
        raise InvalidInputError(first, second)
    assert raised.value.faults == (first, second)


def test_a_fault_keeps_file_and_place_apart_from_its_facts() -> None:
    """`file` and `place` say where; every other keyword is a fact of the text."""
    found = fault("corpus-duplicate-id", file="corpus.jsonl", place="line 12", id="001", count=2)
    assert (found.slug, found.file, found.place) == ("corpus-duplicate-id", "corpus.jsonl", "line 12")
    assert dict(found.values) == {"id": "001", "count": 2}


def test_a_fault_cannot_be_changed_through_the_facts_it_was_made_from() -> None:
    """The facts are copied and frozen."""
    facts: dict[str, object] = {"id": "001"}
    found = Fault("corpus-duplicate-id", values=facts)
    facts["id"] = "002"
    assert found.values["id"] == "001"
    with pytest.raises(TypeError):
        found.values["id"] = "003"  # type: ignore[index]  # the point: the mapping refuses


def test_an_error_says_its_facts_without_any_catalogue() -> None:
    """A log shows slug, place and facts even where no language is known."""
    said = str(InvalidInputError(fault("corpus-duplicate-id", file="corpus.jsonl", place="line 12", id="é01")))
    assert all(part in said for part in ("corpus-duplicate-id", "corpus.jsonl", "line 12", "é01"))
