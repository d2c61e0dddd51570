"""What people ask before they rent: `lab price` and `lab window`. No campaign has to be there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import UsageProblemError, fault

if TYPE_CHECKING:  # each question imports what it needs
    from collections.abc import Collection, Sequence

    from lab.analysis.coverage import Coverage
    from lab.calcul_forfaits import Answer, Offer
    from lab.model.reason import Reason
    from lab.store.catalogue import CatalogueFiles


@dataclass(frozen=True)
class WindowQuestion:
    """What `lab window` is asked, times and zone as typed: `start` and `end`, or the tasks of a CSV or a campaign."""

    start: str | None
    end: str | None
    zone: str | None
    campaign: Path | None
    tasks: Path | None
    deadline: str | None
    gpu: str | None
    lots: int | None
    files: CatalogueFiles


def price(  # noqa: PLR0913  (the options of `lab price`, one by one)
    gpu: str,
    days: int | None,
    lots: int,
    *,
    periods: int = 1,
    window: str | None = None,
    accepted: int | None = None,
    files: CatalogueFiles,
) -> tuple[Answer, tuple[Reason, ...]]:
    """What a package commits, by the very code of `calcul_forfaits.py`, and what was assumed; `window` as typed, hours.

    Raises:
        InvalidInputError: a catalogue cannot be read, or none holds such a card or package.
        UsageProblemError: a number that cannot be.
    """
    from lab.calcul_forfaits import OPTIONS
    from lab.prices import answer
    from lab.store.catalogue import read_catalogues

    form, read, wanted = OPTIONS["--window"]
    if window is not None and not re.fullmatch(form, window):
        raise UsageProblemError(fault("price-option", place="--window", value=window, wanted=wanted))
    hours = None if window is None else read(window)
    catalogue = read_catalogues(files)
    catalogue.check_priced(gpu)
    found = answer(catalogue.offers, gpu, days, lots=lots, periods=periods, window=hours, accepted=accepted)
    return found, (*catalogue.notices, *_two_prices(catalogue.offers, {found.rows[0]["gpu"]}))


def windows(asked: WindowQuestion) -> tuple[tuple[Coverage, ...], tuple[Reason, ...]]:
    """The window of each variant that the tasks name (one if they name none) beside the packages, and what was assumed.

    Raises:
        InvalidInputError: tasks, campaign or a catalogue cannot be read, or no catalogue holds the card.
        UsageProblemError: options that do not go together, or a value that cannot be.
    """
    from lab.analysis.coverage import Priced, coverage
    from lab.store.calendar_file import option_time, read_tasks, read_zone, task_of_options
    from lab.store.catalogue import read_catalogues

    sources = [asked.campaign is not None, asked.tasks is not None, None not in {asked.start, asked.end}]
    halved = (asked.start is None) != (asked.end is None)
    if sum(sources) != 1 or halved or (asked.campaign and asked.zone):
        raise UsageProblemError(fault("window-sources"))
    if asked.campaign:
        return _campaign_windows(asked.campaign, asked)
    zone = read_zone(asked.zone)
    tasks = read_tasks(asked.tasks, zone) if asked.tasks else task_of_options(asked.start or "", asked.end or "", zone)
    deadline = option_time(asked.deadline, zone, "--deadline") if asked.deadline else None
    catalogue = read_catalogues(asked.files)
    catalogue.check_priced(asked.gpu)
    priced = Priced(catalogue.offers, asked.gpu, 1 if asked.lots is None else asked.lots)
    named: list[str | None] = [*dict.fromkeys(task.variant for task in tasks if task.variant)]
    found = [coverage(tasks, one, zone.key, deadline=deadline, priced=priced) for one in named or [None]]
    return tuple(found), (*catalogue.notices, *_two_prices(catalogue.offers, {one.gpu for one in found}))


def _two_prices(offers: Sequence[Offer], gpus: Collection[str | None]) -> tuple[Reason, ...]:
    """Of the cards that an answer is about."""
    from lab.prices import two_prices

    return two_prices(one for one in offers if one.gpu in gpus)


def _campaign_windows(folder: Path, asked: WindowQuestion) -> tuple[tuple[Coverage, ...], tuple[Reason, ...]]:
    """Of each variant of the manifest: the card it names, the lots chosen in `forfaits`, the workbook's catalogue."""
    from lab.analysis.coverage import Priced, coverage
    from lab.model.reason import reason
    from lab.prices import near_names
    from lab.store.calendar_file import option_time, read_zone
    from lab.store.campaign import read_declared
    from lab.store.catalogue import Catalogue, read_catalogues

    manifest, content = read_declared(folder)
    zone, deadline = content.protocol.time_zone, content.protocol.deadline
    if asked.deadline:
        deadline = option_time(asked.deadline, read_zone(zone), "--deadline")
    catalogue = read_catalogues(asked.files) if asked.files.paths else Catalogue(content.offers)
    catalogue.check_priced(asked.gpu)
    held = {offer.gpu for offer in catalogue.offers}
    chosen = {choice.variant: choice for choice in content.choices}
    found, notices = [], list(catalogue.notices)
    for variant in manifest.variants:
        lots = (chosen[variant.id].lots if variant.id in chosen else None) or 1
        gpu = asked.gpu or (variant.gpu if variant.gpu in held else None)
        if gpu is None and variant.gpu and held:
            near = near_names(catalogue.offers, variant.gpu)
            notices.append(reason("window.no_card", variant=variant.id, gpu=variant.gpu, near=near))
        priced = Priced(catalogue.offers, gpu, lots if asked.lots is None else asked.lots)
        found.append(coverage(content.calendar, variant.id, zone, deadline=deadline, priced=priced))
    return tuple(found), (*notices, *_two_prices(catalogue.offers, {one.gpu for one in found}))
