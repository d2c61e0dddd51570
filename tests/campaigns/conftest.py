"""What the tests of whole campaigns share: a command, and all it printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lab.cli import main

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
