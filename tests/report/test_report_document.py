"""The document behind the report: its contract, and absent things that stay absent."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import report_campaigns as made
from hypothesis import given
from hypothesis import strategies as st

from lab.messages import messages
from lab.model.reason import reason
from lab.report.document_plain import Speech, amount, facts_of, said
from lab.report.words import Words


def test_the_document_has_the_keys_of_the_contract() -> None:
    """Other programs rely on these names: the method, section 9."""
    document = made.document(made.campaign())
    assert document.keys() >= {"schema_version", "campaign", "seal", "question", "decision", "variants", "separations"}
    assert document["schema_version"] == 1
    assert document["seal"] == made.SEAL
    wanted = {"status", "variant", "committed", "currency", "cost_per_validated_corpus", "reasons"}
    assert document["decision"].keys() >= wanted
    variant = document["variants"][0]
    assert variant.keys() >= {
        "id", "eligible", "gates", "summaries", "committed", "accepted_deliverables", "cost_status",
        "cost_per_validated_corpus", "warnings",
    }  # fmt: skip
    assert variant["gates"][0].keys() >= {"gate", "result", "reason"}
    assert variant["summaries"][0].keys() >= {
        "corpus", "seed", "attempts", "accepted", "rejected", "unassessed", "failed", "durations_s", "median_s",
        "min_s", "max_s",
    }  # fmt: skip
    assert document["separations"][0].keys() >= {"corpus", "a", "b", "separated", "blocked_by", "reason"}
    assert document["inputs"]["manifest.toml"] == "11" * 32


def test_amounts_are_text_with_two_decimals_and_absent_ones_null() -> None:
    """An amount is never a float, and a price that nobody knows is never 0."""
    document = made.document(made.campaign())
    assert document["variants"][0]["committed"] == "110.00"
    bare = made.document(made.campaign(choices=()))
    assert [one["committed"] for one in bare["variants"]] == [None, None, None]
    assert bare["decision"]["committed"] is None


def test_durations_stand_in_schedule_order_with_null_where_a_pass_contributes_none() -> None:
    """A failed pass keeps its place, empty."""
    document = made.document(made.campaign(made.MIXED, outcome="out_of_memory"))
    b8 = next(one for one in document["variants"] if one["id"] == "b8")
    assert b8["summaries"][0]["durations_s"] == [23.99, 24.6, None, 24.4, 24.85]


def test_the_document_is_json_without_nan_and_survives_it() -> None:
    """What is written is what is compared at the next publication."""
    for campaign in (made.campaign(), made.campaign({"b1": (), "b8": ()}), made.hostile()):
        document = made.document(campaign)
        assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_reason_is_there_as_text_and_as_key_with_facts() -> None:
    """The other languages are written from the key and facts, so amounts keep their exact value."""
    french = made.document(made.campaign(made.APART, language="fr"))
    first = french["decision"]["reasons"][0]
    assert "110,00" in first["reason"]
    assert Decimal(first["message"]["values"]["amount"]["decimal"]) == 110


def test_judged_columns_come_from_the_verdict_and_not_from_the_row() -> None:
    """A row that claims acceptance without it is corrected in the document."""
    campaign = made.campaign()
    first = campaign.records[0]
    wrong = replace(first, attempt=replace(first.attempt, metric_value=0.99, corpus_accepted="rejected"))
    document = made.document(replace(campaign, records=(wrong, *campaign.records[1:])))
    assert document["attempts"][0]["metric_value"] == 0.812
    assert document["attempts"][0]["corpus_accepted"] == "accepted"


def test_a_phase_that_one_completed_pass_lacks_has_no_median() -> None:
    """Never an average over what happens to be there."""
    campaign = made.campaign()
    first = campaign.records[0]
    lacking = replace(first, attempt=replace(first.attempt, load_s=None))
    document = made.document(replace(campaign, records=(lacking, *campaign.records[1:])))
    b1 = next(one for one in document["phases"] if one["variant"] == "b1")
    assert b1["phases"]["load_s"] == {"median_s": None, "measured": 4, "missing": None}
    assert b1["phases"]["download_s"]["missing"] == "missing.not_needed"


def test_memory_takes_the_highest_device_and_adds_nothing() -> None:
    """Counters and devices stay apart; a failed pass without a reading is not 0 bytes."""
    document = made.document(made.campaign(made.MIXED))
    device = document["memory"][0]["devices"][0]
    assert device["peak_allocated_bytes"] == 1_610_612_736
    assert device["peak_device_bytes"] == 2_684_354_560
    nothing = made.document(made.campaign({"b1": (None,), "b8": (None,)}))
    assert nothing["memory"][0]["devices"] == []


def test_example_prices_are_marked_on_the_variant_and_the_decision() -> None:
    """A figure made from an example catalogue says so wherever it stands."""
    document = made.document(made.campaign(example=True))
    assert document["decision"]["example_price"] is True
    assert all(one["example_price"] for one in document["variants"])
    assert made.document(made.campaign())["decision"]["example_price"] is False


def test_the_date_is_the_latest_start_whatever_the_clock_says() -> None:
    """The same inputs give the same document at any time."""
    campaign = made.campaign()
    assert made.document(campaign)["date"] == max(one.attempt.started_at or "" for one in campaign.records)
    assert made.document(made.campaign({"b1": (), "b8": ()}))["date"] is None


def test_settings_in_which_variants_differ_are_listed() -> None:
    """The reader sees every key that is not the same for all."""
    settings = made.document(made.campaign())["settings"]
    assert settings["different"] == {"batch_size": {"b1": 1, "b4": 4, "b8": 8}}
    assert settings["shared"]["max_length"] == 128


@given(st.decimals(min_value=0, max_value=10**6, places=3))
def test_an_amount_in_a_reason_comes_back_to_the_cent(value: Decimal) -> None:
    """Through JSON and back, money is shown as `lab.messages` shows it."""
    change = reason("report.change.committed.appeared", variant="b8", after=value, currency="USD")
    entry = json.loads(json.dumps(said(change, Speech(messages("fr")))))
    facts = facts_of(entry["message"]["values"], messages("fr"))
    assert facts["after"] == messages("fr").number(value, 2)
    assert Decimal(amount(value) or "0") == value.quantize(Decimal("0.01"), "ROUND_HALF_UP")


def test_a_reason_made_from_an_example_price_says_so_in_every_language() -> None:
    """The mark travels with the amount, also within a sentence."""
    example = made.document(made.campaign(example=True))
    first = example["decision"]["reasons"][0]
    assert "110.00 USD (example price)" in first["reason"]
    assert first["message"]["example_price"] is True
    assert "110,00 USD (prezzo di esempio)" in Words(example, "it").say(first)
    assert "example" not in made.document(made.campaign())["decision"]["reasons"][0]["reason"]
