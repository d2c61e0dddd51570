"""Lets the browser tests use the campaigns made by hand for the report."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))
