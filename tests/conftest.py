"""What every test can rely on: no hub, one way to run hypothesis, and where the repository and its browser are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Read when transformers is imported, so before any test module is: the same values as in `tests/run`.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# No test asserts a time; a slow machine draws the same examples as a fast one.
settings.register_profile(
    "house", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder of the checkout: what is committed is beneath it."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium, for playwright's `executable_path`; a test that needs it fails without it."""
    found = shutil.which("chromium")
    assert found, "chromium is not installed: tests/run installs it"
    return found


@pytest.fixture(scope="session")
def soffice() -> str:
    """The path of LibreOffice; a test that needs it fails without it. Give each test a user profile of its own."""
    found = shutil.which("soffice")
    assert found, "LibreOffice is not installed: tests/run installs it"
    return found


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run a command: its exit code, and all it printed."""

    def run(*argv: object) -> tuple[int, str]:
        from lab.cli import main

        capsys.readouterr()
        code = main([str(one) for one in argv])
        found = capsys.readouterr()
        assert "Unexpected" not in found.err
        return code, found.out + found.err

    return run
