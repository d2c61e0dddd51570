"""One campaign's workbook content, and the ways in which files come back: edited, resaved by LibreOffice, cut."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from openpyxl import load_workbook
from openpyxl.workbook import Workbook

from lab.calcul_forfaits import Offer
from lab.errors import Fault, InvalidInputError
from lab.messages import LANGUAGES, messages
from lab.model.attempt import Attempt
from lab.model.catalogue import CalendarTask, Deliverable, Expense, PackageChoice
from lab.model.manifest import Manifest
from lab.model.protocol import ExclusionRule, Protocol, SubgroupThreshold
from lab.store.workbook import WorkbookContent, empty_content, read_workbook, write_workbook
from lab.store.workbook.generate import frame_of, workbook_bytes
from lab.store.workbook.package import Package, file_bytes, package_of

PARIS = ZoneInfo("Europe/Paris")
HEADER = 4
# LibreOffice recalculates every formula on loading, whatever the file says.
RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>"""


CARDS = {"b1": "rtx-4090", "b4": "rtx-4090", "b200": "b200", "h100": "h100"}


def manifest(language: str = "en", cards: Mapping[str, str] = CARDS) -> Manifest:
    """Four variants: three cards, one of them without a price; or others."""
    return Manifest.model_validate(
        {
            "schema": 1,
            "name": "support-tickets",
            "language": language,
            "corpora": ({"id": "tickets", "path": "corpus.jsonl", "groups": ("length",)},),
            "variants": tuple({"id": name, "gpu": gpu, "model": "models/tickets"} for name, gpu in cards.items()),
        }
    )


def offer(gpu: str, name: str, price: str, *, cards: int = 1, days: int = 7, version: str = "2026-09-24") -> Offer:
    """A package of the catalogue."""
    return Offer(
        gpu=gpu, name=name, cards_per_lot=cards, device_names=(f"NVIDIA {name}",), memory_gib_per_card=None,
        model="forfait", days=days, increment_minutes=None, minimum_hours=None, region=None, spot=False,
        price=Decimal(price), currency="USD", catalogue_version=version, source="catalogue",
    )  # fmt: skip


def attempt(variant: str, number: int, **values: object) -> Attempt:
    """A completed and accepted attempt of one variant."""
    held: dict[str, object] = {
        "started_at": f"2026-11-30T17:20:{number:02d}+00:00", "variant": variant, "corpus": "tickets",
        "parameters": '{"batch_size":8}', "round": number, "position": 1, "outcome": "completed",
        "completed_inputs": 1000, "elapsed_s": 131.25, "duration_s": 98.123456 + number, "expected_ids": 1000,
        "observed_ids": 1000, "duplicate_ids": 0, "missing_ids": 0, "unexpected_ids": 0, "ids_match": True,
        "format_ok": True, "metric": "macro_f1", "metric_value": 0.9631, "quality_ok": True,
        "corpus_accepted": "accepted", "seed": 0, "missing_reason": "energy_j: no counter",
    }  # fmt: skip
    return Attempt(f"{variant}_tickets_r{number}", **{**held, **values})  # type: ignore[arg-type]  (a row of values)


def attempts() -> tuple[Attempt, ...]:
    """Three accepted attempts and a failure of `b1`, one attempt of `b4`, none of the others."""
    failed = {"outcome": "out_of_memory", "duration_s": None, "completed_inputs": 412, "corpus_accepted": "rejected"}
    return (
        attempt("b1", 1),
        attempt("b1", 2, notes='=HYPERLINK("http://x")'),
        attempt("b1", 3),
        attempt("b1", 4, **failed),
        attempt("b4", 1),
    )


def content(language: str = "en") -> WorkbookContent:
    """A filled workbook with every case that the formulas must tell apart."""
    protocol = Protocol(
        question="Which configuration?", metric="macro_f1", threshold=0.95, tolerance=0.01, reference_variant="b1",
        subgroup_thresholds=(SubgroupThreshold("length", "long", 0.9),), reproducibility_target="business_quality",
        repetitions=5, required_accepted_passes=4, separation_factor=1.0,
        exclusion_rules=(ExclusionRule("slow", "load_s", ">", "60"), ExclusionRule("outage")),
        time_zone="Europe/Paris", deadline=datetime(2026, 12, 18, 18, tzinfo=PARIS), budget_limit=Decimal(500),
        currency="USD", planned_deliverables=("tickets", "archive"), decided_on="2026-11-30",
    )  # fmt: skip
    monday = datetime(2026, 12, 7, 9, tzinfo=PARIS)
    return replace(
        empty_content(manifest(language)),
        protocol=protocol,
        rows=attempts(),
        choices=(
            PackageChoice("b1", "rtx-4090", 7, 2),
            PackageChoice("b4", "rtx-4090", 3, 2),
            PackageChoice("b200", "b200", 7, 1, rental_reference="LAB-1"),
            PackageChoice("h100", "h100"),
        ),
        offers=(
            offer("rtx-4090", "RTX 4090", "110"),
            offer("b200", "B200", "2071", cards=2),
            offer("rtx-4090", "RTX 4090", "300", days=30, version="example-2026"),
        ),
        expenses=(
            Expense("Transfer", "b1", Decimal("35.50"), "USD", "Invoice"),
            Expense("Help", None, Decimal(10), "USD"),
        ),
        calendar=(
            CalendarTask("All of it", monday, monday.replace(day=11)),
            CalendarTask(
                "Across the change",
                datetime(2027, 3, 26, 9, tzinfo=PARIS),
                datetime(2027, 3, 30, 9, tzinfo=PARIS),
                "b4",
            ),
        ),
        deliverables=(
            Deliverable("tickets", "b1", accepted=True, attempt_id="b1_tickets_r1"),
            Deliverable("archive", "b1", accepted=True, attempt_id="b1_tickets_r2", notes="second"),
            Deliverable("tickets", "b200", accepted=False),
        ),
    )


@cache
def _sample(language: str) -> bytes:
    return workbook_bytes(content(language), frame_of(manifest(language)))


def write(path: Path, language: str = "en", held: WorkbookContent | None = None) -> Path:
    """The sample as a file, or another content."""
    if held is None:
        path.write_bytes(_sample(language))
    else:
        write_workbook(path, held, manifest(language))
    return path


def edited(path: Path, change: Callable[[Workbook], None]) -> Path:
    """The file as another program would save it after a change."""
    book = load_workbook(path)
    change(book)
    book.save(path)
    return path


def parts(path: Path) -> dict[str, bytes]:
    """Every part of the zip."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezipped(path: Path, changed: Mapping[str, bytes]) -> Path:
    """The file with some parts replaced or added."""
    held = {**parts(path), **changed}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return path


def without_results(path: Path) -> Path:
    """The file with every stored result of a formula made wrong, so that only a calculation gives the right one."""
    wrong = {
        name: re.sub(rb"(</f><v>)[^<]*(</v>)", rb"\g<1>987654\g<2>", data)
        for name, data in parts(path).items()
        if name.startswith("xl/worksheets/sheet")
    }
    return rezipped(path, wrong)


def converted(soffice: str, path: Path, to: str, folder: Path, *, recalculate: bool = True) -> Path:
    """The file as LibreOffice opens and saves it; without `recalculate` with the settings it comes with."""
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    if recalculate:
        (profile / "user" / "registrymodifications.xcu").write_text(RECALCULATE)
    command = [soffice, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to", to]
    subprocess.run([*command, "--outdir", str(folder), str(path)], check=True, capture_output=True, timeout=120)
    return folder / f"{path.stem}.{to}"


def said(found: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults, each of which can be said in every language with all its facts."""
    held = tuple(found)
    for one in held:
        for language in LANGUAGES:
            assert not re.search(r"\{\w+\}", messages(language).fault(one)), one
    return held


def faults(path: Path, language: str = "en") -> dict[str, Fault]:
    """The faults of reading, by slug (the last of each)."""
    try:
        read_workbook(path, manifest(language))
    except InvalidInputError as error:
        return {one.slug: one for one in said(error.faults)}
    return {}


def open_package(path: Path) -> Package:
    """A workbook file as the reader opens it."""
    return package_of(file_bytes(path, path.name), path.name)
