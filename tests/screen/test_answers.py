"""What the commands answer: the same facts in words and as JSON."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from lab.errors import fault
from lab.messages import messages
from lab.model.campaign import Amendment, Change, Seal
from lab.model.reason import reason
from lab.screen.answers import fault_facts, reason_data, sealed
from lab.screen.integrity import amended

SEAL = Seal("ab" * 32, "2026-11-30T23:30:00+00:00", sealed={"protocol.time_zone": "Europe/Paris"})


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "1 December 2026, 00:30 UTC+01:00 (Europe/Paris)"),
        ("fr", "1er décembre 2026, 00:30 UTC+01:00 (Europe/Paris)"),
        ("it", "1 dicembre 2026, 00:30 UTC+01:00 (Europe/Paris)"),
    ],
)
def test_a_seal_is_dated_in_the_time_zone_of_its_campaign(language: str, said: str) -> None:
    """In words with the zone's name, after a seal and after an amendment; as JSON as it is kept."""
    entry = Amendment("cd" * 32, "2026-11-29T09:00:00+00:00", SEAL.sealed_at, "why", (Change("a", "1", "2"),))
    for shown in (sealed(SEAL), amended(replace(SEAL, amendments=(entry,)))):
        assert said in shown.text(messages(language))
        assert shown.data["sealed_at"] == "2026-11-30T23:30:00+00:00"


def test_a_seal_without_a_time_zone_is_dated_with_its_offset() -> None:
    """No name of a zone is made up."""
    assert "30 November 2026, 23:30 UTC: abab" in sealed(replace(SEAL, sealed={})).text(messages("en"))


def test_facts_are_json_of_their_own_kind() -> None:
    """A list is a list, a moment ISO 8601, an amount text, what is absent null; of faults and of reasons alike."""
    at = datetime(2026, 12, 1, 0, 30, tzinfo=ZoneInfo("Europe/Paris"))
    values = {"names": ["a", "b"], "at": at, "amount": Decimal("220.00"), "none": None, "n": 3, "yes": True}
    wanted = {**values, "at": "2026-12-01T00:30:00+01:00", "amount": "220.00"}
    assert fault_facts(fault("seal-exists", **values))["values"] == wanted
    assert reason_data(reason("gate.sealed.passed", **values))["values"] == wanted
