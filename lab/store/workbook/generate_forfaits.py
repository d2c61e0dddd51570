"""The sheets `forfaits` and `calendar`: packages, other expenses, catalogue; tasks and access windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.calcul_forfaits import Offer
from lab.model.catalogue import PackageChoice
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.formulas import Formulas
from lab.store.workbook.moments import zone_changes, zone_named
from lab.store.workbook.page import Formula, Frame, Page
from lab.store.workbook.sheet import letters
from lab.store.workbook.tables import CALENDAR, CATALOGUE, CHOICES, EXPENSES, WINDOWS
from lab.store.workbook.values import choice_values, span

_MARGIN = 2  # width of the column that carries section titles, so that no title stands in a table's column
_FIRST = 2  # tables of `forfaits` begin in column B
_BLANK_CHOICES = 4
# Without a manifest variant and card are typed in.
_OPEN_CHOICES = replace(
    CHOICES,
    columns=tuple(replace(one, filler="person") if one.filler == "manifest" else one for one in CHOICES.columns),
)
_CALENDAR_HEADER = 4
_WINDOWS_FIRST = len(CALENDAR.columns) + 2


def forfaits_sheet(page: Page, content: WorkbookContent, frame: Frame) -> None:
    """Choices first, one line a variant; then other expenses; the catalogue last, where it can grow."""
    page.title("forfaits")
    sheet, formulas = page.sheet, Formulas(page.words)
    sheet.set_column(0, 0, _MARGIN)
    page.widths(CATALOGUE, _FIRST)
    page.widths(CHOICES, _FIRST)  # the columns that the tables share take the width of the first
    chosen = {choice.variant: choice for choice in content.choices}
    names = [name for name, _ in frame.variants] + [one for one in chosen if one not in dict(frame.variants)]
    gpus = dict(frame.variants)
    choices = [chosen.get(name, PackageChoice(name, gpus.get(name))) for name in names]
    header = 6
    page.section(header - 2, "choices")
    rows = []
    blank = PackageChoice("")
    for number, choice in enumerate([*choices, *([] if choices else [blank] * _BLANK_CHOICES)]):
        texts = formulas.choice(header + 1 + number, _FIRST)
        values = choice_values(choice, content, page.words)
        rows.append(
            {
                "variant": choice.variant or None, "gpu": choice.gpu, "days": choice.days, "lots": choice.lots,
                "periods": choice.periods if choice.days else None, "rental_reference": choice.rental_reference,
                **{name: Formula(text, values[name]) for name, text in texts.items()},
            }
        )  # fmt: skip
    last = page.table(CHOICES if choices else _OPEN_CHOICES, header, _FIRST, rows)
    page.checks(CHOICES, header, _FIRST, last)
    names_of_choices = {
        "choice_variant": "variant", "choice_committed": "committed", "choice_currency": "currency",
    }  # fmt: skip
    page.columns_named(CHOICES, header, _FIRST, names_of_choices, last)

    header = last + 5
    page.section(header - 2, "expenses")
    expenses = [{name: getattr(one, name) for name in EXPENSES.names} for one in content.expenses]
    last = page.table(EXPENSES, header, _FIRST, expenses)
    page.checks(EXPENSES, header, _FIRST, last)

    header = last + 5
    page.section(header - 2, "catalogue")
    version = letters(_FIRST + CATALOGUE.names.index("catalogue_version"))
    offers: list[Mapping[str, object]] = []
    for number in range(len(content.offers) + CATALOGUE.spare):
        offer = content.offers[number] if number < len(content.offers) else None
        status = page.words.text("word.example_price") if offer is not None and offer.example else ""
        formula = Formula(formulas.offer_status(f"${version}{header + 1 + number}"), status)
        offers.append({**(_offer_cells(offer, page) if offer else {}), "price_status": formula})
    last = page.table(CATALOGUE, header, _FIRST, offers, spare=0)
    end = header + 500
    page.checks(CATALOGUE, header, _FIRST, end)
    names_of_offers = {
        "offer_gpu": "gpu", "offer_days": "days", "offer_model": "model", "offer_cards": "cards_per_lot",
        "offer_price": "price", "offer_currency": "currency", "offer_version": "catalogue_version",
        "offer_increment": "increment_minutes", "offer_minimum": "minimum_hours", "offer_spot": "spot",
    }  # fmt: skip
    page.columns_named(CATALOGUE, header, _FIRST, names_of_offers, end)
    sheet.freeze_panes(2, _FIRST)
    page.prints(None, (last, _FIRST + len(CATALOGUE.columns) - 1))


def _offer_cells(offer: Offer, page: Page) -> dict[str, object]:
    cells: dict[str, object] = {name: getattr(offer, name) for name in CATALOGUE.names if hasattr(offer, name)}
    cells["device_names"] = "; ".join(offer.device_names) or None
    cells["spot"] = page.words.text("word.yes" if offer.spot else "word.no")
    return cells


def calendar_sheet(page: Page, content: WorkbookContent, frame: Frame) -> None:
    """Tasks to fill on the left, the access window of each variant on the right, in the protocol's zone."""
    page.title("calendar")
    sheet, formulas = page.sheet, Formulas(page.words)
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
    rows = []
    for number, (name, _) in enumerate(frame.variants):
        texts = formulas.window(header + 1 + number, _WINDOWS_FIRST)
        window = span(content, name)
        unknown = page.words.text("word.unknown")
        values = {
            "window_start": window.start.astimezone(zone) if window else unknown,
            "window_end": window.end.astimezone(zone) if window else unknown,
            "window_hours": float(window.hours) if window else unknown,
        }
        rows.append({"window_variant": name, **{key: Formula(text, values[key]) for key, text in texts.items()}})
    below = page.table(WINDOWS, header, _WINDOWS_FIRST, rows)
    names = {"window_variant": "window_variant", "window_hours": "window_hours"}
    page.columns_named(WINDOWS, header, _WINDOWS_FIRST, names, below)
    sheet.freeze_panes(header, 0)
    page.prints(header, (max(last, below), _WINDOWS_FIRST + len(WINDOWS.columns) - 1))


def zone_table(page: Page, content: WorkbookContent, row: int, column: int) -> None:
    """The clock changes of the protocol's zone: local time from which each holds, hours ahead of UTC."""
    changes = zone_changes(zone_named(content.protocol.time_zone))
    moment, number = page.styles.filled("tool", "yyyy-mm-dd hh:mm"), page.styles.filled("tool", "0.00", "right")
    for index, (start, ahead) in enumerate(changes):
        page.put(row + index, column, start, moment)
        page.put(row + index, column + 1, ahead, number)
    for name, at in (("zone_from", letters(column)), ("zone_ahead", letters(column + 1))):
        page.book.define_name(name, f"='{page.name}'!${at}${row}:${at}${row + len(changes) - 1}")
