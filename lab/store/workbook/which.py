"""Which file of a campaign folder is its workbook: people send it back in another format, and two may lie there."""

from __future__ import annotations

from pathlib import Path

from lab.errors import InvalidInputError, fault
from lab.model.names import WORKBOOK

_ENDINGS = (Path(WORKBOOK).suffix, ".xlsm", ".ods")


def campaign_workbook(folder: Path) -> Path:
    """The workbook of a campaign: `campaign.xlsx`, or in its place `campaign.xlsm` or `campaign.ods`.

    Where there is none, the path at which it should be.

    Raises:
        InvalidInputError: several lie there; which one holds what people declared is not for the tool to guess.
    """
    found = [path for ending in _ENDINGS if (path := (folder / WORKBOOK).with_suffix(ending)).exists()]
    if len(found) > 1:
        raise InvalidInputError(fault("workbook-several", file=str(folder), found=", ".join(one.name for one in found)))
    return found[0] if found else folder / WORKBOOK
