"""A workbook that came back as OpenDocument or with macros: read, never written to, made anew when asked for."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_folders import QUICK, SLOW, Plan, build, name, rounds
from openpyxl.workbook import Workbook
from workbook_sample import converted, edited, open_package, parts

from lab.checks import check, term_faults
from lab.exchange.merge import merge
from lab.exchange.sync import sync
from lab.messages import LANGUAGES, messages
from lab.model.protocol import Protocol
from lab.pipeline import load
from lab.store.attempts import read_records
from lab.store.bundle import write_bundle
from lab.store.manifest import read_manifest
from lab.store.workbook import append_attempts, campaign_workbook, read_workbook, write_workbook
from lab.store.workbook.zip_copy import _layout

Said = tuple[int, str]
PASSES = rounds({"b1": SLOW, "b8": QUICK})
IDS = {name(one) for one in PASSES}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, soffice: str) -> Path:
    """A measured campaign whose workbook, without a row yet, a colleague saved as `campaign.ods`."""
    folder = build(tmp_path_factory.mktemp("formats") / "campaign", Plan(PASSES))
    book = folder / "campaign.xlsx"
    manifest = read_manifest(folder / "manifest.toml")
    write_workbook(book, replace(read_workbook(book, manifest), rows=()), manifest)
    out = folder.parent / "out"
    out.mkdir()
    shutil.move(converted(soffice, book, "ods", out), folder / "campaign.ods")
    for one in folder.glob("campaign*.xlsx"):
        one.unlink()
    return folder


@pytest.fixture
def folder(measured: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(measured, tmp_path / "campaign")


def test_rows_go_beside_an_open_document_and_sync_says_what_to_do(folder: Path, said: Callable[..., Said]) -> None:
    """The file keeps its bytes; the message names it, and both ways on."""
    book = folder / "campaign.ods"
    old = book.read_bytes()
    written = append_attempts(campaign_workbook(folder), [one.attempt for one in read_records(folder)], "en")
    assert written.fault is not None
    assert (written.fault.slug, written.fault.file) == ("workbook-not-xlsx", "campaign.ods")
    assert written.written_to.name.startswith("campaign.new-rows-")
    for language in LANGUAGES:
        code, text = said("sync", folder, "--lang", language)
        assert code == 1
        assert "campaign.ods" in text
        assert messages(language).text("fault.workbook-not-xlsx.do") in text
        assert "lab sync --rebuild" in text
    assert book.read_bytes() == old
    assert not (folder / "campaign.xlsx").exists()


def test_made_anew_it_is_a_workbook_that_can_be_added_to_and_the_old_one_stays(folder: Path) -> None:
    """All that was declared and every attempt is in `campaign.xlsx`; there are not two workbooks afterwards."""
    manifest = read_manifest(folder / "manifest.toml")
    old = (folder / "campaign.ods").read_bytes()
    before = read_workbook(folder / "campaign.ods", manifest)
    append_attempts(folder / "campaign.ods", [one.attempt for one in read_records(folder)][:3], "en")
    found = sync(folder, rebuild=True)
    assert (found.fault, found.rebuilt_from) == (None, "workbook")
    assert found.replaced is not None
    assert found.replaced.endswith(".ods")
    assert (folder / found.replaced).read_bytes() == old
    assert campaign_workbook(folder).name == "campaign.xlsx"
    after = read_workbook(folder / "campaign.xlsx", manifest)
    assert {row.attempt_id for row in after.rows} == IDS
    assert (after.protocol, after.choices, after.calendar) == (before.protocol, before.choices, before.calendar)
    assert not list(folder.glob("campaign.new-rows-*"))
    assert sync(folder).fault is None


def test_a_workbook_with_macros_is_read_and_left_alone(folder: Path) -> None:
    """W10: read, never saved as such; nor is it a reason to make a second one."""
    sync(folder, rebuild=True)
    book = (folder / "campaign.xlsx").rename(folder / "campaign.xlsm")
    old = book.read_bytes()
    found = sync(folder)
    assert found.fault is not None
    assert (found.fault.slug, found.fault.file) == ("workbook-not-xlsx", "campaign.xlsm")
    assert book.read_bytes() == old
    assert not (folder / "campaign.xlsx").exists()


def test_a_source_and_a_target_of_a_merge_may_be_open_documents(folder: Path, tmp_path: Path) -> None:
    """What people noted in the source's comes along; into the target's nothing is written, and that is said."""
    home = build(tmp_path / "home", Plan(()))
    found = merge(home, [folder])
    assert set(found.taken) == IDS
    assert found.synced.fault is None
    shutil.rmtree(folder / "attempts")
    again = merge(folder, [home])
    assert set(again.taken) == IDS
    assert again.synced.fault is not None
    assert again.synced.fault.file == "campaign.ods"
    assert {one.attempt.attempt_id for one in read_records(folder)} == IDS


def test_two_workbooks_in_a_source_are_refused_with_its_own_path(folder: Path, tmp_path: Path) -> None:
    """Which one counts is not guessed, in a folder that is merged either."""
    home = build(tmp_path / "home", Plan(()))
    shutil.copy(home / "campaign.xlsx", folder)
    with pytest.raises(Exception, match="workbook-several") as error:
        merge(home, [folder])
    assert {one.file for one in error.value.faults} == {str(folder)}  # type: ignore[attr-defined]  (a LabError)


def test_a_bag_holds_it_and_faults_name_it(folder: Path, tmp_path: Path) -> None:
    """A reviewer gets the workbook there is; what is missing in the protocol is missing in `campaign.ods`."""
    campaign = load(folder)
    assert "campaign.ods" in write_bundle(folder, campaign, tmp_path / "bag.zip", with_corpus=False).files
    found = term_faults(replace(campaign, protocol=Protocol()), folder)
    assert {one.file for one in found} == {"campaign.ods"}


def test_a_sync_leaves_every_other_part_as_it_lies_in_the_file(folder: Path) -> None:
    """Compressed bytes, headers and directory records, not only the contents: also of a picture packed otherwise."""
    sync(folder, rebuild=True)
    book = folder / "campaign.xlsx"

    def change(held: Workbook) -> None:
        held["calendar"]["C5"] = held["calendar"]["C5"].value.replace(day=1)

    edited(book, change)
    with zipfile.ZipFile(book, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("xl/media/image1.bin", bytes(range(256)) * 40)
    before, old = _layout(open_package(book)).bytes_of(book.read_bytes()), parts(book)
    assert sync(folder).computed
    after, new = _layout(open_package(book)).bytes_of(book.read_bytes()), parts(book)
    assert list(before) == list(after)
    kept = [one for one in old if old[one] == new[one]]
    assert "xl/media/image1.bin" in kept
    assert len(kept) > len(old) / 2
    assert [one for one in kept if before[one] != after[one]] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_not_typed_is_named_as_the_help_names_it(language: str, said: Callable[..., Said]) -> None:
    """`lab merge DIR` without a source, `lab init` without a folder: the name, and the whole line to type."""
    for typed, name_, line in (
        (("merge", "x"), "SOURCE", "lab merge DIR SOURCE…"), (("init",), "DIR", "lab init DIR"),
    ):  # fmt: skip
        code, text = said(*typed, "--lang", language)
        assert code == 2
        assert messages(language).text("cli.usage.missing_argument", name=name_, line=line) in text
        assert not {"sources", "folder"} & set(text.split())


def test_a_campaign_is_not_begun_over_a_workbook_of_another_format(folder: Path, said: Callable[..., Said]) -> None:
    """`lab init` would make a second one beside it."""
    (folder / "manifest.toml").unlink()
    code, text = said("init", folder)
    assert code == 2
    assert messages("en").text("fault.campaign-exists", name="campaign.ods") in text


def test_a_workbook_in_another_language_is_kept_in_mind_and_stands_in_nothing_s_way(
    tmp_path: Path, said: Callable[..., Said]
) -> None:
    """The manifest says French, the workbook was made in English: `lab check` says it under what to keep in mind."""
    folder = build(tmp_path / "campaign", Plan(PASSES))
    text = (folder / "manifest.toml").read_text(encoding="utf-8")
    sync(folder)
    before = said("check", folder, "--lang", "en")
    (folder / "manifest.toml").write_text(text.replace('language = "en"', 'language = "fr"'), encoding="utf-8")
    _, after = said("check", folder, "--lang", "en")
    told = messages("en").text("check.own_language", file="campaign.xlsx", own="en", language="fr")
    assert told not in before[1]
    assert told in after
    assert "workbook-own-language" not in {one.slug for one in check(folder).faults}


def test_a_workbook_that_is_open_elsewhere_is_not_made_anew(folder: Path) -> None:
    """Who has it open would save over the new one: it is refused, and nothing is written."""
    lock = folder / ".~lock.campaign.ods#"
    lock.write_text("a colleague")
    before = {one.name for one in folder.iterdir()}
    found = sync(folder, rebuild=True)
    assert found.fault is not None
    assert found.fault.slug == "workbook-locked"
    assert {one.name for one in folder.iterdir()} - {".run.lock"} == before - {".run.lock"}
    lock.unlink()
    assert sync(folder, rebuild=True).fault is None


def test_a_workbook_that_is_a_link_is_left_to_those_who_share_it(folder: Path) -> None:
    """Nothing takes the link's place; rows go beside it, and come in once the file itself is there."""
    sync(folder, rebuild=True)
    book, shared = folder / "campaign.xlsx", folder.parent / "shared.xlsx"
    manifest = read_manifest(folder / "manifest.toml")
    write_workbook(book, replace(read_workbook(book, manifest), rows=()), manifest)
    old = book.rename(shared).read_bytes()
    book.symlink_to(shared)
    written = append_attempts(book, [one.attempt for one in read_records(folder)][:2], "en")
    assert written.fault is not None
    assert (written.fault.slug, written.fault.values["target"]) == ("workbook-is-a-link", str(shared))
    assert sync(folder).fault == written.fault
    assert book.is_symlink()
    assert shared.read_bytes() == old
    book.unlink()
    shared.rename(book)
    assert sync(folder).brought_in == {written.written_to.name: 2}
