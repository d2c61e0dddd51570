"""How long a run will still take: from what its own passes took, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.measure.estimate import estimate
from lab.model.attempt import Attempt, Record, Slot


def _slots(*variants: str) -> list[Slot]:
    return [Slot(variant, "c", 0, number, 1) for number, variant in enumerate(variants, start=1)]


def _taken(variant: str, seconds: float | None, outcome: str = "completed") -> Record:
    return Record(Attempt("x", variant=variant, elapsed_s=seconds, outcome=outcome))  # type: ignore[arg-type]  # a name of the tests


def test_nothing_is_said_before_anything_was_seen() -> None:
    """No attempt, or only one that was cut off: unknown, never 0."""
    assert estimate([]).remaining_s(_slots("a")) is None
    assert estimate([_taken("a", 3, "interrupted"), _taken("a", None)]).remaining_s(_slots("a")) is None
    assert estimate([]).remaining_s([]) == 0


def test_each_variant_takes_what_it_took_and_an_unseen_one_the_mean() -> None:
    """Two of a, one of b, pauses between them; a failure's time counts like another's."""
    seen = estimate([_taken("a", 2), _taken("a", 4), _taken("b", 9, "failed")], pause_s=1)
    assert seen.remaining_s(_slots("a", "a", "b")) == pytest.approx(3 + 3 + 9 + 2)
    assert seen.remaining_s(_slots("new")) == pytest.approx(6)
    assert seen.remaining_s(_slots("a", "b"), elapsed_s=2) == pytest.approx(3 + 9 + 1 - 2)


def test_the_pass_under_way_tells_of_itself() -> None:
    """Half of its inputs after ten seconds: ten more, and twenty for its other passes."""
    assert estimate([]).remaining_s(_slots("a", "a"), elapsed_s=10, share=0.5) == pytest.approx(30)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_it_is_never_negative(taken: float, elapsed: float) -> None:
    """A pass that takes longer than those before it leaves nothing, not less."""
    found = estimate([_taken("a", taken)]).remaining_s(_slots("a"), elapsed)
    assert found is not None
    assert found >= 0
