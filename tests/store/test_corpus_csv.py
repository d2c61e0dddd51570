"""A large csv in its table: what the strict reader would have read, or left to it."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lab.errors import InvalidInputError
from lab.model.manifest import CorpusSpec
from lab.store.corpus import Corpus, StoredCorpus, open_corpus, read_corpus
from lab.store.corpus_csv import Bytes, csv_source
from lab.store.corpus_table import Counted, Declared, load_inputs

IN_FOLDER = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SPEC = CorpusSpec(id="c", path="corpus.csv", reference_column="label", groups=("side",))
HEADER = "id,text,label,side"
Row = tuple[int, int, str, str | None, str | None]


def by_memory(folder: Path, spec: CorpusSpec) -> tuple[Corpus | None, list[str]]:
    """The corpus of the strict reader, or its faults, sorted."""
    try:
        return read_corpus(folder, spec), []
    except InvalidInputError as refused:
        return None, sorted(map(repr, refused.faults))


def by_table(folder: Path, spec: CorpusSpec) -> tuple[StoredCorpus | None, list[str]]:
    """The corpus of the table, whatever its size, or its faults, sorted."""
    try:
        found = open_corpus(folder, spec, least=0)
    except InvalidInputError as refused:
        return None, sorted(map(repr, refused.faults))
    assert isinstance(found, StoredCorpus)
    return found, []


def rows_of(found: StoredCorpus | Counted) -> list[Row]:
    """The inputs of a table in their order."""
    with found.table.connected() as database:
        query = "SELECT place, line, id, reference, g0 FROM inputs ORDER BY place"
        rows: list[Row] = database.execute(query).fetchall()
    return rows


def in_one_go(folder: Path, delimiter: str = ",") -> Counted | None:
    """The inputs as the database alone reads them; None where it leaves them to the strict reader."""
    return load_inputs(
        Declared(folder / SPEC.path, "csv", "id", "text", "label", ("side",), (), delimiter), [("other", "another")]
    )


def written(folder: Path, text: str) -> Path:
    """A corpus of these very characters."""
    path = folder / SPEC.path
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


CELLS = st.text(st.sampled_from("ab\",; \n\r\té#\\'\u2028\x0b\x85"), max_size=4)


@IN_FOLDER
@given(
    st.lists(st.tuples(st.sampled_from(["1", "01", "2", "é", "e\u0301", "1 "]), CELLS, CELLS, CELLS), max_size=5),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([",", ";", "\t", "|", "'"]),
    st.booleans(),
)
def test_a_csv_that_a_program_wrote_is_the_same_in_a_table_and_in_memory(  # noqa: PLR0917  (what hypothesis draws)
    tmp_path: Path,
    rows: list[tuple[str, str, str, str]],
    quoting: int,
    end: str,
    delimiter: str,
    mark: bool,  # noqa: FBT001  (a value under test)
) -> None:
    """Facts, inputs, places and lines, or the faults: quotes, line ends in cells, marks, any delimiter."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator=end, delimiter=delimiter)  # type: ignore[arg-type]  (a constant of csv)
    writer.writerows([HEADER.split(","), *rows])
    written(tmp_path, "\ufeff" * mark + text.getvalue())
    spec = SPEC.model_copy(update={"delimiter": delimiter})
    wanted, faults = by_memory(tmp_path, spec)
    found, found_faults = by_table(tmp_path, spec)
    assert found_faults == faults
    if wanted is not None and found is not None:
        assert found.facts == wanted.facts
        same = [(place, one) for place, _, one, *_ in rows_of(found)]
        assert same == list(enumerate(wanted.ids))
        assert [reference for *_, reference, _ in rows_of(found)] == list(wanted.references)
        assert [group for *_, group in rows_of(found)] == list(wanted.groups["side"])


PIECES = st.sampled_from(
    ['"', '""', ",", "a", "b", " ", "\n", "\r\n", "\r", "\n1,", "\n2,", '",', ',"', '\n3,"', ";", "é"]
)


@settings(IN_FOLDER, max_examples=200)
@given(st.lists(PIECES, max_size=14).map("".join), st.sampled_from(["\n", "\r\n"]))
@example('1,a""b\n', "\n")
@example('1, "a"\n', "\n")
@example('1,"a" \n', "\n")
@example('1,"a\n', "\n")
@example('1,a"b\n"c,d"\n', "\n")
# Two errors whose bytes make up for each other.
@example("1,x,\n2,", "\r\n")
@example('",#" "\nbx,y\nx,y\n\u2028#\\",', "\r\n")
def test_a_table_never_takes_what_the_strict_reader_refuses(tmp_path: Path, body: str, end: str) -> None:
    """Any quotes, delimiters and line ends: what the database alone gives is what the strict reader gives."""
    path = written(tmp_path, "id,text" + end + "0,t" + end + body)
    source = csv_source(path, ("id", "text"), ",")
    if source is None:
        return
    query = f"SELECT {', '.join(source.cells)}, {source.also} FROM {source.rows}"  # noqa: S608  (of the product itself)
    try:
        with duckdb.connect() as database:
            found = database.execute(query, [source.parameter]).fetchall()
    except duckdb.InvalidInputException:
        return
    size, marks, feeds, returns = (sum(one[place] for one in found) for place in range(2, 6))
    if source.whole(len(found), Bytes(size, marks, feeds, returns)):
        with path.open(encoding="utf-8", newline="") as file:
            wanted = [tuple(one) for one in csv.reader(file, strict=True) if one]
        assert [one[:2] for one in found] == wanted[1:]


PLAIN = {
    "with a mark": "\ufeff" + HEADER + "\n1,été,x,s\n",
    "with Windows line ends": HEADER + "\r\n1,a,x,s\r\n2,b,,\r\n",
    "with quotes and line ends in a cell": HEADER + '\r\n1,"a, ""b""\nc\r\nd",x,s\r\n2,"",x,s\r\n',
    "with other columns": '"n","id","side","text","label"\n7,1,s,t,x\n',
    "with a last line that does not end": HEADER + "\n1,a,x,s",
    "of a million characters": HEADER + f"\n1,{'é' * 900_000},x,s\n",
}


@pytest.mark.parametrize("form", PLAIN)
def test_what_programs_usually_write_is_read_by_the_database(form: str, tmp_path: Path) -> None:
    """The strict reader would be right too, and slow: nothing of this is left to it; each row has its line."""
    written(tmp_path, PLAIN[form])
    found = in_one_go(tmp_path)
    assert found is not None
    wanted = read_corpus(tmp_path, SPEC)
    assert [(one, reference) for _, _, one, reference, _ in rows_of(found)] == [
        *zip(wanted.ids, wanted.references, strict=True)
    ]
    if "in a cell" in form:
        assert [line for _, line, *_ in rows_of(found)] == [2, 5]


DOUBTFUL = {
    "a quote that never closes": HEADER + '\n1,"a,x,s\n2,b,x,s\n',
    "text after a quote": HEADER + '\n1,"a"b,x,s\n',
    "a space after a quote": HEADER + '\n1,"a" ,x,s\n',
    "a space before a quote": HEADER + '\n1, "a",x,s\n',
    "a blank line": HEADER + "\n1,a,x,s\n\n2,b,x,s\n",
    "a blank first line": "\n" + HEADER + "\n1,a,x,s\n",
    "line ends of two kinds": HEADER + "\n1,a,x,s\r\n2,b,x,s\n",
    "a lone carriage return": HEADER + "\n1,a\rb,x,s\n",
    "a row that is cut off": HEADER + "\n1,a,x,s\n2,b",
    "a row too wide": HEADER + "\n1,a,x,s,2,5\n",
    "another delimiter, and decimal commas": "id;text;label;side\n1;2,5;x;s\n",
    "an id twice": HEADER + "\n1,a,x,s\n1,b,x,s\n",
    "an empty id": HEADER + "\n,a,x,s\n",
    "a column twice": "id,text,label,side,text\n1,a,x,s,b\n",
    "no rows": HEADER + "\n",
    "nothing": "",
    "a null byte": HEADER + "\n1,a\0b,x,s\n",
    "half a character": HEADER + "\n1,\udcff,x,s\n",
    "a text of the tuning set": HEADER + "\n1, another ,x,s\n",
}


@pytest.mark.parametrize("form", DOUBTFUL)
def test_what_may_be_wrong_is_left_to_the_strict_reader(form: str, tmp_path: Path) -> None:
    """It says what is wrong, and where, or that nothing is; in any case the answer is its own."""
    written(tmp_path, DOUBTFUL[form])
    assert in_one_go(tmp_path) is None
    wanted, faults = by_memory(tmp_path, SPEC)
    found, found_faults = by_table(tmp_path, SPEC)
    assert found_faults == faults
    assert (found.facts if found else None) == (wanted.facts if wanted else None)


def test_a_large_csv_keeps_its_order_and_its_texts_with_line_ends(tmp_path: Path) -> None:
    """More than the database reads at once, with quotes and rows within texts that look like rows."""
    chance = random.Random(7)  # noqa: S311  (rows of a test, no secret)
    trap = '"x\n5,t,l,s\n6,t,l,s\ny"'
    texts = [trap if chance.random() < 0.2 else "a" * chance.randrange(200) for _ in range(60_000)]
    written(tmp_path, HEADER + "\n" + "".join(f"i{n:06},{one},x,s\n" for n, one in enumerate(texts)))
    for quoted in (True, False):
        if not quoted:
            written(tmp_path, HEADER + "\n" + "".join(f"i{n:06},{len(one)},x,s\n" for n, one in enumerate(texts)))
        found = in_one_go(tmp_path)
        assert found is not None
        assert [(place, one) for place, _, one, *_ in rows_of(found)] == [(n, f"i{n:06}") for n in range(60_000)]
        with found.table.connected() as database:
            disordered = "SELECT count(*) FROM (SELECT rowid AS r, place FROM inputs) WHERE r <> place"
            assert database.execute(disordered).fetchone() == (0,)


@pytest.mark.parametrize("encoding", ["utf-9", "hex", "cp1252", "utf-16", "a\0b"])
def test_another_encoding_or_none_of_that_name_is_the_strict_readers(encoding: str, tmp_path: Path) -> None:
    """A large file too: read in it, or refused by name."""
    spec = SPEC.model_copy(update={"encoding": encoding})
    text = HEADER + "\n1,été,x,s\n"
    known = encoding in ("cp1252", "utf-16")
    (tmp_path / SPEC.path).write_bytes(text.encode(encoding if known else "utf-8"))
    wanted, faults = by_memory(tmp_path, spec)
    found, found_faults = by_table(tmp_path, spec)
    assert (found_faults, not faults) == (faults, known)
    assert (found.facts if found else None) == (wanted.facts if wanted else None)


@pytest.mark.parametrize(
    ("tuning", "slugs"),
    [
        ("id,text\nz,other\n", []),
        ("id,text\nz,\u00e9t\u00e9 \n", ["tuning-shares-text"]),
        ("id,text\n1,other\n", ["tuning-shares-id"]),
        ("id,text\n", ["corpus-empty"]),
        ("id\nz\n", ["corpus-no-column"]),
        ('id,text\nz,other\ny,"open\n', ["corpus-open-quote"]),
        (None, ["file-missing"]),
    ],
)
def test_a_tuning_set_passes_by_a_large_corpus_or_is_named(
    tuning: str | None, slugs: list[str], tmp_path: Path
) -> None:
    """Not held in memory; what is wrong with it is what a small corpus would say."""
    written(tmp_path, HEADER + "\n1,e\u0301te\u0301,x,s\n2,b,y,l\n")
    if tuning is not None:
        (tmp_path / "tuning.csv").write_text(tuning, encoding="utf-8", newline="")
    spec = SPEC.model_copy(update={"tuning": "tuning.csv"})
    wanted, faults = by_memory(tmp_path, spec)
    found, found_faults = by_table(tmp_path, spec)
    assert found_faults == faults
    assert [slug for slug in slugs if slug in "".join(faults)] == slugs
    assert len(faults) == len(slugs)
    assert (found.facts if found else None) == (wanted.facts if wanted else None)
