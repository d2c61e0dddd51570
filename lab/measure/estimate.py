"""How long a run will still take, from what its own attempts have taken: for the progress view, never a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from lab.model.attempt import Record, Slot


@dataclass(frozen=True)
class Estimate:
    """Mean seconds an attempt of each variant took so far, those cut off left out; `pause_s` lies between attempts."""

    seconds: Mapping[str, float]
    pause_s: float = 0

    def remaining_s(self, slots: Sequence[Slot], elapsed_s: float = 0, share: float | None = None) -> float | None:
        """Seconds until `slots` are done; None before any attempt has shown how long one takes.

        Args:
            slots: the pass under way, if one is, and those after it.
            elapsed_s: seconds that the first of them has been running for.
            share: share of its inputs that are done; None before its measured pass.
        """
        if not slots:
            return 0.0
        known = self.seconds
        if share and slots[0].variant not in known:
            known = {**known, slots[0].variant: elapsed_s / share}
        if not known:
            return None
        usual = mean(known.values())
        total = sum(known.get(slot.variant, usual) for slot in slots) + self.pause_s * (len(slots) - 1)
        return max(0.0, total - elapsed_s)


def estimate(records: Iterable[Record], pause_s: float = 0) -> Estimate:
    """What the attempts so far show."""
    taken: dict[str, list[float]] = {}
    for one in (record.attempt for record in records):
        if one.variant and one.elapsed_s is not None and one.outcome not in (None, "interrupted"):
            taken.setdefault(one.variant, []).append(one.elapsed_s)
    return Estimate({variant: mean(values) for variant, values in taken.items()}, pause_s)
