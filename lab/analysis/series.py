"""What a series of passes shows beyond its median: its interval, its drift, what was left out, and rounds side by side.

Nothing here changes a figure or decides: every finding travels as a warning or a view beside the number that it is of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lab.analysis.drift import drift
from lab.analysis.first_position import first_position
from lab.analysis.foremost import foremost
from lab.analysis.intervals import of_median, of_ratio
from lab.analysis.paired import by_round, of_rounds
from lab.analysis.passes import Group, by_start, moment, of_variant
from lab.analysis.separation import durations_of, place_of
from lab.analysis.statistics import summarise
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign
from lab.model.decision import Figures, Interval, Separation, Summary, Verdict
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
    campaign: Campaign, summaries: Sequence[Summary], separations: Sequence[Separation], named: Collection[str]
) -> tuple[Separation, ...]:
    """The same separations; those that are shown with their ratio, and round by round where the order was rotated.

    `named`: the variants that the answer is about.
    """
    series = passes_that_count(campaign, summaries)
    rounds = {key: by_round([record.attempt for record in passes]) for key, passes in series.items()}
    own = {_key(one): one for one in summaries}
    several = len({one.seed for one in summaries}) > 1
    found = []
    for one, shown in zip(separations, foremost(named, summaries, separations), strict=True):
        if not shown:
            found.append(one)
            continue
        a, b = ((variant, (one.corpus, one.seed)) for variant in (one.a, one.b))
        ratio = _ratio(own[a], own[b], several_seeds=several) if one.p_value is not None else None
        found.append(replace(one, shown=True, ratio=ratio, paired=of_rounds(rounds[a], rounds[b])))
    return tuple(found)


def _ratio(a: Summary, b: Summary, *, several_seeds: bool) -> Interval | None:
    """The slower median over the faster one, with its bounds."""
    slower, faster = (a, b) if (a.median_s or 0) > (b.median_s or 0) else (b, a)
    names = {"slower": slower.variant, "faster": faster.variant}
    place = place_of(a, several_seeds=several_seeds)
    return of_ratio(durations_of(slower), durations_of(faster), corpus=place, **names)


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
