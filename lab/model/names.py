"""The two files of a campaign that people write; the same names in code, messages and documents."""

from __future__ import annotations

MANIFEST = "manifest.toml"
WORKBOOK = "campaign.xlsx"
WORKBOOK_ENDINGS = (".xlsx", ".xlsm", ".ods")  # people send it back in another format
