"""The blank workbooks and the blank `raw-results.csv` that ship, made by the code that makes all others.

`python -m lab.store.workbook.blanks` writes them into the folder `workbook` again; a test compares them cell by cell.
"""

from __future__ import annotations

from pathlib import Path

from lab.messages import LANGUAGES
from lab.metrics import METRICS
from lab.store.catalogue import shipped_offers
from lab.store.files import resource, write_atomically
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.generate import workbook_bytes
from lab.store.workbook.page import Frame
from lab.store.workbook.tables import RESULTS


def blank_workbook(language: str) -> bytes:
    """The workbook of a campaign without variants yet, with the dated catalogue, in one language."""
    frame = Frame(language, None, (), (), (0,), tuple(metric.name for metric in METRICS), own_metrics=False)
    return workbook_bytes(WorkbookContent(offers=shipped_offers()), frame)


def blank_csv() -> bytes:
    """The header of `raw-results` as a CSV file."""
    return (",".join(RESULTS.names) + "\n").encode()


def write_blanks(folder: Path) -> None:
    """Write all of them into `folder`; raises OutsideFailureError when the disk refuses."""
    for language in LANGUAGES:
        write_atomically(folder / f"campaign.{language}.xlsx", blank_workbook(language))
    write_atomically(folder / "raw-results.csv", blank_csv())


if __name__ == "__main__":
    write_blanks(resource("workbook"))
