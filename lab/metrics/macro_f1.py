"""Macro-F1: the unweighted mean of the classes' F1.

F1 of a class = 2 TP / (2 TP + FP + FN). Classes are those that occur as a reference or as a prediction; one that is
never hit counts with its true F1 of 0. A class that occurs in neither has no F1 and is left out.
"""

from __future__ import annotations

from math import fsum

from lab.metrics.base import ConfusionMetric, by_class
from lab.model.evidence import Confusion


def _macro_f1(confusion: Confusion) -> float:
    scores = [2 * c.hits / (c.predictions + c.references) for c in by_class(confusion).values()]
    return fsum(scores) / len(scores)


MACRO_F1 = ConfusionMetric("macro_f1", _macro_f1)
