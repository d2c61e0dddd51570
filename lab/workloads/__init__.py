"""What a pass does: one file a workload, one line in `WORKLOADS`. Importing this imports no model library."""

from __future__ import annotations

from lab.workloads.base import Workload
from lab.workloads.command import Command
from lab.workloads.python_function import PythonFunction
from lab.workloads.text_classification import TextClassification

WORKLOADS: tuple[type[Workload], ...] = (TextClassification, PythonFunction, Command)


def workload(name: str) -> type[Workload]:
    """The workload that a variant's `workload` names. Raises KeyError for a name that is not in `WORKLOADS`."""
    for one in WORKLOADS:
        if one.name == name:
            return one
    raise KeyError(name)
