"""The pages of the site: links lead somewhere, every field and error has its place, three languages say the same."""

from __future__ import annotations

import ast
import hashlib
import html
import re
from pathlib import Path

import pytest
from site_links import Page, broken

from lab.commands import COMMANDS
from lab.errors import fault
from lab.messages import LANGUAGES, messages
from lab.model.attempt import COLUMNS
from lab.model.manifest import CorpusSpec, Manifest, MetricSpec, RunPolicy, Series, Variant, WarmUp
from lab.model.protocol import PROTOCOL_FIELDS
from lab.report.site import build_site
from lab.report.site_downloads import Download
from lab.report.site_errors import error_groups, exit_codes, slugs
from lab.report.site_facts import site_facts
from lab.report.site_pages import HOW_TO, METHOD
from lab.report.site_prose import parse, plain_text, read_prose
from lab.screen.answers import fault_data
from lab.store.workbook.tables import TABLES

PROSE = [f"method/{{}}/{name}.md" for name in METHOD] + [f"how-to/{{}}/{name}.md" for name in HOW_TO]
SHORT = ["method/{}/index.md", "how-to/{}/index.md", "home.{}.md", "changelog.{}.md"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without an example, in a folder whose name needs escaping; one more file is offered."""
    folder = tmp_path_factory.mktemp("pages") / "é #1 %41"
    build_site(folder, "fr", downloads=[Download("kit.fr.zip", "site.download.workbook", b"kit", {"language": "fr"})])
    return folder


def _source(repository: Path, pattern: str, language: str) -> str:
    return (repository / "site" / pattern.format(language)).read_text(encoding="utf-8")


def _facts(text: str) -> set[str]:
    return set(re.findall(r"\{\{ (\w+) \}\}", text))


def test_every_link_and_every_anchor_leads_somewhere(site: Path) -> None:
    """Followed from the folder itself, as from the disk; an anchor stands once on its page."""
    pages = sorted(site.rglob("*.html"))
    assert broken(pages, site) == []
    for path in pages:
        anchors = Page(path).anchors
        assert sorted({one for one in anchors if anchors.count(one) > 1}) == [], path


def test_a_broken_link_would_be_found(tmp_path: Path) -> None:
    """The check itself: a file that is not there, an anchor that is not there, a way out of the folder."""
    (tmp_path / "a.html").write_text(
        '<a href="b.html">1</a><a href="#x">2</a><a href="../up.html">3</a><a id="y" href="#y">4</a>', encoding="utf-8"
    )
    (tmp_path.parent / "up.html").write_text("", encoding="utf-8")
    assert [link for _, link in broken([tmp_path / "a.html"], tmp_path)] == ["b.html", "#x", "../up.html"]


def test_every_page_has_the_same_page_in_the_other_languages(site: Path) -> None:
    """The language switch leads to the same subject, and the page says its language."""
    for path in (site / "en").rglob("*.html"):
        name = path.relative_to(site / "en")
        for language in LANGUAGES:
            text = (site / language / name).read_text(encoding="utf-8")
            assert f'<html lang="{language}">' in text
        assert len([one for one in Page(path).links if one.endswith(f"fr/{name.as_posix()}")]) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_error_in_json_names_the_place_that_explains_it(site: Path, language: str) -> None:
    """Under the site's folder, whichever host it stands on."""
    path, _, anchor = str(fault_data(fault("campaign-missing", file="x"), messages(language))["page"]).partition("#")
    assert f'id="{anchor}"' in (site / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_calculator_is_a_part_of_the_site(site: Path, language: str) -> None:
    """Its page leads to every other part, and the search finds it."""
    text = (site / "calculator" / f"{language}.html").read_text(encoding="utf-8")
    for part in ("method/index", "how-to/index", "fields", "errors", "example", "downloads", "search"):
        assert f'<a href="../{language}/{part}.html">' in text
    assert f'<a href="{language}.html" aria-current="page">' in text
    data = (site / language / "search.html").read_text(encoding="utf-8").partition('id="search-data">')[2]
    assert f'"../calculator/{language}.html"' in data


@pytest.mark.parametrize("pattern", [*PROSE, *SHORT])
def test_three_languages_say_the_same(repository: Path, pattern: str) -> None:
    """The same anchors, links, code and figures in the same order; no language is much longer or left in English."""
    shapes, lengths = {}, {}
    for language in LANGUAGES:
        text = _source(repository, pattern, language)
        links = [re.sub(r"calculator/\w+\.html", "calculator", one) for one in re.findall(r"\]\(([^)]+)\)", text)]
        shapes[language] = (re.findall(r"\{#([\w-]+)\}", text), links, sorted(_facts(text)), text.count("```"))
        lengths[language] = len(text)
    assert shapes["fr"] == shapes["en"] == shapes["it"]
    assert max(lengths.values()) < 1.4 * min(lengths.values())
    english = set(
        re.split(r"(?<=[.:])\s", re.sub(r"```.*?```", "", _source(repository, pattern, "en"), flags=re.DOTALL))
    )
    for language in ("fr", "it"):
        same = english & set(re.split(r"(?<=[.:])\s", _source(repository, pattern, language)))
        assert not [one for one in same if len(one.split()) > 4 and "http" not in one], language


@pytest.mark.parametrize("language", ["fr", "it"])
def test_no_text_is_left_in_english(site: Path, language: str) -> None:
    """No sentence of the English catalogues stands in a page of another language."""
    english, own = messages("en"), messages(language)
    sentences = {
        text
        for key in english.keys("")
        if english.has(key)
        and (text := english.text(key)) != own.text(key)
        and len(text.split()) > 3
        and "{" not in text
    }
    assert len(sentences) > 500
    for path in sorted((site / language).rglob("*.html")):
        shown = html.unescape(path.read_text(encoding="utf-8"))
        assert not [one for one in sentences if one in shown], path.name


@pytest.mark.parametrize("pattern", PROSE)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_read_in_a_few_minutes(repository: Path, pattern: str, language: str) -> None:
    """200 to 500 words, in sentences of at most 40, with no cheering."""
    text = _source(repository, pattern, language)
    prose = parse(text, site_facts(messages(language)))
    words = plain_text(str(prose.body)).split()
    assert 200 <= len([*words, *prose.lead.split()]) <= 500
    assert not re.search(r"!(?=\s|$)|successfully", text)
    bare = re.sub(r"```.*?```|\{\{.*?\}\}|^[-#\d].*$", "", text, flags=re.DOTALL | re.MULTILINE)
    long = [one for one in re.split(r"(?<=[.?:;])\s", bare) if len(plain_text(one).split()) > 40]
    assert not long


def test_french_pages_have_their_spaces(repository: Path, site: Path) -> None:
    """A thin space before `; : ? %` and inside `« »`, in the source and in the page; code is left out."""
    bare = re.compile(r"(?<!\u202f)(?:[;?](?=\s|$)|%|»)|(?<!\u202f):(?=\s|$)|«(?!\u202f)")
    for path in sorted((repository / "site").rglob("*.md")):
        if path.parent.name == "fr" or path.name.endswith(".fr.md"):
            text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "``", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            assert not bare.search(text), (path.name, bare.search(text))
    for path in sorted((site / "fr").rglob("*.html")):
        text = re.sub(
            r"<(style|script)>.*?</\1>|<pre.*?</pre>|<code>.*?</code>",
            "",
            path.read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        assert not re.search(r"\w [:;?!](?=[\s<])", text), path.name


def test_figures_come_from_the_code_and_all_of_them_are_used(repository: Path) -> None:
    """A fact that no page names would be kept for nothing; one that is missing is an error."""
    named = {one for pattern in (*PROSE, *SHORT) for one in _facts(_source(repository, pattern, "en"))}
    assert named == set(site_facts(messages("en")))
    with pytest.raises(KeyError):
        parse("# Title\n\nLead.\n\n{{ no_such_fact }}", {})
    cost = read_prose("method/en/committed-cost.md", site_facts(messages("en")))
    assert "220.00\u00a0USD, 2 cards" in plain_text(str(cost.body))
    window = read_prose("method/it/window.md", site_facts(messages("it")))
    assert "72, 168 o 720 per 3, 7, 30 giorni" in plain_text(str(window.body))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_commands_that_pages_name_exist(repository: Path, language: str) -> None:
    """No page sends a person to a command that is not there."""
    known = {command.name for command in COMMANDS}
    for pattern in (*PROSE, *SHORT):
        text = _source(repository, pattern, language)
        found = re.findall(
            r"(?:^|`|\s)lab ([a-z]+)(?=[ `\n])", "\n".join(re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL))
        )
        assert sorted(set(found) - known) == [], pattern


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_field_and_every_key_has_its_place(site: Path, language: str) -> None:
    """Columns, protocol fields, the other sheets and the whole manifest, each by its own anchor."""
    page = Page(site / language / "fields.html")
    wanted = {f"raw-results.{one.name}" for one in COLUMNS} | {f"protocol.{one.name}" for one in PROTOCOL_FIELDS}
    several = {one.sheet for one in TABLES if [other.sheet for other in TABLES].count(one.sheet) > 1}
    for table in TABLES:
        start = f"{table.sheet}.{table.name}" if table.sheet in several else table.sheet
        wanted |= {f"{start}.{column.name}" for column in table.columns}
    for path, model in (
        ("manifest", Manifest),
        ("manifest.corpora", CorpusSpec),
        ("manifest.run", RunPolicy),
        ("manifest.run.warm_up", WarmUp),
        ("manifest.metrics", MetricSpec),
        ("manifest.series", Series),
        ("manifest.variants", Variant),
    ):
        wanted |= {f"{path}.{one.alias or name}" for name, one in model.model_fields.items()}
    assert wanted <= set(page.anchors)


@pytest.fixture(scope="module")
def slugs_in_code(repository: Path) -> set[str]:
    """Every slug that the code writes out: of `fault(...)` and its like, both arms of a choice."""
    found = set()
    for path in sorted((repository / "lab").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and node.args and name in {"fault", "Fault", "ManifestRuleError"}:
                found |= {
                    one.value
                    for one in ast.walk(node.args[0])
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and "-" in one.value
                }
    return {one for one in found if re.fullmatch(r"[a-z][a-z0-9-]+[a-z0-9]", one)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_has_its_place_with_what_to_do(slugs_in_code: set[str], site: Path, language: str) -> None:
    """Each slug that the code raises, and each that is put together at run time, has an anchor and both texts."""
    page = Page(site / language / "errors.html")
    assert len(slugs_in_code) > 100
    explained = set(slugs(messages(language)))
    assert sorted(slugs_in_code - explained) == []
    assert sorted(explained - set(page.anchors)) == []
    entries = [one for group in error_groups(messages(language)) for one in group.entries]
    assert sorted(one.slug for one in entries) == sorted(explained)
    assert all(one.found and one.do for one in entries)


def test_an_error_shows_its_facts_by_name_and_its_codes_as_code() -> None:
    """A reader sees where a fact of their own would stand; nothing in a text is markup."""
    entries = {one.slug: one for group in error_groups(messages("en")) for one in group.entries}
    assert "<code>lab run</code>" in entries["attempt-without-row"].do
    assert "<var>id</var>" in entries["attempt-without-row"].found
    assert [code for code, _ in exit_codes(messages("en"))] == ["0", "1", "2", "3", "4", "130"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_download_is_listed_with_its_size_and_its_fingerprint(site: Path, language: str) -> None:
    """What the folder holds is what the page lists, the files of another builder included."""
    text = (site / language / "downloads.html").read_text(encoding="utf-8")
    names = {path.name for path in (site / "downloads").iterdir()}
    assert {"calcul_forfaits.py", "tarifs-forfaits.csv", "campaign.it.xlsx", "raw-results.csv", "kit.fr.zip"} <= names
    for path in (site / "downloads").iterdir():
        assert f'href="../downloads/{path.name}"' in text
        assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    assert len(re.findall("SHA-256 [0-9a-f]{64}", text)) == len(names)


def test_what_is_offered_is_what_ships(repository: Path, site: Path) -> None:
    """The price script and its catalogue work beside each other, as they stand in the folder."""
    for name, source in (
        ("calcul_forfaits.py", "lab"),
        ("tarifs-forfaits.csv", "workbook"),
        ("campaign.fr.xlsx", "workbook"),
    ):
        assert (site / "downloads" / name).read_bytes() == (repository / source / name).read_bytes()
