"""The kit: each zip holds what it says, everything in it works in a folder of any name, in three languages."""

from __future__ import annotations

import ast
import csv
import html
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from openpyxl import load_workbook
from site_links import Page, broken

from lab import estimate_memory
from lab.cli import main
from lab.errors import UsageProblemError
from lab.messages import LANGUAGES, messages
from lab.model.attempt import COLUMNS
from lab.model.protocol import PROTOCOL_FIELDS
from lab.report.kit import ASKED, PAGES, kit, write_kits
from lab.report.kit_memory import memory_notebook
from lab.store.workbook.content import SHEETS

SOURCES = ("README", "quality-protocol", "instructions", "memory")
# Runs the code cells of a notebook in one process, as a kernel does: one namespace, `__name__` is `__main__`.
RUN_CELLS = """
import json, sys
for cell in json.load(open("estimate_memory.ipynb", encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), cell["id"], "exec"), globals())
"""


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The three kits as `lab kit` writes them, each unpacked into a folder whose name needs escaping."""
    out = tmp_path_factory.mktemp("kits")
    assert main(["kit", str(out)]) == 0
    found = {}
    for language in LANGUAGES:
        folder = out / language / "é #1 %41"
        with zipfile.ZipFile(out / f"kit.{language}.zip") as packed:
            packed.extractall(folder)  # our own archive
        found[language] = folder / f"gpu-decision-lab-kit.{language}"
    return found


def run(folder: Path, *arguments: str, python: tuple[str, ...] = (sys.executable, "-I")) -> str:
    """What a program prints that is started in the folder with a bare environment, and sees no GPU."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    kept |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    ended = subprocess.run(
        [*python, *arguments], cwd=folder, env=kept, capture_output=True, encoding="utf-8", check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_same_product_gives_the_same_bytes() -> None:
    """No clock, no machine and no compressor is in an archive."""
    assert kit("it") == kit("it")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_archive_holds_what_it_says(kits: dict[str, Path], repository: Path, language: str) -> None:
    """What the page lists is there and nothing else; what ships elsewhere is the same file."""
    folder = kits[language]
    files = {path.name for path in folder.rglob("*") if path.is_file()}
    linked = {one for one in Page(folder / "README.html").links if one != "#main"}
    assert files == linked | {f"{name}.md" for name in PAGES}
    for name, source in {
        f"campaign.{language}.xlsx": f"workbook/campaign.{language}.xlsx",
        "raw-results.csv": "workbook/raw-results.csv",
        "tarifs-forfaits.csv": "workbook/tarifs-forfaits.csv",
        "calcul_forfaits.py": "lab/calcul_forfaits.py",
        "LICENSE.txt": "LICENSE",
    }.items():
        assert (folder / name).read_bytes() == (repository / source).read_bytes()
    assert broken(sorted(folder.glob("*.html")), folder) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cell_for_a_measurement_is_blank(kits: dict[str, Path], language: str) -> None:
    """The table of raw results has its header and no row, in the workbook and as CSV."""
    with (kits[language] / "raw-results.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [[column.name for column in COLUMNS]]
    book = load_workbook(kits[language] / f"campaign.{language}.xlsx")
    assert book.sheetnames == list(SHEETS)
    sheet = book["raw-results"]
    head = next(row for row in sheet.iter_rows(values_only=True) if "attempt_id" in row)
    below = list(sheet.iter_rows(values_only=True))[list(sheet.iter_rows(values_only=True)).index(head) + 1 :]
    assert not [value for row in below for value in row if value is not None]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_price_calculation_works_out_of_the_kit(kits: dict[str, Path], language: str) -> None:
    """The very command of the instructions: 220.00 USD for two cards."""
    command = "python calcul_forfaits.py --gpu rtx-4090 --days 7 --lots 2"
    assert command in (kits[language] / "instructions.md").read_text(encoding="utf-8")
    said = run(kits[language], *command.split()[1:])
    assert "220.00 USD" in said
    assert "2 cards" in said


@pytest.mark.parametrize(
    ("language", "options", "why"), [("en", "-I", "no_gpu"), ("fr", "-IS", "no_torch"), ("it", "-IS", "no_torch")]
)
def test_script_and_notebook_say_the_same(kits: dict[str, Path], language: str, options: str, why: str) -> None:
    """Both run to their end, in their language, and print the same lines; without a GPU the observation is blank.

    With `-S` no installed package can be imported, PyTorch neither; the English one meets the PyTorch that is here.
    """
    script = run(kits[language], "estimate_memory.py", python=(sys.executable, options))
    assert run(kits[language], "-c", RUN_CELLS, python=(sys.executable, options)) == script
    words = messages(language)
    assert words.text("kit.script.blank") in script
    assert words.text(f"kit.script.{why}") in script
    rows = [line for line in script.splitlines() if line.startswith(words.text("kit.script.peak"))]
    assert [row.split()[-4:] for row in rows] == [["\N{EN DASH}"] * 4]


def test_without_pytorch_the_script_says_so(kits: dict[str, Path]) -> None:
    """Nothing but the standard library is needed for the estimates."""
    said = run(kits["fr"], "estimate_memory.py", python=(sys.executable, "-IS"))
    assert messages("fr").text("kit.script.no_torch") in said
    assert "torch\N{NARROW NO-BREAK SPACE}: absent" in said
    assert "209,81 Mio" in said  # 110 million numbers of two bytes


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_notebook_is_well_formed(kits: dict[str, Path], language: str) -> None:
    """Format 4.5: cells with ids of their own, no output, explanations before each cell of code."""
    found = json.loads((kits[language] / "estimate_memory.ipynb").read_text(encoding="utf-8"))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    kinds = [cell["cell_type"] for cell in found["cells"]]
    assert kinds == ["markdown", "code"] * (len(kinds) // 2)
    assert len({cell["id"] for cell in found["cells"]}) == len(kinds) >= 14
    for cell in found["cells"]:
        text = "".join(cell["source"])
        assert text.strip() == text
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            assert "__name__ ==" not in text or "reconfigure" in text
        else:
            assert text.startswith("#")
            assert "{#" not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_notebook_is_made_from_the_script(kits: dict[str, Path], language: str) -> None:
    """Whatever is changed in the script is in the next notebook."""
    script = (kits[language] / "estimate_memory.py").read_text(encoding="utf-8")
    assert memory_notebook(script) == (kits[language] / "estimate_memory.ipynb").read_bytes()
    assert b"batch=3" in memory_notebook(script.replace("batch=8, length=512, new", "batch=3, length=512, new"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_script_is_the_code_that_lab_uses(kits: dict[str, Path], language: str) -> None:
    """Its functions and formulas are those of `lab.estimate_memory`, word for word; only what it prints is another."""
    twin = ast.parse((kits[language] / "estimate_memory.py").read_text(encoding="utf-8"))
    ours = ast.parse(Path(estimate_memory.__file__).read_text(encoding="utf-8"))

    def dumped(tree: ast.Module) -> list[str]:
        return [
            ast.dump(one)
            for one in tree.body
            if not (isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "TEXTS")
            and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]

    assert dumped(twin) == dumped(ours)


def test_the_texts_of_the_script_are_those_of_the_catalogues() -> None:
    """What it says in English inside `lab` is what the catalogue says, place by place."""
    assert {name: messages("en").text(f"kit.script.{name}") for name in estimate_memory.TEXTS} == estimate_memory.TEXTS
    assert {f"kit.script.{name}" for name in estimate_memory.TEXTS} == set(messages("en").keys("kit.script."))


def test_the_quality_protocol_asks_for_every_field_once(kits: dict[str, Path]) -> None:
    """Each field of the sheet `protocol` has its place, and what is needed is marked."""
    assert sorted(name for names in ASKED.values() for name in names) == sorted(one.name for one in PROTOCOL_FIELDS)
    text = (kits["en"] / "quality-protocol.md").read_text(encoding="utf-8")
    marked = {one.name: " · *needed*" if one.required else "" for one in PROTOCOL_FIELDS}
    assert [text.count(f"· `{name}`{mark}  \n") for name, mark in marked.items()] == [1] * len(marked)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_everything_it_needs(kits: dict[str, Path], name: str, language: str) -> None:
    """No source but its own text by its policy, its language said, and the Markdown beside it says the same."""
    page = (kits[language] / f"{name}.html").read_text(encoding="utf-8")
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'", policy)
    assert f'<html lang="{language}">' in page
    assert not re.search(r"<script|\bsrc=|@import|url\(", page)
    source = (kits[language] / f"{name}.md").read_text(encoding="utf-8")
    assert "{{" not in source
    headings = [html.unescape(one) for one in re.findall(r"<h[12]>(.*?)</h[12]>", page)]
    assert headings == re.findall(r"^##? (.*)$", source, flags=re.MULTILINE)


@pytest.mark.parametrize("name", SOURCES)
def test_three_languages_say_the_same(repository: Path, name: str) -> None:
    """The same anchors, links, facts and code in the same order, and no sentence left in English."""
    shapes, texts = {}, {}
    for language in LANGUAGES:
        text = texts[language] = (repository / "site/kit" / language / f"{name}.md").read_text(encoding="utf-8")
        parts = (r"\{#(\w+)\}", r"\]\(([^)]+)\)", r"\{\{ \w+ \}\}", r"```\n(.*?)```", r"^(##|-|\d\.) ")
        shapes[language] = [re.findall(part, text, flags=re.DOTALL | re.MULTILINE) for part in parts]
        assert not re.search(r"!(?=\s|$)|successfully", text)
    assert shapes["fr"] == shapes["en"] == shapes["it"]
    assert max(map(len, texts.values())) < 1.4 * min(map(len, texts.values()))
    english = set(re.split(r"(?<=[.:])\s", re.sub(r"```.*?```", "", texts["en"], flags=re.DOTALL)))
    for language in ("fr", "it"):
        same = english & set(re.split(r"(?<=[.:])\s", texts[language]))
        assert not [one for one in same if len(one.split()) > 4 and "{{" not in one], language


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    """Nothing is written over it."""
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageProblemError):
        write_kits(tmp_path / "out")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_the_site_offers_the_kits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab site` writes them into its downloads, and the page of each language lists the three."""
    assert main(["site", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    for language in LANGUAGES:
        assert (tmp_path / f"site/downloads/kit.{language}.zip").read_bytes() == kit(language)
        page = (tmp_path / f"site/{language}/downloads.html").read_text(encoding="utf-8")
        assert all(f"../downloads/kit.{one}.zip" in page for one in LANGUAGES)
