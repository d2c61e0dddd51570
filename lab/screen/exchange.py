"""What `lab sync` and `lab merge` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.messages import Messages
from lab.screen.answers import FOUND, Shown, fault_facts

if TYPE_CHECKING:  # what these describe is slow to import
    from lab.exchange.merge import Merged
    from lab.exchange.sync import Synced

# What a person has to look at: the command ends with the code of a check that found something.
_FOUND = {
    "workbook-measured-cell-changed", "sync-no-room", "sync-sheet-changed", "sync-sheet-missing",
    "sync-not-shown-safe", "sync-beside-left",
}  # fmt: skip


def synced(found: Synced) -> Shown:
    """After `lab sync`: what was added and brought in, what was computed anew, and what must be known."""
    wrong = found.fault is not None or any(one.slug in _FOUND for one in found.notices)
    data = {
        "added": list(found.added),
        "judged": found.judged,
        "brought_in": dict(found.brought_in),
        "computed": found.computed,
        "rebuilt_from": found.rebuilt_from,
        "replaced": found.replaced,
        "notices": [fault_facts(one) for one in found.notices],
        "fault": None if found.fault is None else fault_facts(found.fault),
    }
    return Shown(FOUND if wrong else 0, data, lambda words: "\n".join(_lines(found, words)))


def _lines(found: Synced, words: Messages) -> Iterator[str]:
    if found.rebuilt_from is not None:
        yield words.text(f"screen.synced.from_{found.rebuilt_from}")
    if found.replaced is not None:
        yield words.text("screen.synced.replaced", path=found.replaced)
    if found.added:
        yield words.count("screen.synced.added", len(found.added))
    for name, rows in found.brought_in.items():
        yield words.count("screen.synced.brought_in", rows, path=name)
    if found.judged:
        yield words.count("screen.synced.judged", found.judged)
    if found.computed:
        yield words.count("screen.synced.computed", found.computed)
    did = found.added or found.brought_in or found.judged or found.computed or found.rebuilt_from
    if not did and found.fault is None:
        yield words.text("screen.synced.nothing")
    yield from (words.fault(one) for one in found.notices)
    if found.fault is not None:
        yield words.fault(found.fault)


def merged(found: Merged) -> Shown:
    """After `lab merge`: what came from each source, what was here already, and the workbook."""
    inner = synced(found.synced)

    def text(words: Messages) -> str:
        counts = Counter(found.taken.values())
        lines = [words.count("screen.merged.taken", number, path=path) for path, number in counts.items()]
        if found.declared:
            lines.append(words.count("screen.merged.declared", len(found.declared)))
        if found.same:
            lines.append(words.count("screen.merged.same", found.same))
        if found.environments:
            lines.append(words.count("screen.merged.environments", found.environments))
        if found.unfinished:
            lines.append(words.text("screen.merged.unfinished", names=list(found.unfinished)))
        lines += [words.fault(one) for one in found.notices]
        return "\n".join([*lines, inner.text(words)])

    data = {
        "taken": dict(found.taken),
        "declared": list(found.declared),
        "same": found.same,
        "environments": found.environments,
        "unfinished": list(found.unfinished),
        "notices": [fault_facts(one) for one in found.notices],
        "workbook": inner.data,
    }
    return Shown(inner.code, data, text)
