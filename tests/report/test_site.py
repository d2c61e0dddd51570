"""The static site as files: what is built, that it needs nothing from outside, and that its scripts keep the rules."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from lab.calcul_forfaits import OFFER_COLUMNS, Offer
from lab.cli import main
from lab.errors import UsageProblemError
from lab.messages import LANGUAGES, messages
from lab.report import site as built
from lab.report.site import SCRIPTS, build_site, calculator_data, catalogue_rules

CALCULATOR = {"index.html", *(f"calculator/{name}.html" for name in ("index", *LANGUAGES))}


@pytest.fixture
def scripts(repository: Path) -> dict[str, str]:
    """The scripts of the calculator, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in (repository / "site/calculator").glob("*.js")}


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    """Built twice it is the same, every page that was written is named, and a neighbour's file stays."""
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    pages = build_site(tmp_path, "it")
    first = _files(tmp_path)
    assert pages[0] == tmp_path / "index.html"
    assert {str(page.relative_to(tmp_path)) for page in pages} == {name for name in first if name.endswith(".html")}
    assert first["mine.txt"] == b"mine"
    assert set(first) > CALCULATOR
    build_site(tmp_path, "it")
    assert _files(tmp_path) == first
    assert first["calculator/index.html"] == first["calculator/it.html"]


def test_a_page_holds_everything_it_needs(tmp_path: Path) -> None:
    """No address in it, no source but its own text: the policy names hashes, and nothing else."""
    for path in build_site(tmp_path, "en"):
        text = path.read_text(encoding="utf-8")
        policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
        assert len(policy) == 1
        sources = {part for rule in policy[0].split("; ") for part in rule.split()[1:]}
        assert policy[0].startswith("default-src &#39;none&#39;; ")
        assert all(one == "&#39;none&#39;" or one.startswith("&#39;sha256-") for one in sources)
        # A source that a person may follow is no request; nothing else names an address.
        assert not re.search(r"https?://|\bsrc=|@import|url\(", re.sub(r'<a href="https://[^"]+">', "<a>", text))
        assert not re.search(
            r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|localStorage|document\.cookie|\beval\(", text
        )


def test_the_catalogue_in_the_page_is_the_one_that_ships(repository: Path) -> None:
    """Written into the page as it stands in `workbook/`, its one place."""
    shipped = (repository / "workbook/tarifs-forfaits.csv").read_text(encoding="utf-8")
    for language in LANGUAGES:
        data = json.loads(json.dumps(calculator_data(messages(language))))
        assert data["catalogue"] == {"name": "tarifs-forfaits.csv", "text": shipped}
        assert data["days"] == [3, 7, 30]


@pytest.mark.parametrize(
    ("language", "group", "decimal", "money"),
    [("en", ",", ".", ""), ("fr", "\u202f", ",", "\u202f"), ("it", ".", ",", ".")],
)
def test_the_separators_are_those_of_the_catalogues(language: str, group: str, decimal: str, money: str) -> None:
    """The page writes numbers with the very signs that Python writes them with; English money has no separator."""
    marks = {"group": group, "decimal": decimal, "money_group": money}
    assert calculator_data(messages(language))["marks"] == marks


def test_what_a_column_accepts_is_written_once() -> None:
    """The page gets the columns of `lab.calcul_forfaits`, in forms that mean the same to a browser."""
    rules = json.loads(json.dumps(catalogue_rules()))
    assert tuple(column["name"] for column in rules["columns"]) == OFFER_COLUMNS
    assert {column["type"] for column in rules["columns"]} == {"str", "int", "Decimal", "bool", "tuple"}
    forms = {column["name"]: column["form"] for column in rules["columns"]}
    assert forms["gpu"] == next(one for one in fields(Offer) if one.name == "gpu").metadata["cell"][0]
    assert not any("(?i" in form or form == ".+" for form in forms.values())
    assert rules["models"] == {"forfait": ["days"], "hourly": ["increment_minutes", "minimum_hours"]}


def test_the_scripts_get_every_text_they_say_and_no_other(scripts: dict[str, str]) -> None:
    """A text that is missing would be an error in front of a reader."""
    source = "\n".join(scripts.values())
    words = set(re.findall(r'"([a-z_]+(?:\.[a-z_-]+)*)"', source))
    faults = set(re.findall(r'"((?:price|time|window)-[a-z-]+)"', source))
    given = set(built._LIVE) | set(built._SHARED)
    said = words | {f"wrong.{one}" for one in faults} | {f"fault.{one}{do}" for one in faults for do in ("", ".do")}
    assert sorted(given - said) == []
    asked = set(re.findall(r'\bsay\([^"`)]*"([^"]+)"(?: : "([^"]+)")?', source))
    assert sorted({key for pair in asked for key in pair if key} - given) == []
    assert set(SCRIPTS) == set(scripts)


def test_money_is_never_a_floating_point_number_in_the_page(scripts: dict[str, str]) -> None:
    """Amounts and hours are fractions of BigInt from the text typed to the text shown."""
    for name in ("exact.js", "prices.js", "results.js", "csv.js", "words.js"):
        assert not re.findall(
            r"parseFloat|parseInt|toFixed|Math\.|toPrecision|toLocaleString|NumberFormat", scripts[name]
        ), name
    for name in ("exact.js", "csv.js", "words.js", "page.js"):
        assert "Number(" not in scripts[name], name
    # The one place that leaves BigInt: counts (days, cards, lots) as JSON holds them, for the tests.
    assert re.findall(r"Number\(.*", scripts["prices.js"]) == ["Number(value));"]
    assert re.findall(r"Number\([^;]*", scripts["results.js"]) == ["Number(a.offer.days - b.offer.days))"]  # an order


def test_no_script_is_too_long_to_read(scripts: dict[str, str]) -> None:
    """One file, one job: at most 400 lines."""
    assert all(len(text.splitlines()) <= 400 for text in scripts.values())


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written, and the way out is said."""
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageProblemError):
        build_site(tmp_path / "out", "en")
    assert main(["site", str(tmp_path / "out"), "--lang", "fr"]) == 2
    assert "il faut un dossier" in capsys.readouterr().err
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_the_command_says_what_to_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In words, and as JSON."""
    assert main(["site", str(tmp_path / "out"), "--lang", "it"]) == 0
    assert f"Apri {tmp_path / 'out' / 'index.html'}." in capsys.readouterr().out
    assert main(["site", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(tmp_path / "out")
    assert set(told["pages"]) >= {str(tmp_path / "out" / name) for name in CALCULATOR}
