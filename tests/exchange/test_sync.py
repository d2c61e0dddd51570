"""`lab sync`: the workbook follows the attempts, and nothing that people did in it is lost."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from campaign_folders import QUICK, SLOW, Plan, build, name, protocol, rounds
from openpyxl import load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.workbook import Workbook
from workbook_sample import converted, edited, parts, rezipped, without_results

from lab.errors import CheckFoundError, InvalidInputError
from lab.exchange.sync import BACKUP, Synced, complete, sync
from lab.measure.lock import run_lock
from lab.messages import LANGUAGES, messages
from lab.model.attempt import COLUMNS
from lab.model.catalogue import Deliverable
from lab.store.attempts import read_records
from lab.store.manifest import read_manifest
from lab.store.workbook import (
    WorkbookContent,
    append_attempts,
    append_deliverables,
    empty_content,
    read_workbook,
    write_workbook,
)
from lab.store.workbook.sheet import letters

Said = tuple[int, str]
PASSES = rounds({"b1": SLOW, "b8": QUICK})
IDS = [name(one) for one in PASSES]
EXCLUDED = f"{letters(1 + [column.name for column in COLUMNS].index('excluded'))}5"
CHAIN = b'<calcChain xmlns="%s"><c r="D5" i="7"/></calcChain>'
RELATION = (
    b'<Relationship Id="rIdC" Target="calcChain.xml" '
    b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s"/>'
)
NOW = datetime(2026, 12, 8, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign whose workbook has all that people declared and no row yet, as after a crash or on another machine."""
    folder = build(tmp_path_factory.mktemp("sync") / "campaign", Plan(PASSES, deliverables=_delivered()))
    manifest = read_manifest(folder / "manifest.toml")
    write_workbook(folder / "campaign.xlsx", replace(content(folder), rows=()), manifest)
    return folder


@pytest.fixture
def folder(measured: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(measured, tmp_path / "campaign")


def _delivered() -> tuple[Deliverable, ...]:
    return (Deliverable("tickets", "b8", accepted=True, attempt_id=IDS[1]),)


def content(folder: Path) -> WorkbookContent:
    """What the workbook of a campaign declares."""
    return read_workbook(folder / "campaign.xlsx", read_manifest(folder / "manifest.toml"))


def declared(held: WorkbookContent) -> tuple[object, ...]:
    """All of it that people own."""
    return held.protocol, held.choices, held.offers, held.expenses, held.calendar, held.deliverables


def shown(path: Path, sheet: str, column: str) -> dict[str, object]:
    """A column of a sheet's table by the value of its first column, as a viewer without calculation shows it."""
    lines = [list(line) for line in load_workbook(path, data_only=True)[sheet].iter_rows(values_only=True)]
    header = next(line for line in lines if column in line)
    key = next(place for place, one in enumerate(header) if one)
    return {str(one[key]): one[header.index(column)] for one in lines[lines.index(header) + 1 :] if one[key]}


def test_rows_that_are_missing_are_added_with_their_verdicts_and_the_figures_are_there(folder: Path) -> None:
    """Ten attempts without a row: all are in the workbook, accepted, and `summary` says what follows from them."""
    before = content(folder)
    found = sync(folder)
    assert (sorted(found.added), found.fault, found.notices) == (sorted(IDS), None, ())
    after = content(folder)
    assert {row.attempt_id: row.corpus_accepted for row in after.rows} == dict.fromkeys(IDS, "accepted")
    assert declared(after) == declared(before)
    book = folder / "campaign.xlsx"
    assert shown(book, "summary", "median_s") == {"b1": 20.2, "b8": 10.2}
    assert shown(book, "summary", "cost_per_validated_corpus") == {"b1": "not stated", "b8": 110}
    assert shown(book, "summary", "separation") == dict.fromkeys(("b1", "b8"), "separated from all others")
    assert shown(book, "forfaits", "committed")["b1"] == 110
    assert shown(book, "calendar", "window_hours") == {}  # by its first column, `variant`
    assert sync(folder) == Synced()


def test_what_is_shown_after_a_sync_is_what_libreoffice_computes(folder: Path, tmp_path: Path, soffice: str) -> None:
    """Every formula of the workbook, in a copy whose stored results were made wrong."""
    sync(folder)
    made = folder / "campaign.xlsx"
    wrong = without_results(shutil.copy(made, tmp_path / "wrong.xlsx"))
    (tmp_path / "out").mkdir()
    again = load_workbook(converted(soffice, wrong, "xlsx", tmp_path / "out"), data_only=True)
    formulas, values = load_workbook(made), load_workbook(made, data_only=True)
    compared = 0
    for sheet in formulas:
        for cell in (one for row in sheet.iter_rows() for one in row if one.data_type == "f"):
            value, other = (book[sheet.title][cell.coordinate].value for book in (values, again))
            same = other == pytest.approx(value) if isinstance(value, float) else (other or "") == (value or "")
            assert same, (sheet.title, cell.coordinate, value, other)
            compared += 1
    assert compared > 100


def test_a_colleague_s_chart_sheet_column_note_and_filter_stay(folder: Path) -> None:
    """And a sheet and an exclusion: a part in which the tool has no cell keeps its bytes."""
    sync(folder)
    book = folder / "campaign.xlsx"

    def change(held: Workbook) -> None:
        results = held["raw-results"]
        results["AR4"], results["AR5"], results["AQ5"], results[EXCLUDED] = "mine", "kept", "odd fan noise", "yes"
        results.auto_filter.ref = "A4:AQ14"
        mine = held.create_sheet("my figures")
        mine["A1"], mine["A2"] = "seconds", "=AVERAGE('raw-results'!K5:K14)"
        chart = BarChart()
        chart.add_data(Reference(results, min_col=11, min_row=5, max_row=14))
        mine.add_chart(chart, "C1")

    edited(book, change)
    before = parts(book)
    found = sync(folder)
    assert found.fault is None
    after = parts(book)
    touched = {one for one in before if before[one] != after[one]}
    charts = [one for one in before if "chart" in one or "drawing" in one]
    assert list(after) == list(before)
    assert charts
    assert not touched & {*charts, "xl/worksheets/sheet9.xml", "xl/styles.xml", "xl/worksheets/sheet2.xml"}
    results = load_workbook(book)["raw-results"]
    assert [results[one].value for one in ("AR5", "AQ5")] == ["kept", "odd fan noise"]
    assert content(folder).rows[0].excluded is True
    # It names no rule of the protocol, so it leaves nothing out: the tool's own median stands, no formula that differs.
    assert shown(book, "summary", "median_s")["b1"] == 20.2
    assert load_workbook(book)["summary"]["F5"].data_type == "n"


def test_a_measured_cell_changed_by_hand_is_told_with_both_values_and_left(
    folder: Path, said: Callable[..., Said]
) -> None:
    """The exit code is that of a check that found something; the cell says what the person wrote."""
    sync(folder)

    def change(held: Workbook) -> None:
        held["raw-results"]["K5"] = 12.5

    edited(folder / "campaign.xlsx", change)
    code, text = said("sync", folder)
    assert code == 1
    assert "raw-results!K5" in text
    assert "12.5" in text
    assert "20.1" in text
    assert load_workbook(folder / "campaign.xlsx")["raw-results"]["K5"].value == 12.5
    code, text = said("sync", folder, "--json")
    fault = json.loads(text)["notices"][0]
    assert (fault["values"]["recorded"], fault["values"]["found"]) == ("20.1", "12.5")


def test_rows_written_beside_an_open_workbook_come_in_with_what_people_wrote_there(folder: Path) -> None:
    """Attempts and a deliverable; a note in the file beside it comes along, and the file is gone afterwards."""
    book, lock = folder / "campaign.xlsx", folder / ".~lock.campaign.xlsx#"
    lock.write_text("a colleague")
    rows = [one.attempt for one in read_records(folder)]
    beside = append_attempts(book, rows[:3], "en").written_to
    append_deliverables(book, [Deliverable("archive", "b1", accepted=True)], "en")
    assert beside != book

    def change(held: Workbook) -> None:
        held["raw-results"]["AQ5"] = "noted beside"

    edited(beside, change)
    assert sync(folder).fault is not None
    assert content(folder).rows == ()
    lock.unlink()
    found = sync(folder)
    assert sorted(found.brought_in.values()) == [1, 3]
    assert not list(folder.glob("campaign.new-rows-*"))
    held = content(folder)
    assert {row.attempt_id for row in held.rows} == set(IDS)
    assert [row.notes for row in held.rows if row.attempt_id == rows[0].attempt_id] == ["noted beside"]
    assert [one.deliverable for one in held.deliverables] == ["tickets", "archive"]


def test_an_open_workbook_is_left_alone_and_no_further_file_is_made(folder: Path, said: Callable[..., Said]) -> None:
    """The rows are safe in `attempts/`: there is nothing to write down again."""
    (folder / "~$campaign.xlsx").write_bytes(b"")
    before = sorted(folder.iterdir())
    old = (folder / "campaign.xlsx").read_bytes()
    code, text = said("sync", folder)
    assert code == 1
    assert messages("en").text("fault.workbook-locked") in text
    assert [one for one in sorted(folder.iterdir()) if one.name != ".run.lock"] == before
    assert (folder / "campaign.xlsx").read_bytes() == old


def test_nothing_is_touched_while_a_run_is_under_way(folder: Path) -> None:
    """The run owns the workbook until it ends."""
    old = (folder / "campaign.xlsx").read_bytes()
    with run_lock(folder), pytest.raises(CheckFoundError) as error:
        sync(folder)
    assert error.value.faults[0].slug == "run-already-running"
    assert (folder / "campaign.xlsx").read_bytes() == old


def test_a_workbook_that_is_gone_comes_back_from_its_backup_or_from_the_seal(folder: Path) -> None:
    """The backup declares all; the seal holds the protocol; both get every row of the attempts."""
    before = content(folder)
    sync(folder)
    (folder / "campaign.xlsx").unlink()
    found = sync(folder)
    assert found.rebuilt_from == "backup"
    assert declared(content(folder)) == declared(before)
    for one in folder.glob("campaign*.xlsx"):
        one.unlink()
    found = sync(folder)
    held = content(folder)
    assert found.rebuilt_from == "seal"
    assert held.protocol == before.protocol
    assert {row.attempt_id for row in held.rows} == set(IDS)


def test_a_workbook_made_anew_declares_the_same_and_the_old_file_stays(folder: Path, said: Callable[..., Said]) -> None:
    """A sheet of a person's own is in the old file only, and the command says so."""
    sync(folder)
    edited(folder / "campaign.xlsx", lambda held: held.create_sheet("my figures"))
    before = content(folder)
    code, text = said("sync", folder, "--rebuild")
    (old,) = folder.glob("campaign.replaced-*.xlsx")
    assert code == 0
    assert old.name in text
    assert "my figures" in load_workbook(old).sheetnames
    assert content(folder).rows == before.rows
    assert declared(content(folder)) == declared(before)


def test_lines_and_lists_follow_the_manifest(folder: Path, tmp_path: Path, soffice: str) -> None:
    """A variant that the manifest got since: its line to choose a package, window, summary and drop-down, live."""
    manifest = folder / "manifest.toml"
    (folder / "seal.json").unlink()
    manifest.write_text(manifest.read_text() + '[[variants]]\nid = "b16"\nmodel = "m"\ngpu = "b200"\n')
    assert sync(folder).fault is None

    def change(held: Workbook) -> None:
        sheet = held["forfaits"]
        row = next(cell.row for cell in sheet["B"] if cell.value == "b16")
        assert sheet[f"C{row}"].value == "b200"
        sheet[f"D{row}"], sheet[f"E{row}"] = 7, 1

    book = edited(folder / "campaign.xlsx", change)
    (tmp_path / "out").mkdir()
    again = converted(soffice, without_results(book), "xlsx", tmp_path / "out")
    assert shown(again, "forfaits", "committed")["b16"] == 2071
    assert shown(again, "summary", "committed") == {"b1": 110, "b8": 110, "b16": 2071}
    made = load_workbook(folder / "campaign.xlsx")
    assert made["summary"].print_area.endswith("$I$4:$N$7")
    names = made.defined_names
    assert names["list_variants"].attr_text.endswith("$H$5:$H$7")


def test_a_time_zone_that_is_filled_in_later_makes_the_hours_right(tmp_path: Path, soffice: str) -> None:
    """The table of clock changes is written by the sync: a window over the change is an hour shorter than it looks."""
    terms = replace(protocol(), time_zone=None, deadline=None)
    folder = build(tmp_path / "campaign", Plan((), protocol=terms))
    (folder / "seal.json").unlink()

    def change(held: Workbook) -> None:
        held["protocol"]["B19"] = "Europe/Paris"
        sheet = held["calendar"]
        for row in (5, 6):
            sheet[f"C{row}"], sheet[f"D{row}"] = datetime(2027, 3, 26, 9), datetime(2027, 3, 30, 9)  # noqa: DTZ001  (a sheet knows no zone)

    edited(folder / "campaign.xlsx", change)
    sync(folder)
    (tmp_path / "out").mkdir()
    book = folder / "campaign.xlsx"
    assert load_workbook(book, data_only=True)["calendar"]["J5"].value == 95
    again = converted(soffice, without_results(book), "xlsx", tmp_path / "out")
    assert load_workbook(again, data_only=True)["calendar"]["J5"].value == 95


def test_a_workbook_saved_by_libreoffice_is_completed_all_the_same(folder: Path, tmp_path: Path, soffice: str) -> None:
    """Its formulas and addresses are others; the figures are the same."""
    (tmp_path / "out").mkdir()
    shutil.move(converted(soffice, folder / "campaign.xlsx", "xlsx", tmp_path / "out"), folder / "campaign.xlsx")
    found = sync(folder)
    assert (len(found.added), found.fault, found.notices) == (10, None, ())
    assert shown(folder / "campaign.xlsx", "summary", "median_s") == {"b1": 20.2, "b8": 10.2}


def test_a_formula_that_is_replaced_takes_the_chain_of_calculations_with_it(folder: Path) -> None:
    """Excel repairs a file whose chain names a cell without a formula; it builds the chain again by itself."""
    sync(folder)
    book, types, main = folder / "campaign.xlsx", "[Content_Types].xml", "xl/_rels/workbook.xml.rels"
    held = parts(book)
    sheet = "xl/worksheets/sheet7.xml"
    changed = {
        "xl/calcChain.xml": CHAIN % b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        types: held[types].replace(b"</Types>", b'<Override PartName="/xl/calcChain.xml" ContentType="x/x"/></Types>'),
        main: held[main].replace(b"</Relationships>", RELATION % b"calcChain" + b"</Relationships>"),
        # As if the formula of a figure had been replaced by the tool's own once, which is another now.
        sheet: re.sub(rb'(<c r="D5"[^>]*>)<f.*?</f>', rb"\1", held[sheet], count=1),
    }
    assert changed[sheet] != held[sheet]
    rezipped(book, changed)
    assert sync(folder).fault is None
    after = parts(book)
    assert "xl/calcChain.xml" not in after
    assert b"calcChain" not in after[types] + after[main]
    assert load_workbook(book)["summary"]["D5"].data_type == "f"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_the_summary_are_the_campaign_s(tmp_path: Path, language: str) -> None:
    """Not separated, undefined, not stated: in the language of the campaign."""
    folder = build(tmp_path / "campaign", Plan(rounds({"b1": QUICK, "b8": QUICK}), deliverables=_refused()))
    manifest = folder / "manifest.toml"
    manifest.write_text(manifest.read_text().replace('language = "en"', f'language = "{language}"'))
    (folder / "seal.json").unlink()
    write_workbook(folder / "campaign.xlsx", content_in(folder), read_manifest(manifest))
    sync(folder)
    words = messages(language)
    book = folder / "campaign.xlsx"
    assert shown(book, "summary", "separation")["b1"] == words.text("word.not_separated", names="b8")
    costs = shown(book, "summary", "cost_per_validated_corpus")
    assert costs == {"b1": words.text("word.undefined"), "b8": words.text("word.not_stated")}
    assert shown(book, "summary", "committed")["b1"] == 110


def _refused() -> tuple[Deliverable, ...]:
    return (Deliverable("tickets", "b1", accepted=False),)


def content_in(folder: Path) -> WorkbookContent:
    """What the English workbook declares, to be written in another language."""
    english = read_manifest(folder / "manifest.toml").model_copy(update={"language": "en"})
    return read_workbook(folder / "campaign.xlsx", english)


def test_a_damaged_workbook_is_named_and_nothing_is_written(folder: Path) -> None:
    """Also when it should be made anew: what it declares cannot be guessed."""
    book = folder / "campaign.xlsx"
    book.write_bytes(book.read_bytes()[:4000])
    for rebuild in (False, True):
        with pytest.raises(InvalidInputError):
            sync(folder, rebuild=rebuild, now=NOW)
    assert book.stat().st_size == 4000
    assert not (folder / BACKUP).exists()


def test_more_variants_than_lines_are_named(tmp_path: Path) -> None:
    """The way out is in the message; made anew, the workbook has room for all."""
    folder = build(tmp_path / "campaign", Plan(()))
    (folder / "seal.json").unlink()
    manifest = folder / "manifest.toml"
    more = "".join(f'[[variants]]\nid = "v{n}"\nmodel = "m"\ngpu = "b200"\n' for n in range(9))
    manifest.write_text(manifest.read_text() + more)
    found = sync(folder)
    assert {one.slug for one in found.notices} == {"sync-no-room"}
    assert sync(folder, rebuild=True).notices == ()
    assert len(shown(folder / "campaign.xlsx", "summary", "attempts")) == 11
    assert empty_content(read_manifest(manifest)).choices[-1].variant in shown(
        folder / "campaign.xlsx", "forfaits", "gpu"
    )
    assert complete(folder, {}).computed == 0


@pytest.mark.parametrize("slug", ["workbook-read-only", "workbook-is-a-link"])
def test_a_workbook_that_may_not_be_replaced_is_not_made_anew(folder: Path, tmp_path: Path, slug: str) -> None:
    """Read-only, or a link to a shared file: the old one stays, nothing is put beside it, and it is said."""
    book = folder / "campaign.xlsx"
    if slug == "workbook-is-a-link":
        book.rename(tmp_path / "shared.xlsx")
        book.symlink_to(tmp_path / "shared.xlsx")
    book.chmod(0o444)
    before, names = book.read_bytes(), sorted(one.name for one in folder.glob("[!.]*"))
    found = sync(folder, rebuild=True, now=NOW)
    assert (found.fault and found.fault.slug, found.rebuilt_from, found.replaced) == (slug, None, None)
    assert book.read_bytes() == before
    assert sorted(one.name for one in folder.glob("[!.]*")) == names
