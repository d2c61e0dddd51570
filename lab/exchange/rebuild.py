"""What a workbook that is made anew declares: what the old one, its backup or the seal still says."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from lab.model.manifest import Manifest
from lab.model.protocol import PROTOCOL_FIELDS, ExclusionRule, FieldSpec, Protocol, SubgroupThreshold
from lab.store.catalogue import shipped_offers
from lab.store.files import read_json
from lab.store.seal import SEAL, stated_seal
from lab.store.workbook import campaign_workbook, empty_content, read_workbook
from lab.store.workbook.content import WorkbookContent


def content_to_rebuild(folder: Path, manifest: Manifest, backup: str) -> tuple[str, WorkbookContent]:
    """What it is made from (`workbook`, `backup`, `seal` or `nothing`), and what that declares.

    The seal holds the protocol in clear; prices, choices and calendar are in no other place than a workbook.

    Raises:
        InvalidInputError: the workbook that is there, its backup or the seal cannot be read.
    """
    for source, path in (("workbook", campaign_workbook(folder)), ("backup", folder / backup)):
        if path.exists():
            return source, read_workbook(path, manifest)
    content = replace(empty_content(manifest), offers=shipped_offers())
    if stated_seal(folder) is None:
        return "nothing", content
    sealed = read_json(folder / SEAL)["sealed"]["protocol"]
    return "seal", replace(content, protocol=protocol_of(sealed))


def protocol_of(sealed: dict[str, Any]) -> Protocol:
    """The protocol that a seal covers; what it does not cover is empty."""
    values = {spec.name: _value(spec, sealed[spec.name]) for spec in PROTOCOL_FIELDS if spec.name in sealed}
    return Protocol(**values)


def _value(spec: FieldSpec, value: Any) -> Any:  # noqa: ANN401  (any field of the protocol)
    if spec.kind == "amount":
        return Decimal(value)
    if spec.kind == "moment":
        return datetime.fromisoformat(value)
    if spec.kind == "names":
        return tuple(value)
    if spec.kind == "rules":
        return tuple(ExclusionRule(**one) for one in value)
    if spec.kind == "subgroups":
        pairs = [(*one["id"].partition("="), one["threshold"]) for one in value]
        return tuple(SubgroupThreshold(group, name, threshold) for group, _, name, threshold in pairs)
    return value
