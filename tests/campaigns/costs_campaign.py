"""A whole campaign on disk: a package of two cards with three accepted corpora, and rental by the hour with none."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from lab.calcul_forfaits import Offer
from lab.model.attempt import Attempt, Details, Record
from lab.model.campaign import Environment
from lab.model.catalogue import CalendarTask, Deliverable, Expense, PackageChoice
from lab.model.protocol import Protocol
from lab.store.attempts import finish_attempt, start_attempt
from lab.store.campaign import read_campaign
from lab.store.catalogue import shipped_offers
from lab.store.environments import fingerprint, write_environment
from lab.store.manifest import read_manifest
from lab.store.predictions import write_predictions
from lab.store.seal import take_seal
from lab.store.workbook import WorkbookContent, write_workbook

CORPORA = ("november", "archive", "mails")
PARIS = ZoneInfo("Europe/Paris")
START = datetime(2026, 12, 7, 9, tzinfo=PARIS)
DEVICE = "NVIDIA GeForce RTX 4090"
PASSES = {"package": (61.5, 60.25, 62.0), "hourly": (40.5, 41.0, 40.0)}  # seconds on each corpus
LABELS = ("a", "b")
MANIFEST = (
    'schema = 1\nname = "tickets"\nlanguage = "{language}"\n[defaults]\n'
    'gpu = "rtx-4090"\nmodel = "m"\ndevice = "cuda:0"\n'
    + "".join(
        f'[[corpora]]\nid = "{one}"\npath = "{one}.jsonl"\nreference_column = "label"\nlabels = ["a", "b"]\n'
        for one in CORPORA
    )
    + '[[variants]]\nid = "package"\nbatch_size = 1\n[[variants]]\nid = "hourly"\nbatch_size = 8\n'
)


def by_the_hour(**changes: object) -> Offer:
    """0.69 USD an hour for one card, by the hour."""
    row = replace(
        next(one for one in shipped_offers() if one.gpu == "rtx-4090"), model="hourly", days=None,
        increment_minutes=60, minimum_hours=Decimal(1), price=Decimal("0.69"), source="made up for this test",
    )  # fmt: skip
    return replace(row, **changes)  # type: ignore[arg-type]  (columns by name)


def build(folder: Path, language: str = "en", offers: tuple[Offer, ...] | None = None) -> Path:
    """The campaign in `folder`: measured, sealed and declared; nothing judged yet."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.toml").write_text(MANIFEST.replace("{language}", language), encoding="utf-8")
    for corpus in CORPORA:
        lines = [{"id": f"{n}", "text": f"{corpus} {n}", "label": LABELS[n % 2]} for n in range(4)]
        (folder / f"{corpus}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    facts = {"torch": "2.13.0"}
    environment = fingerprint(facts, (DEVICE,))
    write_environment(folder, Environment(environment, (DEVICE,), facts))
    content = declared(offers or (*shipped_offers(), by_the_hour()))
    write_workbook(folder / "campaign.xlsx", content, read_manifest(folder / "manifest.toml"))
    read = read_campaign(folder)
    seal = take_seal(folder, read.manifest, read.protocol, read.corpora, START - timedelta(hours=1))
    rows = [measured(folder, variant, place, environment, seal.fingerprint) for variant in PASSES for place in range(3)]
    write_workbook(folder / "campaign.xlsx", replace(content, rows=tuple(rows)), read.manifest)
    return folder


def declared(offers: tuple[Offer, ...]) -> WorkbookContent:
    """What people fill in: expenses stated for one variant and left out for the other, three deliverables and none."""
    protocol = Protocol(
        question="Which of the two?", metric="accuracy", threshold=0.75, repetitions=1, time_zone="Europe/Paris",
        deadline=START + timedelta(days=7), budget_limit=Decimal(500), currency="USD", planned_deliverables=CORPORA,
    )  # fmt: skip
    return WorkbookContent(
        protocol,
        choices=(
            PackageChoice("package", "rtx-4090", 7, 2, rental_reference="LAB-2026-117"),
            PackageChoice("hourly", "rtx-4090", None, 2),
        ),
        offers=offers,
        expenses=(
            Expense("Storage", "package", Decimal("35.50"), "USD", "200 GB for one week, invoice 88"),
            Expense("Set-up", None, Decimal(60), "USD", "two hours of an engineer"),
        ),
        calendar=(
            CalendarTask("Installation and checks", START, START + timedelta(hours=6)),
            CalendarTask("Passes and retrieval", START + timedelta(hours=4), START + timedelta(hours=96)),
        ),
        deliverables=tuple(
            Deliverable(corpus, variant, accepted=variant == "package", attempt_id=name(variant, place))
            for variant in PASSES
            for place, corpus in enumerate(CORPORA)
        ),
    )


def name(variant: str, place: int) -> str:
    """The id of the one attempt of a variant on a corpus."""
    return f"{variant}_{CORPORA[place]}_r1_20261207T100{place}00Z_{'a1b2c' if variant == 'package' else 'd3e4f'}{place}"


def measured(folder: Path, variant: str, place: int, environment: str, seal: str) -> Attempt:
    """An attempt on record, all its answers right."""
    row = Attempt(
        name(variant, place), started_at=(START + timedelta(minutes=place)).isoformat(), variant=variant,
        corpus=CORPORA[place], parameters="{}", round=1, position=1 + (variant == "hourly"), outcome="completed",
        completed_inputs=4, elapsed_s=80.0, duration_s=PASSES[variant][place], load_s=2.5, warm_up_s=1.25,
        evaluate_s=0.25, seed=0, environment=environment, seal=seal,
        predictions_path=f"attempts/{name(variant, place)}/predictions.jsonl",
    )  # fmt: skip
    record = Record(row, Details(missing={"compile_s": "missing.not_needed", "export_s": "missing.end_unknown"}))
    start_attempt(folder, record)
    answers = [{"id": f"{n}", "prediction": LABELS[n % 2]} for n in range(4)]
    digest = write_predictions(folder / str(row.predictions_path), answers)
    finish_attempt(folder, replace(record, attempt=replace(row, predictions_sha256=digest)))
    return replace(row, predictions_sha256=digest)
