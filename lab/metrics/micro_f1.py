"""Micro-F1: F1 of hits, false positives and false negatives summed over all classes.

2 TP / (2 TP + FP + FN). With one label per input and every class counted it equals accuracy; it is here because
protocols name it.
"""

from __future__ import annotations

from lab.metrics.base import ConfusionMetric, by_class
from lab.model.evidence import Confusion


def _micro_f1(confusion: Confusion) -> float:
    classes = by_class(confusion).values()
    # 2 TP + FP + FN of a class = how often it is predicted + how often it is the reference.
    return 2 * sum(c.hits for c in classes) / sum(c.predictions + c.references for c in classes)


MICRO_F1 = ConfusionMetric("micro_f1", _micro_f1)
