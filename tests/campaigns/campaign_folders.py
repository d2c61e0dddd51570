"""Whole small campaigns as folders, read back by the product itself: manifest, corpora, workbook, seal and attempts.

By default all is well: two variants on one card, five passes each in rotated order, all answers right. A test states
what it changes, and only that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from lab.calcul_forfaits import Offer
from lab.measure.schedule import order_of_round
from lab.model.attempt import Attempt, Record
from lab.model.campaign import Environment
from lab.model.catalogue import CalendarTask, Deliverable, Expense, PackageChoice
from lab.model.protocol import Protocol
from lab.store.attempts import attempt_id, finish_attempt, start_attempt
from lab.store.catalogue import shipped_offers
from lab.store.corpus import read_corpus
from lab.store.environments import fingerprint, write_environment
from lab.store.manifest import read_manifest
from lab.store.predictions import write_predictions
from lab.store.seal import take_seal
from lab.store.workbook import WorkbookContent, write_workbook

PARIS = ZoneInfo("Europe/Paris")
START = datetime(2026, 12, 7, 9, tzinfo=PARIS)
DEVICES = {"rtx-4090": "NVIDIA GeForce RTX 4090", "b200": "NVIDIA B200"}
SIZE = 40  # inputs a corpus, one in four of them long
QUICK, SLOW = (10.1, 10.0, 10.3, 10.2, 10.4), (20.1, 20.0, 20.3, 20.2, 20.4)

Lines = list[dict[str, object]]


def right(wrong: Sequence[int] = ()) -> Lines:
    """Predictions of a whole corpus, those of the inputs numbered in `wrong` wrong."""
    return [{"id": f"{n:03}", "prediction": "ab"[(n + (n in wrong)) % 2]} for n in range(SIZE)]


@dataclass(frozen=True)
class Pass:
    """One attempt: its seconds, or how it ended; what it predicted; where and when it ran."""

    variant: str
    round: int
    position: int
    duration: float | None
    outcome: str = "completed"
    corpus: str = "tickets"
    answers: Callable[[], Lines] = right
    stack: str = "2.13.0"
    changes: Mapping[str, Any] = field(default_factory=dict)


def rounds(durations: Mapping[str, Sequence[float | str]], corpus: str = "tickets") -> list[Pass]:
    """Passes of each variant in rotated order; a word in place of seconds is how that pass ended."""
    names, found = list(durations), []
    for number in range(1, max(len(one) for one in durations.values()) + 1):
        for position, name in enumerate(order_of_round(names, number, 5), start=1):
            value = durations[name][number - 1] if number <= len(durations[name]) else None
            if isinstance(value, str):
                found.append(Pass(name, number, position, None, value, corpus))
            elif value is not None:
                found.append(Pass(name, number, position, value, corpus=corpus))
    return found


def changed(passes: Sequence[Pass], variant: str, only: Sequence[int] | None = None, **changes: Any) -> list[Pass]:  # noqa: ANN401  (fields of several types)
    """The passes with those of `variant` (in the rounds `only`) changed."""
    return [
        replace(one, **changes) if one.variant == variant and (only is None or one.round in only) else one
        for one in passes
    ]


def package(gpu: str, days: int, price: str) -> Offer:
    """A package like a shipped one of the card, of other days and price."""
    like = next(one for one in shipped_offers() if one.gpu == gpu)
    return replace(like, days=days, price=Decimal(price), source="made up for this test")


def protocol(**changes: Any) -> Protocol:  # noqa: ANN401  (fields of several types)
    """Accuracy of 0.9 at least, five passes, a deadline after a week, no limit."""
    base = Protocol(
        question="Which of them?", metric="accuracy", threshold=0.9, repetitions=5, time_zone="Europe/Paris",
        deadline=START + timedelta(days=7), currency="USD",
    )  # fmt: skip
    return replace(base, **changes)


@dataclass(frozen=True)
class Plan:
    """What a campaign folder is built from; `variants` maps each id to its keys of the manifest."""

    passes: Sequence[Pass]
    variants: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: {"b1": {}, "b8": {}})
    corpora: Sequence[str] = ("tickets",)
    protocol: Protocol = field(default_factory=protocol)
    hours: int = 96
    days: int = 7
    offers: Sequence[Offer] = ()
    choices: Sequence[PackageChoice] | None = None
    expenses: Sequence[Expense] = ()
    deliverables: Sequence[Deliverable] = ()
    declared_rows: Sequence[Attempt] = ()

    def gpu(self, variant: str) -> str:
        """The card of a variant."""
        return str(self.variants[variant].get("gpu", "rtx-4090"))


def build(folder: Path, plan: Plan) -> Path:
    """Write the campaign as if declared, then sealed, then measured; nothing is judged yet."""
    folder.mkdir(parents=True)
    (folder / "manifest.toml").write_text(_manifest(plan), encoding="utf-8")
    for corpus in plan.corpora:
        rows = [
            {"id": f"{n:03}", "text": f"{corpus} {n}", "label": "ab"[n % 2], "length": "short" if n % 4 else "long"}
            for n in range(SIZE)
        ]
        (folder / f"{corpus}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    manifest = read_manifest(folder / "manifest.toml")
    corpora = {spec.id: read_corpus(folder, spec).facts for spec in manifest.corpora}
    seal = take_seal(folder, manifest, plan.protocol, corpora, START - timedelta(hours=1)).fingerprint
    rows = [_measured(folder, plan, one, place, seal) for place, one in enumerate(plan.passes)]
    content = replace(_declared(plan), rows=(*rows, *plan.declared_rows))
    write_workbook(folder / "campaign.xlsx", content, manifest)
    return folder


def name(one: Pass) -> str:
    """The id of a pass: a round has one of each variant and corpus."""
    return attempt_id(one.variant, one.corpus, one.round, START, "a1b2c3")


def _manifest(plan: Plan) -> str:
    lines = ["schema = 1", 'name = "tickets"', 'language = "en"']
    for corpus in plan.corpora:
        lines += ["[[corpora]]", f'id = "{corpus}"', f'path = "{corpus}.jsonl"', 'reference_column = "label"']
        lines += ['labels = ["a", "b"]', 'groups = ["length"]']
    for variant, keys in plan.variants.items():
        lines += ["[[variants]]", f'id = "{variant}"', 'model = "m"']
        usual = {"device": "cuda:0", "gpu": "rtx-4090"}
        lines += [f"{key} = {json.dumps(value)}" for key, value in {**usual, **keys}.items()]
    return "\n".join(lines) + "\n"


def _declared(plan: Plan) -> WorkbookContent:
    choices = [PackageChoice(one, plan.gpu(one), plan.days, 1) for one in plan.variants]
    return WorkbookContent(
        plan.protocol,
        choices=tuple(choices if plan.choices is None else plan.choices),
        offers=tuple(plan.offers or shipped_offers()),
        expenses=tuple(plan.expenses),
        calendar=(
            CalendarTask("Passes and retrieval", START, START + timedelta(hours=plan.hours)),
            CalendarTask("Installation", START, START + timedelta(hours=6)),
        ),
        deliverables=tuple(plan.deliverables),
    )


def _measured(folder: Path, plan: Plan, one: Pass, place: int, seal: str) -> Attempt:
    """Put a pass on record, with its predictions when it completed."""
    devices, facts = (DEVICES[plan.gpu(one.variant)],), {"torch": one.stack}
    environment = fingerprint(facts, devices)
    if not (folder / "environments" / f"{environment}.json").exists():
        write_environment(folder, Environment(environment, devices, facts))
    done = one.outcome == "completed"
    row = Attempt(
        name(one), started_at=(START + timedelta(minutes=place)).isoformat(), variant=one.variant, corpus=one.corpus,
        parameters="{}", round=one.round, position=one.position, outcome=one.outcome,  # type: ignore[arg-type]  (a word)
        completed_inputs=SIZE if done else SIZE - 2, elapsed_s=(one.duration or 12.0) + 5, duration_s=one.duration,
        load_s=2.5, seed=0, environment=environment, seal=seal,
        predictions_path=f"attempts/{name(one)}/predictions.jsonl" if done else None,
    )  # fmt: skip
    measured = {key: value for key, value in one.changes.items() if key not in ("excluded", "exclusion_reason")}
    row = replace(row, **measured)
    start_attempt(folder, Record(row))
    if done:
        digest = write_predictions(folder / f"attempts/{name(one)}/predictions.jsonl", one.answers())
        row = replace(row, predictions_sha256=digest)
    finish_attempt(folder, Record(row))
    return replace(row, **{key: one.changes[key] for key in one.changes if key not in measured})
