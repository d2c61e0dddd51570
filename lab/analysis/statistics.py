"""What durations show: raw values with median, minimum, maximum and counts, and no more than the sample carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from lab.analysis.exact import exact, median
from lab.analysis.passes import Group, groups, of_variant, slots
from lab.analysis.separation import FEWEST_PASSES, durations_of
from lab.model.attempt import FAILURES, Record, ended_by_itself
from lab.model.campaign import Campaign
from lab.model.decision import Exclusion, Summary, Verdict
from lab.model.reason import Reason, reason

CONFIDENCE = Fraction(99, 100)


def smallest_sample(q: float) -> int:
    """The fewest values that bound the `q` percentile: with none over the limit, at 99 % confidence.

    The smallest n with 1 - q^n >= 0.99 (the product's method, section 6): 44 for 0.9, 90 for 0.95, 459 for 0.99.

    Raises:
        ValueError: when `q` is not strictly between 0 and 1.
    """
    if not 0 < q < 1:
        raise ValueError(q)
    share, left, n = Fraction(exact(q)), float(q), 1
    while left > float(1 - CONFIDENCE) * 1.000001:  # floats find the neighbourhood, fractions the number itself
        left, n = left * q, n + 1
    while 1 - share**n < CONFIDENCE:
        n += 1
    return n


def percentile(values: Sequence[float], q: float) -> float | None:
    """The smallest value that at least a share `q` of them does not exceed; None below `smallest_sample(q)` values.

    Raises:
        ValueError: when `q` is not strictly between 0 and 1.
    """
    if len(values) < smallest_sample(q):
        return None
    return sorted(values)[ceil(Fraction(exact(q)) * len(values)) - 1]


def summarise(
    campaign: Campaign, verdicts: Mapping[str, Verdict], exclusions: Sequence[Exclusion]
) -> tuple[Summary, ...]:
    """One summary per variant, corpus and seed, never pooled: all planned ones, then what was tried beyond the plan.

    Variants and corpora come in the manifest's order. Durations are of attempts that stand for a planned pass: one
    tried beyond the plan, or again after a failure, is counted and gives no figure.
    """
    left_out = frozenset(one.attempt_id for one in exclusions)
    summaries = []
    for variant in campaign.manifest.variants:
        planned = slots(campaign, variant.id)
        standing = frozenset(record.attempt.attempt_id for record in planned.values() if record) if planned else None
        found: dict[Group, list[Record]] = {group: [] for group in groups(campaign)}
        for record in of_variant(campaign, variant.id):
            if record.attempt.corpus is not None:
                found.setdefault((record.attempt.corpus, record.attempt.seed), []).append(record)
        beyond = sorted(set(found) - set(groups(campaign)), key=lambda group: (group[0], str(group[1])))
        for group in (*groups(campaign), *beyond):
            ids = frozenset(record.attempt.attempt_id for record in found[group])
            in_plan = standing is not None and group in groups(campaign)
            extra = _tried(found[group]) - standing if standing and in_plan else frozenset()
            one = _counted(variant.id, group, found[group], verdicts, left_out | extra, len(ids & left_out))
            beyond_plan = (reason("warning.beyond_plan", attempts=sorted(extra)),) if extra else ()
            summaries.append(replace(one, warnings=(*_warnings(campaign, found[group], one), *beyond_plan)))
    return tuple(summaries)


def _tried(records: Sequence[Record]) -> frozenset[str]:
    return frozenset(one.attempt.attempt_id for one in records if ended_by_itself(one.attempt))


def _counted(  # noqa: PLR0913, PLR0917  (what one summary is made from, each of another kind)
    variant: str,
    group: Group,
    records: Sequence[Record],
    verdicts: Mapping[str, Verdict],
    no_figure: frozenset[str],
    excluded: int,
) -> Summary:
    rows = [record.attempt for record in records]
    words = {row.attempt_id: verdicts[row.attempt_id].verdict for row in rows if row.outcome not in FAILURES}
    counted = {one for one, word in words.items() if word == "accepted"} - no_figure
    durations = tuple(row.duration_s if row.attempt_id in counted else None for row in rows)
    present = [value for value in durations if value is not None]
    metrics = [value for value in (verdicts[one].metric_value for one in counted) if value is not None]
    verdict_words = list(words.values())
    return Summary(
        variant=variant,
        corpus=group[0],
        seed=group[1],
        attempts=len(rows),
        accepted=verdict_words.count("accepted"),
        rejected=verdict_words.count("rejected"),
        unassessed=verdict_words.count("unassessed"),
        failed=len(rows) - len(words),
        excluded=excluded,
        interrupted=sum(row.outcome == "interrupted" for row in rows),
        durations_s=durations,
        median_s=median(present),
        min_s=min(present, default=None),
        max_s=max(present, default=None),
        median_metric=median(metrics),
    )


def _warnings(campaign: Campaign, records: Sequence[Record], summary: Summary) -> tuple[Reason, ...]:
    found = []
    figures = len(durations_of(summary))
    if figures < FEWEST_PASSES:
        found.append(reason("warning.no_pass" if figures == 0 else "warning.single_pass"))
    seen = {record.attempt.environment for record in records if record.attempt.outcome != "interrupted"} - {None}
    if len(seen) > 1:
        found.append(reason("warning.mixed_environments", environments=len(seen)))
    evidence = [campaign.evidence.get(record.attempt.attempt_id) for record in records]
    without = max((one.without_reference for one in evidence if one), default=0)
    if without:
        found.append(reason("warning.without_reference", inputs=without))
    return tuple(found)
