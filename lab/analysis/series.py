"""What a series of passes shows beyond its median: its interval, its drift, what was left out, and rounds side by side.

Nothing here changes a figure or decides: every finding travels as a warning or a view beside the number that it is of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lab.analysis.drift import drift
from lab.analysis.first_position import first_position
from lab.analysis.intervals import of_median
from lab.analysis.paired import by_round, of_rounds
from lab.analysis.passes import Group, by_start, moment, of_variant
from lab.analysis.separation import durations_of
from lab.analysis.statistics import summarise
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign
from lab.model.decision import Figures, Separation, Summary, Verdict
from lab.model.reason import Reason

Series = Mapping[tuple[str, Group], tuple[Record, ...]]  # variant and population -> its passes that count


def deepened(campaign: Campaign, verdicts: Mapping[str, Verdict], summaries: Sequence[Summary]) -> tuple[Summary, ...]:
    """The same summaries with the interval of each median, the figures with excluded attempts, and further warnings."""
    series = passes_that_count(campaign, summaries)
    everything = (
        {_key(one): one for one in summarise(campaign, verdicts, ())} if any(one.excluded for one in summaries) else {}
    )
    first = _first_in_round(series)
    found = []
    for one in summaries:
        shown = (_drift(series[_key(one)]), first.get(_key(one)))
        found.append(
            replace(
                one,
                median_interval=of_median(durations_of(one)),
                with_excluded=_figures(everything[_key(one)]) if one.excluded else None,
                warnings=(*one.warnings, *(warning for warning in shown if warning)),
            )
        )
    return tuple(found)


def side_by_side(
    campaign: Campaign, summaries: Sequence[Summary], separations: Sequence[Separation]
) -> tuple[Separation, ...]:
    """The same separations with the rounds of each pair side by side, where their order was rotated."""
    series = passes_that_count(campaign, summaries)
    rounds = {key: by_round([record.attempt for record in passes]) for key, passes in series.items()}
    found = []
    for one in separations:
        group = (one.corpus, one.seed)
        found.append(replace(one, paired=of_rounds(rounds[one.a, group], rounds[one.b, group])))
    return tuple(found)


def passes_that_count(campaign: Campaign, summaries: Sequence[Summary]) -> Series:
    """The attempts that gave each summary its durations, in schedule order."""
    found = {}
    for one in summaries:
        group = (one.corpus, one.seed)
        rows = [r for r in of_variant(campaign, one.variant) if (r.attempt.corpus, r.attempt.seed) == group]
        pairs = zip(rows, one.durations_s, strict=True)
        found[_key(one)] = tuple(record for record, duration in pairs if duration is not None)
    return found


def _key(one: Summary) -> tuple[str, Group]:
    return one.variant, (one.corpus, one.seed)


def _drift(passes: Sequence[Record]) -> Reason | None:
    if any(moment(record.attempt.started_at) is None for record in passes):
        return None  # when they ran is not known
    return drift([record.attempt for record in sorted(passes, key=by_start)])


def _first_in_round(series: Series) -> dict[tuple[str, Group], Reason]:
    populations: dict[Group, dict[str, list[Attempt]]] = {}
    for (variant, group), passes in series.items():
        populations.setdefault(group, {})[variant] = [record.attempt for record in passes]
    return {
        (variant, group): why
        for group, passes_of in populations.items()
        for variant, why in first_position(passes_of).items()
    }


def _figures(one: Summary) -> Figures:
    return Figures(len(durations_of(one)), one.durations_s, one.median_s, one.min_s, one.max_s)
