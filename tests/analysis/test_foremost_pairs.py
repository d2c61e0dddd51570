"""Which pairs of many variants are shown: what is asked for, as many as there are variants and not their square."""

from __future__ import annotations

from itertools import combinations, pairwise

from campaign_builder import campaign, passes
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.decide import decide
from lab.analysis.foremost import ALL_UP_TO, NAMED, foremost
from lab.analysis.separation import separate
from lab.model.decision import Summary

MANY = tuple(f"v{number:02}" for number in range(40))


def summary(variant: str, median: float | None, corpus: str = "tickets") -> Summary:
    """Figures of a variant: two passes around its median, or none."""
    durations = () if median is None else (median - 0.5, median + 0.5)
    low, high = (min(durations), max(durations)) if durations else (None, None)
    return Summary(variant, corpus, 0, 2, 2, 0, 0, 0, 0, durations, median, low, high)


def shown(named: tuple[str, ...], summaries: list[Summary]) -> set[frozenset[str]]:
    """The pairs that are shown."""
    apart = separate(summaries)
    flags = foremost(named, summaries, apart)
    return {frozenset((one.a, one.b)) for one, flag in zip(apart, flags, strict=True) if flag}


@given(st.lists(st.one_of(st.none(), st.floats(1, 99)), min_size=2, max_size=40), st.integers(0, 40))
def test_what_is_shown_grows_with_the_variants(medians: list[float | None], named: int) -> None:
    """All of few; of many, those of the answer and those of neighbours: never more than twice the variants and 105."""
    summaries = [summary(name, median) for name, median in zip(MANY, medians, strict=False)]
    found = shown(MANY[: min(named, len(medians))], summaries)
    every = {frozenset(pair) for pair in combinations(MANY[: len(medians)], 2)}
    assert found <= every
    assert len(found) <= ALL_UP_TO + 2 * len(medians)
    if len(every) <= ALL_UP_TO:
        assert found == every


def test_of_many_each_is_beside_the_next_slower_one_and_the_chosen_one() -> None:
    """40 variants, the last of them the fastest: 39 pairs of the chosen one, 39 of neighbours, one of them both."""
    summaries = [summary(name, 40.0 - place) for place, name in enumerate(MANY)]
    chosen = {frozenset((MANY[7], name)) for name in MANY if name != MANY[7]}
    neighbours = {frozenset(pair) for pair in pairwise(MANY)}
    assert shown((MANY[7],), summaries) == chosen | neighbours
    assert shown((), summaries) == neighbours


def test_several_candidates_are_shown_beside_each_other_while_they_are_few() -> None:
    """Up to 15 of them: all their pairs; of more, only neighbours."""
    summaries = [summary(name, 10.0 + place) for place, name in enumerate(MANY)]
    few = {frozenset(pair) for pair in combinations(MANY[:NAMED], 2)}
    neighbours = {frozenset(pair) for pair in pairwise(MANY)}
    assert shown(MANY[:NAMED], summaries) == few | neighbours
    assert shown(MANY[: NAMED + 1], summaries) == neighbours


def test_each_corpus_is_looked_at_by_itself() -> None:
    """A corpus on which few variants ran shows all its pairs, beside one with many."""
    many = [summary(name, 10.0 + place) for place, name in enumerate(MANY)]
    few = [summary(name, 5.0 + place, "mails") for place, name in enumerate(MANY[:3])]
    apart = separate([*many, *few])
    flags = foremost((), [*many, *few], apart)
    counts = {
        name: sum(f for one, f in zip(apart, flags, strict=True) if one.corpus == name) for name in ("tickets", "mails")
    }
    assert counts == {"tickets": len(MANY) - 1, "mails": 3}


def test_how_much_is_worked_out_for_what_is_shown_and_the_result_for_all() -> None:
    """20 variants on one card: 190 pairs with a reason each; ratio and rounds of those that are shown."""
    names = MANY[:20]
    records = [
        one for place, name in enumerate(names) for one in passes(name, [10.0 + place + n / 10 for n in range(5)])
    ]
    found = decide(campaign(records, dict.fromkeys(names, "rtx-4090")))
    assert len(found.separations) == 190
    assert all(one.reason.key.startswith("separation.") for one in found.separations)
    assert {one.shown for one in found.separations} == {True, False}
    for one in found.separations:
        assert (one.ratio is not None) == one.shown
        assert one.paired is None or one.shown
