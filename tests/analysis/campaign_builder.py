"""Small campaigns built from facts: by default everything passes, so that a test states only what it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from lab.calcul_forfaits import Offer
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Campaign, CorpusFacts, Environment, Seal
from lab.model.catalogue import CalendarTask, Deliverable, PackageChoice
from lab.model.evidence import Evidence
from lab.model.manifest import CorpusSpec, Manifest, RunPolicy, Variant
from lab.model.protocol import Protocol

MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)
FRIDAY = MONDAY + timedelta(hours=96)
RTX, B200 = "NVIDIA GeForce RTX 4090", "NVIDIA B200"


def offer(gpu: str = "rtx-4090", days: int | None = 7, price: str = "110", **changes: object) -> Offer:
    """A package of the catalogue; the two the seeds state by default."""
    facts: dict[str, Any] = {
        "gpu": gpu, "name": gpu.upper(), "cards_per_lot": 2 if gpu == "b200" else 1,
        "device_names": (B200,) if gpu == "b200" else (RTX,), "memory_gib_per_card": None, "model": "forfait",
        "days": days, "increment_minutes": None, "minimum_hours": None, "region": None, "spot": False,
        "price": Decimal(price), "currency": "USD", "catalogue_version": "2026-09-24", "source": "seeds",
    }  # fmt: skip
    return Offer(**{**facts, **changes})


OFFERS = (offer(), offer(days=3, price="60"), offer("b200", price="2071"))


def evidence(right: int = 95, wrong: int = 5, **changes: Any) -> Evidence:  # noqa: ANN401  (fields of several types)
    """Predictions of two labels, `right` of them correct and none altered."""
    size = right + wrong
    confusion = {("bug", "bug"): right // 2, ("billing", "billing"): right - right // 2, ("bug", "billing"): wrong}
    base = Evidence(size, size, 0, 0, 0, confusion=confusion, altered=False)
    return replace(base, **changes)


def record(variant: str, number: int, duration: float = 10.0, **changes: Any) -> Record:  # noqa: ANN401  (fields of several types)
    """A completed pass of `variant` in round `number`; `outcome` other than completed has no duration."""
    declared = changes.pop("declared", False)
    corpus, seed = changes.get("corpus", "tickets"), changes.get("seed", 0)
    facts: dict[str, Any] = {
        "attempt_id": f"{variant}_{corpus}_s{seed}_r{number}",
        "started_at": (MONDAY + timedelta(hours=number)).isoformat(),
        "variant": variant, "corpus": corpus, "seed": seed, "round": number, "position": 1,
        "outcome": "completed", "duration_s": duration, "environment": f"env-{variant}", "seal": "s1",
    }  # fmt: skip
    facts |= changes
    if facts["outcome"] != "completed":
        facts["duration_s"] = None
    return Record(Attempt(**facts), declared=declared)


def passes(variant: str, durations: Sequence[float], **changes: Any) -> list[Record]:  # noqa: ANN401  (fields of several types)
    """One completed pass a round, with these durations in seconds."""
    return [record(variant, number, value, **changes) for number, value in enumerate(durations, start=1)]


def protocol(**changes: Any) -> Protocol:  # noqa: ANN401  (fields of several types)
    """Accuracy of 0.9 at least, five repetitions, a deadline and a limit, in USD."""
    base = Protocol(
        question="Which card?", metric="accuracy", threshold=0.9, repetitions=5, time_zone="UTC",
        deadline=FRIDAY, budget_limit=Decimal(5000), currency="USD",
    )  # fmt: skip
    return replace(base, **changes)


def manifest(variants: Mapping[str, str], corpora: Sequence[str] = ("tickets",), **changes: Any) -> Manifest:  # noqa: ANN401  (fields of several types)
    """Variant id -> gpu."""
    policy = changes.pop("run", RunPolicy())
    return Manifest(
        schema=1,
        name="test",
        language="en",
        corpora=tuple(CorpusSpec(id=one, path=f"{one}.jsonl", reference_column="label") for one in corpora),
        variants=tuple(Variant(id=one, gpu=gpu, model="models/m") for one, gpu in variants.items()),
        run=policy,
        **changes,
    )


def campaign(
    records: Sequence[Record],
    variants: Mapping[str, str] | None = None,
    *,
    corpora: Sequence[str] = ("tickets",),
    bad: Mapping[str, Evidence] | None = None,
    terms: Protocol | None = None,
    **changes: Any,  # noqa: ANN401  (fields of several types)
) -> Campaign:
    """A sealed campaign of these attempts; `bad` gives evidence other than the good one, by attempt id."""
    cards = variants or {"a": "rtx-4090", "b": "b200"}
    shown = {r.attempt.attempt_id: evidence() for r in records if r.attempt.outcome == "completed" and not r.declared}
    base = Campaign(
        manifest=manifest(cards, corpora),
        protocol=terms or protocol(),
        corpora={one: CorpusFacts(one, 100, "f" * 64, ("billing", "bug"), {}, {}) for one in corpora},
        records=tuple(records),
        evidence={**shown, **(bad or {})},
        environments={
            f"env-{one}": Environment(f"env-{one}", (B200 if gpu == "b200" else RTX,), {"torch": "2.13.0"})
            for one, gpu in cards.items()
        },
        choices=tuple(PackageChoice(one, gpu, 7, 1) for one, gpu in cards.items()),
        offers=OFFERS,
        calendar=(CalendarTask("campaign", MONDAY, FRIDAY),),
        seal=Seal("s1", MONDAY.isoformat()),
    )
    return replace(base, **changes)


def cited(variant: str, deliverable: str = "tickets", number: int = 1, **changes: Any) -> Deliverable:  # noqa: ANN401  (fields of several types)
    """A deliverable that cites the pass of round `number`."""
    return replace(
        Deliverable(deliverable, variant, accepted=True, attempt_id=f"{variant}_tickets_s0_r{number}"), **changes
    )
