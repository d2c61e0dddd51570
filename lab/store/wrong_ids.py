"""Every id and line that acceptance found wrong, in a file beside the predictions: what a verdict shows the first of.

The file is for people; nothing reads it, and no decision is made from it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.model.campaign import Campaign
from lab.model.evidence import Evidence
from lab.store.attempts import ATTEMPTS, PREDICTIONS
from lab.store.corpus import Corpus, StoredCorpus, open_corpus
from lab.store.files import inside, replacing, writing
from lab.store.prediction_lines import lines

WRONG_IDS = "ids.jsonl"

_Row = Mapping[str, object]


def keep_wrong_ids(folder: Path, campaign: Campaign) -> tuple[str, ...]:
    """Write `attempts/<id>/ids.jsonl` for each attempt with wrong ids or lines, and take away one that is out of date.

    A line is `{"kind": "missing" | "duplicate" | "unexpected", "id"}`, a duplicate with its number of `lines`, or
    `{"kind": "bad_line", "line", "why"}` with the slug of the fault. Missing ids are in corpus order.

    Returns:
        The files written, as paths in the campaign.

    Raises:
        InvalidInputError: a corpus or the predictions can no longer be read.
        OutsideFailureError: the disk refused.
    """
    corpora: dict[str, Corpus | StoredCorpus] = {}
    written = []
    for record in campaign.records:
        attempt = record.attempt
        found = campaign.evidence.get(attempt.attempt_id)
        home = folder / ATTEMPTS / attempt.attempt_id
        if record.declared or found is None or not home.is_dir():
            continue
        path = inside(folder, f"{ATTEMPTS}/{attempt.attempt_id}/{WRONG_IDS}")
        if not is_wrong(found):
            with writing(path):
                path.unlink(missing_ok=True)
            continue
        name = str(attempt.corpus)
        if name not in corpora:
            corpora[name] = open_corpus(folder, next(one for one in campaign.manifest.corpora if one.id == name))
        predictions = inside(folder, attempt.predictions_path or f"{ATTEMPTS}/{attempt.attempt_id}/{PREDICTIONS}")
        with replacing(path) as file:
            for row in wrong_rows(predictions, corpora[name]):
                file.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
        written.append(f"{ATTEMPTS}/{attempt.attempt_id}/{WRONG_IDS}")
    return tuple(written)


def is_wrong(found: Evidence) -> bool:
    """Whether some id or line is wrong."""
    return bool(found.duplicates or found.missing or found.unexpected or found.bad_line_count)


def wrong_rows(path: Path, corpus: Corpus | StoredCorpus) -> Iterator[_Row]:
    """Every wrong id and line of a predictions file, as `keep_wrong_ids` writes them."""
    if isinstance(corpus, StoredCorpus):
        yield from _from_database(path, corpus)
    else:
        yield from _in_memory(path, corpus)
    for line in lines(path):
        if line.slug is not None:
            yield {"kind": "bad_line", "line": line.number, "why": line.slug}


def _in_memory(path: Path, corpus: Corpus) -> Iterator[_Row]:
    seen = Counter(line.id for line in lines(path) if line.id is not None)
    expected = set(corpus.ids)
    yield from ({"kind": "missing", "id": one} for one in corpus.ids if one not in seen)
    yield from ({"kind": "duplicate", "id": one, "lines": n} for one, n in seen.items() if n > 1)
    yield from ({"kind": "unexpected", "id": one} for one in seen if one not in expected)


def _from_database(path: Path, corpus: StoredCorpus) -> Iterator[_Row]:
    from lab.store.predictions_table import fetched, load

    with corpus.table.connected() as database:
        load(database, path, Path(corpus.table.folder.name), "seen")
        by_id = "SELECT id, count(*) AS n, min(line) AS first FROM seen GROUP BY id"
        for (one,) in fetched(
            database, "SELECT i.id FROM inputs AS i ANTI JOIN seen AS s ON i.id = s.id ORDER BY i.place"
        ):
            yield {"kind": "missing", "id": one}
        for one, n in fetched(database, f"SELECT id, n FROM ({by_id}) WHERE n > 1 ORDER BY first"):  # noqa: S608  (a query of this program)
            yield {"kind": "duplicate", "id": one, "lines": n}
        for (one,) in fetched(
            database,
            f"SELECT s.id FROM ({by_id}) AS s ANTI JOIN inputs AS i ON s.id = i.id ORDER BY first",  # noqa: S608  (as above)
        ):
            yield {"kind": "unexpected", "id": one}
