"""Publishing: same inputs, same bytes; a change is a new version that says what changed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import report_campaigns as made

from lab.errors import InvalidInputError, OutsideFailureError
from lab.report import versions
from lab.report.changes import changes
from lab.report.render import read_assets
from lab.report.versions import publish


def _bytes(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        one.relative_to(folder).as_posix(): (one.stat().st_mtime_ns, hashlib.sha256(one.read_bytes()).hexdigest())
        for one in folder.rglob("*")
        if one.is_file()
    }


def test_a_version_holds_what_the_contract_names(tmp_path: Path) -> None:
    """decision.json, an index, three pages and three notes; assets are shared and named by their hash."""
    published = publish(tmp_path, made.document(made.campaign()), {})
    assert (published.version, published.created) == (1, True)
    pages = {f"{one}.html" for one in ("index", "en", "fr", "it")}
    notes = {f"decision-note.{one}.html" for one in ("en", "fr", "it")}
    assert {one.name for one in published.path.iterdir()} == {"decision.json", "hashes.json", *pages, *notes}
    document = json.loads((published.path / "decision.json").read_text(encoding="utf-8"))
    assert document["report_version"] == 1
    assert list(document)[:3] == ["schema_version", "campaign", "report_version"]
    for name, data in read_assets().files().items():
        assert (tmp_path / "report" / "assets" / name).read_bytes() == data
        assert hashlib.sha256(data).hexdigest()[:12] in name


def test_the_same_inputs_rewrite_nothing(tmp_path: Path) -> None:
    """Publishing twice leaves every file untouched, its time included."""
    publish(tmp_path, made.document(made.campaign()), {"en": "A note."})
    before = _bytes(tmp_path)
    again = publish(tmp_path, made.document(made.campaign()), {"en": "A note."})
    assert (again.version, again.created) == (1, False)
    assert _bytes(tmp_path) == before


def test_the_same_inputs_give_the_same_bytes_elsewhere(tmp_path: Path) -> None:
    """Nothing of the folder, the clock or the process is in the pages."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        publish(tmp_path / name, made.document(made.campaign()), {})
    first, second = ({path: sha for path, (_, sha) in _bytes(tmp_path / name).items()} for name in ("a", "b"))
    assert first == second


def test_one_changed_prediction_is_a_new_version_that_names_the_attempt(tmp_path: Path) -> None:
    """The old version stays as it was; the index tells both apart."""
    campaign = made.campaign()
    first = publish(tmp_path, made.document(campaign), {})
    before = _bytes(first.path)
    attempt = campaign.records[0].attempt.attempt_id
    path = f"attempts/{attempt}/predictions.jsonl"
    changed = replace(
        campaign,
        inputs={**campaign.inputs, path: "cd" * 32},
        evidence={**campaign.evidence, attempt: made.evidence(altered=True)},
    )
    second = publish(tmp_path, made.document(changed), {})
    assert (second.version, second.created) == (2, True)
    assert _bytes(first.path) == before
    keys = {one.key: one.values for one in second.changes}
    assert keys["report.change.predictions"]["attempt_id"] == attempt
    assert keys["report.change.predictions"]["before"] == "ab" * 6
    assert keys["report.change.predictions"]["after"] == "cd" * 6
    assert keys["report.change.accepted"]["before"] == 5
    assert keys["report.change.accepted"]["after"] == 4
    index = (tmp_path / "report" / "index.en.html").read_text(encoding="utf-8")
    assert f"The predictions of attempt {attempt} changed" in index
    assert index.index("Version 2") < index.index("Version 1")


def test_changes_name_both_values() -> None:
    """Answer, price, terms and machine: what was and what is."""
    campaign = made.campaign(made.APART)
    before = {**made.document(campaign), "report_version": 1}
    other = replace(
        campaign, offers=(made.offer(price="120"),), protocol=made.protocol(threshold=0.9), environments={},
    )  # fmt: skip
    found = {one.key: one.values for one in changes(before, {**made.document(other), "report_version": 2})}
    assert found["report.change.answer.chosen.none_eligible"]["before"] == "b8"
    assert str(found["report.change.committed"]["before"]) == "110.00"
    assert str(found["report.change.committed"]["after"]) == "120.00"
    assert (found["report.change.protocol"]["before"], found["report.change.protocol"]["after"]) == (0.7, 0.9)
    assert "report.change.environment.removed" in found
    assert changes(None, before)[0].key == "report.change.first"


def test_notes_belong_to_the_version(tmp_path: Path) -> None:
    """A note that changes is a change like another."""
    publish(tmp_path, made.document(made.campaign()), {"en": "One."})
    second = publish(tmp_path, made.document(made.campaign()), {"en": "Two."})
    assert [one.key for one in second.changes] == ["report.change.notes"]
    document = json.loads((second.path / "decision.json").read_text(encoding="utf-8"))
    assert document["author_notes"] == {"en": "Two."}


def test_a_failure_half_way_leaves_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk refuses one of the pages: no `v1`, and the next try makes it whole."""
    real = versions.write_atomically

    def refusing(path: Path, data: bytes) -> None:
        if path.name == "it.html":
            path.mkdir()  # a folder in the file's place: the system itself refuses
        real(path, data)

    monkeypatch.setattr(versions, "write_atomically", refusing)
    with pytest.raises(OutsideFailureError):
        publish(tmp_path, made.document(made.campaign()), {})
    assert not (tmp_path / "report" / "v1").exists()
    monkeypatch.undo()
    assert publish(tmp_path, made.document(made.campaign()), {}).version == 1
    assert [one.name for one in (tmp_path / "report").glob(".v*")] == []


def test_a_damaged_earlier_version_is_named(tmp_path: Path) -> None:
    """Nothing is published over what cannot be read."""
    published = publish(tmp_path, made.document(made.campaign()), {})
    (published.path / "decision.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        publish(tmp_path, made.document(made.campaign()), {})
    assert caught.value.faults[0].file == "report/v1/decision.json"


def test_the_note_is_one_file_with_a_policy_that_names_each_script_by_its_hash(tmp_path: Path) -> None:
    """Nothing but what was shipped can run, and the file asks for nothing."""
    published = publish(tmp_path, made.document(made.hostile()), {"en": made.HOSTILE})
    text = (published.path / "decision-note.en.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    assert policy[1].startswith("default-src &#39;none&#39;")
    assert "unsafe" not in policy[1]
    # plotly.js stands there as text; the page's own script runs it later, and the policy lets it by its hash.
    scripts = re.findall(r'<script(?: type="text/plain" id="plotly")?>(.*?)</script>', text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy[1].replace("&#43;", "+")
    plotly = read_assets().plotly
    assert not re.search(r"<(?:link|img|iframe|script)[^>]*(?:src|href)=", text.replace(plotly, ""))
    assert len(text.encode()) - len(plotly.encode()) < 300_000


def test_hostile_texts_are_shown_as_text(tmp_path: Path) -> None:
    """H1: every place that holds a person's text escapes it."""
    published = publish(tmp_path, made.document(made.hostile()), {"en": made.HOSTILE, "fr": made.HOSTILE})
    for language in ("en", "fr", "it"):
        page = (published.path / f"{language}.html").read_text(encoding="utf-8")
        assert "<img" not in page
        assert "<b>" not in page
        assert 'href="javascript' not in page
        assert "&lt;/script&gt;" in page


def test_opening_the_folder_shows_the_campaigns_language(tmp_path: Path) -> None:
    """index.html is the page of the campaign's language, with links to the others."""
    published = publish(tmp_path, made.document(made.campaign(language="it")), {})
    index = (published.path / "index.html").read_bytes()
    assert index == (published.path / "it.html").read_bytes()
    assert b'<html lang="it">' in index
    assert b'href="en.html"' in index


def test_templates_decide_nothing(repository: Path) -> None:
    """Templates loop, include and test for presence; they compare, compute, sort and format nothing."""
    for path in (repository / "templates" / "report").glob("*.j2"):
        for found in re.findall(r"\{[{%](.*?)[%}]\}", path.read_text(encoding="utf-8")):
            code = re.sub(r'"[^"]*"', "", found)
            assert not re.search(r"==|!=|[<>+*/]|\|\s*(?:round|sort|format|sum|length)", code), (path.name, found)
