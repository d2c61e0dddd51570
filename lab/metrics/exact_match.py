"""Exact match: the share of inputs whose predicted text is the reference text, character for character.

The same count as accuracy, under the name that free-text answers go by; nothing is trimmed or normalised.
"""

from __future__ import annotations

from lab.metrics.accuracy import ACCURACY
from lab.metrics.base import ConfusionMetric

EXACT_MATCH = ConfusionMetric("exact_match", ACCURACY.formula)
