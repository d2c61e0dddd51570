"""The seal: what was declared before the first timing, in clear, with its fingerprint; and what differs from it now."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.errors import CheckFoundError, InvalidInputError, UsageProblemError, fault
from lab.metrics.own import module_file
from lab.model.attempt import Record
from lab.model.campaign import Amendment, Campaign, Change, CorpusFacts, KnownAttempt, Seal
from lab.model.manifest import CorpusSpec, Manifest
from lab.model.moments import in_zone
from lab.model.protocol import PROTOCOL_FIELDS, ExclusionRule, Protocol, SubgroupThreshold
from lab.store.canonical import canonical_json, plain, readable_json, sha256_text
from lab.store.corpus import iter_inputs
from lab.store.files import read_json, sha256_file, write_atomically

SEAL = "seal.json"
SCHEMA = 1
FUNCTION = "function_sha256"  # of a metric of the user's own: its file
TEXTS = "texts_sha256"  # of a corpus: its texts alone, whatever their order, ids and references

_TEXTS_OF_A_SEAL = ("fingerprint", "sealed_at")
_TEXTS_OF_AN_AMENDMENT = (*_TEXTS_OF_A_SEAL, "amended_at", "reason")


def take_seal(
    folder: Path, manifest: Manifest, protocol: Protocol, corpora: Mapping[str, CorpusFacts], now: datetime
) -> Seal:
    """Write `seal.json`: fingerprint, moment, and every sealed value in clear.

    The seal covers the canonical JSON of manifest, corpora, tuning sets, the files of own metrics and every protocol
    field except `author`, `decided_on` and `notes` (the product's method, section 4). A seal that holds is returned
    as it is.

    Raises:
        CheckFoundError: a seal exists and what it covers has changed since.
        InvalidInputError: a corpus cannot be read.
        ValueError: `now` has no zone.
        OutsideFailureError: the disk refused.
    """
    if now.tzinfo is None:
        raise ValueError(now)
    existing = read_seal(folder, manifest, protocol, corpora)
    if existing and existing.changes:
        names = [change.name for change in existing.changes]
        at = in_zone(existing.sealed_at, protocol.time_zone)
        raise CheckFoundError(fault("seal-exists", file=SEAL, sealed_at=at, names=names))
    if existing:
        return existing
    return _write(folder, _sealed_now(folder, manifest, protocol, corpora), now, [])


def amend_seal(folder: Path, campaign: Campaign, reason: str, now: datetime) -> Seal:
    """Put a new seal over what is declared now; the earlier one stays in `history` with why and what was known then.

    An entry of the history is the earlier seal, whole, with `amended_at`, `reason`, `changes` (name, sealed, now) and
    `known`: every attempt on record at that moment with its outcome and the verdict that the workbook stated. The new
    fingerprint covers the history too, so that none of it can be taken away unseen. Attempts keep the fingerprint of
    the seal that they were started under (the product's method, section 8). What an amendment means for the decision
    is told by `lab.analysis.sealing`.

    Args:
        folder: the campaign folder.
        campaign: as it was read from there.
        reason: why, in a person's own words.
        now: the moment, with its zone.

    Raises:
        UsageProblemError: no reason, no seal yet, or nothing that is sealed has changed.
        InvalidInputError: `seal.json` is damaged, or a corpus cannot be read.
        ValueError: `now` has no zone.
        OutsideFailureError: the disk refused.
    """
    if now.tzinfo is None:
        raise ValueError(now)
    why = " ".join(reason.split())
    if not why:
        raise UsageProblemError(fault("seal-no-reason"))
    if campaign.seal is None:
        raise UsageProblemError(fault("seal-none-to-amend", file=SEAL))
    if not campaign.seal.changes:
        at = in_zone(campaign.seal.sealed_at, campaign.protocol.time_zone)
        raise UsageProblemError(fault("seal-nothing-to-amend", file=SEAL, sealed_at=at))
    earlier = _read(folder / SEAL)
    entry = {
        "fingerprint": earlier["fingerprint"],
        "sealed_at": earlier["sealed_at"],
        "amended_at": now.isoformat(timespec="seconds"),
        "reason": why,
        "changes": [asdict(one) for one in campaign.seal.changes],
        "known": [asdict(_known(one)) for one in campaign.records],
        "sealed": earlier["sealed"],
    }
    sealed = _sealed_now(folder, campaign.manifest, campaign.protocol, campaign.corpora)
    return _write(folder, sealed, now, [*earlier["history"], entry])


def read_seal(folder: Path, manifest: Manifest, protocol: Protocol, corpora: Mapping[str, CorpusFacts]) -> Seal | None:
    """The seal with its history and every value that differs now, by name; None when none was taken.

    Raises:
        InvalidInputError: `seal.json` is damaged, or its values and history are not those of its own fingerprint.
    """
    path = folder / SEAL
    if not path.exists():
        return None
    value = _read(path)
    now = {**sealed_values(manifest, protocol, corpora), **_metrics(folder, manifest)}
    return _seal(value, _changes(_without_texts(value["sealed"]), now))


def stated_seal(folder: Path) -> Seal | None:
    """The seal as `seal.json` states it, held against nothing that is declared now; None when none was taken.

    Raises:
        InvalidInputError: `seal.json` is damaged, or its values and history are not those of its own fingerprint.
    """
    path = folder / SEAL
    return _seal(_read(path), ()) if path.exists() else None


def _write(folder: Path, sealed: Mapping[str, Any], now: datetime, history: Sequence[Mapping[str, Any]]) -> Seal:
    written = {
        "schema": SCHEMA,
        "fingerprint": _fingerprint(sealed, history),
        "sealed_at": now.isoformat(timespec="seconds"),
        "sealed": sealed,
        **({"history": history} if history else {}),
    }
    write_atomically(folder / SEAL, readable_json(written))
    return _seal(_read(folder / SEAL), ())


def _fingerprint(sealed: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> str:
    return sha256_text(canonical_json({"sealed": sealed, "history": history} if history else sealed))


def _read(path: Path) -> dict[str, Any]:
    """The values of `seal.json`, `history` always among them, every fingerprint in it that of its own values."""
    value = read_json(path, SEAL)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA or not _whole(value, _TEXTS_OF_A_SEAL):
        raise InvalidInputError(fault("seal-not-one", file=SEAL, schema=SCHEMA))
    history = value.get("history", [])
    if not isinstance(history, list) or not all(_whole_entry(one) for one in history):
        raise InvalidInputError(fault("seal-not-one", file=SEAL, schema=SCHEMA))
    found = {**value, "history": history}
    for place, one in enumerate([*history, found]):
        if _fingerprint(one["sealed"], history[:place]) != one["fingerprint"]:
            raise InvalidInputError(fault("seal-altered", file=SEAL))
    return found


def _whole(value: Mapping[str, Any], texts: Sequence[str]) -> bool:
    sealed = value.get("sealed")
    corpora = sealed.get("corpora") if isinstance(sealed, dict) else None
    tables = isinstance(corpora, dict) and all(isinstance(one, dict) for one in corpora.values())
    return tables and all(isinstance(value.get(name), str) for name in texts)


def _whole_entry(one: object) -> bool:
    return isinstance(one, dict) and _whole(one, _TEXTS_OF_AN_AMENDMENT) and _parts(one) is not None


def _parts(one: Mapping[str, Any]) -> tuple[tuple[Change, ...], tuple[KnownAttempt, ...]] | None:
    """The changes and known attempts of an entry; None where they are not what `amend_seal` writes."""
    try:
        return tuple(Change(**each) for each in one["changes"]), tuple(KnownAttempt(**each) for each in one["known"])
    except (KeyError, TypeError):
        return None


def _seal(value: Mapping[str, Any], changes: tuple[Change, ...]) -> Seal:
    return Seal(
        value["fingerprint"],
        value["sealed_at"],
        changes,
        dict(flat(value["sealed"])),
        tuple(_amendment(one) for one in value["history"]),
    )


def _amendment(one: Mapping[str, Any]) -> Amendment:
    changes, known = _parts(one) or ((), ())
    texts = {name: one[name] for name in _TEXTS_OF_AN_AMENDMENT}
    return Amendment(**texts, changes=changes, known=known, sealed=dict(flat(one["sealed"])))


def _known(record: Record) -> KnownAttempt:
    row = record.attempt
    return KnownAttempt(row.attempt_id, row.variant, row.corpus, row.seal, row.outcome, row.corpus_accepted)


def _sealed_now(
    folder: Path, manifest: Manifest, protocol: Protocol, corpora: Mapping[str, CorpusFacts]
) -> dict[str, Any]:
    """What is sealed, and of each corpus the fingerprint of its texts: a corpus put in another order is no new one."""
    sealed = {**sealed_values(manifest, protocol, corpora), **_metrics(folder, manifest)}
    for spec in manifest.corpora:
        sealed["corpora"][spec.id][TEXTS] = _texts(folder, spec)
    return sealed


def _metrics(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Under `metrics`, the sha256 of the file behind each metric of the user's own; a file not there is left out."""
    paths = {name: folder / module_file(spec) for name, spec in sorted(manifest.metrics.items())}
    found = {name: {FUNCTION: sha256_file(path)} for name, path in paths.items() if path.is_file()}
    return {"metrics": found} if found else {}


def _texts(folder: Path, spec: CorpusSpec) -> str:
    """The sum of the texts' sha256, 64 hex digits; texts in composed form without outer spaces, as for tuning sets."""
    total = 0
    for _id, text in iter_inputs(folder, spec):
        shown = unicodedata.normalize("NFC", text).strip()
        total += int.from_bytes(hashlib.sha256(shown.encode("utf-8", "surrogatepass")).digest(), "big")
    return f"{total % (1 << 256):064x}"


def _without_texts(sealed: Mapping[str, Any]) -> dict[str, Any]:
    """The sealed values that are compared with what is declared now: a corpus is, by its whole fingerprint."""
    corpora = {
        name: {key: one for key, one in facts.items() if key != TEXTS} for name, facts in sealed["corpora"].items()
    }
    return {**sealed, "corpora": corpora}


def sealed_values(manifest: Manifest, protocol: Protocol, corpora: Mapping[str, CorpusFacts]) -> dict[str, Any]:
    """What a seal covers, as plain values; absent ones are left out."""
    return {
        "manifest": manifest.model_dump(mode="json", by_alias=True, exclude_none=True),
        "corpora": {name: _corpus(facts) for name, facts in sorted(corpora.items())},
        "protocol": {
            spec.name: _protocol_value(spec.kind, getattr(protocol, spec.name))
            for spec in PROTOCOL_FIELDS
            if spec.sealed and getattr(protocol, spec.name) not in (None, ())
        },
    }


def _corpus(facts: CorpusFacts) -> dict[str, str]:
    tuning = {} if facts.tuning_sha256 is None else {"tuning_sha256": facts.tuning_sha256}
    return {"sha256": facts.sha256, **tuning}


def _protocol_value(kind: str, value: Any) -> Any:  # noqa: ANN401  (any field of the protocol)
    """A field as plain values: what is a ratio is a float, so that 1 and 1.0 are one; rules carry ids as names."""
    if kind == "number":
        return float(value)
    if kind in ("subgroups", "rules"):
        return [_rule(one) for one in value]
    return plain(value)


def _rule(one: SubgroupThreshold | ExclusionRule) -> dict[str, Any]:
    if isinstance(one, SubgroupThreshold):
        return {"id": f"{one.group}={one.value}", "threshold": float(one.threshold)}
    return {name: value for name, value in plain(one).items() if value is not None}


def _changes(sealed: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[Change, ...]:
    before, after = dict(flat(sealed)), dict(flat(now))
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        Change(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401  (plain JSON values)
    """Dotted name and shown value of every leaf; the items of a list of tables are named by their ids."""
    tables = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    ids = [one["id"] for one in tables if isinstance(one.get("id"), str)]
    if isinstance(value, dict):
        for key in sorted(value):
            yield from flat(value[key], f"{name}.{key}" if name else key)
    elif ids and len(ids) == len(value) == len(set(ids)):
        yield name, ", ".join(ids)  # their order: rounds rotate in it
        for one in value:
            rest = {key: part for key, part in one.items() if key != "id"}
            yield from flat(rest, f"{name}.{one['id']}")
    else:
        yield name, value if isinstance(value, str) else canonical_json(value)
