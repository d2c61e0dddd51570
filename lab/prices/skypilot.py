"""SkyPilot's catalogue of cloud instances as hourly offers (the product's method, section 7).

An instance is a lot, its accelerators are the cards of the lot, and its price is of the whole instance: it is never
multiplied by its cards. A row without a price stays unknown, whatever its spot price; spot offers are made only when
asked for. The catalogue states neither a currency (its prices are US dollars) nor a billing increment: it is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from lab.calcul_forfaits import CatalogueError, Offer, Problem, offers_from_rows, runs

COLUMNS = (
    "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "GpuInfo", "Region", "SpotPrice",
    "Price",
)  # fmt: skip
CURRENCY = "USD"
_ZONE = "AvailabilityZone"  # newer catalogues have it: spot prices differ from zone to zone
_CELLS = {"gpu": "AcceleratorName", "name": "InstanceType", "cards_per_lot": "AcceleratorCount", "region": "Region"}
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]*)?(e-?[0-9]{1,2})?", re.IGNORECASE)
_MOST_DIGITS = 12  # before the point
_STEP = Decimal(1).scaleb(-12)  # the smallest step of a price; digits below it are noise of the program that wrote it

Cells = Mapping[str, str]
Rows = Sequence[tuple[str, Cells]]  # (place, column -> text)


@dataclass(frozen=True)
class Source:
    """Where offers come from: shown with every price."""

    file: str
    version: str
    name: str


@dataclass(frozen=True)
class Imported:
    """Offers of one file.

    Attributes:
        offers: hourly ones, in the file's order; spot ones after the others.
        left_out: why -> rows: `accelerator` (none), `part` (of a card), `instance` (none), `price` (unknown).
        unpriced: gpus that are there without any price.
    """

    offers: tuple[Offer, ...]
    left_out: Mapping[str, int]
    unpriced: tuple[str, ...]


def is_skypilot(header: Collection[str]) -> bool:
    """Whether these are the columns of SkyPilot's catalogue; more may be there, in any order, and some missing."""
    return len({*COLUMNS} & {*header}) > len(COLUMNS) // 2


def check_columns(header: Collection[str], file: str) -> None:
    """Raises CatalogueError that names the columns which are missing."""
    if missing := [column for column in COLUMNS if column not in header]:
        facts = {"missing": ", ".join(missing), "columns": ", ".join(COLUMNS)}
        raise CatalogueError(Problem("skypilot-columns", "line 1", facts), file=file)


def import_offers(
    rows: Rows,
    source: Source,
    *,
    increment_minutes: int,
    spot: bool = False,
    known: Collection[str] = (),
) -> Imported:
    """The hourly offers of the rows (place, column -> text).

    Args:
        rows: of the file, in its order.
        source: shown with every price.
        increment_minutes: what is billed at least and by which the bill grows; SkyPilot's catalogue does not say.
        spot: whether spot prices are offers too.
        known: gpu ids of other catalogues in use; the same letters and digits (`RTX4090`, `rtx-4090`) are one card.

    Raises:
        CatalogueError: each cell that cannot be, with its line and column in this file; a second price of one offer.
    """
    left_out = dict.fromkeys(("accelerator", "part", "instance", "price"), 0)
    usable = []
    for place, row in rows:
        why = _left_out(row)
        if why:
            left_out[why] += 1
        else:
            usable.append((place, row))
    fixed = {"model": "hourly", "increment_minutes": str(increment_minutes), "currency": CURRENCY}
    fixed |= {"catalogue_version": source.version, "source": source.name}
    ids = {runs(one): one for one in sorted(known, reverse=True)}
    for _, row in usable:  # a card that the file itself writes in two ways is one
        ids.setdefault(runs(row["AcceleratorName"]), _gpu(row["AcceleratorName"], ids))
    offers: list[Offer] = []
    problems: list[Problem] = []
    for column in ("Price", "SpotPrice") if spot else ("Price",):
        cells = [(place, {**fixed, **one}) for place, one in _offers(usable, column, ids)]
        try:
            offers += offers_from_rows(_once(cells))
        except CatalogueError as error:
            problems += [_in_this_file(one, column) for one in error.problems]
    if problems:
        raise CatalogueError(*problems, file=source.file)
    left_out["price"] = sum(not row["Price"] for _, row in usable)
    priced = {offer.gpu for offer in offers}
    unpriced = {_gpu(row["AcceleratorName"], ids) for _, row in usable} - priced
    offers = [replace(one, at=(source.file, one.at[1])) for one in offers]
    return Imported(tuple(offers), {why: n for why, n in left_out.items() if n}, tuple(sorted(unpriced)))


def _left_out(row: Cells) -> str | None:
    if not row["AcceleratorName"]:
        return "accelerator"
    count = row["AcceleratorCount"]
    if _NUMBER.fullmatch(count) and Decimal(count) % 1:
        return "part"
    return None if row["InstanceType"] else "instance"


def _offers(rows: Rows, column: str, ids: Mapping[tuple[str, ...], str]) -> Iterator[tuple[str, Cells]]:
    spot = column == "SpotPrice"
    for place, row in rows:
        price = _plain(row[column], _STEP)
        if not price or (spot and price == "0"):  # 0.00 is how the column says that there is no spot price
            continue
        region = (spot and row.get(_ZONE)) or row["Region"]
        yield place, {
            "gpu": _gpu(row["AcceleratorName"], ids), "name": row["InstanceType"], "region": region, "price": price,
            "cards_per_lot": _plain(row["AcceleratorCount"], Decimal(1)), "spot": "true" if spot else "false",
        }  # fmt: skip


def _once(rows: Rows) -> list[tuple[str, Cells]]:
    """Rows that say the same (one per availability zone) once, at the first of their places."""
    seen: dict[tuple[str, ...], tuple[str, Cells]] = {}
    for place, row in rows:
        seen.setdefault(tuple(row.values()), (place, row))
    return list(seen.values())


def _in_this_file(problem: Problem, price: str) -> Problem:
    column = problem.values.get("column")
    named = {**_CELLS, "price": price}.get(str(column), column)
    return Problem(problem.slug, problem.place, {**problem.values, "column": named} if column else problem.values)


def _plain(text: str, step: Decimal) -> str:
    """`8.0` as `8` and `1e-05` as `0.00001`; what is no such number stays as it is, to be refused."""
    if not _NUMBER.fullmatch(text) or Decimal(text).adjusted() > _MOST_DIGITS:
        return text
    return f"{Decimal(text).quantize(step, ROUND_HALF_UP).normalize():f}"


def _gpu(name: str, ids: Mapping[tuple[str, ...], str]) -> str:
    """`A100-80GB` as `a100-80gb`, `Gaudi HL-205` as `gaudi-hl-205`."""
    return ids.get(runs(name)) or "-".join(re.findall(r"[a-z0-9]+(?:\.[a-z0-9]+)*", name.lower()))
