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


def _ran(base: Campaign, facts: Mapping[str, Mapping[str, str]]) -> Campaign:
    """The campaign whose passes tell of themselves, by variant."""
    told = tuple(
        replace(one, details=replace(one.details, facts=facts.get(one.attempt.variant or "", {})))
        for one in base.records
    )
    return replace(base, records=told)


@pytest.mark.parametrize(
    ("varies", "a", "b", "named"),
    [
        ("batch_size", {"attention_kernel_padded": "math"}, {"attention_kernel_padded": "flash"}, True),
        ("attention", {"attention_kernel_padded": "math"}, {"attention_kernel_padded": "flash"}, False),
        ("batch_size", {"attention_kernel_padded": "math"}, {"attention_kernel_unpadded": "flash"}, False),
        ("batch_size", {"attention_kernel_padded": "math"}, {}, False),
        ("precision", {"dtype": "float32"}, {"dtype": "bfloat16"}, False),
        ("batch_size", {"exit_code": "0"}, {"exit_code": "1"}, False),
    ],
)
def test_another_kernel_than_the_series_accounts_for_is_a_warning(
    varies: str, a: dict[str, str], b: dict[str, str], *, named: bool
) -> None:
    """What really ran counts like the machine it ran on; what a pass does not say is no difference."""
    found = undeclared_differences(_ran(_campaign(varies, {}, {}), {"a": a, "b": b}))
    names = sorted(a)
    expected = reason("warning.series_environments", series="line", varies=[varies], facts=names)
    assert found == ((expected,) if named else ())


def test_a_kernel_that_changed_between_passes_of_one_variant_is_a_warning() -> None:
    """Same settings, same environment, another kernel in the last round: the answer carries it."""
    base = _ran(_campaign("attention", {}, {}), {"a": {"attention_kernel_padded": "math"}})
    moved = tuple(
        replace(one, details=replace(one.details, facts={"attention_kernel_padded": "flash"}))
        if (one.attempt.variant, one.attempt.round) == ("a", 5)
        else one
        for one in base.records
    )
    expected = reason("warning.variant_environments", variant="a", facts=["attention_kernel_padded"])
    assert expected in decide(replace(base, records=moved)).warnings


def test_another_kernel_outside_any_series_is_a_part_of_the_stack_that_differs() -> None:
    """Variants compared as whole configurations: the answer lists the kernel, not the precision that was declared."""
    base = _campaign("batch_size", {}, {})
    alone = replace(base, manifest=manifest({"a": "rtx-4090", "b": "rtx-4090"}))
    told = {
        "a": {"attention_kernel_padded": "math", "dtype": "float32"},
        "b": {"attention_kernel_padded": "flash", "dtype": "bfloat16"},
    }
    assert reason("warning.stacks_differ", facts=["attention_kernel_padded"]) in decide(_ran(alone, told)).warnings


@pytest.mark.parametrize(("other", "named"), [("models/tickets", True), ("models/other", False)])
def test_one_model_name_with_two_contents_is_told_outside_any_series(other: str, *, named: bool) -> None:
    """The folder was changed between the passes of two variants: each ran with one content, and not with the same."""
    base = _campaign("batch_size", {}, {"model.sha256": "m2"})
    alone = manifest({"a": "rtx-4090", "b": "rtx-4090"})
    a, b = alone.variants
    variants = (a.model_copy(update={"model": "models/tickets"}), b.model_copy(update={"model": other}))
    warnings = decide(replace(base, manifest=alone.model_copy(update={"variants": variants}))).warnings
    assert (reason("warning.stacks_differ", facts=["model.sha256"]) in warnings) == named
