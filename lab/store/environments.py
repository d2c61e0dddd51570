"""What was observed on a machine: one file for each fingerprint, written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.errors import Fault, InvalidInputError, fault
from lab.model.campaign import Environment
from lab.store.canonical import canonical_json, readable_json, sha256_text
from lab.store.files import read_json, sync_folder, write_atomically, writing

ENVIRONMENTS = "environments"
SCHEMA = 1
_DIGITS = 16  # hex digits of a fingerprint: enough that no two machines of a campaign meet


def fingerprint(facts: Mapping[str, str], device_names: Sequence[str]) -> str:
    """The first 16 hex digits of the sha256 of the canonical JSON of facts and device names (in their order)."""
    return sha256_text(canonical_json({"facts": facts, "device_names": list(device_names)}))[:_DIGITS]


def write_environment(folder: Path, environment: Environment) -> None:
    """Write `environments/<fingerprint>.json`, unless it is there.

    Raises:
        ValueError: the fingerprint is not that of the facts and device names.
        OutsideFailureError: the disk refused.
    """
    if environment.fingerprint != fingerprint(environment.facts, environment.device_names):
        raise ValueError(environment.fingerprint)
    base = folder / ENVIRONMENTS
    path = base / f"{environment.fingerprint}.json"
    if path.exists():
        return
    with writing(base, ENVIRONMENTS):
        if not base.is_dir():
            base.mkdir()
            sync_folder(folder)
    sorted_facts = dict(sorted(environment.facts.items()))
    seen = {"schema": SCHEMA, "device_names": list(environment.device_names), "facts": sorted_facts}
    write_atomically(path, readable_json(seen))


def read_environments(folder: Path) -> dict[str, Environment]:
    """Every environment on record, by its fingerprint; names that begin with a dot are none.

    Raises:
        InvalidInputError: a file is damaged, or its facts are not those of its name; every one that is, at once.
    """
    base = folder / ENVIRONMENTS
    found: dict[str, Environment] = {}
    faults: list[Fault] = []
    for path in sorted(base.glob("[!.]*.json")):
        try:
            one = _read(path)
        except InvalidInputError as error:
            faults += error.faults
        else:
            found[one.fingerprint] = one
    if faults:
        raise InvalidInputError(*faults)
    return found


def _read(path: Path) -> Environment:
    shown = f"{ENVIRONMENTS}/{path.name}"
    value = read_json(path, shown)
    facts = value.get("facts") if isinstance(value, dict) else None
    names = value.get("device_names") if isinstance(value, dict) else None
    if not isinstance(facts, dict) or not isinstance(names, list):
        raise InvalidInputError(fault("environment-not-one", file=shown))
    if not all(isinstance(one, str) for one in (*facts.values(), *names)):
        raise InvalidInputError(fault("environment-not-one", file=shown))
    if fingerprint(facts, names) != path.stem:
        raise InvalidInputError(fault("environment-altered", file=shown))
    return Environment(path.stem, tuple(names), facts)
