"""Publishing: a new version only when something changed, written whole or not at all, never rewritten."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lab.errors import InvalidInputError, fault
from lab.messages import LANGUAGES
from lab.model.reason import Reason
from lab.report.blocks import Line, Lines, Link, Version, Versions
from lab.report.changes import changes
from lab.report.document_json import read_back, written
from lab.report.document_plain import Json, facts_of, plain
from lab.report.hashes import HASHES, of_shared, of_version, recorded_files
from lab.report.languages import LANGUAGE_NAMES, switches
from lab.report.render import Assets, note_page, read_assets, standalone_note, versions_page
from lab.report.view import note
from lab.report.view_first import answer
from lab.report.words import Words, sentence
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


def publish(
    folder: Path, document: Json, notes: Mapping[str, str], declared: Mapping[str, str] | None = None
) -> Published:
    """Write the next version of the report under `folder/report/`, or nothing when the latest says the same.

    Args:
        folder: the campaign folder.
        document: from `lab.report.document.build`; it is not changed.
        notes: language -> the author's Markdown, as read from `notes.<lang>.md`.
        declared: what manifest and workbook say (`lab.report.hashes.declared_values`), for a later `lab verify`.

    Returns:
        The latest version; `path` is its folder.

    Raises:
        InvalidInputError: an earlier `decision.json` cannot be read.
        OutsideFailureError: the disk refuses; no version is half there.
    """
    report = folder / "report"
    said = published_content(document, notes)
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
        _write_version(folder, earlier[-1], assets, declared or {})
    _write_index(report, earlier, assets)
    before = earlier[-2] if len(earlier) > 1 else None
    number = earlier[-1]["report_version"]
    return Published(number, created, changes(before, earlier[-1]), report / f"v{number}")


def read_versions(report: Path) -> list[Json]:
    """The documents of the published versions, oldest first; none when nothing is published.

    Raises:
        InvalidInputError: a version's `decision.json` cannot be read.
    """
    return [read_version(report, number) for number in version_numbers(report)]


def version_numbers(report: Path) -> list[int]:
    """The numbers of the published versions, oldest first."""
    if not report.is_dir():
        return []
    return sorted(int(match[1]) for path in report.iterdir() if (match := _VERSION.fullmatch(path.name)))


def read_version(report: Path, number: int) -> Json:
    """The document of one version.

    Raises:
        InvalidInputError: its `decision.json` cannot be read, or is no document.
    """
    shown = f"report/v{number}/decision.json"
    found = read_json(report / f"v{number}" / "decision.json", shown)
    if not isinstance(found, dict):
        raise InvalidInputError(fault("file-not-json", file=shown))
    return found


def published_content(document: Json, notes: Mapping[str, str]) -> Json:
    """A document as it stands in `decision.json`, its version number left out; for comparing."""
    return _content(read_back({**document, "author_notes": dict(sorted(notes.items()))}))


def _content(document: Json) -> Json:
    return {key: value for key, value in document.items() if key != "report_version"}


def _numbered(document: Json, number: int) -> Json:
    head = {"schema_version": document["schema_version"], "campaign": document["campaign"], "report_version": number}
    return {**head, **document, "report_version": number}


def _write_version(folder: Path, document: Json, assets: Assets, declared: Mapping[str, str]) -> None:
    """Build the version in a folder of its own, then give it its name at once."""
    report, name = folder / "report", f"v{document['report_version']}"
    building = report / f".{name}.new"
    files = {"decision.json": written(document), **version_pages(document, assets)}
    files[HASHES] = of_version(folder, document, files, declared)
    with writing(report / name):
        shutil.rmtree(building, ignore_errors=True)  # what a run that died has left
        building.mkdir()
        for file, data in files.items():
            write_atomically(building / file, data)
        building.rename(report / name)


def version_pages(document: Json, assets: Assets) -> dict[str, bytes]:
    """File name -> content of the pages of a version, from its document alone."""
    files = {}
    for language in LANGUAGES:
        view = note(document, language)
        page = note_page(view, switches(language, "{}.html"), assets, "../assets/", f"../index.{language}.html")
        files[f"{language}.html"] = _bytes(page)
        files[f"decision-note.{language}.html"] = _bytes(standalone_note(view, (), assets))
    # Opening the folder shows the campaign's own language, with the switch to the others on the page.
    files["index.html"] = files[f"{document['language']}.html"]
    return files


def index_pages(documents: Sequence[Json], assets: Assets) -> dict[str, bytes]:
    """File name -> content of the list of versions, from their documents alone, oldest first."""
    pages = {
        language: _bytes(
            versions_page(_versions(documents, language), switches(language, "index.{}.html"), assets, "assets/")
        )
        for language in LANGUAGES
    }
    files = {f"index.{language}.html": data for language, data in pages.items()}
    files["index.html"] = pages[documents[-1]["language"]]
    return files


def _write_index(report: Path, documents: Sequence[Json], assets: Assets) -> None:
    files = index_pages(documents, assets)
    for name, data in files.items():
        _keep(report / name, data)
    shared = {**files, **{f"assets/{name}": data for name, data in assets.files().items()}}
    _keep(report / HASHES, of_shared(shared, recorded_files(report / HASHES)))


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
