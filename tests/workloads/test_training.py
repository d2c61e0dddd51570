"""The small trainer: its tokenizer is reproducible, its model an ordinary transformers folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from lab.workloads.training import SPECIAL_TOKENS, Recipe, TrainingReport, build_tokenizer, train_classifier

REPOSITORY = Path(__file__).parents[2]
TEXTS = [
    f"{word} {other} naïve Ärger, e=mc2" for word in ("apple", "pear", "plum") for other in ("red", "sour", "ripe")
]
ROWS = [(f"{fruit} {n} ripe and sweet", "fruit") for n in range(12) for fruit in ("apple", "pear")] + [
    (f"{tool} {n} of hard steel", "tool") for n in range(12) for tool in ("hammer", "saw")
]
RECIPE = Recipe(labels=("fruit", "tool"), max_tokens=12, hidden=16, intermediate=16, epochs=4, batch_size=8)
CUTTER = build_tokenizer(TEXTS, 50)
TOKENIZER = build_tokenizer([text for text, _ in ROWS], 200)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainingReport:
    """A tiny model, trained once."""
    return train_classifier(ROWS, TOKENIZER, tmp_path_factory.mktemp("models") / "tiny", RECIPE)


def test_vocabulary_is_the_special_tokens_then_sorted_pieces() -> None:
    """Numbers follow the sorted order, accents and case are gone, and the size is a limit."""
    tokens = build_tokenizer(TEXTS, 50).vocabulary
    assert tuple(tokens[:5]) == SPECIAL_TOKENS
    assert tokens[5:] == sorted(tokens[5:])
    assert len(tokens) == 50
    assert "naive" in build_tokenizer(TEXTS, 400).vocabulary


def test_vocabulary_is_the_same_in_every_process() -> None:
    """Two processes that hash text differently build the same tokenizer, bit for bit."""
    code = f"from lab.workloads.training import build_tokenizer; print(build_tokenizer({TEXTS!r}, 50).backend.to_str())"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@given(st.text(st.sampled_from("aple rd,Änï中\u0301\n"), max_size=40), st.integers(0, 12))
def test_a_cut_text_holds_the_first_tokens_and_no_more(text: str, tokens: int) -> None:
    """The cut is a beginning of the text and gives the first tokens of the whole."""
    tokenizer = CUTTER
    part = tokenizer.cut(text, tokens)
    whole = tokenizer.backend.encode(text, add_special_tokens=False).tokens
    assert text.startswith(part)
    assert tokenizer.backend.encode(part, add_special_tokens=False).tokens == whole[:tokens]
    assert tokenizer.count([part, text]) == [min(tokens, len(whole)), len(whole)]


def test_model_loads_like_any_local_model_with_nothing_missing(trained: TrainingReport) -> None:
    """Weights, labels and tokenizer come back from the folder alone."""
    model, info = AutoModelForSequenceClassification.from_pretrained(
        trained.folder, dtype=torch.float32, output_loading_info=True
    )
    assert not any(info.values())
    assert model.config.id2label == {0: "fruit", 1: "tool"}
    tokenizer = AutoTokenizer.from_pretrained(trained.folder)
    assert tokenizer.get_vocab() == TOKENIZER.backend.get_vocab()
    assert tokenizer("apple saw")["input_ids"] == TOKENIZER.backend.encode("apple saw").ids
    assert len(tokenizer("apple " * 40, truncation=True)["input_ids"]) == RECIPE.max_length == 14
    assert trained.parameters == sum(weight.numel() for weight in model.parameters())


def test_model_learned_what_the_rows_teach(trained: TrainingReport) -> None:
    """The loss fell, and texts it has not seen get the right label."""
    model = AutoModelForSequenceClassification.from_pretrained(trained.folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(trained.folder)
    with torch.inference_mode():
        scores = model(**tokenizer(["pear 5 ripe", "hammer 70 of steel"], padding=True, return_tensors="pt")).logits
    assert scores.argmax(-1).tolist() == [0, 1]
    assert trained.losses[-1] < trained.losses[0] / 2
    assert (trained.rows, trained.steps, len(trained.losses)) == (48, 24, 4)
    assert trained.duration_s > 0


def test_same_arguments_give_the_same_weights_and_leave_torch_as_it_was(
    trained: TrainingReport, tmp_path: Path
) -> None:
    """The seed decides, not the state of the process, and that state is not touched."""
    torch.manual_seed(7)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    said: list[str] = []
    train_classifier(ROWS, TOKENIZER, tmp_path / "again", RECIPE, said.append)
    assert said == ["1/4", "2/4", "3/4", "4/4"]
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert (tmp_path / "again" / name).read_bytes() == (trained.folder / name).read_bytes()


def test_a_training_that_was_cut_leaves_no_model_and_the_next_one_succeeds(tmp_path: Path) -> None:
    """The folder is there whole or not at all; leftovers are cleared."""

    def cut(_: str) -> None:
        raise KeyboardInterrupt

    left = tmp_path / ".model.training"
    left.mkdir()
    (left / "half").write_text("x")
    with pytest.raises(KeyboardInterrupt):
        train_classifier(ROWS, TOKENIZER, tmp_path / "model", RECIPE, cut)
    assert not (tmp_path / "model").exists()
    train_classifier(ROWS, TOKENIZER, tmp_path / "model", RECIPE)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert not (tmp_path / "model" / "half").exists()


def test_wrong_rows_and_a_folder_that_exists_are_refused(tmp_path: Path) -> None:
    """Nothing is trained on a label the model lacks, and no model is overwritten."""
    with pytest.raises(ValueError, match="label"):
        train_classifier([("a", "animal")], TOKENIZER, tmp_path / "m", RECIPE)
    with pytest.raises(ValueError, match="rows"):
        train_classifier([], TOKENIZER, tmp_path / "m", RECIPE)
    with pytest.raises(FileExistsError):
        train_classifier(ROWS, TOKENIZER, tmp_path, RECIPE)


def test_module_imports_where_torch_is_missing() -> None:
    """The trainer's module needs nothing but the standard library until it trains."""
    code = (
        "import sys, json, lab.workloads.training;"
        "print(json.dumps([n for n in ('torch', 'transformers', 'tokenizers') if n in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout) == []
