"""Quality metrics, one per file. A new one is a file here and a line in `METRICS`."""

from __future__ import annotations

from lab.metrics.accuracy import ACCURACY
from lab.metrics.balanced_accuracy import BALANCED_ACCURACY
from lab.metrics.base import Metric
from lab.metrics.exact_match import EXACT_MATCH
from lab.metrics.macro_f1 import MACRO_F1
from lab.metrics.mcc import MCC
from lab.metrics.micro_f1 import MICRO_F1

__all__ = ["METRICS", "Metric", "metric"]

METRICS: tuple[Metric, ...] = (ACCURACY, BALANCED_ACCURACY, MACRO_F1, MICRO_F1, MCC, EXACT_MATCH)


def metric(name: str | None) -> Metric | None:
    """The metric that a protocol calls `name`, or None when there is none of that name."""
    return next((one for one in METRICS if one.name == name), None)
