"""`lab import`: results of other tools become attempts of a campaign, all of them or none, and nothing is made up."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_folders import Plan, build, protocol, rounds

sys.path.insert(0, str(Path(__file__).parent.parent / "formats"))

from foreign import SUMMARY, emissions, guide, hyperfine, optimum, serving

from lab.errors import CheckFoundError, InvalidInputError, UsageProblemError
from lab.exchange.importing import Asked, bring_in
from lab.measure.lock import run_lock
from lab.pipeline import judge, load
from lab.store.attempts import LATENCIES, read_records
from lab.store.intake import INTAKE
from lab.store.workbook import read_workbook

Said = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign that is declared and sealed, without an attempt."""
    return build(tmp_path / "campaign", Plan(()))


def written(at: Path, name: str, content: object) -> Path:
    """A file of another tool in a folder of its own."""
    at.mkdir(parents=True, exist_ok=True)
    path = at / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def state(folder: Path) -> dict[str, str]:
    """Every file of the campaign with its content's fingerprint."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".run.lock"
    }


def test_every_format_gives_declared_attempts_with_their_provenance(folder: Path, tmp_path: Path) -> None:
    """One file of each: attempts in the campaign and rows in the workbook, file name without folders, sha256, tool."""
    at = tmp_path / "elsewhere"
    files = {
        "hyperfine": written(at, "h.json", hyperfine()),
        "optimum-benchmark": written(at, "benchmark.json", optimum()),
        "vllm-bench": written(at, "v.json", serving()),
        "guidellm": written(at, "g.json", guide()),
        "mlperf": written(at, "mlperf_log_summary.txt", SUMMARY),
        "codecarbon": written(at, "emissions.csv", emissions(("p", "r", 10, 0.1))),
    }
    found = bring_in(folder, list(files.values()), Asked(("b1",), ended="completed"))
    assert [one.format for one in found.files] == list(files)
    records = read_records(folder)
    assert len(records) == len(found.records) == 8
    for record in records:
        source = record.details.provenance
        assert record.declared
        assert source is not None
        assert source.sha256 == hashlib.sha256(files[source.format].read_bytes()).hexdigest()
        assert source.file == files[source.format].name
        empty = [name for name, value in vars(record.attempt).items() if value is None]
        assert set(empty) & {"duration_s", "load_s", "environment", "seal", "position"} <= set(record.details.missing)
    rows = read_workbook(folder / "campaign.xlsx", load(folder).manifest).rows
    assert {row.attempt_id for row in rows} == {one.attempt.attempt_id for one in records}
    assert sorted(one.attempt.round or 0 for one in records) == list(range(1, 9))


def test_the_same_file_again_adds_nothing_also_under_another_name(folder: Path, tmp_path: Path) -> None:
    """The sha256 and the place name an attempt; not one byte of the campaign changes."""
    path = written(tmp_path, "h.json", hyperfine())
    bring_in(folder, [path], Asked(("b1",)))
    before = state(folder)
    again = bring_in(folder, [path, shutil.copy(path, tmp_path / "copy.json")], Asked(("b1",)))
    assert (again.records, [one.same for one in again.files]) == ((), [3])
    assert state(folder) == before
    with pytest.raises(InvalidInputError) as refused:
        bring_in(folder, [path], Asked(("b8",)))
    assert {one.slug for one in refused.value.faults} == {"import-held-elsewhere"}


def test_a_plan_writes_nothing(folder: Path, tmp_path: Path, said: Said) -> None:
    """`--plan` shows each value as it would come in, in text and as JSON."""
    path = written(tmp_path, "h.json", hyperfine(exit_codes=[0, 1, 0]))
    before = state(folder)
    code, text = said("import", folder, path, "--variant", "b1", "--plan")
    assert code == 0
    assert all(part in text for part in ("results[0].times[1]", "exit code 1", "3 attempts would be added"))
    code, text = said("import", folder, path, "--variant", "b1", "--plan", "--json")
    shown = json.loads(text)
    assert [one["duration_s"] for one in shown["attempts"]] == [10.1, None, 10.3]
    assert shown["attempts"][1]["ended_because"]["key"] == "ended.imported.exit_code"
    assert state(folder) == before


def test_one_bad_file_keeps_all_of_them_out(folder: Path, tmp_path: Path) -> None:
    """Every fault at once, and nothing half written."""
    good = written(tmp_path, "good.json", hyperfine())
    cut = written(tmp_path, "cut.json", json.dumps(hyperfine())[:-9])
    other = written(tmp_path, "other.json", {"model_type": "bert"})
    before = state(folder)
    with pytest.raises(InvalidInputError) as refused:
        bring_in(folder, [good, cut, other, tmp_path / "gone.json"], Asked(("b1",)))
    assert [one.slug for one in refused.value.faults] == ["file-missing", "import-cut-off", "import-other-json"]
    assert state(folder) == before


def test_an_import_that_is_killed_on_the_way_is_all_there_or_not_at_all(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refuses one of the moves: what was complete is finished by the next command."""
    path = written(tmp_path, "h.json", hyperfine())
    moved = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if INTAKE in self.parts and self.name.endswith("0002"):
            raise OSError(28, "no space")
        return moved(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(Exception, match="disk-full"):
        bring_in(folder, [path], Asked(("b1",)))
    monkeypatch.setattr(Path, "rename", moved)
    found = bring_in(folder, [path], Asked(("b1",)))
    assert (found.records, found.files[0].same) == ((), 3)
    assert len(read_records(folder)) == 3


def test_a_file_that_compares_several_things_asks_which_is_which(folder: Path, tmp_path: Path) -> None:
    """Commands of one hyperfine file: each gets its variant; what is not named is left out and said."""
    both = {"results": [*hyperfine(command="one")["results"], *hyperfine(command="two")["results"]]}
    path = written(tmp_path, "h.json", both)
    with pytest.raises(InvalidInputError) as refused:
        bring_in(folder, [path], Asked(("b1",)))
    assert [one.slug for one in refused.value.faults] == ["import-several-results"]
    assert "results[1] (two)" in str(refused.value)
    found = bring_in(folder, [path], Asked(("results[1]=b8",)))
    assert {one.attempt.variant for one in found.records} == {"b8"}
    assert found.files[0].left == ("results[0]",)
    rest = bring_in(folder, [path], Asked(("results[0]=b1", "results[1]=b8")))
    assert ({one.attempt.variant for one in rest.records}, rest.files[0].same) == ({"b1"}, 3)


def test_request_latencies_have_a_file_of_their_own_and_are_no_durations(folder: Path, tmp_path: Path) -> None:
    """Every value is in `latencies.csv`; the record says how many, their spread, and the file's sha256."""
    bring_in(folder, [written(tmp_path, "v.json", serving(num_prompts=40, completed=40))], Asked(("b1",)))
    (record,) = read_records(folder)
    home = folder / "attempts" / record.attempt.attempt_id
    with (home / LATENCIES).open(encoding="utf-8", newline="") as file:
        rows = [(row["population"], float(row["seconds"])) for row in csv.DictReader(file)]
    assert [value for name, value in rows if name == "time_to_first_token"] == [0.2, 0.4]
    first = next(one for one in record.details.populations if one.name == "time_to_first_token")
    assert (first.count, first.median_s, first.min_s, first.max_s) == (2, pytest.approx(0.3), 0.2, 0.4)
    assert first.sha256 == hashlib.sha256((home / LATENCIES).read_bytes()).hexdigest()
    assert record.attempt.duration_s == 4.5


def test_one_measurement_does_not_count_twice_by_being_read_another_way(folder: Path, tmp_path: Path) -> None:
    """Iterations as a population first, as passes then: refused; the first reading again adds nothing."""
    path = written(tmp_path, "benchmark.json", optimum())
    bring_in(folder, [path], Asked(("b1",)))
    with pytest.raises(InvalidInputError, match="import-read-otherwise"):
        bring_in(folder, [path], Asked(("b1",), passes="forward"))
    assert bring_in(folder, [path], Asked(("b1",))).records == ()


def test_mlperf_files_of_one_folder_are_one_attempt(folder: Path, tmp_path: Path) -> None:
    """Summary and detail belong together; those of another folder are another run."""
    line = ':::MLLOG {"key": "generated_samples_per_query", "value": 40}\n'
    files = []
    for name in ("one", "two"):
        files.append(written(tmp_path / name, "mlperf_log_summary.txt", f"{SUMMARY}# {name}\n"))
        files.append(written(tmp_path / name, "mlperf_log_detail.txt", f"{line}# {name}\n"))
    found = bring_in(folder, files, Asked(("b1",)))
    assert [(one.attempt.completed_inputs, one.attempt.duration_s) for one in found.records] == [(40, 10.0)] * 2


def test_what_the_campaign_does_not_have_is_refused(folder: Path, tmp_path: Path) -> None:
    """Variant, corpus, unit, end: named with what there is; a run under way is not disturbed."""
    path = written(tmp_path, "h.json", hyperfine())
    wrong = {
        "import-other-variant": Asked(("b2",)),
        "import-other-corpus": Asked(("b1",), corpus="other"),
        "import-bad-unit": Asked(("b1",), units=("time=seconds",)),
        "import-bad-end": Asked(("b1",), ended="fine"),
    }
    for slug, asked in wrong.items():
        with pytest.raises(UsageProblemError) as refused:
            bring_in(folder, [path], asked)
        assert refused.value.faults[0].slug == slug
    with pytest.raises(InvalidInputError, match="import-no-variant"):
        bring_in(folder, [path], Asked())
    with run_lock(folder), pytest.raises(CheckFoundError):
        bring_in(folder, [path], Asked(("b1",)))


def test_rounds_go_on_after_those_that_were_measured(tmp_path: Path) -> None:
    """An imported pass takes the place of no measured one."""
    folder = build(tmp_path / "campaign", Plan(rounds({"b1": (10.0, 10.1), "b8": (5.0, 5.1)})))
    found = bring_in(folder, [written(tmp_path, "h.json", hyperfine())], Asked(("b1",)))
    assert [one.attempt.round for one in found.records] == [3, 4, 5]


def test_several_corpora_or_seeds_have_to_be_named(tmp_path: Path) -> None:
    """Which corpus was processed is not for the tool to guess."""
    folder = build(tmp_path / "campaign", Plan((), corpora=("tickets", "mails")))
    path = written(tmp_path, "h.json", hyperfine())
    with pytest.raises(UsageProblemError, match="import-which-corpus"):
        bring_in(folder, [path], Asked(("b1",)))
    found = bring_in(folder, [path], Asked(("b1",), corpus="mails"))
    assert {one.attempt.corpus for one in found.records} == {"mails"}


def test_a_workbook_that_is_open_elsewhere_keeps_its_rows_for_later(folder: Path, tmp_path: Path, said: Said) -> None:
    """The attempts are in; `lab sync` writes the rows when it can."""
    (folder / "~$campaign.xlsx").write_text("", encoding="utf-8")
    code, text = said("import", folder, written(tmp_path, "h.json", hyperfine()), "--variant", "b1")
    assert (code, "3 attempts were imported" in text) == (1, True)
    (folder / "~$campaign.xlsx").unlink()
    assert said("sync", folder)[0] == 0
    assert len(read_workbook(folder / "campaign.xlsx", load(folder).manifest).rows) == 3


def test_imported_attempts_prove_no_seal_no_device_and_no_try(folder: Path, tmp_path: Path) -> None:
    """Five completed times of each variant: every gate that evidence decides stays unknown, the verdicts unassessed."""
    for variant, name in (("b1", "one"), ("b8", "two")):
        path = written(tmp_path, f"{name}.json", hyperfine(command=name, times=[10.0] * 5, exit_codes=[0] * 5))
        bring_in(folder, [path], Asked((variant,)))
    decision = judge(folder).decision
    assert decision.status == "undecided"
    for variant in decision.variants:
        results = {gate.gate: gate.result for gate in variant.gates}
        assert {results[name] for name in ("sealed", "passes_tried", "device")} == {"unknown"}
    assert {one.verdict for one in decision.verdicts.values()} == {"unassessed"}
    assert {one.reason.key for one in decision.verdicts.values()} == {"verdict.predictions.imported"}


def test_a_repeated_judgement_and_sync_find_nothing_to_do(folder: Path, tmp_path: Path, said: Said) -> None:
    """Rows of imported attempts hold their verdict from the start."""
    assert said("import", folder, written(tmp_path, "h.json", hyperfine()), "--variant", "b1")[0] == 0
    assert said("judge", folder)[0] == 0
    code, text = said("sync", folder)
    assert (code, "up to date" in text) == (0, True)
    assert os.access(folder / "campaign.xlsx", os.W_OK)


def test_a_protocol_with_several_repetitions_counts_an_import_once_each(tmp_path: Path, said: Said) -> None:
    """What the table states of variant and round is taken; the mapping is shown before it is written."""
    folder = build(tmp_path / "campaign", Plan((), protocol=replace(protocol(), repetitions=2)))
    table = written(tmp_path, "runs.csv", "config,n,time\nb1,1,10.5\nb8,1,5.5\nb1,2,10.6\nb8,2,5.6\n")
    mapping = written(
        tmp_path, "map.toml",
        '[constants]\noutcome = "completed"\n[columns]\nvariant = "config"\nround = "n"\n'
        'duration_s = { column = "time", unit = "s" }\n',
    )  # fmt: skip
    code, text = said("import", folder, table, "--map", mapping, "--plan")
    assert (code, "line 3" in text, "b8" in text) == (0, True, True)
    assert said("import", folder, table, "--map", mapping)[0] == 0
    rows = read_workbook(folder / "campaign.xlsx", load(folder).manifest).rows
    assert {(row.variant, row.round, row.duration_s) for row in rows} == {
        ("b1", 1, 10.5), ("b8", 1, 5.5), ("b1", 2, 10.6), ("b8", 2, 5.6)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("python /srv/anna/work/run.py --model=/data/x/m --batch 1", "python run.py --model=m --batch 1"),
        ("~/bin/run ../a/b.sh C:\\Users\\anna\\run.exe", "run b.sh run.exe"),
        ("vllm bench --model org/model a/b", "vllm bench --model org/model a/b"),
    ],
)
def test_no_folder_of_the_other_machine_comes_along(folder: Path, tmp_path: Path, command: str, kept: str) -> None:
    """A path is cut to its last part: it holds names of people; a hub id is none."""
    bring_in(folder, [written(tmp_path, "h.json", hyperfine(command=command))], Asked(("b1",)))
    assert {one.details.facts["source.command"] for one in read_records(folder)} == {kept}


@pytest.mark.parametrize(
    ("part", "value", "place"),
    [
        ("provenance", {"file": "h.json", "sha256": "x", "format": 3}, "details.provenance.format"),
        ("provenance", {"file": "h.json", "format": "hyperfine"}, "details.provenance.sha256"),
        ("provenance", [], "details.provenance"),
        (
            "predictions_from",
            {"file": "p", "sha256": "x", "format": "csv", "who": "me"},
            "details.predictions_from.who",
        ),
        ("populations", [{"name": "request", "count": "2"}], "details.populations.count"),
        ("populations", [3], "details.populations"),
    ],
)
def test_a_damaged_record_of_an_import_is_refused_with_its_place(
    folder: Path, tmp_path: Path, part: str, value: object, place: str
) -> None:
    """Provenance is read as strictly as everything else."""
    (made,) = bring_in(folder, [written(tmp_path, "v.json", serving())], Asked(("b1",))).records
    path = folder / "attempts" / made.attempt.attempt_id / "attempt.json"
    held = json.loads(path.read_text(encoding="utf-8"))
    held["details"][part] = value
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(InvalidInputError) as refused:
        read_records(folder)
    assert place in [one.place for one in refused.value.faults]


def test_the_report_shows_latencies_as_what_they_are(folder: Path, tmp_path: Path, said: Said) -> None:
    """The evidence of an imported attempt names its file and each population; the durations hold the pass alone."""
    assert said("import", folder, written(tmp_path, "v.json", serving()), "--variant", "b1")[0] == 0
    assert said("report", folder)[0] == 0
    document = json.loads((folder / "report" / "v1" / "decision.json").read_text(encoding="utf-8"))
    (attempt,) = document["attempts"]
    assert {one["name"]: one["count"] for one in attempt["populations"]} == {
        "time_to_first_token": 2, "inter_token": 4, "request": 2
    }  # fmt: skip
    page = (folder / "report" / "v1" / "en.html").read_text(encoding="utf-8")
    assert "v.json (vLLM)" in page
    assert "request: values: 2" in page
    summary = next(one for one in document["variants"] if one["id"] == "b1")["summaries"]
    assert all(value is None for one in summary for value in one["durations_s"])  # no verdict yet: no figure


def test_help_and_screens_are_in_three_languages(folder: Path, tmp_path: Path, said: Said) -> None:
    """Every option is explained, the example stays as it is typed, and no key shows through."""
    path = written(tmp_path, "h.json", hyperfine(exit_codes=[0, None, 0]))
    for language in ("en", "fr", "it"):
        for command in ("import", "export", "judge"):
            code, text = said(command, "--help", "--lang", language)
            assert code == 0
            assert "cli." not in text
        code, text = said("import", folder, path, "--variant", "b1", "--plan", "--lang", language)
        assert code == 0
        assert not any(key in text for key in ("screen.", "imported.", "missing."))
