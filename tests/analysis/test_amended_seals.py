"""What an amendment breaks: acceptance terms with attempts in sight, and attempts whose conditions changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from campaign_builder import MONDAY, campaign, passes, record

from lab.analysis.decide import decide
from lab.analysis.sealing import amended_terms, broken_terms, concerning
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Amendment, Change, KnownAttempt, Seal

FIVE = (10.0, 10.1, 10.2, 10.3, 10.4)
SEALED = {
    "corpora.tickets.sha256": "c1",
    "corpora.tickets.texts_sha256": "t1",
    "corpora.mails.sha256": "c2",
    "corpora.mails.texts_sha256": "t2",
    "manifest.corpora": "tickets, mails",
    "manifest.corpora.tickets.labels": '["bug"]',
    "manifest.metrics.own.function": "m:f",
    "metrics.own.function_sha256": "f1",
    "metrics.other.function_sha256": "f2",
    "manifest.run.seeds": "[0,1]",
    "manifest.run.timeout_s": "3600",
    "manifest.variants": "a, a.5, ref",
    "manifest.variants.a.batch_size": "8",
    "manifest.variants.a.gpu": "rtx-4090",
    "manifest.variants.a.5.batch_size": "8",
    "manifest.variants.ref.batch_size": "1",
    "protocol.metric": "own",
    "protocol.threshold": "0.9",
    "protocol.reference_variant": "ref",
    "protocol.repetitions": "5",
    "protocol.exclusion_rules": "hot",
    "protocol.exclusion_rules.hot.value": "100",
    "protocol.deadline": "2026-12-04",
}
NEW_CORPUS = {
    "corpora.tickets.sha256": None, "corpora.tickets.texts_sha256": None, "manifest.corpora.tickets.labels": None,
    "corpora.mails.sha256": None, "corpora.mails.texts_sha256": None, "manifest.corpora": "june",
    "corpora.june.sha256": "c3", "corpora.june.texts_sha256": "t3",
}  # fmt: skip


def with_changes(changed: Mapping[str, str | None], base: Mapping[str, str] = SEALED) -> dict[str, str]:
    """Sealed values with some changed, or taken out."""
    return {name: value for name, value in {**base, **changed}.items() if value is not None}


def known(*ids: str, **facts: str) -> tuple[KnownAttempt, ...]:
    """Attempts that were known, on the first corpus under the first seal."""
    given: dict[str, Any] = {"variant": "a", "corpus": "tickets", "seal": "s0", **facts}
    return tuple(KnownAttempt(one, outcome="completed", verdict="accepted", **given) for one in ids)


def amended(*steps: tuple[Mapping[str, str | None], tuple[KnownAttempt, ...]]) -> Seal:
    """A seal amended once for each step: what changed, and what was known then."""
    values, history = dict(SEALED), []
    for number, (changed, ids) in enumerate(steps):
        at = (MONDAY + timedelta(hours=24 * number)).isoformat()
        later = (MONDAY + timedelta(hours=24 * number + 24)).isoformat()
        named = tuple(Change(name, values.get(name), now) for name, now in changed.items())
        history.append(Amendment(f"s{number}", at, later, "why", named, ids, dict(values)))
        values = with_changes(changed, values)
    return Seal(f"s{len(steps)}", history[-1].amended_at, (), values, tuple(history))


@pytest.mark.parametrize(
    ("changed", "terms"),
    [
        ({"protocol.threshold": "0.8"}, ["protocol.threshold"]),
        ({"protocol.tolerance": "0.1"}, ["protocol.tolerance"]),
        ({"protocol.metric": "accuracy"}, ["protocol.metric"]),
        ({"protocol.exclusion_rules.hot.value": "50"}, ["protocol.exclusion_rules.hot.value"]),
        ({"protocol.subgroup_thresholds.a=b.threshold": "1"}, ["protocol.subgroup_thresholds.a=b.threshold"]),
        ({"protocol.separation_factor": "0.1"}, ["protocol.separation_factor"]),
        ({"protocol.repetitions": "3"}, ["protocol.repetitions"]),
        ({"protocol.repetitions": "7"}, []),
        ({"protocol.required_accepted_passes": "4"}, ["protocol.required_accepted_passes"]),
        ({"protocol.required_accepted_passes": "5", "protocol.repetitions": "7"}, []),
        ({"protocol.deadline": "2027-01-01", "protocol.budget_limit": "9"}, []),
        ({"corpora.tickets.sha256": "c9"}, ["corpora.tickets.sha256"]),
        ({"corpora.tickets.sha256": "c9", "corpora.tickets.texts_sha256": "t9"}, []),
        ({"corpora.mails.sha256": None, "corpora.mails.texts_sha256": None}, ["corpora.mails.sha256"]),
        ({"corpora.more.sha256": "c9", "corpora.more.texts_sha256": "t9"}, []),
        ({"manifest.corpora.tickets.labels": '["bug","bill"]'}, ["manifest.corpora.tickets.labels"]),
        ({"manifest.metrics.own.function": "m:g"}, ["manifest.metrics.own.function"]),
        ({"manifest.metrics.other.function": "m:g"}, []),
        ({"manifest.metrics.own.higher_is_better": "false"}, ["manifest.metrics.own.higher_is_better"]),
        ({"manifest.metrics.own.lowest": "0.0"}, ["manifest.metrics.own.lowest"]),
        ({"manifest.metrics.own.highest": "2.0"}, ["manifest.metrics.own.highest"]),
        ({"manifest.metrics.other.highest": "2.0"}, []),
        ({"metrics.own.function_sha256": "f9"}, ["metrics.own.function_sha256"]),
        ({"metrics.own.function_sha256": None}, ["metrics.own.function_sha256"]),
        ({"metrics.other.function_sha256": "f9"}, []),
        ({"manifest.run.seeds": "[0]"}, ["manifest.run.seeds"]),
        ({"manifest.run.seeds": "[0,1,2]", "manifest.run.timeout_s": "60"}, []),
        ({"manifest.variants.ref.batch_size": "2"}, ["manifest.variants.ref.batch_size"]),
        ({"manifest.variants.a.batch_size": "2"}, []),
        ({"manifest.variants": "a, a.5, ref, b", "manifest.variants.b.batch_size": "2"}, []),
    ],
)  # fmt: skip
def test_which_changes_are_of_acceptance_terms(changed: Mapping[str, str | None], terms: list[str]) -> None:
    """What results are accepted or told apart by, and nothing else."""
    assert list(amended_terms(SEALED, with_changes(changed))) == terms


def test_terms_amended_before_any_attempt_are_harmless() -> None:
    """Nobody had seen a result."""
    assert broken_terms(amended(({"protocol.threshold": "0.8"}, ()))) == ()


def test_terms_amended_after_attempts_were_known_hold_until_the_corpus_is_new() -> None:
    """Another order or a kept second corpus is no new one; texts that nobody had measured are."""
    lowered = ({"protocol.threshold": "0.8"}, known("r1"))
    assert [one.terms for one in broken_terms(amended(lowered))] == [("protocol.threshold",)]
    assert broken_terms(amended(lowered, ({"corpora.tickets.sha256": "c9"}, known("r1"))))
    assert broken_terms(amended(lowered, ({"manifest.variants.b.batch_size": "2"}, known("r1"))))
    other = {"corpora.tickets.sha256": "c9", "corpora.tickets.texts_sha256": "t9"}
    assert broken_terms(amended(lowered, (other, known("r1")))) == ()
    unassigned = ({"protocol.threshold": "0.8"}, known("typed", corpus="", seal=""))
    assert broken_terms(amended(unassigned, (other, ())))  # a row without a corpus may be on the second one
    assert broken_terms(amended(({**NEW_CORPUS, "protocol.threshold": "0.8"}, known("r1")))) == ()


def test_attempts_known_on_an_earlier_corpus_of_the_same_name_do_not_count_against_the_new_one() -> None:
    """Each is on the corpus of the seal that it was started under."""
    replaced = {"corpora.tickets.sha256": "c9", "corpora.tickets.texts_sha256": "t9"}
    lowered = {"protocol.threshold": "0.8"}
    assert broken_terms(amended((replaced, known("r1")), (lowered, known("r1")))) == ()
    assert broken_terms(amended((replaced, known("r1")), (lowered, known("r1", "r2", seal="s1"))))


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"manifest.variants.a.batch_size": "4"}, ["manifest.variants.a.batch_size"]),
        ({"manifest.variants.a.5.batch_size": "4"}, []),
        ({"manifest.variants.a.gpu": "b200", "manifest.variants.b.batch_size": "1"}, []),
        ({"manifest.run.timeout_s": "60"}, ["manifest.run.timeout_s"]),
        ({"manifest.run.seeds": "[0,1,2]"}, []),
        ({"corpora.tickets.sha256": "c9"}, []),
        ({"corpora.tickets.sha256": "c9", "corpora.tickets.texts_sha256": "t9"}, ["corpora.tickets.sha256"]),
        ({"corpora.mails.sha256": "c9", "corpora.mails.texts_sha256": "t9"}, []),
        ({"protocol.threshold": "0.8"}, []),
    ],
)
def test_what_concerns_an_attempt(changed: Mapping[str, str | None], names: list[str]) -> None:
    """Its variant's settings, the run policy, the texts of its corpus."""
    one = Attempt("x", variant="a", corpus="tickets")
    assert list(concerning(one, SEALED, with_changes(changed))) == names


def sealed_gate(seal: Seal, records: list[Record]) -> tuple[str, str]:
    """Result and reason of the gate `sealed` of variant a."""
    given = campaign(records, {"a": "rtx-4090"}, seal=seal)
    gate = next(one for one in decide(given).variants[0].gates if one.gate == "sealed")
    return gate.result, gate.reason.key.removeprefix("gate.sealed.")


def test_the_gate_tells_each_case_apart() -> None:
    """Lowered threshold, variant added, variant changed, attempts under both seals, an unknown seal."""
    old = [replace(one, attempt=replace(one.attempt, seal="s0")) for one in passes("a", FIVE)]
    seen = known(*(one.attempt.attempt_id for one in old))
    assert sealed_gate(amended(({"protocol.threshold": "0.8"}, seen)), old) == ("failed", "failed.terms")
    added = amended(({"manifest.variants.b.batch_size": "2"}, seen))
    assert sealed_gate(added, old) == ("passed", "passed.amended")
    changed = amended(({"manifest.variants.a.batch_size": "2"}, seen))
    assert sealed_gate(changed, old) == ("failed", "failed.left_behind")
    cut = [record("a", 1, seal="s0", outcome="interrupted"), *new_passes()]
    assert sealed_gate(changed, cut) == ("passed", "passed.amended")
    assert sealed_gate(amended(({"protocol.threshold": "0.8"}, ())), new_passes()) == ("passed", "passed")
    assert sealed_gate(added, [*old[:4], *new_passes()[4:]]) == ("passed", "passed.amended")
    assert sealed_gate(added, passes("a", FIVE, seal="s9")) == ("failed", "failed.other_seal")
    early = passes("a", FIVE, seal="s1")
    assert sealed_gate(added, early) == ("failed", "failed.too_late")


def new_passes() -> list[Record]:
    """Five passes under the second seal, after it was taken."""
    later = [record("a", number, value, seal="s1") for number, value in enumerate(FIVE, 1)]
    return [
        replace(one, attempt=replace(one.attempt, started_at=(MONDAY + timedelta(hours=30 + n)).isoformat()))
        for n, one in enumerate(later)
    ]
