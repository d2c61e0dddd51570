"""Numeric closeness: how far predicted numbers lie from the reference numbers, on the mean and at most.

Both are absolute errors in the unit of the numbers, so lower is better and there is no upper end. A prediction or a
reference that is no number has no distance: then neither is defined, and the attempt is not passed on the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.metrics.base import Needs
from lab.model.evidence import Aggregates, Distances


@dataclass(frozen=True)
class DistanceMetric:
    """A metric given by one formula over the summed distances; satisfies `Metric`."""

    name: str
    formula: Callable[[Distances], float | None]
    higher_is_better: bool = False
    lowest: float | None = 0.0
    highest: float | None = None
    needs: Needs = "distances"

    def of(self, counted: Aggregates) -> float | None:
        """The formula on the distances; None of no pair, and when some text is no number."""
        distances = counted.distances
        other = distances.not_numbers or distances.vectors
        return self.formula(distances) if distances.inputs and not other else None

    def inputs(self, counted: Aggregates) -> int:
        """Inputs with a reference and a prediction, numbers or not."""
        return counted.distances.inputs + counted.distances.not_numbers


def _mean(distances: Distances) -> float:
    return float(distances.total / distances.inputs)


def _largest(distances: Distances) -> float | None:
    return None if distances.largest is None else float(distances.largest)


MEAN_ABSOLUTE_ERROR = DistanceMetric("mean_absolute_error", _mean)
MAX_ABSOLUTE_ERROR = DistanceMetric("max_absolute_error", _largest)
