"""What a supervisor tells a worker to do, as the file that the worker reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lab.measure.progress import PROGRESS_FILE
from lab.measure.result import RESULT_FILE
from lab.model.manifest import CorpusSpec, Variant
from lab.store.files import writing
from lab.workloads.base import Job

ORDER_FILE = ".order.json"
LOG_FILE = "log.txt"
PREDICTIONS_FILE = "predictions.jsonl"
CACHES_FOLDER = ".caches"
WORKING_FILES = (ORDER_FILE, PROGRESS_FILE, RESULT_FILE, CACHES_FOLDER)
"""What an attempt's folder holds only until its record is finished."""


@dataclass(frozen=True)
class Order:
    """One pass to run, and the attempt folder that its files go to.

    Attributes:
        job: what the workload is given.
        at: the attempt's folder, absolute.
        labels: the declared labels, for the evaluation that is timed; empty when none are declared.
        caches: `clear` gives the attempt compile caches of its own.
        devices: torch's name of each device of the variant -> its UUID and address, for the driver's reader.
    """

    job: Job
    at: Path
    labels: tuple[str, ...]
    caches: Literal["keep", "clear"] = "keep"
    devices: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def write(self) -> Path:
        """Write the order into the attempt's folder and return the file; no fsync: it need not survive a power cut.

        Raises:
            OutsideFailureError: the disk refused.
        """
        job = self.job
        data = {
            "folder": str(job.folder),
            "variant": job.variant.model_dump(mode="json"),
            "corpus": job.corpus.model_dump(mode="json"),
            "size": job.size,
            "seed": job.seed,
            "warm_up_passes": job.warm_up_passes,
            "warm_up_inputs": job.warm_up_inputs,
            "recompilations": job.recompilations,
            "labels": list(self.labels),
            "caches": self.caches,
            "devices": {name: list(ids) for name, ids in self.devices.items()},
        }
        path = self.at / ORDER_FILE
        with writing(path, path.name):
            path.write_text(json.dumps(data), encoding="utf-8")
        return path


def read_order(path: Path) -> Order:
    """The order at `path`, whose folder is the attempt's."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Order(
        job=Job(
            folder=Path(data["folder"]),
            variant=Variant.model_validate_json(json.dumps(data["variant"])),
            corpus=CorpusSpec.model_validate_json(json.dumps(data["corpus"])),
            size=data["size"],
            seed=data["seed"],
            warm_up_passes=data["warm_up_passes"],
            warm_up_inputs=data["warm_up_inputs"],
            predictions=path.parent / PREDICTIONS_FILE,
            recompilations=data["recompilations"],
        ),
        at=path.parent,
        labels=tuple(data["labels"]),
        caches=data["caches"],
        devices={name: (uuid, pci) for name, (uuid, pci) in data["devices"].items()},
    )
