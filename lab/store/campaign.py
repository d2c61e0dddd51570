"""A campaign folder read whole: everything that a decision is made from, every fault of its inputs at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lab.errors import Fault, InvalidInputError, fault
from lab.model.attempt import COLUMNS
from lab.model.campaign import Campaign
from lab.model.manifest import CorpusSpec, Manifest
from lab.model.names import MANIFEST, WORKBOOK
from lab.store.attempts import ATTEMPT_JSON, ATTEMPTS, LATENCIES, read_records
from lab.store.canonical import canonical_json, plain, sha256_text
from lab.store.corpus import Corpus, StoredCorpus, open_corpus
from lab.store.environments import ENVIRONMENTS, read_environments
from lab.store.files import reading, sha256_file
from lab.store.findings import Findings
from lab.store.intake import INTAKE
from lab.store.join import join
from lab.store.manifest import read_manifest
from lab.store.seal import SEAL, read_seal
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.read import read_workbook
from lab.store.workbook.which import campaign_workbook

_Read = TypeVar("_Read")


def read_campaign(folder: Path, *, examine: bool = True, damaged: dict[str, Fault] | None = None) -> Campaign:
    """Read manifest, workbook, corpora, seal, attempts and environments (the product's method, section 4).

    Args:
        folder: the campaign folder.
        examine: whether predictions are read too; without it there is no evidence, and predictions are no inputs.
        damaged: takes attempt id -> fault for each attempt whose record cannot be read: it and its row are left out,
            and nothing may be decided from the rest. None: such a record is refused.

    Raises:
        InvalidInputError: the folder, its manifest or its workbook is missing, or anything in it is not what it must
            be; every fault that can be found at once.
    """
    _check_folder(folder)
    workbook = campaign_workbook(folder)
    if (folder / INTAKE).exists():  # half of a merge is no state to decide on
        raise InvalidInputError(fault("intake-unfinished", file=INTAKE))
    manifest = read_manifest(folder / MANIFEST)
    faults: list[Fault] = []
    content = _attempted(lambda: read_workbook(workbook, manifest), faults)
    corpora = _attempted(lambda: _corpora(folder, manifest), faults)
    folders = _attempted(lambda: read_records(folder, damaged), faults)
    environments = _attempted(lambda: read_environments(folder), faults)
    if content is None or corpora is None or folders is None or environments is None:
        raise InvalidInputError(*faults)
    facts = {name: corpus.facts for name, corpus in corpora.items()}
    rows = [row for row in content.rows if row.attempt_id not in (damaged or ())]
    records, notices = join(folders, rows, content.cells, workbook.name)
    seal = read_seal(folder, manifest, content.protocol, facts)
    findings = Findings(folder, manifest, content.protocol, corpora)
    findings.take_all(records if examine else ())
    own = {record.attempt.attempt_id for record in folders} | {*(damaged or ())}
    return Campaign(
        manifest=manifest,
        protocol=content.protocol,
        corpora=facts,
        records=records,
        evidence=findings.evidence,
        evidence_faults=findings.faults,
        environments=environments,
        choices=content.choices,
        offers=content.offers,
        expenses=content.expenses,
        calendar=content.calendar,
        deliverables=content.deliverables,
        seal=seal,
        notices=(*content.notices, *notices),
        protocol_cells=content.fields,
        inputs=_inputs(folder, manifest, content, own, findings.examined),
    )


def read_declared(folder: Path) -> tuple[Manifest, WorkbookContent]:
    """What people declare, manifest and workbook, without corpora and attempts; raises as `read_campaign` does."""
    _check_folder(folder)
    manifest = read_manifest(folder / MANIFEST)
    return manifest, read_workbook(campaign_workbook(folder), manifest)


def _check_folder(folder: Path) -> None:
    with reading(folder):
        exists = folder.exists()
    if not exists:
        raise InvalidInputError(fault("campaign-missing", file=str(folder)))
    if not folder.is_dir():
        raise InvalidInputError(fault("campaign-is-a-file", file=str(folder)))
    needed = (("manifest-missing", folder / MANIFEST), ("workbook-missing", campaign_workbook(folder)))
    absent = [fault(slug, file=path.name) for slug, path in needed if not path.exists()]
    if absent:
        raise InvalidInputError(*absent)


def _attempted(read: Callable[[], _Read], faults: list[Fault]) -> _Read | None:
    """What `read` gives, or None after its faults were added: the other parts are read all the same."""
    try:
        return read()
    except InvalidInputError as error:
        faults += error.faults
        return None


def _corpora(folder: Path, manifest: Manifest) -> dict[str, Corpus | StoredCorpus]:
    faults: list[Fault] = []
    found: dict[str, Corpus | StoredCorpus] = {}
    for spec in manifest.corpora:
        corpus = _attempted(partial(open_corpus, folder, spec), faults)
        if corpus is not None:
            found[spec.id] = corpus
    if faults:
        raise InvalidInputError(*faults)
    return found


def _inputs(
    folder: Path, manifest: Manifest, content: WorkbookContent, own: Collection[str], predictions: Iterable[str]
) -> dict[str, str]:
    """Path in the campaign -> sha256 of every file that a decision is made from.

    The workbook's, under its usual name whatever its format, is that of what was read from it: a spreadsheet writes
    other bytes each time it saves the same.
    """
    paths = [MANIFEST, SEAL, *predictions]
    for spec in manifest.corpora:
        paths += _files_of(spec)
    for name in (ATTEMPT_JSON, LATENCIES):
        paths += [path.relative_to(folder).as_posix() for path in folder.glob(f"{ATTEMPTS}/[!.]*/{name}")]
    paths += [path.relative_to(folder).as_posix() for path in folder.glob(f"{ENVIRONMENTS}/[!.]*.json")]
    found = {path: sha256_file(folder / path) for path in set(paths) if (folder / path).is_file()}
    found[WORKBOOK] = sha256_text(canonical_json(_declared(content, own)))
    return dict(sorted(found.items()))


def _files_of(spec: CorpusSpec) -> list[str]:
    return [spec.path] if spec.tuning is None else [spec.path, spec.tuning]


def _declared(content: WorkbookContent, own: Collection[str]) -> dict[str, object]:
    """What the workbook adds to a decision: all of it but cell addresses, notices, and verdicts that are recomputed.

    Rows are ordered by attempt: sorting a sheet changes no decision.
    """
    judged: dict[str, Any] = {column.name: None for column in COLUMNS if column.owner == "judged"}
    rows = [replace(row, **judged) if row.attempt_id in own else row for row in content.rows]
    rows.sort(key=lambda row: row.attempt_id)
    kept = plain(replace(content, rows=tuple(rows), cells={}, notices=(), fields={}))
    return {name: value for name, value in kept.items() if name not in ("cells", "notices", "fields")}
