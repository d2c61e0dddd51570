"""Matthews correlation coefficient for several classes (R_K, Gorodkin 2004, Comput. Biol. Chem. 28:367).

(c s - sum p_k t_k) / sqrt((s^2 - sum p_k^2)(s^2 - sum t_k^2)), with s inputs, c hits, p_k predictions and t_k
references of class k. Not defined, hence None, when all predictions or all references are of one class.
"""

from __future__ import annotations

from math import isqrt, sqrt

from lab.metrics.base import ConfusionMetric, by_class, hits, total
from lab.model.evidence import Confusion


def _mcc(confusion: Confusion) -> float | None:
    classes = by_class(confusion).values()
    inputs = total(confusion)
    spread_predictions = inputs**2 - sum(c.predictions**2 for c in classes)
    spread_references = inputs**2 - sum(c.references**2 for c in classes)
    if not spread_predictions or not spread_references:
        return None
    together = hits(confusion) * inputs - sum(c.predictions * c.references for c in classes)
    product = spread_predictions * spread_references
    root = isqrt(product)
    # A whole root is taken exactly, so that perfect agreement is 1 and not a rounding below it.
    value = together / (root if root * root == product else sqrt(product))
    return max(-1.0, min(1.0, value))


MCC = ConfusionMetric("mcc", _mcc, lowest=-1.0)
