"""The workbook: generated whole, read strictly, appended to without touching any other part of the file."""

from __future__ import annotations

from lab.store.workbook.append import append_attempts, append_deliverables, update_judged
from lab.store.workbook.content import AppendResult, WorkbookContent, empty_content, missing_fields
from lab.store.workbook.generate import write_workbook
from lab.store.workbook.read import read_rows, read_workbook
from lab.store.workbook.which import campaign_workbook

__all__ = [
    "AppendResult",
    "WorkbookContent",
    "append_attempts",
    "append_deliverables",
    "campaign_workbook",
    "empty_content",
    "missing_fields",
    "read_rows",
    "read_workbook",
    "update_judged",
    "write_workbook",
]
