"""What the tests of whole campaigns share: one with its report, and a copy of it to be changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import costs_campaign
import pytest

from lab.cli import main


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with its report."""
    folder = costs_campaign.build(tmp_path_factory.mktemp("campaigns") / "reported")
    assert main(["report", str(folder)]) == 0
    return folder


@pytest.fixture
def campaign(reported: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(reported, tmp_path / "campaign")
