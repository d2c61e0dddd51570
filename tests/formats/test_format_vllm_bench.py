"""vLLM's `bench throughput`, `latency` and `serve`, in the shape of `vllm/benchmarks/*.py` (2026, and older)."""

from __future__ import annotations

import pytest
from foreign import cells, faults, read, serving, slugs

from lab.formats import Choices
from lab.formats.units import Units

_THROUGHPUT = {
    "elapsed_time": 12.5, "num_requests": 40, "total_num_tokens": 4000, "requests_per_second": 3.2,
    "tokens_per_second": 320.0,
}  # fmt: skip
_LATENCY = {
    "avg_latency": 0.2, "std_latency": 0.01, "latencies": [0.19, 0.2, 0.21], "percentiles": {"50": 0.2, "99": 0.21}
}  # fmt: skip


def _populations(content: object, choices: Choices | None = None) -> dict[str, list[float]]:
    return {one.name: [round(v, 9) for v in one.values] for one in read(content, choices)[1].found[0].populations}


def test_throughput_is_one_pass_with_its_number_of_requests() -> None:
    """`elapsed_time` is raw; the rates are a note."""
    name, found = read(_THROUGHPUT)
    assert name == "vllm-bench"
    assert cells(found, "outcome", "duration_s", "completed_inputs") == [("completed", 12.5, 40)]
    assert found.found[0].notes[0].key == "imported.note.aggregates"


def test_throughput_of_no_request_is_a_failure() -> None:
    """An empty run has no duration."""
    found = read({**_THROUGHPUT, "num_requests": "0"})[1]
    assert cells(found, "outcome", "duration_s") == [("failed", None)]


def test_iterations_of_latency_are_a_population() -> None:
    """One batch again and again is no pass, unless a person says so."""
    assert _populations(_LATENCY) == {"iteration": [0.19, 0.2, 0.21]}
    assert cells(read(_LATENCY)[1], "duration_s") == [(None,)]
    passes = read(_LATENCY, Choices(passes="latencies"))[1]
    assert cells(passes, "duration_s") == [(0.19,), (0.2,), (0.21,)]


def test_an_older_latency_file_without_raw_values_is_a_note() -> None:
    """Early versions wrote `avg_latency` and `percentiles` alone."""
    (one,) = read({"avg_latency": 0.2, "percentiles": {"50": 0.2}})[1].found
    assert one.missing["duration_s"] == "missing.aggregate_only"


def test_serving_is_one_pass_and_its_requests_are_populations() -> None:
    """First tokens and gaps in seconds; end to end is their sum, request by request; no percentile becomes a time."""
    found = read(serving())[1]
    assert cells(found, "outcome", "duration_s", "completed_inputs") == [("completed", 4.5, 2)]
    assert _populations(serving()) == {
        "time_to_first_token": [0.2, 0.4], "inter_token": [0.1, 0.1, 0.2, 0.2], "request": [0.4, 0.8]
    }  # fmt: skip
    assert found.found[0].missing["started_at"] == "missing.no_zone"


@pytest.mark.parametrize(
    "changes",
    [
        {"completed": 1, "failed": 1, "errors": ["", "timeout"]},
        {"completed": 1, "failed": ..., "errors": ["", "timeout"]},  # an older version
        {"completed": 1, "failed": ..., "errors": ...},  # without --save-detailed: fewer than `num_prompts`
        {"completed": 0, "failed": 2},
    ],
)
def test_a_partial_run_is_a_failed_row(changes: dict[str, object]) -> None:
    """Some requests failed: the run did not do its work, however fast it was."""
    (one,) = read(serving(**changes))[1].found
    assert (one.cells["outcome"], one.cells["duration_s"], one.cells["elapsed_s"]) == ("failed", None, 4.5)
    assert one.because is not None
    assert one.because.key == "ended.imported.requests"


def test_latencies_of_failed_requests_are_left_out() -> None:
    """A request that failed has a first-token time of 0, which is none."""
    content = serving(completed=1, failed=1, errors=["", "timeout"], ttfts=[0.3, 0.0], itls=[[0.1], []])
    assert _populations(content)["time_to_first_token"] == [0.3]


def test_raw_times_that_do_not_agree_with_their_mean_are_asked_about() -> None:
    """A fork that wrote milliseconds: 200 and 400 s against a mean of 300 ms."""
    (asked,) = faults(serving(ttfts=[200.0, 400.0], itls=...))
    assert (asked.slug, asked.place) == ("import-mean-doubt", "ttfts")
    settled = _populations(serving(ttfts=[200.0, 400.0], itls=..., duration=4500.0), Choices(Units(time="ms")))
    assert settled == {"time_to_first_token": [0.2, 0.4]}


def test_without_details_the_figures_are_a_note() -> None:
    """Without `--save-detailed` nothing is made up from the percentiles."""
    (one,) = read(serving(ttfts=..., itls=..., errors=...))[1].found
    assert one.populations == ()
    assert any("median_ttft_ms = 300.0" in text for note in one.notes for text in note.values["figures"])  # type: ignore[attr-defined]  # a list of texts


def test_a_word_for_a_number_is_refused_with_its_place() -> None:
    """Nothing is guessed from `about 4`."""
    assert slugs(serving(duration="about 4")) == ["import-not-a-number"]
