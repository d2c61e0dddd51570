"""Which format a file is, by its content; what is none is refused by name, and no content breaks a reader."""

from __future__ import annotations

import contextlib
import copy
import json
import math
from typing import Any

import pytest
from foreign import SUMMARY, emissions, faults, guide, hyperfine, hyperfine_2, optimum, read, serving, slugs, source
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.errors import InvalidInputError
from lab.formats import FORMATS, Choices, recognise
from lab.formats.units import Units, joules

_BASES = (
    hyperfine(),
    hyperfine_2(),
    optimum(),
    serving(),
    guide(),
    {"elapsed_time": 1.5, "num_requests": 3, "requests_per_second": 2},
)
_ODD = (None, "", "x", "1.5", -1, 0, 1e308, math.nan, True, [], {}, [1, "2"], {"a": 1})


@pytest.mark.parametrize("content", [*_BASES, SUMMARY, emissions()], ids=lambda one: str(type(one)))
def test_content_decides_and_never_the_name(content: object) -> None:
    """Every format is recognised under a name that says another."""
    one = source(content, "emissions.csv" if isinstance(content, dict) else "benchmark.json")
    assert sum(kind.matches(one) for kind in FORMATS if kind.name != "table") == 1


@pytest.mark.parametrize("content", _BASES)
def test_a_json_that_was_cut_off_is_said_to_be_so(content: object) -> None:
    """At any length but the whole."""
    whole = json.dumps(content)
    for length in (len(whole) // 3, len(whole) // 2, len(whole) - 1):
        assert [one.slug for one in faults(whole[:length])] in (["import-cut-off"], ["import-not-json"])
    assert slugs(whole[:-1]) == ["import-cut-off"]


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        ({"machine_info": {}, "benchmarks": [{"stats": {"mean": 1}}]}, "pytest-benchmark"),
        ({"context": {}, "benchmarks": [{"real_time": 1}]}, "Google Benchmark"),
        ({"results": {"task": {}}, "configs": {}, "versions": {}}, "lm-evaluation-harness"),
        (
            {"duration": 4.5, "completed": 38, "request_throughput": 0.4, "mean_e2e_latency_ms": 12.0},
            "SGLang `bench_serving`",
        ),
        ({"request_throughput": {"avg": 2.5}, "request_latency": {"avg": 20}}, "NVIDIA GenAI-Perf or AIPerf"),
        ({"model_type": "bert", "hidden_size": 8}, "Hugging Face `config.json`"),
        ({"scenario": {}, "backend": {}, "launcher": {}}, "optimum-benchmark `benchmark_config.json`"),
    ],
)
def test_another_json_is_refused_by_what_it_looks_like(content: object, looks: str) -> None:
    """A person learns what they picked."""
    (refused,) = faults(content)
    assert (refused.slug, refused.values["looks"]) == ("import-other-json", looks)


def test_what_nobody_knows_is_refused_by_its_keys_and_what_is_empty_as_empty() -> None:
    """The first keys are named."""
    (refused,) = faults({"alpha": 1, "beta": 2})
    assert (refused.slug, refused.values["keys"]) == ("import-unknown-json", ["alpha", "beta"])
    assert slugs("") == slugs("  \n") == slugs({}) == slugs({"results": []}) == ["import-empty"]
    assert slugs("one line") == ["import-unknown-text"]
    assert slugs(b'{"a": "\xff"}') == ["file-not-utf8"]


def _places(value: Any, at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:  # noqa: ANN401  (any JSON)
    found = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        found += _places(one, (*at, key))
    return found


@given(data=st.data(), ended=st.sampled_from([None, "completed"]))
@settings(max_examples=200, deadline=None)
def test_a_damaged_value_gives_a_clear_refusal_or_a_sound_reading(data: st.DataObject, ended: Any) -> None:  # noqa: ANN401  (an outcome)
    """Whatever stands in one or two places: no other error, no duration of a failure, none of 0 or infinite."""
    content = copy.deepcopy(data.draw(st.sampled_from(_BASES)))
    for _ in range(data.draw(st.integers(1, 2))):
        places = _places(content)
        if not places:
            break
        *parents, last = data.draw(st.sampled_from(places))
        held: Any = content
        for key in parents:
            held = held[key]
        if data.draw(st.booleans()):
            held[last] = copy.deepcopy(data.draw(st.sampled_from(_ODD)))
        elif isinstance(held, dict):
            del held[last]
    try:
        found = read(content, Choices(ended=ended))[1].found
    except InvalidInputError:
        return
    for one in found:
        duration = one.cells.get("duration_s")
        assert one.cells["outcome"] in ("completed", "failed")
        assert duration is None or (one.cells["outcome"] == "completed" and math.isfinite(duration) and duration > 0)
        assert all(math.isfinite(value) for held in one.populations for value in held.values)


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_refused_or_recognised(data: bytes) -> None:
    """No file can break the recognition."""
    with contextlib.suppress(InvalidInputError):
        kind = recognise(source(data), Choices())
        kind.read([source(data)], Choices(ended="completed"))


@pytest.mark.parametrize(
    ("value", "unit", "seconds"), [(1500, "ms", 1.5), (1.5e9, "ns", 1.5), (2, "min", 120.0), (1.0000004, "s", 1.0)]
)
def test_times_are_converted_exactly_and_rounded_to_the_microsecond(value: float, unit: str, seconds: float) -> None:
    """In decimal arithmetic, once."""
    assert Units().seconds(value, unit).value == seconds


def test_sizes_and_energies_are_converted_exactly() -> None:
    """MB is 10^6 bytes, MiB 2^20; 1 kWh is 3.6 MJ."""
    assert (Units().bytes(1.5, "MB").value, Units().bytes(1.5, "MiB").value) == (1_500_000, 1_572_864)
    assert joules(1, "kWh") == 3_600_000
