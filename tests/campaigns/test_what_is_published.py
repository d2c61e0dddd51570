"""What campaigns publish: documents and manifests as their JSON Schemas describe them, and what pages say of them."""

from __future__ import annotations

import html
import json
import re
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import costs_campaign
import pytest
from campaign_folders import build
from jsonschema import Draft202012Validator
from publish_schemas import SCHEMAS, stale
from test_decisions_of_campaigns import CASES

from lab.messages import LANGUAGES, messages
from lab.pipeline import initialise, report

SHOWN = ("exclusion in one variant only", "mixed environments in one variant", "hand-filled rows only", "price unknown")


def schema(name: str) -> dict[str, Any]:
    """A published schema, as it is on disk."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return found


def closed(part: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """The same schema with nothing allowed that it does not name, so that a key nobody described is found."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    shut = {"additionalProperties": False} if {"properties", "required"} <= part.keys() else {}
    return {**{key: closed(value) for key, value in part.items()}, **shut}


def faults(value: object, described: dict[str, Any]) -> list[str]:
    """Where a value is not what the schema describes."""
    Draft202012Validator.check_schema(described)
    return [f"{one.json_path}: {one.message[:200]}" for one in Draft202012Validator(described).iter_errors(value)]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Case -> the first version of its report; one more with prices by the hour, expenses and deliverables."""
    folders = {case: build(tmp_path_factory.mktemp("published") / "campaign", CASES[case][0]) for case in SHOWN}
    folders["costs"] = costs_campaign.build(tmp_path_factory.mktemp("published") / "costs")
    for folder in folders.values():
        assert report(folder).version == 1
    return {case: folder / "report" / "v1" for case, folder in folders.items()}


def document(version: Path) -> dict[str, Any]:
    """`decision.json` of a version."""
    found: dict[str, Any] = json.loads((version / "decision.json").read_text(encoding="utf-8"))
    return found


def test_the_published_schemas_say_what_the_code_says() -> None:
    """After a change: `python tests/publish_schemas.py`."""
    assert not stale()


@pytest.mark.parametrize("case", [*SHOWN, "costs"])
def test_every_key_of_a_published_document_is_described_and_every_described_key_is_there(
    case: str, published: dict[str, Path]
) -> None:
    """Undescribed keys are faults here; readers of the schema are told to expect more."""
    assert not faults(document(published[case]), closed(schema("decision")))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 2),
        (("decision", "status"), "perhaps"),
        (("decision", "committed"), 110.0),
        (("variants", 0, "gates", 0, "result"), None),
        (("variants", 0, "summaries", 0, "median_s"), "fast"),
        (("variants", 0, "committed"), "110"),
        (("attempts", 0, "outcome"), "fine"),
        (("inputs", "manifest.toml"), "unknown"),
    ],
)
def test_the_schema_refuses_what_a_document_never_holds(
    path: tuple[str | int, ...], value: object, published: dict[str, Path]
) -> None:
    """A number for an amount, a word outside its list, another version; and a key that is gone."""
    broken = deepcopy(document(published[SHOWN[0]]))
    place: Any = broken
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert faults(broken, schema("decision"))
    if isinstance(path[-1], str) and path[0] != "inputs":
        del place[path[-1]]
        assert faults(broken, schema("decision"))


def test_manifests_are_what_their_schema_describes(tmp_path: Path, published: dict[str, Path]) -> None:
    """The one that `lab init` writes, with shared defaults and without, and those of these campaigns."""
    paths = [version.parents[1] / "manifest.toml" for version in published.values()]
    paths += [initialise(tmp_path / language, language) / "manifest.toml" for language in LANGUAGES]
    for path in paths:
        assert not faults(tomllib.loads(path.read_text(encoding="utf-8")), schema("manifest")), path


@pytest.mark.parametrize(
    "change", [("batch_size = 1", "batch_sise = 1"), ("batch_size = 8", "batch_size = 0"), ("schema = 1", "schema = 2")]
)
def test_the_manifests_schema_refuses_what_the_reader_refuses(change: tuple[str, str]) -> None:
    """A key nobody knows, a batch of none, another schema."""
    text = costs_campaign.MANIFEST.replace("{language}", "en")
    assert not faults(tomllib.loads(text), schema("manifest"))
    assert change[0] in text
    assert faults(tomllib.loads(text.replace(*change)), schema("manifest"))


def words(version: Path, language: str) -> str:
    """The words of a page, its tags gone."""
    text = (version / f"{language}.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_warnings_and_intervals_are_on_the_page_beside_their_numbers(language: str, published: dict[str, Path]) -> None:
    """Mixed environments in the row of the median and in the line of the comparison; the interval with its coverage."""
    page, say = words(published["mixed environments in one variant"], language), messages(language)
    percent = say.number(93.75)
    spaced = [
        say.text("warning.mixed_environments", environments=2),
        say.text("warning.compared_mixed", variants=["b8"]),
        say.text("report.interval.coverage", percent=percent),
        say.text("report.interval.between", low=say.number(10.0, 2), high=say.number(10.4, 2)),
    ]
    assert not [text for text in spaced if re.sub(r"\s+", " ", text) not in page]


@pytest.mark.parametrize("language", LANGUAGES)
def test_results_with_and_without_exclusions_are_on_the_page(language: str, published: dict[str, Path]) -> None:
    """The table with the 90 s in it, the comparison with it, and what the answer would be."""
    page, say = words(published["exclusion in one variant only"], language), messages(language)
    spaced = [
        say.text("report.durations.with_excluded.caption"),
        say.text("report.durations.with_excluded.apart"),
        say.text("sensitivity.excluded.undecided", attempts=1, contenders=["b1", "b8"]),
        say.number(90.0, 2),
    ]
    assert not [text for text in spaced if re.sub(r"\s+", " ", text) not in page]


@pytest.mark.parametrize("language", LANGUAGES)
def test_too_few_passes_have_no_interval(language: str, published: dict[str, Path]) -> None:
    """One pass a corpus: the page says how many it takes instead."""
    text = messages(language).text("report.interval.too_few", present=1, needed=5)
    assert re.sub(r"\s+", " ", text) in words(published["costs"], language)
