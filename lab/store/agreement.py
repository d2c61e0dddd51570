"""The predictions of two attempts, input by input: whether a change of card, precision or batch changed the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lab.model.evidence import Agreement, Evidence
from lab.store.corpus import LARGE, Corpus, StoredCorpus
from lab.store.prediction_lines import EXACT, Line, lines, number_of, vector_of
from lab.store.predictions import stored
from lab.store.tally import FIRST, Tally, distances_of


def compare(  # noqa: PLR0913  (what is compared, with what, and how)
    run: str, path: Path, reference: Path, corpus: Corpus | StoredCorpus, *, distance: bool, large: int = LARGE
) -> Agreement:
    """Hold one predictions file against that of the reference run, over the ids of the corpus.

    Args:
        run: id of the reference run's attempt.
        path: the predictions; every id once.
        reference: the predictions of the reference run; every id once.
        corpus: the inputs of both.
        distance: whether the largest distance of scores, or of predicted numbers or vectors, is wanted; read line by
            line.
        large: bytes of a file from which on it is compared in the database.

    Raises:
        InvalidInputError: a file is missing or unreadable.
    """
    small = isinstance(corpus, Corpus) and max(path.stat().st_size, reference.stat().st_size) < large
    found, differing = _small(path, reference, corpus) if small else _large(path, reference, corpus)
    vectors = next((vector_of(before) is not None for before, _ in found.confusion), False)
    kept, groups = (found.confusion, found.subgroups) if not vectors else ({}, {})  # each vector is a text of its own
    return Agreement(
        run=run,
        confusion=kept,
        subgroups=groups,
        distances=distances_of(found.confusion.items()) if vectors else None,
        subgroup_distances={
            key: distances_of(pairs.items()) for key, pairs in (found.subgroups.items() if vectors else ())
        },
        differing=sum(n for (before, now), n in found.confusion.items() if before != now),
        first_differing=differing,
        largest_distance=_largest_distance(path, reference) if distance else None,
    )


def _tallied(path: Path, corpus: Corpus) -> Tally:
    tally = Tally(corpus, None)
    for line in lines(path):
        tally.take(line)
    return tally


def _small(path: Path, reference: Path, corpus: Any) -> tuple[Evidence, tuple[str, ...]]:  # noqa: ANN401  (a `Corpus`)
    before = tuple(_tallied(reference, corpus).predicted())
    now = _tallied(path, replace(corpus, references=before))
    rows = zip(corpus.ids, before, now.predicted(), strict=True)
    differing = [one for one, old, new in rows if None not in (old, new) and old != new]
    return now.evidence(), tuple(differing[:FIRST])


def _large(path: Path, reference: Path, corpus: Corpus | StoredCorpus) -> tuple[Evidence, tuple[str, ...]]:
    from lab.store.judging_sql import Question, evidence
    from lab.store.predictions_table import load

    kept = stored(corpus)
    scratch = Path(kept.table.folder.name)
    with kept.table.connected() as database:
        load(database, reference, scratch, "before")
        loaded = load(database, path, scratch, "now")
        groups = "".join(f", inputs.{one}" for one in kept.table.columns)
        database.execute(
            "CREATE TEMP TABLE compared AS "  # noqa: S608  (names of this program)
            f"SELECT inputs.place, inputs.id, before.prediction AS reference{groups} "
            "FROM inputs LEFT JOIN before ON inputs.id = before.id"
        )
        found = evidence(database, "now", loaded, Question(kept.table, kept.facts, None, False, inputs="compared"))  # noqa: FBT003  (a field)
        differing = database.execute(
            "SELECT compared.id FROM compared JOIN now ON compared.id = now.id "  # noqa: S608  (as above)
            f"WHERE compared.reference <> now.prediction ORDER BY place LIMIT {FIRST}"
        ).fetchall()
    return found, tuple(one for (one,) in differing)


def _largest_distance(path: Path, reference: Path) -> Decimal | None:
    """Of the scores where both files hold them for every input, else of predictions that are all numbers; else None."""
    largest: Decimal | None = None
    with localcontext(prec=EXACT):
        for now, before in _side_by_side(path, reference):
            if now is None or before is None:
                return None
            apart = _apart(now, before)
            if apart is None:
                return None
            largest = apart if largest is None else max(largest, apart)
    return largest


def _side_by_side(path: Path, reference: Path) -> Iterator[tuple[Line | None, Line | None]]:
    """The lines of both files by id; as two streams while the ids come in one order, then with the rest held."""
    now, before = lines(path), lines(reference)
    for a, b in zip_longest(now, before):
        if a is None or b is None or a.id != b.id:
            rest = {one.id: one for one in (b, *before) if one is not None}
            for one in (a, *now):
                if one is not None:
                    yield one, rest.get(one.id)
            return
        yield a, b


def _apart(now: Line, before: Line) -> Decimal | None:
    if now.scores is None and before.scores is None:
        first, second = _places(now.prediction or ""), _places(before.prediction or "")
    else:
        first, second = _scores(now.scores), _scores(before.scores)
    if first is None or second is None or first.keys() != second.keys():
        return None
    return max((abs(value - second[key]) for key, value in first.items()), default=None)


def _places(prediction: str) -> dict[object, Decimal] | None:
    """A number as one place, a vector as its places; None of other text."""
    vector = vector_of(prediction)
    return _numbers([prediction] if vector is None else [repr(value) for value in vector])


def _scores(found: object) -> dict[object, Decimal] | None:
    if isinstance(found, Mapping):
        values = _numbers([_text(one) for one in found.values()])
        return None if values is None else dict(zip(found, values.values(), strict=True))
    return _numbers([_text(one) for one in found]) if isinstance(found, list) else None


def _text(score: object) -> str:
    return str(score) if isinstance(score, int | float) else ""


def _numbers(texts: Sequence[str]) -> dict[object, Decimal] | None:
    """Place -> number; None where a text is none, or there are none."""
    known: dict[object, Decimal] = {}
    for place, text in enumerate(texts):
        value = number_of(text)
        if value is None:
            return None
        known[place] = value
    return known or None
