"""Vector closeness: the cosine of predicted vectors with reference vectors, on the mean and at worst.

`mean_cosine` and `least_cosine` compare with the reference answers of the corpus, `reference_cosine` with the run of
the reference variant: how much a change of precision, batch or card turned the vectors, not whether they are good. 1 is
the same direction, 0 a right angle. A prediction that is no vector, of another size or of length 0 has no cosine: then
none of the three is defined, and the attempt is not passed on the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from lab.metrics.base import Needs
from lab.model.evidence import Aggregates, Distances


@dataclass(frozen=True)
class VectorMetric:
    """A metric given by one formula over summed distances 1 - cosine; satisfies `Metric`."""

    name: str
    distances: Callable[[Aggregates], Distances | None]
    formula: Callable[[Distances], Decimal]
    higher_is_better: bool = True
    lowest: float | None = -1.0
    highest: float | None = 1.0
    needs: Needs = "distances"

    def of(self, counted: Aggregates) -> float | None:
        """The formula on the distances; None of no pair, and when some text is no vector."""
        found = self.distances(counted)
        if found is None or not found.inputs or found.not_numbers or found.vectors != found.inputs:
            return None
        return float(1 - self.formula(found))

    def inputs(self, counted: Aggregates) -> int:
        """Inputs with a prediction and something to compare it with, vectors or not."""
        found = self.distances(counted)
        return found.inputs + found.not_numbers if found else 0


def _mean(distances: Distances) -> Decimal:
    return distances.total / distances.inputs


def _largest(distances: Distances) -> Decimal:
    return distances.largest or Decimal(0)


def _references(counted: Aggregates) -> Distances:
    return counted.distances


def _reference_run(counted: Aggregates) -> Distances | None:
    return counted.agreement_distances


MEAN_COSINE = VectorMetric("mean_cosine", _references, _mean)
LEAST_COSINE = VectorMetric("least_cosine", _references, _largest)
REFERENCE_COSINE = VectorMetric("reference_cosine", _reference_run, _mean)
