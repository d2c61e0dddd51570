"""When durations tell two variants apart, and what blocks when they do not."""

from __future__ import annotations

from itertools import combinations

import pytest

from lab.analysis.rank_test import exact_p_value
from lab.analysis.separation import could_tell, more_passes, separate
from lab.messages import messages
from lab.model.decision import Summary

NEAR, FAR = (10.0, 10.1, 10.2, 10.3, 10.4), (20.0, 20.1, 20.2, 20.3, 20.4)


def summary(variant: str, durations: tuple[float | None, ...], corpus: str = "tickets", seed: int = 0) -> Summary:
    """A summary of these durations."""
    present = sorted(one for one in durations if one is not None)
    median = present[len(present) // 2] if present else None
    low, high = (present[0], present[-1]) if present else (None, None)
    count = len(durations)
    return Summary(variant, corpus, seed, count, len(present), 0, 0, 0, 0, durations, median, low, high)


def test_far_apart_is_separated() -> None:
    """Gap 10 s over a range of 0.4 s, p = 0.0079: separated, and the faster one is named."""
    (found,) = separate([summary("a", NEAR), summary("b", FAR)])
    assert (found.separated, found.faster, found.blocked_by) == (True, "a", None)
    assert (found.gap_s, found.range_s) == (10.0, 0.4)
    assert found.p_value == found.p_adjusted == pytest.approx(2 / 252)


def test_the_gap_has_to_exceed_the_range_exactly() -> None:
    """A gap of 0.4 s over a range of 0.4 s is not more than it, whatever binary fractions make of 0.4."""
    shifted = tuple(round(one + 0.4, 1) for one in NEAR)
    (found,) = separate([summary("a", NEAR), summary("b", shifted)])
    assert found.gap_s == found.range_s == 0.4
    assert (found.separated, found.blocked_by) == (False, "range")
    assert found.more_passes is None
    wider = tuple(round(one + 0.5, 1) for one in NEAR)
    assert separate([summary("a", NEAR), summary("b", wider)])[0].separated


def test_the_factor_of_the_protocol_multiplies_the_range() -> None:
    """A gap of 10 s does not pass 0.4 s times 25."""
    pair = [summary("a", NEAR), summary("b", FAR)]
    assert separate(pair, 24.9)[0].separated
    assert separate(pair, 25.0)[0].blocked_by == "range"


def test_three_against_three_is_blocked_by_the_test_only() -> None:
    """P = 0.1 at best: one more a side could tell (2/70 = 0.029)."""
    (found,) = separate([summary("a", NEAR[:3]), summary("b", FAR[:3])])
    assert (found.blocked_by, found.more_passes) == ("test", 1)
    assert found.reason.key == "separation.test"


def test_both_can_block() -> None:
    """Overlapping durations fail the range and the test."""
    (found,) = separate([summary("a", (1.0, 5.0, 9.0)), summary("b", (2.0, 6.0, 8.0))])
    assert found.blocked_by == "range_and_test"


def test_few_passes_that_overlap_are_told_both() -> None:
    """Three a side reach p = 0.1 at best: the spread is to be looked at, and too few passes are said to be too few."""
    (found,) = separate([summary("a", (10.0, 11.0, 12.0)), summary("b", (10.5, 11.5, 12.5))])
    assert (found.blocked_by, found.reason.key) == ("range_and_test", "separation.range_and_few")
    assert (found.reason.values["a_passes"], found.reason.values["b_passes"]) == (3, 3)
    assert "cannot pass the rank test" in messages("en").text(found.reason.key, **found.reason.values)
    (enough,) = separate([summary("a", NEAR), summary("b", tuple(one + 0.05 for one in NEAR))])
    assert enough.reason.key == "separation.range_and_test"


def test_one_pass_has_no_range() -> None:
    """A single duration is too few, not a range of 0."""
    (found,) = separate([summary("a", (10.0, None)), summary("b", FAR)])
    assert (found.blocked_by, found.range_s, found.p_value) == ("too_few", None, None)


def test_pairs_are_made_within_a_corpus_and_seed_only() -> None:
    """Two corpora with two seeds of three variants: three pairs in each of the four populations."""
    places = [("x", 0), ("x", 1), ("y", 0), ("y", 1)]
    found = separate([summary(v, NEAR, corpus, seed) for v in "abc" for corpus, seed in places])
    assert len(found) == 12
    assert all((one.a, one.b) in combinations("abc", 2) for one in found)


def test_five_variants_with_five_passes_cannot_pass_the_correction() -> None:
    """Ten pairs at p = 0.0079 give 0.079; six give 0.048."""
    far = [summary(v, tuple(one + 100 * i for one in NEAR)) for i, v in enumerate("abcde")]
    assert not any(one.separated for one in separate(far))
    assert all(one.separated for one in separate(far[:4]))
    assert could_tell(5, 4)
    assert not could_tell(5, 5)
    assert could_tell(6, 5)
    assert not could_tell(5, 3, groups=3)
    assert not could_tell(1, 2)


def test_more_passes_is_the_fewest_that_could_tell() -> None:
    """With that many the best case passes, with one less it does not; the present overlap stays counted."""
    faster, slower = [10.0, 10.1, 20.05], [20.0, 20.1, 20.2]
    k = more_passes(faster, slower, 3)
    assert k is not None
    low, high = 0.0, 99.0
    assert exact_p_value([*faster, *[low] * k], [*slower, *[high] * k]) * 3 < 0.05
    assert exact_p_value([*faster, *[low] * (k - 1)], [*slower, *[high] * (k - 1)]) * 3 >= 0.05
    assert more_passes(faster, slower, 10**40) is None
