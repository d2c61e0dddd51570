"""What `lab import`, `lab export` and `lab judge --predictions` print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.messages import DASH, Messages
from lab.screen.answers import FOUND, Shown, fault_facts, judged, reason_data, reason_text
from lab.screen.exchange import synced

if TYPE_CHECKING:  # what these describe is slow to import
    from lab.exchange.exporting import Exported
    from lab.exchange.importing import Imported, Mixed, ReadFile
    from lab.exchange.predicting import Attached
    from lab.model.attempt import Record
    from lab.pipeline import Judgement

_MOST_ROWS = 40  # of a preview; `--json` has them all


def imported(found: Imported) -> Shown:
    """After `lab import`: each file as it was recognised, the new attempts, and the workbook; `--plan`: rows.

    What came in without a duration is shown with its reason: nobody should find out in the report that a run failed.
    """
    inner = None if found.synced is None else synced(found.synced)

    def text(words: Messages) -> str:
        lines = [line for one in found.files for line in _file_lines(one, words)]
        lines += [_mixed(one, words) for one in found.mixed]
        if inner is None:
            lines += [_row(one, words) for one in found.records[:_MOST_ROWS]]
            if len(found.records) > _MOST_ROWS:
                lines.append(words.count("screen.imported.more", len(found.records) - _MOST_ROWS))
            lines.append(words.count("screen.imported.planned", len(found.records)))
        elif found.records:
            lines.append(words.count("screen.imported.done", len(found.records)))
            timeless = [one for one in found.records if one.attempt.duration_s is None]
            lines += [_row(one, words) for one in timeless[:_MOST_ROWS]]
            if len(timeless) > _MOST_ROWS:
                lines.append(words.count("screen.imported.more", len(timeless) - _MOST_ROWS))
            judged_next = [one.attempt.attempt_id for one in found.records if one.attempt.outcome == "completed"]
            if judged_next:
                lines.append(words.text("screen.imported.next", id=judged_next[0]))
            lines.append(inner.text(words))
        else:
            lines.append(words.text("screen.imported.nothing"))
        return "\n".join(lines)

    data = {
        "planned": inner is None,
        "files": [_file_data(one) for one in found.files],
        "attempts": [_record_data(one) for one in found.records],
        "mixed": [{"variant": one.variant, "corpus": one.corpus, "tools": list(one.tools)} for one in found.mixed],
        "workbook": None if inner is None else inner.data,
    }
    return Shown(0 if inner is None else inner.code, data, text)


def _file_lines(one: ReadFile, words: Messages) -> Iterator[str]:
    tool = words.text("screen.imported.table") if one.format == "table" else one.tool
    written = tool if one.version is None else f"{tool} {one.version}"
    yield words.count("screen.imported.file", one.attempts, file=one.file, tool=written)
    if one.same:
        yield words.text("screen.imported.same", same=one.same)
    yield from (f"  {reason_text(note, words)}" for note in one.notes)
    if one.left:
        yield f"  {words.text('screen.imported.left', groups=list(one.left))}"


def _mixed(one: Mixed, words: Messages) -> str:
    tools = [words.text("screen.imported.measured") if tool is None else tool for tool in one.tools]
    return words.text("screen.imported.mixed", variant=one.variant, corpus=one.corpus, tools=tools)


def _row(record: Record, words: Messages) -> str:
    one, because = record.attempt, record.details.ended_because
    populations = [f"{held.name} ({words.number(held.count)})" for held in record.details.populations]
    shown = words.text(
        "screen.imported.row",
        place=words.placed(record.details.provenance.place) if record.details.provenance else DASH,
        variant=one.variant,
        round=str(one.round),
        outcome=words.text(f"outcome.{one.outcome}"),
        duration=words.number(one.duration_s),
        elapsed=words.number(one.elapsed_s),
    )
    if populations:
        shown += words.text("screen.imported.latencies", latencies=populations)
    if because is not None:
        return f"{shown}\n    {reason_text(because, words)}"
    why = record.details.missing.get("duration_s") if one.outcome == "completed" else None
    return shown if why is None else f"{shown}\n    {words.text(why)}"


def _file_data(one: ReadFile) -> dict[str, object]:
    return {
        "file": one.file,
        "format": one.format,
        "tool": one.tool,
        "version": one.version,
        "attempts": one.attempts,
        "same": one.same,
        "left": list(one.left),
        "notes": [reason_data(note) for note in one.notes],
    }


def _record_data(record: Record) -> dict[str, object]:
    one, source, because = record.attempt, record.details.provenance, record.details.ended_because
    return {
        "attempt_id": one.attempt_id,
        "variant": one.variant,
        "corpus": one.corpus,
        "seed": one.seed,
        "round": one.round,
        "outcome": one.outcome,
        "duration_s": one.duration_s,
        "elapsed_s": one.elapsed_s,
        "place": source.place if source else None,
        "ended_because": None if because is None else reason_data(because),
        "missing": dict(record.details.missing),
        "populations": {held.name: held.count for held in record.details.populations},
    }


def attached(found: Attached, judgement: Judgement) -> Shown:
    """After `lab judge --predictions`: how many predictions were taken in, then what judging gave."""
    inner = judged(judgement)

    def text(words: Messages) -> str:
        if found.same:
            first = words.text("screen.attached.same", id=found.attempt_id)
        else:
            first = words.count("screen.attached", found.rows, id=found.attempt_id)
        verdict = judgement.decision.verdicts[found.attempt_id]
        said = words.text(f"verdictword.{verdict.verdict}")
        lines = [first, f"  {words.text('place.fault', where=said, found=reason_text(verdict.reason, words))}"]
        if found.fault is not None:
            lines.append(words.fault(found.fault))
        return "\n".join([*lines, "", inner.text(words)])

    data = {
        **inner.data,
        "attached": {
            "attempt_id": found.attempt_id,
            "rows": found.rows,
            "same": found.same,
            "fault": None if found.fault is None else fault_facts(found.fault),
        },
    }
    return Shown(max(inner.code, FOUND if found.fault else 0), data, text)


def exported(found: Exported) -> Shown:
    """After `lab export`: the files with their number of rows, and what was sealed otherwise."""

    def text(words: Messages) -> str:
        lines = [words.text("screen.exported", path=str(found.folder))]
        lines += [f"  {words.count('screen.exported.file', n, name=name)}" for name, n in found.files]
        return "\n".join([*lines, *(words.fault(one) for one in found.notices)])

    data = {
        "folder": str(found.folder),
        "files": [{"name": name, "rows": n} for name, n in found.files],
        "notices": [fault_facts(one) for one in found.notices],
    }
    return Shown(0, data, text)
