"""Nothing is changed unseen: seals amended in the open, a folder held against its report, a bag that can be checked."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import bagit
import costs_campaign
import pytest
from openpyxl import load_workbook
from small_campaign import fill_protocol

from lab.messages import LANGUAGES
from lab.model.protocol import Protocol
from lab.report.renderer import renderer
from lab.store.attempts import read_records
from lab.store.files import sha256_file
from lab.store.manifest import read_manifest
from lab.store.workbook import WorkbookContent, write_workbook

ATTEMPT = costs_campaign.name("package", 0)
PREDICTIONS = f"attempts/{ATTEMPT}/predictions.jsonl"
Said = tuple[int, str]


def replaced(path: Path, old: str, new: str) -> None:
    """Change one passage of a text file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def cell(folder: Path, sheet: str, column: str, row: int, value: object) -> None:
    """Type into a table of the workbook: the row counts from 1 below its header."""
    book = load_workbook(folder / "campaign.xlsx")
    header = next(line for line in book[sheet].iter_rows() if column in [one.value for one in line])
    place = next(one for one in header if one.value == column)
    book[sheet].cell(place.row + row, place.column).value = value
    book.save(folder / "campaign.xlsx")


# --- amendments -------------------------------------------------------------------------------------------------------


def test_a_threshold_lowered_after_the_fact_is_named_by_every_command(
    campaign: Path, said: Callable[..., Said]
) -> None:
    """Old value and new, before it is amended."""
    fill_protocol(campaign / "campaign.xlsx", {"threshold": 0.5})
    elsewhere = shutil.copytree(campaign, campaign.parent / "elsewhere")
    more = {
        "bundle": ("--out", campaign.parent / "out.zip"),
        "export": ("--out", campaign.parent / "tables"),
        "merge": (elsewhere,),
    }
    for command in (
        "check", "status", "judge", "report", "seal", "run", "verify", "bundle", "export", "sync", "merge",
    ):  # fmt: skip
        _, text = said(command, campaign, *more.get(command, ()))
        assert "protocol.threshold" in text, command
        assert "0.75" in text, command
        assert "0.5" in text, command
    assert said("judge", campaign, "--json")[1].count('"seal-changed"') == 1
    assert "seal-changed" in said("report", campaign, "--json")[1]


def test_an_amended_threshold_is_in_every_report(campaign: Path, said: Callable[..., Said]) -> None:
    """When, why, old and new, what was known: decision.json, the page in each language, the list of versions."""
    fill_protocol(campaign / "campaign.xlsx", {"threshold": 0.5})
    code, text = said("amend", campaign, "--reason", "too strict <b>")
    assert code == 0
    assert "protocol.threshold: 0.75 → 0.5" in text
    assert "6 attempts were known already" in text
    assert "No variant can be chosen" in text
    assert said("check", campaign)[1].count("protocol.threshold") == 0
    code, text = said("report", campaign)
    assert (code, "The seal was amended" in text) == (0, True)
    assert said("report", campaign, "--json")[0] == 0
    document = json.loads((campaign / "report" / "v2" / "decision.json").read_text(encoding="utf-8"))
    (amendment,) = document["amendments"]
    assert amendment["reason"] == "too strict <b>"
    assert amendment["changes"] == [{"name": "protocol.threshold", "sealed": "0.75", "now": "0.5"}]
    assert amendment["acceptance_terms"] == ["protocol.threshold"]
    assert amendment["fails_seal"]
    assert amendment["known"]["outcomes"] == {"completed": 6}
    assert amendment["known"]["verdicts"] == {"accepted": 6}
    gates = {one["gate"]: one["result"] for variant in document["variants"] for one in variant["gates"]}
    assert gates["sealed"] == "failed"
    assert document["decision"]["status"] != "chosen"
    for language in LANGUAGES:
        page = (campaign / "report" / "v2" / f"{language}.html").read_text(encoding="utf-8")
        assert "too strict &lt;b&gt;" in page
        assert "protocol.threshold 0.75 → 0.5" in page
        index = (campaign / "report" / f"index.{language}.html").read_text(encoding="utf-8")
        assert "protocol.threshold 0.75 → 0.5" in index
    assert said("verify", campaign)[0] == 0


def test_an_amendment_of_the_deadline_breaks_nothing(campaign: Path, said: Callable[..., Said]) -> None:
    """It is no term of acceptance: listed, and the attempts stay valid under their seal."""
    replaced(campaign / "manifest.toml", "[[variants]]", '[[variants]]\nid = "third"\nbatch_size = 2\n[[variants]]')
    code, text = said("amend", campaign, "--reason", "one more to compare", "--json")
    assert (code, json.loads(text)["acceptance_terms"]) == (0, [])
    assert said("report", campaign)[0] == 0
    document = json.loads((campaign / "report" / "v2" / "decision.json").read_text(encoding="utf-8"))
    assert not document["amendments"][0]["fails_seal"]
    results = {
        variant["id"]: gate["result"]
        for variant in document["variants"]
        for gate in variant["gates"]
        if gate["gate"] == "sealed"
    }
    assert results == {"third": "passed", "package": "passed", "hourly": "passed"}


def test_an_amendment_without_a_reason_or_a_change_is_wrong_usage(campaign: Path, said: Callable[..., Said]) -> None:
    """Exit code 2, and the seal is as it was."""
    before = (campaign / "seal.json").read_bytes()
    assert said("amend", campaign)[0] == 2
    assert said("amend", campaign, "--reason", " ")[0] == 2
    assert said("amend", campaign, "--reason", "why not")[0] == 2
    assert (campaign / "seal.json").read_bytes() == before


def test_after_an_amendment_the_run_goes_on(tmp_path: Path, said: Callable[..., Said]) -> None:
    """A variant that was added is measured under the new seal; the earlier attempt stays under its own."""
    (tmp_path / "work.py").write_text("def answers(inputs):\n    for one, _ in inputs:\n        yield one, 'a'\n")
    (tmp_path / "corpus.jsonl").write_text('{"id": "1", "text": "x", "label": "a"}\n')
    head = 'schema = 1\nname = "n"\nlanguage = "en"\n[[corpora]]\nid = "c"\npath = "corpus.jsonl"\n'
    head += 'reference_column = "label"\nlabels = ["a"]\n[run]\nwarm_up = { passes = 0, inputs = 0 }\n'
    head += '[defaults]\nworkload = "python"\nfunction = "work:answers"\n[[variants]]\nid = "one"\n'
    (tmp_path / "manifest.toml").write_text(head)
    terms = Protocol("?", metric="accuracy", threshold=0.5, repetitions=1, time_zone="UTC")
    terms = replace(terms, deadline=datetime(2027, 1, 8, tzinfo=UTC))
    write_workbook(tmp_path / "campaign.xlsx", WorkbookContent(terms), read_manifest(tmp_path / "manifest.toml"))
    assert said("run", tmp_path)[0] == 0
    (tmp_path / "manifest.toml").write_text(head + '[[variants]]\nid = "two"\n')
    assert said("run", tmp_path)[0] == 1
    assert said("amend", tmp_path, "--reason", "a second one")[0] == 0
    assert said("run", tmp_path)[0] == 0
    one, two = read_records(tmp_path)
    assert (one.attempt.variant, two.attempt.variant) == ("one", "two")
    written = json.loads((tmp_path / "seal.json").read_text(encoding="utf-8"))
    assert (one.attempt.seal, two.attempt.seal) == (written["history"][0]["fingerprint"], written["fingerprint"])


@pytest.mark.parametrize("line", ['{"id": "0", "text": "something else"}', '{"id": "other", "text": " november 1 "}'])
def test_a_tuning_set_that_shares_an_id_or_a_text_is_refused(
    campaign: Path, said: Callable[..., Said], line: str
) -> None:
    """By its line, before anything is sealed or measured."""
    (campaign / "tuning.jsonl").write_text('{"id": "t", "text": "own"}\n' + line + "\n", encoding="utf-8")
    replaced(campaign / "manifest.toml", 'path = "november.jsonl"', 'path = "november.jsonl"\ntuning = "tuning.jsonl"')
    code, text = said("check", campaign)
    assert code == 3
    assert "tuning.jsonl, line 2" in text


# --- verifying --------------------------------------------------------------------------------------------------------


def test_an_untouched_campaign_holds(campaign: Path, said: Callable[..., Said]) -> None:
    """All compared, every attempt judged again, nothing written."""
    before = {path: path.read_bytes() for path in campaign.rglob("*") if path.is_file()}
    code, text = said("verify", campaign, "--json")
    found = json.loads(text)
    assert (code, found["holds"], found["differences"], found["faults"]) == (0, True, [], [])
    assert len(found["judged_again"]["same"]) == 6
    assert "Everything holds." in said("verify", campaign)[1]
    assert {path: path.read_bytes() for path in campaign.rglob("*") if path.is_file()} == before


CHANGES: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "prediction line": (
        lambda folder: replaced(folder / PREDICTIONS, '"id": "2", "prediction": "a"', '"id": "2", "prediction": "b"'),
        (f"{PREDICTIONS} was changed", f"{PREDICTIONS}, line 3: ", '"prediction": "b"', "was `accepted` and is"),
    ),
    "corpus line": (
        lambda folder: replaced(folder / "mails.jsonl", "mails 3", "mails three"),
        ("mails.jsonl was changed", "mails.jsonl, line 4", "mails three"),
    ),
    "corpus line added": (
        lambda folder: replaced(folder / "mails.jsonl", "\n", '\n{"id": "9", "text": "new", "label": "a"}\n'),
        ("mails.jsonl, from line 2 (to 1 then, to 2 now)",),
    ),
    "manifest key": (
        lambda folder: replaced(folder / "manifest.toml", "batch_size = 8", "batch_size = 4"),
        ("manifest.toml was changed", "manifest.variants.hourly.batch_size was 8 and is 4"),
    ),
    "protocol cell": (
        lambda folder: fill_protocol(folder / "campaign.xlsx", {"threshold": 0.6}),
        ("protocol.threshold was 0.75 and is 0.6",),
    ),
    "price of a package nobody chose": (
        lambda folder: cell(folder, "forfaits", "price", 2, 2070),
        ("forfaits.2.price was 2071 and is 2070",),
    ),
    "measured cell": (
        lambda folder: cell(folder, "raw-results", "duration_s", 1, 1.5),
        ("raw-results!", "1.5"),
    ),
    "judged cell": (
        lambda folder: cell(folder, "raw-results", "corpus_accepted", 1, "rejected"),
        ("the predictions say accepted, the cell of the workbook says rejected",),
    ),
    "record": (
        lambda folder: replaced(folder / "attempts" / ATTEMPT / "attempt.json", '"elapsed_s": 8', '"elapsed_s": 7'),
        (f"attempts/{ATTEMPT}/attempt.json was changed", '"elapsed_s": 70.0'),
    ),
    "page": (
        lambda folder: replaced(folder / "report" / "v1" / "fr.html", "</body>", " </body>"),
        ("report/v1/fr.html was changed: fingerprint ",),
    ),
    "list of versions": (
        lambda folder: replaced(folder / "report" / "index.it.html", "</body>", " </body>"),
        ("report/index.it.html was changed",),
    ),
    "asset": (
        lambda folder: next((folder / "report" / "assets").glob("*.css")).write_text("x"),
        ("report/assets/note-", "was changed"),
    ),
    "page taken away": (
        lambda folder: (folder / "report" / "v1" / "it.html").unlink(),
        ("report/v1/it.html is missing",),
    ),
    "page put there": (
        lambda folder: (folder / "report" / "v1" / "more.html").write_text("x"),
        ("report/v1/more.html was not there",),
    ),
    "decision": (
        lambda folder: replaced(folder / "report" / "v1" / "decision.json", '"committed": "2', '"committed": "1'),
        ("report/v1/decision.json was changed", "decision.json, decision.committed: 120.00; recomputed: 220.00"),
    ),
    "decision that is none": (
        lambda folder: (folder / "report" / "v1" / "decision.json").write_text("[1]"),
        ("report/v1/decision.json was changed",),
    ),
    "decision without attempts": (
        lambda folder: replaced(folder / "report" / "v1" / "decision.json", '"attempts": [', '"tries": ['),
        ("report/v1/decision.json was changed", "This is no decision that a report wrote."),
    ),
    "hashes of another kind": (
        lambda folder: (folder / "report" / "v1" / "hashes.json").write_text('{"files": {"en.html": 3}, "lines": 1}'),
        ("report/v1/en.html was changed", "report/v1/fr.html was not there"),
    ),
    "environment taken away": (
        lambda folder: next((folder / "environments").iterdir()).unlink(),
        ("environments/", "is missing"),
    ),
    "corpus taken away": (
        lambda folder: (folder / "mails.jsonl").unlink(),
        ("mails.jsonl is missing", "could not be recomputed"),
    ),
    "hashes taken away": (
        lambda folder: [(folder / "report" / "v1" / one).unlink() for one in ("hashes.json", "it.html")],
        ("report/v1/hashes.json is missing",),
    ),
    "hashes damaged": (
        lambda folder: (folder / "report" / "v1" / "hashes.json").write_text('{"schema": 1}'),
        ("report/v1/hashes.json is missing or damaged",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_named(campaign: Path, said: Callable[..., Said], change: str) -> None:
    """Exit code 1, the place, what was and what is."""
    alter, wanted = CHANGES[change]
    alter(campaign)
    code, text = said("verify", campaign)
    assert code == 1, text
    for part in wanted:
        assert part in text
    for language in LANGUAGES:
        assert said("verify", campaign, "--lang", language)[0] == code


def test_a_page_rewritten_with_its_fingerprint_is_named(campaign: Path, said: Callable[..., Said]) -> None:
    """Made again from `decision.json`; pages that another product made cannot be, which is said."""
    version = campaign / "report" / "v1"
    before = sha256_file(version / "en.html")
    replaced(version / "en.html", "package", "hourly")
    hashes = json.loads((version / "hashes.json").read_text(encoding="utf-8"))
    assert before == hashes["files"]["en.html"]
    files = {**hashes["files"], "en.html": sha256_file(version / "en.html")}
    hashes = {**hashes, "files": files, "renderer": renderer()}
    (version / "hashes.json").write_text(json.dumps(hashes), encoding="utf-8")
    code, text = said("verify", campaign)
    assert code == 1, text
    assert "report/v1/en.html was changed" in text
    assert "report/v1/it.html" not in text
    (version / "hashes.json").write_text(json.dumps({**hashes, "renderer": "0" * 64}), encoding="utf-8")
    code, text = said("verify", campaign)
    assert (code, "The pages of report/v1 were made by another version" in text) == (0, True)


def test_an_earlier_version_can_be_verified(campaign: Path, said: Callable[..., Said]) -> None:
    """A changed price: version 2 holds, version 1 says what is different now."""
    cell(campaign, "forfaits", "price", 1, 120)
    assert said("report", campaign)[0] == 0
    assert said("verify", campaign)[0] == 0
    code, text = said("verify", campaign, "--version", "1")
    assert code == 1
    assert "forfaits.1.price was 110 and is 120" in text
    assert "220.00" in text
    assert "240.00" in text
    assert said("verify", campaign, "--version", "7")[0] == 2


def test_without_a_report_there_is_nothing_to_verify(tmp_path: Path, said: Callable[..., Said]) -> None:
    """Exit code 3 and what to do."""
    code, text = said("verify", costs_campaign.build(tmp_path / "campaign"))
    assert (code, "lab report" in text) == (3, True)


# --- bags -------------------------------------------------------------------------------------------------------------


def test_a_bag_is_valid_and_holds_no_secret_of_the_machine(
    campaign: Path, tmp_path: Path, said: Callable[..., Said]
) -> None:
    """The public tool validates it; no log, lock, dot file or corpus is in it."""
    (campaign / ".run.lock").write_text("12")
    (campaign / "attempts" / ATTEMPT / "log.txt").write_text("who")
    (campaign / "attempts" / ATTEMPT / ".hidden").write_text("x")
    (campaign / "notes.fr.md").write_text("Une note.")
    code, text = said("bundle", campaign, "--out", tmp_path / "out.zip")
    assert (code, "november.jsonl" in text) == (0, True)
    names = zipfile.ZipFile(tmp_path / "out.zip").namelist()
    assert names == sorted(names)
    inside = {name.removeprefix("tickets/data/") for name in names if name.startswith("tickets/data/")}
    assert {"manifest.toml", "campaign.xlsx", "seal.json", "notes.fr.md", PREDICTIONS} <= inside
    assert {f"attempts/{ATTEMPT}/attempt.json", "report/v1/decision.json", "report/index.html"} <= inside
    assert not [one for one in inside if re.search(r"(^|/)\.|log\.txt|november\.jsonl|models", one)]
    zipfile.ZipFile(tmp_path / "out.zip").extractall(tmp_path / "unpacked")
    bag = bagit.Bag(str(tmp_path / "unpacked" / "tickets"))
    bag.validate()
    assert bag.algorithms == ["sha256"]


def test_a_bag_with_its_corpus_can_be_verified(campaign: Path, tmp_path: Path, said: Callable[..., Said]) -> None:
    """The reviewer unpacks it and recomputes everything; a byte that changed is found by both tools."""
    assert said("bundle", campaign, "--with-corpus", "--out", tmp_path / "out.zip")[0] == 0
    zipfile.ZipFile(tmp_path / "out.zip").extractall(tmp_path)
    data = tmp_path / "tickets" / "data"
    assert said("verify", data)[0] == 0
    replaced(data / PREDICTIONS, '"prediction": "a"', '"prediction": "b"')
    assert said("verify", data)[0] == 1
    with pytest.raises(bagit.BagValidationError):
        bagit.Bag(str(tmp_path / "tickets")).validate()


def test_the_same_campaign_gives_the_same_bag(
    campaign: Path, tmp_path: Path, said: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, whatever the times of its files; by default it is named after the campaign."""
    monkeypatch.chdir(tmp_path)
    assert said("bundle", campaign)[0] == 0
    shutil.copytree(campaign, tmp_path / "copy", copy_function=shutil.copyfile)
    assert said("bundle", tmp_path / "copy", "--out", "second.zip")[0] == 0
    assert (tmp_path / "tickets.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_a_link_out_of_the_campaign_is_refused(campaign: Path, tmp_path: Path, said: Callable[..., Said]) -> None:
    """Exit code 3; no bag is left."""
    (tmp_path / "secret").write_text("x")
    (campaign / "attempts" / ATTEMPT / "more.txt").symlink_to(tmp_path / "secret")
    assert said("bundle", campaign, "--out", tmp_path / "out.zip")[0] == 3
    assert not (tmp_path / "out.zip").exists()


def test_a_price_of_a_made_up_catalogue_is_in_the_kept_values(tmp_path: Path, said: Callable[..., Said]) -> None:
    """A row of the catalogue that is taken away is named too."""
    offer = replace(costs_campaign.by_the_hour(), price=Decimal("0.5"))
    folder = costs_campaign.build(tmp_path / "campaign", offers=(*costs_campaign.shipped_offers(), offer))
    assert said("report", folder)[0] == 0
    assert '"forfaits.3.price": "0.5"' in (folder / "report" / "v1" / "hashes.json").read_text(encoding="utf-8")
