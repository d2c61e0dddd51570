"""MLPerf's logs, in the shape of `loadgen/results.cc` and `logging.cc` of mlcommons/inference (05a9cec)."""

from __future__ import annotations

import json

import pytest
from foreign import SUMMARY, cells, read, source

from lab.errors import InvalidInputError
from lab.formats import Choices, Reading, recognise


def detail(**values: object) -> str:
    """`mlperf_log_detail.txt`: one `:::MLLOG` line a key."""
    meta = {"is_error": False, "is_warning": False, "file": "loadgen.cc", "line_no": 1, "pid": 1, "tid": 1}
    return "".join(
        ":::MLLOG "
        + json.dumps(
            {"key": key, "value": value, "time_ms": 0.1, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME",
             "metadata": meta}
        )
        + "\n"
        for key, value in values.items()
    )  # fmt: skip


def together(*contents: str) -> Reading:
    """Files of one folder, read as one result."""
    sources = [source(one, f"mlperf_{number}") for number, one in enumerate(contents)]
    kinds = {recognise(one, Choices()).name for one in sources}
    assert kinds == {"mlperf"}
    return recognise(sources[0], Choices()).read(sources, Choices())


def test_the_largest_latency_of_offline_is_the_run_and_comes_in_nanoseconds() -> None:
    """One query of all samples: 10^10 ns are 10 s; the percentiles are a note."""
    name, found = read(SUMMARY)
    assert name == "mlperf"
    assert cells(found, "outcome", "duration_s") == [("completed", 10.0)]
    assert found.found[0].notes[0].key == "imported.note.aggregates"


def test_an_invalid_run_is_a_failed_row_with_its_reason() -> None:
    """What the benchmark's own rules refuse is no pass here either."""
    invalid = SUMMARY.replace("VALID", "INVALID").replace("Min duration satisfied : Yes", "Min duration satisfied : NO")
    (one,) = read(invalid)[1].found
    assert (one.cells["outcome"], one.cells["duration_s"], one.cells["elapsed_s"]) == ("failed", None, 10.0)
    assert one.because is not None
    assert "Min duration" in str(one.because.values["why"])


def test_the_detail_log_adds_version_samples_and_reason() -> None:
    """Both files of one folder are one result; a last line that was cut off is no entry."""
    log = detail(
        loadgen_version="5.1 @ abc", power_begin="11-30-2026 17:20:47.123", generated_samples_per_query=40,
        result_invalid_reason="Too short.",
    )  # fmt: skip
    found = together(SUMMARY, log + ':::MLLOG {"key": "result_val')
    (one,) = found.found
    assert (found.version, one.cells["completed_inputs"]) == ("5.1", 40)
    assert one.cells["started_at"] == "2026-11-30T17:20:47.123000+00:00"
    (failed,) = together(SUMMARY.replace("VALID", "INVALID"), log).found
    assert failed.because is not None
    assert failed.because.values["why"] == "Too short."


@pytest.mark.parametrize("scenario", ["SingleStream", "MultiStream", "Server"])
def test_other_scenarios_state_aggregates_only(scenario: str) -> None:
    """A percentile is no duration of a pass."""
    (one,) = read(SUMMARY.replace("Offline", scenario))[1].found
    assert (one.cells["outcome"], one.cells["duration_s"]) == ("completed", None)
    assert one.missing["duration_s"] == "missing.aggregate_only"


def test_a_summary_that_was_cut_off_is_a_failed_row() -> None:
    """The run ended before its result line."""
    (one,) = read(SUMMARY.partition("Result is")[0])[1].found
    assert one.cells["outcome"] == "failed"
    assert one.because is not None
    assert one.because.key == "ended.imported.no_result_line"


def test_answers_of_the_accuracy_log_are_counted_and_not_decoded() -> None:
    """`data` is bytes whose meaning only the benchmark knows: a note says where they go."""
    answers = json.dumps(
        [{"seq_id": 0, "qsl_idx": 3, "data": "01000000"}, {"seq_id": 1, "qsl_idx": 0, "data": "00000000"}]
    )
    found = together(SUMMARY, answers)
    assert [one.values["answers"] for one in found.notes if one.key == "imported.note.accuracy_log"] == [2]
    assert len(found.found) == 1


def test_an_accuracy_run_has_no_times() -> None:
    """Mode AccuracyOnly: nothing was timed, no attempt is made."""
    assert read("No performance results were produced in accuracy mode.\nMode     : AccuracyOnly\n")[1].found == ()


def test_logs_without_their_summary_are_refused() -> None:
    """The summary says whether the run is valid."""
    log = source(detail(loadgen_version="5.1"))
    with pytest.raises(InvalidInputError) as refused:
        recognise(log, Choices()).read([log], Choices())
    assert refused.value.faults[0].slug == "import-mlperf-summary"
