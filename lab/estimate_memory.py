"""What a model needs of a card's memory by formula, and what PyTorch counts there: one file, the standard library only.

Fill in the settings below, then `python estimate_memory.py` (3.10 or newer). PyTorch is needed for the observation
alone: without it, or without a GPU, that stays blank. Each `# %%` begins a cell of the notebook, which is made from
this file. Inside `lab` it is the very code that warns before a card is rented.
"""

# %% [start]
from __future__ import annotations

import json
import math
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

GIB, MIB = 1024**3, 1024**2
# What is printed, in one language.
TEXTS = {
    "decimal_mark": ".",
    "gib": "{value} GiB",
    "mib": "{value} MiB",
    "line": "{what}: {value}",
    "absent": "{what}: not installed",
    "card": "Card {number}: {name}, {memory} in all",
    "no_torch": "PyTorch is not installed here.",
    "no_gpu": "PyTorch sees no GPU here.",
    "failed": "The exercise ended with an error: {error}.",
    "no_model": "No size can be read in {folder}: config.json is missing, or names its sizes in another way.",
    "no_weights": "No weights can be counted in {folder}: safetensors files are missing or cannot be read.",
    "load": "For: {precision}, attention {attention}, batch {batch}, inputs of {length} tokens, new tokens: {new}",
    "weights": "Weights",
    "activations": "Activations, the largest at one moment",
    "cache": "Keys and values kept (KV cache)",
    "no_cache": "none, since nothing is generated",
    "least": "Needed at least, by formula",
    "fits": "The card states {memory}. By formula alone it could fit; only a pass of your model shows it.",
    "too_large": "The card states {memory}. By formula alone it cannot fit.",
    "blank": "The observation stays blank: nothing was counted, and an absence is not a 0.",
    "moment": "Moment",
    "estimated": "By formula",
    "allocated": "allocated",
    "reserved": "reserved",
    "device": "whole device",
    "before": "Before",
    "loaded": "Weights loaded",
    "peak": "Peak of one pass",
    "freed": "Weights deleted",
    "returned": "Cache emptied",
}


def text(name: str, /, **facts: object) -> str:
    """A line to print, with its facts in place."""
    return TEXTS[name].format(**facts)


def amount(count: int | None, unit: str | None = None) -> str:
    """Bytes in GiB, or in MiB below one, with two decimals; a dash when absent, and never 0 for what is not 0."""
    if count is None:
        return "\N{EN DASH}"
    unit = unit or ("mib" if count < GIB else "gib")
    value = count / (GIB if unit == "gib" else MIB)
    written = "<0.01" if count and round(value, 2) == 0 else f"{value:.2f}"
    return text(unit, value=written.replace(".", TEXTS["decimal_mark"]))


if __name__ == "__main__" and hasattr(sys.stdout, "reconfigure"):  # a notebook's output has an encoding of its own
    sys.stdout.reconfigure(encoding="utf-8")


# %% [environment]
def torch_here() -> Any:
    """PyTorch, or None where it cannot be imported."""
    try:
        import torch
    except (ImportError, OSError):  # OSError: a library it needs is not there
        return None
    return torch


def counters_of(torch: Any) -> Any:
    """The part of PyTorch that counts a GPU's memory (`torch.cuda`, which is ROCm's too, or `torch.xpu`), or None."""
    for kind in ("cuda", "xpu"):
        found = getattr(torch, kind, None)
        if found is not None and found.is_available():
            return found
    return None


def environment() -> list[str]:
    """Python, system, packages and cards, a line each."""
    lines = [text("line", what="Python", value=f"{platform.python_version()}, {platform.system()}")]
    for package in ("torch", "transformers", "safetensors"):
        try:
            lines.append(text("line", what=package, value=metadata.version(package)))
        except metadata.PackageNotFoundError:
            lines.append(text("absent", what=package))
    torch = torch_here()
    counters = counters_of(torch)
    if counters is None:
        return [*lines, text("no_torch" if torch is None else "no_gpu")]
    for number in range(counters.device_count()):
        card = counters.get_device_properties(number)
        lines.append(text("card", number=number, name=card.name, memory=amount(card.total_memory)))
    return lines


if __name__ == "__main__":
    print("\n".join(environment()))


# %% [settings]
@dataclass(frozen=True)
class Shape:
    """Sizes of a transformer: layers, width, heads of queries and of keys and values, inner width of a layer.

    `positions`: the longest input the model takes, in tokens; None: not stated.
    """

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_width: int
    inner: int
    positions: int | None = None


@dataclass(frozen=True)
class Weights:
    """How many floating-point numbers are stored, and the bytes of what is stored in another form, as it stands."""

    numbers: int
    other_bytes: int = 0


@dataclass(frozen=True)
class Load:
    """How the model is used: `attention` is eager, sdpa or flash; `new_tokens` are written by a model that generates.

    `precision` is fp32, bf16, fp16 or int8. One batch is `batch` inputs of `length` tokens.
    """

    precision: str = "bf16"
    attention: str = "sdpa"
    batch: int = 8
    length: int = 512
    new_tokens: int = 0


# Fill in here. MODEL_FOLDER holds config.json and safetensors files; while it is empty, the sizes below are used.
MODEL_FOLDER = ""
SHAPE = Shape(layers=12, width=768, heads=12, kv_heads=12, head_width=64, inner=3072)  # BERT base: arXiv:1810.04805, 3
WEIGHTS = Weights(110_000_000)  # the same paper and section
LOAD = Load(precision="bf16", attention="sdpa", batch=8, length=512, new_tokens=0)
CARD_GIB: float | None = None  # what the maker states for one card, such as 24; None: not known


# %% [weights]
BYTES_EACH = {"fp32": 4, "bf16": 2, "fp16": 2, "int8": 1}
_FLOATS = ("F64", "F32", "F16", "BF16")
_LONGEST_HEADER = 100_000_000  # bytes; the format's own limit


def weight_bytes(weights: Weights, precision: str) -> int:
    """Numbers stored x bytes each. For int8 it is the least: what is not in a linear layer stays wider.

    Sources: IEEE 754 and bfloat16 for the bytes; safetensors' "Format" for what is counted in a model's files,
    https://huggingface.co/docs/safetensors/index#format.
    """
    return weights.numbers * BYTES_EACH[precision] + weights.other_bytes


def read_weights(folder: Path) -> Weights | None:
    """Count the numbers in a model's safetensors files by their headers, without loading them; None: cannot be read."""
    try:
        index = folder / "model.safetensors.index.json"
        listed = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values() if index.is_file() else ()
        names = sorted({*listed}) or ["model.safetensors"]
        if any(Path(name).name != name for name in names):  # a list of files must not lead out of the folder
            return None
        tensors = [one for name in names for one in _header(folder / name)]
        kept = [(one["dtype"], math.prod(one["shape"]), one["data_offsets"]) for one in tensors]
        numbers = sum(count for kind, count, _ in kept if kind in _FLOATS)
        other = sum(end - start for kind, _, (start, end) in kept if kind not in _FLOATS)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Weights(numbers, other)


def _header(path: Path) -> list[dict[str, Any]]:
    """The tensors that a safetensors file says it holds: 8 bytes with a length, then JSON of that length."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= _LONGEST_HEADER:
            raise ValueError(length)
        held = json.loads(file.read(length))
    return [one for name, one in held.items() if name != "__metadata__"]


# What different models call the same size in config.json.
_NAMES = {
    "layers": ("num_hidden_layers", "n_layers", "n_layer", "num_layers"),
    "width": ("hidden_size", "dim", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_heads", "n_head", "num_heads"),
    "inner": ("intermediate_size", "hidden_dim", "n_inner", "d_ff", "ffn_dim"),
    "kv_heads": ("num_key_value_heads",),
    "head_width": ("head_dim", "d_kv"),
    "positions": ("max_position_embeddings", "n_positions"),
}


def read_shape(folder: Path) -> Shape | None:
    """The sizes in a model's `config.json`; None where one of them is not there under a name that is known."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config = {**config, **(config.get("text_config") or {})}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    found = {size: next((config[name] for name in names if config.get(name)), None) for size, names in _NAMES.items()}
    sizes = {size: value for size, value in found.items() if isinstance(value, int) and value > 0}
    if not {"layers", "width", "heads", "inner"} <= sizes.keys():
        return None
    usual = {"kv_heads": sizes["heads"], "head_width": sizes["width"] // sizes["heads"]}
    return Shape(**{**usual, **sizes})


if __name__ == "__main__":
    at = Path(MODEL_FOLDER)
    shape, weights = (read_shape(at), read_weights(at)) if MODEL_FOLDER else (SHAPE, WEIGHTS)
    if shape is None:
        print(text("no_model", folder=MODEL_FOLDER))
    if weights is None:
        print(text("no_weights", folder=MODEL_FOLDER))
    weighed = None if weights is None else weight_bytes(weights, LOAD.precision)
    print(text("line", what=text("weights"), value=amount(weighed)))


# %% [activations]
def activation_bytes(shape: Shape, load: Load) -> int:
    """The least that the tensors of one layer hold at one moment of a forward pass without gradients.

    In attention: the layer's input, queries, keys, values and what comes of them, and with `eager` the scores of every
    pair of tokens, before and after the softmax. In the feed-forward part: the layer's input and the inner width, once,
    since its function may work in place. The larger of the two counts: the one is freed before the other begins.

    Sources: Vaswani et al. 2017, arXiv:1706.03762, 3.2 and 3.3 (which tensors there are); Korthikanti et al. 2022,
    arXiv:2205.05198, 4.1 (their sizes; what only training keeps is left out); Dao et al. 2022, arXiv:2205.14135 (the
    scores grow with the square of the length, and a fused kernel never writes them whole); Ainslie et al. 2023,
    arXiv:2305.13245 (fewer heads of keys and values).
    """
    scores = 2 * shape.heads * load.length if load.attention == "eager" else 0
    attention = shape.width + 2 * (shape.heads + shape.kv_heads) * shape.head_width + scores
    feed_forward = shape.width + shape.inner
    each = max(BYTES_EACH[load.precision], 2)  # int8 is for weights: activations stay at 16 bits or more
    return load.batch * load.length * max(attention, feed_forward) * each


if __name__ == "__main__":
    active = None if shape is None else activation_bytes(shape, LOAD)
    print(text("line", what=text("activations"), value=amount(active)))


# %% [cache]
def cache_bytes(shape: Shape, load: Load) -> int:
    """Keys and values of every layer and token, kept while a model generates; 0 when it does not.

    2 (keys and values) x layers x heads of keys and values x width of a head x tokens x inputs x bytes.

    Sources: Kwon et al. 2023, arXiv:2309.06180, 3 (800 kB a token for OPT-13B at 16 bits); Pope et al. 2022,
    arXiv:2211.05102, 2; Ainslie et al. 2023, arXiv:2305.13245.
    """
    if not load.new_tokens:
        return 0
    tokens = (load.length + load.new_tokens) * load.batch
    return 2 * shape.layers * shape.kv_heads * shape.head_width * tokens * max(BYTES_EACH[load.precision], 2)


@dataclass(frozen=True)
class Estimate:
    """Bytes by formula on one card; None: what it is computed from is not known."""

    weights: int | None
    activations: int | None
    cache: int | None

    @property
    def least(self) -> int | None:
        """What is needed at the same moment, so that it may be added; None as soon as one part is not known."""
        parts = (self.weights, self.activations, self.cache)
        return None if None in parts else sum(part or 0 for part in parts)


def estimate(shape: Shape | None, weights: Weights | None, load: Load) -> Estimate:
    """Weights, activations and cache of one process on one card; the driver's own share and all else are left out."""
    return Estimate(
        None if weights is None else weight_bytes(weights, load.precision),
        None if shape is None else activation_bytes(shape, load),
        None if shape is None else cache_bytes(shape, load),
    )


if __name__ == "__main__":
    found = estimate(shape, weights, LOAD)
    print(text("load", **{**vars(LOAD), "new": LOAD.new_tokens}))
    for part in ("weights", "activations", "cache", "least"):
        none = part == "cache" and not LOAD.new_tokens
        print(text("line", what=text(part), value=text("no_cache") if none else amount(getattr(found, part))))
    if CARD_GIB is not None and found.least is not None:
        stated = round(CARD_GIB * GIB)
        print(text("fits" if found.least <= stated else "too_large", memory=amount(stated)))


# %% [observation]
@dataclass(frozen=True)
class Row:
    """What three counters say at one moment, in bytes: three different things, never added; None: not counted."""

    moment: str
    estimated: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    device: int | None = None


EXERCISE = Shape(layers=4, width=1024, heads=16, kv_heads=16, head_width=64, inner=4096)
EXERCISE_LOAD = Load(precision="fp32", attention="sdpa", batch=8, length=512)
MOMENTS = ("before", "loaded", "peak", "freed", "returned")


def exercise(torch: Any, counters: Any, device: str) -> list[Row]:
    """Load a small model with random weights on the device, run one batch, delete it; read the counters at each step.

    `memory_allocated`: this process's tensors. `memory_reserved`: what its allocator holds, those tensors included.
    `mem_get_info`: total less free, as the driver counts the whole device, other programs and the driver's own share
    included. Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management.
    """

    def row(moment: str, estimated: int | None = None, prefix: str = "") -> Row:
        free, total = counters.mem_get_info()
        allocated, reserved = (getattr(counters, f"{prefix}memory_{name}")() for name in ("allocated", "reserved"))
        return Row(moment, estimated, allocated, reserved, total - free)

    rows = [row("before")]
    sizes = (EXERCISE.width, EXERCISE.heads, EXERCISE.inner)
    layer = torch.nn.TransformerEncoderLayer(*sizes, dropout=0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, EXERCISE.layers).eval().to(device)
    weights = Weights(sum(one.numel() for one in model.parameters()))
    by_formula = estimate(EXERCISE, weights, EXERCISE_LOAD)
    rows.append(row("loaded", by_formula.weights))
    counters.reset_peak_memory_stats()
    with torch.inference_mode():
        answer = model(torch.zeros(EXERCISE_LOAD.batch, EXERCISE_LOAD.length, EXERCISE.width, device=device))
    counters.synchronize()
    rows.append(row("peak", by_formula.least, "max_"))  # the device has no peak of its own here: what it counts now
    del model, layer, answer
    rows.append(row("freed"))
    counters.empty_cache()
    return [*rows, row("returned")]


def observe() -> tuple[list[Row], str | None]:
    """The exercise's rows; blank ones, and why, where there is no PyTorch, no GPU, or the exercise fails."""
    torch = torch_here()
    counters = counters_of(torch)
    why = text("no_torch" if torch is None else "no_gpu")
    if counters is not None:
        try:
            return exercise(torch, counters, counters.__name__.rpartition(".")[2]), None
        except RuntimeError as error:  # out of memory too
            why = text("failed", error=type(error).__name__)
    return [Row(moment) for moment in MOMENTS], why


def table(rows: list[Row]) -> str:
    """The rows in columns; what was not counted is a dash."""
    lines = [[text(name) for name in ("moment", "estimated", "allocated", "reserved", "device")]]
    for one in rows:
        read = (one.estimated, one.allocated, one.reserved, one.device)
        lines.append([text(one.moment), *(amount(count, "mib") for count in read)])
    widths = [max(map(len, column)) for column in zip(*lines)]  # noqa: B905  (lines of one length)
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))])  # noqa: B905
        for line in lines
    )


if __name__ == "__main__":
    rows, why_blank = observe()
    print(table(rows))
    if why_blank:
        print(why_blank, text("blank"))
