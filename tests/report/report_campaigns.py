"""Campaigns made by hand for the report's tests, decided by the real analysis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from lab.analysis.decide import decide
from lab.calcul_forfaits import Offer
from lab.model.attempt import Attempt, Details, DeviceMemory, Outcome, Record
from lab.model.campaign import Campaign, CorpusFacts, Environment, Seal
from lab.model.catalogue import CalendarTask, Deliverable, PackageChoice
from lab.model.evidence import Evidence
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol
from lab.model.reason import reason
from lab.report.document import build

ROME = ZoneInfo("Europe/Rome")
SEAL = "5e" * 32
START = datetime(2026, 11, 23, 10, 0, tzinfo=ROME)
DEVICE = "NVIDIA GeForce RTX 4090"
HOSTILE = "</script><img src=x onerror=document.title='ran'><b>&\"'`javascript:alert(1)"
# Seconds of five passes of each variant: b1 is plainly slower, b4 and b8 overlap.
OVERLAPPING: Mapping[str, tuple[float | None, ...]] = {
    "b1": (41.203114, 41.577012, 40.981246, 41.320015, 41.870331),
    "b4": (24.511873, 24.902216, 24.118804, 24.730502, 25.201118),
    "b8": (23.991402, 24.605338, 23.604419, 24.402281, 24.850127),
}
APART: Mapping[str, tuple[float | None, ...]] = {
    "b1": (41.203114, 41.577012, 40.981246, 41.320015, 41.870331),
    "b4": (30.511873, 30.902216, 30.118804, 30.730502, 30.201118),
    "b8": (23.991402, 24.005338, 23.904419, 24.102281, 23.950127),
}


def offer(*, example: bool = False, price: str = "110") -> Offer:
    """The seven-day package of the one card of these campaigns, or its like from an example catalogue."""
    version, name = ("example-2026-11-30", "Example machine") if example else ("2026-09-24", "RTX 4090")
    return Offer(
        "rtx-4090", name, 1, (DEVICE,), Decimal(24), "forfait", 7, None, None, None, spot=False,
        price=Decimal(price), currency="USD", catalogue_version=version, source="seed catalogue",
    )  # fmt: skip


def manifest(variants: Sequence[str] = ("b1", "b4", "b8"), language: str = "en", **more: Any) -> Manifest:  # noqa: ANN401  (any manifest key)
    """A manifest whose variants differ in the batch size only."""
    settings = {
        "gpu": "rtx-4090",
        "model": "models/tickets",
        "device": "cuda:0",
        "max_length": 128,
        "revision": "a1b2c3",
    }
    return Manifest.model_validate(
        {
            "schema": 1,
            "name": "support-tickets",
            "language": language,
            "corpora": ({"id": "tickets", "path": "corpus.jsonl", "labels": ("billing", "bug")},),
            "variants": tuple({**settings, "id": one, "batch_size": int(one[1:] or 8)} for one in variants),
            **more,
        }
    )


def protocol(**changed: Any) -> Protocol:  # noqa: ANN401  (any field of the protocol)
    """A protocol with everything that the decision needs."""
    declared = Protocol(
        question="Which batch size processes all our support tickets, meets the quality we need and ends before the "
        "deadline, for the lowest committed budget?",
        scenario="offline, one corpus",
        corpus_rights="our own tickets",
        metric="accuracy",
        threshold=0.70,
        tolerance=0.02,
        reference_variant="b1",
        reproducibility_target="business_quality",
        repetitions=5,
        time_zone="Europe/Rome",
        deadline=datetime(2026, 12, 4, 18, 0, tzinfo=ROME),
        budget_limit=Decimal(500),
        currency="USD",
        planned_deliverables=("tickets-november",),
        author="A. Rossi",
    )
    return replace(declared, **changed)


def record(
    variant: str,
    number: int,
    position: int,
    duration: float | None,
    outcome: Outcome | None = None,
    **changed: Any,  # noqa: ANN401  (any column)
) -> Record:
    """One attempt of round `number`; without a duration it ended as `outcome`, "failed" when none is given."""
    ended: Outcome = outcome or ("completed" if duration is not None else "failed")
    start = START + timedelta(minutes=10 * number + 2 * position)
    token = sha256(f"{variant}{number}".encode()).hexdigest()[:6]
    attempt_id = f"{variant}_tickets_r{number}_{start.astimezone(ZoneInfo('UTC')):%Y%m%dT%H%M%SZ}_{token}"
    done = ended == "completed"
    attempt = Attempt(
        attempt_id=attempt_id, started_at=start.isoformat(), variant=variant, corpus="tickets",
        parameters=json.dumps({"batch_size": 8}), round=number, position=position, outcome=ended,
        completed_inputs=1000 if done else 412, elapsed_s=(duration or 12.0) + 8.25, duration_s=duration,
        load_s=0.712 if done else None, warm_up_s=1.204 if done else None, evaluate_s=0.031 if done else None,
        export_s=0.018 if done else None, peak_allocated_bytes=1_610_612_736 if done else None,
        expected_ids=1000, seed=0, environment="9f8e7d6c5b4a3210", seal=SEAL,
        predictions_path=f"attempts/{attempt_id}/predictions.jsonl" if done else None,
        predictions_sha256="ab" * 32 if done else None,
    )  # fmt: skip
    why = {
        "failed": reason("ended.killed", signal=9),
        "out_of_memory": reason("ended.device_memory"),
        "timed_out": reason("ended.timed_out", limit_s=3600.0),
        "interrupted": reason("ended.cut_off"),
    }
    gpu = DeviceMemory("cuda:0", DEVICE, "GPU-1", 1_610_612_736, 1_879_048_192, 2_684_354_560)
    details = Details(
        ended_because=why.get(ended),
        missing={
            "download_s": "missing.not_needed", "install_s": "missing.not_needed", "compile_s": "missing.not_needed",
            "energy_j": "missing.no_energy_counter",
        },
        devices=(gpu,) if done else (),
        host_peak_bytes=2_147_483_648,
    )  # fmt: skip
    return Record(replace(attempt, **changed), details)


def records(durations: Mapping[str, Sequence[float | None]], outcome: Outcome = "failed") -> tuple[Record, ...]:
    """All attempts in order of start; the order of the variants rotates from round to round."""
    names, found = list(durations), []
    rounds = max((len(one) for one in durations.values()), default=0)
    for number in range(1, rounds + 1):
        rotated = names[(number - 1) % len(names) :] + names[: (number - 1) % len(names)]
        for position, name in enumerate(rotated, 1):
            if number <= len(durations[name]):
                value = durations[name][number - 1]
                found.append(record(name, number, position, value, None if value is not None else outcome))
    return tuple(found)


def evidence(right: int = 812, **changed: Any) -> Evidence:  # noqa: ANN401  (any field of the evidence)
    """A predictions file that holds every id once, with `right` of 1,000 answers right."""
    confusion = {("billing", "billing"): right - 400, ("bug", "bug"): 400, ("billing", "bug"): 1000 - right}
    return replace(Evidence(1000, 1000, 0, 0, 0, confusion=confusion, altered=False), **changed)


def campaign(
    durations: Mapping[str, Sequence[float | None]] | None = None, *, outcome: Outcome = "failed", language: str = "en",
    example: bool = False, **changed: Any,  # noqa: ANN401  (any field of the campaign)
) -> Campaign:  # fmt: skip
    """A whole campaign of the given passes (None: one that did not complete), on packages of equal price."""
    passes = OVERLAPPING if durations is None else durations
    declared = manifest(list(passes), language)
    made = records(passes, outcome)
    done = [one.attempt for one in made if one.attempt.outcome == "completed"]
    firsts = {one.variant: one.attempt_id for one in reversed(done)}
    whole = Campaign(
        manifest=declared,
        protocol=protocol(),
        corpora={
            "tickets": CorpusFacts("tickets", 1000, "c0" * 32, ("billing", "bug"), {"billing": 600, "bug": 400}, {})
        },
        records=made,
        evidence={one.attempt_id: evidence() for one in done},
        environments={
            "9f8e7d6c5b4a3210": Environment(
                "9f8e7d6c5b4a3210", (DEVICE,), {"torch": "2.13.0", "transformers": "5.24.0", "driver": "580.10"}
            )
        },
        choices=tuple(PackageChoice(one, "rtx-4090", 7, 1) for one in passes),
        offers=(offer(example=example),),
        calendar=(
            CalendarTask("installation and checks", START.replace(hour=9), START.replace(hour=12)),
            CalendarTask("passes and retrieval", START.replace(hour=12), START.replace(hour=9) + timedelta(days=4)),
        ),
        deliverables=tuple(
            Deliverable("tickets-november", name, accepted=True, attempt_id=one) for name, one in firsts.items()
        ),
        seal=Seal(SEAL, (START - timedelta(hours=1)).isoformat()),
        inputs={
            "manifest.toml": "11" * 32, "campaign.xlsx": "22" * 32, "seal.json": "33" * 32, "corpus.jsonl": "44" * 32,
            "environments/9f8e7d6c5b4a3210.json": "55" * 32,
            **{f"attempts/{one.attempt.attempt_id}/attempt.json": "66" * 32 for one in made},
            **{f"attempts/{one.attempt_id}/predictions.jsonl": "ab" * 32 for one in done},
        },
    )  # fmt: skip
    return replace(whole, **changed)


MIXED: Mapping[str, tuple[float | None, ...]] = {
    "b1": (41.2, None, 41.0, None, None),
    "b4": OVERLAPPING["b4"],
    "b8": (23.99, 24.6, None, 24.4, 24.85),
}


def hostile() -> Campaign:
    """A campaign in which every text that a person or a file supplies tries to break out of its place."""
    whole = campaign()
    records_ = tuple(replace(one, attempt=replace(one.attempt, notes=HOSTILE)) for one in whole.records)
    environments = {
        key: replace(one, device_names=(HOSTILE,), facts={HOSTILE: HOSTILE}) for key, one in whole.environments.items()
    }
    return replace(
        whole,
        protocol=protocol(question=HOSTILE, notes=f"# {HOSTILE}\n\n[x](javascript:alert(1))", covered_load=HOSTILE),
        records=records_,
        environments=environments,
        offers=(replace(offer(), name=HOSTILE, source=HOSTILE),),
        calendar=tuple(replace(one, task=HOSTILE, notes=HOSTILE) for one in whole.calendar),
        deliverables=tuple(replace(one, deliverable=HOSTILE) for one in whole.deliverables),
        inputs={**whole.inputs, HOSTILE: "77" * 32},
    )


def document(built: Campaign) -> dict[str, Any]:
    """The document of a campaign and the decision that the analysis makes of it."""
    return build(built, decide(built))
