"""The lists behind drop-downs, and the clock changes of the zone: each a named range on the sheet `dictionary`."""

from __future__ import annotations

from collections.abc import Sequence

from lab.messages import Messages
from lab.model.attempt import OUTCOMES, VERDICTS
from lab.model.protocol import REPRODUCIBILITY_TARGETS
from lab.prices import MODEL_CELLS
from lab.store.moments import zone_named
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.moments import zone_changes
from lab.store.workbook.page import Frame

_DAYS = (3, 7, 30)  # the packages that the product's method names; others come from the catalogue


def named_lists(content: WorkbookContent, frame: Frame, words: Messages) -> dict[str, Sequence[object]]:
    """Name of the range -> its values, in the order of their columns; `zone_from` and `zone_ahead` belong together.

    A spreadsheet knows no time zone: local times from which each offset holds, and hours ahead of UTC, let its formulas
    count the hours that pass.
    """
    gpus = [gpu for _, gpu in frame.variants] + [offer.gpu for offer in content.offers]
    days = {*_DAYS, *(offer.days for offer in content.offers if offer.days)}
    changes = zone_changes(zone_named(content.protocol.time_zone))
    return {
        "list_variants": [name for name, _ in frame.variants],
        "list_corpora": frame.corpora,
        "list_outcomes": OUTCOMES,
        "list_verdicts": VERDICTS,
        "list_yes_no": [words.text("word.yes"), words.text("word.no")],
        "list_gpus": sorted({gpu for gpu in gpus if gpu}),
        "list_days": sorted(days),
        "list_models": tuple(MODEL_CELLS),
        "list_metrics": frame.metrics,
        "list_targets": REPRODUCIBILITY_TARGETS,
        "zone_from": [start for start, _ in changes],
        "zone_ahead": [ahead for _, ahead in changes],
    }


def list_header(name: str) -> str:
    """The header of a named list's column: `list_variants` -> `variants`."""
    return name.removeprefix("list_")
