"""Files of other tools as these tests write them, and a short way to have one read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from lab.errors import Fault, InvalidInputError
from lab.exchange.sheet_rows import sheet_rows
from lab.formats import Choices, Reading, Source, recognise


def source(content: object, name: str = "result.json", folder: str = "here") -> Source:
    """A file with this content: bytes and text as they are, anything else as JSON."""
    data = content if isinstance(content, bytes) else None
    if data is None:
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
    return Source(name, folder, data, hashlib.sha256(data).hexdigest(), partial(sheet_rows, data, name))


def read(content: object, choices: Choices | None = None) -> tuple[str, Reading]:
    """The format that a file is recognised as, and what it gives."""
    one, asked = source(content), choices or Choices()
    kind = recognise(one, asked)
    return kind.name, kind.read([one], asked)


def faults(content: object, choices: Choices | None = None) -> tuple[Fault, ...]:
    """Everything for which a file is refused."""
    try:
        read(content, choices)
    except InvalidInputError as error:
        return error.faults
    return ()


def slugs(content: object, choices: Choices | None = None) -> list[str]:
    """The slugs of these faults."""
    return [one.slug for one in faults(content, choices)]


def cells(reading: Reading, *names: str) -> list[tuple[Any, ...]]:
    """The named columns of each raw value."""
    return [tuple(one.cells.get(name) for name in names) for one in reading.found]


def latency(values: Sequence[float], **more: object) -> dict[str, object]:
    """A latency as optimum-benchmark writes it."""
    mean = sum(values) / len(values) if values else 0.0
    return {"unit": "s", "values": list(values), "count": len(values), "total": sum(values), "mean": mean, "p50": mean,
            "stdev": 0, **more}  # fmt: skip


def hyperfine(**changes: object) -> dict[str, Any]:
    """One command of hyperfine 1.20, three runs."""
    base: dict[str, object] = {
        "command": "python run.py", "mean": 10.2, "stddev": 0.1, "median": 10.2, "user": 9.0, "system": 0.5,
        "min": 10.1, "max": 10.3, "times": [10.1, 10.2, 10.3], "memory_usage_byte": [104857600, 104857600, 104857600],
        "exit_codes": [0, 0, 0],
    }  # fmt: skip
    return {"results": [_changed(base, changes)]}


def hyperfine_2(**changes: object) -> dict[str, Any]:
    """One command of hyperfine 2.0 (`schema_version` 2), two runs."""
    base: dict[str, object] = {
        "command": "python run.py",
        "name": "batch 8",
        "measurements": [
            {"time_wall_clock": {"value": time, "unit": "second"}, "time_user": {"value": 9.0, "unit": "second"},
             "memory_peak_resident": {"value": 104857600, "unit": "byte"}, "exit_code": 0}
            for time in (10.1, 10.2)
        ],
        "summary": {"time_wall_clock": {"unit": "second", "count": 2, "mean": 10.15, "stddev": 0.07, "median": 10.15,
                                        "min": 10.1, "max": 10.2}},
    }  # fmt: skip
    metadata = {"hyperfine_version": "2.0.0", "start_time": "2026-11-30T17:20:47Z", "platform": {"os": "Linux"}}
    whole = {"schema_version": 2, "metadata": metadata, "primary_metric": "time_wall_clock"}
    return {**whole, "results": [_changed(base, changes)]}


def optimum(**changes: object) -> dict[str, Any]:
    """`benchmark.json` of optimum-benchmark 0.6 on one card."""
    base: dict[str, object] = {
        "config": {
            "name": "cuda_pytorch_bert",
            "backend": {"name": "pytorch", "model": "bert", "device": "cuda", "device_ids": "0"},
            "environment": {"optimum_benchmark_version": "0.6.0", "gpu": ["NVIDIA GeForce RTX 4090"]},
        },
        "report": {
            "load": {"latency": latency([15.5]), "memory": None, "throughput": None, "energy": None},
            "forward": {
                "latency": latency([0.11, 0.12, 0.13]),
                "memory": {"unit": "MB", "max_ram": 900.5, "max_global_vram": 1200.5, "max_process_vram": None,
                           "max_reserved": 800.25, "max_allocated": 700.125},
                "throughput": {"unit": "samples/s", "value": 66.0},
                "energy": {"unit": "kWh", "cpu": 0.001, "ram": 0.0001, "gpu": 0.002, "total": 0.0031},
                "efficiency": None,
            },
        },
    }  # fmt: skip
    return _changed(base, changes)


def serving(**changes: object) -> dict[str, Any]:
    """`vllm bench serve --save-result --save-detailed` of vLLM (2026): two requests."""
    base: dict[str, object] = {
        "date": "20261130-172047", "endpoint_type": "vllm", "model_id": "m", "num_prompts": 2, "request_rate": "inf",
        "duration": 4.5, "completed": 2, "failed": 0, "total_input_tokens": 20, "total_output_tokens": 6,
        "request_throughput": 0.44, "output_throughput": 1.3, "total_token_throughput": 5.7, "input_lens": [10, 10],
        "output_lens": [3, 3], "ttfts": [0.2, 0.4], "itls": [[0.1, 0.1], [0.2, 0.2]], "generated_texts": ["a", "b"],
        "errors": ["", ""], "mean_ttft_ms": 300.0, "median_ttft_ms": 300.0,
    }  # fmt: skip
    return _changed(base, changes)


def guide(**changes: object) -> dict[str, Any]:
    """`benchmarks.json` of guidellm 0.8.1, version 2: one benchmark of two requests."""
    request = {
        "request_latency": 1.5,
        "time_to_first_token_ms": 250.0,
        "request_start_time": 1.0,
        "request_end_time": 2.5,
    }
    base: dict[str, object] = {
        "type_": "generative_benchmark",
        "config": {"strategy": {"type_": "synchronous"}},
        "start_time": 1_796_000_000.0, "end_time": 1_796_000_003.5, "duration": 3.5,
        "scheduler_metrics": {
            "start_time": 1_796_000_000.0, "measure_start_time": 1_796_000_000.0, "measure_end_time": 1_796_000_003.5,
            "requests_made": {"successful": 2, "incomplete": 0, "errored": 0, "total": 2},
        },
        "requests": {"successful": [request, {**request, "request_latency": 2.0}], "incomplete": [], "errored": []},
    }  # fmt: skip
    return {
        "metadata": {"version": 2, "guidellm_version": "0.8.1"},
        "config": {},
        "benchmarks": [_changed(base, changes)],
    }


SUMMARY = """\
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 4
Result is : VALID
  Min duration satisfied : Yes
  Min queries satisfied : Yes
  Early stopping satisfied: Yes

================================================
Additional Stats
================================================
Min latency (ns)                : 1000000000
Max latency (ns)                : 10000000000
Mean latency (ns)               : 5500000000
50.00 percentile latency (ns)   : 5000000000

================================================
Test Parameters Used
================================================
samples_per_query : 40
target_qps : 1
"""

EMISSIONS_HEADER = (
    "timestamp,project_name,run_id,experiment_id,duration,emissions,emissions_rate,cpu_power,gpu_power,ram_power,"
    "cpu_energy,gpu_energy,ram_energy,energy_consumed,country_name,codecarbon_version,gpu_count,gpu_model,tracking_mode"
)


def emissions(*rows: tuple[object, ...], zone: str = "") -> str:
    """`emissions.csv` of codecarbon 2 to 3: (project, run, seconds, kWh) a row."""
    lines = [
        f"2026-11-30T17:20:47{zone},{project},{run},e,{seconds},0.001,0.0001,42.5,250,10,0.001,{kwh},0.0001,{kwh},Italy,3.3.2,1,"
        "1 x NVIDIA GeForce RTX 4090,machine"
        for project, run, seconds, kwh in rows
    ]
    return "\n".join([EMISSIONS_HEADER, *lines]) + "\n"


def _changed(base: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, Any]:
    """The base with these keys changed; `...` takes one away."""
    return {key: value for key, value in {**base, **changes}.items() if value is not ...}
