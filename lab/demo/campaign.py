"""The demo: a campaign like any other, whose corpus, model, protocol and example prices are made here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from lab import pipeline
from lab.demo import baseline, corpus
from lab.errors import Fault, UsageProblemError, fault
from lab.messages import LANGUAGES, Messages, messages
from lab.model.catalogue import CalendarTask, Deliverable, Offer, PackageChoice
from lab.model.names import MANIFEST, WORKBOOK
from lab.model.protocol import Protocol, SubgroupThreshold

if TYPE_CHECKING:  # slow to import, and only their names are needed
    from lab.measure.events import Event
    from lab.report.versions import Published

NAME = "demo-docstrings"
CORPUS, TUNING, MODEL = "corpus.jsonl", "tuning.jsonl", "models/demo"
GPU = "this-machine"
BATCH_SIZES = (1, 4, 8)
REPETITIONS = 5
# Declared before any timing, from a prototype's accuracy of 0.745 to 0.756 on the same draw.
THRESHOLD, TOLERANCE, LONG_THRESHOLD = 0.70, 0.01, 0.60
PRICES = {3: Decimal("12.00"), 7: Decimal("25.00"), 30: Decimal("90.00")}  # made up, and marked so everywhere
CHOSEN_DAYS = 3
WINDOW, UNTIL_DEADLINE = timedelta(hours=2), timedelta(hours=24)

_MANIFEST = """\
schema = 1
name = "{name}"
language = "{language}"

[[corpora]]
id = "docstrings"
path = "{corpus}"
id_column = "id"
text_column = "text"
reference_column = "label"
labels = [{labels}]
groups = ["length"]
tuning = "{tuning}"

[run]
warm_up = {{ passes = 1, inputs = 32, recompilations = "record" }}
timeout_s = 600
seeds = [0]

[defaults]
gpu = "{gpu}"
workload = "text-classification"
model = "{model}"
device = "cpu"
threads = 1
precision = "fp32"
attention = "sdpa"
padding = "longest"
max_length = {max_length}

[[series]]
id = "batch"
variants = [{variants}]
varies = ["batch_size"]
"""


@dataclass(frozen=True)
class DemoResult:
    """What the demo did: seconds of each phase in the order they ran, the judgement, and the report."""

    folder: Path
    phases: tuple[tuple[str, float], ...]
    judgement: pipeline.Judgement
    published: Published


@dataclass
class _Phases:
    """Wall seconds of each phase, told as they end."""

    say: Callable[[str, Mapping[str, object]], None]
    done: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.say(f"demo.phase.{name}", {})
        began = time.perf_counter()
        yield
        self.done.append((name, time.perf_counter() - began))


def run_demo(
    folder: Path,
    language: str,
    observe: Callable[[Event], None] = lambda _event: None,
    notice: Callable[[Fault], None] = lambda _fault: None,
    say: Callable[[str, Mapping[str, object]], None] = lambda _key, _values: None,
) -> DemoResult:
    """Build the demo campaign where it is missing, measure what is left, judge and report.

    Args:
        folder: where the campaign is or will be; a second call continues and trains nothing again.
        language: of the campaign, when it is new.
        observe: takes the events of the run.
        notice: takes what went another way than planned.
        say: takes the key and the facts of a line of progress.

    Raises:
        UsageProblemError: the folder holds another campaign, or is a file.
    """
    phases = _Phases(say)
    _own_folder(folder)
    if not (folder / WORKBOOK).exists():
        _set_up(folder, language, phases)
    with phases.phase("measure"):
        pipeline.run(folder, observe=observe, notice=notice)
    with phases.phase("report"):
        _declare_deliverables(folder, notice)
        published = pipeline.report(folder, notice=notice)
    return DemoResult(folder, tuple(phases.done), pipeline.judge(folder), published)


def _own_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageProblemError(fault("campaign-is-a-file", file=str(folder)))
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / MANIFEST).exists():
        from lab.store.manifest import read_manifest

        found = read_manifest(folder / MANIFEST).name
        if found != NAME:
            raise UsageProblemError(fault("demo-other-campaign", file=str(folder), found=found))


def _set_up(folder: Path, language: str, phases: _Phases) -> None:
    """Corpus, model, notes, manifest and workbook, in this order: the workbook stands for a finished set-up."""
    from lab.store.files import write_atomically
    from lab.store.manifest import read_manifest
    from lab.store.workbook import write_workbook
    from lab.store.workbook.content import empty_content
    from lab.workloads.training import Recipe, build_tokenizer, train_classifier

    with phases.phase("corpus"):
        split = corpus.split(corpus.extract(corpus.sympy_folder()))
        tokenizer = build_tokenizer(row.text for row in split.tuning)
        final = corpus.final_corpus(split.final_pool, tokenizer.count, tokenizer.cut)
        corpus.write_rows(folder / CORPUS, final)
        corpus.write_rows(folder / TUNING, split.tuning)
    recipe = Recipe(corpus.LABELS, corpus.MAX_TOKENS)
    with phases.phase("model"):
        if not (folder / MODEL).exists():
            (folder / MODEL).parent.mkdir(exist_ok=True)
            rows = [(row.text, row.label) for row in split.tuning]
            train_classifier(rows, tokenizer, folder / MODEL, recipe)
    with phases.phase("workbook"):
        facts: dict[str, object] = {
            "texts": len(final),
            "tuning": len(split.tuning),
            "version": corpus.SYMPY_VERSION,
            "bayes": baseline.naive_bayes_accuracy(split.tuning, final),
            "majority": baseline.majority_share(final),
        }
        for one in LANGUAGES:
            write_atomically(folder / f"notes.{one}.md", _notes(messages(one), facts).encode())
        write_atomically(folder / MANIFEST, _manifest(language, recipe.max_length).encode())
        manifest = read_manifest(folder / MANIFEST)
        now = datetime.now(UTC).replace(second=0, microsecond=0)
        content = replace(
            empty_content(manifest),
            protocol=_protocol(messages(language), now),
            choices=tuple(PackageChoice(one.id, one.gpu, CHOSEN_DAYS, 1) for one in manifest.variants),
            offers=_example_offers(messages(language)),
            calendar=(_task(messages(language), now),),
        )
        write_workbook(folder / WORKBOOK, content, manifest)


def _notes(words: Messages, facts: dict[str, object]) -> str:
    shares = {name: words.percent(facts[name]) for name in ("bayes", "majority")}  # type: ignore[arg-type]  # ratios
    return words.text("demo.notes", **{**facts, **shares}) + "\n"


def _manifest(language: str, max_length: int) -> str:
    ids = [f"b{size}" for size in BATCH_SIZES]
    head = _MANIFEST.format(
        name=NAME,
        language=language,
        corpus=CORPUS,
        tuning=TUNING,
        model=MODEL,
        gpu=GPU,
        max_length=max_length,
        labels=", ".join(f'"{label}"' for label in corpus.LABELS),
        variants=", ".join(f'"{one}"' for one in ids),
    )
    tables = [
        f'\n[[variants]]\nid = "{one}"\nbatch_size = {size}\n' for one, size in zip(ids, BATCH_SIZES, strict=True)
    ]
    return head + "".join(tables)


def _protocol(words: Messages, now: datetime) -> Protocol:
    return Protocol(
        question=words.text("demo.protocol.question"),
        scenario=words.text("demo.protocol.scenario"),
        corpus_rights=words.text("demo.protocol.corpus_rights"),
        accepted_result=words.text("demo.protocol.accepted_result"),
        metric="accuracy",
        threshold=THRESHOLD,
        tolerance=TOLERANCE,
        reference_variant=f"b{BATCH_SIZES[0]}",
        subgroup_thresholds=(SubgroupThreshold("length", "long", LONG_THRESHOLD),),
        reproducibility_target="business_quality",
        repetitions=REPETITIONS,
        separation_factor=1.0,
        time_zone="UTC",
        deadline=now + UNTIL_DEADLINE,
        currency="USD",
        planned_deliverables=(words.text("demo.protocol.deliverable"),),
        covered_load=words.text("demo.protocol.covered_load"),
        author="lab demo",
        decided_on=now.date().isoformat(),
        notes=words.text("demo.protocol.notes"),
    )


def _example_offers(words: Messages) -> tuple[Offer, ...]:
    """Example prices for the processor of this machine, which nobody rents."""
    from lab.measure.machine import cpu_model

    observed = cpu_model()
    return tuple(
        Offer(
            gpu=GPU,
            name=words.text("demo.offer.name"),
            cards_per_lot=1,
            device_names=(observed,) if observed else (),
            memory_gib_per_card=None,
            model="forfait",
            days=days,
            increment_minutes=None,
            minimum_hours=None,
            region=None,
            spot=False,
            price=price,
            currency="USD",
            catalogue_version="example-1",
            source=words.text("demo.offer.source"),
        )
        for days, price in PRICES.items()
    )


def _task(words: Messages, now: datetime) -> CalendarTask:
    return CalendarTask(words.text("demo.calendar.task"), now, now + WINDOW)


def _declare_deliverables(folder: Path, notice: Callable[[Fault], None]) -> None:
    """Cite, for each variant, its first accepted attempt as the one useful corpus; what people declared stays."""
    from lab.store.workbook import append_deliverables

    judgement = pipeline.judge(folder)
    campaign, verdicts = judgement.campaign, judgement.decision.verdicts
    if campaign.deliverables:
        return
    planned = campaign.protocol.planned_deliverables
    rows = []
    for variant in campaign.manifest.variants:
        accepted = [
            record.attempt.attempt_id
            for record in campaign.records
            if record.attempt.variant == variant.id and verdicts[record.attempt.attempt_id].verdict == "accepted"
        ]
        rows += [Deliverable(name, variant.id, accepted=True, attempt_id=one) for name, one in zip(planned, accepted)]  # noqa: B905  (a variant without an accepted attempt delivers nothing)
    if rows:
        written = append_deliverables(folder / WORKBOOK, rows, campaign.manifest.language)
        if written.fault:
            notice(written.fault)
