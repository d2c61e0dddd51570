"""What `lab check` says before anything is rented, when the plan itself cannot answer the question."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_folders import Plan, build, protocol

from lab.cli import main
from lab.messages import LANGUAGES, messages

NEEDED = {("abcde", 5): {"passes": 5, "variants": 5, "pairs": 10, "needed": 6, "p": 0.007937},
          ("ab", 3): {"passes": 3, "variants": 2, "pairs": 1, "needed": 4, "p": 0.1}}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("variants", "repetitions"), [*NEEDED])
def test_passes_that_cannot_tell_are_said_and_are_no_fault(
    variants: str, repetitions: int, language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five passes reach p = 0.0079 at best: among five variants, ten comparisons, none can pass; the code stays 0."""
    said = messages(language).text("warning.cannot_separate", **NEEDED[variants, repetitions])
    assert said in checked(tmp_path, variants, repetitions, language, capsys)


def test_passes_that_could_tell_need_no_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Six comparisons among four variants: 6 x 0.0079 is below 0.05."""
    assert "0.007937" not in checked(tmp_path, "abcd", 5, "en", capsys)


def checked(folder: Path, variants: str, repetitions: int, language: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `lab check` prints of a campaign with such a plan."""
    plan = Plan([], {one: {} for one in variants}, protocol=protocol(repetitions=repetitions))
    assert main(["check", str(build(folder / "campaign", plan)), "--lang", language]) == 0
    return capsys.readouterr().out
