"""The list of versions says what changed, in words of each language, with what was and what is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import report_campaigns as made

from lab.messages import LANGUAGES, messages
from lab.model.campaign import Amendment, Campaign, Change, Environment, KnownAttempt, Seal
from lab.report.changes import changes
from lab.report.document_plain import facts_of, plain

OTHER = Environment("00aa", (made.DEVICE,), {"torch": "2.14.0", "transformers": "5.24.0", "driver": "580.10"})
AMENDED = Seal(
    "f2", made.START.isoformat(), (), {"protocol.threshold": "0.6"},
    (
        Amendment(
            "f1", made.START.isoformat(), made.START.isoformat(), "too strict",
            (Change("protocol.threshold", "0.7", "0.6"),), (KnownAttempt("b1_r1", outcome="completed"),),
            {"protocol.threshold": "0.7"},
        ),
    ),
)  # fmt: skip


def without_last_evidence(campaign: Campaign) -> Campaign:
    """The last attempt of b8 judged otherwise: its predictions were changed."""
    name = [one.attempt.attempt_id for one in campaign.records if one.attempt.variant == "b8"][-1]
    return replace(campaign, evidence={**campaign.evidence, name: made.evidence(altered=True)})


def another_batch(campaign: Campaign) -> Campaign:
    """Batch 8 runs with 9."""
    variants = tuple(
        one.model_copy(update={"batch_size": 9}) if one.id == "b8" else one for one in campaign.manifest.variants
    )
    return replace(campaign, manifest=campaign.manifest.model_copy(update={"variants": variants}))


def without_a_variant(campaign: Campaign) -> Campaign:
    """b1 is no longer compared."""
    kept = tuple(one for one in campaign.manifest.variants if one.id != "b1")
    return replace(campaign, manifest=campaign.manifest.model_copy(update={"variants": kept}))


def other_labels(campaign: Campaign) -> Campaign:
    """One more label is allowed."""
    corpora = {name: replace(one, labels=(*one.labels, "praise")) for name, one in campaign.corpora.items()}
    return replace(campaign, corpora=corpora)


@pytest.mark.parametrize(
    ("change", "key", "parts"),
    [
        (other_labels, "labels", ("bug; ", "; praise")),
        (lambda one: replace(one, protocol=made.protocol(threshold=0.9)), "protocol", ("threshold", "0.7", "0.9")),
        (lambda one: replace(one, protocol=made.protocol(threshold=0.9)), "answer.chosen.none_eligible", ("b8",)),
        (lambda one: replace(one, offers=(made.offer(price="120"),)), "committed", ("b1", "110.00", "120.00")),
        (
            lambda one: replace(one, offers=(made.offer(price="120"),)),
            "cost_per_validated_corpus",
            ("b1", "110.00", "120.00"),
        ),
        (lambda one: replace(one, offers=()), "committed.gone", ("b1", "110.00")),
        (without_last_evidence, "accepted", ("b8", "5", "4")),
        (without_last_evidence, "eligible.no", ("b8",)),
        (another_batch, "setting", ("b8", "batch_size", "8", "9")),
        (without_a_variant, "variant.removed", ("b1",)),
        (lambda one: replace(one, environments={"00aa": OTHER}), "environment.fact", ("torch", "2.13.0", "2.14.0")),
        (lambda one: replace(one, environments={"00aa": OTHER}), "environment.added", ("00aa",)),
        (lambda one: replace(one, seal=AMENDED), "amended", ("too strict", "0.7 → 0.6", "1")),
        (lambda one: replace(one, inputs={**one.inputs, "seal.json": "e" * 64}), "file.changed", ("33" * 6, "e" * 12)),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_named_with_both_values(
    change: Callable[[Campaign], Campaign], key: str, parts: tuple[str, ...]
) -> None:
    """Decision, variants, accepted counts, prices, terms, amendments, machines and files."""
    campaign = made.campaign(made.APART)
    before, after = made.document(campaign), made.document(change(campaign))
    found = next(one for one in changes(before, after) if one.key == f"report.change.{key}")
    for language in LANGUAGES:
        words = messages(language)
        facts = facts_of({name: plain(value) for name, value in found.values.items()}, words)
        said = words.text(found.key, **facts)
        for part in parts:
            decimals = part.replace(".", ",") if language != "en" else part
            assert part in said or decimals in said
    back = [one.key for one in changes(after, before)]
    assert back != ["report.change.other"]


def test_nothing_changed_is_no_list_of_changes() -> None:
    """Two documents that say the same differ in descriptions at most."""
    document = made.document(made.campaign())
    assert [one.key for one in changes(document, document)] == ["report.change.other"]
