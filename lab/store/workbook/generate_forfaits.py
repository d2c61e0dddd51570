"""The sheets `forfaits` and `calendar`: packages, other expenses, catalogue; tasks and access windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.calcul_forfaits import Offer
from lab.model.catalogue import PackageChoice
from lab.store.moments import zone_named
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.formulas import Formulas, quoted
from lab.store.workbook.lines import Lines
from lab.store.workbook.page import Formula, Mark, Page
from lab.store.workbook.sheet import letters
from lab.store.workbook.tables import CALENDAR, CATALOGUE, CHOICES, EXPENSES, WINDOWS

_MARGIN = 2  # width of the column that carries section titles, so that no title stands in a table's column
_FIRST = 2  # tables of `forfaits` begin in column B
_BETWEEN = 5  # rows from the end of a table to the header of the next: a gap, its title and its sentence
_CUT = "increment_minutes"  # the first column of the catalogue's second printed part
_OPEN_CHOICES = replace(
    CHOICES,
    columns=tuple(replace(one, filler="person") if one.filler == "manifest" else one for one in CHOICES.columns),
)
_CALENDAR_HEADER = 4
_WINDOWS_FIRST = len(CALENDAR.columns) + 2


def forfaits_sheet(page: Page, lines: Lines) -> None:
    """Choices first, one line a variant; then other expenses; the catalogue last, where it can grow."""
    page.title("forfaits")
    page.sheet.set_column(0, 0, _MARGIN)
    page.widths(CATALOGUE, _FIRST)
    page.widths(CHOICES, _FIRST)  # the columns that the tables share take the width of the first
    end_of_choices = _choices_table(page, lines, 6)
    end_of_expenses = _expenses_table(page, lines.content, end_of_choices + _BETWEEN)
    header = end_of_expenses + _BETWEEN
    last = _catalogue_table(page, lines.content, header)
    page.sheet.freeze_panes(2, _FIRST)
    page.prints(None, None)
    # The widest table prints in two parts, so that all of them stay readable on paper; cards stand beside both.
    cut, right = _FIRST + CATALOGUE.names.index(_CUT), _FIRST + len(CATALOGUE.columns) - 1
    first_part = (1, 1, end_of_expenses, _FIRST + len(CHOICES.columns) - 1)
    page.prints_parts((first_part, (header - 2, 1, last, cut - 1), (header, cut, last, right)))
    page.sheet.repeat_columns(_FIRST - 1)


def _choices_table(page: Page, lines: Lines, header: int) -> int:
    """Ready for variants that the manifest gets later; without a manifest, variant and card are typed in."""
    page.section(header - 2, "choices")
    choices = lines.choices()
    ready: list[PackageChoice | None] = [*choices, *[None] * CHOICES.spare]
    rows = [lines.choice(one, header + 1 + place, _FIRST) for place, one in enumerate(ready)]
    last = page.table(CHOICES if choices else _OPEN_CHOICES, header, _FIRST, rows, spare=0)
    page.checks(CHOICES, header, _FIRST, last)
    named = {"choice_variant": "variant", "choice_committed": "committed", "choice_currency": "currency"}
    page.columns_named(CHOICES, header, _FIRST, named, last)
    page.highlight(CHOICES, header + 1, _FIRST, last, _choice_marks(page))
    return last


def _expenses_table(page: Page, content: WorkbookContent, header: int) -> int:
    page.section(header - 2, "expenses")
    rows = [{name: getattr(one, name) for name in EXPENSES.names} for one in content.expenses]
    last = page.table(EXPENSES, header, _FIRST, rows)
    page.checks(EXPENSES, header, _FIRST, last)
    return last


def _catalogue_table(page: Page, content: WorkbookContent, header: int) -> int:
    """Its lists and names reach further than its rows: prices are added below."""
    page.section(header - 2, "catalogue")
    version = letters(_FIRST + CATALOGUE.names.index("catalogue_version"))
    formulas, example = Formulas(page.words), page.words.text("word.example_price")
    offers: list[Mapping[str, object]] = []
    for number in range(len(content.offers) + CATALOGUE.spare):
        offer = content.offers[number] if number < len(content.offers) else None
        status = example if offer is not None and offer.example else ""
        formula = Formula(formulas.offer_status(f"${version}{header + 1 + number}"), status)
        offers.append({**(_offer_cells(offer, page) if offer else {}), "price_status": formula})
    last = page.table(CATALOGUE, header, _FIRST, offers, spare=0)
    end = header + 500
    page.checks(CATALOGUE, header, _FIRST, end)
    named = {
        "offer_gpu": "gpu", "offer_days": "days", "offer_model": "model", "offer_cards": "cards_per_lot",
        "offer_price": "price", "offer_currency": "currency", "offer_version": "catalogue_version",
        "offer_increment": "increment_minutes", "offer_minimum": "minimum_hours", "offer_spot": "spot",
    }  # fmt: skip
    page.columns_named(CATALOGUE, header, _FIRST, named, end)
    marks = {"price_status": (Mark(f"{{price_status}}={quoted(example)}", page.styles.doubt()),)}
    page.highlight(CATALOGUE, header + 1, _FIRST, last, marks)
    return last


def _choice_marks(page: Page) -> dict[str, tuple[Mark, ...]]:
    words, doubt = page.words, page.styles.doubt()
    unknown, example = quoted(words.text("word.window_unknown")), quoted(words.text("word.example_price"))
    return {
        "committed": (Mark('AND(ISTEXT({committed}),{committed}<>"")', doubt),),
        "covers_window": (
            Mark(f"{{covers_window}}={quoted(words.text('word.no'))}", page.styles.alarm()),
            Mark(f"{{covers_window}}={unknown}", doubt),
        ),
        "price_status": (Mark(f"{{price_status}}={example}", doubt),),
    }


def _offer_cells(offer: Offer, page: Page) -> dict[str, object]:
    cells: dict[str, object] = {name: getattr(offer, name) for name in CATALOGUE.names if hasattr(offer, name)}
    cells["device_names"] = "; ".join(offer.device_names) or None
    cells["spot"] = page.words.text("word.yes" if offer.spot else "word.no")
    return cells


def calendar_sheet(page: Page, lines: Lines) -> None:
    """Tasks to fill on the left, the access window of each variant on the right, in the protocol's zone."""
    page.title("calendar")
    sheet, content = page.sheet, lines.content
    zone = zone_named(content.protocol.time_zone)
    header = _CALENDAR_HEADER
    tasks = [
        {
            "variant": one.variant, "task": one.task, "notes": one.notes,
            "start": one.start.astimezone(zone) if zone else one.start,
            "end": one.end.astimezone(zone) if zone else one.end,
        }
        for one in content.calendar
    ]  # fmt: skip
    page.widths(CALENDAR, 1)
    page.widths(WINDOWS, _WINDOWS_FIRST)
    last = page.table(CALENDAR, header, 1, tasks)
    end = header + 2_000
    page.checks(CALENDAR, header, 1, end)
    page.columns_named(CALENDAR, header, 1, {"task_variant": "variant", "task_start": "start", "task_end": "end"}, end)
    sheet.set_column(len(CALENDAR.columns), len(CALENDAR.columns), _MARGIN)
    names: list[str | None] = [*(name for name, _ in lines.frame.variants), *[None] * WINDOWS.spare]
    rows = [lines.window(name, header + 1 + place, _WINDOWS_FIRST) for place, name in enumerate(names)]
    below = page.table(WINDOWS, header, _WINDOWS_FIRST, rows, spare=0)
    named = {"window_variant": "window_variant", "window_hours": "window_hours"}
    page.columns_named(WINDOWS, header, _WINDOWS_FIRST, named, below)
    unknown = Mark(f"{{window_hours}}={quoted(page.words.text('word.unknown'))}", page.styles.doubt())
    page.highlight(WINDOWS, header + 1, _WINDOWS_FIRST, below, {"window_hours": (unknown,)})
    sheet.freeze_panes(header, 0)
    page.prints(header, (max(last, below), _WINDOWS_FIRST + len(WINDOWS.columns) - 1))
