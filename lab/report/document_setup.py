"""What was configured and on which machine: settings and environments, and every point in which they differ."""

from __future__ import annotations

from lab.model.campaign import Campaign
from lab.report.document_plain import Json


def settings(campaign: Campaign) -> Json:
    """The variants' settings side by side.

    Returns:
        `shared` (key -> value), `different` (key -> {variant: value or None}) and `outside_series`: the variants that
        no series holds together, which are compared as whole configurations.
    """
    values = {one.id: one.model_dump(mode="json", exclude={"id"}) for one in campaign.manifest.variants}
    keys = sorted({key for one in values.values() for key in one})
    different = {key for key in keys if len({repr(one[key]) for one in values.values()}) > 1}
    in_series = {one for series in campaign.manifest.series for one in series.variants}
    first = next(iter(values.values()))
    return {
        "shared": {key: first[key] for key in keys if key not in different and first[key] not in (None, [])},
        "different": {key: {name: one[key] for name, one in values.items()} for key in keys if key in different},
        "outside_series": [name for name in values if name not in in_series],
    }


def environments(campaign: Campaign) -> list[Json]:
    """Each machine as observed, with the variants that ran there and how many attempts did."""
    found = []
    for fingerprint, environment in sorted(campaign.environments.items()):
        there = [one.attempt for one in campaign.records if one.attempt.environment == fingerprint]
        found.append(
            {
                "fingerprint": fingerprint,
                "device_names": list(environment.device_names),
                "facts": dict(sorted(environment.facts.items())),
                "attempts": len(there),
                "variants": sorted({one.variant for one in there if one.variant}),
            }
        )
    return found
