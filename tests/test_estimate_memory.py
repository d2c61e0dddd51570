"""The memory formulas against published figures and real models, and the observation's three counters."""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import estimate_memory
from lab.estimate_memory import (
    GIB,
    MOMENTS,
    Load,
    Row,
    Shape,
    Weights,
    activation_bytes,
    amount,
    cache_bytes,
    estimate,
    exercise,
    observe,
    read_shape,
    read_weights,
    table,
    weight_bytes,
)

SCRIPT = Path(estimate_memory.__file__)
OPT_13B = Shape(layers=40, width=5120, heads=40, kv_heads=40, head_width=128, inner=20480)
SIZES = st.builds(
    Shape, *[st.integers(1, 64)] * 2, st.integers(1, 32), st.integers(1, 32), st.integers(1, 128), st.integers(1, 4096)
)
LOADS = st.builds(
    Load,
    st.sampled_from(["fp32", "bf16", "fp16", "int8"]),
    st.sampled_from(["eager", "sdpa", "flash"]),
    st.integers(1, 64),
    st.integers(1, 4096),
    st.integers(0, 512),
)


def test_the_script_stands_alone() -> None:
    """Python 3.10 can read it; it imports the standard library, and PyTorch where a person runs the observation."""
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 10))
    named = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    named |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert named - sys.stdlib_module_names == {"torch"}


def test_a_token_of_opt_13b_keeps_800_kib() -> None:
    """The figure of Kwon et al. 2023, section 3: 2 x 5120 x 40 x 2 bytes."""
    one = Load("fp16", "sdpa", batch=1, length=1, new_tokens=1)
    assert cache_bytes(OPT_13B, one) == 2 * 800 * 1024  # two tokens: one read, one written


def test_a_model_that_classifies_keeps_no_cache() -> None:
    """Nothing is generated, so nothing is kept."""
    assert cache_bytes(OPT_13B, Load(new_tokens=0)) == 0


@pytest.mark.parametrize(("precision", "each"), [("fp32", 4), ("bf16", 2), ("fp16", 2), ("int8", 1)])
def test_weights_are_numbers_times_their_bytes(precision: str, each: int) -> None:
    """What is stored in another form stays as it is stored."""
    assert weight_bytes(Weights(13_000_000_000, 512), precision) == 13_000_000_000 * each + 512


def test_scores_of_eager_attention_grow_with_the_square_of_the_length() -> None:
    """Twice the length: four times the scores; a fused kernel never writes them whole (Dao et al. 2022)."""
    shape = Shape(layers=1, width=64, heads=8, kv_heads=8, head_width=8, inner=1)

    def scores(length: int) -> int:
        eager, fused = (activation_bytes(shape, Load("fp32", kind, 1, length)) for kind in ("eager", "sdpa"))
        return eager - fused

    assert scores(1024) == 4 * scores(512) == 4 * 2 * 8 * 512 * 512 * 4


@given(shape=SIZES, load=LOADS)
def test_more_work_never_needs_less(shape: Shape, load: Load) -> None:
    """A larger batch, a longer text, more new tokens, `eager` in place of `sdpa`: never below."""
    least = estimate(shape, Weights(1000), load).least
    assert least is not None
    for more in (
        replace(load, batch=load.batch + 1),
        replace(load, length=load.length + 1),
        replace(load, new_tokens=load.new_tokens + 1),
        replace(load, attention="eager"),
        replace(load, precision="fp32"),
    ):
        assert (estimate(shape, Weights(1000), more).least or 0) >= least


def test_what_is_not_known_is_not_0() -> None:
    """A part without its sizes makes the whole unknown, and is printed as a dash."""
    assert estimate(None, Weights(5), Load()).least is None
    assert estimate(OPT_13B, None, Load()).least is None
    assert amount(None) == "\N{EN DASH}"
    assert amount(1) == "<0.01 MiB"
    assert amount(0) == "0.00 MiB"
    assert amount(3 * GIB // 2) == "1.50 GiB"


# --- reading a model's files ------------------------------------------------------------------------------------------


def stored(folder: Path, tensors: dict[str, tuple[str, list[int], int]], name: str = "model.safetensors") -> Path:
    """Write the header of a safetensors file: name -> kind, shape, bytes; the weights themselves are not needed."""
    folder.mkdir(parents=True, exist_ok=True)
    held: dict[str, object] = {"__metadata__": {"format": "pt"}}
    for key, (kind, shape, size) in tensors.items():
        held[key] = {"dtype": kind, "shape": shape, "data_offsets": [0, size]}
    header = json.dumps(held).encode()
    (folder / name).write_bytes(len(header).to_bytes(8, "little") + header)
    return folder


def test_the_numbers_of_a_real_model_are_counted(tmp_path: Path) -> None:
    """As many as PyTorch counts in the model that transformers saved, and its sizes under their names."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    model = transformers.BertForSequenceClassification(config)
    model.save_pretrained(tmp_path)
    assert read_weights(tmp_path) == Weights(sum(one.numel() for one in model.state_dict().values()))
    assert read_shape(tmp_path) == Shape(2, 32, 4, 4, 8, 64, 512)


def test_packed_weights_count_as_they_are_stored(tmp_path: Path) -> None:
    """Numbers in 4 or 8 bits are not floating point: their bytes are what they are, whatever the precision."""
    folder = stored(tmp_path, {"a": ("BF16", [10, 10], 200), "b": ("I8", [4, 25], 100), "c": ("F32", [], 4)})
    assert read_weights(folder) == Weights(101, 100)


def test_a_model_in_several_files_is_counted_whole(tmp_path: Path) -> None:
    """Its index names the files, each once; an index that leads out of the folder is not followed."""
    for number in (1, 2):
        stored(tmp_path, {f"w{number}": ("F32", [7, number], 28)}, f"part-{number}.safetensors")
    index = {"weight_map": {"w1": "part-1.safetensors", "w2": "part-2.safetensors", "w3": "part-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert read_weights(tmp_path) == Weights(21)
    stored(tmp_path.parent, {"w": ("F32", [1], 4)}, "outside.safetensors")
    index["weight_map"]["w3"] = "../outside.safetensors"
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert read_weights(tmp_path) is None


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ({"dim": 768, "n_layers": 6, "n_heads": 12, "hidden_dim": 3072}, Shape(6, 768, 12, 12, 64, 3072)),
        (
            {"text_config": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
                             "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96}},
            Shape(2, 64, 8, 2, 16, 96),
        ),
        ({"hidden_size": 64, "num_hidden_layers": 2}, None),
        ({"hidden_size": "64", "num_hidden_layers": 2, "num_attention_heads": 8, "intermediate_size": 9}, None),
        ([], None),
    ],
)  # fmt: skip
def test_sizes_are_read_by_the_names_that_models_use(written: object, shape: Shape | None, tmp_path: Path) -> None:
    """One that is missing is not guessed."""
    (tmp_path / "config.json").write_text(json.dumps(written), encoding="utf-8")
    assert read_shape(tmp_path) == shape


@given(
    data=st.binary(max_size=64) | st.builds(lambda one: len(one).to_bytes(8, "little") + one, st.binary(max_size=64))
)
def test_any_bytes_are_read_or_refused(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A damaged file is no count, and no traceback."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.safetensors").write_bytes(data)
    (folder / "config.json").write_bytes(data)
    assert read_weights(folder) in (None, Weights(0))
    assert read_shape(folder) is None


def test_json_nested_without_end_is_refused(tmp_path: Path) -> None:
    """As deep as the header may be."""
    deep = b"[" * 100_000
    (tmp_path / "model.safetensors").write_bytes(len(deep).to_bytes(8, "little") + deep)
    (tmp_path / "config.json").write_bytes(deep)
    assert read_weights(tmp_path) is None
    assert read_shape(tmp_path) is None


# --- the observation --------------------------------------------------------------------------------------------------


class _Counted:
    """What `torch.cuda` counts, played on a machine that has no GPU: each reading is the next of its own series."""

    __name__ = "torch.cuda"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (any counter)
        def read() -> Any:  # noqa: ANN401  (bytes, or free and total)
            self.calls.append(name)
            count = 1000 * len(self.calls)
            return (10**9 - count, 10**9) if name == "mem_get_info" else count

        return read


def test_the_exercise_reads_three_counters_at_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real PyTorch and its real model on the CPU, and counters played: peaks are reset before the pass."""
    torch = pytest.importorskip("torch")
    small, load = Shape(layers=2, width=16, heads=2, kv_heads=2, head_width=8, inner=32), Load("fp32", "sdpa", 2, 3)
    monkeypatch.setattr(estimate_memory, "EXERCISE", small)
    monkeypatch.setattr(estimate_memory, "EXERCISE_LOAD", load)
    counted = _Counted()
    rows = exercise(torch, counted, "cpu")
    assert tuple(row.moment for row in rows) == MOMENTS
    assert all(None not in (row.allocated, row.reserved, row.device) for row in rows)
    assert counted.calls.count("memory_allocated") == counted.calls.count("memory_reserved") == 4
    assert counted.calls.index("reset_peak_memory_stats") < counted.calls.index("max_memory_allocated")
    assert counted.calls.index("synchronize") < counted.calls.index("max_memory_allocated")
    attention, feed_forward, norms = 4 * (16 * 16 + 16), 2 * 16 * 32 + 32 + 16, 2 * 2 * 16
    weights = 4 * 2 * (attention + feed_forward + norms)
    assert [row.estimated for row in rows] == [None, weights, weights + activation_bytes(small, load), None, None]


def test_an_exercise_that_fails_leaves_the_rows_blank(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device runs out of memory: the reason is said, and no figure is made up."""

    def full() -> None:
        raise RuntimeError("out of memory")

    counters = SimpleNamespace(is_available=lambda: True, mem_get_info=full, __name__="torch.cuda")
    monkeypatch.setattr(estimate_memory, "torch_here", lambda: SimpleNamespace(cuda=counters))
    rows, why = observe()
    assert rows == [Row(moment) for moment in MOMENTS]
    assert why is not None
    assert "RuntimeError" in why


def test_the_exercise_on_a_gpu() -> None:
    """Allocated is at least the weights, reserved at least what is allocated, the device at least what is reserved."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    rows, why = observe()
    assert why is None
    for row in rows:
        assert (row.allocated or 0) <= (row.reserved or 0) <= (row.device or 0) or row.moment == "peak"
    assert (rows[1].allocated or 0) - (rows[0].allocated or 0) >= (rows[1].estimated or 0)
    assert (rows[2].allocated or 0) >= (rows[2].estimated or 0)


def test_a_table_never_adds_its_columns() -> None:
    """Three columns, each with its own name, in bytes as they were read."""
    shown = table([Row("before", None, 2**20, 2**21, 2**22)]).splitlines()
    assert shown[1].split() == ["Before", "\N{EN DASH}", "1.00", "MiB", "2.00", "MiB", "4.00", "MiB"]
