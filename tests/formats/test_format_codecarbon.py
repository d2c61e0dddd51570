"""codecarbon's `emissions.csv`, in the shape of `output_methods/emissions_data.py` (3.3.2; 2.x has fewer columns)."""

from __future__ import annotations

from foreign import EMISSIONS_HEADER, cells, emissions, faults, read, slugs

from lab.formats import Choices

_DONE = Choices(ended="completed")


def test_each_row_is_one_run_in_seconds_with_its_energy_in_joules() -> None:
    """1 kWh is 3.6 million joules; what the energy is of is said."""
    name, found = read(emissions(("p", "r1", 10.5, 0.001), ("p", "r2", "11.5", "0.002")), _DONE)
    assert (name, found.version) == ("codecarbon", "3.3.2")
    assert cells(found, "outcome", "duration_s", "energy_j") == [
        ("completed", 10.5, 3600.0),
        ("completed", 11.5, 7200.0),
    ]
    assert found.found[0].place == "line 2, r1"
    assert found.found[0].notes[0].key == "imported.note.energy_scope"


def test_how_a_run_ended_is_asked_about() -> None:
    """A row is written when the tracker stops, also after an error."""
    assert slugs(emissions(("p", "r1", 10.5, 0.001))) == ["import-end-unknown"]


def test_the_start_is_known_only_with_an_offset() -> None:
    """`timestamp` is the end of the run, in local time; the start is the duration before it."""
    (local,) = read(emissions(("p", "r1", 10, 0)), _DONE)[1].found
    assert (local.cells["started_at"], local.missing["started_at"]) == (None, "missing.no_zone")
    (zoned,) = read(emissions(("p", "r1", 10, 0), zone="+01:00"), _DONE)[1].found
    assert zoned.cells["started_at"] == "2026-11-30T16:20:37+00:00"


def test_a_run_of_no_time_is_a_failure() -> None:
    """An empty or a zero duration was not measured."""
    found = read(emissions(("p", "r1", "", 0), ("p", "r2", 0.0, 0)), _DONE)[1]
    assert cells(found, "outcome", "duration_s") == [("failed", None)] * 2


def test_projects_are_groups_of_one_file() -> None:
    """Runs of several variants in one file are told by their project."""
    found = read(emissions(("batch1", "r1", 10, 0), ("batch8", "r2", 5, 0)), _DONE)[1]
    assert [one.group for one in found.found] == ["batch1", "batch8"]


def test_a_row_that_was_cut_off_is_refused_with_its_line() -> None:
    """Columns are positional: a short row is in the wrong places."""
    (fault,) = faults(EMISSIONS_HEADER + "\n2026-11-30T17:20:47,p,r1,e,10.5\n", _DONE)
    assert (fault.slug, fault.place) == ("import-row-width", "line 2")


def test_a_shifted_value_is_refused() -> None:
    """Text where the seconds are."""
    assert slugs(emissions(("p", "r1", "Italy", 0.1)), _DONE) == ["import-not-a-number"]
