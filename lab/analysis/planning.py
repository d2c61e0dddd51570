"""Planning hypotheses: what production would need, projected from accepted passes (the product's method, section 2).

Nothing of this is in the decision: an estimate of capacity does not stand for accepted results (the seeds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from lab.analysis.costs import chosen_package
from lab.analysis.exact import exact, median
from lab.analysis.passes import of_variant
from lab.calcul_forfaits import Quote
from lab.model.attempt import Record
from lab.model.campaign import Campaign
from lab.model.decision import Exclusion, Planning, Verdict
from lab.model.reason import Reason, reason
from lab.prices import quote

# What a deliverable costs in time beside its pass. Download and installation happen once a rental: they count where a
# pass measured them, and nothing is guessed for them elsewhere, nor for the tasks of the calendar.
ONCE = ("download_s", "install_s")
OVERHEADS = ("load_s", "compile_s", "warm_up_s", "evaluate_s", "export_s")
# An empty cell for one of these reasons costs nothing, or its time is in the pass already.
_NOTHING_TO_ADD = {
    "missing.not_needed", "missing.exported_in_pass", "missing.no_warm_up_declared", "missing.no_warm_up_possible",
    "missing.loaded_before", "missing.loaded_in_pass",
}  # fmt: skip


def planning(
    campaign: Campaign, verdicts: Mapping[str, Verdict], exclusions: Sequence[Exclusion]
) -> tuple[Planning, ...]:
    """One hypothesis a variant: planned deliverables one after another, each as slow as the slowest accepted pass.

    To each the medians of its other phases are added, over the accepted, not excluded passes on the corpus of the
    slowest one. A phase that some of them had and the others did not need (a download, a load in a process that serves
    several passes) is added once, at its longest; one that not all of them recorded for another reason is left out and
    named. Between two passes comes the cool-down that the manifest declares. The package is the shortest of the
    variant's card that covers the window, with the lots chosen in `forfaits`; beyond the longest package, the periods
    of it that cover, each at its price. Empty when the protocol plans no deliverable.
    """
    planned = len(campaign.protocol.planned_deliverables)
    if not planned:
        return ()
    left_out = {one.attempt_id for one in exclusions}
    found = []
    for variant in campaign.manifest.variants:
        passes = [
            record
            for record in of_variant(campaign, variant.id)
            if verdicts[record.attempt.attempt_id].verdict == "accepted"
            and record.attempt.attempt_id not in left_out
            and record.attempt.duration_s is not None
        ]
        found.append(_projected(campaign, variant.id, planned, passes))
    return tuple(found)


def _projected(campaign: Campaign, variant: str, planned: int, passes: Sequence[Record]) -> Planning:
    if not passes:
        return Planning(variant, planned, why=reason("planning.no_pass"))
    slowest = max((record.attempt for record in passes), key=lambda row: (row.duration_s or 0.0, row.corpus or ""))
    alike = [one for one in passes if one.attempt.corpus == slowest.corpus]
    overheads, once, left_out = _overheads(alike)
    cool_down = campaign.manifest.run.cool_down_s
    each = sum(exact(value) for value in (slowest.duration_s or 0.0, *overheads.values()))
    seconds = each * planned + sum(exact(value) for value in once.values()) + exact(cool_down) * (planned - 1)
    hours = Fraction(seconds) / 3600
    package = smallest_package(campaign, variant, hours)
    return Planning(
        variant, planned, slowest.corpus, slowest.duration_s, overheads, once, cool_down, left_out, hours,
        quote=package if isinstance(package, Quote) else None,
        why=package if isinstance(package, Reason) else None,
    )  # fmt: skip


def _overheads(passes: Sequence[Record]) -> tuple[dict[str, float], dict[str, float], tuple[str, ...]]:
    """Seconds of phases that every pass had (medians), of those only some needed (longest), and what is left out."""
    medians: dict[str, float] = {}
    once: dict[str, float] = {}
    left_out = []
    for name in (*ONCE, *OVERHEADS):
        values = [value for one in passes if (value := getattr(one.attempt, name)) is not None]
        lacking = [one for one in passes if getattr(one.attempt, name) is None]
        middle = median(values) if not lacking else None
        if middle is not None:
            medians[name] = middle
        elif values and (name in ONCE or all(_nothing_to_add(one, name) for one in lacking)):
            once[name] = max(values)
        elif name in OVERHEADS and not all(_nothing_to_add(one, name) for one in lacking):
            left_out.append(name)
    return medians, once, tuple(left_out)


def _nothing_to_add(record: Record, name: str) -> bool:
    return record.details.missing.get(name) in _NOTHING_TO_ADD


def smallest_package(campaign: Campaign, variant: str, hours: Fraction) -> Quote | Reason:
    """The shortest package of the variant's card that covers `hours`, priced; or why that is not known.

    Beyond the longest package: that one, with the number of periods that cover, priced explicitly.
    """
    choice = chosen_package(campaign, variant)
    if isinstance(choice, Reason):
        return choice
    if choice.gpu is None:
        return reason("gate.price.unknown.no_gpu")
    lengths = sorted({one.days for one in campaign.offers if one.days and one.gpu == choice.gpu and not one.spot})
    if not lengths:
        return reason("planning.no_package", gpu=choice.gpu)
    days = next((days for days in lengths if 24 * days >= hours), lengths[-1])
    needed = replace(choice, days=days, periods=max(1, ceil(hours / (24 * days))))
    return quote(needed, campaign.offers, None)
