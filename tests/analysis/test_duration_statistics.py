"""Summaries, medians and the percentiles a sample carries."""

from __future__ import annotations

import pytest
from campaign_builder import campaign, evidence, passes, record
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.acceptance import judge
from lab.analysis.exact import median
from lab.analysis.exclusions import exclusions
from lab.analysis.statistics import percentile, smallest_sample, summarise
from lab.model.campaign import Campaign
from lab.model.decision import Summary


def summaries(given_campaign: Campaign) -> tuple[Summary, ...]:
    """Judged, excluded and summarised."""
    verdicts = judge(given_campaign)
    return summarise(given_campaign, verdicts, exclusions(given_campaign, verdicts))


@pytest.mark.parametrize(("q", "needed"), [(0.9, 44), (0.95, 90), (0.99, 459)])
def test_the_sample_that_bounds_a_percentile(q: float, needed: int) -> None:
    """The smallest n with 1 - q^n >= 0.99."""
    assert smallest_sample(q) == needed
    assert 1 - q**needed >= 0.99 > 1 - q ** (needed - 1)
    assert percentile([1.0] * (needed - 1), q) is None
    assert percentile([float(i) for i in range(needed)], q) is not None


def test_a_percentile_is_a_value_that_was_observed() -> None:
    """The 90th percentile of 1 to 100 is 90."""
    assert percentile([float(i) for i in range(100, 0, -1)], 0.9) == 90.0


def test_a_percentile_outside_0_and_1_is_refused() -> None:
    """There is no 100th percentile."""
    with pytest.raises(ValueError, match="1"):
        smallest_sample(1.0)


def test_a_median_is_taken_as_written() -> None:
    """The mean of 0.1 and 0.2 is 0.15, and nothing has no median."""
    assert median([0.2, 0.1]) == 0.15
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([]) is None


@given(st.lists(st.integers(1, 10**9).map(lambda n: n / 10**6), min_size=1, max_size=9))
def test_a_median_lies_between_the_extremes_whatever_the_order(values: list[float]) -> None:
    """Order changes nothing."""
    found = median(values)
    assert found is not None
    assert min(values) <= found <= max(values)
    assert found == median(values[::-1])


def test_counts_add_up_and_only_accepted_durations_are_figures() -> None:
    """Every outcome has its count; a place without an accepted duration stays None, in schedule order."""
    records = [
        record("a", 1, 11.0),
        record("a", 2, outcome="interrupted", attempt_id="cut"),
        record("a", 2, 12.0),
        record("a", 3, outcome="timed_out"),
        record("a", 4, 14.0),
        record("a", 5, 15.0),
    ]
    first = summaries(campaign(records, bad={"a_tickets_s0_r4": evidence(10, 90)}))[0]
    assert (first.attempts, first.accepted, first.rejected, first.unassessed, first.failed) == (6, 3, 1, 1, 1)
    assert [one for one in first.durations_s if one is not None] == [11.0, 12.0, 15.0]
    assert len(first.durations_s) == 6
    assert (first.median_s, first.min_s, first.max_s) == (12.0, 11.0, 15.0)


def test_a_variant_without_attempts_has_an_empty_summary() -> None:
    """Nothing measured: no figure, no 0, and a warning that says so."""
    empty = summaries(campaign(passes("a", (10.0, 11.0))))[1]
    assert (empty.variant, empty.attempts, empty.durations_s, empty.median_s) == ("b", 0, (), None)
    assert [one.key for one in empty.warnings] == ["warning.no_pass"]


def test_seeds_and_corpora_are_never_pooled() -> None:
    """A seed beyond the plan has a summary of its own, after the planned one."""
    found = summaries(campaign([*passes("a", (10.0, 11.0)), *passes("a", (20.0, 21.0), seed=7)]))
    assert [(one.seed, one.median_s) for one in found if one.variant == "a"] == [(0, 10.5), (7, 20.5)]


def test_inputs_without_a_reference_are_said() -> None:
    """The metric is not over the whole corpus then."""
    found = summaries(campaign(passes("a", (10.0, 11.0)), bad={"a_tickets_s0_r1": evidence(without_reference=3)}))[0]
    assert ("warning.without_reference", 3) in [(one.key, one.values.get("inputs")) for one in found.warnings]
