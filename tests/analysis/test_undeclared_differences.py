"""Differences that nobody declared: inside a variant, and within a series beyond what it varies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from campaign_builder import RTX, campaign, manifest, passes

from lab.analysis.decide import decide
from lab.analysis.stacks import undeclared_differences
from lab.messages import LANGUAGES, messages
from lab.model.campaign import Campaign, Environment
from lab.model.manifest import Series
from lab.model.reason import reason

BASE = {"torch": "2.13.0", "model.sha256": "m1", "variant.precision": "fp32", "device.0.uuid": "u1"}


def _campaign(varies: str, a: Mapping[str, str], b: Mapping[str, str]) -> Campaign:
    """Two variants in one series, each in an environment of its own on the same card."""
    cards = {"a": "rtx-4090", "b": "rtx-4090"}
    base = campaign([*passes("a", [10.0] * 5), *passes("b", [20.0] * 5)], cards)
    series = Series(id="line", variants=("a", "b"), varies=(varies,))
    environments = {
        f"env-{name}": Environment(f"env-{name}", (RTX,), {**BASE, **facts}) for name, facts in (("a", a), ("b", b))
    }
    return replace(base, manifest=manifest(cards, series=(series,)), environments=environments)


@pytest.mark.parametrize(
    ("varies", "differing", "named"),
    [
        ("batch_size", {}, []),
        ("batch_size", {"torch": "2.12.0", "driver.version": "580"}, ["driver.version", "torch"]),
        ("batch_size", {"model.sha256": "m2"}, ["model.sha256"]),
        ("model", {"model.sha256": "m2"}, []),
        ("precision", {"variant.precision": "bf16"}, []),
        ("batch_size", {"device.0.uuid": "u2"}, ["device.0.uuid"]),
        ("device", {"device.0.uuid": "u2", "cpu.model": "other"}, ["cpu.model"]),
    ],
)
def test_a_series_names_what_differs_beyond_its_key(varies: str, differing: dict[str, str], named: list[str]) -> None:
    """What the key accounts for is no warning; anything else is, an absent fact included."""
    found = undeclared_differences(_campaign(varies, {}, differing))
    expected = reason("warning.series_environments", series="line", varies=[varies], facts=named)
    assert found == ((expected,) if named else ())


def test_one_variant_in_two_environments_says_in_what_they_differ() -> None:
    """The answer carries the names of the facts, in every language."""
    base = _campaign("batch_size", {}, {"git.campaign.dirty": "yes"})
    moved = tuple(
        replace(one, attempt=replace(one.attempt, environment="env-b")) if one.attempt.round == 5 else one
        for one in base.records
    )
    warnings = decide(replace(base, records=moved)).warnings
    expected = reason("warning.variant_environments", variant="a", facts=["git.campaign.dirty"])
    assert expected in warnings
    for language in LANGUAGES:
        text = messages(language).text(expected.key, **expected.values)
        assert "git.campaign.dirty" in text
