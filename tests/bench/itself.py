"""The product measures itself: what it does and what its baselines do are the variants of one of its own campaigns.

`tests/bench/run itself` makes it: one corpus for each kind of work, two variants (`lab` and `baseline`), each pass in a
process of its own, in rotated order; an answer is right when it is the one that the work must give. No card is rented,
so the decision stays open: the durations are what is asked. The table of the other benches is the author's note of
its report.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import itself_pieces as pieces
import judging
import overhead
import throughput
from comparisons import Row, compared

import workbook
from lab import pipeline
from lab.model.catalogue import CalendarTask
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol
from lab.store.manifest import read_manifest
from lab.store.workbook import empty_content, write_workbook

WORK = "work"  # the folder of what is worked on, in the campaign
PASSES, QUICK_PASSES = 6, 2  # five a side could tell none of seven pairs apart
HEAD = """\
schema = 1
name = "bench"
language = "en"

[run]
warm_up = { passes = 1, inputs = 1 }
timeout_s = 1800

[defaults]
workload = "python"
device = "cpu"
threads = 1

[[series]]
id = "implementation"
variants = ["lab", "baseline"]
varies = ["function"]

[[variants]]
id = "lab"
function = "itself_pieces:lab"

[[variants]]
id = "baseline"
function = "itself_pieces:baseline"
"""
CORPUS = """
[[corpora]]
id = "{0}"
path = "{0}.jsonl"
reference_column = "answer"
answers = "text"
"""


@dataclass(frozen=True)
class Kind:
    """One kind of work: its corpus and the baseline it is held beside.

    Attributes:
        baseline: the baseline's name in the table.
        pieces: (text, the answer that it must give) of each input.
        limit: what the ratio of the durations is promised to keep to at this size; None: nothing.
    """

    baseline: str
    pieces: Sequence[tuple[str, str]]
    limit: float | None


def kinds(folder: Path, *, quick: bool) -> dict[str, Kind]:
    """Make what is worked on in `folder`; corpus id -> kind of work."""
    at = folder / WORK
    at.mkdir(parents=True)
    whole = None if quick else 1.0  # a limit of the full size is not stated for a small one

    content = bytes(range(256)) * 4096 * (8 if quick else 256)
    (at / "large.bin").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()

    appended_to, read = (500, 2_000) if quick else (workbook.APPENDED_TO, workbook.READ)
    workbook.made(at / "append.xlsx", appended_to)
    workbook.made(at / "read.xlsx", read)

    judged = at / "judging"
    judged.mkdir()
    judging.make(judged, 10_000 if quick else 1_000_000, scores=False, shuffled=False)

    (at / "pass").mkdir()
    overhead.build(at / "pass", 48)
    bare = overhead.bare(at / "pass", *_shared(at / "pass"))
    found = {
        "start-up": Kind("a bare typer program's help", [("help", "0")] * 5, 1.5),
        "fingerprint": Kind("sha256sum", [(f"fingerprint {WORK}/large.bin", digest)] * 3, whole and 2.0),
        "append": Kind(
            "openpyxl load and save", [(f"append {WORK}/append.xlsx {appended_to + n}", "True") for n in (1, 2)],
            whole and 0.1,
        ),
        "read": Kind("python-calamine alone", [(f"read {WORK}/read.xlsx", str(read))] * 2, whole and 2.0),
        "judging": Kind("a bare DuckDB query", [(f"judge {WORK}/judging", _right(judged))] * 3, whole and 1.5),
        "pass": Kind("a bare loop", [(f"pass {WORK}/pass", pieces.answer_of(bare()))] * 5, None),
    }  # fmt: skip
    if not quick:  # a thousand long texts, twice a pass: minutes
        (at / "ragged").mkdir()
        throughput.make(at / "ragged")
        labels = throughput.by_pipeline(at / "ragged", "fp32", 8)()
        answer = pieces.answer_of(label for _, label in sorted(labels.items()))
        found["ragged"] = Kind("pipeline, batch 8", [(f"ragged {WORK}/ragged", answer)], 1 / 2.5)
    return found


def _shared(folder: Path) -> tuple[object, object]:
    _, model, tokenizer = overhead.ours(folder)
    return model, tokenizer


def _right(folder: Path) -> str:
    """How many of the predictions are right, counted line by line."""
    with (folder / judging.SPEC.path).open() as corpus, (folder / "predictions.jsonl").open() as predictions:
        both = zip(map(json.loads, corpus), map(json.loads, predictions), strict=True)
        return str(sum(row["label"] == given["prediction"] for row, given in both))


def build(folder: Path, work: dict[str, Kind], table: str, *, quick: bool) -> Manifest:
    """Write corpora, manifest, notes and workbook of the campaign."""
    for name, kind in work.items():
        lines = [
            json.dumps({"id": f"{number}", "text": text, "answer": answer})
            for number, (text, answer) in enumerate(kind.pieces, start=1)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "manifest.toml").write_text(HEAD + "".join(map(CORPUS.format, work)), encoding="utf-8")
    if table:
        size = "small sizes" if quick else "full sizes"
        (folder / "notes.en.md").write_text(f"What `tests/bench/run` measured, {size}:\n\n{table}", encoding="utf-8")
    manifest = read_manifest(folder / "manifest.toml")
    beside = "; ".join(f"{name}: {kind.baseline}" for name, kind in work.items())
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    protocol = Protocol(
        question="How long does the tool take beside what it is compared with?",
        scenario=f"The tool's own work beside a baseline that does the same ({beside}). No card is rented.",
        accepted_result="Every piece of work gave the answer that it must give.",
        metric="exact_match", threshold=1.0,
        repetitions=QUICK_PASSES if quick else PASSES, time_zone="UTC", deadline=now + timedelta(days=1),
        currency="USD", author="tests/bench/run",
    )  # fmt: skip
    measuring = CalendarTask("Measuring", now, now + timedelta(hours=12))
    content = replace(empty_content(manifest), protocol=protocol, calendar=(measuring,))
    write_workbook(folder / "campaign.xlsx", content, manifest)
    return manifest


def rows_of(folder: Path, work: dict[str, Kind]) -> list[Row]:
    """The medians of what the campaign accepted, `lab` beside `baseline`, a row for each kind of work."""
    campaign = pipeline.judge(folder)
    durations: dict[tuple[str, str], list[float]] = {}
    for record in campaign.campaign.records:
        one = record.attempt
        if campaign.decision.verdicts[one.attempt_id].verdict == "accepted" and one.duration_s is not None:
            durations.setdefault((one.corpus, one.variant), []).append(one.duration_s)
    found = []
    for name, kind in work.items():
        title = f"by its own campaign: {name}"
        both = [durations.get((name, variant)) for variant in ("lab", "baseline")]
        if both[0] and both[1]:
            ours, theirs = (statistics.median(one) for one in both if one)
            found.append(compared(title, ours, kind.baseline, theirs, kind.limit))
        else:
            found.append(Row(title, "no accepted pass", kind.baseline, None))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Build, measure and report the campaign; the last line is JSON: its rows and the page of its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args(argv)
    folder = asked.folder.resolve()
    work = kinds(folder, quick=asked.quick)
    build(folder, work, asked.table.read_text(encoding="utf-8"), quick=asked.quick)
    pipeline.run(folder)
    rows = rows_of(folder, work)
    published = pipeline.report(folder)
    page = published.path / "en.html"
    shutil.rmtree(folder / WORK)  # gigabytes that the report does not need
    sys.stdout.write("\n" + json.dumps({"rows": [asdict(row) for row in rows], "report": str(page)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
