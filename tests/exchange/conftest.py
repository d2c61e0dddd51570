"""What these tests share: whole campaigns, ways in which workbooks come back, a command and all it printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "campaigns"), str(TESTS / "store" / "workbook")]

from lab.cli import main  # noqa: E402  (after the path)

Said = tuple[int, str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command: its exit code, and all it printed."""

    def run(*argv: object) -> Said:
        capsys.readouterr()
        code = main([str(one) for one in argv])
        found = capsys.readouterr()
        assert "Unexpected" not in found.err
        return code, found.out + found.err

    return run
