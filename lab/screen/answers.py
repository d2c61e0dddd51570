"""What the commands print, in the reader's language: plain answers, and the progress of a run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.checks import seal_faults
from lab.errors import Fault
from lab.messages import Messages
from lab.model.moments import in_zone
from lab.model.reason import Reason
from lab.report.document_plain import cut

if TYPE_CHECKING:  # what these describe is slow to import, and some commands never need it
    from lab.calcul_forfaits import Answer
    from lab.checks import Checked
    from lab.demo.campaign import DemoResult
    from lab.model.attempt import Slot
    from lab.model.campaign import Seal
    from lab.model.decision import Decision, Interval, Summary
    from lab.pipeline import Judgement, Status
    from lab.report.versions import Published

FOUND, INVALID = 1, 3
_MOST_PAIRS = 3  # of variants side by side on a screen; the report shows more


@dataclass(frozen=True)
class Shown:
    """A command's answer: its exit code, its data for `--json`, and its text in a language."""

    code: int
    data: Mapping[str, Any]
    text: Callable[[Messages], str]

    def as_json(self) -> str:
        """The answer as JSON, indented for reading."""
        return json.dumps(self.data, ensure_ascii=False, indent=2)


def fault_facts(one: Fault) -> dict[str, object]:
    """A fault as plain data, without words."""
    return {"slug": one.slug, "file": one.file, "place": one.place, "values": _plain(one.values)}


def fault_data(one: Fault, words: Messages) -> dict[str, object]:
    """A fault as plain data, with its two sentences and the page of the site that explains it, from the site's top."""
    return {**fault_facts(one), "text": words.fault(one), "page": f"{words.language}/errors.html#{one.slug}"}


def reason_text(one: Reason, words: Messages) -> str:
    """A reason in a language; of very many names the first ones and how many more."""
    lists = {name: cut(value, words) for name, value in one.values.items() if isinstance(value, list | tuple)}
    facts = {**one.values, **lists}
    return words.text(one.key, **facts)


def reason_data(one: Reason) -> dict[str, object]:
    """A reason as plain data: its key and its facts."""
    return {"key": one.key, "values": _plain(one.values)}


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    """Facts as JSON holds them: moments as ISO 8601, amounts as text."""
    return {name: _plain_fact(value) for name, value in values.items()}


def _plain_fact(value: object) -> object:
    match value:
        case bool() | int() | float() | str() | None:
            shown: object = value
        case datetime():
            shown = value.isoformat()
        case list() | tuple():
            shown = [_plain_fact(one) for one in value]
        case Reason():
            shown = reason_data(value)
        case _:
            shown = str(value)
    return shown


def initialised(folder: Path) -> Shown:
    """After `lab init`: what was made and what to do next."""
    typed = shlex.quote(str(folder))
    return Shown(0, {"folder": str(folder)}, lambda words: words.text("screen.initialised", folder=typed))


def checked(folder: Path, found: Checked, words: Messages) -> Shown:
    """After `lab check`: every fault with what to do, or that nothing stands in the way; then what to know before."""

    def text(words: Messages) -> str:
        lines = [words.fault(one) for one in found.faults]
        clear = "screen.check.no_fault" if found.warnings else "screen.check.nothing"
        lines.append(words.count("screen.check.found", len(lines)) if lines else words.text(clear))
        if found.warnings:
            lines += ["", words.text("screen.check.warnings")]
        return "\n".join([*lines, *(f"  {reason_text(one, words)}" for one in found.warnings)])

    data = {
        "folder": str(folder),
        "faults": [fault_data(one, words) for one in found.faults],
        "warnings": [{"key": one.key, "text": reason_text(one, words)} for one in found.warnings],
    }
    return Shown((INVALID if found.campaign is None else FOUND) if found.faults else 0, data, text)


def sealed(seal: Seal) -> Shown:
    """After `lab seal`: the fingerprint and when it was taken."""
    data = {"fingerprint": seal.fingerprint, "sealed_at": seal.sealed_at}
    return Shown(0, data, lambda words: seal_line(seal, words))


def seal_line(seal: Seal, words: Messages) -> str:
    """A seal in one line, its moment in the campaign's time zone, by name."""
    at = in_zone(seal.sealed_at, seal.time_zone)
    shown = words.date_time_in_zone(at) if isinstance(at, datetime) else at
    return words.text("screen.sealed", fingerprint=seal.fingerprint, sealed_at=shown)


def planned(slots: Sequence[Slot], left: Sequence[Slot]) -> Shown:
    """`lab run --plan`: each round in the order it runs, and how many passes are left."""
    from lab.measure.schedule import order_of

    rule = order_of(slots)
    groups: dict[tuple[object, str, int], list[str]] = {}
    for slot in slots:
        first, then = (slot.variant, str(slot.round)) if rule == "by_variant" else (slot.round, slot.variant)
        groups.setdefault((first, slot.corpus, slot.seed), []).append(then)

    def text(words: Messages) -> str:
        key = "screen.plan.variant" if rule == "by_variant" else "screen.plan.round"
        lines = [
            words.text(key, first=first, corpus=corpus, seed=str(seed), then=" → ".join(then))
            for (first, corpus, seed), then in groups.items()
        ]
        lines.append(words.text(f"screen.plan.{rule}"))
        return "\n".join([*lines, words.text("screen.plan.left", left=len(left), planned=len(slots))])

    as_data = [
        {"variant": s.variant, "corpus": s.corpus, "seed": s.seed, "round": s.round, "position": s.position}
        for s in slots
    ]
    return Shown(0, {"plan": as_data, "order": rule, "left": len(left)}, text)


def judged(judgement: Judgement) -> Shown:
    """After `lab run` or `lab judge`: each variant's passes and durations, the answer, and what was found changed."""
    decision = judgement.decision
    summaries = [summary for variant in decision.variants for summary in variant.summaries]
    changed = seal_faults(judgement.campaign)

    def text(words: Messages) -> str:
        several = len({summary.seed for summary in summaries}) > 1
        lines = []
        for summary in summaries:
            lines += [_summary_line(summary, words, several_seeds=several), *_behind(summary, judgement, words)]
        if len(decision.separations) <= _MOST_PAIRS:
            for one in decision.separations:
                if one.paired:
                    place = _place(one.corpus, one.seed, several_seeds=several)
                    lines.append(words.text("screen.paired", place=place, said=reason_text(one.paired.reason, words)))
        lines += ["", *(answer_lines(decision, words))]
        lines += [words.fault(one) for one in (*changed, *judgement.evidence)]
        if judgement.fault:
            lines.append(words.fault(judgement.fault))
        return "\n".join(lines)

    data = {
        "status": decision.status,
        "variant": decision.variant,
        "evidence_faults": [fault_facts(one) for one in judgement.evidence],
        "seal_changes": [fault_facts(one) for one in changed],
        "verdicts": {name: verdict.verdict for name, verdict in sorted(decision.verdicts.items())},
        "summaries": [_summary_data(summary) for summary in summaries],
    }
    return Shown(FOUND if judgement.evidence else 0, data, text)


def answer_lines(decision: Decision, words: Messages) -> list[str]:
    """The answer in words and its reasons, then what to do next where it is undecided."""
    lines = [words.text(f"status.{decision.status}")]
    lines += [f"  {reason_text(one, words)}" for one in decision.reasons]
    lines += [f"  → {reason_text(one, words)}" for one in decision.next_steps]
    return lines


def _place(corpus: str, seed: int | None, *, several_seeds: bool) -> str:
    return f"{corpus} (seed={seed})" if several_seeds else corpus


def _summary_line(summary: Summary, words: Messages, *, several_seeds: bool) -> str:
    facts = {
        "variant": summary.variant,
        "corpus": _place(summary.corpus, summary.seed, several_seeds=several_seeds),
        "attempts": summary.attempts,
        "accepted": summary.accepted,
        "rejected": summary.rejected,
        "unassessed": summary.unassessed,
        "failed": summary.failed,
        "excluded": summary.excluded,
    }
    if summary.median_s is None:
        return words.text("screen.summary.none", **facts)
    durations = {
        name: words.number(value, 3)
        for name, value in (("median", summary.median_s), ("low", summary.min_s), ("high", summary.max_s))
    }
    return words.text("screen.summary", **facts, **durations)


def _behind(summary: Summary, judgement: Judgement, words: Messages) -> Iterator[str]:
    """What the figures of a summary rest on: the interval of its median, the first rejected pass and unassessed one."""
    if summary.median_s is not None and summary.median_interval is not None:
        yield f"  {reason_text(summary.median_interval.reason, words)}"
    rows = [one.attempt for one in judgement.campaign.by_variant.get(summary.variant, ())]
    own = [one for one in rows if (one.corpus, one.seed) == (summary.corpus, summary.seed)]
    verdicts = [judgement.decision.verdicts[one.attempt_id] for one in own]
    ended = [one for row, one in zip(own, verdicts, strict=True) if row.outcome == "completed"]
    refused = next((one for one in ended if one.verdict == "rejected"), None)
    if refused is not None:
        said = reason_text(refused.reason, words)
        yield f"  {words.text('screen.rejected.first', attempt=refused.attempt_id, why=said)}"
    first = next((one for one in verdicts if one.verdict == "unassessed"), None)
    if first is not None:
        control: str = first.control if words.has(f"screen.unassessed.{first.control}") else "other"
        control = "imported" if first.reason.key == "verdict.predictions.imported" else control
        said = reason_text(first.reason, words)
        yield f"  {words.text(f'screen.unassessed.{control}', attempt=first.attempt_id, why=said)}"


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
        "median_interval": _bounds(summary.median_interval) if summary.median_interval else None,
    }


def _bounds(one: Interval) -> dict[str, object]:
    return {"low_s": one.low, "high_s": one.high, "coverage": one.coverage}


def reported(published: Published, notices: Sequence[Fault] = ()) -> Shown:
    """After `lab report`: the version and where it is, or that nothing changed; what changed in words; what to know."""

    def text(words: Messages) -> str:
        key = "screen.report.new" if published.created else "screen.report.same"
        lines = [words.text(key, version=str(published.version), path=str(published.path))]
        lines += [f"  {reason_text(one, words)}" for one in published.changes]
        return "\n".join([*lines, *(words.fault(one) for one in notices)])

    data = {
        "version": published.version,
        "created": published.created,
        "path": str(published.path),
        "changes": [reason_data(one) for one in published.changes],
        "notices": [fault_facts(one) for one in notices],
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
        lines += [words.fault(one) for one in (*found.changed, *found.evidence)]
        if found.running is None:
            return "\n".join([*lines, words.text("screen.status.idle")])
        done = found.running.progress.completed if found.running.progress else 0
        now = {"attempt": found.running.record.attempt.attempt_id, "completed": done}
        return "\n".join([*lines, words.text("screen.status.running", **now)])

    variants = [asdict(one) for one in found.variants]
    facts = {
        "variants": variants,
        "running": _running(found),
        "seal_changes": [fault_facts(one) for one in found.changed],
        "evidence_faults": [fault_facts(one) for one in found.evidence],
    }
    return Shown(0, facts, text)


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


def priced(answer: Answer, notices: Sequence[Reason]) -> Shown:
    """`lab price`: the same words and the same JSON as `calcul_forfaits.py`, and below what was assumed."""
    from lab.calcul_forfaits import as_json, as_text

    said = {"notices": [{"key": one.key, "values": dict(one.values)} for one in notices]} if notices else {}
    return Shown(
        0,
        {**as_json(answer), **said},
        lambda words: "\n".join([as_text(answer, words.language), *(reason_text(one, words) for one in notices)]),
    )


def site_built(pages: Sequence[Path]) -> Shown:
    """After `lab site`: how many pages, and the one to open."""
    facts = {"n": len(pages), "path": str(pages[0])}
    data = {"folder": str(pages[0].parent), "pages": [str(one) for one in pages]}
    return Shown(0, data, lambda words: words.text("screen.site", **facts))


def kit_written(paths: Sequence[Path]) -> Shown:
    """After `lab kit`: the zip files, one a language."""
    listed = [str(one) for one in paths]
    return Shown(0, {"kits": listed}, lambda words: "\n".join([words.text("screen.kit"), *listed]))


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
