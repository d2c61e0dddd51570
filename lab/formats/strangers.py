"""Files that people take for results of a measurement, and what they look like: named when they are refused."""

from __future__ import annotations

from collections.abc import Mapping

from lab.formats.base import Source, of

# Name of the tool or file -> keys that all stand at the top of its JSON; the first that fits is named.
_BY_KEYS: Mapping[str, frozenset[str]] = {
    "pytest-benchmark": frozenset({"machine_info", "benchmarks"}),
    "Google Benchmark": frozenset({"context", "benchmarks"}),
    "SGLang `bench_serving`": frozenset({"completed", "mean_e2e_latency_ms"}),
    "NVIDIA GenAI-Perf or AIPerf": frozenset({"request_throughput", "request_latency"}),
    "lm-evaluation-harness": frozenset({"results", "configs", "versions"}),
    "optimum-benchmark `benchmark_config.json`": frozenset({"scenario", "backend", "launcher"}),
    "GPU Decision Lab `decision.json`": frozenset({"schema_version", "campaign", "report_version"}),
    "GPU Decision Lab `attempt.json`": frozenset({"schema", "attempt", "details"}),
    "GPU Decision Lab `seal.json`": frozenset({"schema", "sealed"}),
    "Hugging Face `config.json`": frozenset({"model_type"}),
    "Hugging Face `tokenizer.json`": frozenset({"model", "added_tokens"}),
    "Hugging Face `trainer_state.json`": frozenset({"log_history", "global_step"}),
    "Jupyter notebook": frozenset({"cells", "nbformat"}),
    "GeoJSON": frozenset({"type", "features"}),
    "`package.json`": frozenset({"name", "dependencies"}),
    "Chrome trace (`torch.profiler`)": frozenset({"traceEvents"}),
    "vLLM `*.pytorch.json`": frozenset({"benchmark", "model", "metric"}),
    "asv": frozenset({"commit_hash", "env_name", "results"}),
}
_MOST_KEYS = 8


def looks_like(source: Source) -> tuple[str | None, list[str]]:
    """The name of what the JSON looks like (None: nothing known), and the first of its keys."""
    value = source.json
    if isinstance(value, list):
        value = value[0] if value else {}
    keys = set(of(value))
    name = next((name for name, wanted in _BY_KEYS.items() if wanted <= keys), None)
    return name, [str(one) for one in list(of(value))[:_MOST_KEYS]]


def is_empty(source: Source) -> bool:
    """Whether the JSON holds nothing at all: an empty object, list or list of results."""
    value = source.json
    return value in ({}, []) or of(value).get("results") == []
