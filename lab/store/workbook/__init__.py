"""The workbook: generated whole, read strictly, appended to without touching any other part of the file."""

from __future__ import annotations

from lab.store.workbook.content import AppendResult, WorkbookContent, missing_fields

__all__ = ["AppendResult", "WorkbookContent", "missing_fields"]
