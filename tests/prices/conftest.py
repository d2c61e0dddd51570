"""What the tests of prices share: the vectors and the shipped catalogue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def vectors(repository: Path) -> dict[str, Any]:
    """The shared inputs and outputs of prices."""
    found: dict[str, Any] = json.loads((repository / "tests" / "vectors" / "prices.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def shipped(repository: Path) -> Path:
    """The dated catalogue."""
    return repository / "workbook" / "tarifs-forfaits.csv"
