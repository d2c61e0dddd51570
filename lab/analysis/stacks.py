"""Where the environments of attempts that are compared differ, and nobody declared that they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lab.analysis.scope import observed, ran_otherwise
from lab.model.campaign import Campaign
from lab.model.manifest import Series
from lab.model.reason import Reason, reason

# Facts that a key of the manifest decides: they differ as declared when a series varies one of the keys.
_DECIDED_BY: Mapping[str, tuple[str, ...]] = {
    "variant.": (),  # settings: the manifest itself refuses a series that differs in another one
    "model.": ("model", "revision"),
    "tokenizer.": ("tokenizer", "tokenizer_revision", "model", "revision"),
    "function.": ("function",),
    "command.": ("command",),
    "git.code.": ("function", "command"),
    "device.": ("device", "devices", "gpu"),
    "device_names": ("device", "gpu"),
    "attention_": ("attention",),
    "dtype": ("precision", "quantization"),
    "quantization_used": ("quantization", "precision"),
    "checkpoint_quantization": ("model", "revision"),
    "model_class": ("model", "revision", "workload"),
}


def undeclared_differences(campaign: Campaign) -> tuple[Reason, ...]:
    """A warning for each variant whose own passes, and each series whose variants, were not in one environment.

    Each names the facts in which they differ: of the environments, and of what really ran, such as an attention kernel.
    Of a series only what its `varies` does not account for counts.
    """
    found = []
    for variant in campaign.manifest.variants:
        names = sorted([*_differing([_facts(campaign, variant.id)]), *ran_otherwise(campaign, [variant.id])])
        if names:
            found.append(reason("warning.variant_environments", variant=variant.id, facts=names))
    for series in campaign.manifest.series:
        of_each = [_facts(campaign, one) for one in series.variants]
        every = sorted([*_differing(of_each), *ran_otherwise(campaign, series.variants)])
        names = [name for name in every if not _declared(name, series)]
        if names:
            found.append(
                reason("warning.series_environments", series=series.id, varies=list(series.varies), facts=names)
            )
    return tuple(found)


def _facts(campaign: Campaign, variant: str) -> list[Mapping[str, str]]:
    return [{**one.facts, "device_names": "; ".join(one.device_names)} for one in observed(campaign, variant)]


def _differing(groups: Iterable[Sequence[Mapping[str, str]]]) -> list[str]:
    """Names whose value is not the same in all environments of all groups; one that is absent somewhere differs."""
    everywhere = [one for group in groups for one in group]
    names = sorted({name for one in everywhere for name in one})
    return [name for name in names if len({one.get(name) for one in everywhere}) > 1]


def _declared(name: str, series: Series) -> bool:
    return any(
        name.startswith(prefix) and (not keys or set(keys) & set(series.varies)) for prefix, keys in _DECIDED_BY.items()
    )
