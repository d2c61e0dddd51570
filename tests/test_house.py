"""The house keeps its shape: what stands at the top, how long a file may be, who imports whom, what starts fast."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.commands import COMMANDS

TOP = {"README.md", "pyproject.toml", "LICENSE", "lab", "templates", "site", "workbook", "tests"}
HERE = Path("tests/test_house.py")
LONGEST_FILE = 400
SLOW_TO_IMPORT = ("torch", "transformers", "tokenizers", "duckdb", "plotly", "openpyxl", "pydantic")
CODE = {".py", ".html", ".j2", ".jinja", ".css", ".js"}

# Prints, after the command has run as `python -m lab ARGUMENTS`, which of the slow modules it has loaded.
LOADED_BY = f"""
import contextlib, io, runpy, sys
with contextlib.redirect_stdout(io.StringIO()):
    try:
        runpy.run_module("lab", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        assert not ended.code, ended.code
print(*sorted(set(sys.modules) & {{*{SLOW_TO_IMPORT!r}}}))
"""

# Imports every module of the package as if the extra `measure` were not installed.
WITHOUT_MEASURE = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "tokenizers", "safetensors", "sympy")))
import lab
for module in pkgutil.walk_packages(lab.__path__, "lab."):
    if module.name != "lab.__main__":
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.fixture(scope="module")
def files(repository: Path) -> tuple[Path, ...]:
    """What belongs to the project: committed or about to be, nothing that git ignores; paths from its top."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=repository,
        capture_output=True,
        check=True,
    )
    names = listed.stdout.decode().split("\0")
    return tuple(Path(name) for name in sorted(set(names)) if name and (repository / name).is_file())


def test_the_top_level_holds_the_rooms_of_the_house_and_nothing_else(files: tuple[Path, ...]) -> None:
    """Design, section 3: eight names, and dotfiles."""
    assert {path.parts[0] for path in files if not path.parts[0].startswith(".")} == TOP


def test_no_file_of_code_is_too_long_to_read(repository: Path, files: tuple[Path, ...]) -> None:
    """A file does one job: at most 400 lines in the package, the templates and the tests."""
    rooms = ("lab", "templates", "tests")
    lengths = {
        str(path): len((repository / path).read_text(encoding="utf-8").splitlines())
        for path in files
        if path.parts[0] in rooms and path.suffix in CODE
    }
    assert not {path: length for path, length in lengths.items() if length > LONGEST_FILE}


def test_no_file_is_a_drawer_for_everything(files: tuple[Path, ...]) -> None:
    """A module is named after its job."""
    drawers = {"utils", "util", "helpers", "common", "misc"}
    assert not [str(path) for path in files if path.stem in drawers or drawers & set(path.parts)]


def test_imports_go_down_only() -> None:
    """The contract in pyproject.toml holds: floors, and torch only where a pass runs."""
    ended = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "arguments", ["--help", "price --gpu rtx-4090 --days 7 --lots 2", "price --gpu rtx-4090 --days 7 --lots 2 --json"]
)
def test_a_command_that_reads_no_campaign_starts_without_the_slow_libraries(arguments: str) -> None:
    """Help and prices answer at once, and where torch is not installed."""
    ended = subprocess.run(
        [sys.executable, "-c", LOADED_BY, *arguments.split()], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == []


def test_every_module_can_be_read_where_the_measure_extra_is_not_installed() -> None:
    """PyTorch is imported when a pass runs, never before."""
    ended = subprocess.run([sys.executable, "-c", WITHOUT_MEASURE], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert {"lab.cli", "lab.measure.runner", "lab.workloads"} <= set(ended.stdout.split())


def test_the_readme_lists_the_commands_that_exist(repository: Path) -> None:
    """Each command has its row in the table, and no row has no command."""
    rows = re.findall(r"^\| `lab (\w+)[` ]", (repository / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(rows) == sorted(command.name for command in COMMANDS)


def test_the_readme_names_files_that_exist(repository: Path) -> None:
    """Every path from the top of the repository that stands in the README is there."""
    text = (repository / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<=[`(])(?:lab|templates|site|workbook|tests)/[\w./-]*(?=[`)])", text))
    assert len(named) > 10
    assert not sorted(path for path in named if not (repository / path).exists())


def test_no_file_names_a_folder_of_the_machine_it_was_written_on(repository: Path, files: tuple[Path, ...]) -> None:
    """Neither a home, nor the folder of this checkout: the project works in any folder."""
    folders = {str(folder) for folder in (repository, Path.home())} - {"/", "/tmp", "/var/tmp"}  # noqa: S108  (folders anyone may name)
    private = re.compile(
        "|".join([rf"(?<![\w.]){re.escape(folder)}(?![\w-])" for folder in folders] + [r"/(?:home|Users)/\w"])
    )
    named = {
        str(path): found.group()
        for path in files
        if path != HERE and (found := private.search((repository / path).read_bytes().decode("utf-8", errors="ignore")))
    }
    assert not named


def test_every_exception_to_a_rule_has_its_reason_beside_it(repository: Path, files: tuple[Path, ...]) -> None:
    """`noqa` and `type: ignore` name their rule, and a reason follows: `(why)` or `# why`.

    The first one of its kind in a file gives the reason for the others there.
    """
    exception = re.compile(
        r"# (noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*|type: ignore\[[\w, -]+\]|noqa|type: ignore)(?P<why> .*)?"
    )
    without = []
    for path in files:
        if path.suffix != ".py" or path.parts[0] not in {"lab", "tests"} or path == HERE:
            continue
        explained = set()
        for number, line in enumerate((repository / path).read_text(encoding="utf-8").splitlines(), 1):
            if found := exception.search(line):
                if re.match(r" {1,2}(?:\(|# )\S", found["why"] or ""):
                    explained.add(found[1])
                elif found[1] not in explained:
                    without.append(f"{path}:{number}")
    assert not without
