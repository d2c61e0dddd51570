"""`lab judge --predictions`: predictions made elsewhere, and a campaign that is built from imports alone."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from campaign_folders import SIZE, Plan, build, protocol, right, rounds

sys.path.insert(0, str(Path(__file__).parent.parent / "formats"))

from foreign import hyperfine

from lab.errors import InvalidInputError
from lab.exchange.importing import Asked, bring_in, read_map
from lab.exchange.predicting import attach
from lab.model.catalogue import Deliverable
from lab.pipeline import judge, load
from lab.store.attempts import read_records
from lab.store.manifest import read_manifest
from lab.store.workbook import append_deliverables, read_workbook

Said = Callable[..., tuple[int, str]]
WITH_IDS = '[predictions]\nid = "ticket"\nprediction = "label"\nscores = ["a", "b"]\n'
IN_ORDER = '[predictions]\nprediction = "label"\norder = "corpus"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign with three imported passes of one variant."""
    found = build(tmp_path / "campaign", Plan(()))
    bring_in(found, [_times(tmp_path, "b1", (10.1, 10.2, 10.3))], Asked(("b1",)))
    return found


def _times(at: Path, name: str, times: Sequence[float]) -> Path:
    path = at / f"{name}.json"
    many = {"times": list(times), "exit_codes": [0] * len(times), "memory_usage_byte": ...}
    path.write_text(json.dumps(hyperfine(command=name, **many)), encoding="utf-8")
    return path


def _csv(at: Path, lines: Sequence[dict[str, object]], *, ids: bool = True, name: str = "p.csv") -> Path:
    path = at / name
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*(["ticket"] if ids else []), "label", "a", "b"])
        for one in lines:
            score = 0.9 if one["prediction"] == "a" else 0.1
            table.writerow([*([one["id"]] if ids else []), one["prediction"], score, round(1 - score, 1)])
    return path


def _map(at: Path, text: str) -> Path:
    path = at / "map.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _ids(folder: Path) -> list[str]:
    return [one.attempt.attempt_id for one in read_records(folder)]


def _as_jsonl(path: Path) -> Path:
    target = path.with_suffix(".txt")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{**row, "a": float(row["a"]), "b": float(row["b"])} for row in csv.DictReader(file)]
    target.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return target


def _as_parquet(path: Path) -> Path:
    target = path.with_suffix(".bin")
    held = f"SELECT ticket, label, a::DOUBLE AS a, b::DOUBLE AS b FROM read_csv('{path}', all_varchar = true)"  # noqa: S608  (a path of this test)
    duckdb.sql(f"COPY ({held}) TO '{target}' (FORMAT parquet)")
    return target


@pytest.mark.parametrize("made", [lambda path: path, _as_jsonl, _as_parquet], ids=["csv", "jsonl", "parquet"])
def test_predictions_of_any_column_names_are_taken_in_and_judged(
    folder: Path, tmp_path: Path, made: Callable[[Path], Path]
) -> None:
    """By a mapping; the verdict is real, the record keeps where they came from, and the row in the workbook follows."""
    name = _ids(folder)[0]
    path = made(_csv(tmp_path, right()))
    found = attach(folder, path, name, read_map(_map(tmp_path, WITH_IDS)))
    assert (found.rows, found.fault) == (SIZE, None)
    verdicts = judge(folder).decision.verdicts
    assert (verdicts[name].verdict, verdicts[name].metric_value) == ("accepted", 1.0)
    record = next(one for one in read_records(folder) if one.attempt.attempt_id == name)
    assert not record.declared
    assert record.details.predictions_from is not None
    assert record.details.predictions_from.file == path.name
    assert load(folder).notices == ()  # no cell of the workbook disagrees with the record
    row = next(
        one for one in read_workbook(folder / "campaign.xlsx", load(folder).manifest).rows if one.attempt_id == name
    )
    assert (row.corpus_accepted, row.predictions_sha256) == ("accepted", record.attempt.predictions_sha256)
    first = (folder / str(row.predictions_path)).read_text(encoding="utf-8").partition("\n")[0]
    assert json.loads(first) == {"id": "000", "prediction": "a", "scores": {"a": 0.9, "b": 0.1}}


def test_wrong_predictions_are_rejected_like_any_others(folder: Path, tmp_path: Path) -> None:
    """Ids that are missing, and a quality below the threshold."""
    one, two, _ = _ids(folder)
    attach(folder, _csv(tmp_path, right()[1:], name="short.csv"), one, read_map(_map(tmp_path, WITH_IDS)))
    attach(folder, _csv(tmp_path, right(range(10)), name="bad.csv"), two, read_map(_map(tmp_path, WITH_IDS)))
    verdicts = judge(folder).decision.verdicts
    assert [(verdicts[name].verdict, verdicts[name].control) for name in (one, two)] == [
        ("rejected", "ids"), ("rejected", "quality")
    ]  # fmt: skip


def test_a_file_without_ids_is_refused_unless_the_order_is_declared(folder: Path, tmp_path: Path, said: Said) -> None:
    """The refusal says how to declare it; as many rows as inputs; the report then says so."""
    name = _ids(folder)[0]
    path = _csv(tmp_path, right(), ids=False)
    code, text = said("judge", folder, "--predictions", path, "--attempt", name)
    assert code == 3
    assert "`id`" in text or "id" in text
    mapping = _map(tmp_path, IN_ORDER)
    short = _csv(tmp_path, right()[:-1], ids=False, name="short.csv")
    code, text = said("judge", folder, "--predictions", short, "--attempt", name, "--map", mapping)
    assert (code, "39" in text, "40" in text) == (3, True, True)
    assert not (folder / "attempts" / name / "predictions.jsonl").exists()
    code, text = said("judge", folder, "--predictions", path, "--attempt", name, "--map", mapping)
    assert (code, "40 predictions" in text) == (0, True)
    limits = {one.key: one.values for one in judge(folder).decision.does_not_cover}
    assert limits["limits.row_order"]["attempts"] == [name]


def test_the_same_predictions_again_change_nothing_and_others_are_refused(folder: Path, tmp_path: Path) -> None:
    """Evidence is not replaced."""
    name, mapping = _ids(folder)[0], read_map(_map(tmp_path, WITH_IDS))
    path = _csv(tmp_path, right())
    attach(folder, path, name, mapping)
    before = (folder / "attempts" / name / "attempt.json").read_bytes()
    assert attach(folder, path, name, mapping).same
    assert (folder / "attempts" / name / "attempt.json").read_bytes() == before
    with pytest.raises(InvalidInputError, match="predictions-there"):
        attach(folder, _csv(tmp_path, right([3]), name="other.csv"), name, mapping)


@pytest.mark.parametrize(
    ("text", "content", "slug"),
    [
        (WITH_IDS.replace("ticket", "tickets"), None, "import-no-column"),
        (WITH_IDS, "ticket,label,a,b\n000,a,high,0\n", "import-not-a-number"),
        (WITH_IDS, "ticket,label,a,b\n,a,0,0\n", "predictions-rows-without-id"),
        (WITH_IDS, '{"ticket": 1.0, "label": "a", "a": 0, "b": 0}\n', "predictions-id-number"),
        (WITH_IDS, '{"ticket": "000", "label": "a"', "corpus-incomplete-line"),
        (WITH_IDS, "", "import-empty"),
    ],
)
def test_a_file_that_cannot_be_taken_as_it_is_is_refused(
    folder: Path, tmp_path: Path, text: str, content: str | None, slug: str
) -> None:
    """With its line or column; no predictions file is made."""
    name = _ids(folder)[0]
    path = _csv(tmp_path, right())
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInputError) as refused:
        attach(folder, path, name, read_map(_map(tmp_path, text)))
    assert refused.value.faults[0].slug == slug
    assert not (folder / "attempts" / name / "predictions.jsonl").exists()


def test_only_imported_attempts_that_completed_take_predictions(tmp_path: Path) -> None:
    """A measured attempt has its own; a failure has nothing to judge."""
    folder = build(tmp_path / "campaign", Plan(rounds({"b1": (10.0,), "b8": (5.0,)})))
    measured = _ids(folder)[0]
    path = tmp_path / "failed.json"
    path.write_text(json.dumps(hyperfine(times=[1.0], exit_codes=[1], memory_usage_byte=...)), encoding="utf-8")
    (failed,) = bring_in(folder, [path], Asked(("b1",))).records
    predictions = _csv(tmp_path, right())
    for name, slug in (
        (measured, "predictions-of-measured"),
        (failed.attempt.attempt_id, "predictions-of-failed"),
        (measured + "x", "predictions-no-attempt"),
    ):
        with pytest.raises(InvalidInputError, match=slug):
            attach(folder, predictions, name)


def test_a_campaign_of_imports_alone_is_judged_priced_and_reported_with_its_evidence_plain(
    tmp_path: Path, said: Said
) -> None:
    """Five passes of two variants from files: verdicts, summaries, budget and deliverable; undecided, and it says why.

    The first screen says in each language that the times are declared, not verified.
    """
    folder = build(tmp_path / "campaign", Plan((), protocol=protocol(planned_deliverables=("tickets",))))
    for variant, times in (("b1", (20.1, 20.0, 20.3, 20.2, 20.4)), ("b8", (10.1, 10.0, 10.3, 10.2, 10.4))):
        assert said("import", folder, _times(tmp_path, variant, times), "--variant", variant)[0] == 0
    mapping, path = _map(tmp_path, WITH_IDS), _csv(tmp_path, right())
    for name in _ids(folder):
        assert said("judge", folder, "--predictions", path, "--attempt", name, "--map", mapping)[0] == 0
    manifest = read_manifest(folder / "manifest.toml")
    delivered = Deliverable("tickets", "b8", accepted=True, attempt_id=_ids(folder)[-1])
    append_deliverables(folder / "campaign.xlsx", [delivered], manifest.language)
    assert said("report", folder)[0] == 0
    document = json.loads((folder / "report" / "v1" / "decision.json").read_text(encoding="utf-8"))
    quick = next(one for one in document["variants"] if one["id"] == "b8")
    assert (quick["summaries"][0]["median_s"], quick["summaries"][0]["accepted"]) == (10.2, 5)
    assert (quick["committed"], quick["cost_per_validated_corpus"]) == ("110.00", "110.00")
    assert document["decision"]["status"] == "undecided"
    assert {one["provenance"]["tool"] for one in document["attempts"]} == {"hyperfine"}
    for language, words in (
        ("en", "declared, not verified"), ("fr", "déclarés, non vérifiés"), ("it", "dichiarati, non verificati")
    ):  # fmt: skip
        page = (folder / "report" / "v1" / f"{language}.html").read_text(encoding="utf-8")
        first = re.sub(r"<[^>]+>", " ", page[page.index("<main") :])[:6000]
        assert words in first.replace("\u202f", " ")
    assert said("verify", folder)[0] == 0


def test_a_table_with_predictions_of_a_fraction_keeps_them_as_text(folder: Path, tmp_path: Path) -> None:
    """A parquet: a prediction that is a number is written as such, NaN is none."""
    name, path = _ids(folder)[0], tmp_path / "numbers.parquet"
    number = "CASE range WHEN 3 THEN 'nan'::DOUBLE ELSE 1.5::DOUBLE END"
    table = duckdb.sql(f"SELECT lpad(range::VARCHAR, 3, '0') AS id, {number} AS prediction FROM range(40)")  # noqa: S608  (text of this test)
    table.write_parquet(str(path))
    attach(folder, path, name)
    lines = (folder / "attempts" / name / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines[3:5]] == [{"id": "003"}, {"id": "004", "prediction": "1.5"}]
    assert judge(folder).decision.verdicts[name].control == "format"


def test_a_record_remembers_its_predictions_across_a_rebuilt_workbook(folder: Path, tmp_path: Path, said: Said) -> None:
    """`lab sync --rebuild` makes the rows from the attempts."""
    name = _ids(folder)[0]
    attach(folder, _csv(tmp_path, right()), name, read_map(_map(tmp_path, WITH_IDS)))
    assert said("sync", folder, "--rebuild")[0] == 0
    rows = read_workbook(folder / "campaign.xlsx", load(folder).manifest).rows
    assert replace(next(one for one in rows if one.attempt_id == name)).corpus_accepted == "accepted"
