"""Adding to a person's workbook: only the sheet's own part changes, or nothing does and the rows stand beside it."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.workbook import Workbook
from workbook_sample import attempt, attempts, content, converted, edited, manifest, parts, rezipped, said, write

from lab.errors import OutsideFailureError, fault
from lab.messages import LANGUAGES, messages
from lab.model.attempt import Attempt
from lab.model.catalogue import Deliverable
from lab.store.workbook import append as appending
from lab.store.workbook import (
    append_attempts,
    append_deliverables,
    empty_content,
    read_rows,
    read_workbook,
    update_judged,
)

SHEET, TABLE, MAIN = "xl/worksheets/sheet3.xml", "xl/tables/table1.xml", "xl/workbook.xml"
NEW = attempt("b4", 2, notes="@SUM(A1)", missing_reason="=1+1", metric_value=0.3, outcome="completed")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The sample, in English."""
    return write(tmp_path / "campaign.xlsx")


def changed(before: dict[str, bytes], path: Path) -> set[str]:
    """The parts that differ; the same parts in the same order is asserted."""
    after = parts(path)
    assert list(after) == list(before)
    return {name for name in before if before[name] != after[name]}


def rows(path: Path, language: str = "en") -> tuple[Attempt, ...]:
    """The attempts that the workbook holds."""
    return read_workbook(path, manifest(language)).rows


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_appended_row_reads_back_and_every_other_part_is_as_it_was(tmp_path: Path, language: str) -> None:
    """The sheet's part and its table's range change, nothing else; formulas in text stay text (C1)."""
    path = write(tmp_path / "campaign.xlsx", language)
    before = parts(path)
    result = append_attempts(path, [NEW], language)
    assert (result.written_to, result.fault, result.notices) == (path, None, ())
    assert changed(before, path) == {SHEET, TABLE}
    assert rows(path, language) == (*attempts(), NEW)
    assert b'ref="A4:AQ10"' in parts(path)[TABLE]


def test_the_first_rows_fill_the_empty_one_that_is_ready(tmp_path: Path) -> None:
    """A blank workbook, three attempts one by one: rows 5, 6 and 7, with the styles of the blank row."""
    path = write(tmp_path / "campaign.xlsx", "en", empty_content(manifest()))
    for one in attempts()[:3]:
        assert append_attempts(path, [one], "en").fault is None
    assert rows(path) == attempts()[:3]
    sheet = load_workbook(path)["raw-results"]
    assert sheet.tables["attempts"].ref == "A4:AQ7"
    for address in ("A", "K", "AI"):
        styles = {sheet[f"{address}{row}"].fill.fgColor.rgb for row in (5, 6, 7)}
        assert len(styles) == 1
        assert sheet[f"{address}7"].number_format == sheet[f"{address}5"].number_format


def test_the_previous_file_stays_as_the_backup(path: Path) -> None:
    """`campaign.backup.xlsx` is the file as it was before the last addition."""
    before = path.read_bytes()
    append_attempts(path, [NEW], "en")
    assert (path.parent / "campaign.backup.xlsx").read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir()) == ["campaign.backup.xlsx", "campaign.xlsx"]


def test_an_attempt_that_has_its_row_is_not_added_again(path: Path) -> None:
    """Appending twice is appending once, and a file to which nothing is added keeps its bytes."""
    append_attempts(path, [NEW], "en")
    before = path.read_bytes()
    assert append_attempts(path, [NEW, attempts()[0]], "en").fault is None
    assert path.read_bytes() == before


def test_a_file_saved_by_libreoffice_is_added_to(tmp_path: Path, path: Path, soffice: str) -> None:
    """Its rows, and a judged cell that LibreOffice had turned into `=TRUE()` (W9)."""
    (tmp_path / "out").mkdir()
    saved = converted(soffice, path, "xlsx", tmp_path / "out")
    assert append_attempts(saved, [NEW], "en").fault is None
    assert (
        update_judged(saved, {"b1_tickets_r1": {"ids_match": False, "corpus_accepted": "rejected"}}, "en").fault is None
    )
    first = replace(attempts()[0], ids_match=False, corpus_accepted="rejected")
    assert rows(saved) == (first, *attempts()[1:], NEW)
    again = converted(soffice, saved, "xlsx", tmp_path / "again")
    assert rows(again) == rows(saved)


def test_the_summary_follows_in_libreoffice_as_it_comes(tmp_path: Path, path: Path, soffice: str) -> None:
    """It trusts stored results unless told otherwise; the new row and the new deliverable count all the same."""
    append_attempts(path, [NEW], "en")
    append_deliverables(path, [Deliverable("archive", "b200", accepted=True)], "en")
    opened = converted(soffice, path, "xlsx", tmp_path / "out", recalculate=False)
    sheet = load_workbook(opened, data_only=True)["summary"]
    assert [sheet[f"{column}6"].value for column in "ACDF"] == ["b4", 2, 2, pytest.approx(99.623456)]
    assert [sheet[f"{column}7"].value for column in "AIKL"] == ["b200", 2071, 1, 2071]


def test_a_recalculation_is_asked_for_when_the_mark_is_gone(path: Path) -> None:
    """Excel takes the mark away on saving; the addition sets it again, in the main part."""
    main = parts(path)[MAIN]
    rezipped(path, {MAIN: main.replace(b' fullCalcOnLoad="1"', b"")})
    before = parts(path)
    append_attempts(path, [NEW], "en")
    assert changed(before, path) == {SHEET, TABLE, MAIN}
    assert b'fullCalcOnLoad="1"' in parts(path)[MAIN]


def test_rows_below_the_table_are_taken_into_its_range(path: Path) -> None:
    """What was typed below the range stays, and the next addition mends the range (W8)."""

    def change(book: Workbook) -> None:
        sheet = book["raw-results"]
        sheet["A12"], sheet["C12"] = "mine", "b4"

    append_attempts(edited(path, change), [NEW], "en")
    assert [row.attempt_id for row in rows(path)][-2:] == ["mine", NEW.attempt_id]
    assert load_workbook(path)["raw-results"].tables["attempts"].ref == "A4:AQ13"


def test_judging_changes_the_judged_cells_that_differ_and_nothing_else(path: Path) -> None:
    """A verdict is rewritten in its row, in the sheet's part only; cells that hold the value already keep theirs."""
    before = parts(path)
    values = {"corpus_accepted": "rejected", "quality_ok": False, "metric_value": None, "metric": "macro_f1"}
    result = update_judged(path, {"b1_tickets_r2": values, "no_such_row": values}, "en")
    assert (result.written_to, result.fault) == (path, None)
    assert changed(before, path) == {SHEET}
    judged = replace(attempts()[1], corpus_accepted="rejected", quality_ok=False, metric_value=None)
    assert rows(path) == (attempts()[0], judged, *attempts()[2:])


def test_judging_that_changes_nothing_leaves_the_file_alone(path: Path) -> None:
    """The same verdicts again: the same bytes, no backup."""
    before = path.read_bytes()
    update_judged(path, {"b1_tickets_r1": {"corpus_accepted": "accepted", "ids_match": True}}, "en")
    assert path.read_bytes() == before
    assert not (path.parent / "campaign.backup.xlsx").exists()


def test_a_declared_cell_is_never_judged(path: Path) -> None:
    """Notes and exclusions belong to people."""
    with pytest.raises(ValueError, match="notes"):
        update_judged(path, {"b1_tickets_r1": {"notes": "x"}}, "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_deliverables_are_added_in_the_language_s_words(tmp_path: Path, language: str) -> None:
    """Same engine, the sheet `deliverables`; yes as the drop-down offers it."""
    path = write(tmp_path / "campaign.xlsx", language)
    before = parts(path)
    new = Deliverable("archive", "b4", accepted=True, attempt_id="b4_tickets_r1")
    assert append_deliverables(path, [new], language).fault is None
    assert changed(before, path) == {"xl/worksheets/sheet4.xml"}
    assert read_workbook(path, manifest(language)).deliverables == (*content().deliverables, new)
    assert load_workbook(path)["deliverables"]["C8"].value == messages(language).text("word.yes")


def test_a_note_too_long_for_a_cell_is_cut_and_told(path: Path) -> None:
    """The head is in the cell, the fact in the result (C9)."""
    result = append_attempts(path, [replace(NEW, notes="x" * 40_000)], "en")
    assert [(one.slug, one.values["size"]) for one in said(result.notices)] == [("cell-text-cut", 40_000)]
    assert len(str(rows(path)[-1].notes)) == 32_767


def test_what_is_not_finite_stays_empty(path: Path) -> None:
    """NaN is no measure (C11)."""
    append_attempts(path, [replace(NEW, metric_value=float("nan"))], "en")
    assert rows(path)[-1].metric_value is None


def test_any_text_comes_back_as_it_was(path: Path) -> None:
    """Angle brackets, control characters, escapes, line ends, emoji."""
    notes = "<b>&amp;</b> \x07 _x0041_ é é 😀 \r\n ]]>"
    append_attempts(path, [replace(NEW, notes=notes)], "en")
    assert rows(path)[-1].notes == notes


# --- left alone -------------------------------------------------------------------------------------------------------


def _locked(path: Path) -> None:
    path.with_name(f"~${path.name}").touch()


def _locked_by_libreoffice(path: Path) -> None:
    path.with_name(f".~lock.{path.name}#").touch()


def _read_only(path: Path) -> None:
    path.chmod(0o444)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2000])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _csv(path: Path) -> None:
    path.write_bytes(b"attempt_id,variant\n")


def _totals(path: Path) -> None:
    rezipped(path, {TABLE: parts(path)[TABLE].replace(b'totalsRowShown="0"', b'totalsRowCount="1"')})


def _merged(path: Path) -> None:
    edited(path, lambda book: book["raw-results"].merge_cells("B10:C11"))


def _renamed(path: Path) -> None:
    def change(book: Workbook) -> None:
        book["raw-results"]["B4"].value = "began"

    edited(path, change)


def _no_addresses(path: Path) -> None:
    rezipped(path, {SHEET: re.sub(rb'<row r="\d+"', b"<row", parts(path)[SHEET])})


def _signed(path: Path) -> None:
    rezipped(path, {"_xmlsignatures/sig1.xml": b"<Signature/>"})


@pytest.mark.parametrize(
    ("harm", "slug"),
    [
        (_locked, "workbook-locked"),
        (_locked_by_libreoffice, "workbook-locked"),
        (_read_only, "workbook-read-only"),
        (_cut, "workbook-damaged"),
        (_empty, "workbook-empty"),
        (_csv, "workbook-other-format"),
        (_totals, "append-totals-row"),
        (_merged, "append-merged"),
        (_renamed, "append-no-table"),
        (_no_addresses, "append-no-addresses"),
        (_signed, "append-signed-or-macros"),
        (Path.unlink, "file-missing"),
    ],
)
def test_a_file_that_cannot_be_added_to_safely_is_left_alone(path: Path, harm: object, slug: str) -> None:
    """Open, read-only, damaged, laid out otherwise: the same bytes, and the row in a file beside it (W3, W4)."""
    harm(path)  # type: ignore[operator]  (one of the functions above)
    before = path.read_bytes() if path.exists() else None
    result = append_attempts(path, [NEW], "en")
    assert result.fault is not None
    assert said([result.fault])[0].slug == slug
    assert (path.read_bytes() if path.exists() else None) == before
    assert re.fullmatch(r"campaign\.new-rows-\d{4}-\d\d-\d\dT\d{6}Z\.xlsx", result.written_to.name)
    sheet = load_workbook(result.written_to)["raw-results"]
    assert [sheet["A5"].value, sheet["K5"].value, sheet["AQ5"].value] == [NEW.attempt_id, NEW.duration_s, NEW.notes]
    assert not path.with_name("campaign.backup.xlsx").exists()


def test_rows_that_went_beside_do_not_overwrite_each_other(path: Path) -> None:
    """Two additions in one second are two files."""
    _locked(path)
    first, second = (append_attempts(path, [NEW], "en").written_to for _ in range(2))
    assert first != second
    assert first.exists()
    assert second.exists()


def test_a_macro_workbook_is_never_written(path: Path) -> None:
    """.xlsm is left alone (W10)."""
    path = path.rename(path.with_suffix(".xlsm"))
    before = path.read_bytes()
    result = append_attempts(path, [NEW], "en")
    assert (result.fault and result.fault.slug, path.read_bytes()) == ("workbook-not-xlsx", before)


def test_an_open_document_is_never_written(path: Path) -> None:
    """The campaign's .ods is left as it is, and the new rows stand beside it."""
    path = path.rename(path.with_suffix(".ods"))
    before = path.read_bytes()
    result = append_attempts(path, [NEW], "en")
    assert (result.fault and result.fault.slug, path.read_bytes()) == ("workbook-not-xlsx", before)
    assert read_rows(result.written_to, manifest()).rows == (NEW,)


def test_a_column_of_a_person_s_own_is_left_to_them(path: Path) -> None:
    """Formulas that someone filled down beside the table stay, and the new rows go where they belong."""

    def change(book: Workbook) -> None:
        for row in range(5, 30):
            book["deliverables"][f"F{row}"] = f"=LEN(A{row})"

    edited(path, change)
    assert append_deliverables(path, [Deliverable("archive", "b4")], "en").fault is None
    assert read_workbook(path, manifest()).deliverables[-1] == Deliverable("archive", "b4")
    assert load_workbook(path)["deliverables"]["F8"].value == "=LEN(A8)"


def test_verdicts_that_cannot_be_written_leave_no_file_behind(path: Path) -> None:
    """They are recomputed whenever they are asked for: the workbook is left alone, and why is said."""
    _locked(path)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    result = update_judged(path, {"b1_tickets_r1": {"corpus_accepted": "rejected"}}, "en")
    assert result.fault is not None
    assert (result.written_to, result.fault.slug) == (path, "workbook-locked")
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before


def test_a_disk_that_fails_half_way_leaves_the_old_file_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No space for the backup: an error, the workbook as it was, no half file beside it (W2)."""
    before = path.read_bytes()

    def full(target: Path, data: bytes) -> None:
        del target, data
        raise OutsideFailureError(fault("disk-full", file="campaign.xlsx"))

    monkeypatch.setattr(appending, "write_atomically", full)
    with pytest.raises(OutsideFailureError):
        append_attempts(path, [NEW], "en")
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["campaign.xlsx"]


def test_a_new_file_that_is_not_what_was_meant_never_takes_the_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of the written file stands between it and the workbook."""
    before = path.read_bytes()
    real = appending.replaced

    def altered(package: object, changed_parts: dict[str, bytes]) -> bytes:
        styles = parts(path)["xl/styles.xml"] + b" "
        return real(package, {**changed_parts, "xl/styles.xml": styles})  # type: ignore[arg-type]  (the package it was given)

    monkeypatch.setattr(appending, "replaced", altered)
    result = append_attempts(path, [NEW], "en")
    assert (result.fault and result.fault.slug, path.read_bytes()) == ("append-not-shown-safe", before)


def test_what_a_killed_addition_left_is_gone_after_the_next_that_succeeds(path: Path) -> None:
    """The unfinished new file of a process that died an hour ago; a colleague's file of nearly that name stays."""
    left = [path.with_name(f".{path.name}.0123abcd.new"), path.with_name(f".{path.stem}.backup.xlsx.0123abcd.new")]
    theirs = path.with_name(f".{path.name}.copy.new")
    for one in (*left, theirs):
        one.write_bytes(b"half")
        os.utime(one, (path.stat().st_mtime - 3600,) * 2)
    assert append_attempts(path, [attempt("b1", 60)], "en").fault is None
    assert [one.exists() for one in (*left, theirs)] == [False, False, True]
