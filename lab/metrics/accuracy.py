"""Accuracy: the share of inputs whose predicted label is the reference label."""

from __future__ import annotations

from lab.metrics.base import ConfusionMetric, hits, total
from lab.model.evidence import Confusion


def _accuracy(confusion: Confusion) -> float:
    return hits(confusion) / total(confusion)


ACCURACY = ConfusionMetric("accuracy", _accuracy)
