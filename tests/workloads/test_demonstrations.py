"""Whole campaigns, from the manifest to the verdicts: programs in other languages, and precisions of one real model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import small_campaign
from safetensors.torch import load_file, save_file

from lab.cli import main
from lab.model.attempt import Record
from lab.model.decision import Verdict
from lab.pipeline import Judgement, run

HEAD = """\
schema = 1
name = "tickets"
language = "fr"

[[corpora]]
id = "tickets-2026"
path = "tickets.jsonl"
reference_column = "label"
labels = ["facturation", "panne"]

[run]
warm_up = { passes = 1, inputs = 4 }
timeout_s = TIMEOUT

"""

# Reads {"id": …, "text": …} line by line: the id is the fourth part between quotation marks, the text the eighth.
AWK = r"""
BEGIN { FS = "\"" }
{
  answer = ($8 ~ /facture|montant|remboursement|paiement|prix|erreur/) ? "facturation" : "panne"
  printf "{\"id\": \"%s\", \"prediction\": \"%s\"}\n", $4, answer
}
"""
SCRIPT = """\
echo load >> "$LAB_PHASES"
sleep 0.1
echo measure >> "$LAB_PHASES"
awk -f classify.awk "$1" > "$2"
"""
PROGRAMS: Mapping[str, str] = {
    "awk": "",
    "twice": 'head -n 1 "$2" > some; cat some >> "$2"',
    "half": 'head -n 12 "$2" > some; mv some "$2"',
    "hangs": "sleep 300",
    "prints": "head -c 200000000 /dev/zero | tr '\\0' 'x' | fold -w 99",
}


@dataclass(frozen=True)
class Run:
    """What a campaign's run left."""

    folder: Path
    judgement: Judgement

    def of(self, variant: str) -> tuple[Record, Verdict]:
        """The first attempt of a variant, and its verdict."""
        record = next(one for one in self.judgement.campaign.records if one.attempt.variant == variant)
        return record, self.judgement.decision.verdicts[record.attempt.attempt_id]

    def answers(self, variant: str) -> dict[str, str]:
        """Its predictions by id."""
        path = self.folder / (self.of(variant)[0].attempt.predictions_path or "")
        return {row["id"]: row["prediction"] for row in map(json.loads, path.read_text().splitlines())}


def _campaign(folder: Path, variants: str, timeout_s: int, **protocol: object) -> Path:
    assert main(["init", str(folder), "--lang", "fr", "--name", "tickets"]) == 0
    lines = [{"id": one, "text": text, "label": label} for one, text, label in small_campaign.rows()]
    corpus = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "tickets.jsonl").write_text(corpus, encoding="utf-8")
    (folder / "manifest.toml").write_text(HEAD.replace("TIMEOUT", str(timeout_s)) + variants, encoding="utf-8")
    small_campaign.fill_protocol(folder / "campaign.xlsx", {**small_campaign.PROTOCOL, **protocol})
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One pass each of an awk program and of four that go wrong after it, started through a shell script."""
    folder = tmp_path_factory.mktemp("programs") / "campaign"
    variants = "".join(
        f"""
[[variants]]
id = "{name}"
workload = "command"
command = ["sh", "classify.sh", "{{corpus}}", "{{predictions}}", "{name}"]
"""
        for name in PROGRAMS
    )
    _campaign(folder, variants, 8, repetitions=1, reference_variant="awk", tolerance=0)
    (folder / "classify.awk").write_text(AWK)
    cases = [f"{name}) {act} ;;" for name, act in PROGRAMS.items()]
    (folder / "classify.sh").write_text("\n".join((SCRIPT, 'case "$3" in', *cases, "esac", "")))
    return Run(folder, run(folder))


def test_an_awk_program_is_measured_and_judged_like_any_other(programs: Run) -> None:
    """Its loading is in a column of its own, its answers are held against the references, it is accepted."""
    record, verdict = programs.of("awk")
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("completed", 24)
    assert (verdict.verdict, verdict.metric_value, verdict.ids_match) == ("accepted", 1.0, True)
    assert record.attempt.load_s is not None
    assert record.attempt.load_s >= 0.09
    assert record.attempt.duration_s is not None
    assert record.attempt.load_s + record.attempt.duration_s <= (record.attempt.elapsed_s or 0)
    assert record.attempt.export_s is None
    assert record.details.facts["exit_code"] == "0"
    assert record.details.facts["phase_marks"].startswith("load ")


def test_a_program_that_writes_an_id_twice_is_rejected_for_its_ids(programs: Run) -> None:
    """The pass completed, and its corpus is not accepted."""
    record, verdict = programs.of("twice")
    assert record.attempt.outcome == "completed"
    assert (verdict.verdict, verdict.control, verdict.duplicate_ids) == ("rejected", "ids", 1)


def test_a_program_that_writes_half_its_output_is_rejected_for_its_ids(programs: Run) -> None:
    """Twelve of 24 are missing, whatever its exit code says."""
    record, verdict = programs.of("half")
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("completed", 12)
    assert (verdict.verdict, verdict.control, verdict.missing_ids) == ("rejected", "ids", 12)


def test_a_program_that_hangs_is_ended_and_keeps_what_it_wrote(programs: Run) -> None:
    """Timed out with no duration; the predictions until then are kept, and nothing of it runs on."""
    record, verdict = programs.of("hangs")
    assert (record.attempt.outcome, record.attempt.completed_inputs) == ("timed_out", 24)
    assert record.attempt.duration_s is None
    assert len(programs.answers("hangs")) == 24
    assert (verdict.verdict, verdict.control) == ("rejected", "outcome")


def test_a_program_that_prints_without_end_is_measured_and_its_log_stays_small(programs: Run) -> None:
    """Of 200 MB both ends are kept; answers and verdict are those of the quiet program."""
    record, verdict = programs.of("prints")
    log = programs.folder / "attempts" / record.attempt.attempt_id / "log.txt"
    assert log.stat().st_size < 2_200_000
    assert record.details.counts["output_bytes"] > 200_000_000
    assert f"[... {record.details.counts['output_bytes_left_out']} bytes ...]" in log.read_text()
    assert verdict.verdict == "accepted"
    assert programs.answers("prints") == programs.answers("awk")


def with_an_outlier(model: Path) -> None:
    """Give one channel before the classifier's own layer a weight 1,000 times the others', and take it back before.

    In fp32 nothing changes. Large language models have such channels (Dettmers et al. 2022, arXiv 2208.07339), and one
    scale for a whole matrix of int8 leaves nothing of the others.
    """
    file = model / "model.safetensors"
    weights = load_file(file)
    weights["model.final_norm.weight"][0] /= 1000
    weights["head.dense.weight"][:, 0] *= 1000
    save_file(weights, file, metadata={"format": "pt"})


VARIANTS = """
[defaults]
model = "models/tickets"
max_length = 64
batch_size = 4

[[variants]]
id = "fp32"

[[variants]]
id = "bf16"
precision = "bf16"

[[variants]]
id = "int8"
quantization = "torch-int8-dynamic"

[[variants]]
id = "sorted"
padding = "sorted"

[[variants]]
id = "token-budget"
padding = "token-budget"
token_budget = 256
"""


@pytest.fixture(scope="module")
def precisions(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two passes each of five variants of a trained classifier in which one channel stands out."""
    folder = tmp_path_factory.mktemp("precisions") / "campaign"
    _campaign(folder, VARIANTS, 300, reference_variant="fp32", threshold=0.5, tolerance=0.05)
    (folder / "models").mkdir()
    small_campaign.train(folder / "models")
    with_an_outlier(folder / "models" / "tickets")
    return Run(folder, run(folder))


def test_sorting_and_budgets_change_the_order_and_no_answer(precisions: Run) -> None:
    """The same label for every id as in corpus order, hence the same accuracy, and accepted."""
    labels, accuracy = precisions.answers("fp32"), precisions.of("fp32")[1].metric_value
    assert accuracy is not None
    assert accuracy > 0.9
    for variant in ("sorted", "token-budget"):
        assert precisions.answers(variant) == labels
        assert list(precisions.answers(variant)) != list(labels)
        assert precisions.of(variant)[1].metric_value == accuracy
        assert precisions.of(variant)[1].verdict == "accepted"


def test_a_precision_outside_the_tolerance_is_named_as_such(precisions: Run) -> None:
    """bf16 answers as fp32 does; int8 loses the classes, and the verdict says that and by how much."""
    assert precisions.of("bf16")[1].verdict == "accepted"
    record, verdict = precisions.of("int8")
    assert record.attempt.outcome == "completed"
    assert record.details.facts["quantization_used"].startswith("torch 2")
    assert verdict.verdict == "rejected"
    assert verdict.control in {"quality", "reference"}
    assert verdict.metric_value is not None
    assert verdict.metric_value < 0.9
    other = {one for one, answer in precisions.answers("int8").items() if answer != precisions.answers("fp32")[one]}
    assert len(other) > 2


def test_duration_ratios_are_of_accepted_passes_only(precisions: Run) -> None:
    """Each accepted variant has a median to be compared; the one outside the tolerance has none, however fast it is."""
    medians = {one.id: one.summaries[0].median_s for one in precisions.judgement.decision.variants if one.summaries}
    ratios = {name: value / (medians["fp32"] or 1) for name, value in medians.items() if value is not None}
    assert set(ratios) == {"fp32", "bf16", "sorted", "token-budget"}
    assert all(ratio > 0 for ratio in ratios.values())
    assert medians["int8"] is None
    for variant in (*ratios, "int8"):
        counts, facts = precisions.of(variant)[0].details.counts, precisions.of(variant)[0].details.facts
        for kind in ("padded", "unpadded"):
            kernel = facts.get(f"attention_kernel_{kind}")
            assert (kernel is None) == (counts[f"{kind}_batches"] == 0)
            assert (kernel or "aten::_scaled_dot_product_").startswith("aten::_scaled_dot_product_")
