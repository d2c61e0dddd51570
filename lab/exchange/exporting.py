"""`lab export`: attempts, summaries and latencies as CSV, JSON and Parquet, with the dictionary of their fields.

JSON and Parquet hold the values exactly. In a CSV, text that a spreadsheet would take for a formula gets an apostrophe
in front, since people open a CSV with a double-click.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.analysis.decide import decide
from lab.checks import seal_faults
from lab.errors import Fault, UsageProblemError, fault
from lab.exchange.export_fields import ExportField, all_fields
from lab.messages import messages
from lab.model.campaign import Campaign
from lab.model.decision import Decision
from lab.pipeline import judged_cells, load
from lab.report.document_plain import amount
from lab.store.attempts import ATTEMPTS, LATENCIES
from lab.store.canonical import plain
from lab.store.environments import ENVIRONMENTS
from lab.store.files import reading, replacing, write_atomically, writing
from lab.store.findings import changed_latencies
from lab.store.stored_inputs import as_pattern

REPORT = "report"
TABLES = ("attempts", "summaries", "latencies")
_KINDS = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "amount": "VARCHAR"}
_RUNS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Exported:
    """What was written: files with their number of rows, in the order of writing; what was sealed otherwise."""

    folder: Path
    files: tuple[tuple[str, int], ...]
    notices: tuple[Fault, ...] = ()


def export(folder: Path, out: Path) -> Exported:
    """Write the campaign's attempts and summaries into `out`, which is made where it is not there.

    Raises:
        UsageProblemError: `out` is a file, the campaign folder itself, or a folder that holds its evidence or reports.
        InvalidInputError: something in the campaign cannot be read.
        OutsideFailureError: the disk refused; each file is whole or not there.
    """
    if out.is_file() or _holds_campaign(out.resolve(), folder.resolve()):
        raise UsageProblemError(fault("export-no-folder", file=str(out)))
    campaign = load(folder)
    decision = decide(campaign)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    fields = all_fields(messages(campaign.manifest.language))
    altered = tuple(changed_latencies(folder, campaign.records))
    files = []
    for name, rows in (
        ("attempts", _attempts(campaign, decision)),
        ("summaries", _summaries(decision)),
        ("latencies", _latencies(folder, campaign, {one.values["id"] for one in altered})),
    ):
        own = [one for one in fields if one.table == name]
        files += _written(out, name, rows, own)
    entries = [plain(one) for one in fields]
    names = list(entries[0])
    write_atomically(out / "fields.csv", _csv(entries, names).encode())
    write_atomically(out / "fields.json", _json(entries))
    files += [("fields.csv", len(entries)), ("fields.json", len(entries))]
    return Exported(out, tuple(files), (*seal_faults(campaign), *altered))


def _holds_campaign(out: Path, folder: Path) -> bool:
    """Whether something of the campaign's own is kept there, which an export could write over."""
    return out == folder or any(folder / name in (out, *out.parents) for name in (ATTEMPTS, ENVIRONMENTS, REPORT))


def _attempts(campaign: Campaign, decision: Decision) -> Iterator[Row]:
    """Every attempt with the verdict recomputed, what it rests on, and where it came from."""
    excluded = {one.attempt_id: one for one in decision.exclusions}
    for record in campaign.records:
        name = record.attempt.attempt_id
        verdict, source = decision.verdicts[name], record.details.provenance
        left_out = excluded.get(name)
        yield {
            **plain(record.attempt),
            **plain(judged_cells(verdict)),
            "excluded": left_out is not None,
            "verdict_control": verdict.control,
            "evidence": "declared" if record.declared else "imported" if record.imported else "measured",
            "source_file": source and source.file,
            "source_sha256": source and source.sha256,
            "source_place": source and source.place,
            "source_tool": source and source.tool,
            "source_version": source and source.version,
        }


def _summaries(decision: Decision) -> Iterator[Row]:
    for variant in decision.variants:
        for one in variant.summaries:
            counts = ("attempts", "accepted", "rejected", "unassessed", "failed", "excluded")
            figures = ("median_s", "min_s", "max_s", "median_metric")
            yield {
                "variant": one.variant,
                "corpus": one.corpus,
                "seed": one.seed,
                **{name: getattr(one, name) for name in (*counts, *figures)},
                "durations_s": json.dumps(one.durations_s),
                "eligible": variant.eligible,
                "committed": amount(variant.committed),
                "currency": variant.currency,
                "accepted_deliverables": variant.accepted_deliverables,
                "cost_per_validated_corpus": amount(variant.cost_per_validated_corpus),
            }


def _latencies(folder: Path, campaign: Campaign, altered: Collection[object]) -> Iterator[Row]:
    """Latencies of requests and iterations: a table of their own, since they are no durations of passes."""
    for record in campaign.records:
        attempt = record.attempt
        path = folder / ATTEMPTS / attempt.attempt_id / LATENCIES
        if not record.details.populations or attempt.attempt_id in altered:
            continue
        with reading(path), path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield {
                    "attempt_id": attempt.attempt_id,
                    "variant": attempt.variant,
                    "corpus": attempt.corpus,
                    "population": row["population"],
                    "number": int(row["number"]),
                    "seconds": float(row["seconds"]),
                }


def _written(out: Path, name: str, rows: Iterable[Row], fields: Sequence[ExportField]) -> list[tuple[str, int]]:
    """One table three times; the Parquet is made from the JSON, so that all hold the same."""
    names = [one.field for one in fields]
    number = 0
    with replacing(out / f"{name}.csv") as as_csv, replacing(out / f"{name}.json") as as_json:
        as_csv.write(_csv([], names).encode())
        as_json.write(b"[")
        for number, row in enumerate(rows, 1):
            held = {field: row[field] for field in names}
            as_csv.write(_csv([held], names, header=False).encode())
            as_json.write(b",\n" if number > 1 else b"\n")
            as_json.write(json.dumps(held, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace"))
        as_json.write(b"\n]\n")
    _parquet(out / f"{name}.json", out / f"{name}.parquet", fields)
    return [(f"{name}.{ending}", number) for ending in ("csv", "json", "parquet")]


def _csv(rows: Iterable[Row], names: Sequence[str], *, header: bool = True) -> str:
    written = io.StringIO(newline="")
    table = csv.writer(written, lineterminator="\n")
    if header:
        table.writerow(names)
    for row in rows:
        table.writerow([_harmless(row[name]) for name in names])
    return written.getvalue()


def _harmless(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(_RUNS) else value


def _json(rows: Sequence[Row]) -> bytes:
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def _parquet(source: Path, target: Path, fields: Sequence[ExportField]) -> None:
    import duckdb

    kinds = {one.field: _KINDS[one.kind] for one in fields}
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in kinds.items())
    new = target.with_name(f".{target.name}.new")
    quoted = str(new).replace("'", "''")
    query = f"""
        COPY (SELECT * FROM read_json(?, format = 'array', columns = {{{columns}}}, maximum_object_size = 67108864))
        TO '{quoted}' (FORMAT parquet)
    """  # noqa: S608  (names of this program, and a path whose quotes are doubled)
    try:
        with writing(target), duckdb.connect() as database:
            database.execute(query, [as_pattern(source)])
            new.replace(target)
    finally:
        new.unlink(missing_ok=True)
