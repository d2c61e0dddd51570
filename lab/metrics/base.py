"""What a quality metric is, and the counts that several of them share.

A metric takes aggregates, never rows: the store counts out of core, the metric computes on a few numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from lab.model.evidence import Aggregates, Confusion

# What the store has to count for a metric: `distances` are sums, and leave the confusion of every text out.
Needs = Literal["confusion", "distances"]


class Metric(Protocol):
    """One quality metric.

    Attributes:
        name: what a cell of the protocol says.
        higher_is_better: its direction.
        lowest: lower end of its range, None when it has none.
        highest: upper end of its range, None when it has none.
        needs: the aggregates that it takes.
    """

    @property
    def name(self) -> str:
        """The name, as written in the protocol."""

    @property
    def higher_is_better(self) -> bool:
        """The direction."""

    @property
    def lowest(self) -> float | None:
        """The lower end of the range."""

    @property
    def highest(self) -> float | None:
        """The upper end of the range."""

    @property
    def needs(self) -> Needs:
        """The aggregates that it takes."""

    def of(self, counted: Aggregates) -> float | None:
        """The metric of what was counted; None where it is not defined, never a made-up 0."""

    def inputs(self, counted: Aggregates) -> int:
        """The number of inputs that it is of."""


@dataclass(frozen=True)
class ConfusionMetric:
    """A metric given by one formula over the confusion counts; satisfies `Metric`."""

    name: str
    formula: Callable[[Confusion], float | None]
    higher_is_better: bool = True
    lowest: float | None = 0.0
    highest: float | None = 1.0
    needs: Needs = "confusion"

    def of(self, counted: Aggregates) -> float | None:
        """The formula on the confusion; None for no input at all."""
        return self.value(counted.confusion)

    def inputs(self, counted: Aggregates) -> int:
        """Inputs with a reference and a prediction."""
        return total(counted.confusion)

    def value(self, confusion: Confusion) -> float | None:
        """The formula on inputs counted by (reference, prediction); None for no input at all."""
        return self.formula(confusion) if total(confusion) else None


@dataclass(frozen=True)
class ClassCounts:
    """How often a class is the reference, is predicted, and is both; numbers of inputs."""

    references: int
    predictions: int
    hits: int


def total(confusion: Confusion) -> int:
    """Number of inputs counted."""
    return sum(confusion.values())


def hits(confusion: Confusion) -> int:
    """Number of inputs whose prediction equals the reference, exactly as text."""
    return sum(n for (reference, prediction), n in confusion.items() if reference == prediction)


def by_class(confusion: Confusion) -> dict[str, ClassCounts]:
    """Counts of each class that occurs as a reference or as a prediction, in the order of their names."""
    references: dict[str, int] = {}
    predictions: dict[str, int] = {}
    for (reference, prediction), n in confusion.items():
        if n:
            references[reference] = references.get(reference, 0) + n
            predictions[prediction] = predictions.get(prediction, 0) + n
    return {
        name: ClassCounts(references.get(name, 0), predictions.get(name, 0), confusion.get((name, name), 0))
        for name in sorted({*references, *predictions})
    }
