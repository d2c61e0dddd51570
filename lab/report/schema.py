"""The JSON Schema of `decision.json`, of one `schema_version` (the product's method, sections 8 and 9)."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from lab.messages import LANGUAGES
from lab.model.catalogue import Deliverable, Expense
from lab.model.decision import GATES, CostStatus, GateResult, Status
from lab.model.protocol import PROTOCOL_FIELDS, FieldSpec
from lab.report import schema_measured as measured
from lab.report.document import SCHEMA_VERSION
from lab.report.document_plain import Json
from lab.report.document_projected import LABEL
from lab.report.schema_parts import (
    AMOUNT,
    COUNT,
    HOURS,
    INTEGER,
    MESSAGE,
    MOMENT,
    NOTICE,
    NUMBER,
    SHA256,
    TEXT,
    YES_NO,
    mapping,
    maybe,
    open_reason,
    part,
    reason,
    record,
    several,
    words,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def decision_schema() -> Json:
    """The schema, as plain JSON values. What it requires stays; a document may hold more than it names."""
    return {
        "$schema": DIALECT,
        "title": "decision.json",
        "description": "A decision with everything its report shows. Amounts are text, absent values are null.",
        **record(_document()),
        "$defs": {
            "message": MESSAGE,
            "reason": reason(),
            "notice": NOTICE,
            "interval": measured.INTERVAL,
            "paired": measured.PAIRED,
            "separation": measured.SEPARATION,
            "offer": record(_OFFER, "A row of the catalogue; its price is of a whole lot."),
            "package": record(_PACKAGE),
        },
    }


_OFFER: Json = {
    "gpu": TEXT,
    "name": TEXT,
    "cards_per_lot": COUNT,
    "device_names": several(TEXT),
    "memory_gib_per_card": maybe(NUMBER),
    "model": words(("forfait", "hourly")),
    "days": maybe(COUNT),
    "increment_minutes": maybe(COUNT),
    "minimum_hours": maybe(NUMBER),
    "region": maybe(TEXT),
    "spot": YES_NO,
    "price": TEXT,
    "currency": TEXT,
    "catalogue_version": TEXT,
    "source": TEXT,
}
_PACKAGE: Json = {
    "name": TEXT,
    "days": maybe(COUNT),
    "price": TEXT,
    "lots": COUNT,
    "periods": COUNT,
    "cards": COUNT,
    "covers_hours": HOURS,
    "committed": AMOUNT,
    "currency": TEXT,
    "catalogue_version": TEXT,
    "source": TEXT,
    "example_price": YES_NO,
}
_CHANGES = several(record({"name": TEXT, "sealed": maybe(TEXT), "now": maybe(TEXT)}))
_ANSWER: Json = {
    "status": words(get_args(Status)),
    "variant": {**maybe(TEXT), "description": "only when chosen"},
    "contenders": several(TEXT, "those among which it is undecided"),
}
_COST: Json = {
    "committed": maybe(AMOUNT),
    "currency": maybe(TEXT),
    "cost_per_validated_corpus": maybe(AMOUNT),
    "example_price": YES_NO,
}


def _document() -> Json:
    said = several(part("reason"))
    return {
        "schema_version": {"const": SCHEMA_VERSION},
        "campaign": TEXT,
        "report_version": {"type": "integer", "minimum": 1},
        "language": words(tuple(LANGUAGES)),
        "date": maybe(MOMENT),
        "seal": maybe(SHA256),
        "sealing": maybe(record({"sealed_at": MOMENT, "changes": _CHANGES})),
        "question": maybe(TEXT),
        "decision": record(
            {
                **_ANSWER,
                **_COST,
                **dict.fromkeys(("reasons", "next_steps", "sensitivity", "warnings"), said),
                "with_excluded": maybe(record({**_ANSWER, "separations": several(part("separation"))})),
            }
        ),
        "variants": several(_variant()),
        "separations": several(part("separation")),
        "quality": several(measured.QUALITY),
        "phases": several(measured.PHASES_OF),
        "memory": several(measured.MEMORY),
        "attempts": several(measured.ATTEMPT),
        "exclusions": several(measured.EXCLUSION),
        "protocol": record({spec.name: _protocol_field(spec) for spec in PROTOCOL_FIELDS}),
        "amendments": several(_amendment()),
        "corpora": several(_corpus()),
        "run": mapping({}),
        "series": several(mapping({})),
        "settings": record({"shared": mapping({}), "different": mapping(mapping({})), "outside_series": several(TEXT)}),
        "environments": several(
            record(
                {
                    "fingerprint": TEXT,
                    "device_names": several(TEXT),
                    "facts": mapping(TEXT),
                    "attempts": COUNT,
                    "variants": several(TEXT),
                }
            )
        ),
        "deliverables": several(
            record({one.name: YES_NO if one.name == "accepted" else maybe(TEXT) for one in fields(Deliverable)})
        ),
        "expenses": several(
            record({one.name: AMOUNT if one.name == "amount" else maybe(TEXT) for one in fields(Expense)})
        ),
        "calendar": several(
            record({"task": TEXT, "variant": maybe(TEXT), "start": MOMENT, "end": MOMENT, "notes": maybe(TEXT)})
        ),
        "planning": record({"label": {"const": LABEL}, "variants": several(measured.HYPOTHESIS)}),
        "hourly": several(_hourly()),
        "notices": several(part("notice")),
        "limits": record({"covers": said, "does_not_cover": said}),
        "author_notes": mapping(TEXT),
        "inputs": {**mapping(SHA256), "description": "path in the campaign -> sha256 of what was read"},
    }


def _variant() -> Json:
    return record(
        {
            "id": TEXT,
            "gpu": maybe(TEXT),
            "eligible": YES_NO,
            "gates": several(reason(gate=words(GATES), result=words(get_args(GateResult)))),
            "summaries": several(measured.SUMMARY),
            "offer": maybe(part("offer")),
            "days": maybe(COUNT),
            "lots": maybe(COUNT),
            "periods": maybe(COUNT),
            "rental_reference": maybe(TEXT),
            "cards": maybe(COUNT),
            "covers_hours": maybe(HOURS),
            "window": maybe(record({"start": MOMENT, "end": MOMENT, "hours": NUMBER})),
            **_COST,
            "accepted_deliverables": maybe(COUNT),
            "cost_status": words(get_args(CostStatus)),
            "warnings": several(part("reason")),
        }
    )


def _protocol_field(spec: FieldSpec) -> Json:
    """A field left empty is null, a list left empty is []."""
    subgroup = record({"group": TEXT, "value": TEXT, "threshold": NUMBER})
    rule = record({"id": TEXT, "column": maybe(TEXT), "operator": maybe(TEXT), "value": maybe(TEXT)})
    kinds: Json = {
        "number": maybe(NUMBER), "integer": maybe(INTEGER), "amount": maybe(AMOUNT), "moment": maybe(MOMENT),
        "choice": maybe(words(spec.choices)), "names": several(TEXT), "subgroups": several(subgroup),
        "rules": several(rule),
    }  # fmt: skip
    found: Json = kinds.get(spec.kind, maybe(TEXT))
    return found


def _amendment() -> Json:
    known = {"outcomes": mapping(COUNT), "verdicts": mapping(COUNT), "attempts": several(mapping(maybe(TEXT)))}
    return record(
        {
            "amended_at": MOMENT,
            "reason": TEXT,
            "earlier": SHA256,
            "earlier_sealed_at": MOMENT,
            "fingerprint": SHA256,
            "changes": _CHANGES,
            "acceptance_terms": several(TEXT),
            "fails_seal": YES_NO,
            "known": record(known, "the attempts on record at that moment"),
        }
    )


def _corpus() -> Json:
    return record(
        {
            "id": TEXT,
            "path": TEXT,
            "size": COUNT,
            "sha256": SHA256,
            "tuning_sha256": maybe(SHA256),
            "labels": several(TEXT),
            "label_counts": mapping(COUNT),
            "groups": mapping(mapping(COUNT)),
        }
    )


def _hourly() -> Json:
    return open_reason(
        variant=TEXT,
        offer=maybe(part("offer")),
        lots=maybe(COUNT),
        by_the_hour=maybe(part("package")),
        package=maybe(part("package")),
        break_even_hours=maybe(NUMBER),
        break_even_exact=maybe(TEXT),
        example_price=YES_NO,
    )
