"""A large predictions file held against a stored corpus, in DuckDB: the counts of `Tally` without its memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import localcontext
from typing import Any

from lab.model.campaign import CorpusFacts
from lab.model.evidence import Distances, Evidence
from lab.store.near_ids import near_matches
from lab.store.prediction_lines import EXACT
from lab.store.predictions_table import Loaded, fetched
from lab.store.stored_inputs import StoredInputs
from lab.store.tally import FIRST, FIRST_NEAR, Pair, Vectors, distances_of

# A number that the database reads as `number_of` does, without rounding.
_PLAIN_NUMBER = "[+-]?[0-9]{1,18}([.][0-9]{1,12})?"


@dataclass(frozen=True)
class Question:
    """What is asked of a predictions view: against which inputs, with which labels or form, for which aggregates."""

    stored: StoredInputs
    facts: CorpusFacts
    labels: Collection[str] | None
    distances: bool
    vectors: bool = False
    inputs: str = "inputs"  # the table (place, id, reference, g0 ...) of what is expected


def evidence(database: Any, name: str, loaded: Loaded, asked: Question) -> Evidence:  # noqa: ANN401  (a duckdb connection)
    """The same `Evidence` as `Tally` gives, of the view `name`."""
    counted = _in_order(database, loaded, asked) or _joined(database, f"FULL JOIN {name} AS seen", asked)
    expected = sum(n for wanted, *_, n in counted if wanted)
    missing = sum(n for wanted, found, *_, n in counted if wanted and not found)
    matched = sum(n for wanted, found, *_, n in counted if wanted and found)
    beside = sum(n for wanted, _found, *_, n in counted if not wanted)
    repeated = expected - asked.facts.size  # an input with several predictions stands there several times
    base = Evidence(
        expected=asked.facts.size,
        observed=matched + beside,
        duplicates=0,
        missing=missing,
        unexpected=0,
        bad_lines=tuple(loaded.bad_lines),
        bad_line_count=loaded.bad_line_count,
    )
    return _Details(database, name, asked, counted, bool(repeated or beside)).complete(base)


def _joined(database: Any, joined: str, asked: Question, also: str = "") -> list[tuple[Any, ...]]:  # noqa: ANN401  (a duckdb connection)
    """Wanted, found, reference, prediction, subgroups, count: of the inputs joined to the table or view `seen`."""
    pair = "NULL, NULL" if asked.distances else "inputs.reference, seen.prediction"
    columns = "".join(f", inputs.{one}" for one in asked.stored.columns)
    query = f"""
        SELECT inputs.id IS NOT NULL, seen.id IS NOT NULL, {pair}{columns}, count(*){also}
        FROM {asked.inputs} AS inputs {joined} {"" if also else "ON inputs.id = seen.id"} GROUP BY ALL
    """  # noqa: S608  (names of this program)
    found: list[tuple[Any, ...]] = database.execute(query).fetchall()
    return found


def _in_order(database: Any, loaded: Loaded, asked: Question) -> list[tuple[Any, ...]] | None:  # noqa: ANN401  (a duckdb connection)
    """The same where the ids come in the order of the corpus, as most do: side by side, without a join; else None."""
    if loaded.rows is None or asked.inputs != "inputs":
        return None
    query = f"SELECT i.id = s.id FROM inputs AS i POSITIONAL JOIN {loaded.rows} AS s LIMIT 1"  # noqa: S608  (names of this program)
    first = database.execute(query).fetchone()
    if not first or not first[0]:
        return None
    same = ", bool_and(inputs.id IS NOT DISTINCT FROM seen.id)"
    counted = _joined(database, f"POSITIONAL JOIN {loaded.rows} AS seen", asked, same)
    return [row[:-1] for row in counted] if all(row[-1] for row in counted) else None


@dataclass(frozen=True)
class _Details:
    """What the first count leaves open: lists of ids, labels outside the set, pairs where ids repeat."""

    database: Any
    name: str
    asked: Question
    counted: Sequence[tuple[Any, ...]]
    irregular: bool

    def complete(self, base: Evidence) -> Evidence:
        found = base
        if self.irregular:
            found = replace(found, **self._repeated())
        if found.missing:
            found = replace(found, first_missing=tuple(self._ids(f"{self._missing()} LIMIT {FIRST}")))
        near = near_matches(found.first_unexpected[:FIRST_NEAR], (self._ids(q) for q in (self._missing(), self._all())))
        confusion, subgroups = self._confusions()
        return replace(
            found,
            near_matches=near,
            **self._bad_labels(),
            **self._bad_vectors(),
            confusion=confusion,
            subgroups=subgroups,
            without_reference=self.asked.facts.size - self._one(f"SELECT count(reference) FROM {self.asked.inputs}"),  # noqa: S608  (names of this program)
            **(self._distances() if self.asked.distances else {}),
        )

    def _one(self, query: str, *values: object) -> int:
        found: int = self.database.execute(query, list(values)).fetchone()[0]
        return found

    def _ids(self, query: str) -> Iterator[str]:
        return (one for (one, *_) in fetched(self.database, query))

    def _missing(self) -> str:
        return f"SELECT i.id FROM {self.asked.inputs} AS i ANTI JOIN {self.name} AS s ON i.id = s.id ORDER BY i.place"  # noqa: S608  (names of this program)

    def _all(self) -> str:
        return f"SELECT id FROM {self.asked.inputs} ORDER BY place"  # noqa: S608  (as above)

    def _repeated(self) -> dict[str, Any]:
        """Counts and first examples of repeated and unexpected ids: the first in the order of the file."""
        name, inputs = self.name, self.asked.inputs
        by_id = f"(SELECT id, count(*) AS n, min(line) AS first FROM {name} GROUP BY id)"  # noqa: S608  (as above)
        second = f"""
            WITH twice AS (SELECT id, first FROM {by_id} WHERE n > 1)
            SELECT id FROM {name} JOIN twice USING (id) WHERE line > first GROUP BY id ORDER BY min(line) LIMIT {FIRST}
        """  # noqa: S608  (as above)
        unexpected = f"{by_id} AS seen ANTI JOIN {inputs} AS inputs ON seen.id = inputs.id"
        return {
            "duplicates": self._one(f"SELECT coalesce(sum(n - 1), 0)::BIGINT FROM {by_id}"),  # noqa: S608  (as above)
            "first_duplicates": tuple(self._ids(second)),
            "unexpected": self._one(f"SELECT count(*) FROM {unexpected}"),  # noqa: S608  (as above)
            "first_unexpected": tuple(self._ids(f"SELECT seen.id FROM {unexpected} ORDER BY first LIMIT {FIRST}")),  # noqa: S608  (as above)
        }

    def _bad_labels(self) -> dict[str, Any]:
        labels = self.asked.labels
        if labels is None:
            return {}
        outside = f"{self.name} WHERE prediction IS NOT NULL AND NOT list_contains(?::VARCHAR[], prediction)"
        known = set(labels)
        if self.asked.distances:
            count = self._one(f"SELECT count(*) FROM {outside}", [*labels])  # noqa: S608  (as above)
        else:
            count = sum(row[-1] for row in self.counted if row[1] and row[3] is not None and row[3] not in known)
        if not count:
            return {}
        query = f"SELECT prediction FROM {outside} GROUP BY prediction ORDER BY min(line) LIMIT {FIRST}"  # noqa: S608  (as above)
        first = self.database.execute(query, [[*labels]]).fetchall()
        return {"bad_label_count": count, "bad_labels": tuple(one for (one,) in first)}

    def _bad_vectors(self) -> dict[str, Any]:
        if not self.asked.vectors:
            return {}
        found = Vectors()
        query = f"SELECT id, prediction FROM {self.name} WHERE prediction IS NOT NULL ORDER BY line"  # noqa: S608  (as above)
        for one, prediction in fetched(self.database, query):
            found.take(one, prediction)
        return found.found()

    def _pairs(self) -> str:
        """Inputs that have a reference and one prediction."""
        single = f"(SELECT id, min(prediction) AS prediction FROM {self.name} GROUP BY id HAVING count(*) = 1)"  # noqa: S608  (as above)
        seen = single if self.irregular else self.name
        return f"""
            {self.asked.inputs} AS inputs JOIN {seen} AS seen ON inputs.id = seen.id
            WHERE inputs.reference IS NOT NULL AND seen.prediction IS NOT NULL
        """

    def _confusions(self) -> tuple[dict[Pair, int], dict[Pair, dict[Pair, int]]]:
        empty = {
            (name, value): Counter[Pair]()
            for name in self.asked.stored.groups
            for value in self.asked.facts.groups[name]
        }
        counted: Iterable[tuple[Any, ...]] = ()
        if self.asked.distances:
            counted = ()
        elif self.irregular:
            columns = "".join(f", inputs.{one}" for one in self.asked.stored.columns)
            query = f"SELECT inputs.reference, seen.prediction{columns}, count(*) FROM {self._pairs()} GROUP BY ALL"  # noqa: S608  (as above)
            counted = self.database.execute(query).fetchall()
        else:
            counted = (row[2:] for row in self.counted if row[2] is not None and row[3] is not None)
        confusion: Counter[Pair] = Counter()
        for reference, prediction, *values, n in counted:
            confusion[reference, prediction] += n
            for name, value in zip(self.asked.stored.groups, values, strict=True):
                if value is not None:
                    empty[name, value][reference, prediction] += n
        return dict(confusion), {key: dict(found) for key, found in empty.items()}

    def _distances(self) -> dict[str, Any]:
        """Sums in the database where both texts are plain numbers; the other pairs are read one by one."""
        both = f"regexp_full_match(reference, '{_PLAIN_NUMBER}') AND regexp_full_match(prediction, '{_PLAIN_NUMBER}')"
        apart = "abs(reference::DECIMAL(32, 12) - prediction::DECIMAL(32, 12))"
        columns = "".join(f", {one}" for one in self.asked.stored.columns)
        pairs = f"(SELECT inputs.reference, seen.prediction{columns.replace(' g', ' inputs.g')} FROM {self._pairs()})"  # noqa: S608  (as above)
        sums = f"SELECT count(*), sum({apart}), max({apart}){columns} FROM {pairs} WHERE {both} GROUP BY ALL"  # noqa: S608  (as above)
        whole, within = Distances(), defaultdict[Pair, Distances](Distances)
        for key in ((name, value) for name in self.asked.stored.groups for value in self.asked.facts.groups[name]):
            within[key] = Distances()
        for count, total, largest, *values in self.database.execute(sums).fetchall():
            one = Distances(count, 0, total, largest)
            whole = added(whole, one)
            for key in self._keys(values):
                within[key] = added(within[key], one)
        for reference, prediction, *values in fetched(
            self.database,
            f"SELECT reference, prediction{columns} FROM {pairs} WHERE NOT ({both})",  # noqa: S608  (as above)
        ):
            whole = distances_of([((reference, prediction), 1)], whole)
            for key in self._keys(values):
                within[key] = distances_of([((reference, prediction), 1)], within[key])
        return {"distances": whole, "subgroup_distances": dict(within)}

    def _keys(self, values: Sequence[str | None]) -> list[Pair]:
        named = zip(self.asked.stored.groups, values, strict=True)
        return [(name, value) for name, value in named if value is not None]


def added(a: Distances, b: Distances) -> Distances:
    """The distances of two lots of pairs together."""
    largest = max((one.largest for one in (a, b) if one.largest is not None), default=None)
    with localcontext(prec=EXACT):
        total = a.total + b.total
    return Distances(a.inputs + b.inputs, a.not_numbers + b.not_numbers, total, largest, a.vectors + b.vectors)
