"""The one entry of the analysis: from a campaign to its decision (the product's method, sections 5 to 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lab.analysis.by_the_hour import by_the_hour
from lab.analysis.costs import unplanned_deliverables
from lab.analysis.exclusions import exclusion_warnings
from lab.analysis.planning import planning
from lab.analysis.rank_test import EXACT_UP_TO
from lab.analysis.scope import covers, does_not_cover, stack_differences
from lab.analysis.sensitivity import sensitivity
from lab.analysis.separation import durations_of
from lab.analysis.stacks import undeclared_differences
from lab.analysis.weigh import weigh
from lab.model.campaign import Campaign
from lab.model.decision import Decision, OtherAnswer, Summary
from lab.model.reason import Reason, reason


def decide(campaign: Campaign) -> Decision:
    """The answer with everything that is said about it; the order of the rows changes nothing."""
    found = weigh(campaign)
    answer, with_excluded = found.answer, _with_excluded(campaign) if found.exclusions else None
    return Decision(
        status=answer.status,
        variant=answer.winner.id if answer.winner else None,
        committed=answer.winner.committed if answer.winner else None,
        currency=answer.winner.currency if answer.winner else None,
        cost_per_validated_corpus=answer.winner.cost_per_validated_corpus if answer.winner else None,
        reasons=answer.reasons,
        next_steps=answer.next_steps,
        contenders=answer.contenders,
        variants=found.variants,
        separations=found.separations,
        verdicts=found.verdicts,
        exclusions=found.exclusions,
        covers=covers(campaign),
        does_not_cover=does_not_cover(campaign),
        sensitivity=sensitivity(campaign, found, with_excluded),
        warnings=(*exclusion_warnings(campaign, found.exclusions), *_warnings(campaign, found.summaries)),
        planning=planning(campaign, found.verdicts, found.exclusions),
        hourly=by_the_hour(campaign),
        with_excluded=with_excluded,
    )


def _with_excluded(campaign: Campaign) -> OtherAnswer:
    """The answer of the same attempts when no rule leaves any of them out (section 6: shown with and without)."""
    kept = weigh(replace(campaign, protocol=replace(campaign.protocol, exclusion_rules=())))
    winner = kept.answer.winner
    return OtherAnswer(kept.answer.status, winner.id if winner else None, kept.answer.contenders, kept.separations)


def _most_compared(summaries: Sequence[Summary]) -> int:
    """How many durations the largest comparison pools: of the two variants that have the most, on a corpus and seed."""
    counts: dict[tuple[str, int | None], list[int]] = {}
    for one in summaries:
        counts.setdefault((one.corpus, one.seed), []).append(len(durations_of(one)))
    return max((sum(sorted(found)[-2:]) for found in counts.values() if len(found) > 1), default=0)


def _warnings(campaign: Campaign, summaries: Sequence[Summary]) -> tuple[Reason, ...]:
    """What qualifies the whole answer."""
    found = []
    known = {variant.id for variant in campaign.manifest.variants}
    strangers = sorted({r.attempt.variant or "-" for r in campaign.records if r.attempt.variant not in known})
    if strangers:
        found.append(reason("warning.unknown_variant", variants=strangers))
    typed = sum(record.typed for record in campaign.records)
    if typed:
        found.append(reason("warning.declared_rows", rows=typed))
    imported = sum(record.imported for record in campaign.records)
    if imported:
        found.append(reason("warning.imported_rows", rows=imported))
    unplanned = unplanned_deliverables(campaign)
    if unplanned:
        found.append(reason("warning.unplanned_deliverables", deliverables=list(unplanned)))
    if campaign.manifest.run.process == "per-variant" and len(known) > 1:
        found.append(reason("warning.no_rotation"))
    if _most_compared(summaries) > EXACT_UP_TO:
        found.append(reason("warning.approximate_test", limit=EXACT_UP_TO))
    differing = stack_differences(campaign)
    if differing:
        found.append(reason("warning.stacks_differ", facts=list(differing)))
    return (*found, *undeclared_differences(campaign))
