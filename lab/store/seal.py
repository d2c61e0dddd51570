"""The seal: what was declared before the first timing, in clear, with its fingerprint; and what differs from it now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.errors import CheckFoundError, InvalidInputError, fault
from lab.model.campaign import Change, CorpusFacts, Seal
from lab.model.manifest import Manifest
from lab.model.protocol import PROTOCOL_FIELDS, ExclusionRule, Protocol, SubgroupThreshold
from lab.store.canonical import canonical_json, plain, readable_json, sha256_text
from lab.store.files import read_json, write_atomically

SEAL = "seal.json"
SCHEMA = 1


def take_seal(
    folder: Path, manifest: Manifest, protocol: Protocol, corpora: Mapping[str, CorpusFacts], now: datetime
) -> Seal:
    """Write `seal.json`: fingerprint, moment, and every sealed value in clear.

    The seal covers the canonical JSON of manifest, corpora, tuning sets and every protocol field except `author`,
    `decided_on` and `notes` (the product's method, section 4). A seal that holds is returned as it is.

    Raises:
        CheckFoundError: a seal exists and what it covers has changed since.
        ValueError: `now` has no zone.
        OutsideFailureError: the disk refused.
    """
    if now.tzinfo is None:
        raise ValueError(now)
    existing = read_seal(folder, manifest, protocol, corpora)
    if existing and existing.changes:
        names = [change.name for change in existing.changes]
        raise CheckFoundError(fault("seal-exists", file=SEAL, sealed_at=existing.sealed_at, names=names))
    if existing:
        return existing
    sealed = sealed_values(manifest, protocol, corpora)
    seal = Seal(sha256_text(canonical_json(sealed)), now.isoformat(timespec="seconds"))
    written = {"schema": SCHEMA, "fingerprint": seal.fingerprint, "sealed_at": seal.sealed_at, "sealed": sealed}
    write_atomically(folder / SEAL, readable_json(written))
    return seal


def read_seal(folder: Path, manifest: Manifest, protocol: Protocol, corpora: Mapping[str, CorpusFacts]) -> Seal | None:
    """The seal with every value that differs now, by name; None when none was taken.

    Raises:
        InvalidInputError: `seal.json` is damaged, or its values are not those of its own fingerprint.
    """
    path = folder / SEAL
    if not path.exists():
        return None
    value = read_json(path, SEAL)
    texts = ("fingerprint", "sealed_at")
    whole = isinstance(value, dict) and value.get("schema") == SCHEMA and isinstance(value.get("sealed"), dict)
    if not whole or not all(isinstance(value.get(name), str) for name in texts):
        raise InvalidInputError(fault("seal-not-one", file=SEAL, schema=SCHEMA))
    if sha256_text(canonical_json(value["sealed"])) != value["fingerprint"]:
        raise InvalidInputError(fault("seal-altered", file=SEAL))
    now = sealed_values(manifest, protocol, corpora)
    return Seal(value["fingerprint"], value["sealed_at"], _changes(value["sealed"], now))


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
    before, after = dict(_flat(sealed)), dict(_flat(now))
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        Change(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401  (plain JSON values)
    """Dotted name and shown value of every leaf; the items of a list of tables are named by their ids."""
    tables = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    ids = [one["id"] for one in tables if isinstance(one.get("id"), str)]
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _flat(value[key], f"{name}.{key}" if name else key)
    elif ids and len(ids) == len(value) == len(set(ids)):
        yield name, ", ".join(ids)  # their order: rounds rotate in it
        for one in value:
            rest = {key: part for key, part in one.items() if key != "id"}
            yield from _flat(rest, f"{name}.{one['id']}")
    else:
        yield name, value if isinstance(value, str) else canonical_json(value)
