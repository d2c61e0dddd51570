"""What stands in the way of measuring or judging a campaign, and what already speaks against deciding on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import CheckFoundError, Fault, InvalidInputError, fault
from lab.messages import DASH
from lab.model.names import WORKBOOK
from lab.model.reason import Reason, reason

if TYPE_CHECKING:  # slow to import, and commands that read no campaign load this module too
    from lab.model.campaign import Campaign
    from lab.model.decision import Decision

# The gates that what people declare decides: known before anything is measured.
_DECLARED = ("price", "calendar", "deadline", "budget")


_OWN_LANGUAGE = "workbook-own-language"


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        campaign: None when it cannot be read.
        faults: what must be put right.
        warnings: what can be measured and judged all the same, and would leave the question open or a variant out.
    """

    campaign: Campaign | None
    faults: tuple[Fault, ...]
    warnings: tuple[Reason, ...] = ()


def check(folder: Path) -> Checked:
    """Read a campaign whole and list what is wrong with it."""
    from lab.measure.runner import setting_faults
    from lab.store.campaign import read_campaign
    from lab.store.findings import changed_latencies
    from lab.store.memory_need import memory_warnings

    damaged: dict[str, Fault] = {}
    try:
        campaign = read_campaign(folder, damaged=damaged)
    except InvalidInputError as error:
        return Checked(None, (*error.faults, *_empty_terms(folder)))
    faults = (
        *damaged.values(),
        *setting_faults(campaign.manifest, folder),
        *term_faults(campaign, folder),
        *seal_faults(campaign),
        *seal_dates(campaign),
        *evidence_faults(campaign),
        *changed_latencies(folder, campaign.records),
        *(one for one in campaign.notices if one.slug != _OWN_LANGUAGE),
    )
    absent = (*_absent_models(campaign, folder), *_absent_devices(campaign))
    foreseen = (*_languages(campaign), *absent, *memory_warnings(campaign, folder))
    return Checked(campaign, faults, (*foreseen, *_warnings(campaign)))


def _empty_terms(folder: Path) -> tuple[Fault, ...]:
    """A fault for each required term that is empty, where the rest of the campaign cannot be read yet."""
    from lab.store.campaign import read_declared
    from lab.store.workbook import campaign_workbook, missing_fields

    try:
        _manifest, content = read_declared(folder)
    except InvalidInputError:  # said already
        return ()
    book = campaign_workbook(folder).name
    return tuple(
        fault("protocol-field-missing", file=book, place=content.fields.get(one.name, "protocol"), field=one.name)
        for one in missing_fields(content.protocol)
    )


def ready(campaign: Campaign, folder: Path, only: Collection[str] | None = None) -> None:
    """Refuse to seal or to measure while something that is known beforehand is wrong.

    Raises:
        InvalidInputError: a term of the protocol is missing or means nothing, or a setting cannot be run here.
        CheckFoundError: what is sealed has been changed since.
    """
    from lab.measure.runner import setting_faults

    if wrong := (*term_faults(campaign, folder), *setting_faults(campaign.manifest, folder, only)):
        raise InvalidInputError(*wrong)
    if changed := seal_faults(campaign):
        raise CheckFoundError(*changed)


def term_faults(campaign: Campaign, folder: Path | None = None) -> tuple[Fault, ...]:
    """A fault for each term that must be decided before the first timing and is empty, or names what is not there.

    One too for each that cannot be computed, whatever is measured; in `folder`, also by the user's own metric.
    """
    from lab.store.computable import not_computable
    from lab.store.workbook import campaign_workbook, missing_fields

    book = WORKBOOK if folder is None else campaign_workbook(folder).name

    found = [
        fault("protocol-field-missing", file=WORKBOOK, place=campaign.cell_of(spec.name), field=spec.name)
        for spec in missing_fields(campaign.protocol)
    ]
    for one in campaign.protocol.subgroup_thresholds:
        known = sorted({value for corpus in campaign.corpora.values() for value in corpus.groups.get(one.group, {})})
        if one.value not in known:
            facts = {"group": one.group, "found": one.value, "known": known}
            place = campaign.cell_of("subgroup_thresholds")
            found.append(fault("protocol-subgroup-value", file=WORKBOOK, place=place, **facts))
    found += not_computable(campaign, folder)
    return tuple(replace(one, file=book) if one.file == WORKBOOK else one for one in found)


def seal_faults(campaign: Campaign) -> tuple[Fault, ...]:
    """A fault for each sealed value that was changed since, old value and new value; one for a seal that is gone."""
    if campaign.seal is None:
        sealed = [record.attempt.attempt_id for record in campaign.records if record.attempt.seal]
        return (fault("seal-gone", file="seal.json", attempts=sealed),) if sealed else ()
    return tuple(
        fault("seal-changed", place=one.name, sealed=one.sealed or DASH, now=one.now or DASH)
        for one in campaign.seal.changes
    )


def seal_dates(campaign: Campaign) -> tuple[Fault, ...]:
    """A fault for each other date that attempts keep of the seal: the date is in no fingerprint of the seal's own."""
    seal = campaign.seal
    if seal is None:
        return ()
    dates = {one.fingerprint: one.sealed_at for one in seal.amendments} | {seal.fingerprint: seal.sealed_at}
    kept: dict[tuple[str, str], list[str]] = {}
    for record in campaign.records:
        stated, own = dates.get(record.attempt.seal or ""), record.details.facts.get("sealed_at")
        if stated and own and own != stated:
            kept.setdefault((own, stated), []).append(record.attempt.attempt_id)
    return tuple(
        # As they are written: in words, to the minute, two dates of one minute would read alike.
        fault("seal-dated-otherwise", file="seal.json", place="sealed_at", kept=own, found=stated, attempts=attempts)
        for (own, stated), attempts in sorted(kept.items())
    )


def evidence_faults(campaign: Campaign) -> tuple[Fault, ...]:
    """A fault for each attempt whose predictions are not what was measured: altered, gone, unreadable, unproven."""
    found = dict(campaign.evidence_faults)
    measured = {record.attempt.attempt_id for record in campaign.records if not record.declared}
    for name, evidence in campaign.evidence.items():
        if name in measured and evidence.altered is not False:
            slug = "predictions-altered" if evidence.altered else "predictions-unproven"
            found[name] = fault(slug, file=f"attempts/{name}/predictions.jsonl", id=name)
    return tuple(found[name] for name in sorted(found))


def _warnings(campaign: Campaign) -> tuple[Reason, ...]:
    """What the declared parts already say: packages, calendar, deadline, budget, references, number of passes."""
    from lab.analysis.decide import decide
    from lab.analysis.exclusions import exclusion_warnings, exclusions
    from lab.analysis.separation import cannot_tell
    from lab.store.computable import without_scores

    decision = decide(campaign)
    found = [
        reason("check.variant", variant=variant.id, why=gate.reason)
        for variant in decision.variants
        for gate in variant.gates
        if gate.gate in _DECLARED and gate.result != "passed"
    ]
    found += _processors(campaign, decision)
    for corpus in campaign.corpora.values():
        without = corpus.size - sum(corpus.label_counts.values())
        if without:
            found.append(reason("check.without_reference", corpus=corpus.id, inputs=without, size=corpus.size))
    if unsure := without_scores(campaign):
        found.append(reason("check.without_scores", variants=list(unsure)))
    too_few = cannot_tell(campaign)
    left_out = exclusions(campaign, decision.verdicts)
    return (*found, *([too_few] if too_few else ()), *exclusion_warnings(campaign, left_out))


def _processors(campaign: Campaign, decision: Decision) -> Iterator[Reason]:
    """Variants that are to run on a processor while their package is of cards: known before anything is measured."""
    from lab.measure.machine import cpu_model

    for one in decision.variants:
        spec = campaign.manifest.variant(one.id)
        names = one.offer.device_names if one.offer else ()
        measured = any(gate.gate == "device" and gate.result != "unknown" for gate in one.gates)
        if spec and spec.device.startswith("cpu") and names and not measured and (here := cpu_model()) not in names:
            yield reason("check.processor", variant=one.id, found=here, names=list(names))


def _languages(campaign: Campaign) -> list[Reason]:
    """A workbook that was made in another language than the manifest states is read right: nothing to put right."""
    return [
        reason("check.own_language", file=one.file, own=one.values["own"], language=one.values["language"])
        for one in campaign.notices
        if one.slug == _OWN_LANGUAGE
    ]


def _absent_models(campaign: Campaign, folder: Path) -> tuple[Reason, ...]:
    """Variants whose model reads as a folder of the campaign that is not there; it may belong to another machine."""
    found = []
    for variant in campaign.manifest.variants:
        name = variant.model or ""
        first = name.partition("/")[0]
        local = first in {".", "models"} or name.count("/") > 1 or bool(name and (folder / first).exists())
        if local and not (folder / name).is_dir():
            found.append(reason("check.model_absent", variant=variant.id, model=name))
    return tuple(found)


def _absent_devices(campaign: Campaign) -> Iterator[Reason]:
    """Variants with passes left whose device this machine lacks; another host may have it."""
    from lab.measure.absent_devices import absent_devices
    from lab.measure.schedule import plan, remaining

    left = None
    if campaign.protocol.repetitions is not None:
        slots = plan(campaign.manifest, campaign.protocol)
        left = {slot.variant for slot in remaining(slots, campaign.records)}
    for variant, devices in absent_devices(campaign.manifest, left).items():
        yield reason("check.device_absent", variant=variant, devices=list(devices))
