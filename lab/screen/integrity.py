"""What `lab amend`, `lab verify` and `lab bundle` print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lab.analysis.sealing import broken_terms
from lab.messages import DASH, Messages
from lab.model.reason import Reason
from lab.screen.answers import FOUND, Shown, fault_facts, reason_data, reason_text, seal_line

if TYPE_CHECKING:
    from lab.errors import Fault
    from lab.model.campaign import Seal
    from lab.report.verify import Verification
    from lab.store.bundle import Bundle

_MOST_LINES = 40  # of differences on a screen; `--json` has them all
_SHORT = 12  # hex digits of a fingerprint that tell two apart on a screen


def amended(seal: Seal) -> Shown:
    """After `lab amend`: the new seal, what it changes, what was known, and whether acceptance terms were touched."""
    last = seal.amendments[-1]
    broken = [one for one in broken_terms(seal) if one.amendment == last]
    data = {
        "fingerprint": seal.fingerprint,
        "sealed_at": seal.sealed_at,
        "earlier": last.fingerprint,
        "reason": last.reason,
        "changes": [{"name": one.name, "sealed": one.sealed, "now": one.now} for one in last.changes],
        "known": [one.attempt_id for one in last.known],
        "acceptance_terms": [name for one in broken for name in one.terms],
    }

    def text(words: Messages) -> str:
        lines = [seal_line(seal, words)]
        lines += [
            words.text("screen.change", name=one.name, before=one.sealed or DASH, after=one.now or DASH)
            for one in last.changes
        ]
        lines.append(words.count("screen.amended.known", len(last.known)))
        lines += [words.text("screen.amended.terms", names=list(one.terms)) for one in broken]
        return "\n".join(lines)

    return Shown(0, data, text)


def verified(found: Verification) -> Shown:
    """After `lab verify`: what differs, what could be judged again, and whether all holds."""

    def text(words: Messages) -> str:
        lines = [*_differences(found, words), *(_said(one, words) for one in found.notes)]
        if len(lines) > _MOST_LINES:
            more = words.count("screen.verify.more", len(lines) - _MOST_LINES)
            lines = [*lines[:_MOST_LINES], more]
        compared = {"files": found.files, "inputs": found.inputs, "version": str(found.version)}
        lines.append(words.text("screen.verify.compared", **compared))
        judged = {"same": len(found.same), "other": len(found.other), "without": len(found.unjudged)}
        lines.append(words.text("screen.verify.judged", **judged))
        total = len(found.differences) + len(found.faults)
        lines.append(words.count("screen.verify.differs", total) if total else words.text("screen.verify.holds"))
        return "\n".join(lines)

    data = {
        "version": found.version,
        "holds": found.holds,
        "files": found.files,
        "inputs": found.inputs,
        "differences": [reason_data(one) for one in found.differences],
        "consequences": [reason_data(one) for one in found.consequences],
        "faults": [fault_facts(one) for one in found.faults],
        "notes": [reason_data(one) for one in found.notes],
        "judged_again": {"same": found.same, "other": found.other, "without_predictions": found.unjudged},
    }
    return Shown(0 if found.holds else FOUND, data, text)


def _differences(found: Verification, words: Messages) -> Iterator[str]:
    yield from (_said(one, words) for one in found.differences)
    yield from (f"  → {reason_text(one, words)}" for one in found.consequences)
    yield from (words.fault(one) for one in found.faults)


def _said(one: Reason, words: Messages) -> str:
    return words.text(one.key, **{name: _shown(value) for name, value in one.values.items()})


def _shown(value: object) -> object:
    """A value for the screen: a dash where there is none, the beginning of a fingerprint."""
    if value is None:
        return DASH
    whole = isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")  # noqa: PLR2004  (a sha256)
    return f"{str(value)[:_SHORT]}…" if whole else value


def bundled(bundle: Bundle, changed: Sequence[Fault] = ()) -> Shown:
    """After `lab bundle`: where the bag is, its files, a corpus left out, and sealed values that were changed since."""
    data = {
        "path": str(bundle.path),
        "files": list(bundle.files),
        "left_out": list(bundle.left_out),
        "seal_changes": [fault_facts(one) for one in changed],
    }

    def text(words: Messages) -> str:
        lines = [words.count("screen.bundled", len(bundle.files), path=str(bundle.path))]
        if bundle.left_out:
            lines.append(words.text("screen.bundled.left_out", paths=list(bundle.left_out)))
        lines += [words.fault(one) for one in changed]
        return "\n".join(lines)

    return Shown(0, data, text)
