"""The demo's corpus: each rule on a small made source tree, then the draw from the real sympy."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.demo.corpus import (
    BINS,
    FAMILIES,
    LABELS,
    MAX_TOKENS,
    SYMPY_VERSION,
    Docstring,
    LengthBin,
    cleaned,
    draw_key,
    extract,
    final_corpus,
    normal_form,
    split,
    sympy_folder,
    words,
    write_rows,
)
from lab.errors import InvalidInputError, OutsideFailureError
from lab.messages import LANGUAGES, messages
from lab.workloads.training import build_tokenizer

REPOSITORY = Path(__file__).parents[2]
LONG_ENOUGH = "Return a sum of many terms"


def tree(folder: Path, files: dict[str, str]) -> Path:
    """Write `files` (path -> source) under `folder`."""
    for name, source in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return folder


def ids(folder: Path) -> list[str]:
    """The ids that `extract` finds under `folder`."""
    return [item.id for item in extract(folder)]


def run_bare(code: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run `code` in a Python that has no site-packages, with `paths` and the repository to import from."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY, *paths)))}
    return subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, text=True, capture_output=True, check=False
    )


def by_spaces(texts: list[str]) -> list[int]:
    """Count tokens as the tests below do: one a word."""
    return [len(text.split()) for text in texts]


def first_words(text: str, tokens: int) -> str:
    """Cut as `by_spaces` counts."""
    return " ".join(text.split()[:tokens])


def test_modules_classes_functions_and_nested_definitions_get_their_qualified_names(tmp_path: Path) -> None:
    """An id is the module, a colon and the name Python itself gives the definition."""
    doc = '"""Words of {} that are long enough."""'
    source = "\n".join(
        [
            doc.format("module"),
            "class Outer:",
            "    " + doc.format("class"),
            "    async def method(self):",
            "        " + doc.format("method"),
            "        if self:",
            "            def inner():",
            "                " + doc.format("inner"),
        ]
    )
    tree(tmp_path, {"core/__init__.py": doc.format("package"), "core/sub/leaf.py": source})
    assert ids(tmp_path) == [
        "sympy.core.sub.leaf:<module>",
        "sympy.core.sub.leaf:Outer",
        "sympy.core.sub.leaf:Outer.method",
        "sympy.core.sub.leaf:Outer.method.<locals>.inner",
        "sympy.core:<module>",
    ]


def test_test_files_and_unlisted_subpackages_are_not_read(tmp_path: Path) -> None:
    """Texts of tests, of the top folder and of subpackages without a family stay out."""
    doc = f'"""{LONG_ENOUGH}."""'
    skipped = ("core/tests/a.py", "core/test_b.py", "core/conftest.py", "sandbox/c.py", "d.py")
    tree(tmp_path, {**dict.fromkeys(skipped, doc), "core/testing_tools.py": doc})
    assert ids(tmp_path) == ["sympy.core.testing_tools:<module>"]


def test_each_listed_subpackage_has_one_family(tmp_path: Path) -> None:
    """The nine families share no subpackage, and a text carries the family of its own."""
    packages = [package for family in FAMILIES.values() for package in family]
    assert len(set(packages)) == len(packages) == 36
    assert len(LABELS) == 9
    tree(tmp_path, {f"{package}/x.py": f'"""{LONG_ENOUGH}: {package}."""' for package in packages})
    labels = {item.id.split(".")[1]: item.label for item in extract(tmp_path)}
    assert labels == {package: label for label, family in FAMILIES.items() for package in family}


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        ("Adds two.\n\n    >>> add(1, 1)\n    2", "Adds two."),
        ("Adds two. >>> add(1, 1)", "Adds two."),
        ("Adds two.\n\n    Examples\n    ========\n\n    text", "Adds two."),
        ("Adds two.\n\n\tSee Also:\n\tother", "Adds two."),
        ("Adds two.\nNotes \nmore", "Adds two."),
        ("Notes on adding two.\nSee Also the Examples here.", "Notes on adding two. See Also the Examples here."),
        ("examples\nfollow", "examples follow"),
        ("  Adds\n\n\n      two\u00a0 numbers ", "Adds two numbers"),
        ("Examples\n========", ""),
    ],
)
def test_text_ends_at_the_first_example_or_closing_heading(docstring: str, text: str) -> None:
    """The cut is at `>>>` or at a heading alone on its line, and white space collapses."""
    assert cleaned(docstring) == text


def test_texts_of_under_25_characters_are_left_out(tmp_path: Path) -> None:
    """The length counts after cutting and collapsing."""
    tree(
        tmp_path,
        {
            "core/a.py": f'"""{"a " * 12}"""',
            "core/b.py": f'"""{"b " * 12}b   """',
            "core/c.py": f'"""{"c" * 24} >>> {"c" * 40}"""',
        },
    )
    assert ids(tmp_path) == ["sympy.core.b:<module>"]


def test_an_id_that_occurs_twice_keeps_its_first_text(tmp_path: Path) -> None:
    """Handlers that share one name give one text, so that ids are unique."""
    source = f'def _():\n    """{LONG_ENOUGH}, first."""\ndef _():\n    """{LONG_ENOUGH}, second."""\n'
    assert [item.text for item in extract(tree(tmp_path, {"sets/h.py": source}))] == [f"{LONG_ENOUGH}, first."]


def test_of_duplicates_the_smallest_id_stays(tmp_path: Path) -> None:
    """Two texts are one when they differ in case and punctuation only, whatever their family."""
    tree(tmp_path, {"stats/a.py": f'"""{LONG_ENOUGH}!"""', "core/z.py": f'"""{LONG_ENOUGH.upper()}."""'})
    assert ids(tmp_path) == ["sympy.core.z:<module>"]


def test_every_source_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Damaged files are reported together, by their names in sympy."""
    tree(tmp_path, {"core/a.py": "def (", "core/b.py": "x = 1", "sets/c.py": "\0"})
    with pytest.raises(OutsideFailureError) as caught:
        extract(tmp_path)
    assert [fault.file for fault in caught.value.faults] == ["sympy/core/a.py", "sympy/sets/c.py"]
    assert {fault.slug for fault in caught.value.faults} == {"demo-source-unreadable"}


docstrings = st.lists(
    st.builds(
        Docstring,
        id=st.uuids().map(str),
        text=st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=7).map(" ".join),
        label=st.sampled_from(LABELS[:3]),
    ),
    unique_by=lambda item: item.id,
    max_size=30,
)


@given(docstrings, st.randoms())
def test_split_parts_by_the_sha256_of_the_id_and_drops_near_duplicates(items: list[Docstring], order: object) -> None:
    """The pool is what lies in the lowest 35 % of the hash; no tuning text is half the same as one of the pool."""
    parts = split(items)
    pool = {item for item in items if int(draw_key(item)[:8], 16) / 2**32 < 0.35}
    assert set(parts.final_pool) == pool
    assert [*parts.final_pool] == sorted(parts.final_pool, key=draw_key)
    assert [*parts.tuning] == sorted(parts.tuning, key=draw_key)

    def near(one: Docstring, other: Docstring) -> bool:
        a, b = (set(pairwise(item.text.split())) for item in (one, other))
        return bool(a & b) and len(a & b) / len(a | b) >= 0.5

    assert set(parts.tuning) == {item for item in items if item not in pool and not any(near(item, p) for p in pool)}
    order.shuffle(items)  # type: ignore[attr-defined]  # hypothesis types it as object
    assert split(items) == parts


def pool_of(counts: dict[str, int], text: str) -> list[Docstring]:
    """A pool with `counts` texts per label, all of them `text`."""
    return [Docstring(f"{label}{n}", text, label) for label, count in counts.items() for n in range(count)]


@given(st.dictionaries(st.sampled_from(LABELS), st.integers(1, 40), min_size=1), st.floats(0.05, 1), st.randoms())
def test_labels_keep_their_proportions_within_one_text(counts: dict[str, int], share: float, order: object) -> None:
    """Each label's part is its exact share rounded down or up, and together they are what was wanted."""
    total = sum(counts.values())
    wanted = max(1, int(total * share))
    pool = pool_of(counts, "a b c d e")
    bins = (LengthBin("short", 5, 20, wanted),)
    rows = final_corpus(pool, by_spaces, first_words, bins)
    got = Counter(row.label for row in rows)
    assert len(rows) == wanted
    assert all(abs(got[label] - wanted * count / total) < 1 for label, count in counts.items())
    for label in counts:
        ordered = sorted(
            (item.id for item in pool if item.label == label), key=lambda i: hashlib.sha256(i.encode()).hexdigest()
        )
        assert [row.id for row in rows if row.label == label] == ordered[: got[label]]
    order.shuffle(pool)  # type: ignore[attr-defined]
    assert final_corpus(pool, by_spaces, first_words, bins) == rows


def test_equal_remainders_go_to_the_first_label_by_name() -> None:
    """Largest remainder, ties by label."""
    rows = final_corpus(
        pool_of({"physics": 2, "calculus": 2}, "a b c d e"), by_spaces, first_words, (LengthBin("short", 5, 20, 3),)
    )
    assert Counter(row.label for row in rows) == {"calculus": 2, "physics": 1}


def test_length_classes_have_their_borders_and_only_long_texts_are_cut() -> None:
    """5-20 tokens are short, 21-64 medium, 65 and more long and cut at 128; below 5 nothing is drawn."""
    sizes = (4, 5, 20, 21, 64, 65, 128, 129, 300)
    pool = [Docstring(f"n{n}", " ".join(["w"] * n), "physics") for n in sizes]
    bins = tuple(LengthBin(one.name, one.lowest, one.highest, {"long": 4}.get(one.name, 2)) for one in BINS)
    rows = final_corpus(pool, by_spaces, first_words, bins)
    assert {row.id: row.length for row in rows} == {
        **dict.fromkeys(("n5", "n20"), "short"),
        **dict.fromkeys(("n21", "n64"), "medium"),
        **dict.fromkeys(("n65", "n128", "n129", "n300"), "long"),
    }
    assert sorted(by_spaces([row.text for row in rows])) == [5, 20, 21, 64, 65, 128, MAX_TOKENS, MAX_TOKENS]


def test_a_pool_that_is_too_small_names_every_length_class() -> None:
    """All classes that lack texts are said at once, with both counts."""
    with pytest.raises(InvalidInputError) as caught:
        final_corpus(pool_of({"physics": 7}, "a b c d e"), by_spaces, first_words)
    found = [(fault.values["length"], fault.values["found"], fault.values["texts"]) for fault in caught.value.faults]
    assert found == [("short", 7, 600), ("medium", 0, 300), ("long", 0, 100)]
    assert {fault.slug for fault in caught.value.faults} == {"demo-pool-too-small"}
    for language in LANGUAGES:
        assert "600" in messages(language).fault(caught.value.faults[0])


def test_rows_are_written_one_a_line_with_their_fingerprint(tmp_path: Path) -> None:
    """The file holds UTF-8 as it is, replaces what was there, and the sha256 of its bytes is returned."""
    path = tmp_path / "rows.jsonl"
    path.write_text("old")
    rows = final_corpus(
        [Docstring("é", "a “b” c d e", "physics")], by_spaces, first_words, (LengthBin("short", 5, 20, 1),)
    )
    assert write_rows(path, [*rows, Docstring("i", "t", "solving")]) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert path.read_bytes().decode().split("\n") == [
        '{"id": "é", "text": "a “b” c d e", "label": "physics", "length": "short"}',
        '{"id": "i", "text": "t", "label": "solving"}',
        "",
    ]
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.jsonl"]


SAY = """
import sys
from lab.demo.corpus import sympy_folder
from lab.errors import LabError
try:
    print(sympy_folder())
except LabError as error:
    print(*[(f.slug, f.values.get("found")) for f in error.faults], error.exit_code)
print("sympy" in sys.modules)
"""


def test_without_sympy_the_fault_says_so(tmp_path: Path) -> None:
    """A Python that has no sympy, or only a folder of that name, gets a fault and not a traceback."""
    assert run_bare(SAY).stdout.splitlines() == ["('demo-sympy-missing', None) 4", "False"]
    tree(tmp_path, {"sympy/core/a.py": ""})
    assert run_bare(SAY, tmp_path).stdout.splitlines() == ["('demo-sympy-missing', None) 4", "False"]


def test_another_release_of_sympy_is_refused(tmp_path: Path) -> None:
    """Another release would be another corpus under the same name."""
    metadata = "Metadata-Version: 2.1\nName: sympy\nVersion: 1.13.3\n"
    tree(tmp_path, {"sympy/__init__.py": "raise SystemExit", "sympy-1.13.3.dist-info/METADATA": metadata})
    assert run_bare(SAY, tmp_path).stdout.splitlines() == ["('demo-sympy-version', '1.13.3') 4", "False"]


def test_sympy_is_found_without_importing_it() -> None:
    """The folder is found through the import system; sympy stays unloaded."""
    lines = run_bare(SAY, sympy_folder().parent).stdout.splitlines()
    assert lines == [str(sympy_folder()), "False"]


def test_the_draw_from_the_real_sympy_is_the_pinned_one(tmp_path: Path) -> None:
    """Version 1.14.0 gives these very bytes on every machine and Python version."""
    texts = extract(sympy_folder())
    parts = split(texts)
    tokenizer = build_tokenizer(item.text for item in parts.tuning)
    rows = final_corpus(parts.final_pool, tokenizer.count, tokenizer.cut)
    assert (SYMPY_VERSION, len(texts), len(parts.final_pool), len(parts.tuning)) == ("1.14.0", 9024, 3148, 5035)
    assert write_rows(tmp_path / "tuning.jsonl", parts.tuning) == (
        "aa11dd6c3184b6411a94da0bd88d231ce95ee198e97441da9e6d25c95927c43c"
    )
    assert write_rows(tmp_path / "corpus.jsonl", rows) == (
        "b0a64772c8523eee465e75f74265639a9a95993600c93d1aa46051bc523b65e7"
    )
    assert hashlib.sha256("\n".join(tokenizer.vocabulary).encode()).hexdigest() == (
        "8dcfb4273881d0545eb91fe8628a8f2e187f3ab4c50828e009aee797cd2de796"
    )
    assert Counter(row.length for row in rows) == {"short": 600, "medium": 300, "long": 100}
    assert max(tokenizer.count([row.text for row in rows])) == MAX_TOKENS
    lines = (tmp_path / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["id"] for line in lines}) == 1000
    final_words = {normal_form(row.text) for row in rows}
    assert not final_words & {normal_form(item.text) for item in parts.tuning}
    assert all(words(row.text) for row in rows)
