"""The static site as files; and of its pages the calculator, and the one before all others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path

from markupsafe import Markup

from lab.analysis.coverage import USUAL_DAYS
from lab.calcul_forfaits import OFFER_COLUMNS, Offer
from lab.errors import UsageProblemError, fault
from lab.messages import LANGUAGES, Messages, messages
from lab.prices import MODEL_CELLS
from lab.report.languages import LANGUAGE_NAMES, switches
from lab.report.page import environment, island, look, policy, source_hash
from lab.report.site_downloads import FOLDER as DOWNLOADS
from lab.report.site_downloads import Download, shipped_downloads
from lab.report.site_example import FOLDER as EXAMPLE
from lab.report.site_example import read_example
from lab.report.site_pages import site_pages
from lab.report.site_render import navigation, render_pages
from lab.store.catalogue import shipped_offers
from lab.store.files import read_bytes, read_text, resource, write_atomically, writing

SCRIPTS = (
    "exact.js", "csv.js", "prices.js", "windows.js", "words.js", "moments.js", "tasks.js", "entries.js", "results.js",
    "page.js",
)  # fmt: skip
CATALOGUE = "tarifs-forfaits.csv"

_STATIC = (
    "product", "name", "question", "intro", "noscript", "entries", "rented", "gpu", "lots", "periods", "periods.hint",
    "window", "window.hint", "mode.dates", "mode.tasks", "mode.hours", "tasks.hint", "tasks.add", "start", "end",
    "zone", "hours", "results", "accepted", "accepted.hint", "quality", "comparison", "hourly", "hourly.hint",
    "copy", "print", "again", "packages", "by_the_hour", "catalogues", "files", "files.hint", "rules",
)  # fmt: skip
_RULES = ("hours", "budget", "unknown", "cost", "candidate")
# What the scripts say, by their name for it.
_LIVE = (
    "lot_cards", "day", "days", "answer.no_window", "answer.entries", "answer.covers", "answer.covers_once",
    "answer.none", "answer.currencies", "remark.unknown", "remark.spot", "reading", "reading.clocks", "reading.tasks",
    "task.n", "task.name", "task.remove", "task.remove_n", "start", "end", "covers",
    "short", "holds", "committed", "counted", "unknown", "unknown.why", "cost", "cost.not_stated",
    "cost.unconfirmed", "cost.undefined", "cost.value", "more", "more.one", "cheapest", "spot", "hour.none",
    "hour.typed", "hour.price", "hour.billed", "hour.minimum", "hour.open", "hour.committed", "hour.hours",
    "hour.cards", "hour.even", "hour.even_never", "hour.even_always", "hour.currency", "catalogue.shipped",
    "catalogue.own", "catalogue.none", "refused", "refused.big", "refused.unreadable", "copied",
    "copied.not", "wrong.count", "wrong.number", "wrong.amount", "wrong.no_date", "wrong.no_other",
    "wrong.time-twice", "wrong.time-never", "wrong.window-reversed", "wrong.time-zone-unknown", "wrong.take",
    "wrong.hours",
)  # fmt: skip
_SHARED = (
    "price.card", "price.cards", "price.source", "price.example-price", "price.two-prices", "fault.price-gpu-spellings",
    "fault.price-gpu-spellings.do", "place.line", "place.fault",
    "fault.price-encoding", "fault.price-row", "fault.price-delimiter", "fault.price-columns", "fault.price-cell",
    "fault.price-twice", "fault.price-empty", "fault.price-empty.do",
    "fault.price-encoding.do", "fault.price-row.do", "fault.price-delimiter.do",
    "fault.price-columns.do", "fault.price-cell.do", "fault.price-twice.do",
)  # fmt: skip


@dataclass(frozen=True)
class _Place:
    """A language's entry on the first page."""

    language: str
    name: str
    href: str
    intro: str
    calculator: str
    calculator_href: str


def build_site(
    folder: Path, language: str, *, example: Path | None = None, downloads: Sequence[Download] = ()
) -> tuple[Path, ...]:
    """Write the site into `folder`, which is made where it is missing; other files in it are left alone.

    The same inputs give the same bytes.

    Args:
        folder: the site; its folders are `en/`, `fr/`, `it/`, `calculator/`, `downloads/` and `example/`.
        language: the one that `calculator/index.html` opens in.
        example: a campaign folder with a report of real measurements, which becomes `example/`. None: the page says
            how to make one.
        downloads: files offered besides those that ship.

    Returns:
        The pages, first the one to open.

    Raises:
        UsageProblemError: `folder` is a file, or `example` has no report of measurements.
        InvalidInputError: the catalogue that ships does not hold, or the report cannot be read.
        OutsideFailureError: the disk refuses, or the sources of the site are not installed.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageProblemError(fault("site-is-a-file", file=str(folder)))
    document = None if example is None else read_example(example)
    offered = (*shipped_downloads(), *downloads)
    pages = {"index.html": home_page(language)}
    for one in LANGUAGES:
        texts = messages(one)
        pages.update(render_pages(site_pages(texts, offered, document), texts))
    pages.update({f"calculator/{one}.html": calculator_page(one) for one in LANGUAGES})
    pages["calculator/index.html"] = pages[f"calculator/{language}.html"]
    for name, text in pages.items():
        _write(folder / name, text.encode("utf-8"))
    for offer in offered:
        _write(folder / DOWNLOADS / offer.name, offer.data)
    if example is not None:
        _copy(example / "report", folder / EXAMPLE)
    return tuple(folder / name for name in pages)


def _copy(source: Path, target: Path) -> None:
    """Copy the files of a folder; a link could lead anywhere, and is left out."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = read_bytes(path)
            _write(target / path.relative_to(source), data)


def _write(path: Path, data: bytes) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)


def home_page(language: str) -> str:
    """The page before the others: each language's way in, named in itself; `language` is that of its title."""
    texts, style = messages(language), look()
    places = [
        _Place(
            one,
            LANGUAGE_NAMES[one],
            f"{one}/index.html",
            messages(one).text("site.purpose"),
            messages(one).text("site.name"),
            f"calculator/{one}.html",
        )
        for one in LANGUAGES
    ]
    return _page("home.html.j2", texts, style, (), texts.text("site.product"), places=places)


def calculator_page(language: str) -> str:
    """The calculator as one file: style, scripts, texts and the dated catalogue are in it; it asks nothing of anyone.

    Raises:
        InvalidInputError: the catalogue that ships does not hold.
    """
    texts, sources = messages(language), resource("site", "calculator")
    style = look() + read_text(sources / "calculator.css")
    scripts = tuple(read_text(sources / name) for name in SCRIPTS)
    title = f"{texts.text('site.name')} · {texts.text('site.product')}"
    rules = [texts.text(f"site.rule.{one}") for one in _RULES]
    data = island(calculator_data(texts))
    return _page(
        "calculator.html.j2",
        texts,
        style,
        scripts,
        title,
        switches=switches(language, "{}.html"),
        rules=rules,
        data=data,
        home_href=f"../{language}/index.html",
        nav=navigation(f"calculator/{language}.html", "calculator", texts),
        nav_label=texts.text("site.nav"),
    )


def calculator_data(texts: Messages) -> Mapping[str, object]:
    """What the page's scripts read: texts, separators, what a catalogue's columns accept, and the one that ships."""
    shipped_offers()  # one that does not hold is refused here, and not in front of a reader
    live = {key: texts.text(f"site.{key}") for key in _LIVE}
    one, sign = texts.number(Decimal("1234.5")), texts.number(Decimal("0.5"))
    money = texts.money(Decimal(1234), None)
    return {
        "language": texts.language,
        "marks": {"group": one[1], "decimal": sign[1], "money_group": money[1].strip("0123456789")},
        "words": {**live, **{key: texts.text(key) for key in _SHARED}},
        "days": USUAL_DAYS,
        "rules": catalogue_rules(),
        "catalogue": {"name": CATALOGUE, "text": read_text(resource("workbook", CATALOGUE))},
    }


def catalogue_rules() -> dict[str, object]:
    """The columns of a catalogue as `lab.calcul_forfaits` reads them, for a reader in another language.

    Each column has `form` (a regular expression without flags; `any_case` says whether letters match in both), `type`
    (`str`, `int`, `Decimal`, `bool`, `tuple`), `example`, and what it is when empty: `optional`, `absent`.
    """
    columns = []
    for column in (one for one in fields(Offer) if one.metadata):
        form, _, example, *absent = column.metadata["cell"]
        folded = re.fullmatch(r"\(\?i:(.+)\)", form)  # an inline flag that not every browser knows
        columns.append(
            {
                "name": column.name,
                "form": "[^\\n]+" if form == ".+" else folded[1] if folded else form,
                "any_case": bool(folded),
                "type": str(column.type).split("[")[0].split(" ")[0],
                "example": example,
                "optional": bool(absent),
                "absent": absent[0] if absent else None,
            }
        )
    models = {name: list(cells) for name, cells in MODEL_CELLS.items()}
    own = {cell for cells in MODEL_CELLS.values() for cell in cells}
    return {"columns": columns, "models": models, "of_models": [name for name in OFFER_COLUMNS if name in own]}


def _page(template: str, texts: Messages, style: str, scripts: tuple[str, ...], title: str, **values: object) -> str:
    shown = {key: texts.text(f"site.{key}") for key in _STATIC}
    shown["languages"] = texts.text("report.page.languages")
    return environment("site", "report").get_template(template).render(
        language=texts.language, title=title, skip=texts.text("report.page.skip"), words=shown,
        policy=policy([source_hash(one) for one in scripts], [source_hash(style)]),
        style_href=None, styles=[Markup(style)], script_hrefs=[],  # noqa: S704  (our own CSS)
        scripts=[Markup(one) for one in scripts], **values,  # noqa: S704  (our own scripts)
    )  # fmt: skip
