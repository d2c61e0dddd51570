"""The example of the site: a campaign that was really measured, or a page that says how to make one."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
import small_campaign
from site_links import broken

from lab.cli import main
from lab.errors import UsageProblemError
from lab.messages import LANGUAGES
from lab.report.site import build_site
from lab.report.site_example import read_example
from lab.report.view_first import answer
from lab.report.words import Words

MANIFEST = (
    small_campaign.CORPUS
    + """
[[variants]]
id = "rules"
gpu = "rtx-4090"
workload = "python"
function = "rules:sort"
"""
)
RULES = """\
WORDS = ("fact", "mont", "remb", "paie", "prix", "calc")

def sort(inputs):
    for one, text in inputs:
        yield one, "facturation" if any(word in text for word in WORDS) else "panne"
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small campaign, measured with real processes and reported."""
    folder = tmp_path_factory.mktemp("measured") / "tickets"
    assert main(["init", str(folder), "--lang", "fr"]) == 0
    (folder / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "rules.py").write_text(RULES, encoding="utf-8")
    small_campaign.write_corpus(folder, small_campaign.rows())
    protocol = {key: value for key, value in small_campaign.PROTOCOL.items() if key != "reference_variant"}
    small_campaign.fill_protocol(folder / "campaign.xlsx", {**protocol, "tolerance": None})
    assert main(["run", str(folder)]) == 0
    assert main(["report", str(folder)]) == 0
    return folder


def test_a_measured_report_becomes_the_example(measured: Path, tmp_path: Path) -> None:
    """Copied as it was published; each page shows its question and its answer, and leads to it in its language."""
    assert main(["site", str(tmp_path / "out"), "--example", str(measured)]) == 0
    report, copied = measured / "report", tmp_path / "out/example"
    names = sorted(path.relative_to(report) for path in report.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(copied) for path in copied.rglob("*") if path.is_file())
    assert all((report / name).read_bytes() == (copied / name).read_bytes() for name in names)
    document = read_example(measured)
    for language in LANGUAGES:
        text = html.unescape((tmp_path / "out" / language / "example.html").read_text(encoding="utf-8"))
        assert f'href="../example/v1/{language}.html"' in text
        assert 'lang="fr">Quel batch trie tous les tickets avant vendredi' in text
        assert "lab demo demo" in text
        assert f'<p class="said">{answer(document, Words(document, language))}</p>' in text
        assert "example price" not in text
    assert broken((tmp_path / "out").rglob("*.html"), tmp_path / "out") == []


def test_without_an_example_the_page_says_how_to_make_one(tmp_path: Path) -> None:
    """Never a report that nobody measured."""
    build_site(tmp_path, "en")
    text = (tmp_path / "en/example.html").read_text(encoding="utf-8")
    assert "none were taken for this copy of the site" in text
    assert "lab site public --example demo" in text
    assert "../example/" not in text
    assert not (tmp_path / "example").exists()


def test_a_campaign_without_measurements_is_refused(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No report, or a report of a campaign in which nothing was run: nothing is written."""
    assert main(["init", str(tmp_path / "empty"), "--lang", "en"]) == 0
    capsys.readouterr()
    assert main(["site", str(tmp_path / "out"), "--example", str(tmp_path / "empty"), "--lang", "it"]) == 2
    assert "Questa cartella non contiene un rapporto di misure." in capsys.readouterr().err
    document = (measured / "report/v1/decision.json").read_text(encoding="utf-8")
    (tmp_path / "empty/report/v1").mkdir(parents=True)
    emptied = re.sub(r'"attempts": \[\n    \{.*?\n  \]', '"attempts": []', document, count=1, flags=re.DOTALL)
    assert emptied != document
    (tmp_path / "empty/report/v1/decision.json").write_text(emptied, encoding="utf-8")
    with pytest.raises(UsageProblemError):
        build_site(tmp_path / "out", "en", example=tmp_path / "empty")
    assert not (tmp_path / "out").exists()
