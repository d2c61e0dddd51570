"""Agreement with the reference run: the share of inputs whose prediction is that of the reference variant's run.

It says how much a change of precision, batch or card changed the outputs, not whether they are right: both can be wrong
alike. Not defined without a run of the reference variant to compare with.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.metrics.base import Needs, hits, total
from lab.model.evidence import Aggregates


@dataclass(frozen=True)
class _Agreement:
    """Satisfies `Metric`; the confusion is of the reference run's prediction and this attempt's."""

    name: str = "reference_agreement"
    higher_is_better: bool = True
    lowest: float | None = 0.0
    highest: float | None = 1.0
    needs: Needs = "confusion"

    def of(self, counted: Aggregates) -> float | None:
        """The share of equal predictions; None without a reference run or without an input."""
        agreed = counted.agreement
        return hits(agreed) / total(agreed) if agreed and total(agreed) else None

    def inputs(self, counted: Aggregates) -> int:
        """Inputs with a prediction in both runs."""
        return total(counted.agreement or {})


REFERENCE_AGREEMENT = _Agreement()
