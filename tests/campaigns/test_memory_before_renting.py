"""`lab check` warns before renting when a model cannot fit on its card, by formula, where the catalogue states it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from campaign_folders import Plan, build, protocol

from lab.cli import main
from lab.messages import LANGUAGES, messages
from lab.store.campaign import read_campaign
from lab.store.catalogue import shipped_offers
from lab.store.memory_need import memory_warnings

SIZES = {
    "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "max_position_embeddings": 8192,
}  # fmt: skip
NUMBERS = 8_000_000_000


def campaign(folder: Path, settings: Mapping[str, object], memory: str | None = "24") -> Path:
    """A campaign of one variant whose card has so much memory by the catalogue; its model `m` has 8e9 numbers."""
    stated = None if memory is None else Decimal(memory)
    offers = [replace(one, memory_gib_per_card=stated) for one in shipped_offers()]
    made = build(folder / "campaign", Plan([], {"b8": settings}, protocol=protocol(), offers=offers))
    (made / "m").mkdir()
    (made / "m" / "config.json").write_text(json.dumps(SIZES), encoding="utf-8")
    header = json.dumps({"w": {"dtype": "BF16", "shape": [NUMBERS], "data_offsets": [0, 2 * NUMBERS]}}).encode()
    (made / "m" / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    return made


def warned(folder: Path) -> list[tuple[str, dict[str, object]]]:
    """Key and facts of each warning about memory."""
    return [
        (one.key.removeprefix("check.memory_"), dict(one.values))
        for one in memory_warnings(read_campaign(folder), folder)
    ]


@pytest.mark.parametrize(
    ("settings", "memory", "key", "needed"),
    [
        ({"precision": "fp32"}, "24", "weights", 29.81),  # 8e9 x 4 bytes
        ({"precision": "bf16"}, "24", None, None),  # 14.9 GiB, and a batch of 8 x 512 fits beside
        ({"precision": "bf16"}, "14.9", "weights", 14.91),
        ({"precision": "bf16", "max_length": 8192, "batch_size": 32}, "20", "batch", 23.91),
        ({"precision": "bf16", "max_length": 99999, "batch_size": 32}, "20", "batch", 23.91),  # the model's own limit
        ({"precision": "bf16", "attention": "eager", "max_length": 4096}, "24", "batch", 31.78),
        ({"precision": "bf16", "attention": "eager", "max_length": 4096, "compile": True}, "24", None, None),
        (
            {"precision": "bf16", "padding": "token-budget", "token_budget": 2**20, "max_length": 512},
            "40",
            "batch",
            50.91,
        ),
        ({"precision": "int8"}, "8", None, None),
        ({"precision": "bf16", "quantization": "int8-weight-only"}, "8", None, None),
        ({"precision": "fp32"}, None, None, None),  # the catalogue does not say
        ({"precision": "fp32", "devices": 2}, "24", "weights", 29.81),  # the whole model is on each card
        ({"workload": "command", "command": ["./classify"]}, "24", None, None),  # what it does with a model is its own
    ],
)
def test_what_cannot_fit_by_formula_is_said(
    settings: dict[str, object], memory: str | None, key: str | None, needed: float | None, tmp_path: Path
) -> None:
    """The least that is needed against what the catalogue states; nothing is said of what could fit."""
    found = warned(campaign(tmp_path, settings, memory))
    assert [(name, facts["needed_gib"], facts["variant"]) for name, facts in found] == (
        [(key, needed, "b8")] if key else []
    )


def test_a_variant_on_the_processor_needs_no_card(tmp_path: Path) -> None:
    """What a catalogue says of a card is nothing to it."""
    folder = campaign(tmp_path, {"precision": "fp32"})
    declared = (folder / "manifest.toml").read_text(encoding="utf-8")
    (folder / "manifest.toml").write_text(declared.replace('device = "cuda:0"', 'device = "cpu"'), encoding="utf-8")
    assert warned(folder) == []


def test_a_model_that_generates_keeps_its_keys_and_values(tmp_path: Path) -> None:
    """128 KiB a token of this model: 64 texts of 4,096 tokens and 1,024 new ones keep 40 GiB."""
    settings = {
        "workload": "generation",
        "precision": "bf16",
        "batch_size": 64,
        "max_length": 4096,
        "max_new_tokens": 1024,
    }
    (found,) = warned(campaign(tmp_path, settings, "48"))
    assert found[0] == "batch"
    assert found[1]["needed_gib"] == pytest.approx(14.9 + 40 + 9, abs=0.1)


def test_what_cannot_be_estimated_is_said_and_not_taken_to_fit(tmp_path: Path) -> None:
    """A model without sizes, or that is not here: unknown is not passed."""
    folder = campaign(tmp_path, {"precision": "bf16"})
    (folder / "m" / "config.json").write_text("{}", encoding="utf-8")
    assert [key for key, _ in warned(folder)] == ["unknown"]
    (folder / "m" / "model.safetensors").unlink()
    assert [key for key, _ in warned(folder)] == ["unknown"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_warning_of_memory_is_no_fault(language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab check` says it in words and ends with 0: a formula is no measurement."""
    folder = campaign(tmp_path, {"precision": "fp32"})
    assert main(["check", str(folder), "--lang", language]) == 0
    facts = {"variant": "b8", "gpu": "rtx-4090", "memory_gib": 24.0, "needed_gib": 29.81}
    assert messages(language).text("check.memory_weights", **facts) in capsys.readouterr().out
