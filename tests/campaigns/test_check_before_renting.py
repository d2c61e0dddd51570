"""What `lab check` says before anything is rented, when the plan itself cannot answer the question."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaign_folders import Plan, build, protocol, rounds

from lab.checks import check
from lab.cli import main
from lab.measure.machine import cpu_model
from lab.messages import LANGUAGES, messages
from lab.store.campaign import read_campaign
from lab.store.catalogue import shipped_offers
from lab.store.computable import not_computable

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


@pytest.mark.parametrize(
    ("terms", "slug"),
    [
        ({"metric": "mean_absolute_error", "threshold": 0.5}, "protocol-metric-needs-numbers"),
        ({"metric": "reference_agreement"}, "protocol-metric-needs-reference"),
        ({"reproducibility_target": "identical_outputs"}, "protocol-target-needs-reference"),
    ],
)
def test_a_term_that_cannot_be_computed_is_refused_before_the_seal(
    terms: dict[str, object], slug: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers of text labels, a comparison with no reference variant: every pass would stay unassessed."""
    folder = build(tmp_path / "campaign", Plan([], protocol=protocol(**terms)))
    assert main(["check", str(folder), "--json"]) == 1
    assert slug in [one["slug"] for one in json.loads(capsys.readouterr().out)["faults"]]
    (folder / "seal.json").unlink()
    assert main(["seal", str(folder)]) == 3
    assert not (folder / "seal.json").exists()


def test_a_bound_on_scores_that_nobody_may_write_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text classification writes scores by itself; a function of the user's own may not."""
    terms = protocol(reproducibility_target="bounded_distance", reference_variant="b1", tolerance=0.01)
    variants = {"b1": {}, "own": {"workload": "python", "function": "work:answers"}}
    main(["check", str(build(tmp_path / "campaign", Plan([], variants, protocol=terms))), "--json"])
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert [one["text"].count("own") for one in warnings if one["key"] == "check.without_scores"] == [1]


@pytest.mark.parametrize(
    ("module", "slug"),
    [(None, "file-missing"), ("def other(confusion):\n    return 1\n", "metric-function-missing"),
     ("def cost(:\n", "metric-file-broken"), ("from elsewhere import cost\n", None)],
)  # fmt: skip
def test_an_own_metric_that_is_not_there_is_known_beforehand(module: str | None, slug: str | None) -> None:
    """Its file is read and never run."""
    with TemporaryDirectory() as name:
        folder = build(Path(name, "campaign"), Plan([], protocol=protocol()))
        text = (folder / "manifest.toml").read_text() + '[metrics.cost]\nfunction = "own:cost"\n'
        (folder / "manifest.toml").write_text(text)
        if module is not None:
            (folder / "own.py").write_text(module)
        campaign = read_campaign(folder)
        found = not_computable(replace(campaign, protocol=protocol(metric="cost")), folder)
        assert [one.slug for one in found] == ([slug] if slug else [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_device_that_is_not_here_is_said_while_a_pass_needs_it(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another machine may have the ninety-ninth card: a warning, and none once its passes are done."""
    variants = {"here": {}, "there": {"device": "cuda:99"}}
    terms = protocol(repetitions=1)
    said = messages(language).text("check.device_absent", variant="there", devices=["cuda:99"])
    measured = rounds({"here": [10.0], "there": [11.0]})
    for name, passes, needed in (("before", (), True), ("after", measured, False)):
        folder = build(tmp_path / name, Plan(passes, variants, protocol=terms))
        assert main(["check", str(folder), "--lang", language]) == 0
        assert (said in capsys.readouterr().out) is needed


def test_without_a_plan_every_device_is_looked_for(tmp_path: Path) -> None:
    """No repetitions stated yet: nothing is known to be done."""
    folder = build(tmp_path / "c", Plan((), {"there": {"device": "cuda:99"}}, protocol=protocol(repetitions=None)))
    assert "check.device_absent" in [one.key for one in check(folder).warnings]


def test_a_processor_is_not_the_card_of_the_package(tmp_path: Path) -> None:
    """A variant left on `cpu` with a package of RTX 4090: said before it is measured, once per such variant."""
    plan = Plan((), {"left": {"device": "cpu"}, "card": {"device": "cuda:0"}}, protocol=protocol())
    found = [one for one in check(build(tmp_path / "c", plan)).warnings if one.key == "check.processor"]
    assert [(one.values["variant"], one.values["names"]) for one in found] == [("left", ["NVIDIA GeForce RTX 4090"])]


def test_a_processor_that_the_package_names_is_the_card(tmp_path: Path) -> None:
    """A catalogue of one's own may state this machine: nothing to say."""
    own = replace(next(one for one in shipped_offers() if one.gpu == "rtx-4090"), device_names=(cpu_model(),))
    plan = Plan((), {"own": {"device": "cpu"}}, protocol=protocol(), offers=[own])
    assert "check.processor" not in [one.key for one in check(build(tmp_path / "c", plan)).warnings]
