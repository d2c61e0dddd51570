"""The kit: one zip file a language, with what a person needs to prepare a comparison and to keep its evidence."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from lab import calcul_forfaits
from lab.errors import UsageProblemError, fault
from lab.messages import LANGUAGES, Messages, messages
from lab.model.protocol import PROTOCOL_FIELDS
from lab.report.kit_memory import NAME as MEMORY
from lab.report.kit_memory import memory_notebook, memory_script
from lab.report.languages import LANGUAGE_NAMES
from lab.report.page import environment, look, policy, source_hash
from lab.report.site_downloads import Download
from lab.report.site_facts import site_facts
from lab.report.site_map import Link
from lab.report.site_prose import filled, inline, parse
from lab.store.files import read_bytes, read_text, resource, write_atomically, writing

PAGES = ("README", "quality-protocol", "instructions")  # each in Markdown and in HTML
# The fields of the sheet `protocol` by the section of the quality protocol that asks for them.
ASKED: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "scenario", "covered_load"),
    "inputs": ("corpus_rights",),
    "result": (
        "accepted_result", "metric", "threshold", "tolerance", "reference_variant", "subgroup_thresholds",
        "reproducibility_target",
    ),
    "passes": ("repetitions", "required_accepted_passes", "separation_factor", "exclusion_rules"),
    "window": ("time_zone", "deadline", "budget_limit", "currency", "planned_deliverables"),
    "decided": ("author", "decided_on", "notes"),
}  # fmt: skip
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest moment that a zip file can hold
_MODE = 0o100644 << 16
_UNIX = 3


def kit_files(language: str) -> Mapping[str, bytes]:
    """Name -> content of every file of the kit in `language`; the same product gives the same bytes.

    Raises:
        InvalidInputError: the catalogue that ships does not hold.
        OutsideFailureError: a source of the kit is not installed.
    """
    texts = messages(language)
    workbook = f"campaign.{language}.xlsx"
    facts = {**site_facts(texts), **{name: _asked(names, texts) for name, names in ASKED.items()}, "workbook": workbook}
    sources = {name: filled(read_text(resource("site", "kit", language, f"{name}.md")), facts) for name in PAGES}
    script = memory_script(texts)
    return {
        **{f"{name}.md": source.encode("utf-8") for name, source in sources.items()},
        **{f"{name}.html": page.encode("utf-8") for name, page in _pages(sources, texts).items()},
        workbook: read_bytes(resource("workbook", workbook)),
        "raw-results.csv": read_bytes(resource("workbook", "raw-results.csv")),
        "calcul_forfaits.py": read_bytes(Path(calcul_forfaits.__file__)),
        "tarifs-forfaits.csv": read_bytes(resource("workbook", "tarifs-forfaits.csv")),
        f"{MEMORY}.py": script.encode("utf-8"),
        f"{MEMORY}.ipynb": memory_notebook(script),
        "LICENSE.txt": read_bytes(resource("LICENSE")),
    }


def _asked(names: tuple[str, ...], texts: Messages) -> str:
    """A Markdown list of fields of the protocol, each with its meaning, an example and room for the answer."""
    needed = {one.name for one in PROTOCOL_FIELDS if one.required}
    items = []
    for name in names:
        mark = f" · *{texts.text('kit.needed')}*" if name in needed else ""
        lines = (
            f"- **{texts.text(f'field.{name}.label')}** · `{name}`{mark}",
            texts.text(f"field.{name}.help"),
            texts.text("kit.example", example=texts.text(f"field.{name}.example")),
            texts.text("kit.answer"),
        )
        items.append("  \n  ".join(lines))
    return "\n".join(items)


def _pages(sources: Mapping[str, str], texts: Messages) -> Mapping[str, str]:
    """Name -> HTML of each page; what leads to another one in Markdown leads to it in HTML."""
    style = look() + read_text(resource("templates", "site", "site.css"))
    proses = {}
    for name, source in sources.items():
        linked = re.sub(rf"\]\(({'|'.join(PAGES)})\.md\)", r"](\1.html)", source)
        proses[name] = parse(linked, {})
    template = environment("site", "report").get_template("kit.html.j2")
    made = {}
    for name, prose in proses.items():
        made[name] = template.render(
            language=texts.language,
            title=f"{prose.title} · {texts.text('site.product')}",
            skip=texts.text("site.skip"),
            policy=policy((), [source_hash(style)]),
            style_href=None,
            styles=[Markup(style)],  # noqa: S704  (our own CSS)
            script_hrefs=[],
            scripts=[],
            prose=prose,
            lead=inline(prose.lead),
            product=texts.text("site.product"),
            nav_title=texts.text("kit.nav"),
            nav=[Link(other.title, f"{one}.html", here=one == name) for one, other in proses.items()],
            footer=texts.text("site.footer"),
        )
    return made


def kit(language: str) -> bytes:
    """The kit as a zip file, stored under one folder; raises what `kit_files` does.

    Nothing in it is compressed, so that no version of a compressor changes its bytes.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as zipped:
        for name, data in sorted(kit_files(language).items()):
            entry = zipfile.ZipInfo(f"gpu-decision-lab-kit.{language}/{name}", _LONG_AGO)
            entry.create_system, entry.external_attr = _UNIX, _MODE
            zipped.writestr(entry, data)
    return packed.getvalue()


def kits() -> tuple[Download, ...]:
    """The kit of every language, as the site offers it."""
    return tuple(
        Download(f"kit.{one}.zip", "site.download.kit", kit(one), {"language": LANGUAGE_NAMES[one]})
        for one in LANGUAGES
    )


def write_kits(folder: Path) -> tuple[Path, ...]:
    """Write the kit of every language into `folder`, which is made where it is missing; their paths.

    Raises:
        UsageProblemError: `folder` is a file.
        InvalidInputError: the catalogue that ships does not hold.
        OutsideFailureError: the disk refuses, or a source of the kit is not installed.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageProblemError(fault("kit-is-a-file", file=str(folder)))
    found = kits()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        write_atomically(folder / one.name, one.data)
    return tuple(folder / one.name for one in found)
