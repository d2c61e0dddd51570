"""Which file of a campaign folder is its workbook (people send it back in another format), and what lies beside it."""

from __future__ import annotations

from pathlib import Path

from lab.errors import InvalidInputError, fault
from lab.model.names import WORKBOOK, WORKBOOK_ENDINGS

NEW_ROWS = "{stem}.new-rows-{stamp}.xlsx"  # beside a workbook that could not be added to


def backup_of(workbook: Path) -> Path:
    """Where a workbook is kept as it was before the last change: `campaign.backup.xlsx` beside `campaign.xlsx`."""
    return workbook.with_name(f"{workbook.stem}.backup.xlsx")


def campaign_workbook(folder: Path) -> Path:
    """The workbook of a campaign: `campaign.xlsx`, or in its place `campaign.xlsm` or `campaign.ods`.

    Where there is none, the path at which it should be.

    Raises:
        InvalidInputError: several lie there; which one holds what people declared is not for the tool to guess.
    """
    found = [path for ending in WORKBOOK_ENDINGS if (path := (folder / WORKBOOK).with_suffix(ending)).exists()]
    if len(found) > 1:
        raise InvalidInputError(fault("workbook-several", file=str(folder), found=", ".join(one.name for one in found)))
    return found[0] if found else folder / WORKBOOK
