"""The demo's corpus: docstrings of the installed sympy, read from its files, drawn the same way on every machine.

Nothing here imports sympy or a tokenizer: the folder is found through the import system, the sources are read by
`ast`, and whoever calls gives the token counts. The rules are those of the demo in the product's method; each step
that could be done in several orders says which one it takes, so that one release of sympy gives one corpus.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from lab.errors import Fault, InvalidInputError, OutsideFailureError, fault
from lab.store.files import write_atomically

Length = Literal["short", "medium", "long"]
CountTokens = Callable[[list[str]], list[int]]
CutTokens = Callable[[str, int], str]

SYMPY_VERSION = "1.14.0"
"""The release the corpus is drawn from; another one would be another corpus under the same name."""

FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "algebra_polys": ("polys",),
        "calculus": ("integrals", "series", "calculus", "concrete", "holonomic", "functions"),
        "core_logic": (
            *("core", "assumptions", "logic", "sets", "categories"),
            *("strategies", "unify", "multipledispatch"),
        ),
        "discrete_math": ("combinatorics", "ntheory", "crypto", "discrete"),
        "geometry_stats": ("geometry", "stats"),
        "input_output": ("printing", "codegen", "parsing", "plotting", "interactive", "utilities"),
        "linear_tensor": ("matrices", "tensor", "vector", "liealgebras", "algebras", "diffgeom"),
        "physics": ("physics",),
        "solving": ("solvers", "simplify"),
    }
)
"""Label -> the top-level subpackages of sympy that make this family; other subpackages are not read."""

LABELS: tuple[str, ...] = tuple(FAMILIES)

MIN_CHARACTERS = 25
FINAL_SHARE_PERCENT = 35
NEAR_DUPLICATE = 0.5
MAX_TOKENS = 128


@dataclass(frozen=True)
class LengthBin:
    """One length class of the final corpus: `wanted` texts of `lowest` to `highest` tokens (None: no upper end)."""

    name: Length
    lowest: int
    highest: int | None
    wanted: int

    def holds(self, tokens: int) -> bool:
        """Tell whether a text of `tokens` tokens belongs here."""
        return tokens >= self.lowest and (self.highest is None or tokens <= self.highest)


BINS: tuple[LengthBin, ...] = (
    LengthBin("short", 5, 20, 600),
    LengthBin("medium", 21, 64, 300),
    LengthBin("long", 65, None, 100),
)


@dataclass(frozen=True)
class Docstring:
    """One text of the demo: `id` is `sympy.module:qualname`, `label` one of `LABELS`."""

    id: str
    text: str
    label: str


@dataclass(frozen=True)
class Row(Docstring):
    """One text of the final corpus, with its length class."""

    length: Length


@dataclass(frozen=True)
class Split:
    """Two sets that share no id, no normal form and no near duplicate, each ordered by `draw_key`."""

    final_pool: tuple[Docstring, ...]
    tuning: tuple[Docstring, ...]


def sympy_folder() -> Path:
    """Find the folder of the installed sympy without importing it.

    Raises:
        OutsideFailureError: `demo-sympy-missing` when it is not installed; `demo-sympy-version` when the release is
            not `SYMPY_VERSION`.
    """
    spec = importlib.util.find_spec("sympy")
    if spec is None or not spec.submodule_search_locations:
        raise OutsideFailureError(fault("demo-sympy-missing", wanted=SYMPY_VERSION))
    try:
        found = importlib.metadata.version("sympy")
    except importlib.metadata.PackageNotFoundError:
        raise OutsideFailureError(fault("demo-sympy-missing", wanted=SYMPY_VERSION)) from None
    if found != SYMPY_VERSION:
        raise OutsideFailureError(fault("demo-sympy-version", found=found, wanted=SYMPY_VERSION))
    return Path(spec.submodule_search_locations[0])


def extract(folder: Path) -> list[Docstring]:
    """Read the docstrings of modules, classes and functions, nested ones too, under sympy's `folder`.

    Test folders and files are skipped. Each docstring goes through `cleaned`; what is shorter than `MIN_CHARACTERS`
    is left out. An id that occurs again in its file keeps its first text; of several texts with one normal form the
    one with the smallest id stays.

    Returns:
        The texts, ordered by id.

    Raises:
        OutsideFailureError: `demo-source-unreadable`, one for each file that cannot be read as Python.
    """
    found: dict[str, Docstring] = {}
    faults: list[Fault] = []
    for family, packages in FAMILIES.items():
        for package in packages:
            for path in sorted((folder / package).rglob("*.py")):
                relative = path.relative_to(folder)
                if _is_test(relative):
                    continue
                try:
                    tree = _parsed(path)
                except (OSError, SyntaxError, ValueError):
                    faults.append(
                        fault("demo-source-unreadable", file=f"sympy/{relative.as_posix()}", wanted=SYMPY_VERSION)
                    )
                    continue
                for item in _docstrings(tree, _module(relative), family):
                    found.setdefault(item.id, item)
    if faults:
        raise OutsideFailureError(*faults)
    firsts: dict[str, Docstring] = {}
    for key in sorted(found):
        firsts.setdefault(normal_form(found[key].text), found[key])
    return list(firsts.values())


_HEADING = re.compile(r">>>|^[ \t]*(?:Examples|See Also|References|Notes)[ \t]*:?[ \t]*$", re.MULTILINE)


def cleaned(docstring: str) -> str:
    """Cut at the first `>>>` or line that is one of four headings, then collapse white space.

    The headings are Examples, See Also, References and Notes, alone on their line, a colon allowed. Collapsing also
    makes it irrelevant that Python 3.13 strips the indentation of docstrings and earlier versions do not.
    """
    return " ".join(_HEADING.split(docstring, maxsplit=1)[0].split())


def words(text: str) -> list[str]:
    """The runs of `[a-z0-9]` of the lower-cased text."""
    return re.findall(r"[a-z0-9]+", text.lower())


def normal_form(text: str) -> str:
    """The words of the text joined by single spaces: two texts with one normal form are duplicates."""
    return " ".join(words(text))


def draw_key(item: Docstring) -> str:
    """The sha256 of the id, as 64 hexadecimal digits: every order and every split of the demo follows it."""
    return hashlib.sha256(item.id.encode()).hexdigest()


def split(texts: Iterable[Docstring]) -> Split:
    """Part the texts by the sha256 of their id: the lowest 35 % of its range are the final pool, the rest is tuning.

    A tuning text is removed when the Jaccard index of its set of word bigrams with that of any text of the final pool
    is 0.5 or more (shared bigrams over all bigrams of both). A text of one word has no bigram and resembles nothing.
    """
    final: list[Docstring] = []
    tuning: list[Docstring] = []
    for item in sorted(texts, key=draw_key):
        position = int(draw_key(item)[:8], 16)
        (final if position * 100 < FINAL_SHARE_PERCENT << 32 else tuning).append(item)
    holders: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    sizes: list[int] = []
    for index, item in enumerate(final):
        bigrams = _bigrams(item.text)
        sizes.append(len(bigrams))
        for bigram in bigrams:
            holders[bigram].append(index)
    kept = (item for item in tuning if not _resembles(_bigrams(item.text), holders, sizes))
    return Split(tuple(final), tuple(kept))


def final_corpus(
    pool: Iterable[Docstring], count_tokens: CountTokens, cut: CutTokens, bins: Sequence[LengthBin] = BINS
) -> list[Row]:
    """Draw the final corpus from its pool: 600 short, 300 medium and 100 long texts, ordered by `draw_key`.

    In each length class the labels keep the proportions they have among the pool's texts of that length (largest
    remainder, ties by label), and each label gives its first texts by `draw_key`. Shorter texts than 5 tokens are not
    drawn.

    Args:
        pool: the final pool of `split`, in any order.
        count_tokens: the demo tokenizer's number of tokens for each text; markers around a text are not counted.
        cut: `cut(text, n)` is the text's beginning of at most `n` tokens; long texts are cut at `MAX_TOKENS`.
        bins: the length classes; another list is for small trials.

    Raises:
        InvalidInputError: `demo-pool-too-small` for each length class with fewer texts than it wants.
    """
    items = sorted(pool, key=draw_key)
    counts = count_tokens([item.text for item in items])
    rows: list[Row] = []
    faults: list[Fault] = []
    for one in bins:
        candidates = [item for item, tokens in zip(items, counts, strict=True) if one.holds(tokens)]
        if len(candidates) < one.wanted:
            faults.append(
                fault(
                    "demo-pool-too-small",
                    length=one.name,
                    found=len(candidates),
                    texts=one.wanted,
                    wanted=SYMPY_VERSION,
                )
            )
            continue
        quotas = _in_proportion(Counter(item.label for item in candidates), one.wanted)
        for item in candidates:
            if quotas[item.label] > 0:
                quotas[item.label] -= 1
                text = cut(item.text, MAX_TOKENS) if one.highest is None else item.text
                rows.append(Row(item.id, text, item.label, one.name))
    if faults:
        raise InvalidInputError(*faults)
    return sorted(rows, key=draw_key)


def write_rows(path: Path, rows: Iterable[Docstring]) -> str:
    """Write one JSON object a line (`id`, `text`, `label`, and `length` for a `Row`) in UTF-8, and replace `path`.

    Returns:
        The sha256 of the file's bytes, hexadecimal.

    Raises:
        OutsideFailureError: the disk refused; an old file is whole.
    """
    data = "".join(f"{json.dumps(_fields(row), ensure_ascii=False)}\n" for row in rows).encode()
    write_atomically(path, data)
    return hashlib.sha256(data).hexdigest()


def _fields(row: Docstring) -> dict[str, str]:
    fields = {"id": row.id, "text": row.text, "label": row.label}
    return {**fields, "length": row.length} if isinstance(row, Row) else fields


def _is_test(relative: Path) -> bool:
    return "tests" in relative.parts or relative.name.startswith("test_") or relative.name == "conftest.py"


def _module(relative: Path) -> str:
    parts = relative.with_suffix("").parts
    return ".".join(("sympy", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _parsed(path: Path) -> ast.Module:
    with warnings.catch_warnings():
        # Another project's invalid escapes are none of the user's business.
        warnings.simplefilter("ignore")
        return ast.parse(path.read_bytes())


def _docstrings(tree: ast.Module, module: str, label: str) -> Iterator[Docstring]:
    for name, node in (("<module>", tree), *_definitions(tree, "")):
        text = cleaned(ast.get_docstring(node, clean=False) or "")
        if len(text) >= MIN_CHARACTERS:
            yield Docstring(f"{module}:{name}", text, label)


def _definitions(
    node: ast.AST, prefix: str
) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every definition under `node` in source order, with its `__qualname__`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child, prefix)


def _bigrams(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(words(text)))


def _resembles(
    bigrams: frozenset[tuple[str, str]], holders: Mapping[tuple[str, str], Sequence[int]], sizes: Sequence[int]
) -> bool:
    shared = Counter(index for bigram in bigrams for index in holders.get(bigram, ()))
    return any(n >= NEAR_DUPLICATE * (len(bigrams) + sizes[index] - n) for index, n in shared.items())


def _in_proportion(counts: Mapping[str, int], wanted: int) -> dict[str, int]:
    """Part `wanted` (at most the sum) over the labels as their counts are, by largest remainder."""
    total = sum(counts.values())
    quotas = {label: wanted * n // total for label, n in counts.items()}
    by_remainder = sorted(counts, key=lambda label: (-(wanted * counts[label] % total), label))
    for label in by_remainder[: wanted - sum(quotas.values())]:
        quotas[label] += 1
    return quotas
