"""Predictions are held against the expected ids, exactly; what is near, doubled, cut off or altered is said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.errors import InvalidInputError
from lab.model.evidence import Evidence
from lab.model.manifest import CorpusSpec
from lab.store.corpus import Corpus, read_corpus
from lab.store.files import sha256_file
from lab.store.predictions import examine, write_predictions


def corpus_of(folder: Path, ids: Sequence[str], references: Sequence[str | None] | None = None) -> Corpus:
    """A corpus of these ids; groups alternate `even` and `odd`."""
    rows = [
        {"id": one, "text": "t", "label": reference, "side": "odd" if place % 2 else "even"}
        for place, (one, reference) in enumerate(zip(ids, references or ["a"] * len(ids), strict=True))
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "corpus.jsonl").write_text(text, encoding="utf-8")
    return read_corpus(folder, CorpusSpec(id="c", path="corpus.jsonl", reference_column="label", groups=("side",)))


def examined(
    folder: Path,
    corpus: Corpus,
    lines: str | bytes | Sequence[Mapping[str, object]],
    labels: Collection[str] | None = None,
) -> Evidence:
    """The evidence of predictions that are given as rows, text or bytes."""
    if not isinstance(lines, str | bytes):
        lines = "".join(json.dumps(row) + "\n" for row in lines)
    path = folder / "predictions.jsonl"
    path.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
    found = examine(path, corpus, labels, None)
    # Whatever a file holds, a large one is judged as a small one is.
    assert examine(path, corpus, labels, None, large=0) == found
    return found


def predictions(ids: Sequence[str], prediction: str = "a") -> list[dict[str, object]]:
    """One prediction for each id."""
    return [{"id": one, "prediction": prediction} for one in ids]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Every id once, its fingerprint, scores that are no number as null, half a character as JSON's escape."""
    corpus = corpus_of(tmp_path, ["é", "2"])
    rows = [
        {"id": "é", "prediction": "a", "scores": {"a": 0.5, "b": float("nan")}, "other": 1},
        {"id": "2", "prediction": "\ud83d"},
    ]
    path = tmp_path / "predictions.jsonl"
    recorded = write_predictions(path, iter(rows))
    assert recorded == sha256_file(path)
    assert path.read_text(encoding="utf-8").splitlines()[0] == (
        '{"id": "é", "prediction": "a", "scores": {"a": 0.5, "b": null}}'
    )
    evidence = examine(path, corpus, None, recorded)
    assert (evidence.observed, evidence.missing, evidence.altered) == (2, 0, False)
    assert evidence.bad_lines == ((2, "predictions-prediction-not-text"),)


def test_a_writer_that_fails_leaves_no_predictions(tmp_path: Path) -> None:
    """Whole or not at all."""

    def rows() -> object:
        yield {"id": "1", "prediction": "a"}
        raise RuntimeError("worker")

    with pytest.raises(RuntimeError):
        write_predictions(tmp_path / "predictions.jsonl", rows())  # type: ignore[arg-type]  # (a generator of rows)
    assert list(tmp_path.iterdir()) == []


def test_one_changed_prediction_is_found(tmp_path: Path) -> None:
    """The fingerprint recorded when the attempt ended tells."""
    corpus = corpus_of(tmp_path, ["1", "2"])
    path = tmp_path / "predictions.jsonl"
    recorded = write_predictions(path, predictions(["1", "2"]))
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"b"', 1))
    assert examine(path, corpus, None, recorded).altered is True
    assert examine(path, corpus, None, None).altered is None


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_counts_are_those_of_the_definition(tmp_path: Path, data: st.DataObject) -> None:
    """For any corpus and any predictions, in any order: counts as `Evidence` defines them, computed the plain way."""
    ids = data.draw(st.lists(st.sampled_from("abcdefg"), min_size=1, unique=True))
    references = data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=len(ids), max_size=len(ids)))
    rows = data.draw(
        st.lists(
            st.tuples(st.sampled_from("abcdefghi"), st.sampled_from(["x", "y", "z", 3, 2.5, True, None])), max_size=12
        )
    )
    if not any(references):
        references[0] = "x"
    corpus = corpus_of(tmp_path, ids, references)
    found = examined(tmp_path, corpus, [{"id": one, "prediction": value} for one, value in rows], {"x", "y"})
    seen = Counter(one for one, _ in rows)
    read = [None if value is None or value is True else str(value) for _, value in rows]
    single = {one: value for (one, _), value in zip(rows, read, strict=True) if seen[one] == 1 and value is not None}
    pairs = {
        one: (reference, single[one])
        for one, reference in zip(ids, references, strict=True)
        if reference and one in single
    }
    assert found.expected == len(ids)
    assert found.observed == len(rows)
    assert found.duplicates == sum(count - 1 for count in seen.values())
    assert found.missing == len(set(ids) - set(seen))
    assert found.unexpected == len(set(seen) - set(ids))
    assert found.bad_line_count == read.count(None)
    assert found.bad_label_count == sum(value in ("z", "3", "2.5") for value in read)
    assert found.without_reference == references.count(None)
    assert dict(found.confusion) == dict(Counter(pairs.values()))
    for place, side in enumerate(("even", "odd")):
        members = ids[place::2]
        expected = dict(Counter(pairs[one] for one in members if one in pairs))
        assert dict(found.subgroups.get(("side", side), {})) == expected
        assert (("side", side) in found.subgroups) is bool(members)


def test_duplicates_are_listed_even_when_there_are_as_many_lines_as_expected(tmp_path: Path) -> None:
    """Three lines for three inputs, one of them twice: one is missing, and none is counted twice."""
    corpus = corpus_of(tmp_path, ["1", "2", "3"])
    found = examined(tmp_path, corpus, predictions(["1", "2", "2"]))
    assert (found.observed, found.duplicates, found.missing) == (3, 1, 1)
    assert (found.first_duplicates, found.first_missing) == (("2",), ("3",))
    assert dict(found.confusion) == {("a", "a"): 1}


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        ("001", "1"),
        ("1", "1.0"),
        ("10", "0010"),
        ("é", "e\u0301"),
        ("id 1", "id 1 "),
        ("a", "\ufeffa"),
        ("Ticket", "TICKET"),
        ("a\u00a0b", "a b"),
        ("straße", "STRASSE"),
    ],
)
def test_ids_are_compared_exactly_and_near_ones_are_named(tmp_path: Path, expected: str, observed: str) -> None:
    """The likely cause: a spreadsheet, a normal form, a space."""
    found = examined(tmp_path, corpus_of(tmp_path, [expected, "other"]), predictions([observed, "other"]))
    assert (found.missing, found.unexpected) == (1, 1)
    assert found.near_matches == ((observed, expected),)


def test_an_id_that_is_missing_is_the_likelier_near_match(tmp_path: Path) -> None:
    """`1` is there already, so `01` was meant to be `001`."""
    found = examined(tmp_path, corpus_of(tmp_path, ["1", "001"]), predictions(["1", "01"]))
    assert found.near_matches == (("01", "001"),)


def test_ids_that_are_not_near_are_not_named_as_near(tmp_path: Path) -> None:
    """Another number is another id."""
    found = examined(tmp_path, corpus_of(tmp_path, ["1", "10", "0.1"]), predictions(["2", "100", "1.1"]))
    assert (found.unexpected, found.near_matches) == (3, ())


def test_only_the_first_examples_are_kept(tmp_path: Path) -> None:
    """Counts are whole, lists are short."""
    found = examined(
        tmp_path, corpus_of(tmp_path, [str(n) for n in range(50)]), predictions([f"0{n}" for n in range(50)])
    )
    assert (found.unexpected, found.missing) == (50, 50)
    assert (len(found.first_unexpected), len(found.first_missing), len(found.near_matches)) == (10, 10, 5)


@pytest.mark.parametrize(
    ("line", "slug", "observed"),
    [
        ('{"id": "2", "prediction"', "predictions-bad-json", 1),
        ("[" * 100_000, "predictions-bad-json", 1),
        ('["2", "a"]', "predictions-not-object", 1),
        ('{"prediction": "a"}', "predictions-no-id", 1),
        ('{"id": 2, "prediction": "a"}', "predictions-id-not-text", 1),
        ('{"id": "\\ud83d", "prediction": "a"}', "predictions-id-not-text", 1),
        ('{"id": "2"}', "predictions-no-prediction", 2),
        ('{"id": "2", "prediction": NaN}', "predictions-not-finite", 2),
        ('{"id": "2", "prediction": -Infinity}', "predictions-not-finite", 2),
        ('{"id": "2", "prediction": "b", "scores": {"b": NaN}}', "predictions-not-finite", 2),
        ('{"id": "2", "prediction": "b", "scores": [1, -Infinity]}', "predictions-not-finite", 2),
        ('{"id": "2", "id": "2", "prediction": "b"}', "predictions-key-twice", 2),
        ('{"\\u0069d": "7", "prediction": "b", "id": "2"}', "predictions-key-twice", 2),
        ('{"id": "2", "prediction": "a", "prediction": "b"}', "predictions-key-twice", 2),
        ('{"id": "2", "prediction": 1e999}', "predictions-prediction-not-text", 2),
        ('{"id": "2", "prediction": [3]}', "predictions-prediction-not-text", 2),
        ('{"id": "2", "prediction": true}', "predictions-prediction-not-text", 2),
        ('{"id": "2", "prediction": null}', "predictions-prediction-not-text", 2),
    ],
)
def test_a_line_that_is_no_prediction_is_told_with_its_number(
    tmp_path: Path, line: str, slug: str, observed: int
) -> None:
    """A line with an id counts as observed: ids are one control, the format another."""
    corpus = corpus_of(tmp_path, ["1", "2"])
    found = examined(tmp_path, corpus, f'{line}\n{{"id": "1", "prediction": "a"}}\n')
    assert found.bad_lines == ((1, slug),)
    assert (found.observed, found.bad_line_count) == (observed, 1)
    assert dict(found.confusion) == {("a", "a"): 1}


@pytest.mark.parametrize("last", [b'{"id": "2", "prediction": "a"', b'{"id": "2", "prediction": "\xc3'])
def test_a_last_line_that_is_cut_off_is_incomplete_and_never_skipped(tmp_path: Path, last: bytes) -> None:
    """Within a character too; a whole last line without its line end is whole."""
    corpus = corpus_of(tmp_path, ["1", "2"])
    found = examined(tmp_path, corpus, b'{"id": "1", "prediction": "a"}\n' + last)
    assert found.bad_lines == ((2, "predictions-incomplete-line"),)
    assert found.first_missing == ("2",)
    whole = examined(tmp_path, corpus, b'{"id": "1", "prediction": "a"}\n{"id": "2", "prediction": "a"}')
    assert (whole.missing, whole.bad_line_count) == (0, 0)


def test_another_encoding_is_told_line_by_line(tmp_path: Path) -> None:
    """cp1252 where UTF-8 is wanted."""
    found = examined(tmp_path, corpus_of(tmp_path, ["1"]), '{"id": "1", "prediction": "é"}\n'.encode("cp1252"))
    assert found.bad_lines == ((1, "predictions-not-utf8"),)


@pytest.mark.parametrize("label", ["NA", "null", "None", "true", "nan", "1", ""])
def test_a_label_that_looks_like_something_else_is_text(tmp_path: Path, label: str) -> None:
    """Compared as text with references and with the label set."""
    corpus = corpus_of(tmp_path, ["1", "2"], [label or None, "a"])
    found = examined(tmp_path, corpus, predictions(["1", "2"], label), {label})
    assert (found.bad_line_count, found.bad_label_count) == (0, 0)
    assert (label, label) in found.confusion or not label


@pytest.mark.parametrize("written", ["3", "-0", "2.50", "1e-3", "1E5", "123456789012345678", "0.1234567890123456789"])
@pytest.mark.parametrize("more", ["", ', "scores": {"a": 0.5}'])
def test_a_number_is_the_text_that_it_is_written_as(tmp_path: Path, written: str, more: str) -> None:
    """No digit is lost or added on the way through a float, and its distance is counted."""
    corpus = corpus_of(tmp_path, ["1", "2"], [written, "3.5"])
    lines = f'{{"id": "1", "prediction": {written}{more}}}\n{{"id": "2", "prediction": "3"{more}}}\n'
    found = examined(tmp_path, corpus, lines, {written, "3"})
    assert (found.bad_line_count, found.bad_label_count) == (0, 0)
    assert dict(found.confusion) == {(written, written): 1, ("3.5", "3"): 1}
    path = tmp_path / "predictions.jsonl"
    for large in (0, path.stat().st_size + 1):
        distances = examine(path, corpus, None, None, distances=True, large=large).distances
        assert (distances.inputs, distances.not_numbers, distances.total) == (2, 0, Decimal("0.5"))


def test_a_whole_number_of_any_length_is_text(tmp_path: Path) -> None:
    """One that no float can hold too: as a label it is compared digit by digit."""
    written = "9" * 400
    found = examined(tmp_path, corpus_of(tmp_path, ["1"], [written]), f'{{"id": "1", "prediction": {written}}}\n')
    assert dict(found.confusion) == {(written, written): 1}


def test_predictions_outside_the_label_set_are_counted_and_kept(tmp_path: Path) -> None:
    """Wrong predictions stay; without a label set any text is allowed."""
    corpus = corpus_of(tmp_path, ["1", "2"])
    found = examined(tmp_path, corpus, predictions(["1", "2"], "b"), {"a"})
    assert (found.bad_label_count, found.bad_labels) == (2, ("b",))
    assert dict(found.confusion) == {("a", "b"): 2}
    assert examined(tmp_path, corpus, predictions(["1", "2"], "b")).bad_label_count == 0


def test_a_byte_order_mark_windows_lines_and_blank_lines_are_read_past(tmp_path: Path) -> None:
    """They carry no prediction."""
    content = b'\xef\xbb\xbf{"id": "1", "prediction": "a"}\r\n\r\n{"id": "2", "prediction": "a"}\r\n'
    found = examined(tmp_path, corpus_of(tmp_path, ["1", "2"]), content)
    assert (found.observed, found.missing, found.bad_line_count) == (2, 0, 0)


def test_an_empty_file_misses_everything(tmp_path: Path) -> None:
    """Zero lines are no predictions, and no error of the reader."""
    found = examined(tmp_path, corpus_of(tmp_path, ["1", "2"]), b"")
    assert (found.observed, found.missing, dict(found.confusion)) == (0, 2, {})


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    """What cannot be read is no evidence."""
    with pytest.raises(InvalidInputError):
        examine(tmp_path / "none.jsonl", corpus_of(tmp_path, ["1"]), None, None)
