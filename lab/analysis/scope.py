"""What the decision covers and what it does not: the load, the model and the stacks as tested, and the limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lab.analysis.passes import of_variant
from lab.model.attempt import ended_by_itself
from lab.model.campaign import Campaign, Environment
from lab.model.reason import Reason, reason

# Facts that say most of a stack in one line; a report lists them all.
STACK_FACTS = (
    "system.os", "python", "torch", "transformers", "tokenizers", "torch.cuda", "torch.hip", "driver.version",
)  # fmt: skip
DECLARED_FACTS = ("variant.", "model.", "tokenizer.", "function.", "command.")
_NAMED_BY: Mapping[str, tuple[str, ...]] = {
    "model.": ("model", "revision"),
    "tokenizer.": ("tokenizer", "tokenizer_revision", "model", "revision"),
    "function.": ("function",),
    "command.": ("command",),
}
# What only a pass itself can tell of its stack: it is with the attempt, not in the environment that it began in. A pass
# that does not say one of them (it failed before, or had no batch of that kind) is no difference.
RAN = (
    "attention_configured",
    "attention_kernel_padded",
    "attention_kernel_unpadded",
    "checkpoint_quantization",
    "dtype",
    "float32_matmul_precision",
    "model_class",
    "quantization_used",
    "start_method",
)
NOT_DECLARED = ("attention_kernel_", "float32_", "start_method")  # of these: what no key of the manifest decides
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
    typed = sum(record.typed for record in campaign.records)
    standing = tuple(reason(f"limits.{limit}") for limit in LIMITS)
    return (*standing, *([reason("limits.declared", rows=typed)] if typed else ()), *_imported(campaign))


def _imported(campaign: Campaign) -> Iterable[Reason]:
    """Attempts measured with other tools, and predictions whose ids are only the order of their rows."""
    sources = [record.details.provenance for record in campaign.records]
    tools = dict.fromkeys(source.tool or source.format for source in sources if source is not None)
    if tools:
        yield reason("limits.imported", rows=sum(source is not None for source in sources), tools=list(tools))
    ordered = [
        record.attempt.attempt_id
        for record in campaign.records
        if record.details.predictions_from is not None and record.details.predictions_from.in_order
    ]
    if ordered:
        yield reason("limits.row_order", attempts=ordered)


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
    used: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for variant in campaign.manifest.variants:
        for seen in observed(campaign, variant.id):
            shown = tuple(f"{name} {seen.facts[name]}" for name in STACK_FACTS if name in seen.facts)
            used.setdefault((seen.device_names, shown or (seen.fingerprint,)), []).append(variant.id)
    for (devices, stack), variants in used.items():
        names = list(dict.fromkeys(variants))
        yield reason("covers.stack", variants=names, devices=list(devices) or ["-"], stack=list(stack))


def observed(campaign: Campaign, variant: str) -> tuple[Environment, ...]:
    """The environments in which a variant was tried, by fingerprint; attempts that were cut off do not count."""
    seen = {r.attempt.environment for r in of_variant(campaign, variant) if ended_by_itself(r.attempt)}
    return tuple(campaign.environments[one] for one in sorted(seen & set(campaign.environments), key=str) if one)


def stack_differences(campaign: Campaign) -> tuple[str, ...]:
    """Names of the observed facts in which the variants differ, apart from what the manifest declares.

    Facts of their environments, of what really ran in their passes, and of what variants name alike (a model)
    and did not find alike: the seal covers the name, not the content.
    """
    seen = {one.fingerprint: one for v in campaign.manifest.variants for one in observed(campaign, v.id)}
    stacks = [{**one.facts, "device_names": "; ".join(one.device_names)} for one in seen.values()]
    names = sorted({name for stack in stacks for name in stack if not name.startswith(DECLARED_FACTS)})
    apart = [name for name in names if len({stack.get(name) for stack in stacks}) > 1]
    ran = ran_otherwise(campaign, [variant.id for variant in campaign.manifest.variants])
    named = (name for prefix in _NAMED_BY for name in _other_contents(campaign, prefix))
    return tuple(sorted([*apart, *(name for name in ran if name.startswith(NOT_DECLARED)), *named]))


def _other_contents(campaign: Campaign, prefix: str) -> set[str]:
    """Facts that begin so and differ between variants that the manifest gives the same name to read."""
    groups: dict[tuple[object, ...], list[Mapping[str, str]]] = {}
    for variant in campaign.manifest.variants:
        key = tuple(getattr(variant, name) for name in _NAMED_BY[prefix])
        groups.setdefault(key, []).extend(one.facts for one in observed(campaign, variant.id))
    return {
        name
        for group in groups.values()
        for name in {name for one in group for name in one if name.startswith(prefix)}
        if len({one[name] for one in group if name in one}) > 1
    }


def ran_otherwise(campaign: Campaign, variants: Iterable[str]) -> list[str]:
    """Names of what ran in which passes of these variants differ, among those that say it."""
    passes = [record for variant in variants for record in of_variant(campaign, variant)]
    told = [record.details.facts for record in passes if ended_by_itself(record.attempt)]
    return [name for name in RAN if len({one[name] for one in told if name in one}) > 1]
