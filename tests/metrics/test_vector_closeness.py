"""Cosines of vectors: what they are of, and when there is none."""

from __future__ import annotations

import json
from decimal import Decimal
from math import cos, sin
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.metrics import metric
from lab.model.evidence import Aggregates, Distances
from lab.model.manifest import CorpusSpec
from lab.store.corpus import read_corpus
from lab.store.prediction_lines import cosine_distance, vector_of
from lab.store.predictions import examine

NAMES = ("mean_cosine", "least_cosine", "reference_cosine")
ANGLES = st.floats(0, 3.14)


@given(ANGLES, st.floats(0.01, 100), st.floats(0.01, 100))
def test_the_distance_is_of_the_angle_alone(angle: float, long: float, short: float) -> None:
    """1 - cosine of the angle between two vectors, whatever their lengths."""
    one, other = [long, 0.0, 0.0], [short * cos(angle), short * sin(angle), 0.0]
    found = cosine_distance(json.dumps(one), json.dumps(other))
    assert found is not None
    assert float(found) == pytest.approx(1 - cos(angle), abs=1e-9)
    assert 0 <= found <= 2


@pytest.mark.parametrize(
    "text", ["", "1", "[]", "[0,0]", "[1]", "[1,2,3]", '["1",2]', "[1,NaN]", "[1,true]", "[1,2", "[[1],2]", "[1e999,2]"]
)
def test_what_is_no_vector_of_that_size_has_no_distance(text: str) -> None:
    """Other text, no place, another size, length 0, something that is no number."""
    assert cosine_distance("[1,2]", text) is None
    assert cosine_distance(text, "[1,2]") is None


def test_each_metric_is_of_its_own_distances() -> None:
    """Mean and worst of the references, mean of the reference run; nothing is defined for numbers or other text."""
    some = Distances(4, 0, Decimal("0.4"), Decimal("0.3"), vectors=4)
    counted = Aggregates(distances=some, agreement_distances=Distances(2, 0, Decimal("0.02"), Decimal("0.01"), 2))
    found = [metric(name) for name in NAMES]
    assert [one and one.of(counted) for one in found] == [0.9, 0.7, 0.99]
    assert [one and one.inputs(counted) for one in found] == [4, 4, 2]
    numbers, mixed = Distances(4, 0, Decimal("0.4"), Decimal("0.3")), Distances(3, 1, Decimal(0), Decimal(0), 3)
    for wrong in (numbers, mixed, Distances()):
        assert [one and one.of(Aggregates(distances=wrong, agreement_distances=wrong)) for one in found] == [None] * 3
    assert [one and one.of(Aggregates()) for one in found] == [None] * 3
    for name in ("mean_absolute_error", "max_absolute_error"):
        other = metric(name)
        assert other is not None
        assert other.of(counted) is None  # vectors have no absolute error


@pytest.mark.parametrize("large", [10**9, 0])
def test_predictions_are_held_against_reference_vectors(tmp_path: Path, large: int) -> None:
    """In memory and in the database: the same distances, per subgroup too, and what is no vector is counted by id."""
    vectors = ["[1,0]", "[0,1]", "[1,1]", "[3,4]"]
    rows = [{"id": str(n), "text": "t", "vector": vector, "half": "ab"[n % 2]} for n, vector in enumerate(vectors)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = CorpusSpec(id="c", path="c.jsonl", reference_column="vector", groups=("half",), answers="vector")
    corpus = read_corpus(tmp_path, spec)
    path = tmp_path / "p.jsonl"

    def judged(*answers: str) -> tuple[Distances, int, tuple[str, ...]]:
        lines = [json.dumps({"id": str(n), "prediction": answer}) + "\n" for n, answer in enumerate(answers)]
        path.write_text("".join(lines))
        found = examine(path, corpus, None, None, distances=True, vectors=True, large=large)
        assert found.aggregates(("half", "a")).distances.inputs + found.aggregates(("half", "b")).distances.inputs > 0
        return found.distances, found.bad_vector_count, found.first_bad_vectors

    distances, bad, _ = judged("[2,0]", "[1,0]", "[2,2]", "[30,40]")
    assert (distances.inputs, distances.vectors, distances.not_numbers, bad) == (4, 4, 0, 0)
    assert (distances.total, distances.largest) == (Decimal(1), Decimal(1))
    distances, bad, ids = judged("[2,0]", "[0,1]", "[1,1,0]", "yes")
    assert (distances.inputs, distances.not_numbers, bad, ids) == (2, 2, 2, ("2", "3"))


def test_a_vector_is_read_back_as_it_was_written() -> None:
    """Numbers in any of JSON's forms."""
    assert vector_of("[1, -2.5e-3, 0]") == (1.0, -0.0025, 0.0)
