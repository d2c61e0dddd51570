"""Where these tests find whole campaigns, and ways in which workbooks come back."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "campaigns"), str(TESTS / "store" / "workbook")]
