"""optimum-benchmark's reports, in the shape of `benchmark/report.py` and `trackers/` (0.2 to 0.6; and up to 0.1)."""

from __future__ import annotations

import pytest
from foreign import cells, latency, optimum, read, slugs

from lab.formats import Choices


def test_iterations_are_a_population_and_no_passes() -> None:
    """One attempt: load from the target `load`, the iterations beside it, no duration, memory in bytes (MB is 10^6)."""
    name, found = read(optimum())
    (one,) = found.found
    assert (name, found.version) == ("optimum-benchmark", "0.6.0")
    assert one.cells["load_s"] == 15.5
    assert one.cells.get("duration_s") is None
    assert one.missing["duration_s"] == "missing.iterations"
    assert [(held.name, list(held.values)) for held in one.populations] == [("forward", [0.11, 0.12, 0.13])]
    assert (one.cells["peak_allocated_bytes"], one.cells["peak_reserved_bytes"]) == (700_125_000, 800_250_000)
    assert one.cells["peak_device_bytes"] == 1_200_500_000


def test_a_person_can_say_that_an_iteration_is_a_pass() -> None:
    """`--passes forward`: each raw value is one attempt; the load belongs to the first."""
    found = read(optimum(), Choices(passes="forward"))[1]
    assert cells(found, "outcome", "duration_s") == [("completed", one) for one in (0.11, 0.12, 0.13)]
    assert cells(found, "load_s") == [(15.5,), (None,), (None,)]
    assert found.found[1].missing["load_s"] == "missing.loaded_before"
    assert slugs(optimum(), Choices(passes="decode")) == ["import-no-target"]


@pytest.mark.parametrize(
    ("devices", "why"),
    [("0,1", "missing.devices_summed"), ([0, 1], "missing.devices_summed"), (None, "missing.devices_unknown")],
)
def test_memory_that_the_source_added_up_over_devices_is_said_to_be_so(devices: object, why: str) -> None:
    """`sum(max_memory_allocated(device) ...)`: a single device's peak is blank, the sum is in a note."""
    (one,) = read(optimum(config={"backend": {"device_ids": devices}}))[1].found
    assert one.missing["peak_allocated_bytes"] == why
    assert "peak_allocated_bytes" not in one.cells
    assert any(note.key == "imported.note.summed" for note in one.notes)


def test_a_bare_report_has_no_configuration_and_no_single_device() -> None:
    """`benchmark_report.json` is the report alone: how many devices there were is unknown."""
    name, found = read(optimum()["report"])
    assert (name, found.version) == ("optimum-benchmark", None)
    assert found.found[0].missing["peak_device_bytes"] == "missing.devices_unknown"


def test_the_older_version_without_units_is_read_in_seconds() -> None:
    """Up to 0.1: `{mean, stdev, values}`, numbers perhaps as text, and other memory keys."""
    old = {
        "forward": {
            "latency": {"mean": 0.2, "stdev": 0.0, "values": ["0.2", 0.2]},
            "memory": {"max_ram": 100, "max_memory_allocated": "50.5", "max_memory_reserved": 60},
        }
    }
    (one,) = read(old)[1].found
    assert list(one.populations[0].values) == [0.2, 0.2]
    assert one.missing["peak_allocated_bytes"] == "missing.devices_unknown"


def test_zero_of_a_count_of_zero_is_absent() -> None:
    """Nothing was measured: the attempt is a failure, not a 0."""
    empty = {"forward": {"latency": latency([], mean=0.0), "memory": None}}
    (one,) = read(empty)[1].found
    assert one.cells["outcome"] == "failed"
    assert one.because is not None
    assert one.because.key == "ended.imported.empty"
    assert (one.populations, one.notes) == ((), ())


def test_a_target_with_a_mean_alone_is_a_note() -> None:
    """Raw values were stripped: what is left is no duration."""
    (one,) = read({"forward": {"latency": {"unit": "s", "mean": 0.2, "count": 5}}})[1].found
    assert one.missing["duration_s"] == "missing.aggregate_only"
    assert one.notes[0].key == "imported.note.aggregates"


def test_a_unit_that_the_file_states_is_converted_and_an_unknown_one_refused() -> None:
    """`ms` is known; a word that is no unit is asked about."""
    stated = {"forward": {"latency": {"unit": "ms", "values": [120.0], "count": 1}}}
    assert list(read(stated)[1].found[0].populations[0].values) == [0.12]
    stated["forward"]["latency"]["unit"] = "ticks"
    assert slugs(stated) == ["import-unknown-unit"]


def test_memory_in_a_unit_that_looks_wrong_is_asked_about() -> None:
    """24e9 in MB would be 24 petabytes: it is bytes, and a person says so."""
    report = {"forward": {"latency": latency([0.1]), "memory": {"unit": "MB", "max_allocated": 24e9}}}
    assert slugs(report) == ["import-size-doubt"]


def test_energy_by_target_is_a_note() -> None:
    """Targets overlap, so that nothing is added up."""
    (one,) = read(optimum())[1].found
    assert one.missing["energy_j"] == "missing.energy_by_target"
    assert any(note.key == "imported.note.energy" for note in one.notes)
