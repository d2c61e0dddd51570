"""The catalogues: three languages say the same things, every text the code asks for exists, numbers never lie."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import compile_catalogues as catalogues
import pytest
from babel.numbers import format_decimal
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lab.errors import fault
from lab.messages import LANGUAGES, Messages, MissingTextError, messages
from lab.model.attempt import COLUMNS, OUTCOMES, VERDICTS
from lab.model.decision import GATES
from lab.model.protocol import PROTOCOL_FIELDS

DOMAINS = sorted({po.stem for po in catalogues.sources()})
ROOMS = ["analysis", "cli", "demo", "formats", "measure", "prices", "report", "site", "store", "typer", "workbook"]
NOT_OURS = "typer"  # its keys are the English words of the library that prints the help pages
THIN, FIXED, DASH = "\u202f", "\u00a0", "\u2013"
# First words of keys that the code may write anywhere: as a literal they are always the key of a text.
FAMILIES = (
    "fault", "gate", "verdict", "separation", "decision", "warning", "covers", "limits", "next", "exclusion", "missing",
    "ended", "outcome", "verdictword", "gatename", "status",
)  # fmt: skip
KEY = re.compile(rf"(?:{'|'.join(FAMILIES)})(?:\.[a-z][a-z0-9_-]*)+")


@lru_cache
def texts(language: str, domain: str) -> catalogues.Texts:
    """Key to text, or tuple of plural forms, as the `.po` says."""
    po = catalogues.LOCALES / language / "LC_MESSAGES" / f"{domain}.po"
    return catalogues.texts(catalogues.source(po)) if po.is_file() else {}


def all_texts(language: str) -> catalogues.Texts:
    """The texts of every domain."""
    return {key: text for domain in DOMAINS for key, text in texts(language, domain).items()}


def places(text: str) -> set[str]:
    """The named places of a text: `{name}` without attribute, index or format."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """A text as its plural forms: one where it has none."""
    return (text,) if isinstance(text, str) else text


# --- the catalogues among themselves ----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_the_catalogue_of_every_room(language: str) -> None:
    """One domain a room, in each language."""
    assert [po.stem for po in catalogues.sources() if po.parent.parent.name == language] == ROOMS


@pytest.mark.parametrize("po", catalogues.sources(), ids=lambda po: f"{po.parent.parent.name}-{po.stem}")
def test_a_key_is_written_once_in_its_file(po: Path) -> None:
    """A parser would silently keep the last of two."""
    keys = re.findall(r'^msgid "(.+)"$', po.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert not sorted({key for key in keys if keys.count(key) > 1})


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_three_languages_have_the_same_keys(domain: str) -> None:
    """A text that one language lacks turns this red."""
    keys = {language: set(texts(language, domain)) for language in LANGUAGES}
    lacking = {language: sorted(set.union(*keys.values()) - mine) for language, mine in keys.items()}
    assert not {language: names for language, names in lacking.items() if names}


@pytest.mark.parametrize("po", catalogues.sources(), ids=lambda po: f"{po.parent.parent.name}-{po.stem}")
def test_no_entry_is_empty_or_fuzzy_or_without_a_note_for_the_translator(po: Path) -> None:
    """Each entry has its text, is sure of it, and carries a `#.` comment."""
    wrong = [
        message.id
        for message in catalogues.source(po)
        if message.id
        and (
            message.fuzzy
            or not message.auto_comments
            or not all(form.strip() and (form != message.id or po.stem == NOT_OURS) for form in forms(message.string))
        )
    ]
    assert not wrong


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_three_languages_name_the_same_facts(domain: str) -> None:
    """Every form of a text has the places of the English one; a singular may leave out the number itself."""
    for key, english in texts("en", domain).items():
        wanted = places(forms(english)[-1])
        for language in LANGUAGES:
            mine = forms(texts(language, domain)[key])
            assert len(mine) == len(forms(english)), (key, language)
            assert places(mine[-1]) == wanted, (key, language)
            assert all(wanted - {"n"} <= places(form) <= wanted for form in mine), (key, language)


def test_a_text_names_facts_by_plain_names_only() -> None:
    """A place is a name: no attribute, index, conversion or format, so that a text cannot reach into a value."""
    for language in LANGUAGES:
        for key, text in all_texts(language).items():
            if key in texts(language, NOT_OURS):
                continue
            for form in forms(text):
                for _, name, spec, conversion in string.Formatter().parse(form):
                    assert name is None or (name.isidentifier() and not spec and not conversion), (language, key)


def test_a_key_lives_in_one_domain_only() -> None:
    """Else which text is shown would depend on the order of files."""
    for language in LANGUAGES:
        keys = [key for domain in DOMAINS for key in texts(language, domain)]
        assert len(keys) == len(set(keys)), sorted({key for key in keys if keys.count(key) > 1})


@pytest.mark.parametrize("po", catalogues.sources(), ids=lambda po: f"{po.parent.parent.name}-{po.stem}")
def test_what_is_compiled_says_what_its_source_says(po: Path) -> None:
    """The `.mo` beside each `.po` is up to date: `python tests/compile_catalogues.py` makes it so."""
    assert not catalogues.stale(po)


def test_nothing_is_compiled_from_a_source_that_is_gone() -> None:
    """A `.mo` without its `.po` would go on speaking."""
    assert not catalogues.orphans()


def test_french_has_its_spaces() -> None:
    """Before `; : ? ! %` and inside `« »` stands a space that does not break; codes in backticks are left out."""
    bare = re.compile(r"(?:(?<![\u202f\u00a0\s`}])| )(?:[;?!](?=\s|$)|%|»)| :(?=\s|$)|«(?![\u202f\u00a0])")
    for key, text in all_texts("fr").items():
        for form in forms(text):
            found = bare.search(re.sub(r"`[^`]*`", "``", form))
            assert not found, (key, form, found)


def test_no_text_cheers() -> None:
    """No exclamation mark, in any language; cell addresses and operators are no sentence."""
    for language in LANGUAGES:
        for key, text in all_texts(language).items():
            assert not any(re.search(r"!(?=\s|$)|successfully", form) for form in forms(text)), (language, key)


# --- the texts that the code asks for ---------------------------------------------------------------------------------


def _trees(repository: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((repository / "lab").rglob("*.py")):
        yield str(path.relative_to(repository)), ast.parse(path.read_text(encoding="utf-8"))


def _calls(tree: ast.Module, names: set[str]) -> Iterator[ast.Call]:
    """Calls, with an argument, of functions or methods of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
            if name in names:
                yield node


def _literals(argument: ast.expr) -> Iterator[re.Pattern[str]]:
    """The keys that an expression can be: a literal, both arms of a choice, an f-string as a pattern."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield re.compile(re.escape(argument.value))
    elif isinstance(argument, ast.IfExp):
        yield from _literals(argument.body)
        yield from _literals(argument.orelse)
    elif isinstance(argument, ast.JoinedStr):
        yield re.compile(
            "".join(re.escape(part.value) if isinstance(part, ast.Constant) else r".+" for part in argument.values)
        )


def test_every_fault_has_a_text_for_what_was_found_and_for_what_to_do(repository: Path) -> None:
    """Each slug in the code has `fault.<slug>` and `fault.<slug>.do` in every language."""
    asked = {
        (found.pattern, place)
        for place, tree in _trees(repository)
        for call in _calls(tree, {"fault", "Fault", "ManifestRuleError"})
        for found in _literals(call.args[0])
    }
    assert asked
    for language in LANGUAGES:
        keys = [key for key in all_texts(language) if key.startswith("fault.")]
        lacking = [
            (slug, place)
            for slug, place in sorted(asked)
            for ending in ("", r"\.do")
            if not any(re.fullmatch(rf"fault\.{slug}{ending}", key) for key in keys)
        ]
        assert not lacking, language


def test_every_fault_text_comes_with_its_other_half() -> None:
    """`fault.<slug>` and `fault.<slug>.do` are written together, also where a slug is put together at run time."""
    keys = {key for key in all_texts("en") if key.startswith("fault.")}
    assert keys == {f"{key.removesuffix('.do')}{ending}" for key in keys for ending in ("", ".do")}


def _prefix(call: ast.Call, file: str) -> str:
    """What a call puts before the key it is given: the report's `words` have a room of their own."""
    if not isinstance(call.func, ast.Attribute):
        return "fault." if ast.unparse(call.func) in {"fault", "ManifestRuleError"} else ""
    ours = file.startswith("lab/report/") and ast.unparse(call.func.value) in {"words", "self.words", "self"}
    return "report." if ours else ""


def test_every_text_the_code_asks_for_exists(repository: Path) -> None:
    """The key of each `reason(...)`, `.text(...)` and `.count(...)` exists; of one put together, at least one does."""
    keys = set(all_texts("en"))
    lacking = [
        (prefix + found.pattern.replace("\\", ""), f"{file}:{call.lineno}")
        for file, tree in _trees(repository)
        for call in _calls(tree, {"reason", "Reason", "text", "count"})
        for prefix in [_prefix(call, file)]
        for found in _literals(call.args[0])
        if (prefix or "." in found.pattern)
        and not any(re.fullmatch(re.escape(prefix) + found.pattern, k) for k in keys)
    ]
    assert not lacking


def test_the_code_gives_every_fact_that_a_text_names(repository: Path) -> None:
    """Where key and facts are written out in one call, each place of the text is among them."""
    english = all_texts("en")
    lacking = []
    for file, tree in _trees(repository):
        for call in _calls(tree, {"fault", "ManifestRuleError", "reason", "text", "count"}):
            given = {keyword.arg for keyword in call.keywords}
            if None in given or not isinstance(call.args[0], ast.Constant):  # facts or key put together at run time
                continue
            prefix = _prefix(call, file)
            given |= {"file", "place"} if prefix == "fault." else {"n"} if len(call.args) > 1 else set()
            given |= {"time"} if "hours" in given else set()  # said of the hours, in words
            key = f"{prefix}{call.args[0].value}"
            for one in (key, f"{key}.do") if prefix == "fault." else (key,):
                named = {place for form in forms(english.get(one, "")) for place in places(form)}
                if named - given:
                    lacking.append((f"{file}:{call.lineno}", one, sorted(named - given)))
    assert not lacking


def test_every_literal_that_looks_like_a_key_has_a_text(repository: Path) -> None:
    """Keys that travel as data (`missing.no_gpu`) exist too, wherever in the code they are written."""
    keys = set(all_texts("en"))
    lacking = {
        (node.value, file)
        for file, tree in _trees(repository)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and KEY.fullmatch(node.value)
        if node.value not in keys and not node.value.endswith(".json")
        if not (file.startswith("lab/report/") and f"report.{node.value}" in keys)
    }
    assert not lacking


def test_every_word_of_a_closed_list_has_a_text() -> None:
    """Outcomes, verdicts, gates; each field and column with its label and help, each field with an example too."""
    wanted = {f"outcome.{one}" for one in OUTCOMES} | {f"verdictword.{one}" for one in VERDICTS}
    wanted |= {f"gatename.{one}" for one in GATES}
    names = [one.name for one in COLUMNS] + [one.name for one in PROTOCOL_FIELDS]
    wanted |= {f"field.{name}.{part}" for name in names for part in ("label", "help")}
    wanted |= {f"field.{one.name}.example" for one in PROTOCOL_FIELDS}
    assert not sorted(wanted - set(all_texts("en")))


# --- what a text looks like -------------------------------------------------------------------------------------------


def test_a_text_without_a_translation_is_an_error_and_not_its_key() -> None:
    """A missing text is a defect of ours; showing the key would hide it."""
    for ask in (messages("fr").text, lambda key: messages("fr").count(key, 2)):
        with pytest.raises(MissingTextError):
            ask("no.such.key")
    assert not messages("fr").has("no.such.key")


def test_a_language_without_a_catalogue_falls_back_to_english() -> None:
    """`messages` never fails for a locale of the machine."""
    assert messages("de").language == "en"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_fault_says_file_place_what_was_found_and_what_to_do(language: str) -> None:
    """Where it is, then what was found, then on a line of its own what to do."""
    said = messages(language).fault(
        fault("manifest-series-differs", file="manifest.toml", place="series.batch", keys=["threads", "padding"])
    )
    first, second = said.splitlines()
    assert first.replace("\u202f:", ":").startswith("manifest.toml, series.batch: ")
    assert "threads, padding" in first + second
    assert second.strip()


@pytest.mark.parametrize(
    ("language", "money", "number", "percent"),
    [
        ("en", f"2071.00{FIXED}USD", "1,234.5", "74.6%"),
        ("fr", f"2{THIN}071,00{FIXED}USD", f"1{THIN}234,5", f"74,6{THIN}%"),
        ("it", f"2.071,00{FIXED}USD", "1.234,5", "74,6%"),
    ],
)
def test_numbers_are_written_as_the_language_writes_them(language: str, money: str, number: str, percent: str) -> None:
    """Separators, spaces and the place of the unit are the language's own."""
    words = messages(language)
    assert words.money(Decimal(2071), "USD") == money
    assert words.amount(Decimal(2071)) == money.removesuffix(f"{FIXED}USD")
    assert words.number(1234.5) == number
    assert words.percent(0.746) == percent


def test_money_has_two_decimals_rounded_half_up() -> None:
    """A third of 220 is 73.33; half a cent goes up."""
    words = messages("fr")
    assert words.money(Decimal(220), "USD") == f"220,00{FIXED}USD"
    assert words.money(Decimal(220) / 3, "USD") == f"73,33{FIXED}USD"
    assert words.money(Decimal("0.125"), "EUR") == f"0,13{FIXED}EUR"


def test_a_moment_is_written_with_its_offset() -> None:
    """A date without its zone would be another moment for another reader."""
    moment = datetime(2026, 11, 30, 17, 20, tzinfo=UTC)
    assert messages("it").date_time(moment) == "30 novembre 2026, 17:20 UTC"
    assert messages("fr").date(moment) == "30 novembre 2026"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_absent_is_a_dash(language: str) -> None:
    """Never 0, never an empty cell without a sign."""
    words = messages(language)
    assert [words.number(None), words.percent(None), words.money(None, "USD"), words.date_time(None)] == [DASH] * 4


@pytest.mark.parametrize("language", LANGUAGES)
@given(ratio=st.floats(0, 1, exclude_min=True, exclude_max=True), digits=st.integers(0, 3))
@example(ratio=0.9996, digits=1)
@example(ratio=0.0004, digits=1)
@example(ratio=0.9999999999999999, digits=0)
@example(ratio=5e-324, digits=0)
def test_a_percentage_is_0_or_100_only_when_it_is(language: str, ratio: float, digits: int) -> None:
    """Rounding never lies at the two ends."""
    assert _value(messages(language), messages(language).percent(ratio, digits)) not in {Decimal(0), Decimal(100)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_0_and_100_percent_are_written_when_they_are_true(language: str) -> None:
    """The exact ends are shown as such."""
    words = messages(language)
    assert _value(words, words.percent(0)) == 0
    assert _value(words, words.percent(1)) == 100


@pytest.mark.parametrize("language", LANGUAGES)
@given(value=st.decimals(-(10**9), 10**9, places=6))
def test_a_number_reads_back_as_itself(language: str, value: Decimal) -> None:
    """Up to six decimals nothing is lost, whatever the language."""
    assert _value(messages(language), messages(language).number(value)) == value


@pytest.mark.parametrize("language", LANGUAGES)
@given(value=st.decimals(-(10**12), 10**12, places=6), digits=st.integers(0, 6), grouping=st.booleans())
@example(value=Decimal("-0.5"), digits=1, grouping=True)
def test_a_number_is_written_as_babel_writes_it(language: str, value: Decimal, digits: int, *, grouping: bool) -> None:
    """The quick way gives what the slow one gives, for every language and number of decimals."""
    rounded = value.quantize(Decimal(1).scaleb(-digits), "ROUND_HALF_UP")
    assume(rounded)  # what rounds to nothing is told as below the smallest step
    whole = format_decimal(rounded, "#,##0." + "0" * digits if digits else "#,##0", language, group_separator=grouping)
    cut = format_decimal(value, "#,##0.######", language, group_separator=grouping)
    assert messages(language).number(value, digits, grouping=grouping) == whole
    assert messages(language).number(value, grouping=grouping) == cut


def _value(words: Messages, shown: str) -> Decimal:
    """The number that a shown text says, by that language's separators."""
    mark = words.number(Decimal("0.5"))[1]
    kept = "".join(sign for sign in shown if sign.isdigit() or sign in {mark, "-"})
    return Decimal(kept.replace(mark, "."))


@pytest.mark.parametrize(
    ("hours", "said"),
    [(24, "24 h"), (0.016667, "1 min"), (0.000278, "1 s"), (95.5, "95 h 30 min"), (0.0001, "<1 s"), (0, "0 s")],
)
def test_a_time_is_said_in_hours_minutes_and_seconds(hours: float, said: str) -> None:
    """Nobody reads 0.016667 h."""
    assert messages("en").time(hours).replace("\N{NO-BREAK SPACE}", " ") == said
