"""Which terms of a protocol no attempt could ever meet, because they cannot be computed: known before the first timing.

The product's method, section 5: a control that cannot be carried out leaves the attempt `unassessed`. A campaign whose
every attempt would be so is not worth renting for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from lab.errors import Fault, InvalidInputError, fault
from lab.metrics import MEASURES_REFERENCE_RUN, Metric, metric
from lab.metrics.mcc import MCC
from lab.metrics.numeric_closeness import DistanceMetric
from lab.metrics.own import OwnMetric, module_file
from lab.metrics.vector_closeness import VectorMetric
from lab.model.campaign import Campaign
from lab.model.names import MANIFEST, WORKBOOK
from lab.store.files import inside, read_text
from lab.store.prediction_lines import number_of

_SHOWN = 3  # references named as examples
_SCORING = ("text-classification",)  # workloads that write scores by themselves


def not_computable(campaign: Campaign, folder: Path | None = None) -> tuple[Fault, ...]:
    """A fault for each term that cannot be computed, whatever is measured.

    Args:
        campaign: as it was read; its corpora say which references there are.
        folder: the campaign folder, where the file of the user's own metric is; None: it is not looked at.
    """
    used = metric(campaign.protocol.metric, campaign.manifest)
    found = [*_target(campaign)]
    if used is not None:
        found += [*_references(campaign, used), *_own(folder, used)]
    return tuple(found)


def without_scores(campaign: Campaign) -> tuple[str, ...]:
    """Variants of which it is not known that their predictions carry the scores, or the numbers, that a bound needs."""
    if campaign.protocol.reproducibility_target != "bounded_distance" or _numeric(campaign):
        return ()
    return tuple(one.id for one in campaign.manifest.variants if one.workload not in _SCORING)


def _target(campaign: Campaign) -> Iterator[Fault]:
    protocol = campaign.protocol
    target, place = protocol.reproducibility_target, campaign.cell_of("reproducibility_target")
    if target not in ("identical_outputs", "bounded_distance"):
        return
    if protocol.reference_variant is None:
        yield fault("protocol-target-needs-reference", file=WORKBOOK, place=place, target=target)
    elif target == "bounded_distance" and protocol.tolerance is None:
        yield fault("protocol-target-needs-bound", file=WORKBOOK, place=place, target=target)


def _references(campaign: Campaign, used: Metric) -> Iterator[Fault]:
    place = campaign.cell_of("metric")
    for spec in campaign.manifest.corpora if isinstance(used, VectorMetric) else ():
        if spec.answers != "vector":
            yield fault("protocol-metric-needs-vectors", file=WORKBOOK, place=place, metric=used.name, corpus=spec.id)
    if used in MEASURES_REFERENCE_RUN:
        if campaign.protocol.reference_variant is None:
            yield fault("protocol-metric-needs-reference", file=WORKBOOK, place=place, metric=used.name)
        return
    for facts in campaign.corpora.values():
        about = {"metric": used.name, "corpus": facts.id}
        present = [label for label, count in facts.label_counts.items() if count]
        texts = [label for label in present if number_of(label) is None]
        if not present:
            yield fault("protocol-metric-needs-answers", file=WORKBOOK, place=place, **about)
        elif isinstance(used, DistanceMetric) and texts:
            yield fault("protocol-metric-needs-numbers", file=WORKBOOK, place=place, **about, found=texts[:_SHOWN])
        elif used == MCC and len(present) == 1:
            yield fault("protocol-metric-one-class", file=WORKBOOK, place=place, **about, found=present)


def _numeric(campaign: Campaign) -> bool:
    """Whether every reference is a number, so that predictions are to be numbers too."""
    labels = [label for facts in campaign.corpora.values() for label in facts.label_counts]
    return bool(labels) and all(number_of(label) is not None for label in labels)


def _own(folder: Path | None, used: Metric) -> Iterator[Fault]:
    """The file of a metric of the user's own is there and defines the function; nothing of it is run."""
    if folder is None or not isinstance(used, OwnMetric):
        return
    name, place = module_file(used.spec), f"metrics.{used.name}.function"
    function = used.spec.function.partition(":")[2]
    try:
        tree = ast.parse(read_text(inside(folder, name, MANIFEST), name))
    except InvalidInputError as error:
        yield from error.faults
        return
    except (SyntaxError, ValueError) as error:
        yield fault("metric-file-broken", file=name, place=f"line {getattr(error, 'lineno', None) or 1}")
        return
    if function not in _names(tree):
        yield fault("metric-function-missing", file=MANIFEST, place=place, name=function, module=name)


def _names(tree: ast.Module) -> set[str]:
    """Names that a module may define at its top level, whatever way; all that it imports by `*` are not known."""
    found = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    found |= {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in one.names}
    return found
