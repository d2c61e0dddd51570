"""Every reason that the analysis gives can be said in every language, with the facts it carries."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from campaign_builder import campaign, cited, evidence, passes, protocol, record
from hypothesis import given
from test_decision_properties import campaigns

import lab.analysis
from lab.analysis.decide import decide
from lab.messages import LANGUAGES, messages
from lab.model.attempt import OUTCOMES, VERDICTS
from lab.model.campaign import Campaign
from lab.model.decision import GATES, Decision
from lab.model.reason import Reason

FAMILIES = (
    "gate",
    "verdict",
    "separation",
    "decision",
    "warning",
    "covers",
    "limits",
    "next",
    "exclusion",
    "sensitivity",
    "interval",
    "paired",
    "planning",
    "hourly",
)


def every_reason(decision: Decision) -> list[Reason]:
    """All reasons of a decision, wherever they stand."""
    found = [*decision.reasons, *decision.next_steps, *decision.covers, *decision.does_not_cover]
    found += [*decision.sensitivity, *decision.warnings]
    others = decision.with_excluded.separations if decision.with_excluded else ()
    for pair in (*decision.separations, *others):
        found += [pair.reason, *pair.warnings, *(side.reason for side in (pair.ratio, pair.paired) if side)]
    found += [one.reason for one in decision.verdicts.values()] + [one.reason for one in decision.exclusions]
    found += [one.why for one in (*decision.planning, *decision.hourly) if one.why]
    for variant in decision.variants:
        found += [*variant.warnings, *(gate.reason for gate in variant.gates)]
        found += [warning for summary in variant.summaries for warning in summary.warnings]
        found += [summary.median_interval.reason for summary in variant.summaries if summary.median_interval]
    return found


def said(reason: Reason) -> None:
    """Render a reason in every language: no key missing, no place left open, no fact absent."""
    flat = [one for value in reason.values.values() for one in (value if isinstance(value, list | tuple) else [value])]
    assert None not in flat, reason
    for language in LANGUAGES:
        text = messages(language).text(reason.key, **reason.values)
        assert "{" not in text, (language, reason)


@given(campaigns())
def test_every_reason_of_a_decision_can_be_said(one: Campaign) -> None:
    """Drawn campaigns in every state."""
    for reason in every_reason(decide(one)):
        said(reason)


def test_reasons_of_ids_formats_and_deliverables_can_be_said() -> None:
    """States that the drawn campaigns do not reach."""
    near = evidence(missing=1, unexpected=1, near_matches=(("1", "01"),), first_missing=("01",))
    bad = {
        "a_tickets_s0_r1": near,
        "a_tickets_s0_r2": evidence(bad_line_count=1, bad_lines=((3, "predictions-cut"),)),
        "a_tickets_s0_r3": evidence(bad_label_count=1, bad_labels=("x",)),
        "a_tickets_s0_r4": evidence(confusion={}),
    }
    terms = protocol(planned_deliverables=("tickets", "mails"))
    rows = (cited("a", attempt_id="nobody"), cited("a", "mails", attempt_id=None), cited("b"), cited("b", "more"))
    records = [*passes("a", (1.0, 2.0, 3.0, 4.0)), record("b", 1, seed=3)]
    for reason in every_reason(decide(campaign(records, bad=bad, terms=terms, deliverables=rows))):
        said(reason)


def literal_keys() -> set[str]:
    """Keys that the source of the analysis writes out in full."""
    pattern = re.compile(rf"(?:{'|'.join(FAMILIES)})\.[a-z_.]*[a-z_]")
    keys = set()
    for path in Path(str(lab.analysis.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and pattern.fullmatch(node.value):
                keys.add(node.value)
    return keys


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_in_the_source_has_a_text(language: str) -> None:
    """Also those that no test reaches."""
    keys = literal_keys()
    assert len(keys) > 80
    assert not [key for key in sorted(keys) if not messages(language).has(key)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_closed_lists_have_their_words(language: str) -> None:
    """Outcomes, verdicts, gates, statuses and controls, and the sentences made per gate."""
    controls = ("outcome", "predictions", "ids", "format", "quality", "reference", "subgroups", "all")
    keys = [f"outcome.{one}" for one in OUTCOMES] + [f"verdictword.{one}" for one in VERDICTS]
    keys += [f"gatename.{one}" for one in GATES] + [f"controlname.{one}" for one in controls]
    keys += [f"status.{one}" for one in ("chosen", "undecided", "none_eligible")]
    keys += [f"{what}.{how}.{one}" for what in ("decision", "next") for how in ("failed", "unknown") for one in GATES]
    assert not [key for key in keys if not messages(language).has(key)]
