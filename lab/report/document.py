"""The whole report as one JSON-able document: `decision.json` without its version number."""

from __future__ import annotations

from datetime import datetime

from lab.messages import messages
from lab.model.campaign import Campaign
from lab.model.decision import Decision
from lab.report import (
    document_attempts,
    document_decision,
    document_declared,
    document_measured,
    document_projected,
    document_setup,
)
from lab.report.document_plain import Json, Speech, said_fault

SCHEMA_VERSION = 1


def build(campaign: Campaign, decision: Decision) -> Json:
    """Everything that the pages show, from a campaign and the decision made of it (the product's method, section 9).

    Amounts are text with two decimals, durations are seconds, memory is bytes, moments are ISO 8601 text, absent is
    None. Every reason is there twice: `reason`, its text in the campaign's language, and `message`, its key and
    facts, from which the other languages are written. `date` is the start of the latest attempt: no clock is read.

    Raises:
        MissingTextError: a reason's key has no text.
    """
    example = any(one.offer is not None and one.offer.example for one in decision.variants)
    speech = Speech(messages(campaign.manifest.language), example)
    return {
        "schema_version": SCHEMA_VERSION,
        "campaign": campaign.manifest.name,
        "language": campaign.manifest.language,
        "date": _latest_start(campaign),
        "seal": campaign.seal.fingerprint if campaign.seal else None,
        "sealing": document_declared.sealing(campaign),
        "question": campaign.protocol.question,
        "decision": document_decision.decision(decision, speech),
        "variants": document_decision.variants(campaign, decision, speech),
        "separations": document_decision.separations(decision, speech),
        "quality": document_measured.quality(campaign, decision),
        "phases": document_measured.phases(campaign, decision),
        "memory": document_measured.memory(campaign),
        "attempts": document_attempts.attempts(campaign, decision, speech),
        "exclusions": document_decision.exclusions(decision, speech),
        "protocol": document_declared.protocol(campaign.protocol),
        "amendments": document_declared.amendments(campaign),
        "corpora": document_declared.corpora(campaign),
        "run": campaign.manifest.run.model_dump(mode="json"),
        "series": [series.model_dump(mode="json") for series in campaign.manifest.series],
        "settings": document_setup.settings(campaign),
        "environments": document_setup.environments(campaign),
        "deliverables": document_declared.deliverables(campaign),
        "expenses": document_declared.expenses(campaign),
        "calendar": document_declared.calendar(campaign),
        "planning": document_projected.planning(decision, speech),
        "hourly": document_projected.hourly(decision, speech),
        "notices": [said_fault(fault, speech) for fault in campaign.notices],
        "limits": document_decision.limits(decision, speech),
        "author_notes": {},
        "inputs": dict(sorted(campaign.inputs.items())),
    }


def _latest_start(campaign: Campaign) -> str | None:
    starts = [record.attempt.started_at for record in campaign.records if record.attempt.started_at]
    return max(starts, key=datetime.fromisoformat) if starts else None
