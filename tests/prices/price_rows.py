"""Catalogue rows as people write them."""

from __future__ import annotations

from lab.calcul_forfaits import Offer, offers_from_rows


def row(**cells: str) -> dict[str, str]:
    """One good package row, with the given cells instead."""
    good = {
        "gpu": "rtx-4090", "name": "RTX 4090", "cards_per_lot": "1", "device_names": "NVIDIA GeForce RTX 4090",
        "memory_gib_per_card": "", "model": "forfait", "days": "7", "increment_minutes": "", "minimum_hours": "",
        "region": "", "spot": "false", "price": "110.00", "currency": "USD", "catalogue_version": "v1", "source": "s",
    }  # fmt: skip
    return {**good, **cells}


def hourly(**cells: str) -> dict[str, str]:
    """One good hourly row, with the given cells instead."""
    return row(**{"model": "hourly", "days": "", "increment_minutes": "60", "price": "0.69", **cells})


def offers(*rows: dict[str, str]) -> tuple[Offer, ...]:
    """The offers of rows, placed on lines 2 and following."""
    return offers_from_rows((f"line {line}", cells) for line, cells in enumerate(rows, start=2))
