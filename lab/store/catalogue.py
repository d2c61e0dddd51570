"""Catalogue files: the one that ships, those that people add, and SkyPilot's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.calcul_forfaits import CatalogueError, read_table, runs
from lab.errors import Fault, InvalidInputError, fault
from lab.model.catalogue import Offer
from lab.model.reason import Reason, reason
from lab.prices import read_catalogue, together
from lab.prices.skypilot import Imported, Source, check_columns, import_offers, is_skypilot
from lab.store.files import resource, sha256_file

INCREMENT_MINUTES = 60  # SkyPilot's prices are per hour, and nothing in its catalogue says that less is billed
_VERSION_DIGITS = 12


@dataclass(frozen=True)
class CatalogueFiles:
    """The catalogues that a command was given; `paths` empty: the one that ships.

    Attributes:
        paths: used together; a file that is given twice counts once.
        spot: whether a SkyPilot catalogue's spot prices are offers too.
        increment_minutes: billing increment of a SkyPilot catalogue, which states none.
    """

    paths: Sequence[Path] = ()
    spot: bool = False
    increment_minutes: int = INCREMENT_MINUTES


@dataclass(frozen=True)
class Catalogue:
    """All offers in use, what was assumed or left out on the way, and cards that stand there without a price."""

    offers: tuple[Offer, ...]
    notices: tuple[Reason, ...] = ()
    unpriced: Mapping[str, str] = field(default_factory=dict)  # gpu -> the file that names it

    def check_priced(self, gpu: str | None) -> None:
        """Raises InvalidInputError when `gpu`, as typed, is a card that stands in a catalogue without any price."""
        for known, file in self.unpriced.items():
            if gpu is not None and runs(known) == runs(gpu):
                raise InvalidInputError(fault("price-unstated", file=file, gpu=known))


def shipped_offers() -> tuple[Offer, ...]:
    """The dated offers of `tarifs-forfaits.csv` (version 2026-09-24: the two prices the mission's article states)."""
    return read_catalogue(resource("workbook", "tarifs-forfaits.csv"))


def read_catalogues(files: CatalogueFiles) -> Catalogue:
    """The offers of all files together, those of SkyPilot's recognised by their columns.

    Nothing is chosen between catalogues: two that price the same package both show, each with its version and source.

    Raises:
        InvalidInputError: a file cannot be read as a catalogue; the faults of all files at once. Or two of them spell
            one card differently.
    """
    if not files.paths:
        return Catalogue(shipped_offers())
    from lab.prices import faults

    found: list[Fault] = []
    tables: list[tuple[Path, list[tuple[str, dict[str, str]]]]] = []
    offers: list[Offer] = []
    for path in dict.fromkeys(files.paths):
        try:
            header, rows = read_table(path)
            if is_skypilot(header):
                check_columns(header, str(path))
                tables.append(
                    (path, [(place, dict(zip(header, cells, strict=True))) for place, cells in rows if cells])
                )
            else:
                offers += read_catalogue(path)
        except CatalogueError as error:
            found += faults(error)
        except InvalidInputError as error:
            found += error.faults
    imported: list[tuple[Path, Imported]] = []
    for path, cells in tables:
        try:
            before = [*offers, *(offer for _, one in imported for offer in one.offers)]
            imported.append((path, _skypilot(path, cells, files, [one.gpu for one in before])))
        except CatalogueError as error:
            found += faults(error)
    if found:
        raise InvalidInputError(*found)
    offers += [offer for _, one in imported for offer in one.offers]
    notices = [notice for path, one in imported for notice in _notices(path, one, files)]
    priced = {offer.gpu for offer in offers}
    unpriced = {gpu: str(path) for path, one in imported for gpu in one.unpriced if gpu not in priced}
    return Catalogue(together(offers), tuple(notices), unpriced)


def _skypilot(
    path: Path, rows: Sequence[tuple[str, dict[str, str]]], files: CatalogueFiles, known: list[str]
) -> Imported:
    trimmed = [(place, {column: text.strip() for column, text in row.items()}) for place, row in rows]
    version = sha256_file(path)[:_VERSION_DIGITS]
    source = Source(str(path), version, f"{path.name}, SkyPilot catalogue")
    return import_offers(
        trimmed, source, increment_minutes=files.increment_minutes, spot=files.spot, known=sorted(set(known))
    )


def _notices(path: Path, imported: Imported, files: CatalogueFiles) -> list[Reason]:
    """The increment was assumed; rows were left out, and why."""
    notices = [reason("skypilot.increment", file=path.name, minutes=files.increment_minutes)]
    if imported.left_out:
        facts = {why: imported.left_out.get(why, 0) for why in ("accelerator", "part", "instance", "price")}
        notices.append(reason("skypilot.left_out", file=path.name, **facts))
    return notices
