"""The catalogue that ships with the product; a campaign's own prices stand in its workbook."""

from __future__ import annotations

from lab.model.catalogue import Offer
from lab.prices import read_catalogue
from lab.store.files import resource


def shipped_offers() -> tuple[Offer, ...]:
    """The dated offers of `tarifs-forfaits.csv` (version 2026-09-24: the two prices the mission's article states)."""
    return read_catalogue(resource("workbook", "tarifs-forfaits.csv"))
