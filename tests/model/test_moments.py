"""Moments as they are kept and as they are shown."""

from __future__ import annotations

from datetime import datetime

import pytest

from lab.model.moments import in_zone


def test_a_moment_is_shown_in_the_zone_of_the_campaign() -> None:
    """One hour later in Paris in winter, two in summer; the same moment either way."""
    for kept, local in (("2026-12-01T01:00:00+00:00", 2), ("2026-07-01T01:00:00+00:00", 3)):
        shown = in_zone(kept, "Europe/Paris")
        assert isinstance(shown, datetime)
        assert (shown.hour, shown) == (local, datetime.fromisoformat(kept))


@pytest.mark.parametrize("zone", [None, "", "Europe/Nowhere", "..", "Europe"])
def test_without_a_known_zone_a_moment_keeps_its_offset(zone: str | None) -> None:
    """A zone that nobody stated, that does not exist, or that is a folder of the zones' database."""
    shown = in_zone("2026-12-01T01:00:00+05:30", zone)
    assert isinstance(shown, datetime)
    assert shown.isoformat() == "2026-12-01T01:00:00+05:30"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-12-01T01:00:00"])
def test_what_is_no_moment_stays_as_it_is_written(text: str) -> None:
    """No offset is made up."""
    assert in_zone(text, "Europe/Paris") == text
