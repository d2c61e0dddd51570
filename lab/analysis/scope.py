"""What the decision covers and what it does not: the load, the model and the stacks as tested, and the limits."""

from __future__ import annotations

from collections.abc import Iterable

from lab.analysis.passes import ended_by_itself
from lab.model.campaign import Campaign
from lab.model.reason import Reason, reason

LIMITS = ("interactive", "training", "other_data", "mlperf", "small_series")


def covers(campaign: Campaign) -> tuple[Reason, ...]:
    """Corpora with their sizes, the load as the protocol states it, models with revisions, and stacks as observed."""
    found = []
    for spec in campaign.manifest.corpora:
        facts = campaign.corpora.get(spec.id)
        if facts is None:
            found.append(reason("covers.corpus_unread", corpus=spec.id))
        else:
            found.append(reason("covers.corpus", corpus=spec.id, size=facts.size))
    if campaign.protocol.covered_load:
        found.append(reason("covers.load", load=campaign.protocol.covered_load))
    return (*found, *_models(campaign), *_stacks(campaign))


def does_not_cover(campaign: Campaign) -> tuple[Reason, ...]:
    """The standing limits of an offline comparison, and rows that nobody can check."""
    declared = sum(record.declared for record in campaign.records)
    standing = tuple(reason(f"limits.{limit}") for limit in LIMITS)
    return (*standing, reason("limits.declared", rows=declared)) if declared else standing


def _models(campaign: Campaign) -> Iterable[Reason]:
    used: dict[tuple[str, str], list[str]] = {}
    for variant in campaign.manifest.variants:
        work = variant.model or variant.function or " ".join(variant.command)
        used.setdefault((work, variant.revision or ""), []).append(variant.id)
    for (work, revision), variants in used.items():
        if revision:
            yield reason("covers.model", model=work, revision=revision, variants=variants)
        else:
            yield reason("covers.model_no_revision", model=work, variants=variants)


def _stacks(campaign: Campaign) -> Iterable[Reason]:
    used: dict[str, set[str]] = {}
    for record in campaign.records:
        row = record.attempt
        if ended_by_itself(row) and row.environment in campaign.environments and row.variant:
            used.setdefault(row.environment or "", set()).add(row.variant)
    order = {variant.id: place for place, variant in enumerate(campaign.manifest.variants)}
    for fingerprint, variants in sorted(used.items()):
        environment = campaign.environments[fingerprint]
        shown = [f"{name} {value}" for name, value in sorted(environment.facts.items()) if name in STACK_FACTS]
        facts: dict[str, object] = {"variants": sorted(variants, key=lambda one: order.get(one, len(order)))}
        facts |= {"devices": list(environment.device_names) or ["-"], "stack": shown or [fingerprint]}
        yield reason("covers.stack", **facts)


STACK_FACTS = ("python", "torch", "transformers", "tokenizers", "cuda", "hip", "driver", "system")
