"""Predictions of one attempt: written whole, and read line by line against the ids that were expected."""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.model.evidence import Evidence
from lab.store.corpus import Corpus
from lab.store.files import reading, replacing

_FIRST = 10  # how many examples an `Evidence` keeps of a kind
_FIRST_NEAR = 5  # unexpected ids for which a near match is looked for
_NUMBER = re.compile(r"0*([0-9]+)(\.0+)?")
_INVISIBLE = "\u200b\u2060\ufeff"  # zero-width characters that a copied id may carry at its ends


def write_predictions(path: Path, rows: Iterable[Mapping[str, object]]) -> str:
    """Write `{"id", "prediction", "scores"?}` as one JSON line a row, in their order, whole or not at all.

    A score that is not finite becomes null: JSON has no such number, and absent is absent.

    Returns:
        The sha256 of the file, 64 hex digits.

    Raises:
        OutsideFailureError: the disk refused; no file of that name was made or changed.
    """
    digest = hashlib.sha256()
    with replacing(path) as file:
        for row in rows:
            kept = {name: _finite(row[name]) for name in ("id", "prediction", "scores") if name in row}
            # Half a character cannot stand in UTF-8; its backslash escape is JSON's own way to write it.
            line = (json.dumps(kept, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
            digest.update(line)
            file.write(line)
    return digest.hexdigest()


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


def examine(path: Path, corpus: Corpus, labels: Collection[str] | None, recorded_sha256: str | None) -> Evidence:
    """Hold a predictions file against its corpus (the product's method, section 5, controls 2 to 4).

    The rows are not held: what is kept is one small number for each expected id. Ids are compared exactly as text.
    A line with an id counts as observed even when its prediction cannot be read: the ids are one control, the format
    another.

    Args:
        path: the predictions, one JSON object a line.
        corpus: what was to be predicted.
        labels: the allowed predictions; None: any text.
        recorded_sha256: the file's fingerprint when the attempt ended; None when none was recorded.

    Raises:
        InvalidInputError: the file is missing, a folder or unreadable. What is wrong within it is in the evidence.
    """
    tally = _Tally(corpus, None if labels is None else frozenset(labels))
    digest = hashlib.sha256()
    with reading(path), path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            digest.update(raw)
            tally.take(number, raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw)
    altered = None if recorded_sha256 is None else digest.hexdigest() != recorded_sha256
    return tally.evidence(altered=altered)


class _BadLineError(ValueError):
    """A line that is no prediction; its argument is the slug that says why."""


def _parsed(raw: bytes) -> dict[str, object]:
    """One line as an object with a text id; raises `_BadLineError`."""
    try:
        found = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise _BadLineError("predictions-not-utf8" if raw.endswith(b"\n") else "predictions-incomplete-line") from None
    except (ValueError, RecursionError):
        raise _BadLineError("predictions-bad-json" if raw.endswith(b"\n") else "predictions-incomplete-line") from None
    if not isinstance(found, dict):
        raise _BadLineError("predictions-not-object")
    if "id" not in found:
        raise _BadLineError("predictions-no-id")
    if not _is_text(found["id"]):
        raise _BadLineError("predictions-id-not-text")
    return found


def _is_text(value: object) -> bool:
    """Whether a value is text that a file can hold; half a character, which JSON can write, is none."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass
class _Tally:
    """Counts over the lines so far. `kinds` holds, per input, 0: none yet, 1: several, else 2 + place in `known`."""

    corpus: Corpus
    labels: frozenset[str] | None
    observed: int = 0
    duplicates: int = 0
    bad_line_count: int = 0
    bad_label_count: int = 0
    unexpected: dict[str, None] = field(default_factory=dict)
    first_duplicates: dict[str, None] = field(default_factory=dict)
    bad_lines: list[tuple[int, str]] = field(default_factory=list)
    bad_labels: dict[str, None] = field(default_factory=dict)
    known: dict[str | None, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = {one: place for place, one in enumerate(self.corpus.ids)}
        self.kinds = [0] * len(self.corpus.ids)

    def take(self, number: int, raw: bytes) -> None:
        """Count one line; an empty one holds nothing."""
        if not raw.strip():
            return
        try:
            found = _parsed(raw)
        except _BadLineError as error:
            self._bad_line(number, str(error))
            return
        prediction = self._prediction(number, found)
        self._count(str(found["id"]), prediction)

    def _bad_line(self, number: int, slug: str) -> None:
        self.bad_line_count += 1
        if len(self.bad_lines) < _FIRST:
            self.bad_lines.append((number, slug))

    def _prediction(self, number: int, found: Mapping[str, object]) -> str | None:
        if "prediction" not in found:
            self._bad_line(number, "predictions-no-prediction")
            return None
        prediction = found["prediction"]
        if not _is_text(prediction):
            self._bad_line(number, "predictions-prediction-not-text")
            return None
        text = str(prediction)
        if self.labels is not None and text not in self.labels:
            self.bad_label_count += 1
            if len(self.bad_labels) < _FIRST:
                self.bad_labels.setdefault(text)
        return text

    def _count(self, one: str, prediction: str | None) -> None:
        self.observed += 1
        place = self.places.get(one)
        seen = one in self.unexpected if place is None else bool(self.kinds[place])
        if seen:
            self.duplicates += 1
            if len(self.first_duplicates) < _FIRST:
                self.first_duplicates.setdefault(one)
        if place is None:
            self.unexpected.setdefault(one)
        else:
            self.kinds[place] = 1 if seen else 2 + self.known.setdefault(prediction, len(self.known))

    def evidence(self, *, altered: bool | None) -> Evidence:
        """The counts so far, as the model names them."""
        corpus, names = self.corpus, list(self.known)
        missing = [one for one, kind in zip(corpus.ids, self.kinds, strict=True) if kind == 0]
        predicted = [names[kind - 2] if kind > 1 else None for kind in self.kinds]
        pairs = [
            (reference, prediction) if reference is not None and prediction is not None else None
            for reference, prediction in zip(corpus.references, predicted, strict=True)
        ]
        subgroups: dict[tuple[str, str], Counter[tuple[str, str]]] = {
            (group, value): Counter() for group in corpus.groups for value in corpus.facts.groups[group]
        }
        for group, values in corpus.groups.items():
            for pair, value in zip(pairs, values, strict=True):
                if pair is not None and value is not None:
                    subgroups[group, value][pair] += 1
        return Evidence(
            expected=len(corpus.ids),
            observed=self.observed,
            duplicates=self.duplicates,
            missing=len(missing),
            unexpected=len(self.unexpected),
            first_duplicates=tuple(self.first_duplicates),
            first_missing=tuple(missing[:_FIRST]),
            first_unexpected=tuple(self.unexpected)[:_FIRST],
            near_matches=_near_matches(list(self.unexpected)[:_FIRST_NEAR], missing, corpus.ids),
            bad_lines=tuple(self.bad_lines),
            bad_line_count=self.bad_line_count,
            bad_labels=tuple(self.bad_labels),
            bad_label_count=self.bad_label_count,
            confusion=dict(Counter(pair for pair in pairs if pair is not None)),
            subgroups={key: dict(counted) for key, counted in subgroups.items()},
            without_reference=sum(reference is None for reference in corpus.references),
            altered=altered,
        )


def _near_matches(
    unexpected: Sequence[str], missing: Sequence[str], expected: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Pairs (observed, expected) that a reader would take for the same id; a missing one is the likelier."""
    wanted = {_loose(one): one for one in unexpected}
    if not wanted:
        return ()
    found: dict[str, str] = {}
    for ids in (missing, expected):
        for one in ids:
            key = _loose(one)
            if key in wanted:
                found.setdefault(key, one)
    return tuple((one, found[_loose(one)]) for one in unexpected if _loose(one) in found)


def _loose(one: str) -> str:
    """An id without what a spreadsheet, a system or an eye changes: normal form, spaces, case, zeros of a number."""
    text = unicodedata.normalize("NFKC", one).strip().strip(_INVISIBLE).strip().casefold()
    text = unicodedata.normalize("NFKC", text)
    number = _NUMBER.fullmatch(text)
    return number[1] if number else text
