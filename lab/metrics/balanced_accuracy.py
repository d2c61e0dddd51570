"""Balanced accuracy: the unweighted mean of the recalls of the classes that occur as a reference."""

from __future__ import annotations

from math import fsum

from lab.metrics.base import ConfusionMetric, by_class
from lab.model.evidence import Confusion


def _balanced_accuracy(confusion: Confusion) -> float:
    recalls = [c.hits / c.references for c in by_class(confusion).values() if c.references]
    return fsum(recalls) / len(recalls)


BALANCED_ACCURACY = ConfusionMetric("balanced_accuracy", _balanced_accuracy)
