"""A corpus is read exactly: ids are text, order counts, and what cannot be read is named."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.errors import Fault, InvalidInputError
from lab.model.manifest import CorpusSpec
from lab.store.corpus import iter_inputs, read_corpus

ROWS = [
    {"id": "001", "text": "été", "label": "NA", "length": "short"},
    {"id": "1", "text": "", "label": "null", "length": "long"},
    {"id": "1.0", "text": "a\nb", "label": "true", "length": "short"},
]
# Text as any file can hold it: no half characters; a csv cannot tell a lone carriage return from a line end.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)


def spec(path: str = "corpus.jsonl", **changes: object) -> CorpusSpec:
    """A corpus with references and one group, changed as stated."""
    declared = {"id": "c", "path": path, "reference_column": "label", "groups": ("length",), **changes}
    return CorpusSpec.model_validate(declared)


def jsonl(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_csv(rows: Sequence[Mapping[str, str]], delimiter: str = ",") -> str:
    """Rows as CSV with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_parquet(path: Path, columns: str) -> None:
    """A parquet file of what a SELECT gives."""
    with duckdb.connect() as database:
        database.execute(f"COPY ({columns}) TO '{path}' (FORMAT parquet)")


def faults(folder: Path, declared: CorpusSpec) -> list[Fault]:
    """The faults of a corpus."""
    with pytest.raises(InvalidInputError) as raised:
        read_corpus(folder, declared)
    return list(raised.value.faults)


def told(found: list[Fault]) -> list[tuple[str, str | None]]:
    """Slug and place of each."""
    return [(one.slug, one.place) for one in found]


def test_jsonl_csv_and_parquet_of_the_same_inputs_are_the_same_corpus(tmp_path: Path) -> None:
    """Ids as text, labels that look like something else as text, empty and broken texts whole."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(ROWS))
    (tmp_path / "corpus.csv").write_text(as_csv(ROWS), encoding="utf-8", newline="")
    rows = ", ".join("({id!r}, E{text!r}, {label!r}, {length!r})".format(**row) for row in ROWS)
    write_parquet(tmp_path / "corpus.parquet", "FROM (VALUES " + rows + ") AS t(id, text, label, length)")
    found = [read_corpus(tmp_path, spec(f"corpus.{ending}")) for ending in ("jsonl", "csv", "parquet")]
    alike = [replace(one, facts=replace(one.facts, sha256="")) for one in found]
    assert alike[0] == alike[1] == alike[2]
    assert found[0].ids == ("001", "1", "1.0")
    assert found[0].texts == ("été", "", "a\nb")
    assert found[0].references == ("NA", "null", "true")
    assert found[0].facts.labels == ("NA", "null", "true")
    assert found[0].facts.groups == {"length": {"long": 1, "short": 2}}
    for ending in ("jsonl", "csv", "parquet"):
        assert list(iter_inputs(tmp_path, spec(f"corpus.{ending}"))) == [("001", "été"), ("1", ""), ("1.0", "a\nb")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT.filter(bool), TEXT), min_size=1, max_size=6, unique_by=lambda one: one[0]))
def test_any_text_comes_back_as_it_was_from_jsonl_and_csv(tmp_path: Path, inputs: list[tuple[str, str]]) -> None:
    """Quotes, delimiters, line ends, any character: the reader gives what was written."""
    rows = [{"id": one, "text": text} for one, text in inputs]
    (tmp_path / "a.jsonl").write_bytes(jsonl(rows))
    (tmp_path / "a.csv").write_text(as_csv(rows), encoding="utf-8", newline="")
    for name in ("a.jsonl", "a.csv"):
        corpus = read_corpus(tmp_path, CorpusSpec(id="c", path=name))
        assert list(zip(corpus.ids, corpus.texts, strict=True)) == inputs
        assert list(iter_inputs(tmp_path, CorpusSpec(id="c", path=name))) == inputs


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(ROWS))
def test_the_fingerprint_is_that_of_the_file(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    """As the public `sha256sum` gives it, so that anybody can check it; another order, another fingerprint."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(ROWS))
    (tmp_path / "b.jsonl").write_bytes(jsonl(rows))
    first, second = (read_corpus(tmp_path, spec(f"{name}.jsonl")).facts.sha256 for name in "ab")
    assert second == hashlib.sha256((tmp_path / "b.jsonl").read_bytes()).hexdigest()
    assert (first == second) is (rows == ROWS)


@pytest.mark.parametrize("column", ["text", "label", "length"])
def test_the_fingerprint_covers_text_reference_and_groups(tmp_path: Path, column: str) -> None:
    """Each of them changed changes it."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(ROWS))
    (tmp_path / "b.jsonl").write_bytes(jsonl([{**ROWS[0], column: "other"}, *ROWS[1:]]))
    assert read_corpus(tmp_path, spec("a.jsonl")).facts.sha256 != read_corpus(tmp_path, spec("b.jsonl")).facts.sha256


# --- P1: marks, delimiters, encodings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_declared_encoding_and_delimiter_are_read(tmp_path: Path, encoding: str, delimiter: str) -> None:
    """With byte-order marks and Windows line ends."""
    (tmp_path / "corpus.csv").write_text(as_csv(ROWS, delimiter), encoding=encoding, newline="")
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    corpus = read_corpus(tmp_path, spec("corpus.csv", encoding=declared, delimiter=delimiter))
    assert corpus.texts == ("été", "", "a\nb")


@pytest.mark.parametrize(
    ("encoding", "slug", "place"),
    [("utf-16", "corpus-other-encoding", None), ("cp1252", "corpus-not-encoding", "line 3")],
)
def test_an_undeclared_encoding_is_an_error_that_says_so(
    tmp_path: Path, encoding: str, slug: str, place: str | None
) -> None:
    """UTF-16 by its mark; another one by the first line that is no UTF-8."""
    rows = [ROWS[1], ROWS[0]]
    (tmp_path / "corpus.csv").write_text(as_csv(rows), encoding=encoding)
    assert told(faults(tmp_path, spec("corpus.csv"))) == [(slug, place)]


def test_an_encoding_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """Also one that Python knows and that is none of text."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(ROWS))
    for name in ("utf-9", "hex"):
        found = faults(tmp_path, spec(encoding=name))
        assert [(one.slug, one.values["found"]) for one in found] == [("corpus-unknown-encoding", name)]


def test_an_undeclared_delimiter_is_named(tmp_path: Path) -> None:
    """`;` with decimal commas, read as if cells stood between commas, would be one column."""
    (tmp_path / "corpus.csv").write_text("id;text;label;length\n1;2,5;a;b\n")
    found = faults(tmp_path, spec("corpus.csv"))
    assert told(found) == [("corpus-other-delimiter", "line 1")]
    assert found[0].values["found"] == ";"
    (tmp_path / "corpus.csv").write_text(as_csv(ROWS))
    assert told(faults(tmp_path, spec("corpus.csv", delimiter=";;"))) == [("corpus-bad-delimiter", None)]


# --- P2, P5: ids ------------------------------------------------------------------------------------------------------


def test_duplicate_ids_are_listed_with_both_lines(tmp_path: Path) -> None:
    """Every repetition, and where it was first."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl([ROWS[0], ROWS[1], ROWS[0], ROWS[0]]))
    found = faults(tmp_path, spec())
    assert told(found) == [("corpus-duplicate-id", "line 3"), ("corpus-duplicate-id", "line 4")]
    assert {one.values["first"] for one in found} == {"1"}


def test_ids_in_two_normal_forms_are_two_ids(tmp_path: Path) -> None:
    """Compared exactly as text, spaces included."""
    ids = ["é", "e\u0301", "é "]
    (tmp_path / "a.jsonl").write_bytes(jsonl([{"id": one, "text": ""} for one in ids]))
    assert read_corpus(tmp_path, CorpusSpec(id="c", path="a.jsonl")).ids == tuple(ids)


@pytest.mark.parametrize(
    ("row", "slug"),
    [
        ({"text": "a"}, "corpus-cell-missing"),
        ({"id": None, "text": "a"}, "corpus-cell-missing"),
        ({"id": "a"}, "corpus-cell-missing"),
        ({"id": "", "text": "a"}, "corpus-id-empty"),
        ({"id": 1, "text": "a"}, "corpus-cell-not-text"),
        ({"id": "a", "text": ["a"]}, "corpus-cell-not-text"),
        ({"id": "a", "text": "b", "label": True}, "corpus-cell-not-text"),
        (["id", "text"], "corpus-not-object"),
    ],
)
def test_a_line_without_a_text_id_and_a_text_is_named(tmp_path: Path, row: object, slug: str) -> None:
    """A number is no id: 001 and 1 would be one."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl([ROWS[0]]) + json.dumps(row).encode() + b"\n")
    assert told(faults(tmp_path, spec())) == [(slug, "line 2")]


def test_half_a_character_is_named(tmp_path: Path) -> None:
    """JSON can write it, no file can hold it."""
    (tmp_path / "corpus.jsonl").write_bytes(b'{"id": "a", "text": "\\ud83d", "label": "x", "length": "y"}\n')
    assert told(faults(tmp_path, spec())) == [("corpus-half-character", "line 1")]


# --- P3: labels -------------------------------------------------------------------------------------------------------


def test_a_reference_outside_the_declared_labels_names_the_nearest_one(tmp_path: Path) -> None:
    """Line, id, label, and what was probably meant."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(ROWS))
    found = faults(tmp_path, spec(labels=("NA", "nul", "true")))
    assert told(found) == [("corpus-unknown-label", "line 2")]
    assert dict(found[0].values) == {"id": "1", "label": "null", "nearest": "nul"}


def test_declared_labels_that_no_input_has_are_counted_as_none(tmp_path: Path) -> None:
    """The label set is the declared one, in its order; an input without a reference is in no count."""
    rows = [ROWS[0], {**ROWS[1], "label": None}, {**ROWS[2], "label": ""}]
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(rows))
    corpus = read_corpus(tmp_path, spec(labels=("other", "NA")))
    assert corpus.references == ("NA", None, None)
    assert dict(corpus.facts.label_counts) == {"other": 0, "NA": 1}


# --- P4, P6: lines and rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [b'{"id": "2", "te', b'{"id": "2", "text": "\xc3'])
def test_a_last_line_that_is_cut_off_is_an_error(tmp_path: Path, last: bytes) -> None:
    """Never skipped; within a character too."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl([ROWS[0]]) + last)
    assert told(faults(tmp_path, spec())) == [("corpus-incomplete-line", "line 2")]


@pytest.mark.parametrize("line", ["{", "id,text", "[" * 100_000, '{"id": ' + "1" * 5_000 + "}"])
def test_a_line_that_is_no_json_is_named(tmp_path: Path, line: str) -> None:
    """The reading goes on to tell the next ones too."""
    (tmp_path / "corpus.jsonl").write_bytes(f"{line}\n".encode() + jsonl([ROWS[0]]) + b"{]\n")
    assert told(faults(tmp_path, spec())) == [("corpus-bad-json", "line 1"), ("corpus-bad-json", "line 3")]


def test_an_unclosed_quote_names_the_line_it_opens_on(tmp_path: Path) -> None:
    """And the line at which the file ended."""
    (tmp_path / "corpus.csv").write_text('id,text,label,length\n1,a,b,c\n2,"b,b,c\n3,c,b,c\n')
    found = faults(tmp_path, spec("corpus.csv"))
    assert told(found) == [("corpus-open-quote", "line 3")]
    assert found[0].values["last"] == "4"


def test_a_row_of_another_width_is_named(tmp_path: Path) -> None:
    """A comma in a text that is not quoted; blank lines are no rows, and lines count as an editor counts them."""
    (tmp_path / "corpus.csv").write_text('id,text,label,length\n\n1,"a\nb",b,c\n2,x,y,b,c\n')
    found = faults(tmp_path, spec("corpus.csv"))
    assert told(found) == [("corpus-row-width", "line 5")]
    assert dict(found[0].values) == {"found": 5, "wanted": 4}


def test_missing_and_repeated_columns_are_named_together(tmp_path: Path) -> None:
    """With the columns that are there."""
    (tmp_path / "corpus.csv").write_text("ident,text,text\n1,a,b\n")
    found = faults(tmp_path, CorpusSpec(id="c", path="corpus.csv"))
    assert [(one.slug, one.values["column"]) for one in found] == [
        ("corpus-no-column", "id"),
        ("corpus-column-twice", "text"),
    ]


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.csv"])
def test_a_declared_column_that_no_line_has_is_named(tmp_path: Path, name: str) -> None:
    """A misspelt reference column would leave a corpus without references."""
    text = as_csv(ROWS) if name.endswith("csv") else jsonl(ROWS).decode()
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    found = faults(tmp_path, spec(name, reference_column="lable"))
    assert [(one.slug, one.values["column"]) for one in found] == [("corpus-column-absent", "lable")]


# --- P7: sizes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.csv"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_inputs_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """Zero bytes, blank lines, a byte-order mark alone."""
    (tmp_path / name).write_bytes(content)
    assert told(faults(tmp_path, CorpusSpec(id="c", path=name))) == [("corpus-empty", None)]


def test_a_header_alone_is_no_corpus(tmp_path: Path) -> None:
    """Columns without rows."""
    (tmp_path / "corpus.csv").write_text("id,text,label,length\n")
    assert told(faults(tmp_path, spec("corpus.csv"))) == [("corpus-empty", None)]


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.csv"])
def test_one_text_of_a_million_characters_is_read(tmp_path: Path, name: str) -> None:
    """Longer than the csv module's own limit."""
    rows = [{"id": "1", "text": "é" * 1_000_000}]
    content = jsonl(rows) if name.endswith("jsonl") else as_csv(rows).encode()
    (tmp_path / name).write_bytes(content)
    assert len(read_corpus(tmp_path, CorpusSpec(id="c", path=name)).texts[0]) == 1_000_000


def test_a_file_full_of_faults_is_not_listed_to_its_end(tmp_path: Path) -> None:
    """Twenty, and that there may be more."""
    (tmp_path / "corpus.jsonl").write_bytes(b"{\n" * 1_000)
    found = faults(tmp_path, spec())
    assert [one.slug for one in found] == ["corpus-bad-json"] * 20 + ["corpus-more-faults"]


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_missing_corpus_is_a_fault_that_names_it(tmp_path: Path, name: str) -> None:
    """As the manifest names it."""
    found = faults(tmp_path, spec(name))
    assert [(one.slug, one.file) for one in found] == [("file-missing", name)]
    with pytest.raises(InvalidInputError):
        list(iter_inputs(tmp_path, spec(name)))


@pytest.mark.parametrize("name", ["../corpus.jsonl", "/etc/passwd"])
def test_a_corpus_outside_the_campaign_is_refused(tmp_path: Path, name: str) -> None:
    """A manifest that came by mail cannot make the tool read elsewhere."""
    assert [one.slug for one in faults(tmp_path, spec(name))] == ["path-leaves-campaign"]


def test_the_format_is_told_by_the_name_or_declared(tmp_path: Path) -> None:
    """An ending that tells nothing needs the key."""
    (tmp_path / "corpus.txt").write_bytes(jsonl(ROWS))
    assert [one.slug for one in faults(tmp_path, spec("corpus.txt"))] == ["corpus-unknown-format"]
    assert read_corpus(tmp_path, spec("corpus.txt", format="jsonl")).facts.size == 3


def test_a_parquet_corpus_in_a_folder_with_the_marks_of_a_pattern(tmp_path: Path) -> None:
    """A folder may be called `a[1] *`: the path is a path, and not a pattern over other files."""
    folder = tmp_path / "a[1] *"
    folder.mkdir()
    write_parquet(tmp_path / "corpus.parquet", "FROM (VALUES ('1', 'one')) AS t(id, text)")
    (tmp_path / "corpus.parquet").rename(folder / "corpus.parquet")
    assert read_corpus(folder, spec("corpus.parquet", reference_column=None, groups=())).ids == ("1",)


def test_parquet_that_is_damaged_or_holds_numbers_is_refused(tmp_path: Path) -> None:
    """A damaged file by name, a column of numbers by its type."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and then nothing")
    assert [one.slug for one in faults(tmp_path, CorpusSpec(id="c", path="a.parquet"))] == ["corpus-not-parquet"]
    write_parquet(tmp_path / "b.parquet", "SELECT 1 AS id, 'a' AS text")
    found = faults(tmp_path, CorpusSpec(id="c", path="b.parquet"))
    assert [(one.slug, one.values["column"]) for one in found] == [("corpus-column-not-text", "id")]


def test_parquet_is_read_from_a_folder_with_a_hostile_name(tmp_path: Path) -> None:
    """Characters that a pattern or SQL would read as more than a name; order as stored."""
    folder = tmp_path / "é #1 [x] * 'y'"
    folder.mkdir()
    write_parquet(tmp_path / "a.parquet", "SELECT i::VARCHAR AS id, 't' AS text FROM range(30000) AS t(i)")
    (tmp_path / "a.parquet").rename(folder / "a.parquet")
    corpus = read_corpus(folder, CorpusSpec(id="c", path="a.parquet"))
    assert corpus.ids == tuple(str(number) for number in range(30_000))


# --- tuning -----------------------------------------------------------------------------------------------------------


def test_a_tuning_set_that_shares_an_id_or_a_text_is_refused(tmp_path: Path) -> None:
    """Texts are compared in the composed form without outer spaces; both lines are named."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(ROWS))
    tuning = [
        {"id": "t1", "text": "other"},
        {"id": "1.0", "text": "new"},
        {"id": "t2", "text": " e\u0301te\u0301\n"},
    ]
    (tmp_path / "tuning.jsonl").write_bytes(jsonl(tuning))
    found = faults(tmp_path, spec(tuning="tuning.jsonl"))
    assert [(one.slug, one.file, one.place, one.values["other"]) for one in found] == [
        ("tuning-shares-id", "tuning.jsonl", "line 2", "3"),
        ("tuning-shares-text", "tuning.jsonl", "line 3", "1"),
    ]


def test_a_tuning_set_has_its_fingerprint_and_may_lack_references(tmp_path: Path) -> None:
    """In another format too; its order and content count."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(ROWS))
    (tmp_path / "tuning.csv").write_text("id,text\nt1,one\nt2,two\n")
    first = read_corpus(tmp_path, spec(tuning="tuning.csv")).facts.tuning_sha256
    (tmp_path / "tuning.csv").write_text("id,text\nt2,two\nt1,one\n")
    second = read_corpus(tmp_path, spec(tuning="tuning.csv")).facts.tuning_sha256
    assert first is not None
    assert second not in (None, first)


def test_a_missing_or_empty_tuning_set_is_a_fault(tmp_path: Path) -> None:
    """It was declared, so it must be there."""
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(ROWS))
    assert [(one.slug, one.file) for one in faults(tmp_path, spec(tuning="t.jsonl"))] == [("file-missing", "t.jsonl")]
    (tmp_path / "t.jsonl").write_bytes(b"")
    assert [(one.slug, one.file) for one in faults(tmp_path, spec(tuning="t.jsonl"))] == [("corpus-empty", "t.jsonl")]
