"""Publishing: a new version only when something changed, written whole or not at all, never rewritten."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lab.messages import LANGUAGES
from lab.model.reason import Reason
from lab.report.blocks import Line, Lines, Link, Version, Versions
from lab.report.changes import changes
from lab.report.document_plain import Json, facts_of, plain
from lab.report.render import Assets, note_page, read_assets, standalone_note, versions_page
from lab.report.view import LANGUAGE_NAMES, note, switches
from lab.report.view_first import answer
from lab.report.words import Words, sentence
from lab.store.canonical import readable_json
from lab.store.files import read_json, write_atomically, writing

_VERSION = re.compile(r"v([1-9][0-9]*)")
_PAGE_WORDS = ("skip", "languages")


@dataclass(frozen=True)
class Published:
    """Where the report stands: its latest version, whether it is new, and what changed since the one before."""

    version: int
    created: bool
    changes: tuple[Reason, ...]
    path: Path


def publish(folder: Path, document: Json, notes: Mapping[str, str]) -> Published:
    """Write the next version of the report under `folder/report/`, or nothing when the latest says the same.

    Args:
        folder: the campaign folder.
        document: from `lab.report.document.build`; it is not changed.
        notes: language -> the author's Markdown, as read from `notes.<lang>.md`.

    Returns:
        The latest version; `path` is its folder.

    Raises:
        InvalidInputError: an earlier `decision.json` cannot be read.
        OutsideFailureError: the disk refuses; no version is half there.
    """
    report = folder / "report"
    said = json.loads(readable_json({**document, "author_notes": dict(sorted(notes.items()))}))
    earlier = read_versions(report)
    latest = earlier[-1] if earlier else None
    created = latest is None or _content(latest) != said
    if created:
        number = latest["report_version"] + 1 if latest else 1
        earlier = [*earlier, _numbered(said, number)]
    assets = read_assets()
    with writing(report):
        (report / "assets").mkdir(parents=True, exist_ok=True)
    for name, data in assets.files().items():
        _keep(report / "assets" / name, data)
    if created:
        _write_version(report, earlier[-1], assets)
    _write_index(report, earlier, assets)
    before = earlier[-2] if len(earlier) > 1 else None
    number = earlier[-1]["report_version"]
    return Published(number, created, changes(before, earlier[-1]), report / f"v{number}")


def read_versions(report: Path) -> list[Json]:
    """The documents of the published versions, oldest first; none when nothing is published.

    Raises:
        InvalidInputError: a version's `decision.json` cannot be read.
    """
    if not report.is_dir():
        return []
    found = ((int(match[1]), path) for path in report.iterdir() if (match := _VERSION.fullmatch(path.name)))
    return [read_json(path / "decision.json", f"report/{path.name}/decision.json") for _, path in sorted(found)]


def _content(document: Json) -> Json:
    return {key: value for key, value in document.items() if key != "report_version"}


def _numbered(document: Json, number: int) -> Json:
    head = {"schema_version": document["schema_version"], "campaign": document["campaign"], "report_version": number}
    return {**head, **document, "report_version": number}


def _write_version(report: Path, document: Json, assets: Assets) -> None:
    """Build the version in a folder of its own, then give it its name at once."""
    name = f"v{document['report_version']}"
    building = report / f".{name}.new"
    files = {"decision.json": readable_json(document)}
    for language in LANGUAGES:
        view = note(document, language)
        page = note_page(view, switches(language, "{}.html"), assets, "../assets/", f"../index.{language}.html")
        files[f"{language}.html"] = _bytes(page)
        files[f"decision-note.{language}.html"] = _bytes(standalone_note(view, (), assets))
    # Opening the folder shows the campaign's own language, with the switch to the others on the page.
    files["index.html"] = files[f"{document['language']}.html"]
    with writing(report / name):
        shutil.rmtree(building, ignore_errors=True)  # what a run that died has left
        building.mkdir()
        for file, data in files.items():
            write_atomically(building / file, data)
        building.rename(report / name)


def _write_index(report: Path, documents: Sequence[Json], assets: Assets) -> None:
    pages = {
        language: _bytes(
            versions_page(_versions(documents, language), switches(language, "index.{}.html"), assets, "assets/")
        )
        for language in LANGUAGES
    }
    for language, data in pages.items():
        _keep(report / f"index.{language}.html", data)
    _keep(report / "index.html", pages[documents[-1]["language"]])


def _versions(documents: Sequence[Json], language: str) -> Versions:
    listed = tuple(
        _version(document, documents[place - 1] if place else None, language)
        for place, document in reversed(list(enumerate(documents)))
    )
    words = Words(documents[-1], language)
    return Versions(
        language=language,
        title=words.text("versions.title", campaign=documents[-1]["campaign"]),
        campaign=documents[-1]["campaign"],
        intro=words.text("versions.intro"),
        versions=listed,
        words={name: words.text(f"page.{name}") for name in _PAGE_WORDS},
    )


def _version(document: Json, before: Json | None, language: str) -> Version:
    words, name = Words(document, language), f"v{document['report_version']}"
    date = datetime.fromisoformat(document["date"]) if document["date"] else None
    lines = tuple(
        Line(_said(one, words, example=document["decision"]["example_price"])) for one in changes(before, document)
    )
    files = [
        Link(words.text("versions.note", language=LANGUAGE_NAMES[one]), f"{name}/decision-note.{one}.html")
        for one in LANGUAGES
    ]
    return Version(
        id=name,
        name=sentence(words.text("version", n=document["report_version"])),
        href=f"{name}/{language}.html",
        date=words.text("measured_on", date=words.messages.date(date)) if date else None,
        answer=answer(document, words),
        changes=Lines(lines, words.text("versions.changes") if before else None),
        files=(*files, Link("decision.json", f"{name}/decision.json")),
    )


def _said(one: Reason, words: Words, *, example: bool) -> str:
    values = {name: plain(value) for name, value in one.values.items()}
    return words.messages.text(one.key, **facts_of(values, words.messages, example=example))


def _bytes(page: str) -> bytes:
    # A lone surrogate from a hostile file has no UTF-8; a character reference shows it as unreadable, as it is.
    return page.encode("utf-8", "xmlcharrefreplace")


def _keep(path: Path, data: bytes) -> None:
    """Write a file unless it already says the same: same inputs, nothing rewritten."""
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)
