"""The `protocol` sheet: one field per row, each value in its form and its range.

What is empty is absent and no fault: a workbook that is being filled in reads; `missing_fields` says what a run needs.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lab.errors import Fault, fault
from lab.messages import DASH, messages
from lab.metrics import METRICS, Metric, metric
from lab.metrics.reference_agreement import REFERENCE_AGREEMENT
from lab.metrics.vector_closeness import REFERENCE_COSINE
from lab.model.attempt import COLUMNS
from lab.model.manifest import Manifest
from lab.model.protocol import PROTOCOL_FIELDS, ExclusionRule, FieldSpec, Operator, Protocol, SubgroupThreshold
from lab.store.moments import near_zones, zone_named, zone_names
from lab.store.workbook import cells
from lab.store.workbook.cells import CellError
from lab.store.workbook.locate import Row, locate
from lab.store.workbook.moments import local_moment
from lab.store.workbook.read_values import Setting
from lab.store.workbook.sheet import Cell, Sheet
from lab.store.workbook.tables import PROTOCOL

_RULE = re.compile(r"(?P<column>\w+)\s*(?P<operator>!=|<=|>=|=|<|>)\s*(?P<value>.+)", re.DOTALL)
_DATES_AS_TEXT = {"decided_on"}  # a date typed here means that date, whatever the spreadsheet made of it
_IDS = {"metric", "reference_variant", "currency", "time_zone"}


def read_protocol(
    sheet: Sheet, manifest: Manifest, file: str, faults: list[Fault], notices: list[Fault]
) -> tuple[Protocol, Setting, dict[str, str]]:
    """The protocol as declared, how local times and numbers of the other sheets are read, and field -> its cell.

    Faults (a cell that cannot be read or is out of range, a field's row missing or twice) go to `faults`.
    """
    nothing: tuple[Protocol, Setting, dict[str, str]] = Protocol(), Setting(manifest.language), {}
    located = locate(sheet, PROTOCOL, file, faults)
    if located is None:
        return nothing
    names = [spec.name for spec in PROTOCOL_FIELDS]
    rows: dict[str, Row] = {}
    for number in located.rows():
        row = Row(located, number, file, faults)
        cell = row.cell("field")
        name = str(cell.value).strip() if cell is not None else ""
        if name in rows:
            both = f"{rows[name].at('field')}, {row.at('field')}"
            faults.append(fault("protocol-row-twice", file=file, place=both, column=name))
        elif name in names:
            rows[name] = row
        else:
            near = ", ".join(difflib.get_close_matches(name, names, 1)) or DASH
            notices.append(
                fault("protocol-row-unknown", file=file, place=row.at("field"), found=name or DASH, near=near)
            )
    faults.extend(
        fault("protocol-row-missing", file=file, place=sheet.name, column=name) for name in names if name not in rows
    )
    # The zone first: moments are read in it.
    zone_row = rows.get("time_zone")
    zone_cell = zone_row.at("value") if zone_row else sheet.name
    first = _Reader(manifest, Setting(manifest.language, None, zone_cell))
    zone = first.read(_SPECS["time_zone"], zone_row) if zone_row else None
    setting = Setting(manifest.language, zone_named(zone), zone_cell)
    named = rows["metric"].cell("value") if "metric" in rows else None
    known = metric(named.value if named and isinstance(named.value, str) else None, manifest)
    reader = _Reader(manifest, setting, known)
    values = {
        name: zone if name == "time_zone" else reader.read(_SPECS[name], row)
        for name, row in rows.items()
    }  # fmt: skip
    protocol = Protocol(**{name: value for name, value in values.items() if value is not None})
    _check_together(protocol, rows, known)
    return protocol, setting, {name: row.at("value") for name, row in rows.items()}


_SPECS = {spec.name: spec for spec in PROTOCOL_FIELDS}


@dataclass(frozen=True)
class _Reader:
    """Reads one field's cell; the value's own rules are here, those between fields are checked afterwards."""

    manifest: Manifest
    setting: Setting
    metric: Metric | None = None

    def read(self, spec: FieldSpec, row: Row) -> Any:  # noqa: ANN401  (each field has its own type)
        cell = row.cell("value")
        if cell is None:
            return None
        try:
            return self._value(spec, cell)
        except CellError as error:
            facts = {"column": spec.name, **error.values}
            row.faults.append(fault(error.slug, file=row.file, place=row.at("value"), **facts))
            return None

    def _value(self, spec: FieldSpec, cell: Cell) -> object:  # noqa: PLR0911  (one return a kind of field)
        wanted, language = self.setting.example(spec.name), self.setting.language
        if spec.kind == "number":
            number = float(cells.number(cell, wanted=wanted, language=language))
            return self._in_range(spec.name, cell, number, wanted)
        if spec.kind == "integer":
            whole = cells.integer(cell, wanted=wanted, language=language)
            cells.at_least(cell, whole, 1, wanted=wanted)
            return whole
        if spec.kind == "amount":
            amount = cells.amount(cell, wanted=wanted, language=language)
            cells.at_least(cell, amount, 0, wanted=wanted)
            return amount
        if spec.kind == "choice":
            return cells.choice(cell, spec.choices, language=language)
        if spec.kind == "moment":
            zone, zone_cell = self.setting.zone, self.setting.zone_cell
            return local_moment(cell, zone, wanted=wanted, zone_cell=zone_cell, language=language)
        if spec.name in _DATES_AS_TEXT and isinstance(cell.value, datetime):
            return cell.value.date().isoformat()
        typed = cells.text(cell, strict=spec.name in _IDS, wanted=wanted, language=language)
        if spec.kind == "names":
            return _names(typed, wanted)
        if spec.kind == "subgroups":
            return self._subgroups(typed, wanted)
        if spec.kind == "rules":
            return _rules(typed, wanted, language)
        return self._checked_name(spec.name, typed, wanted)

    def _in_range(self, name: str, cell: Cell, value: float, wanted: str) -> float:
        if name == "threshold":
            self._ratio(value, cells.shown(cell), wanted)
        if name == "separation_factor" and value <= 0:
            raise CellError("cell-too-small", found=cells.shown(cell), wanted=wanted, least=0)
        cells.at_least(cell, value, 0 if name == "tolerance" else None, wanted=wanted)
        return value

    def _ratio(self, value: float, found: str, wanted: str) -> None:
        """Refuse what no ratio can reach, such as 95 for 0.95; a metric without such a range may reach it."""
        lowest, highest = min(one.lowest or 0.0 for one in METRICS), max(one.highest or 0.0 for one in METRICS)
        a_ratio = (
            self.metric in METRICS and self.metric.highest is not None if self.metric else not self.manifest.metrics
        )
        if a_ratio and not lowest <= value <= highest:
            raise CellError("protocol-not-a-ratio", found=found, wanted=wanted)

    def _subgroups(self, typed: str, wanted: str) -> tuple[SubgroupThreshold, ...]:
        found = []
        groups = {group for corpus in self.manifest.corpora for group in corpus.groups}
        for part in _parts(typed):
            head, colon, number = part.rpartition(":")
            group, equals, value = (one.strip() for one in head.partition("="))
            if not (colon and equals and group and value):
                raise CellError("protocol-subgroups-form", found=part, wanted=wanted)
            if group not in groups:
                raise CellError("protocol-subgroup-unknown", found=group, known=", ".join(sorted(groups)) or DASH)
            ratio = float(cells.number_of_text(number, wanted=wanted, language=self.setting.language))
            self._ratio(ratio, number.strip(), wanted)
            found.append(SubgroupThreshold(group, value, ratio))
        return tuple(found)

    def _checked_name(self, name: str, typed: str, wanted: str) -> str:
        known: list[str] = []
        if name == "reference_variant":
            known = [variant.id for variant in self.manifest.variants]
        elif name == "metric":
            known = [one.name for one in METRICS] + list(self.manifest.metrics)
        elif name == "time_zone":
            known = sorted(zone_names())
        elif name == "currency" and not re.fullmatch(r"[A-Z]{3}", typed):
            raise CellError("protocol-not-a-currency", found=typed, wanted=wanted)
        if known and typed not in known:
            shown = near_zones(typed) if name == "time_zone" else known
            raise CellError("protocol-name-unknown", found=typed, known=", ".join(shown) or wanted)
        return typed


def _check_together(protocol: Protocol, rows: dict[str, Row], known: Metric | None) -> None:
    """Rules between two fields, each kept as a fault of the cell that breaks it."""
    required, planned = protocol.required_accepted_passes, protocol.repetitions

    def refuse(name: str, slug: str, **facts: object) -> None:
        row = rows[name]
        row.faults.append(fault(slug, file=row.file, place=row.at("value"), column=name, **facts))

    if required is not None and planned is not None and required > planned:
        refuse("required_accepted_passes", "protocol-more-than-planned", found=required, planned=planned)
    # Outputs that have to be the same, and the agreement with a run, have a reference and leave no distance open.
    by_run = {REFERENCE_AGREEMENT.name, REFERENCE_COSINE.name}
    alone = protocol.reproducibility_target == "identical_outputs" or protocol.metric in by_run
    pairs = (("tolerance", "reference_variant"), ("reference_variant", "tolerance"))
    for name, other in pairs[:1] if alone else pairs:
        if getattr(protocol, name) is not None and getattr(protocol, other) is None:
            refuse(name, "protocol-half-a-pair", other=other)
    lowest, highest = (known.lowest, known.highest) if known else (None, None)
    value = protocol.threshold
    if value is not None and ((lowest is not None and value < lowest) or (highest is not None and value > highest)):
        refuse(
            "threshold",
            "protocol-outside-metric",
            found=value,
            metric=known.name if known else "",
            lowest=DASH if lowest is None else lowest,
            highest=DASH if highest is None else highest,
        )


def _parts(typed: str) -> list[str]:
    return [part.strip() for part in re.split(r"[;\n]", typed) if part.strip()]


def _names(typed: str, wanted: str) -> tuple[str, ...]:
    found = _parts(typed)
    twice = sorted({one for one in found if found.count(one) > 1})
    if twice:
        raise CellError("protocol-name-twice", found=", ".join(twice), wanted=wanted)
    return tuple(found)


def _rules(typed: str, wanted: str, language: str) -> tuple[ExclusionRule, ...]:
    """`id: column op value` or `id: attestation`, joined by `;` (the product's method, section 6)."""
    attestation = {"attestation", messages(language).text("cell.attestation").casefold()}
    columns = [column.name for column in COLUMNS]
    found: list[ExclusionRule] = []
    for part in _parts(typed):
        name, colon, body = (one.strip() for one in part.partition(":"))
        rule = _RULE.fullmatch(body)
        if not name or not colon or (rule is None and body.casefold() not in attestation):
            raise CellError("protocol-rules-form", found=part, wanted=wanted)
        if name in {one.id for one in found}:
            raise CellError("protocol-name-twice", found=name, wanted=wanted)
        if rule is None:
            found.append(ExclusionRule(name))
            continue
        if rule["column"] not in columns:
            near = ", ".join(difflib.get_close_matches(rule["column"], columns, 3, 0.4)) or ", ".join(columns[:5])
            raise CellError("protocol-name-unknown", found=rule["column"], known=near)
        operator: Operator = _OPERATORS[rule["operator"]]
        found.append(ExclusionRule(name, rule["column"], operator, rule["value"].strip()))
    return tuple(found)


_OPERATORS: dict[str, Operator] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
