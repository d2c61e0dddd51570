"""The `protocol` sheet: one field per row, its value to fill in, what it means, an example."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from lab.model.protocol import PROTOCOL_FIELDS, FieldSpec, Protocol
from lab.store.moments import zone_named
from lab.store.workbook.content import WorkbookContent
from lab.store.workbook.page import Frame, Page
from lab.store.workbook.styles import LINE, QUIET
from lab.store.workbook.tables import PROTOCOL

HEADER = 4
_WIDTHS = (27, 50, 66, 40)
_NUMBERS = {"number": "General", "integer": "0", "amount": "#,##0.00", "moment": "yyyy-mm-dd hh:mm"}
_CHARACTERS_PER_LINE, _LINE = 72, 15


def protocol_sheet(page: Page, content: WorkbookContent, frame: Frame) -> None:
    """One row per field of the protocol; text cells are text, so that nothing typed turns into a date."""
    page.title("protocol")
    sheet, words, styles = page.sheet, page.words, page.styles
    for number, width in enumerate(_WIDTHS):
        sheet.set_column(number, number, width)
    sheet.set_row(HEADER - 1, 24)
    headers = (*PROTOCOL.names, words.text("protocol.meaning"), words.text("protocol.example"))
    for number, name in enumerate(headers):
        sheet.write_string(HEADER - 1, number, name, styles.header())
    for number, spec in enumerate(PROTOCOL_FIELDS):
        row = HEADER + 1 + number
        label, about = words.text(f"field.{spec.name}.label"), words.text(f"field.{spec.name}.help")
        needed = [] if not spec.required else [words.text("protocol.required")]
        meaning = " ".join([about, *needed])
        lines = 1 + -(-len(meaning) // _CHARACTERS_PER_LINE)
        sheet.set_row(row - 1, _LINE * lines + 4)
        sheet.write_string(row - 1, 0, spec.name, styles.filled("tool"))
        look = styles.filled("person", _NUMBERS.get(spec.kind, "@"), wrap=True)
        page.put(row, 2, cell_value(content.protocol, spec, frame.language, page), look)
        bold = styles.get(bold=True)
        sheet.write_rich_string(
            row - 1, 2, bold, label, styles.get(), f"\n{meaning}", styles.filled("formula", wrap=True)
        )  # fmt: skip
        example = styles.get(text_wrap=True, align="left", indent=1, font_color=QUIET, border=1, border_color=LINE)
        sheet.write_string(row - 1, 3, words.text(f"field.{spec.name}.example"), example)
        rule = _rule(spec, frame)
        sheet.data_validation(row - 1, 1, row - 1, 1, {**rule, **page.prompt(spec.name)})
    last = HEADER + len(PROTOCOL_FIELDS)
    # The text beside it says that the field is needed.
    rows_needed = [HEADER + 1 + place for place, spec in enumerate(PROTOCOL_FIELDS) if spec.required]
    empty = {
        "type": "formula", "criteria": f"=LEN(TRIM($B{rows_needed[0]}))=0", "format": styles.doubt(),
        "multi_range": " ".join(f"B{one}" for one in rows_needed),
    }  # fmt: skip
    sheet.conditional_format(f"B{rows_needed[0]}", empty)
    sheet.autofilter(HEADER - 1, 0, last - 1, len(_WIDTHS) - 1)
    sheet.freeze_panes(HEADER, 1)
    page.prints(HEADER, (last, len(_WIDTHS)))


def cell_value(protocol: Protocol, spec: FieldSpec, language: str, page: Page) -> object:
    """A field as its cell holds it; moments in the protocol's zone, compound fields as the text that reads back."""
    value: Any = getattr(protocol, spec.name)
    if value in {None, ()}:
        return None
    if isinstance(value, datetime):
        zone = zone_named(protocol.time_zone)
        return _in_zone(value, zone) if zone else value
    if spec.kind == "names":
        return "; ".join(value)
    if spec.kind == "subgroups":
        return "; ".join(f"{one.group}={one.value}: {number_text(one.threshold, language)}" for one in value)
    if spec.kind == "rules":
        attestation = page.words.text("cell.attestation")
        return "; ".join(
            f"{one.id}: {attestation if one.column is None else f'{one.column} {one.operator} {one.value}'}"
            for one in value
        )
    return value


def _in_zone(value: datetime, zone: ZoneInfo) -> datetime | str:
    """Local time; text with its offset within the hour that exists twice, so that it reads back as it was meant."""
    here = value.astimezone(zone)
    one_of_two = here.replace(fold=0).utcoffset() != here.replace(fold=1).utcoffset()
    return here.isoformat(timespec="minutes") if one_of_two else here


def number_text(value: float, language: str) -> str:
    """A number inside a text, with every digit and the language's decimal mark, so that it reads back the same."""
    text = f"{Decimal(repr(value)):f}"
    return text if language == "en" else text.replace(".", ",")


def _rule(spec: FieldSpec, frame: Frame) -> dict[str, object]:
    named = {"reference_variant": "variants", "metric": "metrics", "reproducibility_target": "targets"}
    if spec.name in named:
        return {"validate": "list", "source": f"=list_{named[spec.name]}"}
    if spec.name == "threshold" and not frame.own_metrics:
        # Distances of numbers and a coefficient below 0 are thresholds too: the rule warns, it does not stop.
        ratio = {"validate": "decimal", "criteria": "between", "minimum": 0, "maximum": 1}
        return {**ratio, "error_type": "warning"}
    if spec.kind in {"number", "amount", "integer"}:
        whole = spec.kind == "integer"
        return {"validate": "integer" if whole else "decimal", "criteria": ">=", "value": int(whole)}
    if spec.kind == "moment":
        # A moment may also be text with its offset, for the hour that exists twice: the rule warns, it does not stop.
        date = {"validate": "date", "criteria": ">=", "value": datetime(2020, 1, 1)}  # noqa: DTZ001  (a sheet knows no zone)
        return {**date, "error_type": "warning"}
    if spec.name == "currency":
        return {"validate": "length", "criteria": "==", "value": 3}
    return {"validate": "any"}
