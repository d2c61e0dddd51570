"""hyperfine's `--export-json`, in the shape of `src/benchmark/benchmark_result.rs` (1.20; 2.0; and older ones)."""

from __future__ import annotations

import pytest
from foreign import cells, faults, hyperfine, hyperfine_2, read, slugs

from lab.formats import Choices
from lab.formats.units import Units

_OUTCOME = ("outcome", "duration_s", "elapsed_s")


def test_each_time_is_one_attempt_and_covers_the_whole_process() -> None:
    """Three times, three attempts; that loading is in them is said; the host's memory is no device's."""
    name, found = read(hyperfine())
    assert name == "hyperfine"
    assert cells(found, *_OUTCOME) == [("completed", one, one) for one in (10.1, 10.2, 10.3)]
    first = found.found[0]
    assert first.place == "results[0].times[0]"
    assert first.missing["load_s"] == "missing.whole_process"
    assert first.host_peak_bytes == 104857600
    assert "peak_device_bytes" not in first.cells
    assert first.facts["source.command"] == "python run.py"


@pytest.mark.parametrize(
    ("code", "key"),
    [(1, "ended.imported.exit_code"), (-9, "ended.imported.exit_code"), (None, "ended.imported.signal")],
)
def test_a_time_near_zero_with_an_error_is_a_failure_and_never_a_duration(code: int | None, key: str) -> None:
    """What crashed at once was not fast: no duration, the elapsed time stays, the reason is there."""
    found = read(hyperfine(times=[10.1, 0.002, 10.3], exit_codes=[0, code, 0]))[1].found[1]
    assert (found.cells["outcome"], found.cells["duration_s"], found.cells["elapsed_s"]) == ("failed", None, 0.002)
    assert found.because is not None
    assert found.because.key == key


def test_a_time_of_zero_is_no_time() -> None:
    """The tool writes 0.0 where it subtracts the shell's start-up: nothing was measured."""
    found = read(hyperfine(times=[0.0, 10.2, 10.3]))[1]
    assert cells(found, *_OUTCOME)[0] == ("failed", None, 0.0)


def test_text_for_numbers_is_read_as_numbers() -> None:
    """A file that went through another program may hold `"10.1"`; words are refused with their place."""
    assert cells(read(hyperfine(times=["10.1", " 10.2 ", 10.3]))[1], "duration_s") == [(10.1,), (10.2,), (10.3,)]
    (refused,) = faults(hyperfine(times=["10,1", 10.2, 10.3]))
    assert (refused.slug, refused.place) == ("import-not-a-number", "results[0].times[0]")


def test_an_older_file_without_exit_codes_is_asked_about() -> None:
    """Before 1.12 nothing says whether a run failed: a person does, or nothing comes in."""
    older = hyperfine(exit_codes=..., memory_usage_byte=...)
    assert slugs(older) == ["import-end-unknown"] * 3
    assert {one for (one,) in cells(read(older, Choices(ended="completed"))[1], "outcome")} == {"completed"}
    assert {one for (one,) in cells(read(older, Choices(ended="failed"))[1], "duration_s")} == {None}


def test_a_mean_without_times_is_a_note_and_no_duration() -> None:
    """`times` left out: one attempt that completed, without a duration, with the aggregates in a note."""
    (found,) = read(hyperfine(times=...))[1].found
    assert found.cells == {"outcome": "completed"}
    assert found.missing["duration_s"] == "missing.aggregate_only"
    assert any("mean = 10.2" in one for note in found.notes for one in note.values["figures"])  # type: ignore[attr-defined]  # a list of texts


def test_a_spread_that_is_null_is_not_there() -> None:
    """`stddev` of a single run is null, not 0."""
    (note,) = read(hyperfine(times=[10.1], exit_codes=[0], memory_usage_byte=..., stddev=None))[1].found[0].notes
    assert not any("stddev" in one for one in note.values["figures"])  # type: ignore[attr-defined]  # a list of texts


def test_lists_that_belong_together_and_differ_are_refused() -> None:
    """Which code is of which time cannot be told."""
    assert slugs(hyperfine(exit_codes=[0, 0])) == ["import-lists-differ"]


def test_a_wrong_looking_unit_is_asked_about_and_an_option_settles_it() -> None:
    """Times are seconds; 5,000,000 of them are 58 days: the fault names value, meaning and option."""
    much = hyperfine(times=[5_000_000.0], exit_codes=[0], memory_usage_byte=...)
    (asked,) = faults(much)
    assert asked.slug == "import-unit-doubt"
    assert asked.values["option"] == "--unit time=ms"
    assert str(asked.values["seconds"]).startswith("5000000")
    assert cells(read(much, Choices(Units(time="ms")))[1], "duration_s") == [(5000.0,)]
    assert cells(read(much, Choices(Units(time="s")))[1], "duration_s") == [(5_000_000.0,)]


def test_the_second_version_of_the_format_is_read_run_by_run() -> None:
    """2.0 writes a measurement a run, each quantity with its unit, and states its own version."""
    name, found = read(hyperfine_2())
    assert (name, found.version) == ("hyperfine", "2.0.0")
    assert cells(found, *_OUTCOME) == [("completed", one, one) for one in (10.1, 10.2)]
    assert found.found[1].place == "results[0].measurements[1]"
    assert found.found[0].host_peak_bytes == 104857600
    assert found.found[0].facts["source.name"] == "batch 8"
    assert "mean = 10.15" in found.found[0].notes[0].values["figures"]  # type: ignore[operator]  # a list of texts


def test_a_unit_of_the_second_version_is_converted_and_an_unknown_one_asked_about() -> None:
    """The file states the unit; a word that is none is refused."""
    runs = [{"time_wall_clock": {"value": 10100, "unit": "millisecond"}, "exit_code": None}]
    (one,) = read(hyperfine_2(measurements=runs))[1].found
    assert (one.cells["outcome"], one.cells["elapsed_s"]) == ("failed", 10.1)
    runs[0]["time_wall_clock"] = {"value": 1, "unit": "jiffy"}
    assert slugs(hyperfine_2(measurements=runs)) == ["import-unknown-unit"]


def test_the_single_parameter_of_old_versions_is_kept() -> None:
    """Up to 1.10: `parameter`; later a mapping."""
    assert read(hyperfine(parameter="8"))[1].found[0].facts["source.parameter.value"] == "8"
    assert read(hyperfine(parameters={"batch": "8"}))[1].found[0].facts["source.parameter.batch"] == "8"
