"""What the commands print, in the reader's language: plain answers, and the progress of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.errors import Fault
from lab.messages import Messages
from lab.model.reason import Reason

if TYPE_CHECKING:  # what these describe is slow to import, and some commands never need it
    from lab.calcul_forfaits import Answer
    from lab.demo.campaign import DemoResult
    from lab.model.attempt import Slot
    from lab.model.campaign import Campaign, Seal
    from lab.model.decision import Decision, Summary
    from lab.pipeline import Judgement, Status
    from lab.report.versions import Published

FOUND, INVALID = 1, 3


@dataclass(frozen=True)
class Shown:
    """A command's answer: its exit code, its data for `--json`, and its text in a language."""

    code: int
    data: Mapping[str, Any]
    text: Callable[[Messages], str]

    def as_json(self) -> str:
        """The answer as JSON, indented for reading."""
        return json.dumps(self.data, ensure_ascii=False, indent=2)


def fault_data(one: Fault, words: Messages) -> dict[str, object]:
    """A fault as plain data: slug, file, place, facts, and its two sentences."""
    facts = {
        key: value if isinstance(value, int | float | str | None) else str(value) for key, value in one.values.items()
    }
    return {"slug": one.slug, "file": one.file, "place": one.place, "values": facts, "text": words.fault(one)}


def reason_text(one: Reason, words: Messages) -> str:
    """A reason in a language."""
    return words.text(one.key, **one.values)


def initialised(folder: Path) -> Shown:
    """After `lab init`: what was made and what to do next."""
    return Shown(0, {"folder": str(folder)}, lambda words: words.text("screen.initialised", folder=str(folder)))


def checked(folder: Path, campaign: Campaign | None, faults: Sequence[Fault], words: Messages) -> Shown:
    """After `lab check`: every fault with what to do, or that nothing stands in the way."""

    def text(words: Messages) -> str:
        if not faults:
            return words.text("screen.check.nothing")
        return "\n".join([*(words.fault(one) for one in faults), words.count("screen.check.found", len(faults))])

    code = (INVALID if campaign is None else FOUND) if faults else 0
    return Shown(code, {"folder": str(folder), "faults": [fault_data(one, words) for one in faults]}, text)


def sealed(seal: Seal) -> Shown:
    """After `lab seal`: the fingerprint and when it was taken."""
    data = {"fingerprint": seal.fingerprint, "sealed_at": seal.sealed_at}
    return Shown(0, data, lambda words: words.text("screen.sealed", **data))


def planned(slots: Sequence[Slot], left: Sequence[Slot]) -> Shown:
    """`lab run --plan`: each round in the order it runs, and how many passes are left."""
    rounds: dict[tuple[int, str, int], list[str]] = {}
    for slot in slots:
        rounds.setdefault((slot.round, slot.corpus, slot.seed), []).append(slot.variant)

    def text(words: Messages) -> str:
        lines = [
            words.text("screen.plan.round", round=number, corpus=corpus, seed=str(seed), variants=" → ".join(variants))
            for (number, corpus, seed), variants in rounds.items()
        ]
        return "\n".join([*lines, words.text("screen.plan.left", left=len(left), planned=len(slots))])

    as_data = [
        {"variant": s.variant, "corpus": s.corpus, "seed": s.seed, "round": s.round, "position": s.position}
        for s in slots
    ]
    return Shown(0, {"plan": as_data, "left": len(left)}, text)


def judged(judgement: Judgement) -> Shown:
    """After `lab run` or `lab judge`: each variant's passes and durations, the answer, and what was found changed."""
    decision = judgement.decision
    summaries = [summary for variant in decision.variants for summary in variant.summaries]

    def text(words: Messages) -> str:
        lines = [_summary_line(summary, words) for summary in summaries]
        lines += ["", *(answer_lines(decision, words))]
        lines += [words.text("screen.altered", attempt=one) for one in judgement.altered]
        if judgement.fault:
            lines.append(words.fault(judgement.fault))
        return "\n".join(lines)

    data = {
        "status": decision.status,
        "variant": decision.variant,
        "altered": list(judgement.altered),
        "verdicts": {name: verdict.verdict for name, verdict in sorted(decision.verdicts.items())},
        "summaries": [_summary_data(summary) for summary in summaries],
    }
    return Shown(FOUND if judgement.altered else 0, data, text)


def answer_lines(decision: Decision, words: Messages) -> list[str]:
    """The answer in words and its reasons, then what to do next where it is undecided."""
    lines = [words.text(f"status.{decision.status}")]
    lines += [f"  {reason_text(one, words)}" for one in decision.reasons]
    lines += [f"  → {reason_text(one, words)}" for one in decision.next_steps]
    return lines


def _summary_line(summary: Summary, words: Messages) -> str:
    facts = {
        "variant": summary.variant,
        "corpus": summary.corpus,
        "attempts": summary.attempts,
        "accepted": summary.accepted,
        "rejected": summary.rejected,
        "unassessed": summary.unassessed,
        "failed": summary.failed,
    }
    if summary.median_s is None:
        return words.text("screen.summary.none", **facts)
    durations = {
        name: words.number(value, 3)
        for name, value in (("median", summary.median_s), ("low", summary.min_s), ("high", summary.max_s))
    }
    return words.text("screen.summary", **facts, **durations)


def _summary_data(summary: Summary) -> dict[str, object]:
    return {
        "variant": summary.variant,
        "corpus": summary.corpus,
        "seed": summary.seed,
        "attempts": summary.attempts,
        "accepted": summary.accepted,
        "rejected": summary.rejected,
        "unassessed": summary.unassessed,
        "failed": summary.failed,
        "median_s": summary.median_s,
        "min_s": summary.min_s,
        "max_s": summary.max_s,
    }


def reported(published: Published) -> Shown:
    """After `lab report`: the version and where it is, or that nothing changed; then what changed in words."""

    def text(words: Messages) -> str:
        key = "screen.report.new" if published.created else "screen.report.same"
        lines = [words.text(key, version=str(published.version), path=str(published.path))]
        return "\n".join([*lines, *(f"  {reason_text(one, words)}" for one in published.changes)])

    data = {
        "version": published.version,
        "created": published.created,
        "path": str(published.path),
        "changes": [{"key": one.key, "values": dict(one.values)} for one in published.changes],
    }
    return Shown(0, data, text)


def status(found: Status) -> Shown:
    """`lab status`: what is done of what is planned, per variant; what runs now."""

    def text(words: Messages) -> str:
        lines = [
            words.text(
                "screen.status.variant",
                variant=one.id,
                done=one.done,
                planned=one.planned,
                failed=one.failed,
                cut=one.interrupted,
            )
            for one in found.variants
        ]
        if found.running is None:
            return "\n".join([*lines, words.text("screen.status.idle")])
        done = found.running.progress.completed if found.running.progress else 0
        now = {"attempt": found.running.record.attempt.attempt_id, "completed": done}
        return "\n".join([*lines, words.text("screen.status.running", **now)])

    return Shown(0, {"variants": [asdict(one) for one in found.variants], "running": _running(found)}, text)


def _running(found: Status) -> dict[str, object] | None:
    if found.running is None:
        return None
    progress = found.running.progress
    return {
        "attempt_id": found.running.record.attempt.attempt_id,
        "phase": progress.phase if progress else None,
        "completed_inputs": progress.completed if progress else None,
        "elapsed_s": round(found.running.elapsed_s, 3),
    }


def priced(answer: Answer) -> Shown:
    """`lab price`: the same words and the same JSON as `calcul_forfaits.py`."""
    from lab.calcul_forfaits import as_json, as_text

    return Shown(0, as_json(answer), lambda words: as_text(answer, words.language))


def demo_done(result: DemoResult) -> Shown:
    """After `lab demo`: the judgement, the wall time of each phase, and where the report is."""
    inner, published = judged(result.judgement), reported(result.published)
    total = sum(seconds for _, seconds in result.phases)

    def text(words: Messages) -> str:
        times = [
            words.text("screen.demo.phase", phase=words.text(f"demo.phase.name.{name}"), seconds=words.number(value, 1))
            for name, value in (*result.phases, ("total", total))
        ]
        return "\n".join([inner.text(words), "", *times, "", published.text(words)])

    phases = {name: round(seconds, 3) for name, seconds in result.phases}
    return Shown(inner.code, {**inner.data, "phases_s": phases, "report": published.data}, text)
