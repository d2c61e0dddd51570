"""guidellm's `benchmarks.json`: 0.8.1 (version 2, `benchmark/schemas/`) and the first version (`benchmark.py`)."""

from __future__ import annotations

import pytest
from foreign import cells, guide, read

_COLUMNS = ("outcome", "duration_s", "completed_inputs", "started_at")


def test_each_benchmark_is_one_run_with_its_requests_as_populations() -> None:
    """Moments are seconds since 1970; first-token times come in ms and are converted."""
    name, found = read(guide())
    assert (name, found.version) == ("guidellm", "0.8.1")
    assert cells(found, *_COLUMNS) == [("completed", 3.5, 2, "2026-11-30T00:53:20+00:00")]
    assert {one.name: list(one.values) for one in found.found[0].populations} == {
        "request": [1.5, 2.0], "time_to_first_token": [0.25, 0.25]
    }  # fmt: skip
    assert found.found[0].group == "benchmarks[0]"


@pytest.mark.parametrize(
    "counts",
    [
        {"requests_made": {"successful": 2, "incomplete": 0, "errored": 0, "total": 2}},
        {"total_successful": "2", "total_incomplete": 0, "total_errored": 0},
    ],
)
def test_both_shapes_of_the_first_version_are_read(counts: dict[str, object]) -> None:
    """`run_stats` with a breakdown, or with three totals; a request's latency is the span of its two moments."""
    request = {"start_time": 10.0, "end_time": 11.25, "time_to_first_token_ms": 100}
    old = {
        "benchmarks": [
            {
                "run_stats": {"start_time": 1_796_000_000.0, "end_time": 1_796_000_003.5, **counts},
                "requests": {"successful": [request, request]},
                "args": {"strategy": {"type_": "sweep"}},
            }
        ]
    }
    name, found = read(old)
    assert (name, found.version) == ("guidellm", None)
    assert cells(found, "outcome", "duration_s", "completed_inputs") == [("completed", 3.5, 2)]
    assert list(found.found[0].populations[0].values) == [1.25, 1.25]
    assert found.found[0].facts == {"source.strategy": "sweep"}


@pytest.mark.parametrize("lost", [{"incomplete": 1, "errored": 0}, {"incomplete": 0, "errored": 3}])
def test_a_run_with_cut_or_errored_requests_is_a_failed_row(lost: dict[str, int]) -> None:
    """A partial run has no duration; its elapsed time stays."""
    stats = {"requests_made": {"successful": 2, "total": 3, **lost}}
    (one,) = read(guide(scheduler_metrics=stats))[1].found
    assert (one.cells["outcome"], one.cells["duration_s"], one.cells["elapsed_s"]) == ("failed", None, 3.5)


def test_counts_that_are_missing_are_not_taken_for_none_lost() -> None:
    """Unknown is not whole."""
    (one,) = read(guide(scheduler_metrics={"requests_made": {"successful": 2}}))[1].found
    assert one.cells["outcome"] == "failed"


def test_a_moment_of_minus_one_was_not_taken() -> None:
    """The tool writes -1.0 where there is none: no time is computed from it."""
    (one,) = read(
        guide(end_time=-1.0, scheduler_metrics={"requests_made": {"successful": 2, "incomplete": 0, "errored": 0}})
    )[1].found
    assert (one.cells["outcome"], one.cells["elapsed_s"]) == ("failed", None)


def test_requests_that_were_not_kept_are_said_to_be_missing() -> None:
    """`--sample-requests 0` strips them."""
    (one,) = read(guide(requests={"successful": []}))[1].found
    assert one.populations == ()
    assert [note.key for note in one.notes] == ["imported.note.no_requests"]


def test_a_report_without_benchmarks_gives_nothing() -> None:
    """A run that was stopped before its first benchmark."""
    assert read({**guide(), "benchmarks": []})[1].found == ()
