"""Units, converted once: what the field's own documentation says decides, and what looks wrong is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from lab.model.attempt import DURATION_DIGITS

TIMES: Mapping[str, Decimal] = {
    "s": Decimal(1), "ms": Decimal("1e-3"), "us": Decimal("1e-6"), "ns": Decimal("1e-9"), "min": Decimal(60),
    "h": Decimal(3600),
}  # fmt: skip
SIZES: Mapping[str, Decimal] = {
    "B": Decimal(1), "bytes": Decimal(1), "kB": Decimal(10**3), "MB": Decimal(10**6), "GB": Decimal(10**9),
    "KiB": Decimal(2**10), "MiB": Decimal(2**20), "GiB": Decimal(2**30),
}  # fmt: skip
ENERGIES: Mapping[str, Decimal] = {
    "J": Decimal(1), "kJ": Decimal(1000), "Wh": Decimal(3600), "kWh": Decimal(3_600_000),
}  # fmt: skip
# What no single pass or device has: the value is then in another unit, which a person has to say.
LONGEST_S, SHORTEST_S = Decimal(31 * 24 * 3600), Decimal("1e-6")
# What nothing lasts, holds or takes, whatever the unit: a hundred years, what a workbook counts exactly, 10^15 J.
MOST_S, MOST_B, MOST_J = Decimal(100 * 366 * 24 * 3600), Decimal(2**53), Decimal(10**15)
YEARS = range(2000, 2100)  # a start outside them is in another unit, or of a clock that was not set
LARGEST_B, SMALLEST_B = Decimal(2**44), Decimal(2**16)


@dataclass(frozen=True)
class Converted:
    """A value in the product's unit, or the slug of what is wrong with it and the facts of its text."""

    value: float
    slug: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Units:
    """Units that a person stated, which overrule the documented ones; a stated unit is never doubted."""

    time: str | None = None
    memory: str | None = None

    def seconds(
        self, value: float, documented: str, *, least: float = float(SHORTEST_S), doubt: bool = True
    ) -> Converted:
        """Seconds rounded to the microsecond; 0 stays 0.

        Args:
            value: as the file states it.
            documented: the unit that the field's documentation or the file itself states.
            least: what a value above 0 and below looks like another unit.
            doubt: whether the size of the value is looked at; without it the value is not rounded either.
        """
        unit = self.time or documented
        if unit not in TIMES:
            return Converted(0, "import-unknown-unit", {"unit": unit[:30], "known": list(TIMES)})
        found = Decimal(repr(value)) * TIMES[unit]
        if not doubt:
            return Converted(float(found))
        if found < 0:
            return Converted(0, "import-negative", {"found": repr(value)})
        if self.time is None and (found > LONGEST_S or 0 < found < Decimal(repr(least))):
            facts = {"found": repr(value), "unit": unit, "seconds": f"{found:f}", "option": "--unit time=ms"}
            return Converted(0, "import-unit-doubt", facts)
        if found > MOST_S:
            return Converted(0, "import-beyond", {"found": repr(value), "unit": unit})
        return Converted(round(float(found), DURATION_DIGITS))

    def bytes(self, value: float, documented: str) -> Converted:
        """Bytes as a whole number; `MB` is 10^6 bytes and `MiB` 2^20."""
        unit = self.memory or documented
        if unit not in SIZES:
            return Converted(0, "import-unknown-unit", {"unit": unit[:30], "known": list(SIZES)})
        found = Decimal(repr(value)) * SIZES[unit]
        if found < 0:
            return Converted(0, "import-negative", {"found": repr(value)})
        if self.memory is None and (found > LARGEST_B or 0 < found < SMALLEST_B):
            facts = {"found": repr(value), "unit": unit, "bytes": f"{found:f}", "option": "--unit memory=MiB"}
            return Converted(0, "import-size-doubt", facts)
        if found > MOST_B:
            return Converted(0, "import-beyond", {"found": repr(value), "unit": unit})
        return Converted(float(round(found)))


def joules(value: float, unit: str) -> float:
    """Energy in joules; 1 kWh is 3.6 million of them."""
    return round(float(Decimal(repr(value)) * ENERGIES[unit]), DURATION_DIGITS)
