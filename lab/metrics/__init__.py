"""Quality metrics, one per file. A new one is a file here and a line in `METRICS`."""

from __future__ import annotations

from lab.metrics.accuracy import ACCURACY
from lab.metrics.balanced_accuracy import BALANCED_ACCURACY
from lab.metrics.base import Metric
from lab.metrics.exact_match import EXACT_MATCH
from lab.metrics.macro_f1 import MACRO_F1
from lab.metrics.mcc import MCC
from lab.metrics.micro_f1 import MICRO_F1
from lab.metrics.numeric_closeness import MAX_ABSOLUTE_ERROR, MEAN_ABSOLUTE_ERROR
from lab.metrics.own import OwnMetric
from lab.metrics.reference_agreement import REFERENCE_AGREEMENT
from lab.metrics.vector_closeness import LEAST_COSINE, MEAN_COSINE, REFERENCE_COSINE
from lab.model.manifest import Manifest

__all__ = ["MEASURES_REFERENCE_RUN", "METRICS", "Metric", "metric"]

METRICS: tuple[Metric, ...] = (
    ACCURACY,
    BALANCED_ACCURACY,
    MACRO_F1,
    MICRO_F1,
    MCC,
    EXACT_MATCH,
    MEAN_ABSOLUTE_ERROR,
    MAX_ABSOLUTE_ERROR,
    REFERENCE_AGREEMENT,
    MEAN_COSINE,
    LEAST_COSINE,
    REFERENCE_COSINE,
)

# They compare with the run of the reference variant, and take no reference answer of the corpus.
MEASURES_REFERENCE_RUN: tuple[Metric, ...] = (REFERENCE_AGREEMENT, REFERENCE_COSINE)


def metric(name: str | None, manifest: Manifest | None = None) -> Metric | None:
    """The metric that a protocol calls `name`, those of the manifest included, or None when there is none of that name.

    A name that a built-in metric has is the built-in one's.
    """
    built_in = next((one for one in METRICS if one.name == name), None)
    if built_in or manifest is None or name not in manifest.metrics:
        return built_in
    return OwnMetric(str(name), manifest.metrics[str(name)])
