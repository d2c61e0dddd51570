"""Judging through a database gives what judging in memory gives: corpora, distances, agreement, and the wrong ids."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from functools import partial
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.errors import InvalidInputError
from lab.model.evidence import Distances
from lab.model.manifest import CorpusSpec
from lab.store.agreement import compare
from lab.store.corpus import Corpus, StoredCorpus, open_corpus, read_corpus
from lab.store.corpus_table import Declared, load_inputs
from lab.store.prediction_lines import number_of
from lab.store.predictions import examine, stored, write_predictions
from lab.store.predictions_table import load
from lab.store.wrong_ids import wrong_rows

SPEC = CorpusSpec(id="c", path="corpus.jsonl", reference_column="label", groups=("side",), tuning="tuning.jsonl")
IN_FOLDER = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = ("1", "-1.5", "0.1", "1e-3", "0.1234567890123456", "+7", "007", "x", "", "nan", "1_0", "999999999999999999.5")


def rows_to(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def corpus_in(folder: Path, references: Sequence[str | None]) -> Corpus:
    """Inputs `0`, `1` ... with these references; sides alternate."""
    rows = [
        {"id": str(place), "text": f"t{place}", "label": one, "side": "odd" if place % 2 else "even"}
        for place, one in enumerate(references)
    ]
    rows_to(folder / "corpus.jsonl", rows)
    return read_corpus(folder, CorpusSpec(id="c", path="corpus.jsonl", reference_column="label", groups=("side",)))


@IN_FOLDER
@given(st.lists(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS)), min_size=1, max_size=12))
def test_distances_are_the_same_in_memory_and_in_the_database(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    """Exactly: sums of decimals, in any order, also of numbers that the database does not read itself."""
    corpus = corpus_in(tmp_path, [*(one for one, _ in pairs), "1"])
    predictions = [{"id": str(place), "prediction": given} for place, (_, given) in enumerate(pairs)]
    path = rows_to(tmp_path / "p.jsonl", [*predictions, {"id": str(len(pairs)), "prediction": "3"}])
    small = examine(path, corpus, None, None, distances=True)
    assert examine(path, corpus, None, None, distances=True, large=0) == small
    numbers = [(number_of(a), number_of(b)) for a, b in [*pairs, ("1", "3")] if a]
    with localcontext(prec=60):
        apart = [abs(a - b) for a, b in numbers if a is not None and b is not None]
        total = sum(apart, Decimal(0))
    assert small.distances == Distances(len(apart), len(numbers) - len(apart), total, max(apart))
    assert small.confusion == {}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e-3", "0.001"),
        ("-0.0000000000005", "-0.000000000001"),
        ("1e17", "1e17"),
        ("1e18", None),
        ("1e-400", "0"),
        ("1e-1000", None),
    ],
)
def test_a_number_is_read_to_its_twelfth_decimal(text: str, number: str | None) -> None:
    """Half away from zero; too large a number, or an exponent of four digits, is none."""
    assert number_of(text) == (None if number is None else Decimal(number))


def read(
    reader: Callable[[Path, CorpusSpec], Corpus | StoredCorpus], folder: Path
) -> Corpus | StoredCorpus | list[str]:
    """The corpus, or its faults, sorted."""
    try:
        return reader(folder, SPEC)
    except InvalidInputError as refused:
        return sorted(map(repr, refused.faults))


@IN_FOLDER
@given(st.data())
def test_a_corpus_in_a_table_has_the_facts_and_the_faults_of_one_in_memory(tmp_path: Path, data: st.DataObject) -> None:
    """Ids twice, shared with the tuning set, texts shared, labels outside the list: the same faults, in some order."""
    line = st.fixed_dictionaries(
        {"id": st.sampled_from("abcde"), "text": st.sampled_from("tuvw")},
        optional={"label": st.sampled_from(["x", "y", "", None]), "side": st.sampled_from(["l", "r"])},
    )
    rows_to(tmp_path / "corpus.jsonl", data.draw(st.lists(line, max_size=5)))
    rows_to(tmp_path / "tuning.jsonl", [{"id": "e", "text": "w"}, {"id": "z", "text": "zz"}])
    wanted, opened = read(read_corpus, tmp_path), read(partial(open_corpus, least=0), tmp_path)
    if isinstance(wanted, list):
        assert opened == wanted
        return
    assert isinstance(opened, StoredCorpus)
    assert isinstance(wanted, Corpus)
    assert opened.facts == wanted.facts
    path = rows_to(tmp_path / "p.jsonl", [{"id": one, "prediction": "x"} for one in reversed(wanted.ids)])
    assert examine(path, opened, None, "0") == examine(path, wanted, None, "0")


LINES = (
    '{"id": "%d", "text": "a", "label": "x", "side": "l", "n": 1}',
    '{"id": "%d", "text": "a", "label": null, "side": ""}',
    '{"id": "%d", "text": "\\u00e9\\n\\"", "label": "x", "side": "é"}',
    '{"side": "l", "label": "y", "text": "", "id": "%d"}',
    '{"id": "%d", "text": "a", "label": 1, "side": "l"}',
    '{"id": "%d", "text": "a", "label": "x", "side": "l", "n": nan}',
    '{"id": "%d", "text": "a", "label": "x", "side": "l", "n": [1,]}',
    '{"id": "%d", "text": "a", "label": "x", "side": "l",}',
    '{"id": "%d", "text": "a", "label": "x", "side": "l", "id": "7"}',
    '{"id": "%d", "text": "a", "label": "x", "side": "l", "n": {"id": "7"}}',
    '{"id": "%d", "text": "\\ud800", "label": "x", "side": "l"}',
    '{"id": "%d", "text": "w ", "label": "x"}\r',
    "",
)


@IN_FOLDER
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=6), st.booleans())
def test_lines_of_any_form_give_a_table_the_facts_and_faults_of_memory(
    tmp_path: Path,
    lines: list[str],
    ends: bool,  # noqa: FBT001  (a value under test)
) -> None:
    """Escapes, other columns, keys twice, what JSON has not: read by the database or line by line, one answer."""
    text = "\n".join(line.replace("%d", str(place)) for place, line in enumerate(lines))
    (tmp_path / "corpus.jsonl").write_text(text + "\n" * ends, encoding="utf-8")
    rows_to(tmp_path / "tuning.jsonl", [{"id": "z", "text": "w"}])
    wanted, opened = read(read_corpus, tmp_path), read(partial(open_corpus, least=0), tmp_path)
    assert isinstance(opened, list) or opened.facts == getattr(wanted, "facts", None)
    assert not isinstance(wanted, list) or opened == wanted


def test_a_plain_file_is_read_by_the_database(tmp_path: Path) -> None:
    """No line of what is usually written goes through the strict reader: that would be right, and slow."""
    rows = [{"id": str(n), "text": f"a: b\n{n}", "label": "x", "side": "é", "n": 1.5} for n in range(3)]
    rows_to(tmp_path / "corpus.jsonl", rows)
    declared = Declared(tmp_path / "corpus.jsonl", "jsonl", "id", "text", "label", ("side",), ())
    found = load_inputs(declared, ())
    assert found is not None
    assert (found.size, found.labels, found.groups) == (3, {"x": 3}, {"side": {"é": 3}})
    for scores in ({}, {"scores": {"long name": 0.5, "b": -1e-7}}):
        path = tmp_path / "p.jsonl"
        write_predictions(path, [{"id": str(n), "prediction": "é", **scores} for n in range(3)])
        with found.table.connected() as database:
            assert load(database, path, tmp_path, "seen").rows == "seen_lines"


def test_a_large_corpus_keeps_its_order(tmp_path: Path) -> None:
    """Read by several threads, beside a tuning set, each input stands at its place."""
    rows_to(tmp_path / "corpus.jsonl", [{"id": f"i{n:06}", "text": f"{n} {'a' * 90}"} for n in range(200_000)])
    found = load_inputs(Declared(tmp_path / "corpus.jsonl", "jsonl", "id", "text", None, (), ()), [("x", "y")])
    assert found is not None
    with found.table.connected() as database:
        wrong = "SELECT count(*) FROM inputs WHERE id <> printf('i%06d', place) OR line <> place + 1"
        assert database.execute(wrong).fetchone() == (0,)


SCORED = (
    '{"id": "%d", "prediction": "a", "scores": {"a": 0.5, "b": 1}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": nan, "b": 1}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": NaN, "b": 1}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": -inf}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1,}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1, }}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1},}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1}, "id": "7"}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1} , "id": "7"}',
    '{"id": "%d", "prediction": "a", "scores": {"a": {"b": 1,}}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": [1, NaN]}}',
    '{"id": "%d", "prediction": "a", "scores": {"a}, ": 1, "b\\"}}": 2}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1}, "prediction": "b"}',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1}}}',
    '{"id": "%d", "prediction": "a", "scores": {"a": "nan", "b": null}}',
    '{"id": "", "prediction": "", "scores": {broken',
    '{"id": "%d", "prediction": "a", "scores": {"a": 1' + "0" * 4400 + "}}",
    '{"id": "%d", "prediction": "a"}',
)


@IN_FOLDER
@given(st.lists(st.sampled_from(SCORED), min_size=1, max_size=8))
def test_scores_of_any_form_are_judged_alike_in_memory_and_in_the_database(tmp_path: Path, lines: list[str]) -> None:
    """A key twice, NaN in any case, a comma too many, something after the scores: the same evidence."""
    corpus = corpus_in(tmp_path, ["a"] * len(lines))
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(line.replace("%d", str(n)) for n, line in enumerate(lines)) + "\n", encoding="utf-8")
    assert examine(path, corpus, None, None, large=0) == examine(path, corpus, None, None)


def test_a_small_corpus_stays_in_memory(tmp_path: Path) -> None:
    """The table is for large ones."""
    corpus_in(tmp_path, ["a"])
    spec = CorpusSpec(id="c", path="corpus.jsonl", reference_column="label")
    assert isinstance(open_corpus(tmp_path, spec), Corpus)


@IN_FOLDER
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("abé")), min_size=1, max_size=15))
def test_agreement_counts_what_differs(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    """By id, whatever the order of the lines; the same in memory and in the database."""
    corpus = corpus_in(tmp_path, ["a"] * len(pairs))
    before = rows_to(tmp_path / "b.jsonl", [{"id": str(n), "prediction": a} for n, (a, _) in enumerate(pairs)])
    now = rows_to(
        tmp_path / "n.jsonl", [{"id": str(n), "prediction": b} for n, (_, b) in reversed([*enumerate(pairs)])]
    )
    found = compare("run", now, before, corpus, distance=False)
    assert compare("run", now, before, corpus, distance=False, large=0) == found
    differing = [str(place) for place, (a, b) in enumerate(pairs) if a != b]
    assert (found.run, found.differing, list(found.first_differing)) == ("run", len(differing), differing[:10])
    assert sum(found.confusion.values()) == len(pairs)
    assert sum(sum(one.values()) for one in found.subgroups.values()) == len(pairs)


@pytest.mark.parametrize(
    ("now", "before", "largest"),
    [
        ([{"scores": {"a": 0.5, "b": 0.5}}] * 2, [{"scores": {"b": 0.25, "a": 0.6}}, {"scores": {"a": 0.5, "b": 0.5}}],
         "0.25"),
        ([{"scores": [0.5]}] * 2, [{"scores": [0.5]}] * 2, "0"),
        ([{"scores": {"a": 0.5}}] * 2, [{"scores": {"a": 0.5}}, {}], None),
        ([{"scores": {"a": None}}] * 2, [{"scores": {"a": None}}] * 2, None),
        ([{"scores": {"a": 1}}] * 2, [{"scores": {"b": 1}}] * 2, None),
        ([{"prediction": "1.5"}, {"prediction": "2"}], [{"prediction": "1.25"}, {"prediction": "2"}], "0.25"),
        ([{}] * 2, [{}] * 2, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_the_largest_distance_is_of_scores_or_of_numbers(
    tmp_path: Path,
    now: list[dict[str, object]],
    before: list[dict[str, object]],
    largest: str | None,
    turned: bool,  # noqa: FBT001  (a value under test)
) -> None:
    """Matched by id and label; one input without them, and it is not known."""
    corpus = corpus_in(tmp_path, ["a", "a"])
    files = [[{"id": str(place), "prediction": "a", **row} for place, row in enumerate(one)] for one in (now, before)]
    path = rows_to(tmp_path / "n.jsonl", files[0][::-1] if turned else files[0])
    found = compare("run", path, rows_to(tmp_path / "b.jsonl", files[1]), corpus, distance=True)
    assert found.largest_distance == (None if largest is None else Decimal(largest))


def test_every_wrong_id_and_line_is_listed(tmp_path: Path) -> None:
    """More than the few that the evidence keeps; alike in memory and in the database."""
    corpus = corpus_in(tmp_path, ["a"] * 30)
    lines = [{"id": one, "prediction": "a"} for one in ("0", "u1", "0", "u2", "1", "u1", "0")]
    path = rows_to(tmp_path / "p.jsonl", lines)
    path.write_bytes(path.read_bytes() + b'{"id": 3}\n')
    found = list(wrong_rows(path, corpus))
    assert found == list(wrong_rows(path, stored(corpus)))
    assert [one["id"] for one in found if one["kind"] == "missing"] == [str(n) for n in range(2, 30)]
    assert [(one["id"], one["lines"]) for one in found if one["kind"] == "duplicate"] == [("0", 3), ("u1", 2)]
    assert [one["id"] for one in found if one["kind"] == "unexpected"] == ["u1", "u2"]
    assert found[-1] == {"kind": "bad_line", "line": 8, "why": "predictions-id-not-text"}


@pytest.mark.parametrize("large", [0, 1 << 20])
def test_predictions_in_csv_and_parquet_are_judged_alike(tmp_path: Path, large: int) -> None:
    """Columns id and prediction, as text: `01` is not `1`, and a row without an id is a bad line."""
    corpus = corpus_in(tmp_path, ["a", "b", "a"])
    with (tmp_path / "p.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "prediction"], ["0", "a"], ["01", "b"], ["", "a"]])
    with duckdb.connect() as database:
        rows = "(VALUES ('0', 'a'), ('01', 'b'), (NULL, 'a')) AS t(id, prediction)"
        database.execute(f"COPY (SELECT * FROM {rows}) TO '{tmp_path / 'p.parquet'}'")  # noqa: S608  (rows of this test)
    for name in ("p.csv", "p.parquet"):
        found = examine(tmp_path / name, corpus, {"a", "b"}, None, large=large)
        assert (found.observed, found.missing, found.first_unexpected) == (2, 2, ("01",))
        assert (found.bad_line_count, found.near_matches) == (1, (("01", "1"),))
        assert found.confusion == {("a", "a"): 1}


def test_a_path_with_pattern_characters_is_one_file(tmp_path: Path) -> None:
    """`[`, `*` and `?` in a folder's name stand for themselves."""
    folder = tmp_path / "a[1]*?"
    folder.mkdir()
    corpus = corpus_in(folder, ["a"])
    path = rows_to(folder / "p.jsonl", [{"id": "0", "prediction": "a"}])
    assert examine(path, corpus, None, None, large=0).confusion == {("a", "a"): 1}


def test_lines_of_a_large_file_keep_their_numbers(tmp_path: Path) -> None:
    """Read by several threads, a bad line far into the file is still named by its line."""
    corpus = corpus_in(tmp_path, ["a"] * 10)
    lines = [f'{{"id": "{n}", "prediction": "{"a" * 40}"}}' for n in range(150_000)]
    lines[123_456] = '{"id": 5'
    (tmp_path / "p.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
    found = examine(tmp_path / "p.jsonl", corpus, None, None, large=0)
    assert found.bad_lines == ((123_457, "predictions-bad-json"),)
    assert (found.unexpected, found.first_unexpected[0]) == (150_000 - 11, "10")
