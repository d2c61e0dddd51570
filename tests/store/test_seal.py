"""The seal covers what was declared before the first timing, and names whatever differs later, old and new."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.errors import CheckFoundError, InvalidInputError, UsageProblemError
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign, Change, CorpusFacts, KnownAttempt, Seal
from lab.model.manifest import Manifest
from lab.model.protocol import PROTOCOL_FIELDS, ExclusionRule, Protocol, SubgroupThreshold
from lab.store.files import sha256_file
from lab.store.manifest import read_manifest
from lab.store.seal import amend_seal, read_seal, sealed_values, take_seal

NOW = datetime(2026, 11, 30, 17, 20, tzinfo=UTC)
PROTOCOL = Protocol(
    question="Which?",
    metric="accuracy",
    threshold=0.9,
    subgroup_thresholds=(SubgroupThreshold("length", "long", 0.8),),
    repetitions=5,
    exclusion_rules=(ExclusionRule("hot", "elapsed_s", ">", "100"), ExclusionRule("power")),
    time_zone="Europe/Rome",
    deadline=NOW,
    budget_limit=Decimal("500.00"),
    planned_deliverables=("june", "july"),
    author="A",
    decided_on="2026-11-30",
    notes="n",
)
FACTS = CorpusFacts("tickets", 2, "a" * 64, ("bug",), {"bug": 2}, {}, "b" * 64)
CORPORA = {"tickets": FACTS}
# One statement a line: any order of them is the same manifest.
VARIANT = ['id = "b8"', 'model = "m"', "batch_size = 8", "threads = 2"]


def manifest(folder: Path, variant: list[str], more: str = '[[variants]]\nid = "b1"\nmodel = "m"\n') -> Manifest:
    """A manifest with a variant of these lines, then what is given."""
    head = 'schema = 1\nname = "n"\nlanguage = "fr"\n[[corpora]]\nid = "tickets"\npath = "c.jsonl"\n[[variants]]\n'
    (folder / "manifest.toml").write_text(head + "\n".join(variant) + "\n" + more)
    if not (folder / "c.jsonl").exists():
        corpus(folder, ("a", "b"))
    return read_manifest(folder / "manifest.toml")


def corpus(folder: Path, texts: Sequence[str]) -> None:
    """The corpus file, its ids counted."""
    lines = (json.dumps({"id": f"{number}", "text": text}) + "\n" for number, text in enumerate(texts))
    (folder / "c.jsonl").write_text("".join(lines), encoding="utf-8")


def changes(
    folder: Path, declared: Manifest, protocol: Protocol = PROTOCOL, corpora: Mapping[str, CorpusFacts] = CORPORA
) -> tuple[Change, ...]:
    """What differs from the seal now."""
    seal = read_seal(folder, declared, protocol, corpora)
    assert seal is not None
    return seal.changes


def test_a_seal_is_read_back_without_changes(tmp_path: Path) -> None:
    """Fingerprint, moment with its offset, and every sealed value in clear."""
    declared = manifest(tmp_path, VARIANT)
    assert read_seal(tmp_path, declared, PROTOCOL, CORPORA) is None
    taken = take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW)
    assert read_seal(tmp_path, declared, PROTOCOL, CORPORA) == taken
    assert taken.sealed_at == "2026-11-30T17:20:00+00:00"
    written = json.loads((tmp_path / "seal.json").read_text(encoding="utf-8"))
    assert written["fingerprint"] == taken.fingerprint
    assert written["sealed"]["protocol"]["threshold"] == 0.9
    texts = written["sealed"]["corpora"]["tickets"].pop("texts_sha256")
    assert len(texts) == 64
    assert written["sealed"]["corpora"] == {"tickets": {"sha256": "a" * 64, "tuning_sha256": "b" * 64}}
    assert "history" not in written


def test_the_fingerprint_of_the_texts_knows_neither_order_nor_ids(tmp_path: Path) -> None:
    """A corpus in another order, or with an outer space, is no new one; another text is."""
    found = []
    for texts in (("a", "b", "b"), ("b", "a ", "b"), ("a", "a", "b"), ("a", "b")):
        (tmp_path / "seal.json").unlink(missing_ok=True)
        declared = manifest(tmp_path, VARIANT)
        corpus(tmp_path, texts)
        found.append(take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW).sealed["corpora.tickets.texts_sha256"])
    assert found[0] == found[1]
    assert len(set(found)) == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.permutations(VARIANT))
def test_the_order_of_keys_never_changes_the_seal(tmp_path: Path, variant: list[str]) -> None:
    """TOML keys in another order declare the same."""
    (tmp_path / "seal.json").unlink(missing_ok=True)
    first = take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    declared = manifest(tmp_path, variant)
    assert changes(tmp_path, declared) == ()
    (tmp_path / "seal.json").unlink()
    assert take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW) == first


def test_every_sealed_field_of_the_protocol_and_no_other_is_covered(tmp_path: Path) -> None:
    """All but author, decided_on and notes: emptied, each is a change under its own name."""
    declared = manifest(tmp_path, VARIANT)
    whole = replace(
        PROTOCOL,
        scenario="s",
        corpus_rights="r",
        accepted_result="a",
        tolerance=0.01,
        reference_variant="b1",
        reproducibility_target="business_quality",
        required_accepted_passes=3,
        separation_factor=1.0,
        currency="USD",
        covered_load="c",
    )
    take_seal(tmp_path, declared, whole, CORPORA, NOW)
    for spec in PROTOCOL_FIELDS:
        emptied = replace(whole, **{spec.name: getattr(Protocol(), spec.name)})
        found = {change.name.split(".")[1] for change in changes(tmp_path, declared, emptied)}
        assert found == ({spec.name} if spec.sealed else set())
    assert [spec.name for spec in PROTOCOL_FIELDS if not spec.sealed] == ["author", "decided_on", "notes"]


def test_a_change_is_named_with_both_values(tmp_path: Path) -> None:
    """Protocol, manifest, corpus and tuning set; tables by their ids."""
    take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    declared = manifest(tmp_path, [*VARIANT[:2], "batch_size = 4", "threads = 2"])
    protocol = replace(
        PROTOCOL,
        threshold=0.85,
        tolerance=0.01,
        subgroup_thresholds=(SubgroupThreshold("length", "long", 0.7),),
        exclusion_rules=(ExclusionRule("hot", "elapsed_s", ">", "50"), ExclusionRule("power")),
        planned_deliverables=("june",),
    )
    corpora = {"tickets": replace(FACTS, sha256="c" * 64, tuning_sha256=None)}
    found = {change.name: (change.sealed, change.now) for change in changes(tmp_path, declared, protocol, corpora)}
    assert found == {
        "manifest.variants.b8.batch_size": ("8", "4"),
        "corpora.tickets.sha256": ("a" * 64, "c" * 64),
        "corpora.tickets.tuning_sha256": ("b" * 64, None),
        "protocol.threshold": ("0.9", "0.85"),
        "protocol.tolerance": (None, "0.01"),
        "protocol.subgroup_thresholds.length=long.threshold": ("0.8", "0.7"),
        "protocol.exclusion_rules.hot.value": ("100", "50"),
        "protocol.planned_deliverables": ('["june","july"]', '["june"]'),
    }


def test_a_variant_added_or_moved_is_named(tmp_path: Path) -> None:
    """Rounds rotate in the order of variants, so that order is sealed."""
    take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    more = '[[variants]]\nid = "b2"\nmodel = "m"\n[[variants]]\nid = "b1"\nmodel = "m"\n'
    found = {
        change.name: (change.sealed, change.now) for change in changes(tmp_path, manifest(tmp_path, VARIANT, more))
    }
    assert found["manifest.variants"] == ("b8, b1", "b8, b2, b1")
    assert found["manifest.variants.b2.model"] == (None, "m")


def test_what_means_the_same_is_no_change(tmp_path: Path) -> None:
    """500 is 500.00, 1 is 1.0, and a default written out is the default."""
    declared = manifest(tmp_path, VARIANT)
    take_seal(tmp_path, declared, replace(PROTOCOL, threshold=1), CORPORA, NOW)
    now = replace(PROTOCOL, threshold=1.0, budget_limit=Decimal(500))
    assert changes(tmp_path, manifest(tmp_path, [*VARIANT, "max_length = 512"]), now) == ()


def test_a_seal_that_holds_is_kept_and_one_that_does_not_is_never_replaced(tmp_path: Path) -> None:
    """The first moment stays; a changed threshold cannot be sealed over."""
    declared = manifest(tmp_path, VARIANT)
    first = take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW)
    content = (tmp_path / "seal.json").read_bytes()
    assert take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW.replace(day=1)) == first
    with pytest.raises(CheckFoundError) as raised:
        take_seal(tmp_path, declared, replace(PROTOCOL, threshold=0.5), CORPORA, NOW)
    assert raised.value.faults[0].values["names"] == ["protocol.threshold"]
    assert (tmp_path / "seal.json").read_bytes() == content


def test_a_moment_without_a_zone_is_an_error_of_ours(tmp_path: Path) -> None:
    """The moment of a seal is proof of an order in time."""
    with pytest.raises(ValueError, match="2026"):
        take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("old", "new", "slug"),
    [
        ("0.9", "0.5", "seal-altered"),
        ('"schema": 1', '"schema": 9', "seal-not-one"),
        ('"sealed_at"', '"sealed"', "seal-not-one"),
        ("{", "", "file-not-json"),
    ],
)
def test_a_seal_that_was_changed_by_hand_is_refused(tmp_path: Path, old: str, new: str, slug: str) -> None:
    """Its values no longer give its fingerprint, or it is none."""
    declared = manifest(tmp_path, VARIANT)
    take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW)
    path = tmp_path / "seal.json"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidInputError) as raised:
        read_seal(tmp_path, declared, PROTOCOL, CORPORA)
    assert [(one.slug, one.file) for one in raised.value.faults] == [(slug, "seal.json")]


def test_what_is_sealed_holds_no_absent_value(tmp_path: Path) -> None:
    """Absent is left out, so that nothing looks declared that is not."""
    assert "null" not in json.dumps(sealed_values(manifest(tmp_path, VARIANT), PROTOCOL, CORPORA))


RECORDS = (
    Record(Attempt("b8_r1", variant="b8", corpus="tickets", seal="s", outcome="completed", corpus_accepted="accepted")),
    Record(Attempt("b8_r2", variant="b8", corpus="tickets", seal="s")),
)


def amend(folder: Path, protocol: Protocol, reason: str = "why", records: tuple[Record, ...] = ()) -> Seal:
    """A new seal over the same manifest and another protocol."""
    declared = manifest(folder, VARIANT)
    seal = read_seal(folder, declared, protocol, CORPORA)
    campaign = Campaign(declared, protocol, CORPORA, records, seal=seal)
    return amend_seal(folder, campaign, reason, NOW.replace(day=1, month=12))


def test_an_amendment_keeps_the_earlier_seal_and_what_was_known(tmp_path: Path) -> None:
    """When, why, old and new, each attempt with its outcome and verdict; the new seal holds."""
    first = take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    lower = replace(PROTOCOL, threshold=0.8)
    second = amend(tmp_path, lower, "  lower,\n for the client ", RECORDS)
    assert read_seal(tmp_path, manifest(tmp_path, VARIANT), lower, CORPORA) == second
    (kept,) = second.amendments
    assert (kept.fingerprint, kept.sealed_at, kept.sealed) == (first.fingerprint, first.sealed_at, first.sealed)
    assert (kept.amended_at, kept.reason) == ("2026-12-01T17:20:00+00:00", "lower, for the client")
    assert kept.changes == (Change("protocol.threshold", "0.9", "0.8"),)
    assert kept.known == (
        KnownAttempt("b8_r1", "b8", "tickets", "s", "completed", "accepted"),
        KnownAttempt("b8_r2", "b8", "tickets", "s", None, None),
    )


def test_going_back_is_an_amendment_too(tmp_path: Path) -> None:
    """The same values as at first are another seal: its fingerprint covers the history."""
    first = take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    second = amend(tmp_path, replace(PROTOCOL, threshold=0.8))
    third = amend(tmp_path, PROTOCOL)
    assert third.sealed == first.sealed
    assert len({first.fingerprint, second.fingerprint, third.fingerprint}) == 3
    assert [one.fingerprint for one in third.amendments] == [first.fingerprint, second.fingerprint]


def test_the_file_of_an_own_metric_is_sealed(tmp_path: Path) -> None:
    """Its sha256 under the metric's name: another file, or none any more, is a change, old value and new."""
    path = tmp_path / "my" / "metrics.py"
    path.parent.mkdir()
    path.write_text("def cost(confusion):\n    return 1\n", encoding="utf-8")
    own = '[metrics.cost]\nfunction = "my.metrics:cost"\n'
    name, before = "metrics.cost.function_sha256", sha256_file(path)
    declared = manifest(tmp_path, VARIANT, own)
    assert take_seal(tmp_path, declared, PROTOCOL, CORPORA, NOW).sealed[name] == before
    assert changes(tmp_path, declared) == ()
    path.write_text("def cost(confusion):\n    return 0\n", encoding="utf-8")
    assert changes(tmp_path, declared) == (Change(name, before, sha256_file(path)),)
    path.unlink()
    assert changes(tmp_path, declared) == (Change(name, before, None),)


def test_what_cannot_be_amended_is_wrong_usage(tmp_path: Path) -> None:
    """No reason, no seal, nothing changed: `seal.json` stays as it is."""
    with pytest.raises(UsageProblemError, match="seal-none-to-amend"):
        amend(tmp_path, PROTOCOL)
    take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    before = (tmp_path / "seal.json").read_bytes()
    with pytest.raises(UsageProblemError, match="seal-nothing-to-amend"):
        amend(tmp_path, PROTOCOL)
    with pytest.raises(UsageProblemError, match="seal-no-reason"):
        amend(tmp_path, replace(PROTOCOL, threshold=0.8), " \n ")
    assert (tmp_path / "seal.json").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "slug"),
    [
        ('"reason": "why"', '"reason": "because"', "seal-altered"),
        ('"known": []', '"known": [{"attempt_id": "x"}]', "seal-altered"),
        ('"known": []', '"known": [{"x": 1}]', "seal-not-one"),
        ('"history": [', '"past": [', "seal-altered"),
    ],
)
def test_a_history_that_was_changed_by_hand_is_refused(tmp_path: Path, old: str, new: str, slug: str) -> None:
    """Nothing of it can be rewritten or taken away unseen."""
    take_seal(tmp_path, manifest(tmp_path, VARIANT), PROTOCOL, CORPORA, NOW)
    lower = replace(PROTOCOL, threshold=0.8)
    amend(tmp_path, lower)
    path = tmp_path / "seal.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=slug):
        read_seal(tmp_path, manifest(tmp_path, VARIANT), lower, CORPORA)
