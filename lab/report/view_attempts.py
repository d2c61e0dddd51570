"""Every attempt as a section of the page: a table to sort, search and filter, and the evidence behind each row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from lab.analysis.statistics import smallest_sample
from lab.messages import DASH
from lab.report.blocks import Block, Choice, Column, Fold, Section, Text
from lab.report.document_plain import Json
from lab.report.paging import Stack, entries, entry_id, said, table, tools
from lab.report.words import Words

_Key = TypeVar("_Key", bound=Hashable)
_Peaks = tuple[tuple[str, tuple[int | None, ...]], ...]
_Ids = tuple[tuple[int, ...], tuple[str, ...]]
_Populations = tuple[tuple[str, int, float, float, float, tuple[float | None, ...]], ...]

_PERCENTILES = (90, 95, 99)
_SECONDS, _NUMBERS = ("duration", "elapsed"), ("round", "completed_inputs", "duration", "elapsed", "metric_value")
_FILTERED = ("variant", "corpus", "outcome", "verdict")
_STATE = {"accepted": "passed", "rejected": "failed", "unassessed": "unknown"}
_EVIDENCE = "evidence"
_COUNTED = ("expected", "observed", "duplicates", "missing", "unexpected")
_EXAMPLES = ("first_duplicates", "first_missing", "first_unexpected")
_COUNTERS = ("peak_allocated_bytes", "peak_reserved_bytes", "peak_device_bytes")


def attempts(document: Json, words: Words) -> Section:
    """Every attempt, failures like the others, with what decided its verdict and what lies behind it."""
    title, intro = words.text("attempts.title"), words.text("attempts.intro")
    found = document["attempts"]
    if not found:
        return Section("attempts", title, intro, (Text(words.text("attempts.none")),))
    stacks = _stacks(document, words)
    controls = tools(words, _choices(stacks))
    rows = table("attempts-table", words.text("attempts.caption"), list(stacks.values()), controls, words)
    behind = entries(_EVIDENCE, [one["attempt_id"] for one in found], _evidence(found, words))
    blocks: tuple[Block, ...] = (
        rows,
        Text(words.text("attempts.evidence")),
        Fold(words.text("evidence.title"), (behind,)),
    )
    return Section("attempts", title, intro, blocks)


def _stacks(document: Json, words: Words) -> dict[str, Stack]:
    found, column = document["attempts"], _columns(words)
    duration, elapsed = (words.seconds([one[name] for one in found]) for name in ("duration_s", "elapsed_s"))
    sizes = {one["id"]: one["size"] for one in document["corpora"]}
    verdicts = [one["corpus_accepted"] for one in found]
    done = [(one["completed_inputs"], sizes.get(one["corpus"])) for one in found]
    outcomes = [(one["outcome"], one["declared"]) for one in found]

    def numbers(name: str, field: str, write: Callable[[float | None], str]) -> Stack:
        values = [one[field] for one in found]
        return Stack(column(name), said(values, write), sort=_order(values))

    stacks = {
        "attempt": Stack(
            column("attempt"), [one["attempt_id"] for one in found], [words.moment(one["started_at"]) for one in found],
            sort=[one["started_at"] for one in found], mono=True,
            href=[f"#{entry_id(_EVIDENCE, place)}" for place in range(len(found))],
        ),
        "variant": Stack(column("variant"), [one["variant"] or DASH for one in found]),
        "corpus": Stack(column("corpus"), [one["corpus"] or DASH for one in found]),
        "round": numbers("round", "round", lambda value: words.messages.number(value, 0)),
        "outcome": Stack(column("outcome"), said(outcomes, _outcome(words))),
        "verdict": Stack(
            column("verdict"), said(verdicts, lambda one: words.shared(f"verdictword.{one}") if one else DASH),
            state=[_STATE.get(one) for one in verdicts],
        ),
        "completed_inputs": Stack(
            column("completed_inputs"), said(done, _completed(words)), sort=_order([one for one, _ in done])),
        "duration": numbers("duration", "duration_s", duration),
        "elapsed": numbers("elapsed", "elapsed_s", elapsed),
        "metric_value": numbers("metric_value", "metric_value", words.ratio),
        "why": Stack(column("why"), [_why(one, words) for one in found], [one["notes"] for one in found]),
    }  # fmt: skip
    if len(document["corpora"]) < 2:  # noqa: PLR2004  (one corpus: its column would say nothing)
        del stacks["corpus"]
    return stacks


def _columns(words: Words) -> Callable[[str], Column]:
    return lambda name: Column(
        words.text(f"column.{name}"), "s" if name in _SECONDS else None, numeric=name in _NUMBERS
    )


def _choices(stacks: dict[str, Stack]) -> list[Choice]:
    found = []
    for place, (name, stack) in enumerate(stacks.items()):
        options = tuple(dict.fromkeys(stack.text)) if name in _FILTERED else ()
        if len(options) > 1:
            found.append(Choice(stack.column.label, place, options))
    return found


def _evidence(found: Sequence[Json], words: Words) -> list[tuple[str, list[str | None]]]:
    """Where the record is, and everything by which it can be checked; absent ones are None."""
    none_kept, declared = words.text("evidence.no_predictions"), words.text("evidence.declared")
    decisions = [one["verdict"] and repr(one["verdict"]["message"]) for one in found]
    verdicts = {text: one["verdict"] for text, one in zip(decisions, found, strict=True) if text}
    values: dict[str, list[str | None]] = {
        "folder": [
            declared if one["declared"] and not one["provenance"] else f"attempts/{one['attempt_id']}/" for one in found
        ],
        "imported": _shown(
            [one["provenance"] and (one["provenance"]["file"], one["provenance"]["tool"]) for one in found],
            lambda source: words.text("evidence.from", file=source[0], tool=source[1]),
        ),
        "latencies": _shown([_spread(one["populations"]) for one in found], lambda held: _said_spread(held, words)),
        "predictions": [one["predictions_path"] or none_kept for one in found],
        "sha256": [one["predictions_sha256"] for one in found],
        "ids": _shown([one["evidence"] and _ids(one["evidence"]) for one in found], lambda ids: _said_ids(ids, words)),
        "trouble": [words.say_fault(fault) if (fault := one["evidence_fault"]) else None for one in found],
        "decided": _shown(decisions, lambda text: words.say(verdicts[text])),
        "memory": _shown([_peaks(one["devices"]) for one in found], lambda peaks: _memory(peaks, words)),
        "environment": [one["environment"] for one in found],
        "seal": [one["seal"] for one in found],
    }  # fmt: skip
    return [(words.text(f"evidence.{name}"), of) for name, of in values.items()]


def _shown(raw: Sequence[_Key | None], say: Callable[[_Key], str]) -> list[str | None]:
    return [one or None for one in said(raw, lambda key: say(key) if key else "")]


def _ids(evidence: Json) -> _Ids:
    examples = (one for name in _EXAMPLES for one in evidence[name])
    return tuple(evidence[name] for name in _COUNTED), tuple(examples)


def _said_ids(ids: _Ids, words: Words) -> str:
    counts, examples = ids
    text = words.text("evidence.counts", **dict(zip(_COUNTED, counts, strict=True)))
    return words.text("colon", before=text, after=", ".join(examples)) if examples else text


def _spread(populations: Sequence[Json]) -> _Populations:
    return tuple(
        (
            one["name"], one["count"], one["median_s"], one["min_s"], one["max_s"],
            tuple(one[f"p{percent}_s"] for percent in _PERCENTILES),
        )
        for one in populations
    )  # fmt: skip


def _said_spread(held: _Populations, words: Words) -> str:
    """Each population of latencies by its name: they are no durations of passes, and are in no figure or chart.

    With the percentiles that it carries; of those that it does not, how many values the next one takes.
    """
    found = []
    for name, count, median, low, high, percentiles in held:
        parts = [words.text("evidence.population", name=name, count=count, median=median, low=low, high=high)]
        for percent, value in zip(_PERCENTILES, percentiles, strict=True):
            needed = smallest_sample(percent / 100)
            if value is None and count < needed:
                parts.append(words.text("evidence.percentile.too_few", percent=percent, needed=needed))
                break
            if value is not None:
                parts.append(words.text("evidence.percentile", percent=percent, value=value))
        found.append(", ".join(parts))
    return "; ".join(found)


def _peaks(devices: Sequence[Json]) -> _Peaks:
    return tuple((one["device"], tuple(one[name] for name in _COUNTERS)) for one in devices)


def _memory(peaks: _Peaks, words: Words) -> str:
    """Each device with each counter by its name: nothing is added up."""
    parts = []
    for device, values in peaks:
        counted = [
            f"{words.text(f'memory.{name}')} {words.size(value)}"
            for name, value in zip(_COUNTERS, values, strict=True)
            if value is not None
        ]
        parts.append(words.text("colon", before=device, after=", ".join(counted)) if counted else device)
    return "; ".join(parts)


def _order(values: Sequence[float | None]) -> list[str]:
    return ["" if value is None else repr(value) for value in values]


def _outcome(words: Words) -> Callable[[tuple[str | None, bool]], str]:
    def say(one: tuple[str | None, bool]) -> str:
        outcome, declared = one
        shown = words.shared(f"outcome.{outcome}") if outcome else words.text("running")
        return words.text("declared_only", outcome=shown) if declared else shown

    return say


def _completed(words: Words) -> Callable[[tuple[int | None, int | None]], str]:
    def say(one: tuple[int | None, int | None]) -> str:
        done, expected = one
        if done is None:
            return DASH
        return words.messages.number(done, 0) if expected is None else words.text("of", part=done, whole=expected)

    return say


def _why(one: Json, words: Words) -> str:
    if one["corpus_accepted"] == "accepted" and not one["excluded"] and not one["ended_because"]:
        return DASH
    parts = [words.say(one["ended_because"])] if one["ended_because"] else []
    if (
        one["verdict"]
        and one["verdict"]["verdict"] != "accepted"
        and not (one["ended_because"] and one["verdict"]["control"] == "outcome")
    ):
        parts.append(words.say(one["verdict"]))
    if one["excluded"]:
        parts.append(words.text("left_out"))
    return " ".join(parts) or DASH
