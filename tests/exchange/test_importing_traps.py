"""`lab import`, `lab judge --predictions` and `lab export`: what people mistype, mix up or import twice."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from campaign_folders import SIZE, Plan, build, right, rounds

sys.path.insert(0, str(Path(__file__).parent.parent / "formats"))

from foreign import hyperfine, optimum, serving

from lab.errors import Fault, InvalidInputError, UsageProblemError
from lab.exchange import predicting
from lab.exchange.exporting import export
from lab.exchange.importing import Asked, bring_in
from lab.exchange.predicting import attach
from lab.formats.mapping import parse_mapping
from lab.messages import DASH
from lab.store.attempts import LATENCIES, read_records
from lab.store.corpus import open_corpus
from lab.store.intake import INTAKE

Said = Callable[..., tuple[int, str]]
_MAP = (
    '[columns]\nvariant = "v"\nround = "n"\nduration_s = {{ column = "t", unit = "{unit}" }}\n'
    '[constants]\noutcome = "completed"\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign that is declared and sealed, without an attempt."""
    return build(tmp_path / "campaign", Plan(()))


def _written(at: Path, name: str, content: object) -> Path:
    path = at / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def _mapped(at: Path, unit: str = "s") -> Asked:
    return Asked(mapping=_written(at, f"{unit}.toml", _MAP.format(unit=unit)))


def _refused(error: type[InvalidInputError | UsageProblemError], act: Callable[[], object]) -> tuple[Fault, ...]:
    with pytest.raises(error) as refused:
        act()
    return refused.value.faults


def _state(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".run.lock"
    }


@pytest.mark.parametrize("counted", [2, SIZE, 1000])
def test_a_run_over_another_number_of_inputs_is_no_pass(folder: Path, tmp_path: Path, counted: int) -> None:
    """2 of 40: partial, so failed. 1000 requests of 40 texts: longer than a pass, so without a duration."""
    path = _written(tmp_path, "v.json", serving(num_prompts=counted, completed=counted))
    (one,) = (made.attempt for made in bring_in(folder, [path], Asked(("b1",))).records)
    wanted = {2: ("failed", None), SIZE: ("completed", 4.5), 1000: ("completed", None)}[counted]
    assert (one.outcome, one.duration_s, one.elapsed_s, one.completed_inputs) == (*wanted, 4.5, counted)
    (record,) = read_records(folder)
    if counted < SIZE:
        assert record.details.ended_because is not None
        assert record.details.ended_because.values == {"completed": 2, "size": SIZE}
    if counted > SIZE:
        assert record.details.missing["duration_s"] == "missing.more_inputs"


def test_the_same_file_read_in_another_unit_is_refused_with_both_values(folder: Path, tmp_path: Path) -> None:
    """It must not look as if the second reading had replaced the first; nor with another seed."""
    table = _written(tmp_path, "t.csv", "v,n,t\nb1,,10500\nb1,,10600\n")
    bring_in(folder, [table], _mapped(tmp_path))
    before = _state(folder)
    (said,) = _refused(InvalidInputError, lambda: bring_in(folder, [table], _mapped(tmp_path, "ms")))
    assert (said.slug, said.place, said.values["column"]) == ("import-held-otherwise", "line 2", "elapsed_s")
    assert (said.values["held"], said.values["found"]) == ("10500.0", "10.5")
    other = Asked(seed=7, mapping=_mapped(tmp_path).mapping)
    assert [one.values["column"] for one in _refused(InvalidInputError, lambda: bring_in(folder, [table], other))] == [
        "seed"
    ]
    assert bring_in(folder, [table], _mapped(tmp_path)).records == ()
    assert _state(folder) == before


def test_a_round_is_of_one_attempt(tmp_path: Path) -> None:
    """A stated round that was measured, or that two rows state, is refused; one that was cut off is free."""
    passes = rounds({"b1": (10.0, "interrupted"), "b8": (5.0, 5.1)})
    folder = build(tmp_path / "campaign", Plan(passes))
    asked = _mapped(tmp_path)
    taken = _written(tmp_path, "taken.csv", "v,n,t\nb1,1,10\n")
    twice = _written(tmp_path, "twice.csv", "v,n,t\nb1,3,10\nb1,3,11\n")
    free = _written(tmp_path, "free.csv", "v,n,t\nb1,2,10\nb1,3,11\n")
    measured = next(
        one.attempt for one in read_records(folder) if (one.attempt.variant, one.attempt.round) == ("b1", 1)
    )
    (first,) = _refused(InvalidInputError, lambda: bring_in(folder, [taken], asked))
    (second,) = _refused(InvalidInputError, lambda: bring_in(folder, [twice], asked))
    assert {first.slug, second.slug} == {"import-round-taken"}
    assert (first.values["by"], second.values["by"]) == (measured.attempt_id, "line 2")
    assert [one.attempt.round for one in bring_in(folder, [free], asked).records] == [2, 3]


def test_a_variant_named_twice_or_for_a_part_that_is_not_there_is_asked_about(folder: Path, tmp_path: Path) -> None:
    """Two files and two ids: which is which is not for the tool to guess."""
    path = _written(tmp_path, "h.json", hyperfine())
    for stated, slug in (
        (("b1", "b8"), "import-variant-twice"),
        (("results[7]=b1",), "import-no-group"),
        (("b1", "result[0]=b8"), "import-no-group"),
    ):
        (said,) = _refused(UsageProblemError, lambda stated=stated: bring_in(folder, [path], Asked(stated)))  # type: ignore[misc]  # a bound default
        assert said.slug == slug
    assert bring_in(folder, [path], Asked(("b1", "b1", "results[0]=b8"))).records[0].attempt.variant == "b8"


def test_attempts_that_lead_out_of_the_campaign_take_nothing_in(folder: Path, tmp_path: Path) -> None:
    """A link in place of the folder: refused before anything is written there."""
    (tmp_path / "elsewhere").mkdir()
    (folder / "attempts").symlink_to(tmp_path / "elsewhere")
    path = _written(tmp_path, "h.json", hyperfine())
    assert _refused(InvalidInputError, lambda: bring_in(folder, [path], Asked(("b1",))))[0].slug == (
        "path-leaves-campaign"
    )
    assert list((tmp_path / "elsewhere").iterdir()) == []


_KILLED = """\
import os, signal, sys
from pathlib import Path
from lab.exchange.importing import Asked, bring_in
moved, left = Path.rename, [int(sys.argv[3])]
def rename(self, target):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return moved(self, target)
Path.rename = rename
bring_in(Path(sys.argv[1]), [Path(sys.argv[2])], Asked(("b1",)))
"""


@pytest.mark.parametrize("moves", [0, 1, 3])
def test_an_import_that_is_killed_is_finished_or_forgotten(folder: Path, tmp_path: Path, moves: int) -> None:
    """Killed before it counts: nothing of it stays. Killed while it moves in: the next command has all of it."""
    path = _written(tmp_path, "h.json", hyperfine(times=[10.0] * 5, exit_codes=[0] * 5))
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(folder), str(path), str(moves)], check=False, cwd=Path.cwd()
    )
    assert ended.returncode == -signal.SIGKILL
    found = bring_in(folder, [path], Asked(("b1",)))
    assert (len(found.records), found.files[0].same) == ((5, 0) if moves == 0 else (0, 5))
    assert len(read_records(folder)) == 5
    assert [one.name for one in folder.iterdir() if one.name.startswith(INTAKE)] == []


def test_a_folder_that_is_no_campaign_is_said_to_be_none(tmp_path: Path, said: Said) -> None:
    """And no lock is left in it."""
    (tmp_path / "empty").mkdir()
    path = _written(tmp_path, "h.json", hyperfine())
    for command in (("import", tmp_path / "empty", path), ("import", tmp_path / "gone", path)):
        code, text = said(*command, "--lang", "en")
        assert (code, "manifest.toml" in text) == (3, True)
    assert said("judge", tmp_path / "empty", "--predictions", path, "--attempt", "x")[0] == 3
    assert list((tmp_path / "empty").iterdir()) == []


def test_half_a_character_in_a_name_breaks_nothing(folder: Path, tmp_path: Path, said: Said) -> None:
    """A JSON may hold one; it comes into the record and its latencies, and out of an export."""
    text = json.dumps(optimum()).replace('"forward"', '"for\\ud800ward, \\u0000=x"')
    assert said("import", folder, _written(tmp_path, "o.json", text), "--variant", "b1")[0] == 0
    assert said("export", folder, "--out", tmp_path / "out")[0] == 0
    assert len(json.loads((tmp_path / "out" / "latencies.json").read_text(encoding="utf-8"))) == 3
    assert said("report", folder)[0] == 0


@pytest.fixture
def attempt(folder: Path, tmp_path: Path) -> str:
    """The id of an imported pass."""
    path = _written(tmp_path, "h.json", hyperfine(times=[10.0], exit_codes=[0], memory_usage_byte=...))
    return bring_in(folder, [path], Asked(("b1",))).records[0].attempt.attempt_id


def test_scores_are_read_with_the_decimal_sign_of_the_mapping(folder: Path, tmp_path: Path, attempt: str) -> None:
    """Half a score is `0,5` where people write it so; NaN is none."""
    lines = [f"{one['id']};{one['prediction']};0,25;nan" for one in right()]
    path = _written(tmp_path, "p.csv", "\n".join(["id;prediction;a;b", *lines]) + "\n")
    text = 'delimiter = ";"\ndecimal = ","\n[predictions]\nscores = ["a", "b"]\n'
    attach(folder, path, attempt, parse_mapping(text, "map.toml"))
    first = (folder / "attempts" / attempt / "predictions.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first)["scores"] == {"a": 0.25, "b": None}


@pytest.mark.parametrize(
    ("content", "slug"),
    [
        (json.dumps(right()), "predictions-json-list"),
        ("id,prediction\n" + "".join(f"{n},a\n" for n in range(SIZE)), "predictions-other-ids"),
        ("id,prediction\n", "import-no-rows"),
        ("id;prediction\n000;a\n", "predictions-other-delimiter"),
        ("id,label\n000,a\n", "import-no-column"),
        ('{"id": "000", "label": "a"}\n', "predictions-column-absent"),
    ],
)
def test_a_file_that_is_no_evidence_leaves_the_attempt_as_it_was(
    folder: Path, attempt: str, said: Said, content: str, slug: str
) -> None:
    """What would judge nothing is refused at the door, so that the right file still finds its place."""
    path = _written(folder.parent, "p.txt", content)
    before = _state(folder)
    (refused,) = _refused(InvalidInputError, lambda: attach(folder, path, attempt))
    assert refused.slug == slug
    code, text = said("judge", folder, "--predictions", path, "--attempt", attempt)
    assert (code, "manifest" in text) == (3, False)
    assert _state(folder) == before


def test_ids_are_looked_up_also_in_a_corpus_that_lies_on_the_disk(
    folder: Path, tmp_path: Path, attempt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large corpus is a table of its own: foreign ids are refused by it, its own ids and its order are taken."""
    monkeypatch.setattr(predicting, "open_corpus", partial(open_corpus, least=0))
    foreign = _written(tmp_path, "foreign.csv", "id,prediction\n0,a\n1,b\n")
    (refused,) = _refused(InvalidInputError, lambda: attach(folder, foreign, attempt))
    assert (refused.slug, refused.values["found"], refused.values["known"]) == (
        "predictions-other-ids", ["0", "1"], ["000", "001", "002", "003", "004"]
    )  # fmt: skip
    ordered = parse_mapping('[predictions]\norder = "corpus"\n', "map.toml")
    more = _written(tmp_path, "more.csv", "prediction\n" + "a\n" * (SIZE + 2))
    (refused,) = _refused(InvalidInputError, lambda: attach(folder, more, attempt, ordered))
    assert (refused.slug, refused.values["found"]) == ("predictions-order-count", SIZE + 2)
    own = _written(tmp_path, "own.csv", "id,prediction\nx,a\n" + "".join(f"{one['id']},a\n" for one in right()))
    assert attach(folder, own, attempt).rows == SIZE + 1


def test_the_same_predictions_by_another_mapping_are_others(folder: Path, tmp_path: Path, attempt: str) -> None:
    """Nothing says that they are there already when another column is meant."""
    lines = [f"{one['id']},{one['prediction']},b" for one in right()]
    path = _written(tmp_path, "p.csv", "\n".join(["id,prediction,second", *lines]) + "\n")
    attach(folder, path, attempt)
    assert attach(folder, path, attempt).same
    other = parse_mapping('[predictions]\nprediction = "second"\n', "map.toml")
    (refused,) = _refused(InvalidInputError, lambda: attach(folder, path, attempt, other))
    assert refused.slug == "predictions-there"


def test_an_export_writes_over_no_evidence(folder: Path, tmp_path: Path) -> None:
    """An attempt has a `latencies.csv` of its own; a report is published as it stands."""
    path = _written(tmp_path, "v.json", serving(num_prompts=SIZE, completed=SIZE))
    (made,) = bring_in(folder, [path], Asked(("b1",))).records
    before = _state(folder)
    for name in ("attempts", f"attempts/{made.attempt.attempt_id}", "environments", "report/v1"):
        (said,) = _refused(UsageProblemError, lambda name=name: export(folder, folder / name))  # type: ignore[misc]  # a bound default
        assert said.slug == "export-no-folder"
    assert _state(folder) == before
    assert export(folder, folder / "exported").notices == ()


def test_latencies_that_were_changed_are_not_exported(folder: Path, tmp_path: Path, said: Said) -> None:
    """They are left out and named; a damaged file breaks nothing."""
    files = [
        _written(tmp_path, f"{n}.json", serving(num_prompts=SIZE, completed=SIZE, duration=4.5 + n)) for n in (0, 1)
    ]
    first, second = (one.attempt.attempt_id for one in bring_in(folder, files, Asked(("b1",))).records)
    (folder / "attempts" / first / LATENCIES).write_text("population,number,seconds\nrequest,0,fast\n")
    code, text = said("export", folder, "--out", tmp_path / "out")
    assert (code, first in text) == (0, True)
    rows = json.loads((tmp_path / "out" / "latencies.json").read_text(encoding="utf-8"))
    assert {row["attempt_id"] for row in rows} == {second}
    shutil.rmtree(folder / "attempts" / second)


def test_the_preview_says_what_is_there_and_no_more(folder: Path, tmp_path: Path, said: Said) -> None:
    """No dash for a version that no file states, no count of none; a table is one in the reader's language."""
    table = _written(tmp_path, "t.csv", "v,n,t\nb1,,10\n")
    mapping = _mapped(tmp_path).mapping
    for language, word in (("en", "table"), ("fr", "tableau"), ("it", "tabella")):
        code, text = said("import", folder, table, "--map", mapping, "--plan", "--lang", language)
        first, row = text.splitlines()[:2]
        assert (code, word in first, DASH in first + row) == (0, True, False)
    assert said("import", folder, table, "--map", mapping)[0] == 0
    assert "Here already: 1." in said("import", folder, table, "--map", mapping)[1]


def test_what_came_in_without_a_duration_says_why(folder: Path, tmp_path: Path, said: Said) -> None:
    """A partial run and iterations, at once and not only in the report; no predictions are asked for a failure."""
    code, text = said("import", folder, _written(tmp_path, "v.json", serving()), "--variant", "b1")
    assert (code, f"2 of the {SIZE} inputs" in text, "--attempt" in text) == (0, True, False)
    code, text = said("import", folder, _written(tmp_path, "o.json", optimum()), "--variant", "b1")
    assert (code, "population of their own" in text, "--attempt" in text) == (0, True, True)


def test_durations_of_several_tools_for_one_variant_are_pointed_out(tmp_path: Path, said: Said) -> None:
    """A whole process, a serving run and a measured pass are not the same work; what has no duration mixes nothing."""
    folder = build(tmp_path / "campaign", Plan(rounds({"b1": (10.0,), "b8": (5.0,)})))
    process = _written(tmp_path, "h.json", hyperfine())
    serve = _written(tmp_path, "v.json", serving(num_prompts=SIZE, completed=SIZE))
    found = bring_in(folder, [process], Asked(("b1",)), plan=True)
    assert [(one.variant, one.corpus, one.tools) for one in found.mixed] == [("b1", "tickets", (None, "hyperfine"))]
    for language, words in (("en", "measured here, vLLM"), ("fr", "mesurées ici"), ("it", "misurate qui")):
        assert words in said("import", folder, serve, "--variant", "b8", "--plan", "--lang", language)[1]
    alone = build(tmp_path / "alone", Plan(()))
    assert bring_in(alone, [process, _written(tmp_path, "o.json", optimum())], Asked(("b1",))).mixed == ()
    assert bring_in(alone, [serve], Asked(("b1",))).mixed[0].tools == ("hyperfine", "vLLM")


def test_the_campaigns_language_holds_whatever_option_comes_first(
    folder: Path, tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the campaign folder itself, where the value of an option is the only word that could name a folder."""
    manifest = folder / "manifest.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"en"', '"fr"', 1), encoding="utf-8")
    assert "Écrit dans" in said("export", "--out", tmp_path / "one", folder)[1]
    monkeypatch.chdir(folder)
    assert "Écrit dans" in said("export", "--out", tmp_path / "two")[1]


def test_the_help_of_the_mapping_names_its_table(said: Said) -> None:
    """Nothing between brackets is taken for markup and lost."""
    for language in ("en", "fr", "it"):
        assert "`predictions`" in said("judge", "--help", "--lang", language)[1]


def test_latencies_that_were_changed_are_found_by_check_and_by_verify(folder: Path, tmp_path: Path, said: Said) -> None:
    """`latencies.csv` is an input of the report: an edit of one value is named, file by file."""
    assert said("import", folder, _written(tmp_path, "v.json", serving()), "--variant", "b1")[0] == 0
    assert said("report", folder)[0] == 0
    assert said("verify", folder)[0] == 0
    (kept,) = (folder / "attempts").glob(f"*/{LATENCIES}")
    shown = kept.relative_to(folder).as_posix()
    assert shown in json.loads((folder / "report" / "v1" / "decision.json").read_text(encoding="utf-8"))["inputs"]
    kept.write_text(kept.read_text(encoding="utf-8").replace("0.2", "0.1", 1), encoding="utf-8")
    code, text = said("verify", folder)
    assert (code, shown in text) == (1, True)
    assert shown in said("check", folder)[1]


def test_latencies_carry_the_percentiles_that_their_number_allows(folder: Path, tmp_path: Path, said: Said) -> None:
    """100 requests carry p90 and p95, which are values of the sample; p99 takes 459, and the page says so."""
    first = [n / 100 for n in range(1, 101)]
    found = serving(
        num_prompts=40, completed=40, ttfts=first, itls=[[0.5]] * 100, input_lens=[10] * 100, output_lens=[2] * 100,
        generated_texts=["a"] * 100, errors=[""] * 100,
    )  # fmt: skip
    assert said("import", folder, _written(tmp_path, "v.json", found), "--variant", "b1")[0] == 0
    (record,) = read_records(folder)
    held = next(one for one in record.details.populations if one.name == "time_to_first_token")
    assert (held.count, held.p90_s, held.p95_s, held.p99_s) == (100, 0.9, 0.95, None)
    assert said("report", folder)[0] == 0
    page = (folder / "report" / "v1" / "en.html").read_text(encoding="utf-8")
    assert "p90 0.9 s, p95 0.95 s, no p99 (it takes 459 values)" in page.replace("\N{NO-BREAK SPACE}", " ")
