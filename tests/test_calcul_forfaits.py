"""`calcul_forfaits.py` on its own: in a folder with nothing but its catalogue, under the oldest Python it promises."""

from __future__ import annotations

import ast
import csv
import json
import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import calcul_forfaits
from lab.calcul_forfaits import LANGUAGES, OFFER_COLUMNS, TEXTS, main
from lab.messages import messages


def _pythons() -> dict[str, str]:
    """The current Python, and 3.10 where it is installed and starts (a pyenv shim may be there without it)."""
    found = {"current": sys.executable}
    candidates = [shutil.which("python3.10"), *Path.home().glob(".pyenv/versions/3.10.*/bin/python3.10")]
    for path in filter(None, candidates):
        if subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return {**found, "3.10": str(path)}
    return found


PYTHONS = _pythons()


def run(folder: Path, python: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the copy in `folder` with a bare environment."""
    script = [python, "-I", "-X", "utf8=0", "calcul_forfaits.py", *arguments]
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    return subprocess.run(
        script, cwd=folder, env={**kept, **environment}, capture_output=True, encoding="utf-8", check=False
    )


@pytest.fixture
def alone(tmp_path: Path, repository: Path) -> Path:
    """An empty folder with the script and its catalogue."""
    shutil.copy(repository / "lab" / "calcul_forfaits.py", tmp_path)
    shutil.copy(repository / "workbook" / "tarifs-forfaits.csv", tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def vectors(repository: Path) -> dict[str, Any]:
    """The shared inputs and outputs of prices."""
    found: dict[str, Any] = json.loads((repository / "tests/vectors/prices.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("python", PYTHONS)
def test_the_command_of_the_article_says_220_usd_for_two_cards(alone: Path, python: str) -> None:
    """In words and numbers of each language; B200 is one lot of two cards."""
    two = ("--gpu", "rtx-4090", "--days", "7", "--lots", "2")
    for language, budget, cards in (
        ("en", "220.00", "2 cards"),
        ("fr", "220,00", "2 cartes"),
        ("it", "220,00", "2 schede"),
    ):
        said = run(alone, PYTHONS[python], *two, "--lang", language)
        assert (said.returncode, said.stderr) == (0, "")
        assert f"{budget} USD, {cards}" in said.stdout
        assert "2026-09-24" in said.stdout
    assert "2.071,00 USD, 2 schede" in run(alone, PYTHONS[python], "--gpu=b200", "--days=7", "--lang=it").stdout


@pytest.mark.parametrize("python", PYTHONS)
def test_the_script_gives_the_vectors(tmp_path: Path, repository: Path, vectors: dict[str, Any], python: str) -> None:
    """The same inputs give the same outputs as the library, as a program in an empty folder."""
    shutil.copy(repository / "lab" / "calcul_forfaits.py", tmp_path)
    with (tmp_path / "tarifs-forfaits.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, OFFER_COLUMNS)
        writer.writeheader()
        writer.writerows(vectors["catalogue"])
    for vector in (*vectors["package"], *vectors["listing"], *vectors["refused"]):
        options = [f"--{key.replace('_', '-')}={value}" for key, value in vector["asked"].items()]
        told = run(tmp_path, PYTHONS[python], *options, "--json")
        if "slug" in vector:
            assert (told.returncode, told.stdout) == (vector["exit"], "")
            assert all(word in told.stderr for word in vector["said"])
            continue
        assert (told.returncode, told.stderr) == (0, "")
        found, expected = json.loads(told.stdout), vector["expected"]
        pairs = zip(found["offers"], expected, strict=True) if isinstance(expected, list) else [(found, expected)]
        for one, wanted in pairs:
            assert {key: one[key] for key in wanted} == wanted


@pytest.mark.parametrize("python", PYTHONS)
def test_a_bad_catalogue_is_refused_with_file_and_line(alone: Path, python: str) -> None:
    """Exit code 3, the file, the line and the words of the language; no traceback."""
    (alone / "mine.csv").write_bytes((alone / "tarifs-forfaits.csv").read_bytes().replace(b"110.00", b"-110"))
    told = run(alone, PYTHONS[python], "--gpu", "4090", "--catalogue", "mine.csv", LANG="fr_FR.UTF-8")
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr.startswith("mine.csv, ligne 2\u202f: `price` contient `-110`")


def test_several_catalogues_are_used_together(alone: Path) -> None:
    """Each price with its version and source; a file given twice counts once; the shipped one only if none is given."""
    text = (alone / "tarifs-forfaits.csv").read_text(encoding="utf-8")
    mine = text.replace("110.00", "99.00").replace("2026-09-24", "mine-1")
    (alone / "mine.csv").write_text(mine, encoding="utf-8")
    both = ("--catalogue", "mine.csv", "--catalogue", "tarifs-forfaits.csv", "--catalogue", "mine.csv")
    said = run(alone, sys.executable, "--gpu", "4090", *both).stdout
    assert said.index("99.00 USD") < said.index("mine-1") < said.index("110.00 USD") < said.index("2026-09-24")
    assert said.count("mine-1") == 1
    assert "110.00" not in run(alone, sys.executable, "--gpu", "4090", "--catalogue", "mine.csv").stdout
    told = run(alone, sys.executable, "--gpu", "4090", "--days", "7", *both)
    assert told.returncode == 3
    assert "110.00 USD (RTX 4090, 2026-09-24, IteraGPU, catalogue, tarifs-forfaits.csv, line 2)" in told.stderr
    assert "99.00 USD (RTX 4090, mine-1, IteraGPU, catalogue, mine.csv, line 2)" in told.stderr


@pytest.mark.parametrize(
    "arguments",
    [(), ("--gpu",), ("--foo",), ("--gpu", "4090", "--days", "1.5"), ("7",), ("--lang", "de", "--gpu", "x")],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """An option that cannot be is named, with an example."""
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "`" in told.err


@pytest.mark.parametrize(
    ("arguments", "found", "to_do"),
    [
        (("--foo",), ("--foo: The", "--foo\u202f: La", "--foo: Il"), "`--help`"),
        (("7", "--gpu", "4090"), ("7: The", "7\u202f: La", "7: Il"), "`--help`"),
        ((), ("--gpu: The option", "--gpu\u202f: L\u2019option", "--gpu: Manca"), "`--gpu rtx-4090`"),
        (("--gpu",), ("--gpu: The option", "--gpu\u202f: L\u2019option", "--gpu: Manca"), "`--gpu rtx-4090`"),
        (("--gpu", "4090", "--days", "--lots"), ("--days: ", "--days\u202f: ", "--days: "), "`--days 7`"),
        (("--gpu", "4090", "--days", "1.5"), ("`1.5`", "`1.5`", "`1.5`"), "`--help`"),
    ],
)
def test_an_option_that_cannot_be_says_what_was_found_and_what_to_do(
    arguments: tuple[str, ...], found: tuple[str, ...], to_do: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two lines in the reader's language, as `lab price` prints them."""
    for index, language in enumerate(LANGUAGES):
        assert main(("--lang", language, *arguments)) == 2
        first, second = capsys.readouterr().err.splitlines()
        assert found[index] in first
        assert second.startswith("  ")
        assert to_do in second


def test_two_spellings_of_one_card_name_both_files_and_lines(alone: Path) -> None:
    """`rtx4090` beside `rtx-4090` in another catalogue: neither is guessed to be meant."""
    text = (alone / "tarifs-forfaits.csv").read_text(encoding="utf-8")
    (alone / "mine.csv").write_text(text.replace("rtx-4090", "rtx4090"), encoding="utf-8")
    both = ("--catalogue", "tarifs-forfaits.csv", "--catalogue", "mine.csv")
    told = run(alone, sys.executable, "--gpu", "b200", *both, "--lang", "fr")
    assert told.returncode == 3
    assert "mine.csv, ligne 2\u202f: `rtx4090` et `rtx-4090` (tarifs-forfaits.csv, ligne 2)" in told.stderr


def test_help_lists_every_option_in_each_language(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` is exit code 0 and needs no catalogue."""
    for language in LANGUAGES:
        assert main(["--help", "--lang", language]) == 0
        assert "[--accepted-results 3]" in capsys.readouterr().out


def test_the_language_is_the_one_asked_for_else_the_system_s(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--lang`, else the locale, else English."""
    monkeypatch.setenv("LC_ALL", "it_IT.UTF-8")
    main(["--help"])
    assert "Budget impegnato" in capsys.readouterr().out
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", "xx")
    main(["--help"])
    assert "Committed budget" in capsys.readouterr().out


def test_its_texts_are_those_of_the_catalogues() -> None:
    """Each text of the script is the catalogue's, in each language, and each fault has what to do."""
    for index, language in enumerate(LANGUAGES):
        words = messages(language)
        for key, row in TEXTS.items():
            assert words.text(key) == row[index], key
            assert key.endswith(".do") or (f"{key}.do" in TEXTS) is key.startswith("fault."), key


def test_every_fault_it_raises_has_a_text(repository: Path) -> None:
    """The slugs in the source are exactly the faults of the texts."""
    tree = ast.parse((repository / "lab/calcul_forfaits.py").read_text(encoding="utf-8"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    slugs = {word for word in words if word.startswith("price-")}
    assert {f"fault.{slug}" for slug in slugs} == {
        key for key in TEXTS if key.startswith("fault.") and not key.endswith(".do")
    }


@given(st.integers(0, 10**14), st.sampled_from(LANGUAGES))
def test_amounts_are_written_as_lab_writes_them(hundredths: int, language: str) -> None:
    """The script's separators are Babel's (a plain space, which a terminal can search, before the currency)."""
    amount = Decimal(hundredths).scaleb(-2)
    written = calcul_forfaits._number(calcul_forfaits.cents(amount), language, money=True)
    assert f"{written}\u00a0USD" == messages(language).money(amount, "USD")


def test_it_imports_nothing_but_the_standard_library_and_keeps_the_syntax_of_3_10(repository: Path) -> None:
    """One file that works anywhere."""
    source = (repository / "lab/calcul_forfaits.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 10))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert imported <= set(sys.stdlib_module_names) | {"__future__"}
