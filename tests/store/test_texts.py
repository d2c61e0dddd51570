"""Every fault of the store can be said in every language, also where its slug is chosen at run time."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import compile_catalogues as catalogues
import pytest

from lab.errors import Fault, LabError
from lab.messages import LANGUAGES, messages
from lab.model.manifest import CorpusSpec
from lab.store.attempts import attempt_folder, read_records
from lab.store.corpus import read_corpus
from lab.store.files import inside, read_json
from lab.store.manifest import read_manifest

FAMILIES = (
    "attempt", "campaign", "corpus", "disk", "environment", "file", "manifest", "metric", "no", "path", "predictions",
    "protocol", "resource", "seal", "system", "tuning", "workbook",
)  # fmt: skip
SLUG = re.compile(rf"(?:{'|'.join(FAMILIES)})(?:-[a-z0-9]+)+")


def slugs(repository: Path) -> set[str]:
    """Every literal of the store's code that is the slug of a fault."""
    files = [*(repository / "lab" / "store").glob("*.py"), repository / "lab" / "model" / "manifest.py"]
    return {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SLUG.fullmatch(node.value)
    }


def test_every_slug_of_the_store_has_its_texts_and_every_text_its_slug(repository: Path) -> None:
    """`fault.<slug>` and `fault.<slug>.do` in each language, and none that nothing says any more."""
    wanted = {f"fault.{slug}{ending}" for slug in slugs(repository) for ending in ("", ".do")}
    for language in LANGUAGES:
        po = catalogues.LOCALES / language / "LC_MESSAGES" / "store.po"
        mine = {key for key in catalogues.texts(catalogues.source(po)) if key.startswith("fault.")}
        assert not sorted(mine - wanted)
        assert not sorted(key for key in wanted if not messages(language).has(key))


HEAD = 'schema = 1\nname = "n"\nlanguage = "fr"\n[[corpora]]\nid = "c"\npath = "c"\n'
MANIFESTS = (
    "",
    "x",
    "a = 1\na = 2",
    "x = " + "[" * 5000,
    "run = 3\n" + HEAD + "[defaults]\nmodle = 1\nthreads = nan\ncompile = 3\ncompatibility_checked_on = 3\n",
    HEAD + "[run]\ntimeout_s = 0\ncool_down_s = -1\nseeds = []\n[metrics.m]\nfunction = 'f'\n[[variants]]\nid = 'a b'\n"
    "precision = 'x'\ndeterministic = 1\nbatch_size = '8'\nmodel = ''\ncommand = 'ls'\n[[variants]]\nid = 3\n",
    HEAD + "[[variants]]\nid = 'a'\nmodel = 'm'\n[[variants]]\nid = 'a'\nmodel = 'm'\n",
)
CORPORA: tuple[tuple[str, bytes, dict[str, object]], ...] = (
    ("a.jsonl", b'{\n[]\n{"id": 1}\n{"id": "", "text": "\\ud83d"}\n{"id"', {}),
    ("a.jsonl", b'{"id": "1", "text": "a", "l": "x"}\n' * 30, {"reference_column": "l", "labels": ("y",)}),
    ("a.jsonl", b'{"id": "1", "text": "a"}\n', {"reference_column": "l"}),
    ("a.jsonl", b"\xe9\n", {}),
    ("a.jsonl", b"\xff\xfe", {}),
    ("a.jsonl", b"", {"encoding": "x"}),
    ("a.jsonl", b"", {}),
    ("a.txt", b"", {}),
    ("a.csv", b"id,id\n", {}),
    ("a.csv", b"id;text\n", {}),
    ("a.csv", b"id;text\n", {"delimiter": ";;"}),
    ("a.csv", b'id,text\n1,"a', {}),
    ("a.csv", b'id,text\n1,"a"b\n', {}),
    ("a.csv", b"id,text\n1,2,3\n", {}),
    ("a.parquet", b"PAR1", {}),
    ("b.jsonl", b'{"id": "t", "text": "t"}\n', {"tuning": "b.jsonl"}),
    ("../a.jsonl", b"", {}),
)


def raised(read: Callable[[], object]) -> tuple[Fault, ...]:
    """The faults of a reading that fails."""
    with pytest.raises(LabError) as error:
        read()
    return error.value.faults


def found_faults(folder: Path) -> Iterator[Fault]:
    """Faults as the readers make them from bad files."""
    path = folder / "manifest.toml"
    for text in MANIFESTS:
        path.write_text(text)
        yield from raised(lambda: read_manifest(path))
    for name, content, changes in CORPORA:
        if "/" not in name:
            (folder / name).write_bytes(content)
        spec = CorpusSpec.model_validate({"id": "c", "path": name, **changes})
        yield from raised(partial(read_corpus, folder, spec))
    (folder / "attempts" / "a").mkdir(parents=True)
    record = {"schema": 1, "attempt": {"attempt_id": "b", "x": 1, "round": "1"}, "details": {"y": 1, "counts": 3}}
    for value in (record, {**record, "attempt": {"attempt_id": "b"}, "details": {}}, {}):
        (folder / "attempts" / "a" / "attempt.json").write_text(json.dumps(value))
        yield from raised(lambda: read_records(folder))
    yield from raised(lambda: attempt_folder(folder, "../{x}"))
    yield from raised(lambda: inside(folder, ".."))
    yield from raised(lambda: read_json(path))


def test_what_the_readers_find_can_be_said_in_every_language(tmp_path: Path) -> None:
    """Each fact that a text names is given; nothing of a text's own marks is left in what a person reads."""
    faults = list(found_faults(tmp_path))
    assert len({one.slug for one in faults}) > 45
    for language in LANGUAGES:
        for one in faults:
            said = messages(language).fault(one)
            assert "\n  " in said
            assert "{{" not in said
            assert "None" not in said
