"""A manifest is read strictly: every fault at once, each with its line, its key and what would be right."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.errors import Fault, InvalidInputError
from lab.model.manifest import Manifest
from lab.store.manifest import read_manifest
from lab.store.toml_lines import key_lines

HEAD = """schema = 1
name = "tickets"
language = "fr"
[[corpora]]
id = "c"
path = "corpus.jsonl"
labels = ["bug", "other"]
"""
VARIANTS = """[defaults]
model = "models/m"
batch_size = 8
[[variants]]
id = "b8"
[[variants]]
id = "b1"
batch_size = 1
"""


def read(tmp_path: Path, text: str) -> Manifest:
    """The manifest of that text."""
    path = tmp_path / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    return read_manifest(path)


def faults(tmp_path: Path, text: str) -> list[Fault]:
    """The faults of a manifest of that text."""
    with pytest.raises(InvalidInputError) as raised:
        read(tmp_path, text)
    assert {one.file for one in raised.value.faults} == {"manifest.toml"}
    return list(raised.value.faults)


def told(found: list[Fault]) -> list[tuple[str, str | None]]:
    """Slug and place of each."""
    return [(one.slug, one.place) for one in found]


def test_defaults_are_shared_and_a_variants_own_key_wins(tmp_path: Path) -> None:
    """`[defaults]` is merged into every variant."""
    manifest = read(tmp_path, HEAD + VARIANTS)
    assert [(one.id, one.model, one.batch_size) for one in manifest.variants] == [
        ("b8", "models/m", 8),
        ("b1", "models/m", 1),
    ]
    assert manifest.corpora[0].labels == ("bug", "other")


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    """As an editor under Windows saves it."""
    path = tmp_path / "manifest.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + VARIANTS).replace("\n", "\r\n").encode())
    assert read_manifest(path).name == "tickets"


def test_a_misspelt_key_names_its_line_and_the_nearest_one(tmp_path: Path) -> None:
    """The key, where it stands and what was probably meant."""
    found = faults(tmp_path, HEAD + VARIANTS + "pading = 'longest'\n")
    assert told(found) == [("manifest-unknown-key", "line 16, variants.b1.pading")]
    assert dict(found[0].values) == {"name": "pading", "nearest": "padding"}


def test_a_fault_in_defaults_is_told_once_with_its_own_line(tmp_path: Path) -> None:
    """Every variant meets it; the person has one line to correct."""
    found = faults(tmp_path, HEAD + VARIANTS.replace('model = "models/m"', 'modle = "models/m"'))
    assert told(found) == [("manifest-unknown-key", "line 9, defaults.modle")]


def test_several_faults_are_told_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    """A person corrects a file once, not fault by fault."""
    text = """schema = 1
name = "two words"
language = "de"
[[corpora]]
id = "c"
path = ""
labels = ["bug", 3]
[run]
timeout_s = 0
cool_down_s = -1
seeds = []
warm_up = { passes = 1.5, recompilations = "never" }
[metrics.m]
function = "weighted"
[[variants]]
id = "b1"
batch_size = "8"
deterministic = 1
compile = 3
compatibility_checked_on = 3
[[variants]]
model = 3
[[variants]]
id = "b2"
batch_size = 0
"""
    assert told(faults(tmp_path, text)) == [
        ("manifest-bad-id", "line 2, name"),
        ("manifest-not-in-list", "line 3, language"),
        ("manifest-empty-text", "line 6, corpora.c.path"),
        ("manifest-not-text", "line 7, corpora.c.labels.2"),
        ("manifest-not-above", "line 9, run.timeout_s"),
        ("manifest-below-least", "line 10, run.cool_down_s"),
        ("manifest-too-few", "line 11, run.seeds"),
        ("manifest-not-integer", "line 12, run.warm_up.passes"),
        ("manifest-not-in-list", "line 12, run.warm_up.recompilations"),
        ("manifest-bad-function", "line 14, metrics.m.function"),
        ("manifest-not-integer", "line 17, variants.b1.batch_size"),
        ("manifest-not-boolean", "line 18, variants.b1.deterministic"),
        ("manifest-not-boolean-or-text", "line 19, variants.b1.compile"),
        ("manifest-not-date-or-text", "line 20, variants.b1.compatibility_checked_on"),
        ("manifest-missing-key", "line 21, variants.2"),
        ("manifest-not-text", "line 22, variants.2.model"),
        ("manifest-below-least", "line 25, variants.b2.batch_size"),
    ]


def test_a_closed_list_names_its_choices(tmp_path: Path) -> None:
    """What stands there and what may."""
    found = faults(tmp_path, HEAD + VARIANTS + 'precision = "f16"\n')
    assert dict(found[0].values) == {"found": '"f16"', "choices": ["fp32", "bf16", "fp16", "int8"]}


def test_an_empty_file_names_every_key_it_needs(tmp_path: Path) -> None:
    """All of them at once."""
    found = faults(tmp_path, "")
    assert [one.values["name"] for one in found] == ["schema", "name", "language", "corpora", "variants"]


@pytest.mark.parametrize(
    ("text", "slug", "place"),
    [
        (HEAD + VARIANTS + "threads = nan\n", "manifest-not-finite", "line 16, variants.b1.threads"),
        ("defaults = 3\n" + HEAD + VARIANTS.split("8\n", 1)[1], "manifest-not-table", "line 1, defaults"),
        ("variants = 3\n" + HEAD, "manifest-not-list", "line 1, variants"),
        ("run = 3\n" + HEAD + VARIANTS, "manifest-not-table", "line 1, run"),
        ("corpora = []\n" + HEAD.split("[[", 1)[0] + VARIANTS, "manifest-too-few", "line 1, corpora"),
        (HEAD + VARIANTS + 'id = "b2"\n', "manifest-key-twice", "line 16"),
        (HEAD + 'x = "a\n' + VARIANTS, "manifest-not-toml", "line 8"),
        (HEAD + "x = [", "manifest-not-toml", "line 8"),
        ("x = " + "[" * 5000, "manifest-too-deep", None),
    ],
)
def test_what_is_not_a_manifest_names_its_line(tmp_path: Path, text: str, slug: str, place: str | None) -> None:
    """TOML that does not parse, tables that are none, numbers that are none."""
    assert (slug, place) in told(faults(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "slug", "place", "values"),
    [
        (VARIANTS + '[[variants]]\nid = "b1"\n', "manifest-duplicate-id", "line 11, variants", {"ids": ["b1"]}),
        (
            VARIANTS + '[[series]]\nid = "s"\nvariants = ["b1", "b9"]\nvaries = ["batch_size"]\n',
            "manifest-series-unknown-variant",
            "line 16, series.s",
            {"ids": ["b9"]},
        ),
        (
            VARIANTS + 'threads = 2\n[[series]]\nid = "s"\nvariants = ["b1", "b8"]\nvaries = ["batch_size"]\n',
            "manifest-series-differs",
            "line 17, series.s",
            {"keys": ["threads"]},
        ),
        (
            VARIANTS + '[[series]]\nid = "s"\nvariants = ["b1", "b8"]\nvaries = ["batch"]\n',
            "manifest-series-unknown-key",
            "line 16, series.s",
            {"keys": ["batch"]},
        ),
    ],
)
def test_a_rule_between_keys_names_the_table_it_breaks_in(
    tmp_path: Path, text: str, slug: str, place: str, values: dict[str, object]
) -> None:
    """Ids that meet, a series that varies more than it says, a workload without what it needs."""
    found = faults(tmp_path, HEAD + text)
    assert told(found) == [(slug, place)]
    assert dict(found[0].values) == values


def test_a_missing_manifest_a_folder_and_another_encoding_are_faults(tmp_path: Path) -> None:
    """Each with its own message."""
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    utf16 = tmp_path / "utf16.toml"
    utf16.write_bytes((HEAD + VARIANTS).encode("utf-16"))
    slugs = []
    for path in (tmp_path / "none.toml", folder, utf16):
        with pytest.raises(InvalidInputError) as raised:
            read_manifest(path)
        slugs.append((raised.value.faults[0].slug, raised.value.faults[0].file))
    assert slugs == [
        ("file-missing", "none.toml"),
        ("file-is-a-folder", "folder.toml"),
        ("file-not-utf8", "utf16.toml"),
    ]


# --- on which line a key stands ---------------------------------------------------------------------------------------

WILD = '''# a = 1
a.b.c = 1  # d = 2
"quo.ted" = 'x # y'
text = """
z = 1
"quotes" in it ""
"""
literal = \'\'\'
[z]
\'\'\'
many = [
  1, # one
  [2, 3], "]", { deep = [{ er = 1 }] },
]
[[v]]
id = "\\"]"
w = { passes = 1, "in" = [1, 2], t = { u = 1979-05-27T07:32:00Z } }
[[v.sub]]
k = 1
[[v.sub]]
k = 2
[[v]]
[v.t]
z = -1.5e3
[d."e f"]
k = true
'''


def paths(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of everything within a value."""
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in members:
        yield from paths(one, (*path, key))


def test_every_key_of_a_wild_document_has_its_line() -> None:
    """Dotted and quoted keys, strings over lines, tables in lists in tables; and nothing else is taken for a key."""
    lines = key_lines(WILD)
    assert set(lines) == set(paths(tomllib.loads(WILD)))
    assert [lines[path] for path in (("a", "b", "c"), ("many", 1, 1), ("v", 0, "w", "t", "u"), ("v", 0, "sub", 1))] == [
        2,
        13,
        17,
        20,
    ]
    assert [lines[path] for path in (("v", 1, "t", "z"), ("d", "e f", "k"), ("many", 3, "deep", 0, "er"))] == [
        24,
        26,
        13,
    ]


@given(st.lists(st.sampled_from(WILD.split("\n")), max_size=12))
def test_every_key_of_any_document_has_its_line(lines: list[str]) -> None:
    """Whatever lines come together: if it is TOML, the scan finds what the parser finds."""
    text = "\n".join(lines)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(key_lines(text)) == set(paths(data))
